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

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
