//! [`Plan`]: what stays as it is for a generator's life, and what a look at its clock comes to.
//!
//! The generators differ in where they keep word, limit and deadline: in atomics or in cells. What
//! the three mean stands here, once.

use core::time::Duration;

use crate::clock::Clock;
use crate::error::Error;
use crate::fork::Window;
use crate::layout::Layout;
use crate::word::Shape;

/// A deadline is shortened by this part of what is left of the tick, so that a counter whose rate is
/// off by less is read too often and never too late.
const SHORTEN: u64 = 1024;

/// Everything about a generator but its state.
pub(crate) struct Plan<C> {
    pub(crate) shape: Shape,
    pub(crate) layout: Layout,
    pub(crate) clock: C,
    /// Ticks that an id may run ahead of the clock.
    pub(crate) lead: u64,
    /// How long a caller waits at most, in nanoseconds.
    pub(crate) max_wait: u64,
    pub(crate) spread: bool,
    /// The largest plausible distance to a deadline, in the clock's raw units: a tick. 0 until the first
    /// look of a generator that was built in a `const`, and in a forked child.
    window: Window,
}

/// One look at the clock.
pub(crate) struct Look {
    /// Nanoseconds since the layout's epoch; none if the clock reads a time before it.
    since_epoch: Option<u64>,
    /// The tick now.
    pub(crate) tick: u64,
    /// The raw counter at which the tick is over.
    pub(crate) deadline: u64,
    /// The first word that may not be handed out.
    pub(crate) limit: u64,
    lease_end: u64,
}

impl Look {
    pub(crate) const fn is_before_epoch(&self) -> bool {
        self.since_epoch.is_none()
    }
}

impl<C> Plan<C> {
    pub(crate) const fn new(layout: Layout, shape: Shape, clock: C) -> Plan<C> {
        Plan {
            shape,
            layout,
            clock,
            lead: 0,
            max_wait: default_max_wait(&layout),
            spread: false,
            window: Window::unset(),
        }
    }
}

impl<C: Clock> Plan<C> {
    /// Whether the tick of `deadline` cannot be over yet, and this is no forked child.
    #[inline]
    pub(crate) fn fresh(&self, deadline: u64) -> bool {
        // 0 < deadline - raw <= window: a counter that restarted is as stale as one that ran past.
        deadline.wrapping_sub(self.clock.raw()).wrapping_sub(1) < self.window.get()
    }

    /// Starts the generator in this process, so that it is at home here and in no child.
    pub(crate) fn start(&self) {
        self.window.start(self.clock.raw_span(self.layout.tick_length()));
    }

    /// Reads the clock and says what it comes to for a slice that ends at the tick `lease_end`.
    pub(crate) fn look(&self, lease_end: u64) -> Result<Look, Error> {
        if !self.window.is_at_home() {
            return Err(Error::Forked);
        }
        if !self.window.is_started() {
            self.start();
        }
        let reading = self.clock.read();
        let tick_nanos = self.layout.tick_nanos();
        let epoch_nanos = self.layout.epoch().saturating_mul(1_000_000);
        let Some(since_epoch) = reading.unix_nanos.checked_sub(epoch_nanos) else {
            // No tick has begun, so none is allowed; ids that already are stay taken.
            let deadline = reading.raw;
            return Ok(Look { since_epoch: None, tick: 0, deadline, limit: 0, lease_end });
        };
        let tick = since_epoch / tick_nanos;
        if tick > self.shape.max_tick() {
            return Err(Error::TimestampOverflow);
        }
        let left = self.clock.raw_span(Duration::from_nanos(tick_nanos - since_epoch % tick_nanos));
        Ok(Look {
            since_epoch: Some(since_epoch),
            tick,
            deadline: reading.raw.wrapping_add(left - left / SHORTEN),
            limit: self.shape.limit(tick, self.lead, lease_end),
            lease_end,
        })
    }

    /// The word brought up to a look, if that is further up. `started` is false for a generator that
    /// was built in a `const` and starts with this look.
    pub(crate) fn raise(&self, word: u64, look: &Look, started: bool) -> Option<u64> {
        let first = if started { look.tick } else { self.first_tick(look.tick) };
        self.shape.raise(word, first, self.spread)
    }

    /// The first tick of a generator that starts at `now`: one that no earlier generator of this
    /// worker and lead can have reached, if it was gone by `now`.
    pub(crate) const fn first_tick(&self, now: u64) -> u64 {
        now.saturating_add(1).saturating_add(self.lead)
    }

    /// Why `word` may not be handed out: it was read before the look, and is not below its limit.
    pub(crate) fn refusal(&self, word: u64, look: &Look) -> Error {
        let Some(since_epoch) = look.since_epoch else {
            return Error::BeforeEpoch;
        };
        let tick = self.shape.tick(word);
        if word >= self.shape.end() {
            return Error::TimestampOverflow;
        }
        if tick >= look.lease_end {
            return Error::LeaseExpired;
        }
        // Not below the limit, nor past the slice: the word's tick is still to come, lead and all; or
        // what is left of this one is kept for those who wait.
        let due = tick.saturating_sub(self.lead).max(look.tick + 1);
        let due_at = u128::from(due) * u128::from(self.layout.tick_nanos());
        let wait = duration(due_at.saturating_sub(u128::from(since_epoch)));
        if due == look.tick + 1 {
            Error::Exhausted { retry_after: wait }
        } else {
            Error::ClockBehind { by: wait }
        }
    }
}

/// 10 ms, or two ticks if those are longer: time for the next tick to come.
const fn default_max_wait(layout: &Layout) -> u64 {
    let ticks = 2 * layout.tick_nanos();
    if ticks > 10_000_000 { ticks } else { 10_000_000 }
}

fn duration(nanos: u128) -> Duration {
    let secs = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
    Duration::new(secs, (nanos % 1_000_000_000) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    #[test]
    fn max_wait_lets_the_next_tick_come() {
        for (layout, nanos) in [
            (Layout::TWITTER, 10_000_000),
            (Layout::TWITTER.tick(Duration::from_millis(5)), 10_000_000),
            (Layout::SONYFLAKE, 20_000_000),
            (Layout::BAIDU, 2_000_000_000),
        ] {
            assert_eq!(default_max_wait(&layout), nanos, "{layout}");
        }
    }

    #[test]
    #[cfg(not(loom))]
    fn a_deadline_is_the_end_of_the_tick_and_a_little_before() {
        let layout = Layout::TWITTER;
        let shape = Shape::split(layout.widths(), 0);
        let tick = 1_000_000;
        for into in [0, 1, 1_023, 1_024, 500_000, tick - 1] {
            let clock = ManualClock::new((layout.epoch() + 7) * tick + into);
            clock.set_raw(123_456_789);
            let plan = Plan::new(layout, shape, &clock);
            let look = plan.look(u64::MAX).unwrap();
            assert_eq!((look.tick, look.limit), (7, shape.first(8)));
            let left = tick - into;
            assert_eq!(look.deadline, 123_456_789 + left - left / 1_024, "{into} into the tick");
            // Fresh up to there and from a window before it, and not at either end.
            let at = |raw| {
                clock.set_raw(raw);
                plan.fresh(look.deadline)
            };
            assert!(at(look.deadline - 1) && !at(look.deadline) && !at(look.deadline + 1));
            assert!(at(look.deadline - tick) && !at(look.deadline - tick - 1));
        }
    }
}
