//! nivis beside its peers and beside the floors that nobody can go below, in one process.
//!
//! ```text
//! cargo run --release -p peers                # as most services are built: no LTO
//! cargo bench -p peers                        # with LTO and one codegen unit
//! cargo run --release -p peers -- --quick     # 20 seconds, to see that it works
//! cargo run --release -p peers -- cost rate   # some of: cost rate latency fairness burst
//! ```
//!
//! Writes `benches/results.md` and `benches/plots/`; `benches/README.md` tells how to read them.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "figures for people, far from where a float would round them"
)]

mod burst;
mod contestants;
mod cost;
mod fairness;
mod floors;
mod hands;
mod latency;
mod makers;
mod plots;
mod race;
mod rate;
mod report;
mod stats;

use std::path::Path;
use std::time::Duration;
use std::{env, fs, io, thread};

use report::Report;

const SECTIONS: [&str; 5] = ["cost", "rate", "latency", "fairness", "burst"];

fn main() -> io::Result<()> {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    let mut take = |flag: &str| {
        let before = arguments.len();
        arguments.retain(|argument| argument != flag);
        arguments.len() < before
    };
    // `cargo bench` adds `--bench`: by that the two builds are told apart.
    let (quick, lto) = (take("--quick"), take("--bench"));
    if let Some(unknown) = arguments.iter().find(|name| !SECTIONS.contains(&name.as_str())) {
        return Err(io::Error::other(format!("{unknown:?} is none of {SECTIONS:?} and --quick")));
    }
    let wanted =
        |section: &str| arguments.is_empty() || arguments.iter().any(|name| name == section);

    race::quiet_panics();
    let turns = if quick { 3 } else { 15 };
    let length = Duration::from_millis(if quick { 50 } else { 300 });
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut report = Report::new(&directory, &preface(quick, lto, turns));
    if wanted("cost") {
        let spec = if quick {
            cost::Spec { ids: 1 << 14, bursts: 4 }
        } else {
            cost::Spec { ids: 1 << 17, bursts: 16 }
        };
        cost::run(&mut report, &spec, turns);
    }
    if wanted("rate") {
        rate::run(&mut report, length, if quick { 2 } else { turns });
    }
    if wanted("latency") {
        latency::run(&mut report, if quick { 5_000 } else { 25_000 }, turns);
        latency::run_contended(&mut report, if quick { 20_000 } else { 100_000 }, turns);
    }
    if wanted("fairness") {
        fairness::run(&mut report, length, if quick { 2 } else { turns });
    }
    if wanted("burst") {
        burst::run(&mut report, turns);
    }
    report.write()
}

/// What a reader has to know of the machine and the build.
fn preface(quick: bool, lto: bool, turns: usize) -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let model = text.lines().find(|line| line.starts_with("model name"))?;
        Some(model.split_once(':')?.1.trim().to_owned())
    });
    let load = fs::read_to_string("/proc/loadavg").ok();
    let load = load.as_deref().and_then(|text| text.split(' ').next()).unwrap_or("unknown");
    format!(
        "Written by {}{}. {}, {cores} cores, load average {load} at the start: above 0.5 something \
         else was running, and figures are noise. {turns} rounds unless a section says fewer, all \
         contestants in turn in each. In cells, k is a thousand. Read ratios before figures.",
        if lto {
            "`cargo bench -p peers` (LTO, one codegen unit)"
        } else {
            "`cargo run --release -p peers` (no LTO)"
        },
        if quick { ", **quick: too short to conclude anything from**" } else { "" },
        processor.as_deref().unwrap_or("Unknown processor"),
    )
}
