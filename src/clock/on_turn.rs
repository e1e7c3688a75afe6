//! [`OnTurn`]: time moves when the event loop says so.

use core::time::Duration;

use super::{Clock, Reading};

/// A clock for event loops: a generator looks at the time only when it is told to.
///
/// Call [`Generator::turn`](crate::Generator::turn) (or the per-core one's) once per turn of the
/// loop. An id in between costs no clock at all, and shows the time of that turn. If the sequence
/// runs out, the generator looks by itself.
///
/// ```
/// use nivis::{Generator, Layout, clock::{OnTurn, TscClock}};
///
/// let ids = Generator::builder(Layout::TWITTER).worker(1).clock(OnTurn::new(TscClock::new())).build()?;
/// for _turn in 0..3 {
///     ids.turn();
///     let id = ids.next_id()?;
///     assert_eq!(Layout::TWITTER.node(id), 1);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Caveats
///
/// A loop that never turns keeps showing the time of the last look until 4,096 ids (Twitter's layout)
/// are drawn. [`Clock::read`] is the inner clock's.
#[derive(Clone, Copy, Debug, Default)]
pub struct OnTurn<C> {
    clock: C,
}

impl<C: Clock> OnTurn<C> {
    /// Reads `clock` on each turn, and never in between.
    pub const fn new(clock: C) -> OnTurn<C> {
        OnTurn { clock }
    }

    /// The clock that is read on each turn.
    pub const fn get_ref(&self) -> &C {
        &self.clock
    }
}

impl<C: Clock> Clock for OnTurn<C> {
    /// 0, always: before every deadline.
    #[inline]
    fn raw(&self) -> u64 {
        0
    }

    fn read(&self) -> Reading {
        Reading { raw: 0, ..self.clock.read() }
    }

    /// For ever: a deadline is never reached.
    fn raw_span(&self, _: Duration) -> u64 {
        u64::MAX
    }
}
