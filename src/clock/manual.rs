//! [`ManualClock`]: time and counter say what a test tells them to.

use core::time::Duration;

use super::{Clock, Reading, nanos};
use crate::sync::{AtomicU64, Ordering};

/// A clock for tests, simulations and models: the time and the counter are set apart.
///
/// The counter counts nanoseconds. [`advance`](Self::advance) moves both, as a real clock would;
/// [`set_time`](Self::set_time) moves the time alone, as an administrator would, and is not noticed
/// before the tick is over by the counter; [`set_raw`](Self::set_raw) moves the counter alone.
///
/// ```
/// use std::time::Duration;
/// use nivis::{Error, Generator, Layout, clock::ManualClock};
///
/// let clock = ManualClock::new(1_767_268_800_000_000_000);
/// let ids = Generator::builder(Layout::TWITTER).worker(1).clock(&clock).build()?;
///
/// // The first id comes from the tick after the one that the generator was built in.
/// assert!(matches!(ids.try_next_id(), Err(Error::Exhausted { .. })));
/// clock.advance(Duration::from_millis(1));
/// let first = ids.try_next_id()?;
/// clock.set_time(0);
/// clock.advance(Duration::from_millis(1));
/// assert!(ids.try_next_id()? > first);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ManualClock {
    unix_nanos: AtomicU64,
    raw: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at this time, in nanoseconds since 1970, with its counter at 0.
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn new(unix_nanos: u64) -> ManualClock {
        ManualClock { unix_nanos: AtomicU64::new(unix_nanos), raw: AtomicU64::new(0) }
    }

    /// A clock that stands at this time, in nanoseconds since 1970, with its counter at 0.
    #[cfg(all(loom, feature = "loom"))]
    pub fn new(unix_nanos: u64) -> ManualClock {
        ManualClock { unix_nanos: AtomicU64::new(unix_nanos), raw: AtomicU64::new(0) }
    }

    /// Moves the time and the counter on together. Both wrap.
    pub fn advance(&self, d: Duration) {
        // Relaxed: the release below publishes it.
        self.unix_nanos.fetch_add(nanos(d), Ordering::Relaxed);
        // Release, pairs with `read`: who sees the new counter sees the new time, so that a deadline
        // is never computed from a time older than its counter.
        self.raw.fetch_add(nanos(d), Ordering::Release);
    }

    /// Sets the time, in nanoseconds since 1970, and leaves the counter.
    pub fn set_time(&self, unix_nanos: u64) {
        // Relaxed: a lone value.
        self.unix_nanos.store(unix_nanos, Ordering::Relaxed);
    }

    /// Sets the counter, in nanoseconds from anywhere, and leaves the time.
    pub fn set_raw(&self, raw: u64) {
        // Release, as in `advance`.
        self.raw.store(raw, Ordering::Release);
    }

    /// The time, in nanoseconds since 1970.
    pub fn unix_nanos(&self) -> u64 {
        // Relaxed: a lone value.
        self.unix_nanos.load(Ordering::Relaxed)
    }
}

impl Clock for ManualClock {
    #[inline]
    fn raw(&self) -> u64 {
        // Relaxed: only compared with a deadline, and an old value is an earlier moment.
        self.raw.load(Ordering::Relaxed)
    }

    fn read(&self) -> Reading {
        // Acquire, pairs with `advance`.
        let raw = self.raw.load(Ordering::Acquire);
        Reading { raw, unix_nanos: self.unix_nanos() }
    }

    fn raw_span(&self, d: Duration) -> u64 {
        nanos(d)
    }
}
