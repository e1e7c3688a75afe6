//! A fleet of up to 1,024 workers on the real generators, with clocks that drift, step, freeze and
//! disagree, and processes that crash, pause, fork and restart. Deterministic: a failure prints the
//! seed, and `NIVIS_SEED=n` runs that one alone.
//!
//! Every id is checked against every other, exactly, by one bit for each number of each tick of each
//! worker. `NIVIS_SIMULATION_IDS=n` asks for more than the 10^8 ids of the standard run.

mod support;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use nivis::clock::ManualClock;
use nivis::{Error, Generator, Id, Layout};
use support::{MS, Rng, T0};

const LAYOUT: Layout = Layout::LEAF;
const WORKERS: usize = 1_024;
/// The ticks of a slice.
const WINDOW: u64 = 3_000;

/// How far each worker's time has been given away: what a ledger keeps.
struct Ledger {
    high: Vec<u64>,
}

#[derive(Clone, Copy)]
struct Slice {
    worker: u64,
    from: u64,
    end: u64,
}

impl Ledger {
    /// A slice of a worker whose time is past, for a process that believes it is `now`.
    fn acquire(&mut self, rng: &mut Rng, now: u64) -> Option<Slice> {
        let first = rng.below(WORKERS as u64) as usize;
        let worker = (0..WORKERS).map(|i| (first + i) % WORKERS).find(|w| self.high[*w] <= now)?;
        let from = now.max(self.high[worker]);
        self.high[worker] = from + WINDOW;
        Some(Slice { worker: worker as u64, from, end: from + WINDOW })
    }

    /// The next slice of the same worker, if nobody else has taken it meanwhile.
    fn renew(&mut self, slice: Slice, now: u64) -> Option<Slice> {
        let high = &mut self.high[slice.worker as usize];
        if *high != slice.end || now > slice.end {
            return None;
        }
        *high += WINDOW;
        Some(Slice { end: *high, ..slice })
    }
}

struct Process {
    ids: Generator<Arc<ManualClock>>,
    clock: Arc<ManualClock>,
    /// All slices that it ever had: an id has to lie in one.
    slices: Vec<Slice>,
    last: Option<Id>,
    largest_now: u64,
    lead: u64,
    /// Parts per million that its clock is fast.
    drift: i64,
    frozen: bool,
    paused: u32,
}

impl Process {
    fn start(ledger: &mut Ledger, rng: &mut Rng, now: u64) -> Option<Process> {
        let clock = Arc::new(ManualClock::new(now));
        let tick = now / MS - LAYOUT.epoch();
        let slice = ledger.acquire(rng, tick)?;
        let lead = [0, 0, 1, 20][rng.below(4) as usize];
        let before =
            LAYOUT.compose(nivis::Parts { tick: slice.from - 1, ..Default::default() }).unwrap();
        let ids = Generator::builder(LAYOUT)
            .worker(slice.worker)
            .lease_end(slice.end)
            .start_after(before)
            .lead(Duration::from_millis(lead))
            .spread(rng.below(2) == 0)
            .max_wait(Duration::ZERO)
            .clock(clock.clone())
            .build()
            .unwrap();
        clock.set_raw(rng.next());
        Some(Process {
            ids,
            clock,
            slices: vec![slice],
            last: None,
            largest_now: tick,
            lead,
            drift: rng.below(200).cast_signed() - 100,
            frozen: false,
            paused: 0,
        })
    }

    fn pass(&mut self, time: u64) {
        if self.frozen {
            // The counter runs on.
            self.clock.set_raw(self.clock.unix_nanos().wrapping_add(time));
            return;
        }
        let drift = time.cast_signed() / 1_000_000 * self.drift;
        self.clock.advance(Duration::from_nanos(time.saturating_add_signed(drift)));
        self.note_time();
    }

    fn note_time(&mut self) {
        self.largest_now = self.largest_now.max(self.tick());
    }

    fn tick(&self) -> u64 {
        (self.clock.unix_nanos() / MS).saturating_sub(LAYOUT.epoch())
    }

    fn renew(&mut self, ledger: &mut Ledger, rng: &mut Rng) {
        let slice = *self.slices.last().unwrap();
        let tick = self.tick();
        if let Some(renewed) = ledger.renew(slice, tick) {
            self.ids.grant(renewed.worker, slice.end, renewed.end);
            self.slices.push(renewed);
        } else if let Some(other) = ledger.acquire(rng, tick.max(slice.end)) {
            self.ids.grant(other.worker, other.from, other.end);
            self.slices.push(other);
        }
    }
}

/// One bit for each id that was ever issued.
#[derive(Default)]
struct Seen {
    ticks: HashMap<(u64, u64), Box<[u64; 64]>>,
    ids: u64,
}

impl Seen {
    fn insert(&mut self, worker: u64, tick: u64, sequence: u64) -> bool {
        let bits = self.ticks.entry((worker, tick)).or_insert_with(|| Box::new([0; 64]));
        let (word, bit) = (&mut bits[(sequence / 64) as usize], 1 << (sequence % 64));
        let new = *word & bit == 0;
        *word |= bit;
        self.ids += 1;
        new
    }
}

/// What may befall one process in a step.
fn step(process: &mut Process, rng: &mut Rng, seen: &mut Seen) {
    match rng.below(40) {
        // The clock steps by up to 10 s either way, or the counter restarts, or both.
        0 => {
            let by = rng.below(20_000 * MS).cast_signed() - (10_000 * MS).cast_signed();
            process.clock.set_time(process.clock.unix_nanos().saturating_add_signed(by));
        }
        1 => process.clock.set_raw(rng.below(1 << 40)),
        2 => process.frozen = !process.frozen,
        3 => process.paused = rng.below(60) as u32,
        4 => process.ids.turn(),
        _ => {}
    }
    process.note_time();
    let n = match rng.below(4) {
        0 => 1,
        1 => rng.below(100),
        _ => rng.below(5_000),
    };
    let mut drawn = 0;
    while drawn < n {
        let batch = if rng.below(3) == 0 {
            process.ids.try_next_id().map(|id| (Some(id), None))
        } else {
            process.ids.try_next_ids((n - drawn) as usize).map(|ids| (None, Some(ids)))
        };
        let (one, many) = match batch {
            Ok(batch) => batch,
            Err(Error::Exhausted { .. } | Error::ClockBehind { .. } | Error::LeaseExpired) => break,
            Err(other) => panic!("{other}"),
        };
        for id in one.into_iter().chain(many.into_iter().flatten()) {
            drawn += 1;
            assert!(process.last < Some(id), "I2: {id} after {:?}", process.last);
            process.last = Some(id);
            let parts = LAYOUT.decompose(id);
            let latest = process.largest_now + process.lead;
            assert!(parts.tick <= latest, "I3: {parts:?} is later than {latest}");
            let inside = process
                .slices
                .iter()
                .rev()
                .any(|s| s.worker == parts.worker && (s.from..s.end).contains(&parts.tick));
            assert!(inside, "I4: {parts:?} is in no slice of its process");
            assert!(
                seen.insert(parts.worker, parts.tick, parts.sequence),
                "I1: {parts:?} came twice"
            );
        }
    }
}

/// A fleet's life. Returns how many ids it drew, and how often its processes were replaced.
fn live(seed: u64, at_least: u64) -> (u64, u64) {
    let mut rng = Rng::new(seed);
    let mut ledger = Ledger { high: vec![0; WORKERS] };
    let mut issued = Seen::default();
    let mut now = T0;
    let size = [3, 50, 1_024][(seed % 3) as usize];
    let mut fleet: Vec<Process> = Vec::new();
    let mut replaced = 0;
    while issued.ids < at_least {
        let time = rng.below(30 * MS);
        now += time;
        while fleet.len() < size {
            // A new host's clock is off by up to a second.
            let its_now = now + rng.below(1_000 * MS);
            match Process::start(&mut ledger, &mut rng, its_now) {
                Some(process) => fleet.push(process),
                None => break,
            }
        }
        for process in &mut fleet {
            process.pass(time);
            // Of a large fleet a few act at a time, so that it lives through as much as a small one.
            if size > 100 && rng.below(50) > 0 {
                continue;
            }
            if process.paused > 0 {
                process.paused -= 1;
                continue;
            }
            if process.slices.last().unwrap().end.saturating_sub(process.tick()) < WINDOW * 2 / 3 {
                process.renew(&mut ledger, &mut rng);
            }
            step(process, &mut rng, &mut issued);
        }
        match rng.below(20) {
            // A crash: nothing is handed back. A restart: on the same host, with the same clock, at once.
            0 | 1 if !fleet.is_empty() => {
                let gone = fleet.swap_remove(rng.below(fleet.len() as u64) as usize);
                if rng.below(2) == 0 {
                    let its_now = gone.clock.unix_nanos();
                    fleet.extend(Process::start(&mut ledger, &mut rng, its_now));
                }
                replaced += 1;
            }
            // A fork: the child sees its parent's clock, and takes a worker of its own.
            2 if !fleet.is_empty() && fleet.len() < WORKERS => {
                let parent = rng.below(fleet.len() as u64) as usize;
                let its_now = fleet[parent].clock.unix_nanos();
                fleet.extend(Process::start(&mut ledger, &mut rng, its_now));
                if fleet.len() > size {
                    fleet.swap_remove(parent);
                }
                replaced += 1;
            }
            _ => {}
        }
    }
    (issued.ids, replaced)
}

#[test]
fn a_fleet_whose_clocks_and_processes_do_anything() {
    let number = |name: &str| std::env::var(name).ok().map(|n| n.parse::<u64>().expect(name));
    let wanted = number("NIVIS_SIMULATION_IDS").unwrap_or(100_000_000);
    let seeds: Vec<u64> = match number("NIVIS_SEED") {
        Some(seed) => vec![seed],
        None => (0..6).collect(),
    };
    let each = wanted / seeds.len() as u64;
    // Two at a time: as many as the smallest machine has cores.
    let mut total = 0;
    for pair in seeds.chunks(2) {
        let lives: Vec<_> =
            pair.iter().map(|&seed| (seed, std::thread::spawn(move || live(seed, each)))).collect();
        for (seed, life) in lives {
            let (ids, replaced) =
                life.join().unwrap_or_else(|_| panic!("failed: run again with NIVIS_SEED={seed}"));
            println!("seed {seed}: {ids} ids, {replaced} processes replaced");
            assert!(replaced > 10);
            total += ids;
        }
    }
    assert!(total >= wanted - seeds.len() as u64);
}
