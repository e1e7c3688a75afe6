//! A generator that starts with its first call, as one in a `static` does: no id of the tick in which it
//! starts, nor of any before, whoever comes first.
#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use loom_tests::{Ids, NARROW, START, TICK, assert_unique_and_ordered, clock, draw, model, tick};
use nivis::{Generator, Id};

fn assert_after_the_start(all: &[Id]) {
    for id in all {
        let tick = tick(*id);
        assert!(tick > START, "start: an id of tick {tick}, and {START} is the first it has seen");
        assert!(tick <= START + 2, "I3: an id of tick {tick}");
    }
}

/// Two threads, both with their first call; one of them moves the clock on.
#[test]
fn the_first_calls_of_a_static_generator() {
    model("the_first_calls_of_a_static_generator", Some(2), || {
        let clock = clock();
        let ids: Ids = Arc::new(Generator::unstarted(NARROW, 1, clock.clone()));
        let (other, mover) = (ids.clone(), clock.clone());
        let thread = thread::spawn(move || {
            mover.advance(TICK);
            draw(&other, 1)
        });
        let mine = draw(&ids, 1);
        let theirs = thread.join().unwrap();
        clock.advance(TICK);
        let after = draw(&ids, 1);
        assert_eq!(after.len(), 1, "a generator that does not start");
        assert_after_the_start(&assert_unique_and_ordered(&[[mine, after].concat(), theirs]));
    });
}

/// The clock stands still while two call first: nobody gets an id of this tick.
#[test]
fn two_first_calls_in_one_tick() {
    model("two_first_calls_in_one_tick", Some(3), || {
        let clock = clock();
        let ids: Ids = Arc::new(Generator::unstarted(NARROW, 1, clock.clone()));
        let threads = [(); 2].map(|()| {
            let ids = ids.clone();
            thread::spawn(move || draw(&ids, 1))
        });
        let mut all = threads.map(|thread| thread.join().unwrap()).concat();
        clock.advance(TICK);
        all.extend(draw(&ids, 1));
        assert_after_the_start(&all);
        assert_eq!(all.len(), 1, "a generator that does not start");
        assert_eq!(NARROW.decompose(all[0]).worker, 1);
    });
}
