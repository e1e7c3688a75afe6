//! nivis's own generators, each beside the floor that it cannot go below, in the same run.
//!
//! ```text
//! cargo bench --bench generators                    # about two minutes
//! cargo bench --bench generators -- --quick         # a look, not a measurement
//! cargo bench --bench generators -- '2 threads'     # a part of it
//! ```
//!
//! A figure is wall time over ids, all threads together. Every sequence here is wide enough not to run
//! out: this is the cost of a call, not the ceiling of a layout. What else there is to measure, and
//! how other crates do, is in `benches/peers`.
//!
//! *Checked.* Inside the measured loop each thread compares each id with its last one: it must be
//! larger. That one compare is in the floors as well. Threads are compared with each other in a pass
//! that is not timed, over the same code: ids go into vectors, and all must be distinct.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::cell::Cell;
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nivis::{Clock, Generator, GeneratorBuilder, Ids, Layout, LocalGenerator, OnTurn, TscClock};

/// 8 million ids a millisecond: more than anything here can draw.
const WIDE: Layout = Layout::new(40, 0, 23).epoch_unix_ms(1_704_067_200_000);

/// A run is no shorter than this for each thread, so that threads that start apart still meet.
const SHORTEST: u64 = 200_000;

/// Ids of each thread in the pass that compares threads.
const CHECKED: u64 = 200_000;

/// Draws one id after another; one for each thread.
trait Hand: FnMut() -> u64 + Send {}
impl<F: FnMut() -> u64 + Send> Hand for F {}

fn generators(c: &mut Criterion) {
    for threads in [1, 2] {
        fresh(c, threads);
        on_turn(c, threads);
        blocks(c, threads);
    }
}

/// Time moves by itself: each id reads the counter.
fn fresh(c: &mut Criterion, threads: usize) {
    let group = if threads == 1 { "fresh clock/1 thread" } else { "fresh clock/2 threads" };
    measure(c, group, "floor: rdtsc", threads, |n| each(n, counting_hand));
    measure(c, group, "floor: TscClock::raw", threads, |n| {
        each(n, || {
            let (clock, mut last) = (TscClock::new(), 0);
            // The counter of one core may read the same twice; the id still has to grow.
            move || {
                last += 1 + (black_box(clock.raw()) & 1);
                last
            }
        })
    });
    measure(c, group, "LocalGenerator", threads, |n| locals(builder(), n));
    measure(c, group, "floor: rdtsc + swap", threads, |n| {
        shared(n, AtomicU64::new(0), |word| {
            black_box(counter());
            swap(word, 1, 0)
        })
    });
    measure(c, group, "floor: rdtsc + swap, 256 pauses when lost", threads, |n| {
        shared(n, AtomicU64::new(0), |word| {
            black_box(counter());
            swap(word, 1, 256)
        })
    });
    measure(c, group, "Generator", threads, |n| {
        shared(n, builder().build().unwrap(), |ids| ids.next_id().unwrap().as_u64())
    });
}

/// Time moves when it is told to, here only when the sequence runs out.
fn on_turn(c: &mut Criterion, threads: usize) {
    let group = if threads == 1 { "pushed clock/1 thread" } else { "pushed clock/2 threads" };
    let builder = || builder().clock(OnTurn::new(TscClock::new()));
    measure(c, group, "floor: Cell", threads, |n| {
        each(n, || {
            let word = Cell::new(0_u64);
            move || word.replace(word.get() + 1)
        })
    });
    measure(c, group, "LocalGenerator<OnTurn>", threads, |n| locals(builder(), n));
    measure(c, group, "floor: fetch_add", threads, |n| {
        shared(n, AtomicU64::new(0), |word| word.fetch_add(1, Ordering::Relaxed))
    });
    measure(c, group, "floor: swap", threads, |n| {
        shared(n, AtomicU64::new(0), |word| swap(word, 1, 0))
    });
    measure(c, group, "floor: swap, 256 pauses when lost", threads, |n| {
        shared(n, AtomicU64::new(0), |word| swap(word, 1, 256))
    });
    measure(c, group, "Generator<OnTurn>", threads, |n| {
        shared(n, builder().build().unwrap(), |ids| ids.next_id().unwrap().as_u64())
    });
}

/// 64 ids at once.
fn blocks(c: &mut Criterion, threads: usize) {
    let group = if threads == 1 { "blocks of 64/1 thread" } else { "blocks of 64/2 threads" };
    measure(c, group, "floor: rdtsc + swap for 64", threads, |n| {
        let word = Arc::new(AtomicU64::new(0));
        each(n, || {
            let (word, mut block) = (word.clone(), 0..0);
            move || {
                block.next().unwrap_or_else(|| {
                    black_box(counter());
                    let first = swap(&word, 64, 256);
                    block = first + 1..first + 64;
                    first
                })
            }
        })
    });
    measure(c, group, "Generator::next_ids", threads, |n| {
        let ids = Arc::new(builder().build().unwrap());
        each(n, || {
            let ids = ids.clone();
            block_hand(move || ids.next_ids(64).unwrap())
        })
    });
    measure(c, group, "LocalGenerator::next_ids", threads, |n| {
        let mut cores = builder().per_core(n).unwrap().into_iter();
        each(n, || {
            let ids = cores.next().unwrap();
            block_hand(move || ids.next_ids(64).unwrap())
        })
    });
}

fn builder() -> GeneratorBuilder {
    Generator::builder(WIDE)
}

fn each<H: Hand>(n: usize, hand: impl FnMut() -> H) -> Vec<H> {
    std::iter::repeat_with(hand).take(n).collect()
}

/// One thing that all threads draw from.
fn shared<G: Send + Sync>(
    n: usize,
    one: G,
    draw: impl Fn(&G) -> u64 + Copy + Send,
) -> Vec<impl Hand> {
    let one = Arc::new(one);
    each(n, || {
        let one = one.clone();
        move || draw(&one)
    })
}

fn locals<C: Clock + Clone + Send>(builder: GeneratorBuilder<C>, n: usize) -> Vec<impl Hand> {
    let draw = |ids: LocalGenerator<C>| move || ids.next_id().unwrap().as_u64();
    builder.per_core(n).unwrap().into_iter().map(draw).collect()
}

/// Draws one id at a time from one block after another.
fn block_hand(mut block: impl FnMut() -> Ids + Send) -> impl Hand {
    let mut ids = block();
    move || {
        loop {
            if let Some(id) = ids.next() {
                return id.as_u64();
            }
            ids = block();
        }
    }
}

/// The counter itself.
fn counting_hand() -> impl Hand {
    let mut last = 0;
    move || {
        last += 1 + (black_box(counter()) & 1);
        last
    }
}

/// What every shared generator comes down to. Pauses as nivis does, if told to.
#[inline]
fn swap(word: &AtomicU64, by: u64, pauses: u32) -> u64 {
    let mut found = word.load(Ordering::Relaxed);
    loop {
        let swapped =
            word.compare_exchange_weak(found, found + by, Ordering::Release, Ordering::Relaxed);
        match swapped {
            Ok(before) => return before,
            Err(now) if pauses == 0 => found = now,
            Err(_) => {
                (0..pauses).for_each(|_| spin_loop());
                found = word.load(Ordering::Relaxed);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: it only reads a register; kernels that forbid it to programs are not what this runs on.
    #[allow(unsafe_code, reason = "the floor is the instruction itself")]
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn counter() -> u64 {
    thread_local!(static CLOCK: TscClock = TscClock::new());
    CLOCK.with(Clock::raw)
}

fn measure<H: Hand>(
    c: &mut Criterion,
    group: &str,
    name: &str,
    threads: usize,
    hands: impl Fn(usize) -> Vec<H>,
) {
    assert_distinct(name, hands(threads));
    let mut group = c.benchmark_group(group);
    group.throughput(Throughput::Elements(1));
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|iterations| {
            let each = iterations.div_ceil(threads as u64).max(SHORTEST);
            let took = race(hands(threads), |hand| draw(hand, each, |_| ()));
            // Scaled down to what was asked for. The remainder of 2^53 ids is not missed.
            #[allow(clippy::cast_precision_loss)]
            let share = iterations as f64 / (each * threads as u64) as f64;
            took.mul_f64(share)
        });
    });
    group.finish();
}

/// Draws `n` ids, of which each must be larger than the one before.
#[inline]
fn draw(hand: &mut impl Hand, n: u64, mut keep: impl FnMut(u64)) {
    let (mut last, mut ordered) = (hand(), true);
    keep(last);
    for _ in 1..n {
        let id = black_box(hand());
        ordered &= id > last;
        last = id;
        keep(id);
    }
    assert!(ordered, "ids of one thread must increase");
}

/// Ids of different threads must differ, unless each thread counts for itself.
fn assert_distinct<H: Hand>(name: &str, hands: Vec<H>) {
    if ["floor: rdtsc", "floor: TscClock::raw", "floor: Cell"].contains(&name) {
        return;
    }
    let drawn = std::sync::Mutex::new(Vec::new());
    race(hands, |hand| {
        let mut ids = Vec::with_capacity(CHECKED as usize);
        draw(hand, CHECKED, |id| ids.push(id));
        drawn.lock().unwrap().append(&mut ids);
    });
    let mut drawn = drawn.into_inner().unwrap();
    drawn.sort_unstable();
    assert!(drawn.windows(2).all(|two| two[0] < two[1]), "{name} drew an id twice");
}

/// Runs all hands at once: from the first start to the last end.
fn race<H: Hand>(hands: Vec<H>, work: impl Fn(&mut H) + Sync) -> Duration {
    let (threads, ready) = (hands.len(), AtomicUsize::new(0));
    let run = |mut hand: H| {
        // Out of the way of what is measured: the first id waits for a tick, and pages are touched.
        black_box(hand());
        ready.fetch_add(1, Ordering::AcqRel);
        while ready.load(Ordering::Acquire) < threads {
            // Two threads may have to share a core.
            thread::yield_now();
        }
        let start = Instant::now();
        work(&mut hand);
        (start, Instant::now())
    };
    let times: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = hands.into_iter().map(|hand| scope.spawn(|| run(hand))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let start = times.iter().map(|time| time.0).min().unwrap();
    let end = times.iter().map(|time| time.1).max().unwrap();
    end - start
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(30)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2));
    targets = generators
}
criterion_main!(benches);
