//! Tells a forked child from its parent, for the price of one load. The crate's only `unsafe`.
//!
//! A `fork()` copies a generator with its state, so that parent and child would hand out the same
//! ids. Asking `getpid()` costs a system call, and comparing a mark costs a branch. Instead, a number
//! that every call needs anyway, the window of plausible deadlines, lives in a page that is marked
//! `MADV_WIPEONFORK` (Linux 4.14). A child sees that page empty, whichever way it was forked,
//! `clone()` without `CLONE_VM` included: its window is 0, no deadline is plausible, and it takes the
//! slow path, which finds that the page's *generation* is not the generator's.
//!
//! Where there is no such page (another system, an old kernel), a `pthread_atfork` handler empties
//! the table in the child; a raw `clone()` is then not seen. Where there is neither (Windows,
//! WebAssembly, no `std`) there is no `fork()` to see.
//!
//! This module names orderings of its own: it stays on std's atomics under loom, as forking is not
//! a matter of threads.

#[cfg(all(unix, feature = "std"))]
#[allow(unsafe_code, reason = "the page, and the handler where there is no page")]
mod imp {
    use core::ptr;
    use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
    use std::sync::Once;

    /// As many as fill a page of 4 KiB with the generation. Few processes have more than two.
    const WINDOWS: usize = 511;

    /// The windows in use, and the generation of the process that they belong to. All zeros is a table
    /// of a process that is gone.
    #[repr(C)]
    struct Table {
        generation: AtomicU64,
        windows: [AtomicU64; WINDOWS],
    }

    /// The process's table, or its parent's, wiped. Never unmapped, as generators point into it.
    static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());
    /// Copied to a child as it stands, so that a child's generations are none of its ancestors'.
    static GENERATIONS: AtomicU64 = AtomicU64::new(0);
    /// The window of a generator that has not started, and of one too many.
    static NONE: AtomicU64 = AtomicU64::new(0);

    /// The largest plausible distance to a deadline; 0 before the start, and in a forked child.
    pub(crate) struct Window {
        /// Points to `NONE` or into a table, always.
        slot: AtomicPtr<AtomicU64>,
        /// The generation of the process in which the generator started; 0 before that.
        born: AtomicU64,
    }

    impl Window {
        pub(crate) const fn unset() -> Window {
            Window { slot: AtomicPtr::new((&raw const NONE).cast_mut()), born: AtomicU64::new(0) }
        }

        #[inline]
        pub(crate) fn get(&self) -> u64 {
            // Acquire: whoever sees a slot sees its table mapped. Relaxed: the value is only compared.
            // SAFETY: `slot` only ever holds `NONE`, or a place in a table that is never unmapped.
            unsafe { &*self.slot.load(Ordering::Acquire) }.load(Ordering::Relaxed)
        }

        /// Starts a generator in this process.
        pub(crate) fn start(&self, window: u64) {
            let table = table();
            // Release, pairs with `get`.
            self.slot.store(table.slot(window), Ordering::Release);
            // Relaxed: the slow path alone reads it, and a thread that reads 0 starts it once more,
            // with the same values.
            self.born.store(table.generation.load(Ordering::Relaxed), Ordering::Relaxed);
        }

        pub(crate) fn is_started(&self) -> bool {
            self.born.load(Ordering::Relaxed) != 0
        }

        /// Whether this is the process in which the generator started; for one that has not, whether
        /// this is no process that was forked from one which could start it as well.
        pub(crate) fn is_at_home(&self) -> bool {
            let generation = table().generation.load(Ordering::Relaxed);
            match self.born.load(Ordering::Relaxed) {
                0 => generation == 1,
                born => generation == born,
            }
        }
    }

    impl Table {
        /// The place of a window. Generators with the same window share one.
        fn slot(&'static self, window: u64) -> *mut AtomicU64 {
            for slot in &self.windows {
                // Relaxed: a slot is filled once, by whoever comes first, and stands for itself.
                match slot.compare_exchange(0, window, Ordering::Relaxed, Ordering::Relaxed) {
                    Err(other) if other != window => {}
                    _ => return ptr::from_ref(slot).cast_mut(),
                }
            }
            // Right but slow: every id takes a reading.
            (&raw const NONE).cast_mut()
        }
    }

    /// The process's table. A child's first call makes it one of its own.
    fn table() -> &'static Table {
        // Acquire, pairs with the exchange below.
        let old = TABLE.load(Ordering::Acquire);
        // SAFETY: null, or a table that is never unmapped; wiped or not, it is a `Table`.
        if let Some(table) = unsafe { old.as_ref() }
            && table.generation.load(Ordering::Relaxed) != 0
        {
            return table;
        }
        let new = new_table();
        // Relaxed: published by the exchange below. Racing threads make the same number, and one wins.
        let generation = GENERATIONS.load(Ordering::Relaxed) + 1;
        new.generation.store(generation, Ordering::Relaxed);
        let mine = ptr::from_ref(new).cast_mut();
        // Release: the table is complete before it is pointed to.
        match TABLE.compare_exchange(old, mine, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                GENERATIONS.fetch_max(generation, Ordering::Relaxed);
                new
            }
            // SAFETY: whoever won put a table there. The one made here is left alone: a page is lost
            // in a race that happens once in a process.
            Err(theirs) => unsafe { &*theirs },
        }
    }

    static WATCH: Once = Once::new();

    fn new_table() -> &'static Table {
        #[cfg(target_os = "linux")]
        if let Some(page) = wiped_on_fork() {
            return page;
        }
        WATCH.call_once(watch_forks);
        Box::leak(Box::new(Table {
            generation: AtomicU64::new(0),
            windows: [const { AtomicU64::new(0) }; WINDOWS],
        }))
    }

    #[cfg(target_os = "linux")]
    fn wiped_on_fork() -> Option<&'static Table> {
        use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
        const LENGTH: usize = size_of::<Table>();
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches nothing else.
        let page = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
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
        // SAFETY: readable, writable, page-aligned, large enough, all zeros, and never unmapped. All
        // of a `Table` is atomic, so that the kernel's wiping it is but another write.
        Some(unsafe { &*page.cast::<Table>() })
    }

    fn watch_forks() {
        use core::ffi::c_int;
        type Handler = Option<unsafe extern "C" fn()>;
        unsafe extern "C" {
            fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
        }
        // SAFETY: POSIX's own signature; the handler only stores to atomics, which a child of a
        // process with many threads may do.
        let _ = unsafe { pthread_atfork(None, None, Some(in_the_child)) };
    }

    extern "C" fn in_the_child() {
        // SAFETY: null, or a table that is never unmapped.
        if let Some(table) = unsafe { TABLE.load(Ordering::Acquire).as_ref() } {
            table.generation.store(0, Ordering::Relaxed);
            for window in &table.windows {
                window.store(0, Ordering::Relaxed);
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn windows_are_shared_and_kept() {
            let (a, b, c) = (Window::unset(), Window::unset(), Window::unset());
            assert_eq!(a.get(), 0);
            assert!(!a.is_started() && a.is_at_home());
            a.start(1_000_003);
            b.start(1_000_003);
            c.start(1_000_033);
            assert_eq!((a.get(), b.get(), c.get()), (1_000_003, 1_000_003, 1_000_033));
            assert_eq!(a.slot.load(Ordering::Relaxed), b.slot.load(Ordering::Relaxed));
            assert!(a.is_started() && a.is_at_home());
        }

        #[test]
        fn a_full_table_is_slow_and_not_wrong() {
            let table: &'static Table = Box::leak(Box::new(Table {
                generation: AtomicU64::new(1),
                windows: [const { AtomicU64::new(0) }; WINDOWS],
            }));
            for window in 1..=WINDOWS as u64 {
                // SAFETY: a place in the table above.
                assert_eq!(unsafe { &*table.slot(window) }.load(Ordering::Relaxed), window);
            }
            assert_eq!(table.slot(WINDOWS as u64 + 1), (&raw const NONE).cast_mut());
            assert_eq!(table.slot(7), ptr::from_ref(&table.windows[6]).cast_mut());
        }

        #[test]
        fn a_table_fills_one_page() {
            assert_eq!(size_of::<Table>(), 4_096);
        }
    }
}

#[cfg(not(all(unix, feature = "std")))]
mod imp {
    use core::sync::atomic::{AtomicU64, Ordering};

    /// The largest plausible distance to a deadline; 0 before the start.
    pub(crate) struct Window {
        window: AtomicU64,
        started: core::sync::atomic::AtomicBool,
    }

    impl Window {
        pub(crate) const fn unset() -> Window {
            Window {
                window: AtomicU64::new(0),
                started: core::sync::atomic::AtomicBool::new(false),
            }
        }

        #[inline]
        pub(crate) fn get(&self) -> u64 {
            // Relaxed, here and below: set once, and only compared.
            self.window.load(Ordering::Relaxed)
        }

        pub(crate) fn start(&self, window: u64) {
            self.window.store(window, Ordering::Relaxed);
            self.started.store(true, Ordering::Relaxed);
        }

        pub(crate) fn is_started(&self) -> bool {
            self.started.load(Ordering::Relaxed)
        }

        #[allow(clippy::unused_self, reason = "as where there is a fork to see")]
        pub(crate) fn is_at_home(&self) -> bool {
            true
        }
    }
}

pub(crate) use imp::Window;
