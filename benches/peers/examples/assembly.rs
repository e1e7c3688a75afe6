//! The hot paths as functions of their own, for a disassembler: see "The assembly" in
//! `benches/README.md`.

use std::hint::black_box;

use nivis::{Error, Generator, Id, Layout, LocalGenerator, OnTurn, TscClock};

/// [`Generator`] on the default clock.
#[inline(never)]
fn shared(ids: &Generator) -> Result<Id, Error> {
    ids.next_id()
}

/// [`Generator`] on a pushed clock.
#[inline(never)]
fn shared_on_turn(ids: &Generator<OnTurn<TscClock>>) -> Result<Id, Error> {
    ids.next_id()
}

/// [`LocalGenerator`] on the default clock.
#[inline(never)]
fn local(ids: &LocalGenerator) -> Result<Id, Error> {
    ids.next_id()
}

/// [`LocalGenerator`] on a pushed clock.
#[inline(never)]
fn local_on_turn(ids: &LocalGenerator<OnTurn<TscClock>>) -> Result<Id, Error> {
    ids.next_id()
}

fn main() {
    let builder = || Generator::builder(Layout::TWITTER).worker(1);
    let on_turn = || builder().clock(OnTurn::new(TscClock::new()));
    let shown = [
        shared(black_box(&builder().build().unwrap())),
        shared_on_turn(black_box(&on_turn().build().unwrap())),
        local(black_box(&builder().build_local().unwrap())),
        local_on_turn(black_box(&on_turn().build_local().unwrap())),
    ];
    for id in shown {
        println!("{id:?}");
    }
}
