//! The bugs, the model that must catch each, and the words that it must fail with.
//!
//! # What loom cannot see
//!
//! Loom runs each thread in program order and lets loads see old stores; it never lets a load see a
//! store of the future, nor a store pass another store of its thread. So it cannot tell `Release` from
//! `Relaxed` where the other side only ever meets the value in a compare-and-swap, which reads the
//! newest one. Weakening any of these passes every model here, and stands on words alone, in
//! `generator.rs`:
//!
//! - the release in `take` and the acquire-release in `grant`, that put the take's load of the limit
//!   before the rise of `lease_end` (I4);
//! - the release of `lease_end` in `grant` and its acquire in `look`;
//! - the release of the deadline in `apply` and its acquire in `is_fresh`;
//! - the release of the first limit in `apply` and its acquire there (`started`).
//!
//! The *order of the steps* in each of those pairs is seeded below.

/// A bug.
pub struct Twin {
    pub name: &'static str,
    /// The file that holds `from`, exactly once.
    pub file: &'static str,
    pub from: &'static str,
    pub to: &'static str,
    /// The file of models, under `tests/`.
    pub test: &'static str,
    /// The model.
    pub model: &'static str,
    /// What its panic must say.
    pub says: &'static str,
}

const GENERATOR: &str = "src/generator.rs";
const WORD: &str = "src/word.rs";
const PLAN: &str = "src/plan.rs";
const STEER: &str = "src/clock/steer.rs";

/// Those that a quick run takes come first.
pub const TWINS: &[Twin] = &[
    Twin {
        name: "take_without_a_swap",
        file: GENERATOR,
        from: "let id = shape.id(word);",
        to: "let id = shape.id(word);
            if true {
                self.word.store(next, Ordering::Release);
                return Some(id);
            }",
        test: "generator",
        model: "take_against_take_2x3",
        says: "I1",
    },
    Twin {
        name: "lease_end_raised_before_the_worker_is_swapped",
        file: GENERATOR,
        from: "let mut word = self.word.load(Ordering::Relaxed);
        while shape.worker(word) != worker",
        to: "self.rest.lease_end.fetch_max(end, Ordering::Release);
        let mut word = self.word.load(Ordering::Relaxed);
        while shape.worker(word) != worker",
        test: "lease",
        model: "a_change_of_worker_while_ids_are_drawn",
        says: "I4",
    },
    Twin {
        name: "steer_without_the_peak",
        file: STEER,
        from: "self.peak.fetch_max(time, Ordering::Relaxed).max(time)",
        to: "time",
        test: "steer",
        model: "down_by_slowing_and_never_back",
        says: "time went back",
    },
    Twin {
        name: "carry_lost_at_rollover",
        file: WORD,
        from: "if word < limit { Some(word + shape.one()) } else { None }",
        to: "if word < limit {
        let low = ones(shape.tick_shift);
        Some((word & !low) | ((word + shape.one()) & low))
    } else {
        None
    }",
        test: "generator",
        model: "take_against_take_2x3",
        says: "I2",
    },
    Twin {
        name: "batch_without_a_swap",
        file: GENERATOR,
        from: "let (next, taken) = take_many(word, limit, n as u64, shape)?;",
        to: "let (next, taken) = take_many(word, limit, n as u64, shape)?;
            if true {
                self.word.store(next, Ordering::Release);
                return Some(Ids::new(*shape, word, taken));
            }",
        test: "generator",
        model: "batches_against_single_ids",
        says: "I1",
    },
    Twin {
        name: "raise_without_a_swap",
        file: GENERATOR,
        from: "while let Some(next) = rest.plan.raise(word, look, started) {",
        to: "while let Some(next) = rest.plan.raise(word, look, started) {
            if true {
                self.word.store(next, Ordering::Release);
                break;
            }",
        test: "generator",
        model: "take_against_turn",
        says: "I",
    },
    Twin {
        name: "turn_lowers_the_word",
        file: WORD,
        from: "if self.first(now) <= word {",
        to: "if self.first(now) == word & !ones(self.tick_shift) {",
        test: "generator",
        model: "take_against_a_clock_that_steps_back",
        says: "I",
    },
    Twin {
        name: "limit_stored_not_raised",
        file: GENERATOR,
        from: "rest.limit.fetch_max(limit, Ordering::Release);",
        to: "rest.limit.store(limit, Ordering::Release);",
        test: "generator",
        model: "take_against_a_clock_that_steps_back",
        says: "I5",
    },
    Twin {
        name: "limit_of_the_next_tick",
        file: PLAN,
        from: "limit: self.shape.limit(tick, self.lead, lease_end),",
        to: "limit: self.shape.limit(tick + 1, self.lead, lease_end),",
        test: "generator",
        model: "take_against_turn",
        says: "I3",
    },
    Twin {
        name: "deadline_without_a_window",
        file: PLAN,
        from: "deadline.wrapping_sub(self.clock.raw()).wrapping_sub(1) < self.window.get()",
        to: "self.clock.raw() < deadline && self.window.get() > 0",
        test: "generator",
        model: "a_counter_that_restarts_freezes_no_tick",
        says: "stale",
    },
    Twin {
        name: "a_slice_that_ends_before_the_last_one",
        file: "loom-tests/tests/lease.rs",
        from: "change_of_worker(1, START + 7, START + 7);",
        to: "change_of_worker(1, START + 7, START + 4);",
        test: "lease",
        model: "a_new_slice_that_ends_with_the_old_one",
        says: "I4",
    },
];
