//! How each contestant is made and drawn from: in the best form that its documentation has.

use std::sync::Arc;
use std::time::Duration;

use ferroid::generator::{
    AtomicSnowflakeGenerator, BasicSnowflakeGenerator, LockSnowflakeGenerator,
};
use ferroid::id::SnowflakeId;
use ferroid::time::MonotonicClock;
use idgen_rs::{FastIdGenerator, IGOptions};
use nivis::{Generator, GeneratorBuilder, Ids, LocalGenerator};
use snowflake::SnowflakeIdGenerator;
use sonyflake::Sonyflake;

use crate::contestants::{EPOCH, TWITTER, WIDE};
use crate::hands::{Maker, each, shared};

pub fn nivis<C: nivis::Clock + Clone + Send + Sync>(builder: GeneratorBuilder<C>) -> impl Maker {
    shared(move || builder.clone().build().unwrap(), |ids| ids.next_id().unwrap().as_u64())
}

pub fn nivis_locals<C: nivis::Clock + Clone + Send>(
    builder: impl Fn() -> GeneratorBuilder<C>,
) -> impl Maker {
    each(
        move |threads| builder().per_core(threads).unwrap(),
        |ids: &mut LocalGenerator<C>| ids.next_id().unwrap().as_u64(),
    )
}

pub fn nivis_blocks() -> impl Maker {
    let make = |threads| {
        let ids = Arc::new(Generator::builder(WIDE).build().unwrap());
        let none = || ids.next_ids(0).unwrap();
        (0..threads).map(|_| (ids.clone(), none())).collect()
    };
    each(make, |(ids, block): &mut (Arc<Generator>, Ids)| {
        loop {
            if let Some(id) = block.next() {
                break id.as_u64();
            }
            *block = ids.next_ids(64).unwrap();
        }
    })
}

ferroid::define_snowflake_id!(
    WideFerroid, u64,
    reserved: 1,
    timestamp: 40,
    machine_id: 0,
    sequence: 23
);

/// What its documentation offers for a tick that is used up (how many milliseconds to wait) and for a
/// lost swap (0): a choice of the caller.
pub const SPIN: fn(u64) = |_| std::hint::spin_loop();
pub const YIELD: fn(u64) = |_| std::thread::yield_now();
pub const SLEEP: fn(u64) = |ms| std::thread::sleep(Duration::from_millis(ms));

pub fn ferroid_atomic<I: SnowflakeId<Ty = u64> + Send + Sync + 'static>(
    epoch: Duration,
    back_off: fn(u64),
) -> impl Maker {
    shared(
        move || AtomicSnowflakeGenerator::<I, _>::new(0, MonotonicClock::<1>::with_epoch(epoch)),
        move |ids| ids.next_id(back_off).to_raw(),
    )
}

pub fn ferroid_lock<I: SnowflakeId<Ty = u64> + Send + Sync + 'static>(
    epoch: Duration,
) -> impl Maker {
    shared(
        move || LockSnowflakeGenerator::<I, _>::new(0, MonotonicClock::<1>::with_epoch(epoch)),
        |ids| ids.try_next_id(|_| std::thread::yield_now()).unwrap().to_raw(),
    )
}

/// One for each thread takes a machine id for each thread: bits that come off its sequence.
pub fn ferroid_basic() -> impl Maker {
    ferroid::define_snowflake_id!(
        LocalFerroid, u64,
        reserved: 1,
        timestamp: 40,
        machine_id: 4,
        sequence: 19
    );
    type Basic = BasicSnowflakeGenerator<LocalFerroid, MonotonicClock<1>>;
    each(
        |threads| {
            let clock = MonotonicClock::<1>::with_epoch(EPOCH);
            (0..threads as u64).map(|machine| Basic::new(machine, clock.clone())).collect()
        },
        |ids: &mut Basic| ids.next_id(|_| std::hint::spin_loop()).to_raw(),
    )
}

pub fn snowflaked_sync() -> impl Maker {
    shared(|| snowflaked::sync::Generator::new(0), snowflaked::sync::Generator::generate::<u64>)
}

pub fn snowflaked_each() -> impl Maker {
    each(
        |threads| (0..threads as u16).map(snowflaked::Generator::new).collect(),
        |ids: &mut snowflaked::Generator| ids.generate::<u64>(),
    )
}

pub fn rs_snowflake(draw: impl Fn(&mut SnowflakeIdGenerator) -> i64 + Copy + Send) -> impl Maker {
    each(
        |threads| (0..threads as i32).map(|node| SnowflakeIdGenerator::new(node, 0)).collect(),
        move |ids: &mut SnowflakeIdGenerator| draw(ids),
    )
}

/// It says that a tick is used up, and leaves the waiting to the caller.
pub fn snowdon_of<L, E>() -> impl Maker
where
    L: snowdon::Layout + Send + Sync + 'static,
    E: snowdon::Epoch + Send + Sync + 'static,
{
    shared(snowdon::Generator::<L, E>::default, |ids| {
        loop {
            match ids.generate() {
                Ok(id) => break id.into_inner(),
                Err(snowdon::Error::SnowflakeExhaustion) => std::thread::yield_now(),
                Err(other) => panic!("{other}"),
            }
        }
    })
}

#[derive(Clone, Debug)]
pub struct SnowdonTwitter;

impl snowdon::MachineId for SnowdonTwitter {
    fn machine_id() -> u64 {
        1
    }
}

impl snowdon::Epoch for SnowdonTwitter {
    fn millis_since_unix() -> u64 {
        TWITTER.epoch()
    }
}

/// As its documentation writes a layout, with 23 bits for the sequence.
#[derive(Clone, Debug)]
pub struct WideSnowdon;

impl snowdon::Epoch for WideSnowdon {
    fn millis_since_unix() -> u64 {
        WIDE.epoch()
    }
}

impl snowdon::Layout for WideSnowdon {
    fn construct_snowflake(timestamp: u64, sequence_number: u64) -> u64 {
        assert!(
            !Self::exceeds_timestamp(timestamp) && !Self::exceeds_sequence_number(sequence_number)
        );
        (timestamp << 23) | sequence_number
    }
    fn timestamp(input: u64) -> u64 {
        input >> 23
    }
    fn exceeds_timestamp(input: u64) -> bool {
        input >= (1 << 40)
    }
    fn sequence_number(input: u64) -> u64 {
        input & ((1 << 23) - 1)
    }
    fn exceeds_sequence_number(input: u64) -> bool {
        input >= (1 << 23)
    }
    fn is_valid_snowflake(_: u64) -> bool {
        true
    }
}

pub fn idgen(worker_bits: u8, sequence_bits: u8) -> impl Maker {
    shared(
        move || {
            let options = IGOptions::builder(1)
                .worker_id_bit_length(worker_bits)
                .seq_bit_length(sequence_bits)
                .build();
            FastIdGenerator::new(&options)
        },
        FastIdGenerator::next_id,
    )
}

/// A clone is a pointer to the same generator, as its documentation has it.
pub fn sonyflake() -> impl Maker {
    each(
        |threads| vec![Sonyflake::builder().machine_id(&|| Ok(1)).finalize().unwrap(); threads],
        |ids: &mut Sonyflake| ids.next_id().unwrap().to_u64(),
    )
}

pub fn uuid_each() -> impl Maker {
    each(
        |threads| std::iter::repeat_with(uuid::ContextV7::new).take(threads).collect(),
        |own: &mut uuid::ContextV7| uuid::Uuid::new_v7(uuid::Timestamp::now(&*own)).as_u128(),
    )
}

pub fn ulid_each() -> impl Maker {
    each(
        |threads| vec![ulid::Generator::new(); threads],
        |ids: &mut ulid::Generator| ids.generate().unwrap().0,
    )
}

/// For what is a function and has its state in the process.
pub fn nobody(threads: usize) -> Vec<()> {
    vec![(); threads]
}
