//! Tells a forked child from its parent, for the price of two loads. The crate's only `unsafe`.
//!
//! A `fork()` copies a generator with its state, so that parent and child would hand out the same
//! ids. Asking `getpid()` costs a system call. Instead, one page of the process is marked
//! `MADV_WIPEONFORK` (Linux 4.14): a child sees it empty, whichever way it was forked, `clone()`
//! without `CLONE_VM` included. The page holds the *generation* of the process; a generator remembers
//! the one that it was built in, and does not go on in another.
//!
//! Where there is no such page (another system, an old kernel), a `pthread_atfork` handler empties
//! the mark in the child; a raw `clone()` is then not seen. Where there is neither (Windows,
//! WebAssembly, no `std`) there is no `fork()` to see.
//!
//! This module names orderings of its own: it stays on std's atomics under loom, as forking is not
//! a matter of threads.

#[cfg(all(unix, feature = "std"))]
#[allow(unsafe_code, reason = "the page, and the handler where there is no page")]
mod imp {
    use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
    use std::sync::Once;

    /// The mark of a process that has built no generator yet, and for systems without the page.
    static FALLBACK: AtomicU64 = AtomicU64::new(0);
    /// Where the mark is. Points to an `AtomicU64` that lives as long as the process, always.
    static MARK: AtomicPtr<AtomicU64> = AtomicPtr::new((&raw const FALLBACK).cast_mut());
    /// Copied to a child as it stands, so that a child's generations are none of its ancestors'.
    static GENERATIONS: AtomicU64 = AtomicU64::new(0);

    /// The process's generation, or 0 in a child that has not asked [`current`] yet.
    #[inline]
    pub(crate) fn generation() -> u64 {
        // Acquire: whoever sees the page sees it mapped. Relaxed: the mark stands alone.
        mark().load(Ordering::Relaxed)
    }

    #[inline]
    fn mark() -> &'static AtomicU64 {
        // SAFETY: `MARK` only ever holds `FALLBACK` or the start of a page that `page` mapped
        // readable and writable and that nobody unmaps; both are aligned and valid for ever. A page
        // that the kernel wiped is all zeros, which is an `AtomicU64`.
        unsafe { &*MARK.load(Ordering::Acquire) }
    }

    /// The process's generation; a child's first call gives it one of its own.
    pub(crate) fn current() -> u64 {
        static PREPARE: Once = Once::new();
        PREPARE.call_once(|| match page() {
            // Release: the page is mapped before it is pointed to.
            Some(page) => MARK.store(page, Ordering::Release),
            None => watch_forks(),
        });
        // Relaxed: uniqueness is all that matters, and each is one atomic operation.
        let mine = GENERATIONS.fetch_add(1, Ordering::Relaxed) + 1;
        match mark().compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => mine,
            Err(generation) => generation,
        }
    }

    #[cfg(target_os = "linux")]
    fn page() -> Option<*mut AtomicU64> {
        use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
        // One word is used; the kernel wipes whole pages, and rounds a length up to them.
        const LENGTH: usize = 1;
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches nothing else.
        let page = unsafe {
            mmap_anonymous(
                core::ptr::null_mut(),
                LENGTH,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }
        .ok()?;
        // SAFETY: the advice covers that mapping alone, and nobody else knows it.
        if unsafe { madvise(page, LENGTH, Advice::LinuxWipeOnFork) }.is_err() {
            // SAFETY: the same mapping, not used by anybody. If it stays, a page is lost, no more.
            let _ = unsafe { munmap(page, LENGTH) };
            return None;
        }
        Some(page.cast())
    }

    #[cfg(not(target_os = "linux"))]
    fn page() -> Option<*mut AtomicU64> {
        None
    }

    fn watch_forks() {
        use core::ffi::c_int;
        type Handler = Option<unsafe extern "C" fn()>;
        unsafe extern "C" {
            fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
        }
        extern "C" fn in_the_child() {
            FALLBACK.store(0, Ordering::Relaxed);
        }
        // SAFETY: POSIX's own signature; the handler only stores to an atomic, which a child of a
        // process with many threads may do.
        let _ = unsafe { pthread_atfork(None, None, Some(in_the_child)) };
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn generations_stay_and_are_never_zero() {
            let first = current();
            assert!(first > 0);
            assert_eq!(current(), first);
            assert_eq!(generation(), first);
        }

        #[test]
        fn the_handler_registers_where_there_is_no_page() {
            watch_forks();
        }
    }
}

#[cfg(not(all(unix, feature = "std")))]
mod imp {
    #[inline]
    pub(crate) fn generation() -> u64 {
        1
    }

    pub(crate) fn current() -> u64 {
        1
    }
}

pub(crate) use imp::{current, generation};
