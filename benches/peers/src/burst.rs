//! A burst of 50,000 ids: twelve ticks' worth, which `lead` lets run ahead of the clock.

use std::time::Duration;

use crate::contestants::{leading, twitter};
use crate::floors::{self, stamp};
use crate::hands::Hand;
use crate::race::{self, Checked, check, draw, faults, race, room, rounds};
use crate::report::{Report, Table};
use crate::stats::{Spread, short};

pub struct Round {
    /// The longest call, in nanoseconds.
    largest: f64,
    /// All of them, in microseconds.
    all: f64,
    checked: Checked,
}

impl race::Round for Round {
    fn checked(&self) -> Checked {
        self.checked
    }
}

pub fn round<H: Hand>(hands: Vec<H>, ids: usize) -> Option<Round> {
    let (mut runs, ()) = race(
        hands,
        0,
        |mut hand, _| {
            let clock = quanta::Clock::new();
            let mut drawn = room(&mut hand, ids);
            // Whoever starts ahead of its clock by its lead gets that back.
            std::thread::sleep(Duration::from_millis(30));
            let mut largest = 0;
            let start = stamp(&clock);
            let mut before = start;
            for id in &mut drawn {
                *id = draw(&mut hand);
                let after = stamp(&clock);
                largest = largest.max(after - before);
                before = after;
            }
            let largest = clock.delta_as_nanos(0, largest) as f64;
            (drawn, largest, clock.delta_as_nanos(start, before) as f64 / 1e3)
        },
        |_| (),
    )?;
    let (drawn, largest, all) = runs.remove(0);
    Some(Round { largest, all, checked: check(&[drawn]) })
}

pub fn run(report: &mut Report, turns: usize) {
    const IDS: usize = 50_000;
    report.section(
        "A burst of 50,000 ids",
        "One thread, 41 + 10 + 12 bits: the longest single call and the whole burst. The row *nothing* \
         is an empty loop with the same timer: its longest iteration is what the machine does to any \
         loop. *Rounds below 100 us* tells a wait (a tick is 1,000 us) from an interruption.",
    );
    let mut all = vec![floors::nothing()];
    all.extend(leading());
    all.extend(twitter().into_iter().filter(|one| !one.name.starts_with("nivis")));
    let results = rounds("burst", &all, turns, |one| one.entry().burst(IDS));
    let mut table = Table::new(
        "Longest call, and the burst",
        &[
            "us",
            "longest call",
            "largest of all rounds",
            "rounds below 100 us",
            "burst",
            "largest",
            "faults",
        ],
    );
    for (one, rounds) in all.iter().zip(&results) {
        let largest = Spread::of(rounds.iter().flatten().map(|round| round.largest / 1e3));
        let all = Spread::of(rounds.iter().flatten().map(|round| round.all));
        let quick = rounds.iter().flatten().filter(|round| round.largest < 1e5).count();
        table.row(&[
            one.name.to_owned(),
            format!("{} [{}, {}]", short(largest.median), short(largest.low), short(largest.high)),
            short(largest.max),
            format!("{quick} of {}", rounds.len()),
            short(all.median),
            short(all.max),
            faults(rounds.iter()),
        ]);
    }
    report.table(&table);
}
