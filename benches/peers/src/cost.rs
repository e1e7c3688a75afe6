//! Regime (a): the cost of a call while the sequence does not run out.

use std::thread;
use std::time::{Duration, Instant};

use crate::contestants::{Burst, Contestant, fresh, pushed};
use crate::floors;
use crate::hands::Hand;
use crate::race::{self, Checked, check, draw, faults, race, room, rounds};
use crate::report::{Dots, Report, Row, Table};
use crate::stats::{Spread, short};

pub struct Spec {
    /// Ids of each thread in a round.
    pub ids: usize,
    /// Bursts in a round of those that need a pause.
    pub bursts: usize,
}

pub struct Round {
    /// Wall time over ids, all threads together.
    nanos: f64,
    checked: Checked,
}

impl race::Round for Round {
    fn checked(&self) -> Checked {
        self.checked
    }
}

pub fn round<H: Hand>(hands: Vec<H>, spec: &Spec, burst: Option<Burst>) -> Option<Round> {
    let threads = hands.len();
    let (ids, bursts, pause) = match burst {
        None => (spec.ids, 1, Duration::ZERO),
        Some(burst) => (burst.ids / threads, spec.bursts, burst.pause),
    };
    let (runs, ()) = race(
        hands,
        0,
        |mut hand, line| {
            let mut drawn = room(&mut hand, ids * bursts);
            let mut times = Vec::with_capacity(bursts);
            for burst in drawn.chunks_exact_mut(ids) {
                thread::sleep(pause);
                line.wait();
                let start = Instant::now();
                for id in &mut *burst {
                    *id = draw(&mut hand);
                }
                times.push((start, Instant::now()));
            }
            (drawn, times)
        },
        |_| (),
    )?;
    let (drawn, times): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
    // Of each burst, from the first start to the last end.
    let took: Duration = (0..bursts)
        .map(|burst| {
            let start = times.iter().map(|times| times[burst].0).min().unwrap();
            times.iter().map(|times| times[burst].1).max().unwrap() - start
        })
        .sum();
    let nanos = took.as_secs_f64() * 1e9 / (ids * bursts * threads) as f64;
    Some(Round { nanos, checked: check(&drawn) })
}

const THREADS: [usize; 3] = [1, 2, 4];

pub fn run(report: &mut Report, spec: &Spec, turns: usize) {
    report.section(
        "Cost of a call",
        "Nanoseconds per id, all threads together, while the sequence does not run out: wall time \
         from the first start to the last end over all ids, into a buffer whose pages are in place \
         (the store is in the floors too). Median of the rounds, quartiles in brackets, and the \
         median of the ratios to the floor of the same round. *Sorted* tells whether each thread's own \
         ids increased; *faults* are ids that came twice in a round, and panics.",
    );
    let fresh = [floors::fresh(), fresh()];
    let pushed = [floors::pushed(), pushed()];
    for (title, file, lists) in [
        ("Fresh clock: the call reads the time", "cost-fresh", fresh),
        ("Pushed clock: something else moves the time", "cost-pushed", pushed),
    ] {
        let all: Vec<Contestant> = lists.into_iter().flatten().collect();
        let results = THREADS.map(|threads| {
            rounds(&format!("cost, {threads} threads"), &all, turns, |one| {
                one.entry().cost(threads, spec, one.burst)
            })
        });
        show(report, title, file, &all, &results);
    }
}

fn show(
    report: &mut Report,
    title: &str,
    file: &str,
    all: &[Contestant],
    results: &[Vec<Vec<Option<Round>>>; 3],
) {
    let mut table = Table::new(
        title,
        &[
            "",
            "1 thread",
            "ratio",
            "2 threads",
            "ratio",
            "4 threads",
            "ratio",
            "floor",
            "sorted",
            "faults",
        ],
    );
    let mut dots = Dots::new(
        title,
        "ns per id, all threads together",
        &["1 thread", "2 threads", "4 threads"],
    );
    for (at, one) in all.iter().enumerate() {
        let floor = all.iter().position(|other| other.name == one.floor).unwrap();
        let mut cells = vec![one.name.to_owned()];
        let mut points = Vec::new();
        for threads in results {
            let own = Spread::of(threads[at].iter().flatten().map(|round| round.nanos));
            let pairs = threads[at].iter().zip(&threads[floor]);
            let ratios =
                pairs.filter_map(|(own, floor)| Some(own.as_ref()?.nanos / floor.as_ref()?.nanos));
            let ratio = Spread::of(ratios).median;
            cells.push(format!("{} [{}, {}]", short(own.median), short(own.low), short(own.high)));
            cells.push(if floor == at { String::new() } else { format!("{ratio:.2}") });
            points.push(own);
        }
        let rounds = || results.iter().flat_map(|threads| &threads[at]);
        let sorted = rounds().flatten().all(|round| round.checked.sorted);
        cells.push(if floor == at { String::new() } else { one.floor.replace("floor: ", "") });
        cells.push(if sorted { "yes" } else { "no" }.to_owned());
        cells.push(faults(rounds()));
        table.row(&cells);
        dots.row(Row::new(one.name, points, one.is_floor));
    }
    report.table(&table);
    report.plot(file, &dots);
}
