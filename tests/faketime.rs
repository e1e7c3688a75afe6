//! `TscClock` over a system clock that is set while the process runs: libfaketime, for real.
//!
//! Each test runs itself again in a process with the library preloaded. `CLOCK_REALTIME` is faked
//! there and `CLOCK_BOOTTIME` is not, as when an administrator or a time server sets the clock. Where
//! the library is not installed the tests say so and pass, unless `NIVIS_REQUIRE_FAKETIME` is set, as
//! `tests/run` does.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nivis::{Error, Generator, Id, Layout, TscClock};

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn library() -> Option<PathBuf> {
    let places = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    places.map(|place| place.path().join("faketime/libfaketimeMT.so.1")).find(|path| path.exists())
}

/// Runs `body` in a process of its own on a fake clock. `name` is the calling test's.
fn on_a_fake_clock(name: &str, body: impl FnOnce(&FakeClock)) {
    if let Some(file) = std::env::var_os("NIVIS_FAKETIME") {
        body(&FakeClock::new(Path::new(&file)));
        return;
    }
    let Some(library) = library() else {
        assert!(
            std::env::var_os("NIVIS_REQUIRE_FAKETIME").is_none(),
            "libfaketime is not installed"
        );
        eprintln!("skipped: libfaketime is not installed (Debian package faketime)");
        return;
    };
    let file = std::env::temp_dir().join(format!("nivis-{}-{name}", std::process::id()));
    std::fs::write(&file, "+0").unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env("LD_PRELOAD", library)
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("FAKETIME_NO_CACHE", "1")
        .env("FAKETIME_TIMESTAMP_FILE", &file)
        .env("NIVIS_FAKETIME", &file)
        .output()
        .unwrap();
    let _ = std::fs::remove_file(&file);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

struct FakeClock {
    file: PathBuf,
    /// The system's clock and a stopwatch, read together while the clock was true.
    start: (Duration, Instant),
}

fn system_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

impl FakeClock {
    fn new(file: &Path) -> FakeClock {
        FakeClock { file: file.to_owned(), start: (system_time(), Instant::now()) }
    }

    /// What the clock would show had nobody set it.
    fn true_time(&self) -> Duration {
        self.start.0 + self.start.1.elapsed()
    }

    /// Sets the system's clock off by this much, in libfaketime's words, and makes sure that it is.
    fn set(&self, offset: &str, seconds: f64) {
        std::fs::write(&self.file, offset).unwrap();
        let off = system_time().as_secs_f64() - self.true_time().as_secs_f64();
        assert!((off - seconds).abs() < 0.25, "the clock is off by {off} s, not {seconds}");
    }
}

fn generator() -> Generator {
    Generator::new(Layout::TWITTER, 1).unwrap()
}

fn shown(id: Id) -> Duration {
    Layout::TWITTER.timestamp(id).duration_since(UNIX_EPOCH).unwrap()
}

/// Draws for so long, each id above the one before; returns the last.
fn draw(ids: &Generator, mut last: Id, time: Duration) -> Id {
    let start = Instant::now();
    while start.elapsed() < time {
        let id = ids.next_id().unwrap();
        assert!(id > last);
        last = id;
    }
    last
}

/// Takes all ids of this tick.
fn exhaust(ids: &Generator) -> Id {
    let mut last = ids.next_id().unwrap();
    while let Ok(id) = ids.try_next_id() {
        last = id;
    }
    last
}

fn set_back(name: &str, offset: &'static str, seconds: f64) {
    on_a_fake_clock(name, |clock| {
        let ids = generator();
        let mut last = exhaust(&ids);
        clock.set(offset, -seconds);
        // Nobody is stopped: ids go on, in order, and show a time that leads the system's clock.
        last = draw(&ids, last, 400 * MS);
        let ahead = ids.clock().ahead().as_secs_f64();
        assert!(ahead <= seconds + 0.01, "{ahead}");
        if seconds > 1.0 {
            // Slowed to 7/8: 50 ms of 400 are made good.
            assert!(ahead < seconds - 0.03 && ahead > seconds - 0.5, "{ahead}");
            let behind = clock.true_time().saturating_sub(shown(last));
            assert!(behind > 30 * MS && behind < SECOND, "{behind:?}");
        }
        // Set right again: at once if by up to a second, and ids go on all the while.
        clock.set("+0", 0.0);
        last = draw(&ids, last, 50 * MS);
        assert!(last > Id::from_u64(0));
    });
}

#[test]
fn case_02_set_back_by_1_ms() {
    set_back("case_02_set_back_by_1_ms", "-0.001", 0.001);
}

#[test]
fn case_02_set_back_by_5_ms() {
    set_back("case_02_set_back_by_5_ms", "-0.005", 0.005);
}

#[test]
fn case_02_set_back_by_2_s() {
    set_back("case_02_set_back_by_2_s", "-2", 2.0);
}

#[test]
fn case_03_set_back_by_8_h() {
    set_back("case_03_set_back_by_8_h", "-8h", 8.0 * 3600.0);
}

#[test]
fn a_year_ahead_for_a_second_and_then_right_again() {
    on_a_fake_clock("a_year_ahead_for_a_second_and_then_right_again", |clock| {
        let ids = generator();
        let mut last = ids.next_id().unwrap();
        for _ in 0..2 {
            clock.set("+365d", 365.0 * 86_400.0);
            last = draw(&ids, last, SECOND);
            assert!(shown(last) < clock.true_time() + SECOND, "ids followed");
            clock.set("+0", 0.0);
            last = draw(&ids, last, 200 * MS);
            let off = clock.true_time().saturating_sub(shown(last));
            assert!(shown(last) < clock.true_time() + 50 * MS && off < 500 * MS, "{off:?}");
        }
    });
}

#[test]
fn set_ahead_by_half_a_second_is_followed_at_once() {
    on_a_fake_clock("set_ahead_by_half_a_second_is_followed_at_once", |clock| {
        let ids = generator();
        let last = draw(&ids, ids.next_id().unwrap(), 10 * MS);
        clock.set("+0.5", 0.5);
        let last = draw(&ids, last, 10 * MS);
        let ahead = shown(last).saturating_sub(clock.true_time());
        assert!(ahead > 250 * MS && ahead < 750 * MS, "{ahead:?}");
    });
}

#[test]
fn set_ahead_by_an_hour_is_followed_after_three_seconds() {
    on_a_fake_clock("set_ahead_by_an_hour_is_followed_after_three_seconds", |clock| {
        let ids = generator();
        let last = draw(&ids, ids.next_id().unwrap(), 10 * MS);
        clock.set("+1h", 3600.0);
        let last = draw(&ids, last, 2 * SECOND);
        assert!(shown(last) < clock.true_time() + SECOND);
        let last = draw(&ids, last, 1_500 * MS);
        let ahead = shown(last).saturating_sub(clock.true_time());
        assert!(ahead > 3_599 * SECOND && ahead < 3_601 * SECOND, "{ahead:?}");
    });
}

#[test]
fn max_ahead_turns_leading_ids_into_clock_behind() {
    on_a_fake_clock("max_ahead_turns_leading_ids_into_clock_behind", |clock| {
        let ids = Generator::builder(Layout::TWITTER)
            .worker(1)
            .clock(TscClock::new().max_ahead(SECOND))
            .build()
            .unwrap();
        ids.next_id().unwrap();
        clock.set("-0.5", -0.5);
        ids.next_id().unwrap();
        clock.set("-5", -5.0);
        while ids.try_next_id().is_ok() {}
        match ids.next_id() {
            Err(Error::ClockBehind { by }) => assert!(by > 4 * SECOND && by < 6 * SECOND, "{by:?}"),
            other => panic!("{other:?}"),
        }
        clock.set("+0", 0.0);
        ids.next_id().unwrap();
    });
}

#[test]
fn a_restart_with_the_clock_an_hour_back() {
    on_a_fake_clock("a_restart_with_the_clock_an_hour_back", |clock| {
        clock.set("-1h", -3600.0);
        // The process has read no clock before: its ids show what the clock shows.
        let ids = generator();
        let off = shown(ids.next_id().unwrap()).as_secs_f64() - system_time().as_secs_f64();
        assert!(off.abs() < 0.25, "{off}");
        // The last id of the life before is known: then it says so, and repeats nothing.
        let last = Layout::TWITTER.max_id_at(UNIX_EPOCH + clock.true_time()).unwrap();
        let careful =
            Generator::builder(Layout::TWITTER).worker(1).start_after(last).build().unwrap();
        match careful.next_id() {
            Err(Error::ClockBehind { by }) => assert!(by > 3_590 * SECOND, "{by:?}"),
            other => panic!("{other:?}"),
        }
    });
}
