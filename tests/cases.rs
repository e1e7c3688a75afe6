//! Faults that were reported of other generators of this kind, each a test here, named for its number
//! in the project's list of cases. The clock is set by hand, so that each is exact; `faketime.rs` has
//! those of the system's clock. (Cases 10, 16 and 18 are also in `cli.rs` and in `layout.rs`; those of
//! leases, segments and kin come with these.)

#![allow(clippy::cast_precision_loss, reason = "counts in statistics")]

mod support;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nivis::clock::ManualClock;
use nivis::{
    BuildError, Clock, Error, Generator, Id, Layout, LocalGenerator, OnTurn, SystemClock, TscClock,
};
use support::{MS, Stopper, T0, manual, tick_nanos};

const TICK: Duration = Duration::from_millis(1);

/// Sets the clock `by` back, as an administrator would, and lets the tick be over by the counter.
fn step_back(clock: &ManualClock, by: Duration) {
    clock.set_time(clock.unix_nanos() - by.as_nanos() as u64);
}

fn drain<C: Clock>(ids: &Generator<C>) -> (Vec<Id>, Error) {
    let mut drawn = Vec::new();
    loop {
        match ids.try_next_id() {
            Ok(id) => drawn.push(id),
            Err(refusal) => return (drawn, refusal),
        }
    }
}

#[test]
fn case_01_clock_t_then_back_one_then_t_around_an_error() {
    let (ids, clock) = manual(Layout::TWITTER);
    let first = ids.try_next_id().unwrap();
    let (rest, full) = drain(&ids);
    assert_eq!(full, Error::Exhausted { retry_after: TICK });
    step_back(&clock, TICK);
    assert_eq!(ids.try_next_id(), Err(Error::ClockBehind { by: 2 * TICK }));
    clock.advance(TICK);
    // T again: the error has not set the sequence back to 0.
    assert_eq!(ids.try_next_id(), Err(Error::Exhausted { retry_after: TICK }));
    clock.advance(TICK);
    let next = ids.try_next_id().unwrap();
    assert_eq!(rest.len(), 4_095);
    assert!(first < rest[0] && rest.is_sorted() && next > rest[4_094]);
}

#[test]
fn case_02_steps_back_while_drawing() {
    for back in [1, 5, 20, 2_000, 5_000] {
        let (ids, clock) = manual(Layout::TWITTER);
        let mut last = ids.try_next_id().unwrap();
        step_back(&clock, Duration::from_millis(back));
        // What is left of the tick that ids had reached is drawn, in order.
        for _ in 1..4_096 {
            let id = ids.try_next_id().unwrap();
            assert!(id > last);
            last = id;
        }
        clock.advance(Duration::ZERO);
        let by = Duration::from_millis(back + 1);
        let start = Instant::now();
        match ids.next_id() {
            // Within max_wait the clock might have come; it is set by hand and does not.
            Err(Error::ClockBehind { by: told }) => assert_eq!(told, by),
            other => panic!("{back} ms: {other:?}"),
        }
        // Not a bound on speed: a generator that waits for the clock would be here for ever.
        assert!(start.elapsed() < Duration::from_secs(5));
        clock.advance(by);
        assert!(ids.next_id().unwrap() > last);
    }
}

#[test]
fn case_03_a_full_tick_and_the_clock_back_8_hours() {
    let hours = Duration::from_secs(8 * 3600);
    let (ids, clock) = manual(Layout::SONYFLAKE);
    assert_eq!(drain(&ids).0.len(), 256);
    step_back(&clock, hours);
    let start = Instant::now();
    let by = hours + Duration::from_millis(10);
    assert_eq!(ids.next_id(), Err(Error::ClockBehind { by }));
    assert_eq!(ids.next_ids(7).unwrap_err(), Error::ClockBehind { by });
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn case_04_never_smaller_after_a_step_back() {
    let (ids, clock) = manual(Layout::TWITTER);
    let mut last = Id::from_u64(0);
    for round in 0..5_000_u64 {
        match round % 7 {
            0 => step_back(&clock, Duration::from_millis(round % 40)),
            1 | 4 => clock.advance(Duration::from_millis(round % 50)),
            _ => {}
        }
        clock.set_raw(round * 2 * MS);
        if let Ok(id) = ids.try_next_id() {
            assert!(id > last);
            last = id;
        }
    }
    assert!(last > Id::from_u64(0));
}

#[test]
fn case_05_the_clock_stands_still_for_a_second_at_full_load() {
    // The counter runs, the time does not: a leap second. 4 threads ask all the while.
    let (ids, clock) = manual(Layout::TWITTER);
    let stop = AtomicBool::new(false);
    let drawn: Vec<Vec<Id>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        match ids.next_id() {
                            Ok(id) => mine.push(id),
                            Err(refusal) => {
                                assert_eq!(refusal, Error::Exhausted { retry_after: TICK });
                            }
                        }
                    }
                    mine
                })
            })
            .collect();
        let start = Instant::now();
        let mut raw = 0;
        while start.elapsed() < Duration::from_secs(1) {
            raw += MS;
            clock.set_raw(raw);
            thread::sleep(TICK);
        }
        // Time goes on, and so do the ids.
        clock.advance(TICK);
        let before = Instant::now();
        while ids.try_next_id().is_ok() {
            assert!(before.elapsed() < Duration::from_secs(60));
        }
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: HashSet<Id> = drawn.iter().flatten().copied().collect();
    assert_eq!(all.len(), drawn.iter().map(Vec::len).sum::<usize>());
    assert!((4_096..=2 * 4_096).contains(&all.len()), "{}", all.len());
}

#[test]
fn case_05_with_lead_the_pause_is_bridged() {
    let clock = ManualClock::new(T0);
    let ids = Generator::builder(Layout::TWITTER)
        .worker(1)
        .lead(Duration::from_secs(1))
        .clock(&clock)
        .build()
        .unwrap();
    clock.advance(TICK);
    let (drawn, refusal) = drain(&ids);
    // It starts past `lead`, so that a restart repeats nothing: the first tick's worth, then one more a ms.
    assert_eq!(drawn.len(), 4_096);
    assert_eq!(refusal, Error::Exhausted { retry_after: TICK });
    clock.advance(Duration::from_secs(2));
    // 50,000 ids at one moment, and no wait.
    for _ in 0..50_000 {
        ids.try_next_id().unwrap();
    }
}

/// A counter that is 83 ppm fast or slow against the clock, for a day of ids.
#[test]
fn case_06_a_counter_83_ppm_off_for_a_day() {
    for (raw_ms, time_ms) in [(1_000_083, 1_000_000), (1_000_000, 1_000_083)] {
        let clock = ManualClock::new(T0);
        let ids = Generator::builder(Layout::TWITTER).worker(1).clock(&clock).build().unwrap();
        let (mut raw, mut time) = (0_u64, T0);
        let mut last = Id::from_u64(0);
        // 97 ms apart, so that every place in a tick is met.
        for _ in 0..(86_400_000 / 97) {
            raw += 97 * raw_ms;
            time += 97 * time_ms;
            clock.set_time(time);
            clock.set_raw(raw);
            let id = ids.try_next_id().unwrap();
            assert!(id > last);
            last = id;
            assert!(time - tick_nanos(&Layout::TWITTER, id) < MS, "{id} at {time}");
        }
    }
}

/// Within a tick too: the counter is asked 20 times a tick, and its drift never hides the next one by
/// more than the 1/1024 that a deadline is shortened by.
#[test]
fn case_06_the_next_tick_is_seen_at_once() {
    for (raw_step, time_step) in [(50_004, 50_000), (50_000, 50_004)] {
        let clock = ManualClock::new(T0);
        let ids = Generator::builder(Layout::TWITTER).worker(1).clock(&clock).build().unwrap();
        let (mut raw, mut time) = (0_u64, T0 + MS);
        for _ in 0..200_000 {
            raw += raw_step;
            time += time_step;
            clock.set_time(time);
            clock.set_raw(raw);
            let id = ids.try_next_id().unwrap();
            assert_eq!(tick_nanos(&Layout::TWITTER, id), time / MS * MS);
        }
    }
}

#[test]
fn case_07_the_machine_slept_for_an_hour() {
    let (ids, clock) = manual(Layout::TWITTER);
    ids.try_next_id().unwrap();
    // The wall clock is an hour on; the counter has stood still, and goes on from there.
    clock.set_time(T0 + 3_600_000 * MS);
    clock.advance(TICK);
    let id = ids.try_next_id().unwrap();
    assert_eq!(tick_nanos(&Layout::TWITTER, id), T0 + 3_600_001 * MS);
}

#[test]
fn case_08_a_thousand_generators_measure_the_counter_once() {
    TscClock::new();
    let start = Instant::now();
    for worker in 0..1_000 {
        Generator::new(Layout::TWITTER, worker).unwrap();
    }
    // 1 us each here; a measurement each would be a second. The bound is the one that was promised.
    assert!(start.elapsed() < Duration::from_millis(50), "{:?}", start.elapsed());
}

/// A thread that is stopped for 20 ms between the clock and the state; meanwhile another draws.
#[test]
fn case_09_a_preempted_thread_is_not_a_rollback() {
    let clock = Stopper::new();
    let ids = Generator::builder(Layout::TWITTER).worker(1).clock(&clock).build().unwrap();
    clock.time.advance(TICK);
    clock.stop_next_reader();
    thread::scope(|scope| {
        let preempted = scope.spawn(|| ids.try_next_id());
        clock.stopped.wait();
        clock.time.advance(20 * TICK);
        let newest = ids.try_next_id().unwrap();
        clock.resume.wait();
        // It goes on from the newer state.
        let id = preempted.join().unwrap().unwrap();
        assert!(id > newest);
        assert_eq!(tick_nanos(&Layout::TWITTER, id), T0 + 21 * MS);
    });
}

#[test]
fn case_10_workers_and_datacenters_out_of_range() {
    let build = |layout, datacenter: Option<u64>, worker| {
        let mut builder = Generator::builder(layout).worker(worker);
        if let Some(datacenter) = datacenter {
            builder = builder.datacenter(datacenter);
        }
        builder.build().map(|_| ()).map_err(|e| e.to_string())
    };
    for (layout, datacenter, worker, message) in [
        (
            Layout::TWITTER,
            None,
            1_024,
            "worker 1024 is out of range: Layout::TWITTER has 10 worker bits, so 0 to 1023",
        ),
        (
            Layout::TWITTER,
            None,
            u64::MAX,
            "worker 18446744073709551615 is out of range: Layout::TWITTER has 10 worker bits, so 0 to 1023",
        ),
        (
            Layout::TWITTER,
            Some(0),
            32,
            "worker 32 is out of range: Layout::TWITTER has 5 worker bits, so 0 to 31",
        ),
        (
            Layout::TWITTER,
            Some(32),
            0,
            "datacenter 32 is out of range: Layout::TWITTER has 5 datacenter bits, so 0 to 31",
        ),
        (
            Layout::LEAF,
            Some(u64::MAX),
            0,
            "datacenter 18446744073709551615 is out of range: Layout::LEAF has 0 datacenter bits, so 0 to 0",
        ),
        (
            Layout::MASTODON,
            None,
            1,
            "worker 1 is out of range: Layout::MASTODON has 0 worker bits, so 0 to 0",
        ),
        (
            Layout::SONYFLAKE,
            None,
            65_536,
            "worker 65536 is out of range: Layout::SONYFLAKE has 16 worker bits, so 0 to 65535",
        ),
    ] {
        assert_eq!(build(layout, datacenter, worker).unwrap_err(), message);
    }
    for (layout, datacenter, worker) in [
        (Layout::TWITTER, None, 1_023),
        (Layout::TWITTER, Some(31), 31),
        (Layout::LEAF, None, 1_023),
        (Layout::MASTODON, None, 0),
        (Layout::SONYFLAKE, None, 65_535),
    ] {
        assert_eq!(build(layout, datacenter, worker), Ok(()), "{layout}");
    }
    assert!(matches!(
        Generator::builder(Layout::TWITTER).build(),
        Err(BuildError::NoWorker { layout: Layout::TWITTER })
    ));
    assert!(Generator::builder(Layout::MASTODON).build().is_ok(), "there is no worker to name");
    // The datacenter is the top of the worker field, and nothing leaks into the tick.
    let ids = Generator::builder(Layout::TWITTER).datacenter(31).worker(31).build().unwrap();
    assert_eq!(Layout::TWITTER.node(ids.next_id().unwrap()), 1_023);
}

#[test]
fn case_11_4097_calls_on_a_clock_that_stands_still() {
    let (ids, _clock) = manual(Layout::TWITTER);
    let mut drawn = HashSet::new();
    for _ in 0..4_096 {
        assert!(drawn.insert(ids.try_next_id().unwrap()));
    }
    assert_eq!(ids.try_next_id(), Err(Error::Exhausted { retry_after: TICK }));
    assert_eq!(ids.next_id(), Err(Error::Exhausted { retry_after: TICK }));
}

#[test]
fn case_12_the_last_tick_of_a_layout_and_one_more() {
    for layout in Layout::PRESETS.map(|(_, layout)| layout) {
        let end = layout.epoch() * MS
            + u64::try_from(layout.tick_length().as_nanos() * (u128::from(layout.max_tick()) + 1))
                .unwrap_or(u64::MAX / 2);
        if end >= u64::MAX / 2 {
            continue; // Mastodon ends in the year 10889, past what a clock can read.
        }
        let clock = ManualClock::new(end - 2 * layout.tick_length().as_nanos() as u64);
        let ids = Generator::builder(layout).worker(0).clock(&clock).build().unwrap();
        clock.advance(layout.tick_length());
        let id = ids.try_next_id().unwrap();
        assert_eq!(layout.decompose(id).tick, layout.max_tick(), "{layout}");
        clock.advance(layout.tick_length());
        for _ in 0..100 {
            assert_eq!(ids.try_next_id(), Err(Error::TimestampOverflow), "{layout}");
            assert_eq!(ids.next_id(), Err(Error::TimestampOverflow), "{layout}");
            clock.advance(layout.tick_length());
        }
        let too_late = Generator::builder(layout).worker(0).clock(&clock).build();
        assert!(matches!(too_late, Err(BuildError::Expired { .. })), "{layout}");
        // A lead that leaves no tick, or no tick left to start in, is no generator either.
        let ahead = Generator::builder(layout).worker(0).lead(Duration::MAX);
        let now = ManualClock::new(layout.epoch() * MS + MS);
        let refusal = ahead.clock(&now).build().unwrap_err();
        assert!(matches!(refusal, BuildError::Lead { .. }), "{layout}: {refusal}");
        let last = ManualClock::new(end - 1);
        let refusal = Generator::builder(layout).worker(0).clock(&last).build().unwrap_err();
        assert!(matches!(refusal, BuildError::Expired { .. }), "{layout}: {refusal}");
    }
    assert!(matches!(Generator::new(Layout::BAIDU, 1), Err(BuildError::Expired { .. })));
}

/// Saturated, the last number of the last tick is issued, and the carry goes nowhere.
#[test]
fn case_12_the_last_number_of_the_last_tick() {
    let narrow = Layout::new(4, 2, 2);
    for (layout, ids_in_last_tick) in [(narrow, 4), (narrow.worker_last(), 4)] {
        let clock = ManualClock::new(14 * MS);
        let ids = Generator::builder(layout).worker(3).clock(&clock).build().unwrap();
        clock.advance(TICK);
        let (drawn, refusal) = drain(&ids);
        assert_eq!(drawn.len(), ids_in_last_tick);
        assert_eq!(drawn.last().unwrap().as_u64(), 255);
        assert_eq!(refusal, Error::TimestampOverflow);
        clock.set_time(0);
        assert_eq!(ids.try_next_id(), Err(Error::TimestampOverflow), "for ever");
    }
}

#[test]
fn case_13_an_epoch_in_the_future_and_a_clock_before_the_epoch() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let future = Layout::new(41, 10, 12).epoch_unix_ms(now + 3_600_000);
    let refusal = Generator::new(future, 1).unwrap_err();
    assert!(matches!(refusal, BuildError::EpochInFuture { .. }));
    assert!(refusal.to_string().contains("in the future"), "{refusal}");
    let never = Layout::new(41, 10, 12).epoch_unix_ms(u64::MAX);
    assert!(matches!(Generator::new(never, 1), Err(BuildError::EpochInFuture { .. })));

    let (ids, clock) = manual(Layout::TWITTER);
    let last = ids.try_next_id().unwrap();
    for before in [0, 1, Layout::TWITTER.epoch() * MS - 1] {
        clock.set_time(before);
        clock.set_raw(before + 1);
        // What was allowed before stays allowed; then a named error, and never a huge id.
        let (drawn, refusal) = drain(&ids);
        assert_eq!(refusal, Error::BeforeEpoch);
        assert!(drawn.len() < 4_096 && drawn.iter().all(|id| id.as_u64() - last.as_u64() < 4_096));
    }
}

/// One id every 10 ms, 10,000 of them, and other slow rates that people have: a chi-square test for
/// each number of shards from 2 to 1,024, at 5 % over all of them together.
///
/// The start is spread over a quarter of the sequence, 1,024 numbers. Where the ticks drawn are all
/// alike modulo the shards (640 shards and a tick every 10 ms, say), 1,024 does not divide evenly among
/// them, which no hash can mend; that part is allowed for, and nothing beyond it.
#[test]
fn case_15_ids_drawn_slowly_are_even_over_shards() {
    const DRAWN: usize = 10_000;
    for every in [1, 7, 10, 50, 100, 610, 1_000] {
        let clock = ManualClock::new(T0);
        let ids = Generator::builder(Layout::TWITTER)
            .worker(1)
            .spread(true)
            .clock(&clock)
            .build()
            .unwrap();
        let drawn: Vec<u64> = (0..DRAWN)
            .map(|_| {
                clock.advance(Duration::from_millis(every));
                ids.try_next_id().unwrap().as_u64()
            })
            .collect();
        for shards in 2..=1_024_u64 {
            let mut counts = vec![0_u32; shards as usize];
            for id in &drawn {
                counts[(id % shards) as usize] += 1;
            }
            let expected = DRAWN as f64 / shards as f64;
            let chi_square: f64 =
                counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
            // Of 1,024 numbers, `more` shards get one more than the rest.
            let more = (1_024 % shards) as f64;
            let uneven = DRAWN as f64 * more * (shards as f64 - more) / 1_024_f64.powi(2);
            let bound = 1.25 * uneven + chi_square_bound((shards - 1) as f64);
            assert!(
                chi_square < bound,
                "every {every} ms, {shards} shards: {chi_square} > {bound}"
            );
            if shards <= 20 {
                let most = f64::from(*counts.iter().max().unwrap());
                assert!(most < expected * 1.2, "every {every} ms, {shards} shards: {most}");
            }
        }
    }
}

/// What chi-square stays below with a probability of 1 - 5 % / 1,023, by Wilson and Hilferty.
fn chi_square_bound(degrees: f64) -> f64 {
    let part = 2.0 / (9.0 * degrees);
    degrees * (1.0 - part + 3.9 * part.sqrt()).powi(3)
}

/// The kind of fault: without `spread` every one of them is 0 modulo 1,024.
#[test]
fn case_15_without_spread_they_are_all_alike() {
    let (ids, clock) = manual(Layout::TWITTER);
    for _ in 0..100 {
        clock.advance(10 * TICK);
        assert_eq!(ids.try_next_id().unwrap().as_u64() % 1_024, 0);
    }
}

#[test]
fn case_16_a_restart_within_the_same_tick() {
    for lead in [0, 5, 1_000] {
        let clock = ManualClock::new(T0);
        let mut seen = HashSet::new();
        for _ in 0..50 {
            // The same worker again and again: each life is gone before the next begins.
            let ids = Generator::builder(Layout::TWITTER)
                .worker(1)
                .lead(Duration::from_millis(lead))
                .clock(&clock)
                .build()
                .unwrap();
            for _ in 0..2 {
                for id in drain(&ids).0 {
                    assert!(seen.insert(id), "{id} twice, lead {lead}");
                }
                clock.advance(TICK);
            }
        }
        assert!(seen.len() >= 50 * 4_096);
    }
}

#[test]
fn case_16_a_restart_with_the_clock_set_back_starts_after_the_last_id() {
    let (ids, clock) = manual(Layout::TWITTER);
    let last = drain(&ids).0[4_095];
    drop(ids);
    step_back(&clock, Duration::from_secs(3_600));
    let ids = Generator::builder(Layout::TWITTER)
        .worker(1)
        .clock(clock.clone())
        .start_after(last)
        .build()
        .unwrap();
    let hour = Duration::from_secs(3_600);
    assert_eq!(ids.try_next_id(), Err(Error::ClockBehind { by: hour + TICK }));
    clock.advance(hour + TICK);
    assert!(ids.try_next_id().unwrap() > last);

    let foreign = Generator::builder(Layout::JS_SAFE).worker(1).start_after(last).build();
    assert!(matches!(foreign, Err(BuildError::StartAfter { .. })));
}

#[test]
fn case_17_two_generators_of_two_workers_and_many_cores_of_one() {
    let clock = ManualClock::new(T0);
    let mut seen = HashSet::new();
    for worker in [1, 2] {
        let cores: Vec<LocalGenerator<_>> =
            Generator::builder(Layout::TWITTER).worker(worker).clock(&clock).per_core(4).unwrap();
        clock.advance(TICK);
        for core in cores {
            while let Ok(id) = core.try_next_id() {
                assert!(seen.insert(id));
            }
        }
    }
    assert_eq!(seen.len(), 2 * 4_096);
    for cores in [0, 2_049, 4_096, usize::MAX] {
        let refusal = nivis::per_core(Layout::TWITTER, 1, cores).map(|_| ()).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            format!(
                "cannot split the sequence among {cores} cores: Layout::TWITTER has 4096 numbers a tick, so 1 to 2048 cores"
            )
        );
    }
    assert_eq!(nivis::per_core(Layout::TWITTER, 1, 2_048).unwrap().len(), 2_048);
}

/// A counter that starts again from zero, or anywhere, freezes no tick.
#[test]
fn a_counter_that_restarts_from_zero() {
    let (ids, clock) = manual(Layout::TWITTER);
    for start in [5_000 * MS, u64::MAX - 3 * MS, u64::MAX / 2, 1] {
        clock.set_raw(start);
        for _ in 0..100 {
            clock.advance(TICK);
            let id = ids.try_next_id().unwrap();
            assert_eq!(tick_nanos(&Layout::TWITTER, id), clock.unix_nanos());
        }
        clock.set_raw(0);
        clock.set_time(clock.unix_nanos() + MS);
        let id = ids.try_next_id().unwrap();
        assert_eq!(tick_nanos(&Layout::TWITTER, id), clock.unix_nanos());
    }
}

/// Two threads see clocks 1.6 s apart, as two sockets with counters of their own did.
#[test]
fn a_clock_that_alternates_by_1600_ms_between_threads() {
    struct Alternating {
        time: AtomicU64,
    }
    impl Clock for Alternating {
        fn raw(&self) -> u64 {
            self.read().raw
        }
        fn read(&self) -> nivis::Reading {
            let n = self.time.fetch_add(50_000, Ordering::Relaxed);
            let apart = if (n / 50_000).is_multiple_of(2) { 0 } else { 1_600 * MS };
            nivis::Reading { raw: n + apart, unix_nanos: n + apart }
        }
        fn raw_span(&self, d: Duration) -> u64 {
            d.as_nanos() as u64
        }
    }
    let clock = Alternating { time: AtomicU64::new(T0) };
    let ids = Generator::builder(Layout::TWITTER).worker(1).clock(&clock).build().unwrap();
    let drawn: Vec<Vec<Id>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    for _ in 0..20_000 {
                        match ids.try_next_id() {
                            Ok(id) => mine.push(id),
                            Err(Error::Exhausted { .. } | Error::ClockBehind { .. }) => {}
                            Err(other) => panic!("{other}"),
                        }
                    }
                    mine
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(drawn.iter().all(|mine| mine.is_sorted()));
    let all: HashSet<Id> = drawn.iter().flatten().copied().collect();
    assert_eq!(all.len(), drawn.iter().map(Vec::len).sum::<usize>());
    assert!(all.len() > 10_000);
}

#[test]
fn sixteen_threads_on_the_real_clock_three_times_without_an_error() {
    for _ in 0..3 {
        let ids = Generator::builder(Layout::TWITTER)
            .worker(1)
            // The machine may be busy: what is tested is that nobody starves, not how soon it is served.
            .max_wait(Duration::from_secs(10))
            .build()
            .unwrap();
        let drawn: Vec<Vec<Id>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..16)
                .map(|_| {
                    scope.spawn(|| (0..10_000).map(|_| ids.next_id().unwrap()).collect::<Vec<_>>())
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(drawn.iter().all(|mine| mine.is_sorted()));
        let all: HashSet<Id> = drawn.into_iter().flatten().collect();
        assert_eq!(all.len(), 160_000);
    }
}

#[test]
fn every_clock_draws_real_ids() {
    fn check<C: Clock>(name: &str, clock: C) {
        let ids = Generator::builder(Layout::TWITTER).worker(5).clock(clock).build().unwrap();
        let before = SystemTime::now();
        let mut last = ids.next_id().unwrap();
        for _ in 0..20_000 {
            let id = ids.next_id().unwrap();
            assert!(id > last, "{name}");
            last = id;
        }
        // Near the system's clock, which somebody may be setting meanwhile: `tsc_drift.rs` is exact.
        let second = Duration::from_secs(1);
        let shown = Layout::TWITTER.timestamp(last);
        let near = before - second..=SystemTime::now() + second;
        assert!(near.contains(&shown), "{name}: {shown:?} is not in {near:?}");
    }
    check("TscClock", TscClock::new());
    check("SystemClock", SystemClock);
    check("OnTurn", OnTurn::new(TscClock::new()));
    check("Box", Box::new(TscClock::new()) as Box<dyn Clock>);
    check("Arc", std::sync::Arc::new(SystemClock));
    let shared = SystemClock;
    check::<&SystemClock>("&", &shared);
}

#[test]
fn time_moves_on_turn_and_not_in_between() {
    let clock = ManualClock::new(T0);
    let ids =
        Generator::builder(Layout::TWITTER).worker(1).clock(OnTurn::new(&clock)).build().unwrap();
    clock.advance(TICK);
    let first = ids.try_next_id().unwrap();
    clock.advance(10 * TICK);
    let same_turn = ids.try_next_id().unwrap();
    assert_eq!(tick_nanos(&Layout::TWITTER, first), tick_nanos(&Layout::TWITTER, same_turn));
    ids.turn();
    assert_eq!(tick_nanos(&Layout::TWITTER, ids.try_next_id().unwrap()), T0 + 11 * MS);
    // The sequence runs out: it looks by itself.
    clock.advance(TICK);
    let (drawn, _) = drain(&ids);
    assert_eq!(drawn.len(), 4_095 + 4_096);

    // And so for one thread's own.
    let clock = ManualClock::new(T0);
    let local = Generator::builder(Layout::TWITTER).worker(1).clock(OnTurn::new(&clock));
    let local = local.build_local().unwrap();
    let shown = || tick_nanos(&Layout::TWITTER, local.try_next_id().unwrap());
    clock.advance(TICK);
    assert_eq!(shown(), T0 + MS);
    clock.advance(10 * TICK);
    assert_eq!(shown(), T0 + MS);
    let batch = local.try_next_ids(3).unwrap().last().unwrap();
    assert_eq!(tick_nanos(&Layout::TWITTER, batch), T0 + MS);
    local.turn();
    assert_eq!(shown(), T0 + 11 * MS);
    assert!(format!("{local:?}").contains("worker: 1, sequence: 1"), "{local:?}");
}

#[test]
fn a_batch_is_as_long_as_the_tick_allows() {
    let (ids, clock) = manual(Layout::TWITTER);
    assert_eq!(ids.next_ids(0).unwrap().len(), 0);
    let batch = ids.next_ids(usize::MAX).unwrap();
    assert_eq!(batch.len(), 4_096);
    assert!(batch.is_sorted());
    assert_eq!(ids.next_ids(1).unwrap_err(), Error::Exhausted { retry_after: TICK });
    assert_eq!(ids.try_next_ids(0).unwrap().len(), 0, "nothing is always there");
    clock.advance(TICK);
    let all: HashSet<Id> =
        ids.next_ids(100).unwrap().chain(ids.try_next_ids(5_000).unwrap()).collect();
    assert_eq!(all.len(), 4_096);

    let cores = Generator::builder(Layout::TWITTER).worker(1).clock(clock.clone()).build_local();
    let local = cores.unwrap();
    clock.advance(TICK);
    assert_eq!(local.next_ids(10).unwrap().len(), 10);
    assert_eq!(local.try_next_ids(usize::MAX).unwrap().len(), 4_086);
    assert_eq!(local.next_ids(0).unwrap().len(), 0);
    assert_eq!(local.next_ids(1).unwrap_err(), Error::Exhausted { retry_after: TICK });
}

#[test]
fn a_static_generator_starts_with_its_first_call() {
    static IDS: Generator = Generator::const_new(Layout::TWITTER, 1_023);
    static BAIDU: Generator = Generator::const_new(Layout::BAIDU, 1);
    let before = SystemTime::now();
    let drawn: Vec<Vec<Id>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| (0..2_000).map(|_| IDS.next_id().unwrap()).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let all: HashSet<Id> = drawn.into_iter().flatten().collect();
    assert_eq!(all.len(), 8_000);
    for id in all {
        assert_eq!(Layout::TWITTER.node(id), 1_023);
        assert!(Layout::TWITTER.timestamp(id) > before, "not in the tick that it started in");
    }
    assert_eq!(BAIDU.next_id(), Err(Error::TimestampOverflow));
}
