//! The bugs, the model that must catch each, and the words that it must fail with.
//!
//! # What loom cannot see
//!
//! Loom runs each thread in program order and lets loads see old stores; it never lets a load see a
//! store of the future, nor a store pass another store of its thread. So it cannot tell `Release` from
//! `Relaxed` where the other side only ever meets the value in a compare-and-swap, which reads the
//! newest one. With all of these weakened at once every quick model here passes, so that they stand on
//! the words in `generator.rs`:
//!
//! - the release in `take` and the acquire-release in `grant`, that put the take's load of the limit
//!   before the rise of `lease_end` (I4);
//! - the release of `lease_end` in `grant` and its acquire in `look`;
//! - the release of the deadline in `apply` and its acquire in `is_fresh`;
//! - the release of the first limit in `apply` and its acquire there (`started`).
//!
//! The *order of the steps* in most of those pairs is seeded below. Nor does loom's search find all: it
//! remembers the last access to an atomic, and a thread's own load before its compare-and-swap hides
//! what another thread loaded before. What comes first in a model decides what it finds; hence the twins.

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
        says: "stale",
    },
    Twin {
        name: "turn_lowers_the_word",
        file: WORD,
        from: "if self.first(now) <= word {",
        to: "if self.first(now) == word & !ones(self.tick_shift) {",
        test: "generator",
        model: "take_against_a_clock_that_steps_back",
        says: "I2",
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
    Twin {
        name: "a_lost_swap_taken_for_a_won_one",
        file: GENERATOR,
        from: "Ok(_) => return Some(id),",
        to: "Ok(_) | Err(_) if true => return Some(id),
                Ok(_) => return None,",
        test: "generator",
        model: "take_against_take_3x2",
        says: "I1",
    },
    Twin {
        name: "a_batch_that_takes_one_too_few",
        file: GENERATOR,
        from: "let (next, taken) = take_many(word, limit, n as u64, shape)?;",
        to: "let (next, taken) = take_many(word, limit, n as u64, shape)?;
            let next = if taken > 1 { next - shape.one() } else { next };",
        test: "batches",
        model: "batches_against_batches_and_single_ids",
        says: "I1",
    },
    Twin {
        name: "deadline_before_the_word",
        file: GENERATOR,
        from: "let started = rest.limit.load(Ordering::Acquire) > 0;",
        to: "let started = rest.limit.load(Ordering::Acquire) > 0;
        rest.deadline.store(look.deadline, Ordering::Release);",
        test: "generator",
        model: "a_fresh_deadline_means_a_fresh_word",
        says: "stale",
    },
    Twin {
        name: "a_deadline_that_is_over_only_for_a_tick",
        file: PLAN,
        from: "deadline.wrapping_sub(self.clock.raw()).wrapping_sub(1) < self.window.get()",
        to: "self.clock.raw().wrapping_sub(deadline) >= self.window.get()",
        test: "clocks",
        model: "two_readers_and_a_counter_that_restarts",
        says: "stale",
    },
    Twin {
        name: "counter_of_a_clock_without_its_time",
        file: "src/clock/manual.rs",
        from: "self.raw.fetch_add(nanos(d), Ordering::Release);",
        to: "self.raw.fetch_add(nanos(d), Ordering::Relaxed);",
        test: "clocks",
        model: "a_deadline_is_no_older_than_its_counter",
        says: "stale",
    },
    Twin {
        name: "the_clock_is_read_before_the_word",
        file: GENERATOR,
        from: "            let word = self.word.load(Ordering::Acquire);
            let look = self.look()?;",
        to: "            let look = self.look()?;
            let word = self.word.load(Ordering::Acquire);",
        test: "generator",
        model: "an_overtaken_thread_is_no_rollback",
        says: "a rollback",
    },
    Twin {
        name: "the_word_before_the_clock_is_relaxed",
        file: GENERATOR,
        from: "            let word = self.word.load(Ordering::Acquire);
            let look = self.look()?;",
        to: "            let word = self.word.load(Ordering::Relaxed);
            let look = self.look()?;",
        test: "clocks",
        model: "a_clock_that_only_goes_on_is_never_behind",
        says: "behind",
    },
    Twin {
        name: "a_raise_that_releases_nothing",
        file: GENERATOR,
        from:
            "// Release and relaxed as in `take`.
            match self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed)",
        to: "match self.word.compare_exchange_weak(word, next, Ordering::Relaxed, Ordering::Relaxed)",
        test: "clocks",
        model: "a_clock_that_only_goes_on_is_never_behind",
        says: "behind",
    },
    Twin {
        name: "lead_of_one_tick_more",
        file: WORD,
        from: "let end = now.saturating_add(1).saturating_add(lead);",
        to: "let end = now.saturating_add(1).saturating_add(lead).saturating_add(lead);",
        test: "clocks",
        model: "a_clock_that_goes_to_and_fro",
        says: "I3",
    },
    Twin {
        name: "lease_end_not_asked",
        file: PLAN,
        from: "limit: self.shape.limit(tick, self.lead, lease_end),",
        to: "limit: self.shape.limit(tick, self.lead, u64::MAX),",
        test: "lease",
        model: "the_end_of_a_slice_while_the_clock_goes_on",
        says: "I4",
    },
    Twin {
        name: "a_renewal_that_is_lost",
        file: GENERATOR,
        from: "self.rest.lease_end.fetch_max(end, Ordering::Release);",
        to: "self.rest.lease_end.compare_exchange(end, end, Ordering::Release, Ordering::Relaxed).ok();",
        test: "lease",
        model: "a_renewal_while_ids_are_drawn",
        says: "the renewal is lost",
    },
    Twin {
        name: "a_late_renewal_that_cuts_the_slice",
        file: GENERATOR,
        from: "self.rest.lease_end.fetch_max(end, Ordering::Release);",
        to: "self.rest.lease_end.store(end, Ordering::Release);",
        test: "lease",
        model: "two_grants_at_once",
        says: "the slice was cut",
    },
    Twin {
        name: "limit_before_the_first_raise",
        file: GENERATOR,
        from: "let started = rest.limit.load(Ordering::Acquire) > 0;",
        to: "let started = rest.limit.load(Ordering::Acquire) > 0;
        rest.limit.fetch_max(look.limit, Ordering::Release);",
        test: "start",
        model: "the_first_calls_of_a_static_generator",
        says: "start: ",
    },
    Twin {
        name: "a_start_in_the_tick_that_it_finds",
        file: GENERATOR,
        from: "rest.plan.raise(word, look, started)",
        to: "rest.plan.raise(word, look, started || !started)",
        test: "start",
        model: "two_first_calls_in_one_tick",
        says: "start: ",
    },
    Twin {
        name: "a_builder_that_starts_in_its_own_tick",
        file: PLAN,
        from: "now.saturating_add(1).saturating_add(self.lead)",
        to: "now.saturating_add(self.lead)",
        test: "generator",
        model: "the_first_ids",
        says: "start: ",
    },
    Twin {
        name: "a_waiter_past_every_limit",
        file: GENERATOR,
        from: "limit = look.limit;",
        to: "limit = u64::MAX;",
        test: "generator",
        model: "an_id_is_kept_back_for_a_waiter",
        says: "I3",
    },
    Twin {
        name: "a_waiting_batch_past_every_limit",
        file: GENERATOR,
        from: "limit = look.limit;",
        to: "limit = u64::MAX;",
        test: "batches",
        model: "a_batch_that_waits_against_single_ids",
        says: "I3",
    },
    Twin {
        name: "a_waiter_that_lets_nobody_on",
        file: "src/sync.rs",
        from: "pub(crate) fn sleep(_: core::time::Duration) {
        loom::thread::yield_now();",
        to: "pub(crate) fn sleep(_: core::time::Duration) {",
        test: "generator",
        model: "on_turn_against_a_waiting_generator",
        says: "exceeded maximum number of branches",
    },
    Twin {
        name: "a_refusal_that_names_a_later_tick",
        file: PLAN,
        from: "let due = tick.saturating_sub(self.lead).max(look.tick + 1);",
        to: "let due = (tick + 1).saturating_sub(self.lead).max(look.tick + 1);",
        test: "generator",
        model: "refusals_name_the_next_tick",
        says: "refusals",
    },
    Twin {
        name: "a_carry_that_skips_a_number",
        file: WORD,
        from: "if word < limit { Some(word + shape.one()) } else { None }",
        to: "if word < limit {
        let next = word + shape.one();
        let first = shape.first(shape.tick(next)) + shape.one();
        Some(if next < first { next + shape.one() } else { next })
    } else {
        None
    }",
        test: "generator",
        model: "rollover_of_a_narrow_sequence",
        says: "I5",
    },
    Twin {
        name: "steer_undoes_a_rise",
        file: STEER,
        from: "let _ =
                self.offset.compare_exchange(offset, next, Ordering::Relaxed, Ordering::Relaxed);",
        to: "self.offset.store(next, Ordering::Relaxed);",
        test: "steer",
        model: "up_at_once_against_down",
        says: "undone",
    },
    Twin {
        name: "a_jump_that_is_watched_whatever_its_size",
        file: STEER,
        from: "if !wild.leads_to(low) {",
        to: "if wild == TAME {",
        test: "steer",
        model: "a_wild_jump_does_not_inherit_the_age_of_another",
        says: "wild",
    },
    Twin {
        name: "steer_slows_twice_for_one_stretch",
        file: STEER,
        from: "                .is_ok()",
        to: "                .is_ok_and(|_| true)
                | true",
        test: "steer",
        model: "down_by_slowing_and_never_back",
        says: "is not in",
    },
];
