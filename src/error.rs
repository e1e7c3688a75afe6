//! What can go wrong: small typed enums with the numbers a person needs.

use core::fmt;
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::SystemTime;

use crate::Layout;

/// Why there is no id now. The generator is as it was, and the next call may succeed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// Every id of this tick (and of `lead`) is taken.
    Exhausted {
        /// When the next tick begins, from the moment of the call.
        retry_after: Duration,
    },
    /// The clock went back behind ids that are already out, by more than `lead`.
    ClockBehind {
        /// How far the clock has to go before there are ids again.
        by: Duration,
    },
    /// The worker's slice of id time is over. A renewed lease goes on by itself.
    LeaseExpired,
    /// This process is a `fork()` of the one that built the generator, which may issue the same ids.
    /// Build a generator in the child, with a worker of its own.
    Forked,
    /// The layout's last tick is used up, or the clock is past it: see [`Layout::expires`].
    TimestampOverflow,
    /// The clock reads a time before the layout's epoch.
    BeforeEpoch,
}

impl Error {
    /// How long to wait before there can be an id, where waiting helps.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Error::Exhausted { retry_after: after } | Error::ClockBehind { by: after } => {
                Some(*after)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exhausted { retry_after } => {
                write!(f, "every id of this tick is taken: the next tick begins in {retry_after:?}")
            }
            Error::ClockBehind { by } => {
                write!(f, "the clock is {by:?} behind ids that are already out")
            }
            Error::LeaseExpired => write!(f, "the worker's lease is over and not yet renewed"),
            Error::Forked => write!(
                f,
                "this process is a fork of the one that built the generator: build one here, with another worker"
            ),
            Error::TimestampOverflow => write!(f, "the layout's last tick is used up"),
            Error::BeforeEpoch => write!(f, "the clock reads a time before the layout's epoch"),
        }
    }
}

impl core::error::Error for Error {}

/// Why a generator is not built. Nothing is masked, and nothing is defaulted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The worker does not fit into its field.
    Worker {
        /// What was asked for.
        worker: u64,
        /// The bits that it may have: the whole worker field, or the part below the datacenter when
        /// a datacenter was named.
        bits: u32,
        /// The layout with that field.
        layout: Layout,
    },
    /// The datacenter does not fit into its field.
    Datacenter {
        /// What was asked for.
        datacenter: u64,
        /// The datacenter bits of the layout, possibly none.
        bits: u32,
        /// The layout with that field.
        layout: Layout,
    },
    /// No worker was named, and the layout has a field for one.
    NoWorker {
        /// The layout with that field.
        layout: Layout,
    },
    /// The layout's epoch has not come yet by the generator's clock.
    EpochInFuture {
        /// The epoch, in milliseconds since 1970.
        epoch_unix_ms: u64,
        /// The clock, in milliseconds since 1970.
        now_unix_ms: u64,
    },
    /// The layout's tick field is already used up: see [`Layout::expires`].
    Expired {
        /// The layout whose time is over.
        layout: Layout,
        /// The clock, in milliseconds since 1970.
        now_unix_ms: u64,
    },
    /// The first id would come after the layout's last tick: it comes past `lead`.
    Lead {
        /// What was asked for.
        lead: Duration,
        /// The layout that ends before.
        layout: Layout,
    },
    /// The id to start after is not of this layout: it has bits above the layout's.
    StartAfter {
        /// The id.
        id: crate::Id,
        /// The layout that it does not fit.
        layout: Layout,
    },
    /// The sequence cannot be split among this many cores with a number left for each.
    Cores {
        /// What was asked for.
        cores: usize,
        /// The layout whose sequence was to be split.
        layout: Layout,
    },
}

/// "worker 1024 is out of range: `Layout::TWITTER` has 10 worker bits, so 0 to 1023"
fn out_of_range(
    f: &mut fmt::Formatter<'_>,
    field: &str,
    value: u64,
    layout: &Layout,
    bits: u32,
) -> fmt::Result {
    let max = 1_u64.checked_shl(bits).map_or(u64::MAX, |n| n - 1);
    write!(f, "{field} {value} is out of range: {layout} has {bits} {field} bits, so 0 to {max}")
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::Worker { worker, bits, layout } => {
                out_of_range(f, "worker", *worker, layout, *bits)
            }
            BuildError::Datacenter { datacenter, bits, layout } => {
                out_of_range(f, "datacenter", *datacenter, layout, *bits)
            }
            BuildError::NoWorker { layout } => {
                write!(f, "no worker was named: {layout} takes one of 0 to {}", layout.max_worker())
            }
            BuildError::EpochInFuture { epoch_unix_ms, now_unix_ms } => write!(
                f,
                "the layout's epoch, {epoch_unix_ms} ms, is in the future: the clock reads {now_unix_ms} ms"
            ),
            BuildError::Expired { layout, now_unix_ms } => write!(
                f,
                "the tick field of {layout} is used up: the clock reads {now_unix_ms} ms, past its last tick"
            ),
            BuildError::Lead { lead, layout } => {
                write!(f, "a lead of {lead:?} puts the first id past the last tick of {layout}")
            }
            BuildError::StartAfter { id, layout } => {
                write!(f, "cannot start after {id}: it has bits above those of {layout}")
            }
            BuildError::Cores { cores, layout } => write!(
                f,
                "cannot split the sequence among {cores} cores: {layout} has {} numbers a tick, so 1 to {} cores",
                layout.max_sequence() + 1,
                layout.max_sequence().div_ceil(2)
            ),
        }
    }
}

impl core::error::Error for BuildError {}

/// Why a layout, or an id or a time in it, is not possible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LayoutError {
    /// The fields together have more bits than an id.
    TooWide {
        /// Asked for.
        tick_bits: u32,
        /// Asked for.
        worker_bits: u32,
        /// Asked for.
        sequence_bits: u32,
        /// What they may have together: 63, or 64 if unsigned.
        limit: u32,
    },
    /// There would be only one tick.
    NoTickBits {
        /// Asked for.
        worker_bits: u32,
        /// Asked for.
        sequence_bits: u32,
    },
    /// There would be one id a tick and no sequence to count.
    NoSequenceBits {
        /// Asked for.
        tick_bits: u32,
        /// Asked for.
        worker_bits: u32,
    },
    /// The tick is not 1 us to 1 s long.
    TickLength {
        /// Asked for.
        tick: Duration,
    },
    /// The datacenter is wider than the worker field that it is the top of.
    DatacenterBits {
        /// Asked for.
        datacenter_bits: u32,
        /// The worker field.
        worker_bits: u32,
    },
    /// A field's value does not fit into its bits.
    FieldOutOfRange {
        /// The layout with that field.
        layout: Layout,
        /// Which field.
        field: &'static str,
        /// Asked for.
        value: u64,
        /// The field's bits.
        bits: u32,
    },
    /// The time is before the layout's epoch or past its last tick.
    #[cfg(feature = "std")]
    TimeOutOfRange {
        /// The layout that cannot show it.
        layout: Layout,
        /// The time.
        time: SystemTime,
    },
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::TooWide { tick_bits, worker_bits, sequence_bits, limit } => {
                let sum =
                    u64::from(*tick_bits) + u64::from(*worker_bits) + u64::from(*sequence_bits);
                write!(
                    f,
                    "{tick_bits} tick + {worker_bits} worker + {sequence_bits} sequence bits are {sum}, above the limit of {limit}"
                )
            }
            LayoutError::NoTickBits { worker_bits, sequence_bits } => write!(
                f,
                "0 tick + {worker_bits} worker + {sequence_bits} sequence bits: a layout needs at least one tick bit"
            ),
            LayoutError::NoSequenceBits { tick_bits, worker_bits } => write!(
                f,
                "{tick_bits} tick + {worker_bits} worker + 0 sequence bits: a layout needs at least one sequence bit"
            ),
            LayoutError::TickLength { tick } => {
                write!(f, "a tick of {tick:?} is outside of 1 us to 1 s")
            }
            LayoutError::DatacenterBits { datacenter_bits, worker_bits } => {
                write!(
                    f,
                    "{datacenter_bits} datacenter bits do not fit into {worker_bits} worker bits"
                )
            }
            LayoutError::FieldOutOfRange { layout, field, value, bits } => {
                out_of_range(f, field, *value, layout, *bits)
            }
            #[cfg(feature = "std")]
            LayoutError::TimeOutOfRange { layout, time } => {
                write!(f, "{time:?} is outside of {layout}, which ends at {:?}", layout.expires())
            }
        }
    }
}

impl core::error::Error for LayoutError {}
