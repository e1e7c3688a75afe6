//! Draws against draws, and against turns: I1, I2, I3, and that no tick stands still.
#![cfg(loom)]

use std::sync::Arc;
use std::time::Duration;

use loom::thread;
use loom_tests::{
    NARROW, START, TICK, assert_unique_and_ordered, at, builder, clock, draw, ids, model, tick,
};
use nivis::{Error, OnTurn};

#[test]
fn take_against_take_2x3() {
    model("take_against_take_2x3", None, || {
        let clock = clock();
        // Two ticks' worth of ids may be drawn: the third draw of each crosses into the next tick.
        let ids = builder(&clock).clock(OnTurn::new(clock.clone())).lead(2 * TICK).build();
        let ids = Arc::new(ids.unwrap());
        clock.advance(2 * TICK);
        ids.turn();
        let other = ids.clone();
        let thread = thread::spawn(move || draw(&other, 3));
        let mine = draw(&ids, 3);
        let theirs = thread.join().unwrap();
        let all = assert_unique_and_ordered(&[mine, theirs]);
        // I5: 2 of 2 numbers of each tick, and then no more.
        assert_eq!(all.len(), 4, "I5: {all:?}");
        assert_eq!(all.iter().map(|id| tick(*id) - START - 3).collect::<Vec<_>>(), [0, 0, 1, 1]);
    });
}

#[test]
fn take_against_take_3x2() {
    model("take_against_take_3x2", Some(2), || {
        let clock = clock();
        let ids = builder(&clock).clock(OnTurn::new(clock.clone())).lead(3 * TICK).build();
        let ids = Arc::new(ids.unwrap());
        clock.advance(3 * TICK);
        ids.turn();
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let ids = ids.clone();
                thread::spawn(move || draw(&ids, 2))
            })
            .collect();
        let mut drawn = vec![draw(&ids, 2)];
        drawn.extend(threads.into_iter().map(|thread| thread.join().unwrap()));
        assert_eq!(assert_unique_and_ordered(&drawn).len(), 6);
    });
}

/// One thread moves the clock on and turns, while another draws.
#[test]
fn take_against_turn() {
    model("take_against_turn", Some(2), || {
        let clock = clock();
        let ids = ids(&clock);
        let other = (ids.clone(), clock.clone());
        let thread = thread::spawn(move || {
            other.1.advance(TICK);
            other.0.turn();
            draw(&other.0, 1)
        });
        let mine = draw(&ids, 3);
        let theirs = thread.join().unwrap();
        // Whoever moved the clock on draws from the new tick.
        assert!(theirs.iter().all(|id| tick(*id) == START + 2), "stale: {theirs:?}");
        let all = assert_unique_and_ordered(&[mine, theirs]);
        assert!(all.iter().all(|id| tick(*id) <= START + 2), "I3: {all:?}");
        assert!(all.len() >= 2, "{all:?}");
    });
}

/// The clock steps back and the counter with it, while two draw over the end of a tick.
#[test]
fn take_against_a_clock_that_steps_back() {
    model("take_against_a_clock_that_steps_back", Some(2), || {
        let clock = clock();
        let ids = ids(&clock);
        ids.turn();
        let other = ids.clone();
        let thread = thread::spawn(move || draw(&other, 2));
        let setter = clock.clone();
        let step = thread::spawn(move || {
            setter.set_time(at(START - 5));
            setter.advance(3 * TICK);
        });
        let mut mine = draw(&ids, 2);
        let theirs = thread.join().unwrap();
        step.join().unwrap();
        // The clock is back by 2 ticks now, and what is left of the tick is still drawn.
        mine.extend(draw(&ids, 1));
        let all = assert_unique_and_ordered(&[mine, theirs]);
        assert!(all.iter().all(|id| tick(*id) == START + 1), "I3: {all:?}");
        assert_eq!(all.len(), 2, "I5: {all:?}");
        assert!(matches!(ids.try_next_id(), Err(Error::ClockBehind { .. })));
    });
}

/// Two threads over the ends of two ticks, with a clock that one of them moves on.
#[test]
fn rollover_of_a_narrow_sequence() {
    model("rollover_of_a_narrow_sequence", Some(2), || {
        let clock = clock();
        let ids = ids(&clock);
        ids.turn();
        let (other, mover) = (ids.clone(), clock.clone());
        let thread = thread::spawn(move || {
            mover.advance(TICK);
            draw(&other, 2)
        });
        let mine = draw(&ids, 3);
        let theirs = thread.join().unwrap();
        let all = assert_unique_and_ordered(&[mine, theirs]);
        assert!(all.iter().all(|id| (START + 1..=START + 2).contains(&tick(*id))), "I3: {all:?}");
        // I5: what is left of the new tick is there, and no more.
        let rest = draw(&ids, 5);
        let new = all.iter().chain(&rest).filter(|id| tick(**id) == START + 2).count();
        assert_eq!(new, 2, "I5: {all:?} {rest:?}");
    });
}

#[test]
fn batches_against_single_ids() {
    model("batches_against_single_ids", None, || {
        let clock = clock();
        let ids = builder(&clock).clock(OnTurn::new(clock.clone())).lead(2 * TICK).build();
        let ids = Arc::new(ids.unwrap());
        clock.advance(2 * TICK);
        ids.turn();
        let other = ids.clone();
        let thread = thread::spawn(move || draw(&other, 2));
        let batch: Vec<_> = ids.try_next_ids(3).map(Iterator::collect).unwrap_or_default();
        let rest: Vec<_> = ids.try_next_ids(9).map(Iterator::collect).unwrap_or_default();
        let theirs = thread.join().unwrap();
        assert!(!batch.is_empty());
        assert_eq!(assert_unique_and_ordered(&[[batch, rest].concat(), theirs]).len(), 4, "I5");
    });
}

/// The time goes on by two ticks and the counter starts again from zero. Whoever knows that draws
/// from the new tick, whatever deadline others leave behind.
#[test]
fn a_counter_that_restarts_freezes_no_tick() {
    model("a_counter_that_restarts_freezes_no_tick", None, || {
        let clock = clock();
        let ids = ids(&clock);
        clock.set_raw(at(50));
        ids.turn();
        let other = ids.clone();
        let reader = thread::spawn(move || draw(&other, 1));
        let (other, setter) = (ids.clone(), clock.clone());
        let setter = thread::spawn(move || {
            setter.set_time(at(START + 3));
            setter.set_raw(0);
            draw(&other, 1)
        });
        let theirs = reader.join().unwrap();
        let mine = setter.join().unwrap();
        assert!(mine.iter().all(|id| tick(*id) == START + 3), "stale: {mine:?}");
        assert_eq!(assert_unique_and_ordered(&[mine, theirs]).len(), 2);
        let after = draw(&ids, 1);
        assert!(after.iter().all(|id| tick(*id) == START + 3), "stale: {after:?}");
    });
}

/// Two threads draw the first ids at once.
#[test]
fn the_first_ids() {
    model("the_first_ids", None, || {
        let clock = clock();
        let ids = Arc::new(builder(&clock).build().unwrap());
        let (other, mover) = (ids.clone(), clock.clone());
        let thread = thread::spawn(move || {
            mover.advance(TICK);
            draw(&other, 1)
        });
        let mine = draw(&ids, 1);
        let theirs = thread.join().unwrap();
        assert_eq!(theirs.len(), 1);
        let all = assert_unique_and_ordered(&[mine, theirs]);
        assert!(all.iter().all(|id| tick(*id) == START + 1), "start: {all:?}");
    });
}

/// A tick is full; one waits for the next, and another moves the clock.
#[test]
fn on_turn_against_a_waiting_generator() {
    model("on_turn_against_a_waiting_generator", None, || {
        let clock = clock();
        let ids = builder(&clock).clock(OnTurn::new(clock.clone())).build();
        let ids = Arc::new(ids.unwrap());
        clock.advance(TICK);
        assert_eq!(draw(&ids, 3).len(), 2);
        let other = ids.clone();
        let waiting = thread::spawn(move || other.next_id().unwrap());
        clock.advance(TICK);
        ids.turn();
        let mine = ids.next_id().unwrap();
        let theirs = waiting.join().unwrap();
        assert_unique_and_ordered(&[vec![mine], vec![theirs]]);
        assert_eq!((tick(mine), tick(theirs)), (START + 2, START + 2));
    });
}

/// One waits, and an id is kept back for it; nothing of that is drawn twice, or early.
#[test]
fn an_id_is_kept_back_for_a_waiter() {
    model("an_id_is_kept_back_for_a_waiter", Some(2), || {
        let clock = clock();
        // 8 numbers a tick, of which up to 2 are kept back.
        let layout = nivis::Layout::new(20, 1, 3);
        let ids = nivis::Generator::builder(layout).worker(0).clock(clock.clone()).build();
        let ids = Arc::new(ids.unwrap());
        clock.advance(TICK);
        assert_eq!(ids.try_next_ids(9).unwrap().len(), 8);
        let (other, shown) = (ids.clone(), clock.clone());
        let waiting = thread::spawn(move || {
            let id = other.next_id().unwrap();
            // A write, as in `assert_not_early`.
            shown.advance(Duration::ZERO);
            let now = shown.unix_nanos();
            assert!(at(layout.decompose(id).tick) <= now, "I3: {id} at {now}");
            id
        });
        assert!(ids.try_next_id().is_err(), "I3: the tick is full");
        clock.advance(TICK);
        let mut mine: Vec<_> = ids.try_next_ids(9).into_iter().flatten().collect();
        assert!(mine.len() >= 6, "{mine:?}");
        // Had it not begun to wait by then, all of the tick is gone.
        clock.advance(TICK);
        let theirs = waiting.join().unwrap();
        mine.extend(ids.try_next_ids(9).into_iter().flatten());
        assert_unique_and_ordered(&[mine, vec![theirs]]);
    });
}

/// A duration is what a refusal says, however it was raced for.
#[test]
fn refusals_name_the_next_tick() {
    model("refusals_name_the_next_tick", Some(3), || {
        let clock = clock();
        let ids = ids(&clock);
        let other = ids.clone();
        let thread = thread::spawn(move || (0..2).map(|_| other.try_next_id()).collect::<Vec<_>>());
        let mut drawn: Vec<_> = (0..2).map(|_| ids.try_next_id()).collect();
        drawn.extend(thread.join().unwrap());
        let refused: Vec<_> = drawn.iter().filter_map(|drawn| drawn.err()).collect();
        let next_tick = Error::Exhausted { retry_after: Duration::from_millis(1) };
        assert_eq!(refused, [next_tick; 2], "refusals");
        assert_eq!(NARROW.max_sequence(), 1);
    });
}

/// Who finds the tick fresh by another's deadline draws from a word of that tick.
#[test]
fn a_fresh_deadline_means_a_fresh_word() {
    model("a_fresh_deadline_means_a_fresh_word", None, || {
        let clock = clock();
        let ids = ids(&clock);
        ids.turn();
        // The tick is over, and both threads know it.
        clock.advance(TICK);
        let other = ids.clone();
        let turning = thread::spawn(move || other.turn());
        let mine = draw(&ids, 1);
        turning.join().unwrap();
        assert!(mine.iter().all(|id| tick(*id) == START + 2), "stale: {mine:?}");
        assert_eq!(mine.len(), 1);
    });
}

/// A thread is overtaken between its clock and its state: the other has drawn a later tick meanwhile.
/// It says that the tick is full, if anything, and never that the clock went back.
#[test]
fn an_overtaken_thread_is_no_rollback() {
    model("an_overtaken_thread_is_no_rollback", Some(3), || {
        let clock = clock();
        let ids = ids(&clock);
        let (other, mover) = (ids.clone(), clock.clone());
        let thread = thread::spawn(move || {
            mover.advance(3 * TICK);
            draw(&other, 2)
        });
        let mine = ids.try_next_id();
        assert!(!matches!(mine, Err(Error::ClockBehind { .. })), "a rollback: {mine:?}");
        let theirs = thread.join().unwrap();
        assert_unique_and_ordered(&[mine.into_iter().collect(), theirs]);
    });
}
