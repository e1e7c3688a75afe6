//! Who takes part. A contestant is one entry of a list below: a name, the floor to hold it against, and
//! how to make it and draw from it, in `makers.rs`.

use std::time::Duration;

use ferroid::id::SnowflakeTwitterId;
use ferroid::time::TWITTER_EPOCH;
use nivis::{Generator, GeneratorBuilder, Layout, OnTurn, TscClock};
use snowdon::ClassicLayout;
use snowflake::SnowflakeIdGenerator;

use crate::floors::{BLOCK, CELL, RDTSC, RDTSC_SWAP, SWAP};
use crate::hands::{Maker, each};
use crate::makers::{
    SLEEP, SPIN, SnowdonTwitter, WideFerroid, WideSnowdon, YIELD, ferroid_atomic, ferroid_basic,
    ferroid_lock, idgen, nivis, nivis_blocks, nivis_locals, nobody, rs_snowflake, snowdon_of,
    snowflaked_each, snowflaked_sync, sonyflake, ulid_each, uuid_each,
};
use crate::{burst, cost, fairness, latency, rate};

/// For contestants whose layout cannot be widened: how many ids may be drawn at a go, and how long the
/// clock then has to go on.
#[derive(Clone, Copy)]
pub struct Burst {
    pub ids: usize,
    pub pause: Duration,
}

pub struct Contestant {
    pub name: &'static str,
    /// The name of its floor.
    pub floor: &'static str,
    pub is_floor: bool,
    pub burst: Option<Burst>,
    entry: Box<dyn Entrant>,
}

impl Contestant {
    pub fn new(
        name: &'static str,
        floor: &'static str,
        entry: impl Entrant + 'static,
    ) -> Contestant {
        Contestant { name, floor, is_floor: false, burst: None, entry: Box::new(entry) }
    }

    /// One that is its own floor.
    pub fn floor(name: &'static str, entry: impl Entrant + 'static) -> Contestant {
        Contestant { is_floor: true, ..Contestant::new(name, name, entry) }
    }

    fn in_bursts(self, ids: usize, pause: Duration) -> Contestant {
        Contestant { burst: Some(Burst { ids, pause }), ..self }
    }

    pub fn entry(&self) -> &dyn Entrant {
        &*self.entry
    }

    /// Whether its sequence lasts for this many ids a millisecond.
    pub fn lasts_for(&self, ids_per_ms: f64) -> bool {
        self.burst
            .is_none_or(|burst| burst.ids as f64 / (burst.pause.as_secs_f64() * 1e3) >= ids_per_ms)
    }
}

/// Everything that a contestant can be put through.
pub trait Entrant {
    fn cost(&self, threads: usize, spec: &cost::Spec, burst: Option<Burst>) -> Option<cost::Round>;
    fn rate(&self, threads: usize, length: Duration) -> Option<rate::Round>;
    fn latency(&self, threads: usize, spec: &latency::Spec) -> Option<latency::Round>;
    fn fairness(&self, length: Duration) -> Option<fairness::Round>;
    fn burst(&self, ids: usize) -> Option<burst::Round>;
}

impl<M: Maker> Entrant for M {
    fn cost(&self, threads: usize, spec: &cost::Spec, burst: Option<Burst>) -> Option<cost::Round> {
        cost::round(self.hands(threads), spec, burst)
    }
    fn rate(&self, threads: usize, length: Duration) -> Option<rate::Round> {
        rate::round(self.hands(threads), length)
    }
    fn latency(&self, threads: usize, spec: &latency::Spec) -> Option<latency::Round> {
        latency::round(self.hands(threads), spec)
    }
    fn fairness(&self, length: Duration) -> Option<fairness::Round> {
        fairness::round(self.hands(2), length)
    }
    fn burst(&self, ids: usize) -> Option<burst::Round> {
        burst::round(self.hands(1), ids)
    }
}

/// The same widths for all who let one choose: 8 million ids a millisecond.
pub const WIDE: Layout = Layout::new(40, 0, 23).epoch_unix_ms(1_704_067_200_000);
/// Its epoch, 2024, and that of all wide peers.
pub const EPOCH: Duration = Duration::from_millis(WIDE.epoch());
/// 41 + 10 + 12 bits.
pub const TWITTER: Layout = Layout::TWITTER;

/// What holds back those that are drawn from as fast as they come.
const LAYOUT: &str = "the layout";

/// Half of a twelve-bit sequence, and time enough for a tick to go by after it.
const TWELVE_BITS: usize = 2_048;
const TWO_TICKS: Duration = Duration::from_millis(2);

/// *Fresh clock*: time moves by itself, and an id shows the time of its call. The sequence does not
/// run out.
pub fn fresh() -> Vec<Contestant> {
    vec![
        against(RDTSC_SWAP, "nivis Generator", nivis(Generator::builder(WIDE))),
        against(RDTSC, "nivis LocalGenerator", nivis_locals(|| Generator::builder(WIDE))),
        against(BLOCK, "nivis next_ids(64)", nivis_blocks()),
        against(RDTSC_SWAP, "snowflaked sync", snowflaked_sync()).in_bursts(TWELVE_BITS, TWO_TICKS),
        against(RDTSC, "snowflaked, one each", snowflaked_each()).in_bursts(TWELVE_BITS, TWO_TICKS),
        against(
            RDTSC,
            "rs-snowflake real_time_generate, one each",
            rs_snowflake(SnowflakeIdGenerator::real_time_generate),
        )
        .in_bursts(TWELVE_BITS, TWO_TICKS),
        against(RDTSC_SWAP, "snowdon", snowdon_of::<WideSnowdon, WideSnowdon>()),
        against(RDTSC_SWAP, "idgen_rs", idgen(1, 21)),
        against(RDTSC_SWAP, "sonyflake", sonyflake()).in_bursts(128, Duration::from_millis(20)),
        against(RDTSC_SWAP, "uuid now_v7", each(nobody, |()| uuid::Uuid::now_v7().as_u128())),
        against(RDTSC, "uuid new_v7, a context each", uuid_each()),
        against(RDTSC, "ulid generate, unordered", each(nobody, |()| ulid::Ulid::generate().0)),
        against(RDTSC, "ulid Generator, one each", ulid_each()),
        against(RDTSC_SWAP, "bson ObjectId", each(nobody, |()| bson::oid::ObjectId::new().bytes())),
    ]
}

/// *Pushed clock*: somebody else moves the time: a call of the program, a background thread, or a
/// sequence that is used up. Never compared with a fresh one.
pub fn pushed() -> Vec<Contestant> {
    vec![
        against(SWAP, "nivis Generator<OnTurn>", nivis(on_turn())),
        against(CELL, "nivis LocalGenerator<OnTurn>", nivis_locals(on_turn)),
        against(SWAP, "ferroid atomic, spinning", ferroid_atomic::<WideFerroid>(EPOCH, SPIN)),
        against(SWAP, "ferroid atomic, yielding", ferroid_atomic::<WideFerroid>(EPOCH, YIELD)),
        against(SWAP, "ferroid lock", ferroid_lock::<WideFerroid>(EPOCH)),
        against(CELL, "ferroid basic, one each", ferroid_basic()),
        against(
            CELL,
            "rs-snowflake generate, one each",
            rs_snowflake(SnowflakeIdGenerator::generate),
        )
        .in_bursts(TWELVE_BITS, TWO_TICKS),
        against(
            CELL,
            "rs-snowflake lazy_generate (no clock), one each",
            rs_snowflake(SnowflakeIdGenerator::lazy_generate),
        ),
    ]
}

/// 41 + 10 + 12 bits, drawn from as fast as they come. Their floor is the layout.
pub fn twitter() -> Vec<Contestant> {
    type Twitter = SnowflakeTwitterId;
    let on_turn = builder().clock(OnTurn::new(TscClock::new()));
    vec![
        against(LAYOUT, "nivis Generator", nivis(builder())),
        against(LAYOUT, "nivis Generator<OnTurn>", nivis(on_turn)),
        against(LAYOUT, "nivis per_core", nivis_locals(builder)),
        against(LAYOUT, "ferroid atomic, spinning", ferroid_atomic::<Twitter>(TWITTER_EPOCH, SPIN)),
        against(
            LAYOUT,
            "ferroid atomic, yielding",
            ferroid_atomic::<Twitter>(TWITTER_EPOCH, YIELD),
        ),
        against(
            LAYOUT,
            "ferroid atomic, sleeping",
            ferroid_atomic::<Twitter>(TWITTER_EPOCH, SLEEP),
        ),
        against(LAYOUT, "ferroid lock", ferroid_lock::<Twitter>(TWITTER_EPOCH)),
        against(LAYOUT, "snowflaked sync", snowflaked_sync()),
        against(LAYOUT, "snowdon", snowdon_of::<ClassicLayout<SnowdonTwitter>, SnowdonTwitter>()),
        against(LAYOUT, "idgen_rs", idgen(10, 12)),
    ]
}

/// Those that may run ahead of their clock, and nivis without.
pub fn leading() -> Vec<Contestant> {
    let ahead = || builder().lead(Duration::from_millis(20));
    vec![
        against(LAYOUT, "nivis Generator, lead 20 ms", nivis(ahead())),
        against(LAYOUT, "nivis LocalGenerator, lead 20 ms", nivis_locals(ahead)),
        against(LAYOUT, "nivis Generator, no lead", nivis(builder())),
        against(
            LAYOUT,
            "rs-snowflake lazy_generate (no clock)",
            rs_snowflake(SnowflakeIdGenerator::lazy_generate),
        ),
    ]
}

fn against(floor: &'static str, name: &'static str, maker: impl Maker + 'static) -> Contestant {
    Contestant::new(name, floor, maker)
}

fn builder() -> GeneratorBuilder {
    Generator::builder(TWITTER).worker(1)
}

/// Never turned by hand: the sequence runs out once in milliseconds, and then it looks by itself.
fn on_turn() -> GeneratorBuilder<OnTurn<TscClock>> {
    Generator::builder(WIDE).clock(OnTurn::new(TscClock::new()))
}
