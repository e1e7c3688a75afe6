//! What several tests need.
#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use nivis::clock::ManualClock;
use nivis::{Clock, Generator, Id, Layout, Reading};

/// A millisecond, in nanoseconds.
pub const MS: u64 = 1_000_000;
/// 2026-01-01T12:00Z, in nanoseconds since 1970.
pub const T0: u64 = 1_767_268_800_000 * MS;

/// A generator on a clock that stands in the tick that its first id comes from.
pub fn manual(layout: Layout) -> (Generator<Arc<ManualClock>>, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(T0));
    let ids = Generator::builder(layout).worker(1).clock(clock.clone()).build().unwrap();
    clock.advance(layout.tick_length());
    (ids, clock)
}

/// The start of an id's tick, in nanoseconds since 1970.
pub fn tick_nanos(layout: &Layout, id: Id) -> u64 {
    u64::try_from(layout.unix_nanos(id)).unwrap()
}

/// A clock that stops one thread with a reading in its hands, as the scheduler may.
pub struct Stopper {
    pub time: ManualClock,
    stop: AtomicBool,
    /// Reached by the thread once it is stopped; wait for that.
    pub stopped: Barrier,
    /// Wait here to let it go on.
    pub resume: Barrier,
}

impl Stopper {
    pub fn new() -> Stopper {
        Stopper {
            time: ManualClock::new(T0),
            stop: AtomicBool::new(false),
            stopped: Barrier::new(2),
            resume: Barrier::new(2),
        }
    }

    pub fn stop_next_reader(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

impl Clock for Stopper {
    fn raw(&self) -> u64 {
        self.time.raw()
    }

    fn read(&self) -> Reading {
        let reading = self.time.read();
        if self.stop.swap(false, Ordering::SeqCst) {
            self.stopped.wait();
            self.resume.wait();
        }
        reading
    }

    fn raw_span(&self, d: Duration) -> u64 {
        self.time.raw_span(d)
    }
}

/// `SplitMix64`: the same numbers for the same seed, everywhere.
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
