//! What a thread that knows the time may count on, and what a clock that goes to and fro must not do.
#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use loom_tests::{
    START, TICK, assert_unique_and_ordered, at, builder, clock, draw, ids, model, tick,
};
use nivis::Error;

/// One thread moves the clock on, the other looks at it meanwhile and leaves a deadline behind. That
/// was computed from a time no older than its counter, or the first would draw from a tick that is over.
#[test]
fn a_deadline_is_no_older_than_its_counter() {
    model("a_deadline_is_no_older_than_its_counter", Some(3), || {
        let clock = clock();
        let ids = ids(&clock);
        let other = ids.clone();
        let looking = thread::spawn(move || draw(&other, 1));
        clock.advance(TICK);
        let mine = draw(&ids, 1);
        let theirs = looking.join().unwrap();
        assert!(mine.iter().all(|id| tick(*id) == START + 2), "stale: {mine:?}");
        assert_eq!(assert_unique_and_ordered(&[mine, theirs]).len(), 2);
    });
}

/// Two readers, one of which draws, while the counter starts again from zero, later by three ticks. Once
/// they are done, whatever deadlines they left, the tick is the clock's.
#[test]
fn two_readers_and_a_counter_that_restarts() {
    model("two_readers_and_a_counter_that_restarts", Some(2), || {
        let clock = clock();
        clock.set_raw(at(50));
        let ids = ids(&clock);
        ids.turn();
        let other = ids.clone();
        let drawing = thread::spawn(move || draw(&other, 1));
        let other = ids.clone();
        let turning = thread::spawn(move || other.turn());
        clock.set_time(at(START + 3));
        clock.set_raw(0);
        let theirs = drawing.join().unwrap();
        turning.join().unwrap();
        let mine = draw(&ids, 1);
        assert!(mine.iter().all(|id| tick(*id) == START + 3), "stale: {mine:?}");
        assert_eq!(assert_unique_and_ordered(&[theirs, mine]).len(), 2, "frozen");
    });
}

/// The clock is set ahead and back while two draw. No id is later than the latest time it ever showed,
/// and one tick of lead.
#[test]
fn a_clock_that_goes_to_and_fro() {
    model("a_clock_that_goes_to_and_fro", Some(2), || {
        let clock = clock();
        let ids = Arc::new(builder(&clock).lead(TICK).build().unwrap());
        clock.advance(2 * TICK);
        ids.turn();
        let (other, setter) = (ids.clone(), clock.clone());
        let setting = thread::spawn(move || {
            setter.set_time(at(START + 4));
            setter.set_raw(at(8));
            let drawn = draw(&other, 1);
            setter.set_time(at(START + 1));
            setter.set_raw(at(20));
            drawn
        });
        let mine = draw(&ids, 2);
        let theirs = setting.join().unwrap();
        let after = draw(&ids, 5);
        let all = assert_unique_and_ordered(&[[mine, after].concat(), theirs]);
        assert!(all.iter().all(|id| tick(*id) <= START + 5), "I3: {all:?}");
        assert!(all.iter().all(|id| tick(*id) > START), "I3: {all:?}");
    });
}

/// A thread that is stopped between its word and its clock says at most that the tick is full: by time
/// alone, the word that others left was not refused for a clock that went back.
#[test]
fn a_clock_that_only_goes_on_is_never_behind() {
    model("a_clock_that_only_goes_on_is_never_behind", Some(3), || {
        let clock = clock();
        let ids = ids(&clock);
        let (other, mover) = (ids.clone(), clock.clone());
        let thread = thread::spawn(move || {
            mover.advance(3 * TICK);
            draw(&other, 1)
        });
        let mine: Vec<_> = (0..2).map(|_| ids.try_next_id()).collect();
        let theirs = thread.join().unwrap();
        let behind = |refusal: &Error| matches!(refusal, Error::ClockBehind { .. });
        assert!(
            !mine.iter().filter_map(|drawn| drawn.err()).any(|e| behind(&e)),
            "behind: {mine:?}"
        );
        assert_unique_and_ordered(&[mine.into_iter().flatten().collect(), theirs]);
    });
}
