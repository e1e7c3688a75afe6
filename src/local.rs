//! [`LocalGenerator`]: one per core, no atomics on its way.

use core::cell::Cell;
use core::fmt;

use crate::Id;
use crate::clock::Clock;
#[cfg(feature = "std")]
use crate::clock::TscClock;
#[cfg(feature = "std")]
use crate::error::BuildError;
use crate::error::Error;
use crate::generator::DefaultClock;
use crate::ids::Ids;
use crate::layout::Layout;
use crate::plan::{Look, Plan};
use crate::word::{take, take_many};

/// A generator that stays on one thread: it can be sent there, and not shared.
///
/// [`Generator`](crate::Generator)'s methods, guarantees and errors, without a compare-and-swap. Made
/// by [`per_core`] or by [`GeneratorBuilder::build_local`](crate::GeneratorBuilder::build_local).
///
/// ```
/// use nivis::{Layout, per_core};
///
/// let threads: Vec<_> = per_core(Layout::TWITTER, 7, 4)?
///     .into_iter()
///     .map(|ids| std::thread::spawn(move || ids.next_id()))
///     .collect();
/// for thread in threads {
///     let id = thread.join().unwrap()?;
///     assert_eq!(Layout::TWITTER.node(id), 7);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```compile_fail
/// fn shared<T: Sync>() {}
/// shared::<nivis::LocalGenerator>();
/// ```
pub struct LocalGenerator<C = DefaultClock> {
    word: Cell<u64>,
    limit: Cell<u64>,
    deadline: Cell<u64>,
    plan: Plan<C>,
}

/// A generator for each of `cores` cores, all of one worker: the top bits of the sequence are split
/// among them, so that their ids never meet. With 4 cores each has a quarter of the ids of a tick.
///
/// Ids of one core increase; ids of different cores are ordered by tick.
///
/// # Errors
///
/// [`BuildError::Cores`] if `cores` is 0 or leaves a core less than one bit of the sequence, and what
/// [`Generator::new`](crate::Generator::new) refuses.
#[cfg(feature = "std")]
pub fn per_core(
    layout: Layout,
    worker: u64,
    cores: usize,
) -> Result<Vec<LocalGenerator>, BuildError> {
    crate::builder::GeneratorBuilder::new(layout, TscClock::unmeasured())
        .worker(worker)
        .per_core(cores)
}

impl<C> LocalGenerator<C> {
    pub(crate) const fn from_plan(plan: Plan<C>, word: u64, limit: u64) -> LocalGenerator<C> {
        LocalGenerator {
            word: Cell::new(word),
            limit: Cell::new(limit),
            deadline: Cell::new(0),
            plan,
        }
    }

    /// The layout of its ids.
    pub fn layout(&self) -> &Layout {
        &self.plan.layout
    }

    /// Its clock.
    pub fn clock(&self) -> &C {
        &self.plan.clock
    }
}

impl<C: Clock> LocalGenerator<C> {
    /// The next id, at once or not at all. See [`Generator::try_next_id`](crate::Generator::try_next_id).
    ///
    /// # Errors
    ///
    /// Every [`Error`]; after any of them the generator is as it was.
    #[inline]
    pub fn try_next_id(&self) -> Result<Id, Error> {
        match self.take_fresh() {
            Some(id) => Ok(id),
            None => self.look_and_take(),
        }
    }

    /// The next id, waiting for it up to `max_wait`. See [`Generator::next_id`](crate::Generator::next_id).
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

    /// Up to `n` ids at once. See [`Generator::next_ids`](crate::Generator::next_ids).
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
            None => self.look_and_take_many(n),
        }
    }

    /// The next id, yielding to tokio while it waits. See
    /// [`Generator::next_id_async`](crate::Generator::next_id_async).
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
        match self.try_next_id() {
            Err(refusal) => {
                crate::wait::until_async(self.plan.max_wait, refusal, || self.try_next_id()).await
            }
            found => found,
        }
    }

    /// Looks at the clock now: for [`OnTurn`](crate::clock::OnTurn), once per turn of the event loop.
    pub fn turn(&self) {
        // As in `Generator::turn`.
        if let Ok(look) = self.look() {
            self.apply(&look);
        }
    }

    #[inline]
    fn take_fresh(&self) -> Option<Id> {
        if self.is_fresh() { self.take() } else { None }
    }

    #[inline]
    fn take_many_fresh(&self, n: usize) -> Option<Ids> {
        if self.is_fresh() { self.take_many(n) } else { None }
    }

    #[inline]
    fn is_fresh(&self) -> bool {
        self.plan.fresh(self.deadline.get())
    }

    #[inline]
    fn take(&self) -> Option<Id> {
        let word = self.word.get();
        self.word.set(take(word, self.limit.get(), &self.plan.shape)?);
        Some(self.plan.shape.id(word))
    }

    #[inline]
    fn take_many(&self, n: usize) -> Option<Ids> {
        let word = self.word.get();
        let (next, taken) = take_many(word, self.limit.get(), n as u64, &self.plan.shape)?;
        self.word.set(next);
        Some(Ids::new(self.plan.shape, word, taken))
    }

    #[cold]
    #[inline(never)]
    fn look_and_take(&self) -> Result<Id, Error> {
        self.look_and_take_many(1).map(Ids::first)
    }

    #[cold]
    #[inline(never)]
    fn look_and_take_many(&self, n: usize) -> Result<Ids, Error> {
        if n == 0 {
            return Ok(Ids::new(self.plan.shape, 0, 0));
        }
        let look = self.look()?;
        self.apply(&look);
        // Alone on this thread: nobody can have taken what the look allowed.
        self.take_many(n).ok_or_else(|| self.plan.refusal(self.word.get(), &look))
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
        self.look_and_take_many(n).or_else(|refusal| {
            crate::wait::until(self.plan.max_wait, refusal, || self.look_and_take_many(n))
        })
    }

    fn look(&self) -> Result<Look, Error> {
        self.plan.look(u64::MAX)
    }

    /// *Turn*, as in [`Generator`](crate::Generator).
    fn apply(&self, look: &Look) {
        if let Some(next) = self.plan.raise(self.word.get(), look, true) {
            self.word.set(next);
        }
        self.limit.set(self.limit.get().max(look.limit));
        self.deadline.set(look.deadline);
    }
}

impl<C: fmt::Debug> fmt::Debug for LocalGenerator<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let next = self.plan.shape.id(self.word.get());
        f.debug_struct("LocalGenerator")
            .field("layout", &self.plan.layout)
            .field("next", &self.plan.layout.decompose(next))
            .field("clock", &self.plan.clock)
            .finish_non_exhaustive()
    }
}
