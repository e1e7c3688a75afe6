//! The invariants I1 to I7, each in a test of its name: real threads, and clocks that lie.
//! I8 is in `fork.rs`; the memory orderings are model-checked in `loom-tests`.

mod support;

use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use nivis::clock::ManualClock;
use nivis::{Clock, Error, Generator, Id, Layout, LocalGenerator, TscClock};
use support::{MS, Rng, Stopper, T0, manual, tick_nanos};

/// A clock that returns anything: steps, leaps, freezes, another time for each thread that asks.
struct Liar {
    seed: AtomicU64,
    highest: AtomicU64,
}

impl Liar {
    fn new(seed: u64) -> Liar {
        Liar { seed: AtomicU64::new(seed), highest: AtomicU64::new(0) }
    }
}

impl Clock for Liar {
    fn raw(&self) -> u64 {
        self.seed.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed) % (3 * MS)
    }

    fn read(&self) -> nivis::Reading {
        let mut rng = Rng::new(self.seed.fetch_add(1, Ordering::Relaxed));
        // Within 50 ms of T0, on either side, most often near the last one.
        let unix_nanos = T0 - 50 * MS + rng.below(100) * MS + rng.below(MS);
        self.highest.fetch_max(unix_nanos, Ordering::SeqCst);
        nivis::Reading { raw: self.raw(), unix_nanos }
    }

    fn raw_span(&self, d: Duration) -> u64 {
        d.as_nanos() as u64
    }
}

/// Draws on `threads` threads until the generator refuses for good or each has `each` ids.
fn draw<C: Clock + Sync>(ids: &Generator<C>, threads: usize, each: usize) -> Vec<Vec<Id>>
where
    Generator<C>: Sync,
{
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let drawn: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let mut mine = Vec::with_capacity(each);
                    let mut refusals = 0;
                    while mine.len() < each && refusals < 100_000 {
                        match ids.try_next_id() {
                            Ok(id) => mine.push(id),
                            Err(_) => refusals += 1,
                        }
                    }
                    mine
                })
            })
            .collect();
        drawn.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn assert_unique(drawn: &[Vec<Id>]) -> usize {
    let all: HashSet<Id> = drawn.iter().flatten().copied().collect();
    let n: usize = drawn.iter().map(Vec::len).sum();
    assert_eq!(all.len(), n, "an id came twice");
    n
}

#[test]
fn i1_unique_whatever_the_clock_returns() {
    for seed in 0..8 {
        let clock = Liar::new(seed);
        let ids = Generator::builder(Layout::TWITTER).worker(3).clock(&clock).build().unwrap();
        let drawn = draw(&ids, 4, 20_000);
        assert!(assert_unique(&drawn) >= 1_000, "the test drew too little to mean anything");
    }
}

#[test]
fn i1_unique_on_the_real_clock_over_16_threads() {
    let ids = Generator::new(Layout::TWITTER, 3).unwrap();
    let drawn = draw(&ids, 16, 5_000);
    assert_unique(&drawn);
}

#[test]
fn i2_ordered_by_happens_before() {
    for seed in 0..4 {
        let clock = Liar::new(seed);
        let ids = Generator::builder(Layout::TWITTER).worker(3).clock(&clock).build().unwrap();
        // What a thread saw finished before it began is smaller than what it draws.
        let newest = AtomicU64::new(0);
        let n = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50_000 {
                        let before = newest.load(Ordering::Acquire);
                        if let Ok(id) = ids.try_next_id() {
                            assert!(id.as_u64() > before, "{id} after {before}");
                            newest.fetch_max(id.as_u64(), Ordering::Release);
                            n.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert!(n.into_inner() >= 1_000);
    }
}

#[test]
fn i3_never_early() {
    for (seed, lead) in [(1, 0), (2, 0), (3, 1), (4, 20)] {
        let clock = Liar::new(seed);
        let ids = Generator::builder(Layout::TWITTER)
            .worker(3)
            .lead(Duration::from_millis(lead))
            .clock(&clock)
            .build()
            .unwrap();
        let mut n = 0;
        for _ in 0..200_000 {
            if let Ok(id) = ids.try_next_id() {
                let highest = clock.highest.load(Ordering::SeqCst);
                let tick = tick_nanos(&Layout::TWITTER, id);
                assert!(tick <= highest + lead * MS, "{tick} is later than {highest} + {lead} ms");
                n += 1;
            }
        }
        assert!(n >= 1_000);
    }
}

#[test]
fn i4_never_outside_the_lease() {
    let clock = ManualClock::new(T0);
    let layout = Layout::TWITTER;
    let now = T0 / MS - layout.epoch();
    let (end, new_from, new_end) = (now + 5, now + 8, now + 12);
    let ids = Generator::builder(layout).worker(3).lease_end(end).clock(&clock).build().unwrap();

    let mut parts = Vec::new();
    let mut drain = |ids: &Generator<&ManualClock>| {
        loop {
            match ids.try_next_id() {
                Ok(id) => parts.push(layout.decompose(id)),
                Err(refusal) => break refusal,
            }
        }
    };
    for _ in 0..10 {
        clock.advance(Duration::from_millis(1));
        drain(&ids);
    }
    assert_eq!(drain(&ids), Error::LeaseExpired);
    // Another worker's slice; then its renewal.
    ids.grant(9, new_from, new_end);
    for _ in 0..10 {
        drain(&ids);
        clock.advance(Duration::from_millis(1));
    }
    assert_eq!(drain(&ids), Error::LeaseExpired);
    ids.grant(9, new_end, new_end + 10);
    clock.advance(Duration::from_millis(1));
    assert!(matches!(drain(&ids), Error::Exhausted { .. } | Error::LeaseExpired));

    let of = |worker| parts.iter().filter(move |parts| parts.worker == worker);
    assert_eq!(of(3).count(), 4 * 4_096);
    assert!(of(3).all(|parts| (now + 1..end).contains(&parts.tick)));
    assert!(of(9).count() > 4_096);
    assert!(of(9).all(|parts| (new_from..new_end + 10).contains(&parts.tick)));
    assert_eq!(of(3).count() + of(9).count(), parts.len());
}

#[test]
fn i5_dense_every_sequence_of_every_tick_is_used() {
    for (layout, spread) in [
        (Layout::TWITTER, false),
        (Layout::TWITTER, true),
        (Layout::SONYFLAKE, true),
        (Layout::JS_SAFE, false),
    ] {
        let clock = ManualClock::new(T0);
        let ids =
            Generator::builder(layout).worker(3).spread(spread).clock(&clock).build().unwrap();
        for tick in 0..20 {
            clock.advance(layout.tick_length());
            let mut sequences = Vec::new();
            while let Ok(id) = ids.try_next_id() {
                sequences.push(layout.decompose(id).sequence);
            }
            // With `spread` the first tick starts inside; saturated, the carry starts each next one at 0.
            let first = if spread && tick == 0 { sequences[0] } else { 0 };
            assert!(first <= layout.max_sequence() / 4);
            assert!(
                sequences.into_iter().eq(first..=layout.max_sequence()),
                "{layout}, tick {tick}"
            );
        }
    }
}

#[test]
fn i5_dense_per_core_too() {
    let layout = Layout::TWITTER;
    let clock = ManualClock::new(T0);
    let cores: Vec<LocalGenerator<&ManualClock>> =
        Generator::builder(layout).worker(3).clock(&clock).per_core(3).unwrap();
    clock.advance(Duration::from_millis(1));
    let mut all = HashSet::new();
    for core in &cores {
        let mut n = 0;
        while let Ok(id) = core.try_next_id() {
            assert!(all.insert(id), "{id} from two cores");
            assert_eq!(layout.node(id), 3);
            n += 1;
        }
        assert_eq!(n, 1_024, "3 cores have a fourth each: the split is by bits");
    }
}

/// A thread that is stopped anywhere in `try_next_id` stops nobody else: there is no lock to hold. The
/// clock is the one place where a test can stop a thread for sure; loom covers the others.
#[test]
fn i6_lock_free_a_stopped_thread_stops_nobody() {
    let clock = Stopper::new();
    let ids = Generator::builder(Layout::TWITTER).worker(3).clock(&clock).build().unwrap();
    clock.time.advance(Duration::from_millis(1));
    clock.stop_next_reader();
    thread::scope(|scope| {
        let stopped = scope.spawn(|| ids.try_next_id());
        clock.stopped.wait();
        // The other thread has an old reading in its hands. 20 ticks go by meanwhile, in full.
        let mut last = None;
        for _ in 0..20 {
            clock.time.advance(Duration::from_millis(1));
            for _ in 0..4_096 {
                let id = ids.try_next_id().unwrap();
                assert!(Some(id) > last);
                last = Some(id);
            }
        }
        clock.resume.wait();
        // Not an error for it, and not an id from the past: it looks again, and this tick is full.
        let refusal = stopped.join().unwrap().unwrap_err();
        assert_eq!(refusal, Error::Exhausted { retry_after: Duration::from_millis(1) });
    });
}

#[test]
fn i7_an_error_leaves_the_state_as_it_was() {
    let clock = ManualClock::new(T0);
    let ids = Generator::builder(Layout::TWITTER)
        .worker(3)
        .max_wait(Duration::ZERO)
        .clock(&clock)
        .build()
        .unwrap();
    clock.advance(Duration::from_millis(1));
    let mut last = ids.try_next_id().unwrap();
    let end = Layout::TWITTER.epoch() * MS + ((1 << 41) * MS);
    let mut rng = Rng::new(7);
    for _ in 0..2_000 {
        let now = clock.unix_nanos();
        // Every kind of refusal, by the clock, each repeated.
        let (lie, kind): (u64, fn(&Error) -> bool) = match rng.below(4) {
            0 => (end, |e| matches!(e, Error::TimestampOverflow)),
            1 => (end + rng.below(1 << 40), |e| matches!(e, Error::TimestampOverflow)),
            2 => (rng.below(Layout::TWITTER.epoch() * MS), |e| matches!(e, Error::BeforeEpoch)),
            _ => (now - 10 * MS, |e| matches!(e, Error::ClockBehind { .. })),
        };
        while ids.try_next_id().is_ok() {}
        clock.set_time(lie);
        clock.set_raw(rng.below(u64::MAX));
        for _ in 0..3 {
            let refusal = ids.try_next_id().unwrap_err();
            assert!(kind(&refusal), "{refusal:?}");
            assert_eq!(ids.next_ids(5).unwrap_err(), refusal);
            assert_eq!(ids.next_id().unwrap_err(), refusal);
        }
        // The clock is right again: the next id is the very next one.
        clock.set_time(now + MS);
        let id = ids.try_next_id().unwrap();
        let (a, b) = (Layout::TWITTER.decompose(last), Layout::TWITTER.decompose(id));
        assert_eq!((b.tick, b.sequence), (a.tick + 1, 0));
        last = id;
    }
}

#[test]
fn errors_and_generators_may_cross_threads() {
    fn both<T: Send + Sync>() {}
    fn send<T: Send>() {}
    both::<Generator>();
    both::<Generator<ManualClock>>();
    both::<Error>();
    both::<Id>();
    both::<nivis::Ids>();
    send::<LocalGenerator>();
    both::<Generator<std::sync::Arc<TscClock>>>();
    both::<Generator<Box<dyn Clock + Send + Sync>>>();
    let ids = manual(Layout::TWITTER).0;
    let debug = format!("{ids:?}");
    assert!(debug.contains("Layout(41 tick") && debug.contains("worker: 1"), "{debug}");
}
