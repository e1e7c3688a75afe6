//! Atomics and waiting: std's, or loom's. The only such switch in the crate.
//!
//! It takes both `--cfg loom` *and* the feature `loom`: a global `--cfg loom` in somebody else's
//! build leaves nivis on std's atomics, opaque to their model and working, with `const` constructors
//! for statics. Crossbeam's `Backoff` spins invisibly to loom, so everything that waits for another
//! thread goes through [`relax`].

#[cfg(not(all(loom, feature = "loom")))]
mod imp {
    #[cfg(feature = "std")]
    pub(crate) use core::sync::atomic::AtomicI64;
    pub(crate) use core::sync::atomic::{AtomicU64, Ordering};

    /// How many pauses a thread makes after a lost compare-and-swap. While it pauses, the winner
    /// keeps the cache line and draws on; measured in `benches/README.md`.
    const PAUSES: u32 = 256;

    /// Leaves the cache line to the thread that won the last compare-and-swap.
    #[cold]
    pub(crate) fn back_off() {
        for _ in 0..PAUSES {
            core::hint::spin_loop();
        }
    }

    /// Lets other threads go on while this one waits for time to pass.
    #[cfg(feature = "std")]
    pub(crate) fn relax() {
        std::thread::yield_now();
    }

    /// Sleeps; under loom time is what the model says it is, so there it yields.
    #[cfg(feature = "std")]
    pub(crate) fn sleep(duration: core::time::Duration) {
        std::thread::sleep(duration);
    }

    /// Real time since the start of a wait, whatever the generator's own clock says.
    #[cfg(feature = "std")]
    pub(crate) struct Stopwatch(std::time::Instant);

    #[cfg(feature = "std")]
    impl Stopwatch {
        pub(crate) fn start() -> Self {
            Self(std::time::Instant::now())
        }

        pub(crate) fn elapsed(&self) -> core::time::Duration {
            self.0.elapsed()
        }
    }
}

#[cfg(all(loom, feature = "loom"))]
mod imp {
    #[cfg(feature = "std")]
    pub(crate) use loom::sync::atomic::AtomicI64;
    pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};

    /// Nothing: a lost compare-and-swap is retried at once, so that a model sees every retry.
    pub(crate) fn back_off() {}

    #[cfg(feature = "std")]
    pub(crate) fn relax() {
        loom::thread::yield_now();
    }

    #[cfg(feature = "std")]
    pub(crate) fn sleep(_: core::time::Duration) {
        loom::thread::yield_now();
    }

    /// Stands still: a model is about orders, not about real time, and must replay exactly.
    #[cfg(feature = "std")]
    pub(crate) struct Stopwatch;

    #[cfg(feature = "std")]
    impl Stopwatch {
        pub(crate) fn start() -> Self {
            Self
        }

        #[allow(clippy::unused_self, reason = "as std's")]
        pub(crate) fn elapsed(&self) -> core::time::Duration {
            core::time::Duration::ZERO
        }
    }
}

pub(crate) use imp::*;
