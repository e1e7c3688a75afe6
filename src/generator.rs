//! [`Generator`]: the compare-and-swap loop, shared by any number of threads.
//!
//! # The argument
//!
//! State is three words that only grow: `word`, `limit`, `lease_end`, and a `deadline` that is a hint.
//!
//! *Unique and ordered (I1, I2).* Every id is the value that a successful compare-and-swap replaced by
//! a larger one. All changes of `word` are read-modify-writes of one location; its modification order
//! strictly grows, so no value is replaced twice, and a call that starts after another returned reads
//! a later value (coherence). That needs no ordering at all.
//!
//! *Never early (I3).* A word is handed out only below a limit that was loaded before; every value
//! that the limit ever had is at most the end of the largest reading so far, plus `lead`.
//!
//! *Never outside the lease (I4).* A grant first swaps the worker in the word, then raises
//! `lease_end`. Let a take succeed on a word of the old worker. Its swap comes before the grant's in
//! the order of `word`, and releases; the grant's acquires. So the take's load of the limit happens
//! before the rise of `lease_end`, which a turn must acquire before it can raise the limit for the new
//! slice. A load cannot see a store that it happens before: the take saw a limit of the old slice. The
//! limit itself may therefore be `Relaxed` there. For the new worker, every limit is at most its
//! slice's end, since that is no earlier than the old one.
//!
//! *A stale reader does no harm.* An old word fails its compare-and-swap, an old limit is a smaller
//! one, an old deadline is an earlier one and leads to a turn.
//!
//! *Lock-free (I6).* A lost compare-and-swap means that another thread's was won. The slow path goes
//! round only if others took all that its reading allowed.

use core::fmt;

use crossbeam_utils::CachePadded;

use crate::Id;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::TscClock;
#[cfg(feature = "std")]
use crate::error::BuildError;
use crate::error::Error;
use crate::ids::Ids;
use crate::layout::Layout;
use crate::plan::{Look, Plan};
use crate::sync::{AtomicU64, Ordering, back_off};
use crate::word::{take, take_many};

/// A generator of ids for one worker, shared by reference or `Arc`.
///
/// ```
/// use nivis::{Generator, Layout};
///
/// let ids = Generator::new(Layout::TWITTER, 7)?;
/// let (a, b) = (ids.next_id()?, ids.next_id()?);
/// assert!(a < b);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// No two calls on one generator return the same id, and a call that starts after another returned
/// gets a larger one, whatever the clock reads and from whichever threads. An id never shows a time
/// that has not come (or is further than `lead`). An error leaves the generator as it was.
///
/// # What is lost without a lease
///
/// Nothing here keeps two generators of the same worker apart, in one process or in two: **give each
/// its own**, and make one generator, not one for each call. A restart is safe: a generator starts in
/// the tick after the one that it was built in (and past `lead`), which no earlier one can have
/// reached, as long as the clock did not go back meanwhile.
pub struct Generator<C = DefaultClock> {
    /// The next id to hand out. A line of its own: every call writes it.
    word: CachePadded<AtomicU64>,
    rest: CachePadded<Rest<C>>,
}

/// [`TscClock`](crate::clock::TscClock), or without `std` [`ManualClock`](crate::clock::ManualClock).
#[cfg(feature = "std")]
pub(crate) type DefaultClock = TscClock;
/// [`TscClock`](crate::clock::TscClock), or without `std` [`ManualClock`](crate::clock::ManualClock).
#[cfg(not(feature = "std"))]
pub(crate) type DefaultClock = crate::clock::ManualClock;

/// Read with every id, written once or twice a tick.
struct Rest<C> {
    /// The first word that may not be handed out. 0 until a `const` generator has started.
    limit: AtomicU64,
    /// The raw counter at which the tick is over.
    deadline: AtomicU64,
    /// The first tick past the worker's slice.
    lease_end: AtomicU64,
    /// How many callers wait for the next tick.
    waiting: AtomicU64,
    plan: Plan<C>,
}

#[cfg(feature = "std")]
impl Generator {
    /// A generator for this worker, on the default clock. See [`builder`](Self::builder) for more.
    ///
    /// The worker is the whole worker field: 0 to [`Layout::max_worker`]. Nobody else may use it as
    /// long as this generator lives: see [what is lost without a lease](Generator#what-is-lost-without-a-lease).
    ///
    /// # Errors
    ///
    /// [`BuildError::Worker`] out of range, [`BuildError::EpochInFuture`], [`BuildError::Expired`].
    pub fn new(layout: Layout, worker: u64) -> Result<Generator, BuildError> {
        Generator::builder(layout).worker(worker).build()
    }

    /// A generator with more said about it.
    pub fn builder(layout: Layout) -> crate::GeneratorBuilder {
        crate::GeneratorBuilder::new(layout, TscClock::unmeasured())
    }

    /// A generator for a `static`, with nothing to unwrap: it starts with its first call, and tells
    /// then what [`new`](Self::new) tells at once.
    ///
    /// ```
    /// use nivis::{Generator, Layout};
    ///
    /// static IDS: Generator = Generator::const_new(Layout::TWITTER, 7);
    ///
    /// assert!(IDS.next_id()? < IDS.next_id()?);
    /// # Ok::<(), nivis::Error>(())
    /// ```
    ///
    /// Each process that uses it starts its own, with the same worker: that is for you to prevent. A
    /// child of a process that has used nivis gets [`Error::Forked`]; one that was forked before looks
    /// like any other process.
    ///
    /// # Panics
    ///
    /// If the worker is out of range: in a `static`, that is a compile error.
    #[cfg(not(all(loom, feature = "loom")))]
    pub const fn const_new(layout: Layout, worker: u64) -> Generator {
        assert!(
            worker <= layout.max_worker(),
            "the worker does not fit into the layout's worker bits"
        );
        let shape = crate::word::Shape::split(layout.widths(), 0);
        let plan = Plan::new(layout, shape, TscClock::unmeasured());
        Generator::from_plan(plan, worker, 0, u64::MAX)
    }
}

impl<C> Generator<C> {
    #[cfg(not(all(loom, feature = "loom")))]
    pub(crate) const fn from_plan(
        plan: Plan<C>,
        word: u64,
        limit: u64,
        lease_end: u64,
    ) -> Generator<C> {
        Generator {
            word: CachePadded::new(AtomicU64::new(word)),
            rest: CachePadded::new(Rest {
                limit: AtomicU64::new(limit),
                deadline: AtomicU64::new(0),
                lease_end: AtomicU64::new(lease_end),
                waiting: AtomicU64::new(0),
                plan,
            }),
        }
    }

    #[cfg(all(loom, feature = "loom"))]
    pub(crate) fn from_plan(plan: Plan<C>, word: u64, limit: u64, lease_end: u64) -> Generator<C> {
        Generator {
            word: CachePadded::new(AtomicU64::new(word)),
            rest: CachePadded::new(Rest {
                limit: AtomicU64::new(limit),
                deadline: AtomicU64::new(0),
                lease_end: AtomicU64::new(lease_end),
                waiting: AtomicU64::new(0),
                plan,
            }),
        }
    }

    /// A generator as `const_new` makes it, for loom-tests: loom's atomics have no `const` constructor.
    #[cfg(all(loom, feature = "loom"))]
    #[doc(hidden)]
    pub fn unstarted(layout: Layout, worker: u64, clock: C) -> Generator<C> {
        let shape = crate::word::Shape::split(layout.widths(), 0);
        Generator::from_plan(Plan::new(layout, shape, clock), worker, 0, u64::MAX)
    }

    /// The layout of its ids.
    pub fn layout(&self) -> &Layout {
        &self.rest.plan.layout
    }

    /// Its clock, for [`TscClock::ahead`](crate::clock::TscClock::ahead) and the like.
    pub fn clock(&self) -> &C {
        &self.rest.plan.clock
    }
}

impl<C: Clock> Generator<C> {
    /// The next id, at once or not at all.
    ///
    /// Never blocks, allocates or makes a system call but to read the clock when a tick is over.
    ///
    /// # Errors
    ///
    /// Every [`Error`]; after any of them the generator is as it was.
    ///
    /// # Ordering
    ///
    /// Ids are ordered by happens-before; drawing one publishes no other memory.
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        match self.take_fresh() {
            Some(id) => Ok(id),
            None => self.look_and_take(),
        }
    }

    /// The next id, waiting for it up to `max_wait` (10 ms, or two ticks if those are longer, unless
    /// the builder was told).
    ///
    /// It waits for time alone: for the next tick, or for a clock that is a little behind. It sleeps
    /// if that takes more than 100 us; for executors there is `next_id_async`, with feature `tokio`.
    ///
    /// # Errors
    ///
    /// Every [`Error`], at once if waiting for `max_wait` cannot help.
    #[cfg(feature = "std")]
    #[inline]
    pub fn next_id(&self) -> Result<Id, Error> {
        match self.take_fresh() {
            Some(id) => Ok(id),
            None => self.wait_and_take(),
        }
    }

    /// Up to `n` ids at once, with a single compare-and-swap: at least one (unless `n` is 0), and as
    /// many as the tick and `lead` allow. Waits as [`next_id`](Self::next_id) does.
    ///
    /// ```
    /// # use nivis::{Generator, Layout};
    /// let ids = Generator::new(Layout::TWITTER, 7)?;
    /// let mut batch = Vec::new();
    /// while batch.len() < 10_000 {
    ///     batch.extend(ids.next_ids(10_000 - batch.len())?);
    /// }
    /// assert!(batch.is_sorted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Every [`Error`]. None if `n` is 0.
    #[cfg(feature = "std")]
    #[inline]
    pub fn next_ids(&self, n: usize) -> Result<Ids, Error> {
        match self.take_many_fresh(n) {
            Some(ids) => Ok(ids),
            None => self.wait_and_take_many(n),
        }
    }

    /// [`next_ids`](Self::next_ids) that never waits.
    ///
    /// # Errors
    ///
    /// Every [`Error`]. None if `n` is 0.
    #[inline]
    pub fn try_next_ids(&self, n: usize) -> Result<Ids, Error> {
        match self.take_many_fresh(n) {
            Some(ids) => Ok(ids),
            None => self.look_and_take_many(n, Caller::New),
        }
    }

    /// The next id, yielding to tokio while it waits: a full tick blocks no executor.
    ///
    /// Waits up to `max_wait` as [`next_id`](Self::next_id) does, in steps of tokio's timer (1 ms).
    /// Dropping the future loses no id.
    ///
    /// # Errors
    ///
    /// Every [`Error`].
    ///
    /// # Panics
    ///
    /// If it has to wait outside of a tokio runtime with its timer enabled.
    #[cfg(feature = "tokio")]
    pub async fn next_id_async(&self) -> Result<Id, Error> {
        let refusal = match self.try_next_id() {
            Err(refusal) if refusal.retry_after().is_some() => refusal,
            done => return done,
        };
        let _place = Place::among(&self.rest.waiting);
        crate::wait::until_async(self.rest.plan.max_wait, refusal, || {
            self.look_and_take_many(1, Caller::Waited).map(Ids::first)
        })
        .await
    }

    /// Looks at the clock now: for [`OnTurn`](crate::clock::OnTurn), once per turn of the event loop.
    ///
    /// It moves the generator on to this tick, or does nothing if the clock has no newer one.
    pub fn turn(&self) {
        // A clock that shows no usable time, and a forked child, are reported by the next draw.
        if let Ok(look) = self.look() {
            self.apply(&look);
        }
    }

    /// *Grant*: this worker may stamp the ticks from `from` to before `end`, and nobody else ever may.
    ///
    /// A slice that goes on where the last one ended is the same worker's renewal. Otherwise the worker
    /// in the word is swapped, to a later tick. Ticks before `from` are not used, and a slice that ends
    /// before the last one's end leaves that in force: the caller sees to both.
    #[doc(hidden)]
    pub fn grant(&self, worker: u64, from: u64, end: u64) {
        let shape = &self.rest.plan.shape;
        // Acquire and relaxed: one granter at a time, and old values fail their compare-and-swap.
        let lease_end = self.rest.lease_end.load(Ordering::Acquire);
        let mut word = self.word.load(Ordering::Relaxed);
        while shape.worker(word) != worker || from > lease_end {
            let next = shape.rebind(word, worker, from);
            // Acquire: takes of the old worker come before the rise below (I4 above). Release, for the
            // grant after this one.
            match self.word.compare_exchange(word, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        // Release, pairs with `look`: who may stamp the new slice's ticks sees its worker. After the
        // swap, never before it.
        self.rest.lease_end.fetch_max(end, Ordering::Release);
    }

    /// The hot path: one counter read, a few loads, one compare-and-swap.
    #[inline]
    fn take_fresh(&self) -> Option<Id> {
        if self.is_fresh() { self.take(self.limit()) } else { None }
    }

    #[inline]
    fn take_many_fresh(&self, n: usize) -> Option<Ids> {
        if self.is_fresh() { self.take_many(self.limit(), n) } else { None }
    }

    #[inline]
    fn is_fresh(&self) -> bool {
        // Acquire, pairs with `apply`: who finds the tick fresh draws from a word of that tick.
        let deadline = self.rest.deadline.load(Ordering::Acquire);
        self.rest.plan.fresh(deadline)
    }

    #[inline]
    fn limit(&self) -> u64 {
        // Relaxed: an old limit is a smaller one; never a later slice's (I4 above).
        self.rest.limit.load(Ordering::Relaxed)
    }

    #[inline]
    fn take(&self, limit: u64) -> Option<Id> {
        let shape = &self.rest.plan.shape;
        // Relaxed: an old word fails its compare-and-swap.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = take(word, limit, shape)?;
            // Before the swap: what it needs is loaded while the counter is still being read.
            let id = shape.id(word);
            // Release: the grant that swaps the worker next comes after the load of the limit (I4).
            // Relaxed on failure: it is one more load of the word.
            match self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return Some(id),
                Err(_) => word = self.contended(),
            }
        }
    }

    #[inline]
    fn take_many(&self, limit: u64, n: usize) -> Option<Ids> {
        let shape = &self.rest.plan.shape;
        // Orderings as in `take`.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let (next, taken) = take_many(word, limit, n as u64, shape)?;
            match self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return Some(Ids::new(*shape, word, taken)),
                Err(_) => word = self.contended(),
            }
        }
    }

    /// After a lost compare-and-swap: the winner may keep the cache line for a while.
    #[cold]
    #[inline(never)]
    fn contended(&self) -> u64 {
        back_off();
        // Relaxed, as in `take`.
        self.word.load(Ordering::Relaxed)
    }

    #[cold]
    #[inline(never)]
    fn look_and_take(&self) -> Result<Id, Error> {
        self.look_and_take_many(1, Caller::New).map(Ids::first)
    }

    /// Looks at the clock and takes; says why not only if that look allowed nothing.
    #[cold]
    #[inline(never)]
    fn look_and_take_many(&self, n: usize, caller: Caller) -> Result<Ids, Error> {
        if n == 0 {
            return Ok(Ids::new(self.rest.plan.shape, 0, 0));
        }
        loop {
            // The word before the clock: a thread that is overtaken between the two finds the clock
            // ahead of its word. The other way round it would take the newer word for a clock that
            // went back. Acquire, so that the clock is not read before it.
            let word = self.word.load(Ordering::Acquire);
            let look = self.look()?;
            let mut limit = self.apply(&look);
            let mut taken = self.take_many(self.limit(), n);
            if taken.is_none() && caller == Caller::Waited {
                limit = look.limit;
                taken = self.take_many(limit, 1);
            }
            if let Some(ids) = taken {
                return Ok(ids);
            }
            if word >= limit {
                return Err(self.rest.plan.refusal(word, &look));
            }
            // Others took all that this look allowed. They got on; look again.
        }
    }

    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    fn wait_and_take(&self) -> Result<Id, Error> {
        self.wait_and_take_many(1).map(Ids::first)
    }

    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    fn wait_and_take_many(&self, n: usize) -> Result<Ids, Error> {
        let refusal = match self.look_and_take_many(n, Caller::New) {
            Err(refusal) if refusal.retry_after().is_some() => refusal,
            done => return done,
        };
        let _place = Place::among(&self.rest.waiting);
        crate::wait::until(self.rest.plan.max_wait, refusal, || {
            self.look_and_take_many(n, Caller::Waited)
        })
    }

    fn look(&self) -> Result<Look, Error> {
        // Acquire, pairs with the grant: a limit for a new slice comes after the change of worker.
        self.rest.plan.look(self.rest.lease_end.load(Ordering::Acquire))
    }

    /// *Turn*: the word up to now, then the limit, then the deadline. Returns the limit of this look for
    /// those who have not waited.
    fn apply(&self, look: &Look) -> u64 {
        let rest = &*self.rest;
        // Acquire, pairs with the release below: a limit above 0 comes after the first raise, so that
        // nobody takes a `const` generator for started while its word is not.
        let started = rest.limit.load(Ordering::Acquire) > 0;
        // Relaxed: an old word fails its compare-and-swap.
        let mut word = self.word.load(Ordering::Relaxed);
        while let Some(next) = rest.plan.raise(word, look, started) {
            // Release and relaxed as in `take`.
            match self.word.compare_exchange_weak(word, next, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        // Release, pairs with `started`. A maximum: a thread with an old reading lowers nothing.
        // Relaxed: a guess at how many will come for theirs.
        let limit = rest.plan.shape.keep_back(look.limit, rest.waiting.load(Ordering::Relaxed));
        rest.limit.fetch_max(limit, Ordering::Release);
        // Release, pairs with `is_fresh`, and last: who finds the tick fresh draws from a word of that
        // tick. An older deadline may come over a newer one: it leads to another turn.
        rest.deadline.store(look.deadline, Ordering::Release);
        limit
    }
}

/// Who asks: an id per waiting caller is kept back at the end of each tick, so that callers who never
/// have to wait cannot take it all while those who slept wake up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    New,
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "waiting takes std"))]
    Waited,
}

/// A place among those who wait.
#[cfg(feature = "std")]
struct Place<'a>(&'a AtomicU64);

#[cfg(feature = "std")]
impl Place<'_> {
    fn among(waiting: &AtomicU64) -> Place<'_> {
        // Relaxed, here and below: a count that nothing depends on but how much is kept back.
        waiting.fetch_add(1, Ordering::Relaxed);
        Place(waiting)
    }
}

#[cfg(feature = "std")]
impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<C: fmt::Debug> fmt::Debug for Generator<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = &self.rest.plan;
        // Relaxed: for people.
        let next = plan.shape.id(self.word.load(Ordering::Relaxed));
        f.debug_struct("Generator")
            .field("layout", &plan.layout)
            .field("next", &plan.layout.decompose(next))
            .field("clock", &plan.clock)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::clock::ManualClock;
    use crate::word::Shape;
    use core::time::Duration;

    const T0: u64 = 1_767_268_800_000;

    /// As `const_new` makes it, on a clock that is set by hand.
    fn unstarted(clock: &ManualClock, lead: u64) -> Generator<&ManualClock> {
        let layout = Layout::TWITTER;
        let mut plan = Plan::new(layout, Shape::split(layout.widths(), 0), clock);
        plan.lead = lead;
        Generator::from_plan(plan, 7, 0, u64::MAX)
    }

    #[test]
    fn a_const_generator_starts_after_the_tick_of_its_first_call() {
        for lead in [0, 3] {
            let clock = ManualClock::new(T0 * 1_000_000);
            let ids = unstarted(&clock, lead);
            let refused = Err(Error::Exhausted { retry_after: Duration::from_millis(1) });
            for _ in 0..3 {
                assert_eq!(ids.try_next_id(), refused);
            }
            clock.advance(Duration::from_millis(1));
            let parts = Layout::TWITTER.decompose(ids.try_next_id().unwrap());
            assert_eq!(parts.tick, T0 + 1 + lead - Layout::TWITTER.epoch());
            assert_eq!((parts.datacenter, parts.worker, parts.sequence), (0, 7, 0));
        }
    }

    /// What is kept back for those who wait is theirs alone, and all of it.
    #[cfg(feature = "std")]
    #[test]
    fn who_gets_what_is_kept_back() {
        let clock = ManualClock::new(T0 * 1_000_000);
        let ids = crate::GeneratorBuilder::new(Layout::LEAF, &clock).worker(3).build().unwrap();
        let full = Err(Error::Exhausted { retry_after: Duration::from_millis(1) });
        let places = [Place::among(&ids.rest.waiting), Place::among(&ids.rest.waiting)];
        clock.advance(Duration::from_millis(1));
        assert_eq!(ids.try_next_ids(5_000).unwrap().len(), 4_094);
        assert_eq!(ids.try_next_id(), full);
        let waited = |n| ids.look_and_take_many(n, Caller::Waited).map(|ids| ids.len());
        assert_eq!(waited(100), Ok(1), "one for each who waits, however many it asks for");
        assert_eq!(ids.try_next_id(), full);
        assert_eq!(waited(1), Ok(1));
        assert_eq!(waited(1), full.map(|_| 0));
        drop(places);
        clock.advance(Duration::from_millis(1));
        assert_eq!(ids.try_next_ids(5_000).unwrap().len(), 4_096, "nobody waits any more");
    }

    /// A renewal goes on in the tick; a gap, or another worker, starts in the slice and a later tick.
    #[test]
    fn what_a_grant_does_to_the_next_id() {
        let layout = Layout::LEAF;
        let clock = ManualClock::new(T0 * 1_000_000);
        let now = T0 - layout.epoch();
        let ids = crate::GeneratorBuilder::new(layout, &clock)
            .worker(3)
            .lease_end(now + 5)
            .build()
            .unwrap();
        clock.advance(Duration::from_millis(1));
        let draw = || {
            let parts = layout.decompose(ids.try_next_id().unwrap());
            (parts.worker, parts.tick - now, parts.sequence)
        };
        assert_eq!(draw(), (3, 1, 0));
        ids.grant(3, now + 5, now + 10);
        assert_eq!(draw(), (3, 1, 1), "the slice goes on, and so does the tick");
        ids.grant(3, now + 4, now + 12);
        assert_eq!(draw(), (3, 1, 2), "a slice that was ours already changes nothing");
        ids.grant(4, now, now + 12);
        clock.advance(Duration::from_millis(1));
        assert_eq!(draw(), (4, 2, 0), "another worker, in a later tick");
        ids.grant(4, now + 20, now + 30);
        assert_eq!(ids.try_next_id(), Err(Error::ClockBehind { by: Duration::from_millis(18) }));
        clock.advance(Duration::from_millis(18));
        assert_eq!(draw(), (4, 20, 0), "after a gap, inside of the slice");
        ids.grant(5, now + 20, now + 25);
        clock.advance(Duration::from_millis(9));
        assert_eq!(draw(), (5, 29, 0));
        clock.advance(Duration::from_millis(1));
        assert_eq!(ids.try_next_id(), Err(Error::LeaseExpired));
    }
}
