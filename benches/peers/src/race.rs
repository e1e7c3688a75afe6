//! Threads that start together, rounds that take turns, and the check that no id came twice.

use std::collections::BTreeSet;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::{panic, thread};

use crate::contestants::Contestant;
use crate::hands::{Hand, Ident};

/// Where threads wait for each other, any number of times.
pub struct Line {
    threads: usize,
    arrived: AtomicUsize,
    /// Somebody panicked and will not come.
    broken: AtomicBool,
}

impl Line {
    /// Yields rather than sleeps: to be woken takes longer than many a run.
    pub fn wait(&self) {
        let before = self.arrived.fetch_add(1, Ordering::AcqRel);
        let all = (before / self.threads + 1) * self.threads;
        while self.arrived.load(Ordering::Acquire) < all && !self.broken.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }
}

struct BreakOnPanic<'a>(&'a Line);

impl Drop for BreakOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs each hand on a thread of its own. `meanwhile` runs on this one; it is one of the line if `extra`
/// counts it in. None if a hand panicked: there are peers that do.
pub fn race<H: Hand, R: Send, S>(
    hands: Vec<H>,
    extra: usize,
    work: impl Fn(H, &Line) -> R + Sync,
    meanwhile: impl FnOnce(&Line) -> S,
) -> Option<(Vec<R>, S)> {
    let threads = hands.len() + extra;
    let line = Line { threads, arrived: AtomicUsize::new(0), broken: AtomicBool::new(false) };
    thread::scope(|scope| {
        let (line, work) = (&line, &work);
        let start = |hand| {
            scope.spawn(move || {
                let _guard = BreakOnPanic(line);
                work(hand, line)
            })
        };
        let threads: Vec<_> = hands.into_iter().map(start).collect();
        let other = meanwhile(line);
        // All are joined, so that the scope has no panic to pass on.
        let results: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        let results: Result<Vec<R>, _> = results.into_iter().collect();
        Some((results.ok()?, other))
    })
}

/// Tells of a panic once for each place in the code, in a line.
pub fn quiet_panics() {
    let told = Mutex::new(BTreeSet::new());
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string);
        if told.lock().is_ok_and(|mut told| told.insert(place)) {
            eprintln!("\n{info}");
        }
    }));
}

/// One id. The hand's address is hidden from the compiler, so that it keeps no state in registers from
/// one id to the next: in a service calls are far apart.
#[inline]
pub fn draw<H: Hand>(hand: &mut H) -> H::Id {
    black_box(hand).draw()
}

/// Room for `n` ids, with its pages in place. Draws the first id, which may have to wait for a tick.
pub fn room<H: Hand>(hand: &mut H, n: usize) -> Vec<H::Id> {
    vec![draw(hand); n]
}

/// What the ids of a round were like.
#[derive(Clone, Copy, Default)]
pub struct Checked {
    /// Ids that came more than once, over all threads.
    pub repeated: usize,
    /// Whether each thread's own ids increased.
    pub sorted: bool,
}

pub fn check<T: Ident>(ids: &[Vec<T>]) -> Checked {
    let sorted = ids.iter().all(|one| one.windows(2).all(|two| two[0] < two[1]));
    let mut all = ids.concat();
    // Merges runs that are sorted already.
    all.sort();
    Checked { repeated: all.windows(2).filter(|two| two[0] == two[1]).count(), sorted }
}

/// Runs every contestant once per round, beginning with another one each time: what disturbs the
/// machine for a while disturbs all of them. Of each contestant, a result for each round, or none if it
/// panicked. Fails if an id of nivis or of a floor came twice; what peers do is reported.
pub fn rounds<R: Round>(
    what: &str,
    contestants: &[Contestant],
    rounds: usize,
    mut run: impl FnMut(&Contestant) -> Option<R>,
) -> Vec<Vec<Option<R>>> {
    let mut results: Vec<Vec<Option<R>>> = contestants.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        eprint!("\r{what}: round {} of {rounds}    ", round + 1);
        for turn in 0..contestants.len() {
            let at = (turn + round) % contestants.len();
            let (one, result) = (&contestants[at], run(&contestants[at]));
            if one.is_floor || one.name.starts_with("nivis") {
                let repeated = result.as_ref().map(|round| round.checked().repeated);
                assert_eq!(repeated, Some(0), "{}: ids that came twice", one.name);
            }
            results[at].push(result);
        }
    }
    eprintln!();
    results
}

/// One contestant's share of a round.
pub trait Round {
    fn checked(&self) -> Checked;
}

/// What went wrong, in a cell of a table.
pub fn faults<'a, R: Round + 'a>(rounds: impl Iterator<Item = &'a Option<R>>) -> String {
    let (mut repeated, mut panics) = (0, 0);
    for round in rounds {
        match round {
            Some(round) => repeated += round.checked().repeated,
            None => panics += 1,
        }
    }
    match (repeated, panics) {
        (0, 0) => "none".to_owned(),
        (_, 0) => format!("{repeated} ids repeated"),
        (0, _) => format!("panicked in {panics} rounds"),
        _ => format!("{repeated} ids repeated, panicked in {panics} rounds"),
    }
}
