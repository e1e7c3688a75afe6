//! The end of a slice, its growth, and a change of worker, while ids are drawn: I4.
#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use loom_tests::{NARROW, START, TICK, assert_unique_and_ordered, at, builder, clock, draw, model};
use nivis::{Error, Id};

/// I4: every id of worker 0 lies in one of its slices, and of worker 1 likewise.
fn assert_inside(all: &[Id], slices: &[std::ops::Range<u64>; 2]) {
    for id in all {
        let parts = NARROW.decompose(*id);
        let slice = &slices[parts.worker as usize];
        assert!(slice.contains(&parts.tick), "I4: {parts:?} is outside of {slice:?}");
    }
}

#[test]
fn a_renewal_while_ids_are_drawn() {
    model("a_renewal_while_ids_are_drawn", Some(3), || {
        let clock = clock();
        let ids = Arc::new(builder(&clock).lease_end(START + 2).build().unwrap());
        clock.advance(2 * TICK);
        let other = ids.clone();
        let renewal = thread::spawn(move || {
            other.grant(0, START + 2, START + 4);
            draw(&other, 1)
        });
        let first: Vec<_> = (0..2).map(|_| ids.try_next_id()).collect();
        let theirs = renewal.join().unwrap();
        let mine: Vec<_> = first.iter().filter_map(|drawn| drawn.ok()).collect();
        // Before the renewal was seen there was an error, and it has a name.
        let named = |e: &Error| matches!(e, Error::LeaseExpired | Error::Exhausted { .. });
        assert!(first.iter().filter_map(|drawn| drawn.as_ref().err()).all(named), "{first:?}");
        let all = assert_unique_and_ordered(&[mine, theirs]);
        assert_inside(&all, &[START + 1..START + 4, 0..0]);
        // The granter may draw at once, unless the other has drawn both numbers of the tick.
        assert!(!all.is_empty(), "the renewal is lost");
    });
}

#[test]
fn the_end_of_a_slice_while_the_clock_goes_on() {
    model("the_end_of_a_slice_while_the_clock_goes_on", Some(2), || {
        let clock = clock();
        let ids = Arc::new(builder(&clock).lease_end(START + 2).build().unwrap());
        clock.advance(TICK);
        let (other, mover) = (ids.clone(), clock.clone());
        let thread = thread::spawn(move || {
            mover.advance(TICK);
            other.turn();
            draw(&other, 1)
        });
        let mine = draw(&ids, 2);
        let theirs = thread.join().unwrap();
        let all = assert_unique_and_ordered(&[mine, theirs]);
        assert_inside(&all, &[START + 1..START + 2, 0..0]);
        assert_eq!(ids.try_next_id(), Err(Error::LeaseExpired));
    });
}

/// Worker 0 may stamp up to `START + 3`; worker 1 from there to `new_end`. The clock goes past all of it.
fn change_of_worker(threads: usize, old_end: u64, new_end: u64) {
    let clock = clock();
    let ids = Arc::new(builder(&clock).lease_end(old_end).build().unwrap());
    clock.set_time(at(START + 2));
    clock.set_raw(at(2));
    ids.turn();
    let drawing: Vec<_> = (1..threads)
        .map(|_| {
            let other = ids.clone();
            thread::spawn(move || draw(&other, 1))
        })
        .collect();
    let (other, mover) = (ids.clone(), clock.clone());
    let granting = thread::spawn(move || {
        mover.set_time(at(START + 5));
        other.grant(1, START + 3, new_end);
        other.turn();
        draw(&other, 1)
    });
    let mut mine = draw(&ids, 1);
    ids.turn();
    mine.extend(draw(&ids, 1));
    let mut drawn = vec![mine];
    drawn.extend(drawing.into_iter().map(|thread| thread.join().unwrap()));
    drawn.push(granting.join().unwrap());
    let all = assert_unique_and_ordered(&drawn);
    assert_inside(&all, &[START + 1..old_end, START + 3..new_end]);
    // What the granter drew is the new worker's.
    assert!(drawn.last().unwrap().iter().all(|id| NARROW.decompose(*id).worker == 1));
}

#[test]
fn a_change_of_worker_while_ids_are_drawn() {
    model("a_change_of_worker_while_ids_are_drawn", Some(3), || {
        change_of_worker(1, START + 3, START + 8);
    });
}

/// The new slice ends as early as it may: where the old one ended.
#[test]
fn a_new_slice_that_ends_with_the_old_one() {
    model("a_new_slice_that_ends_with_the_old_one", Some(3), || {
        change_of_worker(1, START + 7, START + 7);
    });
}

/// A late renewal comes after a longer one: the slice stays as long as it was.
#[test]
fn two_grants_at_once() {
    model("two_grants_at_once", None, || {
        let clock = clock();
        let ids = Arc::new(builder(&clock).lease_end(START + 2).build().unwrap());
        clock.advance(4 * TICK);
        let other = ids.clone();
        let renewal = thread::spawn(move || other.grant(0, START + 2, START + 4));
        ids.grant(0, START + 2, START + 9);
        renewal.join().unwrap();
        let mine = draw(&ids, 1);
        assert_eq!(mine.len(), 1, "the slice was cut");
        assert_inside(&mine, &[START + 1..START + 9, 0..0]);
    });
}

#[test]
#[ignore = "takes minutes: loom-tests/run --slow"]
fn a_change_of_worker_among_three() {
    model("a_change_of_worker_among_three", Some(2), || {
        change_of_worker(2, START + 3, START + 8);
    });
}
