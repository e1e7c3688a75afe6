//! How to wait: for time to pass, and not a moment more.
//!
//! A tick that is exhausted is followed by one that is not, most often within a millisecond. Waiting
//! for it must neither cost the layout's rate nor burn a core, so a wait goes through three stages by
//! how much of it is left: a fresh reading, which is the attempt itself; yielding below 100 us; sleep.
//! A sleep ends some 50 us into the tick. That costs no ids, since whoever has to sleep draws a tick's
//! worth in far less than the rest of it; and waking early would have every waiter burn that time.

use core::time::Duration;

use crate::error::Error;
use crate::sync::{Stopwatch, relax, sleep};

/// Below this a sleep comes too late: the kernel adds about 50 us to each.
const WORTH_SLEEPING: Duration = Duration::from_micros(100);

/// The longest sleep: a clock may come back sooner than it said.
const LONGEST: Duration = Duration::from_millis(100);

/// Waits and tries again after a refusal, until there is something, or something that waiting does
/// not cure, or until what is left of `max_wait` nanoseconds cannot be enough.
pub(crate) fn until<T>(
    max_wait: u64,
    mut refusal: Error,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let watch = Stopwatch::start();
    loop {
        rest(how_long(refusal, max_wait, &watch)?);
        match attempt() {
            Err(again) => refusal = again,
            found => return found,
        }
    }
}

/// [`until`], on tokio's timer.
#[cfg(feature = "tokio")]
pub(crate) async fn until_async<T>(
    max_wait: u64,
    mut refusal: Error,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let watch = Stopwatch::start();
    loop {
        tokio::time::sleep(how_long(refusal, max_wait, &watch)?).await;
        match attempt() {
            Err(again) => refusal = again,
            found => return found,
        }
    }
}

/// How long to wait after a refusal, if that fits into what is left.
fn how_long(refusal: Error, max_wait: u64, watch: &Stopwatch) -> Result<Duration, Error> {
    let wait = refusal.retry_after().ok_or(refusal)?;
    // Real time: the generator's clock may stand still.
    let left = Duration::from_nanos(max_wait).saturating_sub(watch.elapsed());
    if wait <= left && !left.is_zero() { Ok(wait.min(LONGEST)) } else { Err(refusal) }
}

fn rest(wait: Duration) {
    if wait > WORTH_SLEEPING {
        sleep(wait);
    } else {
        relax();
    }
}
