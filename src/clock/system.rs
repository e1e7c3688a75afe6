//! [`SystemClock`]: the operating system's clock, as it is.

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Clock, Reading, nanos};

/// The operating system's real-time clock, read with every id.
///
/// It needs no counter and steers nothing: when the system's clock is set back, ids go on inside
/// the tick that they had reached and then end with [`Error::ClockBehind`](crate::Error::ClockBehind)
/// until the clock is there again; when it is set a year ahead for a moment, ids are a year ahead.
/// [`TscClock`](super::TscClock) is cheaper and does neither.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// The system's real time in nanoseconds since 1970: 0 before that, and the last one after 2554.
pub(super) fn unix_nanos() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, nanos)
}

impl Clock for SystemClock {
    #[inline]
    fn raw(&self) -> u64 {
        unix_nanos()
    }

    fn read(&self) -> Reading {
        let now = unix_nanos();
        Reading { raw: now, unix_nanos: now }
    }

    fn raw_span(&self, d: Duration) -> u64 {
        nanos(d)
    }
}
