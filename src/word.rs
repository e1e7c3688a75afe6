//! The packed state, and the three things that may happen to it. Pure: no clock, no atomics.
//!
//! A generator's whole state is one word, *the next id to hand out*, packed as
//!
//! ```text
//!  63                                                                    0
//! +--------------------------------+------------------+-------------------+
//! |              tick              |     sequence     |      worker       |
//! +--------------------------------+------------------+-------------------+
//!                                                     ^ one = 1 << worker_bits
//! ```
//!
//! With the worker lowest, `+ one` counts the sequence and *carries into the tick*: exhaustion is no
//! special case. Beside it stands the *limit*, the first word that may not be handed out. Three verbs
//! act on the two, and each only moves things up:
//!
//! - [`take`] hands out the word and goes on to the next, while the limit allows it;
//! - *turn* brings the word up to the first of now ([`Shape::raise`]) and the limit to the end of
//!   now ([`Shape::limit`]);
//! - *grant* puts a new worker into the word, at a later tick ([`Shape::rebind`]).

use crate::Id;
use crate::layout::Widths;

/// Where the fields lie in the word, and how a word becomes an id.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// The bits that change places when a word becomes an id.
    field: u64,
    /// The first word past the layout's last tick.
    end: u64,
    /// One step of the sequence: `1 << worker_bits`, kept to save the hot path a shift.
    one: u64,
    tick_shift: u8,
    worker_bits: u8,
    tick_bits: u8,
    /// How far the worker moves down among `field`, and the sequence up: a rotation.
    right: u8,
    left: u8,
}

/// The next word, if the limit allows this one.
#[inline]
pub(crate) const fn take(word: u64, limit: u64, shape: &Shape) -> Option<u64> {
    // No overflow: a limit is at most `Shape::end`, and the word before that has room for one more.
    if word < limit { Some(word + shape.one()) } else { None }
}

/// The word after up to `n` of them, and how many those are, if the limit allows any.
#[inline]
pub(crate) const fn take_many(word: u64, limit: u64, n: u64, shape: &Shape) -> Option<(u64, u64)> {
    if word >= limit {
        return None;
    }
    // A limit has no worker bits, so the words `word + k * one` below it are these and one more.
    let allowed = ((limit - word - 1) >> shape.worker_bits) + 1;
    let n = if n < allowed { n } else { allowed };
    Some((word + (n << shape.worker_bits), n))
}

impl Shape {
    /// The shape of a layout, for `core_bits` of 0. With more, the top `core_bits` of the sequence
    /// belong to the worker: cores that share a worker count apart, and a carry goes past the core's
    /// bits into the tick.
    ///
    /// A core's worker is `worker << core_bits | core`, or with the worker last in the id,
    /// `core << worker_bits | worker`: see [`Shape::node`].
    pub(crate) const fn split(widths: Widths, core_bits: u8) -> Shape {
        let low = widths.worker + widths.sequence;
        let sequence = widths.sequence - core_bits;
        // Worker first:  tick | sequence | worker core  ->  tick | worker core | sequence
        // Worker last:   tick | sequence | core worker  ->  tick | core sequence | worker
        let (shift, right) = if widths.worker_last {
            (widths.worker, core_bits)
        } else {
            (0, widths.worker + core_bits)
        };
        Shape {
            field: ones(low) & !ones(shift),
            end: if widths.tick + low < 64 {
                1 << (widths.tick + low)
            } else {
                // 2^64 is no word. The last number of the last tick is given up for it.
                u64::MAX << (widths.worker + core_bits)
            },
            one: 1 << (widths.worker + core_bits),
            tick_shift: low,
            worker_bits: widths.worker + core_bits,
            tick_bits: widths.tick,
            right,
            left: sequence,
        }
    }

    /// The worker field of the word for a core's share of a worker.
    pub(crate) const fn node(widths: Widths, core_bits: u8, worker: u64, core: u64) -> u64 {
        if widths.worker_last {
            (core << widths.worker) | worker
        } else {
            (worker << core_bits) | core
        }
    }

    /// One step of the sequence.
    #[inline]
    pub(crate) const fn one(&self) -> u64 {
        self.one
    }

    /// The first word past the layout's last tick.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    pub(crate) const fn max_tick(&self) -> u64 {
        ones(self.tick_bits)
    }

    pub(crate) const fn tick(&self, word: u64) -> u64 {
        word >> self.tick_shift
    }

    pub(crate) const fn worker(&self, word: u64) -> u64 {
        word & ones(self.worker_bits)
    }

    /// The smallest word of a tick, worker 0; of any tick past the last one, the end.
    pub(crate) const fn first(&self, tick: u64) -> u64 {
        if tick <= self.max_tick() { tick << self.tick_shift } else { self.end }
    }

    /// The word in the layout's published order.
    #[inline]
    pub(crate) const fn id(&self, word: u64) -> Id {
        let moving = word & self.field;
        let moved = (moving >> self.right) | (moving << self.left);
        Id::from_u64((word & !self.field) | (moved & self.field))
    }

    /// The word whose id this is.
    #[cfg(test)]
    pub(crate) const fn word(&self, id: Id) -> u64 {
        let moving = id.as_u64() & self.field;
        let moved = (moving << self.right) | (moving >> self.left);
        (id.as_u64() & !self.field) | (moved & self.field)
    }

    /// *Turn*, first half: the first word of `now` for the same worker, if that is further up.
    ///
    /// With `spread`, sequences start at a value hashed from the tick within the lowest quarter of
    /// their range, so that ids drawn one a tick do not all end in the same bits. Saturated, the word
    /// has carried into the tick by itself, at 0, and stays there: no number is lost.
    pub(crate) const fn raise(&self, word: u64, now: u64, spread: bool) -> Option<u64> {
        if self.first(now) <= word {
            return None;
        }
        let start = if spread { self.spread(now) } else { 0 };
        let first = self.first(now) | self.worker(word);
        if now <= self.max_tick() { Some(first + (start << self.worker_bits)) } else { Some(first) }
    }

    /// *Turn*, second half: the first word that may not be handed out at `now`.
    pub(crate) const fn limit(&self, now: u64, lead: u64, lease_end: u64) -> u64 {
        let end = now.saturating_add(1).saturating_add(lead);
        self.first(if end < lease_end { end } else { lease_end })
    }

    /// A limit with so many ids below it kept back, up to a quarter of a tick's.
    pub(crate) const fn keep_back(&self, limit: u64, ids: u64) -> u64 {
        let quarter = 1 << (self.tick_shift - self.worker_bits) >> 2;
        let ids = if ids < quarter { ids } else { quarter };
        limit.saturating_sub(ids << self.worker_bits)
    }

    /// *Grant*: the word for a new worker, at a tick of its slice that no id has yet.
    pub(crate) const fn rebind(&self, word: u64, worker: u64, from: u64) -> u64 {
        let later = self.tick(word) + 1;
        self.first(if later > from { later } else { from }) | worker
    }

    const fn spread(&self, tick: u64) -> u64 {
        let sequence_bits = self.tick_shift - self.worker_bits;
        if sequence_bits <= 2 {
            return 0;
        }
        mix(tick) >> (64 - (sequence_bits - 2))
    }
}

/// Every bit of the tick in every bit of the result, so that no rate of drawing resonates with it; a
/// multiple of the golden ratio did, at 138 standard deviations for one id every 10 ms. (The finalizer
/// of `SplitMix64`: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014.)
const fn mix(tick: u64) -> u64 {
    let mut z = tick.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The largest value of so many bits, up to 64.
const fn ones(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layout;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The naive oracle: tick, sequence and worker apart, one id at a time, everything in `u128`.
    struct Oracle {
        layout: Layout,
        next: (u128, u128),
        largest_now: Option<u128>,
        lead: u128,
        worker: u64,
    }

    impl Oracle {
        fn turn(&mut self, now: u64) {
            let now = u128::from(now);
            self.largest_now = Some(self.largest_now.map_or(now, |n| n.max(now)));
            if self.next.0 < now {
                self.next = (now, 0);
            }
        }

        fn take(&mut self) -> Option<Id> {
            let (tick, sequence) = self.next;
            if tick > self.largest_now? + self.lead || tick > u128::from(self.layout.max_tick()) {
                return None;
            }
            let last_of_all =
                (u128::from(self.layout.max_tick()), u128::from(self.layout.max_sequence()));
            if self.layout.widths_sum() == 64 && self.next == last_of_all {
                return None;
            }
            self.next = if sequence == u128::from(self.layout.max_sequence()) {
                (tick + 1, 0)
            } else {
                (tick, sequence + 1)
            };
            let low = self.layout.widths().worker - self.layout.widths().datacenter;
            Some(
                self.layout
                    .compose(crate::Parts {
                        tick: tick as u64,
                        datacenter: self.worker >> low,
                        worker: self.worker & ones(low),
                        sequence: sequence as u64,
                    })
                    .unwrap(),
            )
        }
    }

    impl Layout {
        fn widths_sum(&self) -> u8 {
            let widths = self.widths();
            widths.tick + widths.worker + widths.sequence
        }
    }

    fn layouts() -> impl Strategy<Value = Layout> {
        (1_u32..=62, 0_u32..=20, 1_u32..=62, any::<bool>(), 0_u32..=20).prop_filter_map(
            "too wide",
            |(tick, worker, sequence, last, datacenter)| {
                let layout = Layout::try_new_unsigned(tick, worker, sequence).ok()?;
                let layout = layout.try_datacenter_bits(datacenter.min(worker)).ok()?;
                Some(if last { layout.worker_last() } else { layout })
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// The rule against the oracle: arbitrary layouts, clocks, leads and orders of verbs.
        #[test]
        fn take_and_turn_agree_with_the_oracle(
            layout in layouts(),
            worker in any::<u64>(),
            start in any::<u64>(),
            lead in prop_oneof![Just(0), 1_u64..5, any::<u64>()],
            verbs in prop::collection::vec((0_u8..8, 0_i64..6), 1..200),
        ) {
            let shape = Shape::split(layout.widths(), 0);
            let worker = worker & layout.max_worker();
            let start = start & layout.max_tick();
            let (mut word, mut limit) = (worker, 0);
            let mut oracle = Oracle { layout, next: (0, 0), largest_now: None, lead: u128::from(lead), worker };
            let mut now = start;
            let mut seen = BTreeSet::new();
            for (verb, by) in verbs {
                let (word_before, limit_before) = (word, limit);
                match verb {
                    // The clock goes anywhere near, back too, or from one end of the layout to the other.
                    0 => now = now.saturating_add_signed(by - 3).min(layout.max_tick()),
                    1 => now = if by == 0 { 0 } else { layout.max_tick() - (by.cast_unsigned() - 1).min(layout.max_tick()) },
                    2 | 3 => {
                        word = shape.raise(word, now, false).unwrap_or(word);
                        limit = limit.max(shape.limit(now, lead, u64::MAX));
                        oracle.turn(now);
                    }
                    4 => {
                        let n = [0, 1, 2, 5, 50, 300][by.cast_unsigned() as usize];
                        let many = take_many(word, limit, n, &shape);
                        let mut taken = 0;
                        while taken < n {
                            let Some(id) = oracle.take() else { break };
                            prop_assert_eq!(shape.id(word + (taken << shape.worker_bits)), id);
                            prop_assert!(seen.insert(id), "twice");
                            taken += 1;
                        }
                        prop_assert_eq!(many.map_or(0, |(_, n)| n), taken);
                        if let Some((next, _)) = many { word = next; }
                    }
                    _ => {
                        let taken = take(word, limit, &shape).map(|next| { let id = shape.id(word); word = next; id });
                        prop_assert_eq!(taken, oracle.take());
                        if let Some(id) = taken {
                            prop_assert!(seen.insert(id), "twice");
                            prop_assert_eq!(layout.node(id), worker);
                        }
                    }
                }
                // Everything only grows.
                prop_assert!(word >= word_before && limit >= limit_before);
            }
        }

        #[test]
        fn a_word_and_its_id_are_one_to_one(layout in layouts(), word in any::<u64>(), core_bits in 0_u8..4) {
            let widths = layout.widths();
            let shape = Shape::split(widths, core_bits.min(widths.sequence - 1));
            prop_assert_eq!(shape.word(shape.id(word)), word);
            prop_assert_eq!(shape.tick(word), layout.decompose(shape.id(word)).tick);
        }

        /// Cores of one worker: their ids carry the worker, and each keeps to its share of the sequence.
        #[test]
        fn a_core_keeps_to_its_share(layout in layouts(), worker in any::<u64>(), core in 0_u64..8, tick in any::<u64>(), n in any::<u64>()) {
            let widths = layout.widths();
            let core_bits = 3.min(widths.sequence - 1);
            let core = core & ones(core_bits);
            let shape = Shape::split(widths, core_bits);
            let worker = worker & layout.max_worker();
            let start = shape.first(tick & layout.max_tick()) | Shape::node(widths, core_bits, worker, core);
            let share = layout.max_sequence() >> core_bits;
            let id = shape.id(start + ((n & share) << shape.worker_bits));
            prop_assert_eq!(layout.node(id), worker);
            prop_assert_eq!(layout.decompose(id).sequence, (core * (share + 1)) + (n & share));
        }

        #[test]
        fn spread_stays_in_the_lowest_quarter_and_never_goes_down(layout in layouts(), word in any::<u64>(), now in any::<u64>()) {
            let shape = Shape::split(layout.widths(), 0);
            let word = word & (shape.end - 1);
            if let Some(raised) = shape.raise(word, now, true) {
                prop_assert!(raised > word);
                prop_assert_eq!(shape.worker(raised), shape.worker(word));
                if now <= layout.max_tick() {
                    prop_assert_eq!(shape.tick(raised), now);
                    prop_assert!(layout.decompose(shape.id(raised)).sequence <= layout.max_sequence() / 4);
                }
            } else {
                prop_assert!(shape.first(now) <= word);
            }
        }

        #[test]
        fn a_new_worker_starts_at_a_later_tick_inside_its_slice(layout in layouts(), word in any::<u64>(), worker in any::<u64>(), from in any::<u64>()) {
            let shape = Shape::split(layout.widths(), 0);
            let word = word & (shape.end - 1);
            let worker = worker & layout.max_worker();
            let from = from & layout.max_tick();
            let bound = shape.rebind(word, worker, from);
            prop_assert!(bound > word);
            if bound < shape.end {
                prop_assert_eq!(shape.worker(bound), worker);
                prop_assert!(shape.tick(bound) >= from && shape.tick(bound) > shape.tick(word));
            }
        }
    }

    #[test]
    fn spread_is_hashed_from_the_tick() {
        // The first output of `SplitMix64` with seed 0, and with the seeds that follow by its step.
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
        let shape = Shape::split(Layout::TWITTER.widths(), 0);
        for tick in [1, 2, 3_000_000_007] {
            let raised = shape.raise(5, tick, true).unwrap();
            let start = mix(tick) >> 54;
            assert_eq!(raised, (tick << 22) + (start << 10) + 5);
            assert_eq!(shape.raise(5, tick, false), Some((tick << 22) + 5));
        }
        assert!((1..100).any(|tick| shape.spread(tick) >= 1_000), "all of the quarter is used");
        // A sequence of 2 bits has no quarter to spread over, and one of 3 has 2 numbers.
        for (bits, starts) in [(1, 1), (2, 1), (3, 2), (4, 4)] {
            let narrow = Shape::split(Layout::new(30, 3, bits).widths(), 0);
            let seen: BTreeSet<u64> = (0..100).map(|tick| narrow.spread(tick)).collect();
            assert_eq!(seen, (0..starts).collect(), "{bits} bits");
        }
    }

    #[test]
    fn a_quarter_at_most_is_kept_back() {
        let shape = Shape::split(Layout::TWITTER.widths(), 0);
        let limit = shape.first(9);
        for (ids, kept) in [
            (0, 0),
            (1, 1),
            (16, 16),
            (1_023, 1_023),
            (1_024, 1_024),
            (1_025, 1_024),
            (u64::MAX, 1_024),
        ] {
            assert_eq!(shape.keep_back(limit, ids), limit - kept * shape.one(), "{ids}");
        }
        assert_eq!(shape.keep_back(0, 5), 0, "there is nothing to keep back");
        for (bits, kept) in [(1, 0), (2, 1), (3, 2)] {
            let narrow = Shape::split(Layout::new(30, 3, bits).widths(), 0);
            assert_eq!(
                narrow.keep_back(narrow.first(2), 9),
                narrow.first(2) - kept * 8,
                "{bits} bits"
            );
        }
    }

    #[test]
    fn the_carry_goes_into_the_tick() {
        let shape = Shape::split(Layout::TWITTER.widths(), 0);
        let last_of_tick_6 = (7 << 22) - 1;
        let next = take(last_of_tick_6, u64::MAX >> 1, &shape).unwrap();
        assert_eq!((shape.tick(last_of_tick_6), shape.tick(next)), (6, 7));
        assert_eq!(Layout::TWITTER.decompose(shape.id(next)).sequence, 0);
        assert_eq!(Layout::TWITTER.node(shape.id(next)), 1023);
    }
}
