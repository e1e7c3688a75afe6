//! [`Steer`]: follows the system's clock with a stopwatch that never goes back.
//!
//! Time is `stopwatch + offset`. The offset is moved by three rules, numbered as in
//! [`TscClock`](super::TscClock)'s documentation. All of it is cold: it runs when a tick is over.
//!
//! # Ordering
//!
//! Everything is `Relaxed`. No memory is published through these words, and each is right by itself:
//! `steered_at` hands every stretch of the stopwatch to one thread, so that time is slowed once for
//! it; `offset` is raised with `fetch_max` and lowered by compare-and-swap, so that a late thread
//! cannot undo a rise; a jump that is being watched is one word, so that its age and its size belong
//! together; and whatever the offset was for whom, `peak` is one atomic maximum, so that no
//! reading is below one that was returned before it started (coherence of a single location).

use crate::sync::{AtomicI64, AtomicU64, Ordering};

const SECOND: u64 = 1_000_000_000;
/// Rule 1: the largest step ahead that is followed at once, in nanoseconds.
pub(super) const STEP: u64 = SECOND;
/// Rule 2: how long a wilder jump ahead has to stand, in nanoseconds of the stopwatch.
pub(super) const STAND: u64 = 3 * SECOND;
/// Rule 3: time is slowed by 1/8, to 7/8, while it leads the system's clock.
pub(super) const SLOWDOWN: u64 = 8;

/// One look at the stopwatch and the system's clock.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The stopwatch just before the system's clock was read, in nanoseconds.
    pub before: u64,
    /// The system's clock, in nanoseconds since 1970.
    pub real: u64,
    /// The stopwatch just after.
    pub after: u64,
}

impl Look {
    /// The system's clock less the stopwatch: at least this, however long the look took.
    pub(super) fn low(&self) -> i64 {
        difference(self.real, self.after)
    }

    /// At most this.
    fn high(&self) -> i64 {
        difference(self.real, self.before)
    }
}

/// `a - b`, for times of this age of the world (up to the year 2262).
fn difference(a: u64, b: u64) -> i64 {
    a.wrapping_sub(b).cast_signed()
}

/// A wild jump ahead that is being watched: since when, in 1/16 s of the stopwatch, and the offset it
/// leads to, in seconds. None is 0.
///
/// One word, so that a thread cannot pair the age of one jump with the offset of another. The stopwatch
/// wraps in 97 days; the offset does in 1,000 years.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Wild(u64);

const TAME: Wild = Wild(0);

impl Wild {
    const UNIT: u64 = SECOND / 16;
    const SINCE_BITS: u32 = 27;
    const SINCE: u64 = (1 << Self::SINCE_BITS) - 1;
    const WATCHED: u64 = 1 << 63;

    fn new(since: u64, offset: i64) -> Wild {
        let seconds = offset.div_euclid(SECOND.cast_signed()).cast_unsigned();
        let since = (since / Self::UNIT) & Self::SINCE;
        Wild(Self::WATCHED | ((seconds << Self::SINCE_BITS) & !Self::WATCHED) | since)
    }

    /// Whether this is a watched jump to `offset`, within a second.
    fn leads_to(self, offset: i64) -> bool {
        let there = |offset: i64| Wild::new(0, offset).0 & !Self::SINCE;
        let step = STEP.cast_signed();
        let here = self.0 & !Self::SINCE;
        [offset - step, offset, offset + step].map(there).contains(&here)
    }

    /// How long it has stood, in nanoseconds, rounded down.
    fn stood(self, now: u64) -> u64 {
        let units = (now / Self::UNIT).wrapping_sub(self.0) & Self::SINCE;
        units.saturating_sub(1) * Self::UNIT
    }
}

/// What a look does to the offset and to the jump that is being watched.
fn decide(offset: i64, elapsed: u64, look: &Look, wild: Wild) -> (i64, Wild) {
    let (low, high) = (look.low(), look.high());
    if low > offset {
        // Rule 1: up at once.
        if low.abs_diff(offset) <= STEP {
            return (low, TAME);
        }
        // Rule 2: a wild jump has to stand, as the same jump.
        if !wild.leads_to(low) {
            return (offset, Wild::new(look.after, low));
        }
        if wild.stood(look.after) >= STAND {
            return (low, TAME);
        }
        return (offset, wild);
    }
    if high < offset {
        // Rule 3: down by slowing.
        let slowed = elapsed / SLOWDOWN;
        return (offset - slowed.min(high.abs_diff(offset)).cast_signed(), TAME);
    }
    (offset, TAME)
}

/// The offset and what moves it. One a process, shared by all generators.
#[derive(Debug)]
pub struct Steer {
    offset: AtomicI64,
    /// The stopwatch up to which somebody has steered.
    steered_at: AtomicU64,
    wild: AtomicU64,
    /// The largest time returned.
    peak: AtomicU64,
}

impl Steer {
    /// Steers from this look on.
    pub fn new(look: Look) -> Steer {
        Steer {
            offset: AtomicI64::new(look.low()),
            steered_at: AtomicU64::new(look.after),
            wild: AtomicU64::new(TAME.0),
            peak: AtomicU64::new(0),
        }
    }

    /// The time of a look, in nanoseconds since 1970: never below one returned before.
    pub fn time(&self, look: Look) -> u64 {
        let steered_at = self.steered_at.load(Ordering::Relaxed);
        if look.after > steered_at
            && self
                .steered_at
                .compare_exchange(steered_at, look.after, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            self.steer(look.after - steered_at, &look);
        }
        let time = look.after.wrapping_add_signed(self.offset.load(Ordering::Relaxed));
        self.peak.fetch_max(time, Ordering::Relaxed).max(time)
    }

    fn steer(&self, elapsed: u64, look: &Look) {
        let offset = self.offset.load(Ordering::Relaxed);
        let wild = Wild(self.wild.load(Ordering::Relaxed));
        let (next, watched) = decide(offset, elapsed, look, wild);
        if next > offset {
            self.offset.fetch_max(next, Ordering::Relaxed);
        } else if next < offset {
            // Lost to a thread that raised it: then there is nothing to slow.
            let _ =
                self.offset.compare_exchange(offset, next, Ordering::Relaxed, Ordering::Relaxed);
        }
        // Lost to a thread with another look: it watches.
        let _ = self.wild.compare_exchange(wild.0, watched.0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// By how much time leads the system's clock, in nanoseconds; 0 if it does not.
    pub fn ahead(&self, look: Look) -> u64 {
        let offset = self.offset.load(Ordering::Relaxed);
        if look.high() < offset { look.high().abs_diff(offset) } else { 0 }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const T0: u64 = 1_767_268_800 * SECOND;

    /// A world with a stopwatch and a system clock that can be set.
    struct World {
        stopwatch: u64,
        real: u64,
        steer: Steer,
        last: u64,
    }

    impl World {
        fn new() -> World {
            let look = Look { before: 5 * SECOND, real: T0, after: 5 * SECOND };
            World { stopwatch: 5 * SECOND, real: T0, steer: Steer::new(look), last: 0 }
        }

        fn look(&self) -> Look {
            Look { before: self.stopwatch, real: self.real, after: self.stopwatch }
        }

        fn pass(&mut self, nanos: u64) -> u64 {
            self.stopwatch += nanos;
            self.real += nanos;
            self.read()
        }

        fn read(&mut self) -> u64 {
            let time = self.steer.time(self.look());
            assert!(time >= self.last, "{time} after {}", self.last);
            self.last = time;
            time
        }
    }

    #[test]
    fn a_true_clock_is_shown_as_it_is() {
        let mut world = World::new();
        for _ in 0..10_000 {
            assert_eq!(world.pass(MS), world.real);
        }
        assert_eq!(world.steer.ahead(world.look()), 0);
    }

    #[test]
    fn a_step_up_to_a_second_is_followed_at_once() {
        for step in [1, MS, STEP] {
            let mut world = World::new();
            world.real += step;
            assert_eq!(world.pass(MS), world.real, "{step}");
        }
    }

    #[test]
    fn a_wild_jump_is_followed_after_it_stood_for_three_seconds() {
        let mut world = World::new();
        world.real += 365 * 86_400 * SECOND;
        let jumped = world.real;
        for _ in 0..3_000 {
            assert!(world.pass(MS) < T0 + 10 * SECOND);
        }
        assert!(world.real - jumped >= STAND);
        for _ in 0..125 {
            world.pass(MS);
        }
        assert_eq!(world.last, world.real);
    }

    #[test]
    fn a_watched_jump_knows_its_age_and_its_size() {
        let second = SECOND.cast_signed();
        for offset in [-5 * second, -1, 0, 3_600 * second, T0.cast_signed(), i64::MAX / 2] {
            for since in [0, 1, 5 * SECOND, u64::MAX / 3] {
                let wild = Wild::new(since, offset);
                assert_ne!(wild, TAME);
                for near in [offset - second, offset, offset + second] {
                    assert!(wild.leads_to(near), "{offset} {near}");
                }
                for far in [offset - 3 * second, offset + 3 * second, offset + 1_000_000 * second] {
                    assert!(!wild.leads_to(far), "{offset} {far}");
                }
                for age in [0, 1, SECOND, STAND, 3_600 * SECOND] {
                    let stood = wild.stood(since + age);
                    assert!(stood <= age && stood + 2 * Wild::UNIT >= age, "{since} {age} {stood}");
                }
            }
        }
        assert!(!TAME.leads_to(0));
    }

    #[test]
    fn a_wild_jump_that_is_taken_back_leaves_nothing() {
        let mut world = World::new();
        for _ in 0..20 {
            world.real += 365 * 86_400 * SECOND;
            for _ in 0..1_000 {
                assert!(world.pass(MS) < T0 + 60 * SECOND);
            }
            world.real -= 365 * 86_400 * SECOND;
            assert_eq!(world.pass(MS), world.real);
        }
    }

    #[test]
    fn a_clock_that_jumps_about_is_not_followed() {
        let mut world = World::new();
        for round in 0..10_000_u64 {
            world.real = T0 + world.stopwatch + (round % 7 + 1) * 3600 * SECOND;
            world.stopwatch += MS;
            assert!(world.read() < T0 + 60 * SECOND);
        }
    }

    #[test]
    fn a_clock_set_back_slows_time_to_seven_eighths_until_both_agree() {
        let mut world = World::new();
        let (start, stopwatch) = (world.pass(MS), world.stopwatch);
        world.real -= 8 * SECOND;
        assert_eq!(world.steer.ahead(world.look()), 8 * SECOND);
        for _ in 0..32_000 {
            world.pass(MS);
        }
        assert_eq!(world.last - start, (world.stopwatch - stopwatch) / 8 * 7);
        assert_eq!(world.steer.ahead(world.look()), 4 * SECOND);
        for _ in 0..33_000 {
            world.pass(MS);
        }
        assert_eq!(world.last, world.real);
        assert_eq!(world.steer.ahead(world.look()), 0);
    }

    #[test]
    fn a_long_idle_spell_counts_as_slowed_time_and_never_goes_back() {
        let mut world = World::new();
        world.pass(MS);
        world.real -= 3600 * SECOND;
        let before = world.last;
        let after = world.pass(3600 * SECOND);
        assert_eq!(after - before, 3600 * SECOND / 8 * 7);
    }

    #[test]
    fn a_look_that_took_long_moves_nothing_the_wrong_way() {
        let mut world = World::new();
        // Preempted for 20 ms between the two stopwatch readings, on either side of the clock.
        for (before, after) in [(0, 20 * MS), (20 * MS, 0)] {
            world.pass(30 * MS);
            let look = Look {
                before: world.stopwatch - before,
                real: world.real,
                after: world.stopwatch + after,
            };
            let time = world.steer.time(look);
            assert_eq!(time, world.real + after);
            world.last = time;
            world.pass(30 * MS);
            assert_eq!(world.last, world.real);
        }
    }

    #[test]
    fn drift_of_83_ppm_between_the_two_clocks_is_followed_for_a_day() {
        for sign in [-1, 1] {
            let mut world = World::new();
            for _ in 0..86_400 {
                world.real = world.real.wrapping_add_signed(sign * 83_000);
                let time = world.pass(SECOND);
                assert!(time.abs_diff(world.real) < MS, "{time} {}", world.real);
            }
        }
    }
}
