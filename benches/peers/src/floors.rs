//! Floors: the instructions that a generator cannot do without, as contestants.
//!
//! They hand out numbers that are as unique as ids, pay for the same loop and the same store into the
//! same kind of buffer, and do nothing else.

use std::cell::Cell;
use std::hint::{black_box, spin_loop};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::contestants::Contestant;
use crate::hands::{each, shared};

/// What nivis pauses after a lost swap; see `src/sync.rs`.
const PAUSES: u32 = 256;

/// The floor of a shared generator that reads a counter with every id.
pub const RDTSC_SWAP: &str = "floor: rdtsc + swap, pauses when lost";
/// The floor of one generator per thread that reads a counter with every id.
pub const RDTSC: &str = "floor: rdtsc";
/// The floor of a shared generator whose time is pushed.
pub const SWAP: &str = "floor: swap, pauses when lost";
/// The floor of one generator per thread whose time is pushed.
pub const CELL: &str = "floor: Cell";
/// The floor of blocks.
pub const BLOCK: &str = "floor: rdtsc + swap for 64";
/// What is left if the call does nothing: the loop, the store, and where calls are timed, the timer.
pub const NOTHING: &str = "floor: nothing";

/// Floors of calls that read the time.
pub fn fresh() -> Vec<Contestant> {
    vec![
        Contestant::floor(RDTSC, each(counts, |own: &mut Cell<u64>| ticking(own))),
        Contestant::floor(
            "floor: rdtsc + swap",
            shared(zero, |word| {
                black_box(counter());
                swap(word, 1, 0)
            }),
        ),
        Contestant::floor(
            RDTSC_SWAP,
            shared(zero, |word| {
                black_box(counter());
                swap(word, 1, PAUSES)
            }),
        ),
        Contestant::floor(BLOCK, each(blocks, |own: &mut Block| own.next())),
    ]
}

/// Floors of calls that do not.
pub fn pushed() -> Vec<Contestant> {
    vec![
        Contestant::floor(CELL, each(counts, |own: &mut Cell<u64>| own.replace(own.get() + 1))),
        Contestant::floor(
            "floor: fetch_add",
            shared(zero, |word| word.fetch_add(1, Ordering::Relaxed)),
        ),
        Contestant::floor("floor: swap", shared(zero, |word| swap(word, 1, 0))),
        Contestant::floor(SWAP, shared(zero, |word| swap(word, 1, PAUSES))),
    ]
}

/// An empty call, for what the harness itself costs.
pub fn nothing() -> Contestant {
    // The store of a counter in a register, and the register.
    Contestant::floor(NOTHING, each(counts, |own: &mut Cell<u64>| own.replace(own.get() + 1)))
}

fn zero() -> AtomicU64 {
    AtomicU64::new(0)
}

/// A count for each thread, far from those of others.
fn counts(threads: usize) -> Vec<Cell<u64>> {
    (0..threads as u64).map(|thread| Cell::new(thread << 48)).collect()
}

/// Grows with every call, by what the counter says as well: its value has to be waited for.
#[inline]
fn ticking(own: &Cell<u64>) -> u64 {
    own.replace(own.get() + 1 + (counter() & 1))
}

/// What every shared generator comes down to.
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

struct Block {
    word: Arc<AtomicU64>,
    left: Range<u64>,
}

fn blocks(threads: usize) -> Vec<Block> {
    let word = Arc::new(zero());
    (0..threads).map(|_| Block { word: word.clone(), left: 0..0 }).collect()
}

impl Block {
    #[inline]
    fn next(&mut self) -> u64 {
        self.left.next().unwrap_or_else(|| {
            black_box(counter());
            let first = swap(&self.word, 64, PAUSES);
            self.left = first + 1..first + 64;
            first
        })
    }
}

/// The processor's counter, and nothing around it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn counter() -> u64 {
    // SAFETY: it only reads a register.
    #[allow(unsafe_code, reason = "the floor is the instruction itself")]
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn counter() -> u64 {
    thread_local!(static CLOCK: quanta::Clock = quanta::Clock::new());
    CLOCK.with(quanta::Clock::raw)
}

/// A stamp for one call: nothing of the call may start before it or end after it.
#[inline]
pub fn stamp(clock: &quanta::Clock) -> u64 {
    fence();
    let raw = clock.raw();
    fence();
    raw
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn fence() {
    // SAFETY: it only waits for the instructions before it.
    #[allow(unsafe_code, unused_unsafe, reason = "the counter may be read out of order")]
    unsafe {
        core::arch::x86_64::_mm_lfence();
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn fence() {
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
}
