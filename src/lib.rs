//! Lock-free 64-bit ids of the Snowflake family that **stay unique whatever any clock does**.
//!
//! ```
//! use nivis::{Generator, Layout};
//!
//! let ids = Generator::new(Layout::TWITTER, 7)?;
//! let id = ids.next_id()?;
//! println!("{id} was made at {:?}", Layout::TWITTER.timestamp(id));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A service links nivis and gets ids that are unique among its workers, sort by time and cost a
//! counter read and a compare-and-swap. Most generators of this kind trust the wall clock,
//! and repeat ids or stop when the clock goes back, or when a restart, a paused process or a fork
//! breaks that trust. Here the clock decides what time an id *shows*, never whether it is unique.
//!
//! # Guarantees
//!
//! Each has a test of its name, and the memory orderings behind them are model-checked with loom.
//!
//! - **I1 Unique.** No two calls on one generator return the same id, whatever the clock returns.
//! - **I2 Ordered.** If one call returns before another starts, its id is smaller.
//! - **I3 Never early.** An id never shows a tick later than the largest time that the generator has
//!   read, plus [`lead`](GeneratorBuilder::lead).
//! - **I4 Never outside the lease.** For a generator with a slice of time: none of its ids lies
//!   outside, for the worker in that id.
//! - **I5 Dense.** Saturated, every sequence number of every tick is used.
//! - **I6 Lock-free.** [`try_next_id`](Generator::try_next_id) never blocks or allocates, and a thread
//!   that is stopped anywhere in it stops nobody else.
//! - **I7 Nothing half-done.** An error leaves the generator as it was.
//! - **I8 Fork-safe.** A forked child gets [`Error::Forked`] from its parent's generators.
//!
//! Across generators, uniqueness is that of workers: **give each generator its own**. What keeps that
//! promise over restarts stands in [`Generator`]'s documentation.
//!
//! # How it works
//!
//! ```text
//! Layout ──► word ──► Generator ──► Id
//!  bits     state      ▲
//!                    Clock: what time is it?
//! ```
//!
//! The state is one `AtomicU64`, the next id to hand out, packed as `tick | sequence | worker`. Adding
//! one step counts the sequence and carries into the tick, so that an exhausted tick is no special
//! case. Beside it stand the first word that may *not* be handed out, and the counter value at which
//! the tick is over. Everything only moves up: a clock that went back, a thread that was overtaken, a
//! full tick and a new tick all take the same path.
//!
//! # Choosing
//!
//! | a generator | for |
//! |---|---|
//! | [`Generator`] | any number of threads, by reference or `Arc`, or in a `static` ([`const_new`](Generator::const_new)) |
//! | [`LocalGenerator`], [`per_core`] | a thread-per-core runtime: no atomic read-modify-write |
//!
//! Layouts are compared at [`Layout`], clocks in [`clock`].
//!
//! # Features
//!
//! - `std` (default): the system's clocks, waiting, fork detection. Without it the crate is `no_std`
//!   and has [`try_next_id`](Generator::try_next_id) on a [`Clock`] of your own.
//! - `tokio`: `next_id_async`.
//! - `cli`: the command `nivis`.
//! - `loom`: see below.
//!
//! # Loom
//!
//! A global `--cfg loom` in your build leaves nivis as it is: on std's atomics, opaque to your model
//! and working, `static` generators included. With the feature `loom` as well it runs on loom's
//! atomics and your model explores it; give it a [`ManualClock`], and narrow sequences so that the
//! model reaches their end. [`Generator::const_new`] is then not there, as loom's atomics have no
//! `const` constructor.
//!
//! # Caveats
//!
//! - The first id comes from the tick *after* the one that its generator was built in, so that a
//!   restart repeats nothing. [`try_next_id`](Generator::try_next_id) right after building says
//!   [`Error::Exhausted`]; [`next_id`](Generator::next_id) waits.
//! - A layout has a ceiling: 4,096 ids per millisecond and worker for Twitter's. Above it callers wait,
//!   in no particular order.
//! - A process that forks while another of its threads makes its very first generator or clock may
//!   leave the child waiting for that for ever: make one before forking.
//! - On systems other than Linux a child made by a raw `clone()` is not recognized as a fork, and on
//!   Windows there is nothing to recognize.
#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
pub mod clock;
mod error;
mod fork;
mod generator;
mod id;
mod ids;
mod layout;
mod local;
mod plan;
mod sync;
#[cfg(feature = "std")]
mod wait;
mod word;

pub use builder::GeneratorBuilder;
pub use clock::Clock;
pub use clock::{ManualClock, OnTurn, Reading};
#[cfg(feature = "std")]
pub use clock::{SystemClock, TscClock};
pub use error::{BuildError, Error, LayoutError};
pub use generator::Generator;
pub use id::{Id, ParseIdError};
pub use ids::Ids;
pub use layout::{Layout, Parts};
pub use local::LocalGenerator;
#[cfg(feature = "std")]
pub use local::per_core;

#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
