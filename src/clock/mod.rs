//! What time is it? A clock may lie: it decides what time an id shows, never whether it is unique.
//!
//! # Design
//!
//! A generator asks a clock two questions. *Is the tick over?* is asked with every id, so it must
//! cost next to nothing: [`Clock::raw`] reads a counter, and the generator compares it with a
//! deadline. *What time is it?* is asked once or twice a tick: [`Clock::read`] looks at the system's
//! clocks. The counter is never converted into a date, so its drift, its calibration and its reset
//! cannot move an id's time.
//!
//! ```text
//! fresh  <=>  deadline - raw - 1 < window        (wrapping, one unsigned compare)
//! ```
//!
//! holds only for `0 < deadline - raw <= window`. A counter that restarted, a core whose counter is
//! off, or a long idle spell all fail it, and lead to a reading: never to a tick that stands still.
//!
//! # Which one
//!
//! | clock | a call costs | time moves |
//! |---|---|---|
//! | [`TscClock`], the default | a counter read | by itself |
//! | [`OnTurn`] | next to nothing | when [`Generator::turn`](crate::Generator::turn) is called, or the sequence runs out |
//! | [`SystemClock`] | a clock read | by itself, and steps as the system's clock does |
//! | [`ManualClock`] | an atomic load | when a test says so |
//!
//! `&C`, `Box<C>`, `Arc<C>` and `Box<dyn Clock>` are clocks too.

use core::time::Duration;

mod manual;
mod on_turn;
#[cfg(all(feature = "std", not(all(loom, feature = "loom"))))]
mod steer;
/// For loom-tests alone, which model it by itself.
#[cfg(all(feature = "std", loom, feature = "loom"))]
#[doc(hidden)]
pub mod steer;
#[cfg(feature = "std")]
mod system;
#[cfg(feature = "std")]
mod tsc;

pub use manual::ManualClock;
pub use on_turn::OnTurn;
#[cfg(feature = "std")]
pub use system::SystemClock;
#[cfg(feature = "std")]
pub use tsc::TscClock;

/// A clock for a generator: a counter to compare and a time to read.
///
/// ```
/// use std::time::Duration;
/// use nivis::clock::{Clock, Reading};
///
/// /// A clock that stands still.
/// struct Noon;
///
/// impl Clock for Noon {
///     fn raw(&self) -> u64 {
///         0
///     }
///     fn read(&self) -> Reading {
///         Reading { raw: 0, unix_nanos: 1_767_268_800_000_000_000 }
///     }
///     fn raw_span(&self, _: Duration) -> u64 {
///         0
///     }
/// }
/// # assert_eq!(Noon.read().raw, Noon.raw());
/// ```
pub trait Clock {
    /// The counter now, in units of its own. It is cheap, and only ever compared with a deadline: it
    /// may wrap, restart and differ between cores.
    fn raw(&self) -> u64;

    /// The time now, and the counter just before it was read.
    fn read(&self) -> Reading;

    /// The counter's units in `d`, rounded down: a deadline may be early, never late. 0 is always
    /// right, and means a reading with every id.
    fn raw_span(&self, d: Duration) -> u64;
}

/// What a [`Clock`] reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// Nanoseconds since 1970-01-01T00:00Z; 0 for any time before that.
    pub unix_nanos: u64,
    /// The counter, read just *before* the time.
    pub raw: u64,
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn raw(&self) -> u64 {
        (**self).raw()
    }
    fn read(&self) -> Reading {
        (**self).read()
    }
    fn raw_span(&self, d: Duration) -> u64 {
        (**self).raw_span(d)
    }
}

#[cfg(feature = "std")]
impl<C: Clock + ?Sized> Clock for Box<C> {
    #[inline]
    fn raw(&self) -> u64 {
        (**self).raw()
    }
    fn read(&self) -> Reading {
        (**self).read()
    }
    fn raw_span(&self, d: Duration) -> u64 {
        (**self).raw_span(d)
    }
}

#[cfg(feature = "std")]
impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    #[inline]
    fn raw(&self) -> u64 {
        (**self).raw()
    }
    fn read(&self) -> Reading {
        (**self).read()
    }
    fn raw_span(&self, d: Duration) -> u64 {
        (**self).raw_span(d)
    }
}

/// Nanoseconds, or all there are.
pub(crate) fn nanos(d: Duration) -> u64 {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn pointers_to_clocks_answer_as_the_clock_does() {
        fn check<C: Clock>(clock: C) {
            let reading = Reading { unix_nanos: 1_234, raw: 5_678 };
            assert_eq!((clock.read(), clock.raw()), (reading, 5_678));
            assert_eq!(clock.raw_span(Duration::from_nanos(99)), 99);
        }
        let clock = || {
            let clock = ManualClock::new(1_234);
            clock.set_raw(5_678);
            clock
        };
        check(clock());
        check::<&ManualClock>(&clock());
        check(Box::new(clock()));
        check(Arc::new(clock()));
        check(Box::new(clock()) as Box<dyn Clock + Send + Sync>);
    }
}
