//! Properties of layouts of all shapes, and of ids as text.
#![cfg(feature = "std")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nivis::{Generator, Id, Layout, ManualClock, ParseIdError, Parts};
use proptest::prelude::*;

/// Any layout that can be made.
fn layouts() -> impl Strategy<Value = Layout> {
    layouts_with(1..=62, 1..=62)
}

fn layouts_with(
    tick: std::ops::RangeInclusive<u32>,
    sequence: std::ops::RangeInclusive<u32>,
) -> impl Strategy<Value = Layout> {
    let widths = (tick, 0_u32..=40, sequence, any::<bool>());
    let rest = (any::<bool>(), 0_u32..=40, 1_000_u64..=1_000_000_000, 0_u64..=4_000_000_000_000);
    (widths, rest).prop_filter_map("too wide", |(widths, rest)| {
        let (tick, worker, sequence, unsigned) = widths;
        let (worker_last, datacenter, tick_nanos, epoch) = rest;
        let layout = if unsigned {
            Layout::try_new_unsigned(tick, worker, sequence)
        } else {
            Layout::try_new(tick, worker, sequence)
        };
        let layout = layout.ok()?.try_datacenter_bits(datacenter.min(worker)).ok()?;
        let layout = layout.try_tick(Duration::from_nanos(tick_nanos)).ok()?.epoch_unix_ms(epoch);
        Some(if worker_last { layout.worker_last() } else { layout })
    })
}

/// Fields that fit the layout, from any numbers.
fn fit(layout: &Layout, any: Parts) -> Parts {
    let mut worker_max = layout.max_worker();
    // What is left of the worker field below its datacenter bits.
    worker_max >>= layout.max_datacenter().count_ones();
    Parts {
        tick: any.tick & layout.max_tick(),
        datacenter: any.datacenter & layout.max_datacenter(),
        worker: any.worker & worker_max,
        sequence: any.sequence & layout.max_sequence(),
    }
}

fn parts() -> impl Strategy<Value = Parts> {
    any::<(u64, u64, u64, u64)>().prop_map(|(tick, datacenter, worker, sequence)| Parts {
        tick,
        datacenter,
        worker,
        sequence,
    })
}

/// The fields of an id read bit by bit, from the text of the number: nothing of the crate's arithmetic.
fn read_naively(layout: &Layout, id: Id, worker_last: bool) -> Parts {
    let bits = format!("{:064b}", id.as_u64());
    let width = |max: u64| max.count_ones() as usize;
    let (worker, sequence) = (width(layout.max_worker()), width(layout.max_sequence()));
    let low = &bits[64 - worker - sequence..];
    let number = |text: &str| u64::from_str_radix(text, 2).unwrap_or(0);
    let (worker_bits, sequence_bits) = if worker_last {
        (&low[sequence..], &low[..sequence])
    } else {
        (&low[..worker], &low[worker..])
    };
    let (datacenter, below) = worker_bits.split_at(width(layout.max_datacenter()));
    Parts {
        tick: number(&bits[..64 - worker - sequence]),
        datacenter: number(datacenter),
        worker: number(below),
        sequence: number(sequence_bits),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn compose_and_decompose_are_inverse(layout in layouts(), any in parts(), bits in any::<u64>()) {
        let fitting = fit(&layout, any);
        let id = layout.compose(fitting).unwrap();
        prop_assert_eq!(layout.decompose(id), fitting);
        // Any 64 bits come apart without loss, and go together again or are refused.
        let stray = layout.decompose(Id::from_u64(bits));
        match layout.compose(stray) {
            Ok(id) => prop_assert_eq!(id.as_u64(), bits),
            Err(_) => prop_assert!(stray.tick > layout.max_tick()),
        }
    }

    #[test]
    fn a_field_that_does_not_fit_is_refused(layout in layouts(), any in parts()) {
        let fits = fit(&layout, any) == any;
        prop_assert_eq!(layout.compose(any).is_ok(), fits);
    }

    #[test]
    fn decompose_reads_what_is_written(layout in layouts(), bits in any::<u64>()) {
        let id = Id::from_u64(bits);
        let worker_last = layout == layout.worker_last();
        prop_assert_eq!(layout.decompose(id), read_naively(&layout, id, worker_last));
    }

    #[test]
    fn ids_of_a_worker_sort_by_tick_then_sequence(layout in layouts(), a in parts(), b in parts(), same_tick in any::<bool>()) {
        let (a, mut b) = (fit(&layout, a), fit(&layout, b));
        (b.worker, b.datacenter) = (a.worker, a.datacenter);
        if same_tick {
            b.tick = a.tick;
        }
        let order = (a.tick, a.sequence).cmp(&(b.tick, b.sequence));
        prop_assert_eq!(layout.compose(a).unwrap().cmp(&layout.compose(b).unwrap()), order);
    }

    #[test]
    fn min_and_max_ids_bound_every_id_of_their_time(layout in layouts(), any in parts(), into_tick in 0.0..1.0) {
        let id = layout.compose(fit(&layout, any)).unwrap();
        let start = layout.unix_nanos(id);
        let far = u128::from(u64::MAX / 2) * 1_000_000_000;
        prop_assume!(start < far);
        let within = layout.tick_length().mul_f64(into_tick).as_nanos();
        let nanos = start + within.min(layout.tick_length().as_nanos() - 1);
        let t = UNIX_EPOCH + Duration::new((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32);
        let (min, max) = (layout.min_id_at(t).unwrap(), layout.max_id_at(t).unwrap());
        prop_assert!(min <= id && id <= max);
        prop_assert!(layout.timestamp(min) <= t && layout.timestamp(max) <= t);
        prop_assert_eq!(layout.timestamp(id), layout.timestamp(min));
        // And no other tick's.
        let tick = layout.decompose(id).tick;
        prop_assert_eq!((layout.decompose(min).tick, layout.decompose(max).tick), (tick, tick));
        prop_assert_eq!(min.as_u64().checked_sub(1).is_none_or(|b| layout.decompose(Id::from_u64(b)).tick < tick), true);
        prop_assert_eq!(max.as_u64().checked_add(1).is_none_or(|a| layout.decompose(Id::from_u64(a)).tick > tick), true);
        prop_assert!(t < layout.expires() || layout.expires() == layout.timestamp(Id::from_u64(u64::MAX)));
    }

    #[test]
    fn a_generator_of_any_layout_counts_through_its_ticks(layout in layouts_with(4..=50, 1..=10), worker in any::<u64>(), ticks in 1_u64..4) {
        let worker = worker & layout.max_worker();
        let epoch = layout.epoch() * 1_000_000;
        let clock = ManualClock::new(epoch);
        let ids = Generator::builder(layout).worker(worker).clock(&clock).build().unwrap();
        let mut last = None;
        for tick in 1..=ticks {
            clock.advance(layout.tick_length());
            for sequence in 0..=layout.max_sequence() {
                let id = ids.try_next_id().unwrap();
                prop_assert!(last < Some(id));
                last = Some(id);
                let parts = layout.decompose(id);
                prop_assert_eq!((parts.tick, parts.sequence, layout.node(id)), (tick, sequence, worker));
            }
            prop_assert!(ids.try_next_id().is_err());
        }
    }

    #[test]
    fn every_id_reads_back_from_its_text(bits in any::<u64>()) {
        let id = Id::from_u64(bits);
        prop_assert_eq!(id.to_string().parse::<Id>(), Ok(id));
        prop_assert_eq!(id.to_string(), bits.to_string());
        prop_assert_eq!(id.as_i64(), bits.cast_signed());
    }

    /// Any text: the same answer as a parser of its own, character by character, in 128 bits.
    #[test]
    fn any_text_is_an_id_or_a_named_error(text in "[0-9]{0,22}|\\PC{0,8}|[0-9]{1,19}[ +_a-]?[0-9]{0,3}") {
        let mut value = 0_u128;
        let mut stray = None;
        for (at, c) in text.char_indices() {
            match c.to_digit(10) {
                Some(digit) if c.is_ascii() => value = (value * 10 + u128::from(digit)).min(1 << 100),
                _ if stray.is_none() => stray = Some((at, c)),
                _ => {}
            }
        }
        let expected = match stray {
            _ if text.is_empty() => Err(ParseIdError::Empty),
            Some((at, found)) => Err(ParseIdError::NotADigit { at, found }),
            None => u64::try_from(value).map(Id::from_u64).map_err(|_| ParseIdError::TooLarge),
        };
        prop_assert_eq!(text.parse::<Id>(), expected);
    }
}

#[test]
fn times_outside_of_a_layout_are_refused() {
    let epoch = UNIX_EPOCH + Duration::from_millis(Layout::TWITTER.epoch());
    for (t, fits) in [
        (UNIX_EPOCH - Duration::from_secs(1), false),
        (UNIX_EPOCH, false),
        (epoch - Duration::from_nanos(1), false),
        (epoch, true),
        (SystemTime::now(), true),
        (Layout::TWITTER.expires() - Duration::from_nanos(1), true),
        (Layout::TWITTER.expires(), false),
    ] {
        assert_eq!(Layout::TWITTER.min_id_at(t).is_ok(), fits, "{t:?}");
        assert_eq!(Layout::TWITTER.max_id_at(t).is_ok(), fits, "{t:?}");
    }
}
