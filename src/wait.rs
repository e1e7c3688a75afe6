//! How to wait: for time to pass, and not a moment more.
//!
//! A tick that is exhausted is followed by one that is not, most often within a millisecond. Waiting
//! for it must neither cost the layout's rate nor burn a core, so a wait goes through three stages by
//! how much of it is left: spin, yield, sleep. Each round begins with a fresh reading of the clock,
//! which is the attempt itself.

use core::time::Duration;

use crate::error::Error;
use crate::sync::{Stopwatch, relax, sleep};

/// Below this a sleep comes too late: the kernel adds about 50 us to each.
const WORTH_SLEEPING: Duration = Duration::from_micros(100);
/// What a sleep leaves to be yielded away at its end.
const EARLY: Duration = Duration::from_micros(60);

/// Tries until there is something, or something that waiting does not cure, or until what is left of
/// `max_wait` cannot be enough.
pub(crate) fn until<T>(
    max_wait: Duration,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut watch = None;
    loop {
        let refusal = match attempt() {
            Ok(found) => return Ok(found),
            Err(refusal) => refusal,
        };
        match wait_for(&refusal, max_wait, &mut watch) {
            Some(wait) => rest(wait),
            None => return Err(refusal),
        }
    }
}

/// How long to wait after a refusal, if that fits into what is left.
fn wait_for(
    refusal: &Error,
    max_wait: Duration,
    watch: &mut Option<Stopwatch>,
) -> Option<Duration> {
    let wait = refusal.retry_after()?;
    // Real time: the generator's clock may stand still.
    let waited = watch.get_or_insert_with(Stopwatch::start).elapsed();
    let left = max_wait.checked_sub(waited)?;
    (wait <= left && !left.is_zero()).then_some(wait)
}

fn rest(wait: Duration) {
    if wait > WORTH_SLEEPING {
        sleep(wait.saturating_sub(EARLY));
    } else {
        relax();
    }
}

/// [`until`], on tokio's timer.
#[cfg(feature = "tokio")]
pub(crate) async fn until_async<T>(
    max_wait: Duration,
    mut attempt: impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut watch = None;
    loop {
        let refusal = match attempt() {
            Ok(found) => return Ok(found),
            Err(refusal) => refusal,
        };
        match wait_for(&refusal, max_wait, &mut watch) {
            Some(wait) => tokio::time::sleep(wait).await,
            None => return Err(refusal),
        }
    }
}
