//! [`GeneratorBuilder`]: everything that may be said about a generator before it starts.

use core::time::Duration;

use crate::Id;
use crate::clock::{Clock, nanos};
use crate::error::BuildError;
use crate::generator::{DefaultClock, Generator};
use crate::layout::Layout;
use crate::local::LocalGenerator;
use crate::plan::Plan;
use crate::word::Shape;

/// Builds a [`Generator`] or [`LocalGenerator`]s. Made by [`Generator::builder`].
///
/// ```
/// use std::time::Duration;
/// use nivis::{Generator, Layout};
///
/// let ids = Generator::builder(Layout::TWITTER)
///     .datacenter(3)
///     .worker(7)
///     .lead(Duration::from_millis(20)) // bursts do not wait; ids may be 20 ms ahead
///     .spread(true)                    // even over `id % shards`, however slowly drawn
///     .max_wait(Duration::from_millis(50))
///     .build()?;
/// # let _ = ids;
/// # Ok::<(), nivis::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct GeneratorBuilder<C = DefaultClock> {
    layout: Layout,
    clock: C,
    worker: Option<u64>,
    datacenter: Option<u64>,
    lead: Duration,
    spread: bool,
    max_wait: Option<Duration>,
    start_after: Option<Id>,
    lease_end: u64,
}

impl<C: Clock> GeneratorBuilder<C> {
    /// A builder on a clock of your own: [`Generator::builder`] where there is no `std`.
    pub const fn new(layout: Layout, clock: C) -> GeneratorBuilder<C> {
        GeneratorBuilder {
            layout,
            clock,
            worker: None,
            datacenter: None,
            lead: Duration::ZERO,
            spread: false,
            max_wait: None,
            start_after: None,
            lease_end: u64::MAX,
        }
    }

    /// The worker: the whole worker field, 0 to [`Layout::max_worker`]; or, once a
    /// [`datacenter`](Self::datacenter) is named, the part below it.
    ///
    /// It must be named unless the layout has no field for it.
    pub const fn worker(mut self, worker: u64) -> Self {
        self.worker = Some(worker);
        self
    }

    /// The datacenter, in a layout with [datacenter bits](Layout::datacenter_bits).
    pub const fn datacenter(mut self, datacenter: u64) -> Self {
        self.datacenter = Some(datacenter);
        self
    }

    /// How far an id may run ahead of the clock, in whole ticks, rounded down. 0 unless told: an id
    /// never shows a time that has not come. With 20 ms, a burst of 20 ticks' worth of ids costs no
    /// wait.
    ///
    /// The start is put off by as much, so that a restart repeats nothing.
    pub const fn lead(mut self, lead: Duration) -> Self {
        self.lead = lead;
        self
    }

    /// Starts each tick's sequence at a value hashed from the tick, in the lowest quarter of its
    /// range, so that ids drawn slowly are even over `id % shards` and do not all end in zeros. The
    /// full rate stays.
    pub const fn spread(mut self, spread: bool) -> Self {
        self.spread = spread;
        self
    }

    /// How long [`Generator::next_id`] waits at most: 10 ms, or two ticks if those are longer, unless
    /// told. 0 is never.
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.max_wait = Some(max_wait);
        self
    }

    /// The clock.
    pub fn clock<D: Clock>(self, clock: D) -> GeneratorBuilder<D> {
        GeneratorBuilder {
            layout: self.layout,
            clock,
            worker: self.worker,
            datacenter: self.datacenter,
            lead: self.lead,
            spread: self.spread,
            max_wait: self.max_wait,
            start_after: self.start_after,
            lease_end: self.lease_end,
        }
    }

    /// Starts in the tick after that of this id, the last one that an earlier generator issued, if
    /// that is later than now.
    ///
    /// With it a restart is safe even if the clock went back meanwhile: the generator then says
    /// [`Error::ClockBehind`](crate::Error::ClockBehind) until the clock has caught up.
    pub const fn start_after(mut self, id: Id) -> Self {
        self.start_after = Some(id);
        self
    }

    /// The first tick past the worker's slice: no end unless told.
    #[doc(hidden)]
    pub const fn lease_end(mut self, tick: u64) -> Self {
        self.lease_end = tick;
        self
    }

    /// Builds a generator to share.
    ///
    /// # Errors
    ///
    /// Every [`BuildError`] but [`Cores`](BuildError::Cores).
    pub fn build(self) -> Result<Generator<C>, BuildError> {
        let lease_end = self.lease_end;
        let (plan, first, worker) = self.start(0, 0)?;
        Ok(Generator::from_plan(plan, first | worker, first, lease_end))
    }

    /// Builds a generator for one thread.
    ///
    /// # Errors
    ///
    /// Every [`BuildError`] but [`Cores`](BuildError::Cores).
    pub fn build_local(self) -> Result<LocalGenerator<C>, BuildError> {
        let (plan, first, worker) = self.start(0, 0)?;
        Ok(LocalGenerator::from_plan(plan, first | worker, first))
    }

    /// Builds a generator for each of `cores` threads, all of one worker. See [`per_core`](crate::per_core).
    ///
    /// # Errors
    ///
    /// Every [`BuildError`].
    #[cfg(feature = "std")]
    pub fn per_core(self, cores: usize) -> Result<Vec<LocalGenerator<C>>, BuildError>
    where
        C: Clone,
    {
        let core_bits = self.core_bits(cores)?;
        (0..cores as u64)
            .map(|core| {
                let (plan, first, worker) = self.clone().start(core_bits, core)?;
                Ok(LocalGenerator::from_plan(plan, first | worker, first))
            })
            .collect()
    }

    #[cfg(feature = "std")]
    fn core_bits(&self, cores: usize) -> Result<u8, BuildError> {
        let bits = cores.checked_next_power_of_two().map_or(usize::BITS, usize::trailing_zeros);
        if cores == 0 || bits >= u32::from(self.layout.widths().sequence) {
            return Err(BuildError::Cores { cores, layout: self.layout });
        }
        Ok(bits as u8)
    }

    /// The plan, the first word to start with, and the worker that goes into it.
    fn start(self, core_bits: u8, core: u64) -> Result<(Plan<C>, u64, u64), BuildError> {
        let layout = self.layout;
        let widths = layout.widths();
        let worker = Shape::node(widths, core_bits, self.node()?, core);
        let shape = Shape::split(widths, core_bits);

        let mut plan = Plan::new(layout, shape, self.clock);
        plan.lead = nanos(self.lead) / layout.tick_nanos();
        plan.spread = self.spread;
        if let Some(max_wait) = self.max_wait {
            plan.max_wait = nanos(max_wait);
        }

        plan.start();
        let now_unix_ms = plan.clock.read().unix_nanos / 1_000_000;
        // The plan has just started in this process, so that this is the one refusal left.
        let look = plan.look(u64::MAX).map_err(|_| BuildError::Expired { layout, now_unix_ms })?;
        if look.is_before_epoch() {
            return Err(BuildError::EpochInFuture { epoch_unix_ms: layout.epoch(), now_unix_ms });
        }
        let mut tick = plan.first_tick(look.tick);
        if let Some(id) = self.start_after {
            let last = layout.decompose(id).tick;
            if last > layout.max_tick() {
                return Err(BuildError::StartAfter { id, layout });
            }
            tick = tick.max(last + 1);
        }
        if tick > layout.max_tick() {
            return Err(if plan.lead > 0 {
                BuildError::Lead { lead: self.lead, layout }
            } else {
                BuildError::Expired { layout, now_unix_ms }
            });
        }
        Ok((plan, shape.first(tick), worker))
    }

    /// The whole worker field.
    fn node(&self) -> Result<u64, BuildError> {
        let layout = self.layout;
        let widths = layout.widths();
        let (datacenter, bits) = match self.datacenter {
            None => (0, u32::from(widths.worker)),
            Some(datacenter) if datacenter > layout.max_datacenter() || widths.datacenter == 0 => {
                let bits = u32::from(widths.datacenter);
                return Err(BuildError::Datacenter { datacenter, bits, layout });
            }
            Some(datacenter) => (datacenter, u32::from(widths.worker - widths.datacenter)),
        };
        match self.worker {
            Some(worker) if worker >> bits > 0 => Err(BuildError::Worker { worker, bits, layout }),
            Some(worker) => Ok((datacenter << bits) | worker),
            None if bits == 0 => Ok(datacenter),
            None => Err(BuildError::NoWorker { layout }),
        }
    }
}
