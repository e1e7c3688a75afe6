//! [`TscClock`]: the processor's counter as a stopwatch, the system's clock as the calendar.

use core::fmt;
use core::time::Duration;
use std::sync::OnceLock;

use super::steer::{Look, Steer};
use super::system::unix_nanos;
use super::{Clock, Reading, nanos};

/// The default clock: the processor's time stamp counter asks whether the tick is over, and the
/// system's clocks say what time it is.
///
/// # Design
///
/// [`raw`](Clock::raw) is quanta's: `rdtsc` on `x86_64`, `cntvct_el0` on aarch64. It is compared with
/// a deadline and never turned into a date. When a tick may be over, [`read`](Clock::read) looks at
/// `CLOCK_BOOTTIME` (a stopwatch that counts sleep too) and at the system's real time, and returns
/// `stopwatch + offset`. What it returns **never goes back**, over all threads. The offset follows the
/// system's clock:
///
/// 1. **Up at once**, for a step ahead of up to 1 s. Sleep is counted by the stopwatch itself, so
///    that waking up needs no step.
/// 2. **A wilder jump ahead only after it stood for 3 s** of the stopwatch, as the same jump within
///    1 s. One absurd reading cannot push ids a year ahead.
/// 3. **Down by slowing time to 7/8** until both agree. A clock set back by an hour stops nobody: ids
///    go on, and lead the system's clock by what [`ahead`](Self::ahead) says, for eight hours.
///
/// Who prefers an error to ids that lead sets [`max_ahead`](Self::max_ahead).
///
/// # Platform
///
/// The counter's rate is measured once per process, when the first clock is made (about 1 ms). It only
/// serves to guess how many counts are left in a tick, and the guess is shortened by 1/1024: a rate
/// that is wrong by less than that costs a few more readings, not a late tick. Where there is no
/// invariant counter quanta takes the system's monotonic clock; a rate outside of 0.001 to 20 counts a
/// nanosecond is not believed, and the stopwatch takes the counter's place. `Debug` says which it is.
/// Elsewhere than on Linux the stopwatch is [`std::time::Instant`], which may not count sleep: waking
/// up is then a jump ahead, by rule 1 or 2.
///
/// # Caveats
///
/// Time is read to about 100 ns. A virtual machine that is stopped and resumed with its clocks wakes
/// with a jump ahead that no stopwatch explains: rule 2 takes 3 s. After a restart nothing is known of
/// the time that ids had reached while they led: see
/// [`GeneratorBuilder::start_after`](crate::GeneratorBuilder::start_after).
#[derive(Clone, Copy)]
pub struct TscClock {
    max_ahead: u64,
}

/// The process's one stopwatch and one offset.
static SHARED: OnceLock<Shared> = OnceLock::new();

struct Shared {
    /// None if its rate was not believed.
    counter: Option<quanta::Clock>,
    /// Counts per nanosecond, times 2^32.
    rate: u64,
    steer: Steer,
}

/// 0.001 counts per nanosecond, times 2^32: a counter of 1 MHz, the slowest that aarch64 has.
const SLOWEST: u64 = (1 << 32) / 1_000;
/// 20 counts per nanosecond, times 2^32: faster than any processor.
const FASTEST: u64 = 20 << 32;

impl Shared {
    fn new() -> Shared {
        let counter = quanta::Clock::new();
        let rate = counts_per_nano(&counter);
        Shared {
            counter: rate.map(|_| counter),
            rate: rate.unwrap_or(1 << 32),
            // A look that was interrupted puts time too far back; the best of a few was not.
            steer: Steer::new((0..5).map(|_| look()).max_by_key(Look::low).unwrap_or_else(look)),
        }
    }
}

/// The rate as quanta measured it, if it is plausible.
fn counts_per_nano(counter: &quanta::Clock) -> Option<u64> {
    // 2^40 counts are minutes: the quotient is as exact as the rate that quanta keeps.
    let counts = 1_u64 << 40;
    let start = counter.raw();
    plausible(counts, counter.delta_as_nanos(start, start.wrapping_add(counts)))
}

/// Counts per nanosecond, times 2^32, unless no counter counts like that.
fn plausible(counts: u64, nanos: u64) -> Option<u64> {
    let rate = (u128::from(counts) << 32).checked_div(u128::from(nanos))?;
    u64::try_from(rate).ok().filter(|rate| (SLOWEST..=FASTEST).contains(rate))
}

/// What `Debug` calls the source of the counter.
fn source(counter: Option<&quanta::Clock>) -> &'static str {
    match counter {
        // quanta names its source in its own `Debug`, and nowhere else.
        Some(counter) if format!("{counter:?}").contains("Counter") => "the processor's counter",
        Some(_) => "the system's monotonic clock: the processor has no invariant counter",
        None => "the system's stopwatch: the counter's rate is not plausible",
    }
}

/// Nanoseconds on a clock that only goes on, sleep included where the system has such a clock.
#[cfg(target_os = "linux")]
fn stopwatch() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    // Time since boot: neither part is negative, and nanoseconds since boot last for 584 years.
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}

#[cfg(not(target_os = "linux"))]
fn stopwatch() -> u64 {
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    nanos(START.get_or_init(std::time::Instant::now).elapsed()).saturating_add(1)
}

fn look() -> Look {
    let before = stopwatch();
    let real = unix_nanos();
    Look { before, real, after: stopwatch() }
}

impl TscClock {
    /// The process's clock. The first one takes about 1 ms to measure the counter; all share it.
    pub fn new() -> TscClock {
        shared();
        TscClock::unmeasured()
    }

    /// A clock whose counter is measured at the first look at it: when a generator is built, or for one
    /// in a `static`, with its first id.
    pub(crate) const fn unmeasured() -> TscClock {
        TscClock { max_ahead: u64::MAX }
    }

    /// Ids may lead the system's clock by no more than `d`. Beyond that the clock shows the system's
    /// time as it is, behind ids that are already out, and the generator says
    /// [`Error::ClockBehind`](crate::Error::ClockBehind) once the ids of its tick are used up.
    #[must_use]
    pub const fn max_ahead(self, d: Duration) -> TscClock {
        let nanos = d.as_nanos();
        TscClock { max_ahead: if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 } }
    }

    /// By how much time leads the system's clock since that was set back. Zero is the rule.
    pub fn ahead(&self) -> Duration {
        Duration::from_nanos(shared().steer.ahead(look()))
    }
}

fn shared() -> &'static Shared {
    SHARED.get_or_init(Shared::new)
}

impl Default for TscClock {
    fn default() -> TscClock {
        TscClock::new()
    }
}

impl Clock for TscClock {
    #[inline]
    fn raw(&self) -> u64 {
        match SHARED.get() {
            Some(Shared { counter: Some(counter), .. }) => counter.raw(),
            Some(Shared { counter: None, .. }) => stopwatch(),
            // Of a static generator that has drawn nothing: any value leads to `read`.
            None => 0,
        }
    }

    fn read(&self) -> Reading {
        let shared = shared();
        let raw = self.raw();
        let look = look();
        let time = shared.steer.time(look);
        let behind = shared.steer.ahead(look) > self.max_ahead;
        Reading { raw, unix_nanos: if behind { look.real } else { time } }
    }

    fn raw_span(&self, d: Duration) -> u64 {
        let counts = (u128::from(nanos(d)) * u128::from(shared().rate)) >> 32;
        u64::try_from(counts).unwrap_or(u64::MAX)
    }
}

impl fmt::Debug for TscClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = shared();
        f.debug_struct("TscClock")
            .field("source", &source(shared.counter.as_ref()))
            .field(
                "counts_per_nano",
                &format_args!(
                    "{}.{:03}",
                    shared.rate >> 32,
                    ((shared.rate & 0xFFFF_FFFF) * 1000) >> 32
                ),
            )
            .field("ahead", &self.ahead())
            .field("max_ahead", &Duration::from_nanos(self.max_ahead))
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn reads_the_system_clock_and_never_goes_back() {
        let clock = TscClock::new();
        let mut last = 0;
        for _ in 0..100_000 {
            let before = unix_nanos();
            let reading = clock.read();
            let after = unix_nanos();
            assert!(reading.unix_nanos >= last);
            last = reading.unix_nanos;
            // Within a thousandth of a tick, and after the clock was set back by what it leads.
            assert!(reading.unix_nanos + 1_000 >= before, "{} {before}", reading.unix_nanos);
            let ahead = nanos(clock.ahead());
            assert!(reading.unix_nanos <= after + ahead + 1_000, "{} {after}", reading.unix_nanos);
        }
    }

    #[test]
    fn spans_are_rounded_down_and_do_not_overflow() {
        let clock = TscClock::new();
        assert_eq!(clock.raw_span(Duration::ZERO), 0);
        let second = clock.raw_span(Duration::from_secs(1));
        assert!((1_000_000..=20_000_000_000).contains(&second), "{second}");
    }

    #[test]
    fn case_06_the_counter_and_the_stopwatch_agree_to_a_thousandth() {
        let clock = TscClock::new();
        let (raw, start) = (clock.raw(), stopwatch());
        std::thread::sleep(Duration::from_millis(200));
        let (counts, nanos) = (clock.raw() - raw, stopwatch() - start);
        let guess = clock.raw_span(Duration::from_nanos(nanos));
        assert!(counts.abs_diff(guess) < counts / 500, "{counts} {guess}");
    }

    #[test]
    fn an_implausible_rate_is_not_believed() {
        let giga = 1_000_000_000;
        assert_eq!(plausible(giga, giga), Some(1 << 32));
        assert_eq!(plausible(5 * giga, 2 * giga), Some(5 << 31));
        assert!(plausible(giga, 1_000 * giga).is_some() && plausible(20 * giga, giga).is_some());
        assert_eq!(plausible(giga, 1_001 * giga), None, "slower than 1 MHz");
        assert_eq!(plausible(20 * giga + 1, giga), None, "faster than 20 GHz");
        assert_eq!(plausible(u64::MAX, 1), None);
        assert_eq!(plausible(giga, 0), None);
        assert_eq!(plausible(0, giga), None);
    }

    #[test]
    fn debug_names_the_source() {
        let debug = format!("{:?}", TscClock::new().max_ahead(Duration::from_secs(3)));
        assert!(debug.contains("source: \"the ") && debug.contains("max_ahead: 3s"), "{debug}");
        let most = TscClock::new().max_ahead(Duration::MAX);
        assert_eq!(most.max_ahead, u64::MAX);
        // quanta has a counter everywhere, if only the system's monotonic clock.
        assert!(shared().counter.is_some());
        assert!(source(None).contains("not plausible"));
        assert!(source(Some(&quanta::Clock::new())).contains("counter"));
    }
}
