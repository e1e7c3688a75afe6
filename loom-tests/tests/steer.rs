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
    model("down_by_slowing_and_never_back", None, || {
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
    model("up_at_once_against_down", None, || {
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
        // Whoever was followed up stays followed: time goes on from there, at 7/8 or more.
        let least = REAL + 510 * MS + 12 * MS / 8 * 7;
        assert!(theirs < REAL + 400 * MS || after >= least, "undone: {after} after {theirs}");
    });
}

/// A jump ahead of a year was seen long ago, and another one comes, seen by two threads at once. The
/// second has not stood for 3 s, so that neither thread follows it.
#[test]
fn a_wild_jump_does_not_inherit_the_age_of_another() {
    const YEAR: u64 = 365 * 86_400_000 * MS;
    model("a_wild_jump_does_not_inherit_the_age_of_another", None, || {
        let steer = Arc::new(Steer::new(look(100 * MS, REAL)));
        steer.time(look(200 * MS, REAL + YEAR));
        // Both are spawned: loom runs them in this order first, and its search does not find an order in
        // which one comes to steer after the other from one in which it came first.
        let threads = [9_000, 9_001].map(|stopwatch| {
            let steer = steer.clone();
            thread::spawn(move || steer.time(look(stopwatch * MS, REAL + 5 * YEAR)))
        });
        for thread in threads {
            let time = thread.join().unwrap();
            assert!(time < REAL + 10_000 * MS, "wild: {time} after a jump that stood for 1 ms");
        }
    });
}
