//! The offset of the default clock: up at once, down by slowing, and never back for anybody.
#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use loom_tests::model;
use nivis::clock::steer::{Look, Steer};

const MS: u64 = 1_000_000;
const REAL: u64 = 1_000_000 * MS;

fn look(stopwatch: u64, real: u64) -> Look {
    Look { before: stopwatch, real, after: stopwatch }
}

/// The system's clock is set back: one thread has read it before, one after, and a third compares.
#[test]
fn down_by_slowing_and_never_back() {
    model("down_by_slowing_and_never_back", Some(3), || {
        let steer = Arc::new(Steer::new(look(100 * MS, REAL)));
        let other = steer.clone();
        let thread = thread::spawn(move || {
            let first = other.time(look(140 * MS, REAL - 5_000 * MS));
            let second = other.time(look(141 * MS, REAL - 5_000 * MS));
            assert!(second >= first, "time went back from {first} to {second}");
            first.max(second)
        });
        let first = steer.time(look(180 * MS, REAL - 5_000 * MS));
        let second = steer.time(look(181 * MS, REAL - 5_000 * MS));
        assert!(second >= first, "time went back from {first} to {second}");
        let theirs = thread.join().unwrap();
        let after = steer.time(look(182 * MS, REAL - 5_000 * MS));
        assert!(after >= second && after >= theirs, "time went back: {theirs} {second} {after}");
        // Slowed, and never by more than 1/8.
        let slowed = REAL + 82 * MS / 8 * 7..=REAL + 82 * MS;
        assert!(slowed.contains(&after), "{after} is not in {slowed:?}");
    });
}

#[test]
fn up_at_once_against_down() {
    model("up_at_once_against_down", Some(3), || {
        let steer = Arc::new(Steer::new(look(100 * MS, REAL)));
        let other = steer.clone();
        let thread = thread::spawn(move || {
            // Read before it was set back.
            other.time(look(110 * MS, REAL + 510 * MS))
        });
        let first = steer.time(look(120 * MS, REAL - 20 * MS));
        let second = steer.time(look(121 * MS, REAL - 19 * MS));
        assert!(second >= first, "time went back from {first} to {second}");
        let theirs = thread.join().unwrap();
        let after = steer.time(look(122 * MS, REAL - 18 * MS));
        assert!(after >= second && after >= theirs, "time went back: {theirs} {second} {after}");
        assert!(after <= REAL + 522 * MS, "{after}");
    });
}
