//! Regime (c): how long one call takes. Paced, one every 2 us; and contended, two threads as fast as
//! they can.

use std::hint::spin_loop;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::contestants::{Contestant, fresh, pushed};
use crate::floors::{self, NOTHING, stamp};
use crate::hands::Hand;
use crate::race::{self, Checked, check, draw, faults, race, room, rounds};
use crate::report::{Dots, Report, Row, Table};
use crate::stats::{Spread, short};

pub struct Spec {
    /// Calls of each thread in a round.
    pub calls: usize,
    /// From one call to the next; none to draw as fast as it goes.
    pub pace: Option<Duration>,
}

pub struct Round {
    /// In the counter's units.
    calls: Histogram<u64>,
    checked: Checked,
}

fn histogram() -> Histogram<u64> {
    // Up to minutes, to a thousandth.
    Histogram::new_with_bounds(1, 1 << 40, 3).unwrap()
}

impl race::Round for Round {
    fn checked(&self) -> Checked {
        self.checked
    }
}

pub fn round<H: Hand>(hands: Vec<H>, spec: &Spec) -> Option<Round> {
    let (runs, ()) = race(
        hands,
        0,
        |mut hand, line| {
            let clock = quanta::Clock::new();
            let pace = spec.pace.map_or(0, |pace| (pace.as_nanos() as f64 / nanos(&clock)) as u64);
            let mut calls = histogram();
            let mut drawn = room(&mut hand, spec.calls);
            line.wait();
            let mut due = clock.raw() + pace;
            for id in &mut drawn {
                while pace > 0 && clock.raw() < due {
                    spin_loop();
                }
                let before = stamp(&clock);
                *id = draw(&mut hand);
                let after = stamp(&clock);
                calls.saturating_record(after.saturating_sub(before));
                // A thread that was stopped does not make up for the calls that it missed: this is
                // the time of a call, not of a queue in front of it.
                due = (due + pace).max(after);
            }
            (drawn, calls)
        },
        |_| (),
    )?;
    let mut all = histogram();
    let mut ids = Vec::new();
    for (drawn, calls) in runs {
        all += calls;
        ids.push(drawn);
    }
    Some(Round { calls: all, checked: check(&ids) })
}

/// Nanoseconds in a unit of the counter.
fn nanos(clock: &quanta::Clock) -> f64 {
    clock.delta_as_nanos(0, 1 << 32) as f64 / (1_u64 << 32) as f64
}

const QUANTILES: [f64; 4] = [0.5, 0.99, 0.999, 0.9999];
const NAMES: [&str; 4] = ["p50", "p99", "p99.9", "p99.99"];

pub fn run(report: &mut Report, calls: usize, turns: usize) {
    report.section(
        "Latency of one call every 2 us",
        "Nanoseconds of single calls at a pace that leaves the sequence and the caches alone, over \
         all rounds and threads. Each is timed with two fenced readings of the counter; what that \
         costs by itself is the row *nothing*, and is contained in all others. More threads than \
         cores: the upper quantiles are the scheduler's.",
    );
    for threads in [1, 2, 4] {
        let spec = Spec { calls, pace: Some(Duration::from_micros(2)) };
        // 500 ids a millisecond and thread.
        let all = entries(|one| one.lasts_for(500.0 * threads as f64));
        let title = format!("One call every 2 us, {threads} thread{}", plural(threads));
        measure(report, &title, &format!("latency-{threads}"), &all, threads, &spec, turns);
    }
}

pub fn run_contended(report: &mut Report, calls: usize, turns: usize) {
    report.section(
        "Latency under contention",
        "Two threads draw as fast as they can, each call timed as above (which makes them collide less \
         often than in the cost of a call). Whoever has one generator for each thread shows what the \
         machine does by itself. Contestants whose sequence would run out are left out.",
    );
    let all = entries(|one| one.burst.is_none());
    let spec = Spec { calls, pace: None };
    measure(report, "Two threads, no pause", "latency-contended", &all, 2, &spec, turns);
}

fn entries(fits: impl Fn(&Contestant) -> bool) -> Vec<Contestant> {
    let mut all = vec![floors::nothing()];
    all.extend(floors::fresh());
    all.extend(floors::pushed().into_iter().filter(|one| one.name != floors::CELL));
    all.extend(fresh().into_iter().chain(pushed()).filter(fits));
    all
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

fn measure(
    report: &mut Report,
    title: &str,
    file: &str,
    all: &[Contestant],
    threads: usize,
    spec: &Spec,
    turns: usize,
) {
    let results = rounds(title, all, turns, |one| one.entry().latency(threads, spec));
    let unit = nanos(&quanta::Clock::new());
    let merged: Vec<Histogram<u64>> = results
        .iter()
        .map(|rounds| {
            let mut all = histogram();
            for round in rounds.iter().flatten() {
                all += &round.calls;
            }
            all
        })
        .collect();
    let nothing = all.iter().position(|one| one.name == NOTHING).unwrap();
    let at = |calls: &Histogram<u64>, quantile| calls.value_at_quantile(quantile) as f64 * unit;

    let mut table = Table::new(
        title,
        &[
            "ns",
            "p50",
            "less nothing",
            "p99",
            "p99.9",
            "p99.99",
            "largest",
            "p99.9 by round",
            "faults",
        ],
    );
    let mut dots = Dots::new(title, "ns of a call, timer included", &NAMES);
    for (entry, one) in all.iter().enumerate() {
        let values = QUANTILES.map(|quantile| at(&merged[entry], quantile));
        let by_round =
            Spread::of(results[entry].iter().flatten().map(|round| at(&round.calls, 0.999)));
        let net = values[0] - at(&merged[nothing], 0.5);
        table.row(&[
            one.name.to_owned(),
            short(values[0]),
            short(net.max(0.0)),
            short(values[1]),
            short(values[2]),
            short(values[3]),
            short(merged[entry].max() as f64 * unit),
            format!(
                "{} [{}, {}]",
                short(by_round.median),
                short(by_round.low),
                short(by_round.high)
            ),
            faults(results[entry].iter()),
        ]);
        let points = values.map(|value| Spread::of([value]));
        dots.row(Row::new(one.name, points.to_vec(), one.is_floor));
    }
    report.table(&table);
    report.plot(file, &dots);
}
