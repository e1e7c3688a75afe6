//! Regime (b): how much of a 41 + 10 + 12 layout's ceiling, 4,096 ids a millisecond, can be had, and
//! how much processor time that burns.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use crate::contestants::{TWITTER, twitter};
use crate::hands::Hand;
use crate::race::{self, Checked, check, draw, faults, race, rounds};
use crate::report::{Dots, Report, Row, Table};
use crate::stats::{Spread, short};

pub struct Round {
    /// Ids of all threads in a millisecond.
    ids_per_ms: f64,
    /// Processor time of the whole process over wall time.
    cores: f64,
    checked: Checked,
}

impl race::Round for Round {
    fn checked(&self) -> Checked {
        self.checked
    }
}

pub fn round<H: Hand>(hands: Vec<H>, length: Duration) -> Option<Round> {
    let stop = AtomicBool::new(false);
    // One thread may get them all, and a few that run ahead of the clock.
    let most = (WARM + length).as_millis() as usize * 5_000 + 10_000;
    let counts: Vec<_> = hands.iter().map(|_| CachePadded::new(AtomicUsize::new(0))).collect();
    let next = AtomicUsize::new(0);
    let (drawn, (count, took, used)) = race(
        hands,
        1,
        |mut hand, line| {
            let count = &counts[next.fetch_add(1, Ordering::Relaxed)];
            draw(&mut hand);
            let mut drawn = Vec::with_capacity(most);
            line.wait();
            while !stop.load(Ordering::Relaxed) && drawn.len() < most {
                drawn.push(draw(&mut hand));
                count.store(drawn.len(), Ordering::Relaxed);
            }
            drawn
        },
        |line| {
            line.wait();
            thread::sleep(WARM);
            // What is counted lies between two looks, not between a start and a stop: among sixteen
            // busy threads both come late.
            let look = || {
                let count: usize = counts.iter().map(|count| count.load(Ordering::Relaxed)).sum();
                (Instant::now(), count, processor_time())
            };
            let (start, before, idle) = look();
            thread::sleep(length);
            let (end, after, busy) = look();
            stop.store(true, Ordering::Relaxed);
            (after - before, end - start, busy.saturating_sub(idle))
        },
    )?;
    Some(Round {
        ids_per_ms: count as f64 / (took.as_secs_f64() * 1e3),
        cores: used.as_secs_f64() / took.as_secs_f64(),
        checked: check(&drawn),
    })
}

/// Until all threads run and have found their way of waiting for each other.
const WARM: Duration = Duration::from_millis(10);

/// What getrusage adds up as user and system time, to the nanosecond: of all threads, those that a
/// peer keeps in the background among them.
fn processor_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.cast_unsigned(), now.tv_nsec as u32)
}

const THREADS: [usize; 3] = [1, 2, 16];

pub fn run(report: &mut Report, length: Duration, turns: usize) {
    let ceiling = (TWITTER.max_sequence() + 1) as f64;
    report.section(
        "Sustained rate of a 41 + 10 + 12 layout",
        &format!(
            "Share of the layout's {ceiling} ids a millisecond that a saturated generator hands out, \
             and the cores that it burns for it (processor time of the process over wall time: \
             waiting threads cost what their way of waiting costs). Runs are {} ms long: one tick \
             more or less is {:.1} %. More than 100 % by more than that means ids ahead of the clock.",
            length.as_millis(),
            100.0 / length.as_millis() as f64,
        ),
    );
    let all = twitter();
    let results = THREADS.map(|threads| {
        rounds(&format!("rate, {threads} threads"), &all, turns, |one| {
            one.entry().rate(threads, length)
        })
    });
    let title = "Share of the ceiling, and cores burnt";
    let mut table = Table::new(
        title,
        &["", "1 thread", "cores", "2 threads", "cores", "16 threads", "cores", "faults"],
    );
    let names = ["1 thread", "2 threads", "16 threads"];
    let mut shares = Dots::new("Share of 4,096 ids a millisecond", "%", &names).linear();
    let mut burnt = Dots::new("Cores burnt for it", "cores", &names).linear();
    for (at, one) in all.iter().enumerate() {
        let mut cells = vec![one.name.to_owned()];
        let (mut share_points, mut core_points) = (Vec::new(), Vec::new());
        for threads in &results {
            let share = Spread::of(
                threads[at].iter().flatten().map(|round| round.ids_per_ms * 100.0 / ceiling),
            );
            let cores = Spread::of(threads[at].iter().flatten().map(|round| round.cores));
            cells.push(if share.median.is_nan() {
                "-".to_owned()
            } else {
                format!("{:.1} % [{:.1}, {:.1}]", share.median, share.low, share.high)
            });
            cells.push(short(cores.median));
            share_points.push(share);
            core_points.push(cores);
        }
        cells.push(faults(results.iter().flat_map(|threads| &threads[at])));
        table.row(&cells);
        shares.row(Row::new(one.name, share_points, false));
        burnt.row(Row::new(one.name, core_points, false));
    }
    report.table(&table);
    report.plot("rate-share", &shares);
    report.plot("rate-cores", &burnt);
}
