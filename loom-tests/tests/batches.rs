//! Batches against single ids, over the end of a tick and with a wait for the next one.
#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use loom_tests::{
    TICK, assert_not_early, assert_unique_and_ordered, builder, clock, draw, ids, model,
};
use nivis::OnTurn;

/// Three threads: each batch is one stretch of numbers that nobody else gets into.
#[test]
fn batches_against_batches_and_single_ids() {
    model("batches_against_batches_and_single_ids", None, || {
        let clock = clock();
        let ids = builder(&clock).clock(OnTurn::new(clock.clone())).lead(2 * TICK).build();
        let ids = Arc::new(ids.unwrap());
        clock.advance(2 * TICK);
        ids.turn();
        let other = ids.clone();
        let batch = thread::spawn(move || other.try_next_ids(2).into_iter().flatten().collect());
        let other = ids.clone();
        let single = thread::spawn(move || draw(&other, 1));
        let mine: Vec<_> = ids.try_next_ids(3).into_iter().flatten().collect();
        let drawn = [mine, batch.join().unwrap(), single.join().unwrap()];
        let rest = draw(&ids, 5);
        let all = assert_unique_and_ordered(&[&drawn[..], &[rest]].concat());
        assert_eq!(all.len(), 4, "I5: {drawn:?}");
        for batch in &drawn {
            let places: Vec<_> = batch.iter().map(|id| all.binary_search(id).unwrap()).collect();
            assert!(places.is_sorted_by(|a, b| a + 1 == *b), "torn: {batch:?} in {all:?}");
        }
    });
}

/// The tick is full. One waits for a batch of the next, another moves the clock and draws single ids.
#[test]
fn a_batch_that_waits_against_single_ids() {
    model("a_batch_that_waits_against_single_ids", Some(2), || {
        let clock = clock();
        let ids = ids(&clock);
        assert_eq!(draw(&ids, 2).len(), 2);
        let (other, shown) = (ids.clone(), clock.clone());
        let waiting = thread::spawn(move || {
            let batch: Vec<_> = other.next_ids(2).unwrap().collect();
            assert_not_early(&shown, &batch);
            batch
        });
        assert_eq!(draw(&ids, 1), [], "I3: the tick is full");
        clock.advance(TICK);
        let mine = draw(&ids, 1);
        // There is one number left for whoever waits, or two of the tick after.
        clock.advance(TICK);
        let theirs = waiting.join().unwrap();
        assert!(!theirs.is_empty(), "a wait with nothing at its end");
        assert_unique_and_ordered(&[mine, theirs]);
    });
}
