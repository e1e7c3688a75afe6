//! Two threads on one generator: does each get its share?

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use crate::contestants::{Contestant, fresh, pushed, twitter};
use crate::floors;
use crate::hands::Hand;
use crate::race::{self, Checked, draw, faults, race, rounds};
use crate::report::{Report, Table};
use crate::stats::{Spread, short};

/// Ids between two looks at the time.
const STRIDE: u64 = 16;
/// Slots of a millisecond in a window.
const WINDOW: usize = 10;

pub struct Round {
    /// The smaller share of the two, in the worst window of 10 ms.
    worst: f64,
    /// The same in the middle one.
    median: f64,
    /// Of both threads.
    ids_per_us: f64,
}

impl race::Round for Round {
    /// Not here: it is the code that the other sections check.
    fn checked(&self) -> Checked {
        Checked::default()
    }
}

pub fn round<H: Hand>(hands: Vec<H>, length: Duration) -> Option<Round> {
    let slots = length.as_millis() as usize;
    let (counts, ()) = race(
        hands,
        0,
        |mut hand, line| {
            black_box(draw(&mut hand));
            let mut counts = vec![0_u64; slots];
            line.wait();
            let start = Instant::now();
            loop {
                for _ in 0..STRIDE {
                    black_box(draw(&mut hand));
                }
                match counts.get_mut(start.elapsed().as_millis() as usize) {
                    Some(count) => *count += STRIDE,
                    None => return counts,
                }
            }
        },
        |_| (),
    )?;
    let shares = counts[0].windows(WINDOW).zip(counts[1].windows(WINDOW)).map(|(a, b)| {
        let (a, b): (u64, u64) = (a.iter().sum(), b.iter().sum());
        // A window in which both were stopped is fair.
        if a + b == 0 { 0.5 } else { a.min(b) as f64 / (a + b) as f64 }
    });
    let shares: Vec<f64> = shares.collect();
    let total: u64 = counts.iter().flatten().sum();
    Some(Round {
        worst: shares.iter().copied().fold(0.5, f64::min),
        median: Spread::of(shares).median,
        ids_per_us: total as f64 / (length.as_secs_f64() * 1e6),
    })
}

pub fn run(report: &mut Report, length: Duration, turns: usize) {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    report.section(
        "Fairness of two threads",
        &format!(
            "The smaller share of the two in any window of 10 ms: 50 % is fair. The floors with \
             something of its own for each thread (*rdtsc*, *Cell*) cannot be unfair by themselves: \
             they show what the scheduler of this machine, with {cores} cores, does to two busy \
             threads. Ids are not compared here; it is the code that the other sections check.",
        ),
    );
    let mut wide = floors::fresh();
    wide.extend(floors::pushed());
    wide.extend(fresh().into_iter().chain(pushed()).filter(|one| one.burst.is_none()));
    measure(report, "Sequence that does not run out", &wide, length, turns);
    measure(report, "At the ceiling of 41 + 10 + 12", &twitter(), length, turns);
}

fn measure(report: &mut Report, title: &str, all: &[Contestant], length: Duration, turns: usize) {
    let results = rounds(title, all, turns, |one| one.entry().fairness(length));
    let mut table = Table::new(
        title,
        &["", "worst window", "worst of a round, median", "median window", "ids per us", "faults"],
    );
    for (one, rounds) in all.iter().zip(&results) {
        let of = |figure: fn(&Round) -> f64| Spread::of(rounds.iter().flatten().map(figure));
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let worst = rounds.iter().flatten().map(|round| round.worst).fold(0.5, f64::min);
        table.row(&[
            one.name.to_owned(),
            percent(worst),
            percent(of(|round| round.worst).median),
            percent(of(|round| round.median).median),
            short(of(|round| round.ids_per_us).median),
            faults(rounds.iter()),
        ]);
    }
    report.table(&table);
}
