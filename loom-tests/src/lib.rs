//! What the models share. They run nivis' real code on loom's atomics, under `--cfg loom`; without it
//! this package is empty.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use nivis::{Generator, GeneratorBuilder, Id, Layout, ManualClock};

/// 2 numbers a tick and 2 workers: a few draws reach the end of a tick.
pub const NARROW: Layout = Layout::new(20, 1, 1);
/// A tick of [`NARROW`].
pub const TICK: Duration = Duration::from_millis(1);
/// The tick that models start in.
pub const START: u64 = 10;

/// A clock shared by threads. Made inside of a model.
pub type Clock = Arc<ManualClock>;
/// A generator on it.
pub type Ids = Arc<Generator<Clock>>;

/// Explores `body` and prints how much there was. A model that has one iteration checks nothing.
///
/// `preemptions` is how often a thread may be stopped unasked in one iteration; none is as often as it
/// goes. `NIVIS_SLOW` raises the bound by one.
///
/// # Panics
///
/// If `body` does in any iteration, or if there is only one.
pub fn model(name: &str, preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    let more = usize::from(std::env::var_os("NIVIS_SLOW").is_some());
    builder.preemption_bound = preemptions.map(|bound| bound + more);
    builder.max_branches = 10_000;
    let iterations = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let counted = iterations.clone();
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    });
    let iterations = iterations.load(Ordering::Relaxed);
    println!("model {name}: {iterations} iterations, {:.1} s", start.elapsed().as_secs_f64());
    assert!(iterations > 1, "a model with one iteration explores nothing");
}

/// The time at which a tick starts.
pub const fn at(tick: u64) -> u64 {
    tick * 1_000_000
}

/// A clock at the start of [`START`].
pub fn clock() -> Clock {
    Arc::new(ManualClock::new(at(START)))
}

/// Worker 0 of [`NARROW`].
pub fn builder(clock: &Clock) -> GeneratorBuilder<Clock> {
    Generator::builder(NARROW).worker(0).clock(clock.clone())
}

/// A generator whose clock stands in the first tick that it draws from, `START + 1`.
///
/// # Panics
///
/// Never: the narrow layout has a worker 0.
pub fn ids(clock: &Clock) -> Ids {
    let ids = Arc::new(builder(clock).build().unwrap());
    clock.advance(TICK);
    ids
}

/// As many of `n` draws as there are ids for.
pub fn draw(ids: &Generator<impl nivis::Clock>, n: usize) -> Vec<Id> {
    (0..n).filter_map(|_| ids.try_next_id().ok()).collect()
}

/// The tick of an id.
pub fn tick(id: Id) -> u64 {
    NARROW.decompose(id).tick
}

/// I3 for ids that were just drawn.
///
/// # Panics
///
/// If one is later than the clock.
pub fn assert_not_early(clock: &ManualClock, drawn: &[Id]) {
    // A write, so that it is no old time that is read: whoever allowed the ids may have seen a newer one.
    clock.advance(Duration::ZERO);
    let now = clock.unix_nanos() / at(1);
    assert!(drawn.iter().all(|id| tick(*id) <= now), "I3: {drawn:?} at tick {now}");
}

/// I1 over all threads and I2 within each; returns all ids.
///
/// # Panics
///
/// If either does not hold.
pub fn assert_unique_and_ordered(threads: &[Vec<Id>]) -> Vec<Id> {
    for drawn in threads {
        assert!(drawn.is_sorted_by(|a, b| a < b), "I2: {drawn:?} does not increase");
    }
    let mut all = threads.concat();
    let n = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), n, "I1: an id came twice: {threads:?}");
    all
}
