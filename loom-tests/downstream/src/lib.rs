//! A user of nivis who checks their own code with loom: an order book.
//!
//! Orders are numbered by nivis. The book promises that a snapshot taken with a cursor misses nothing:
//! whoever has read up to an id will never see a smaller one appear. That takes more than ordered ids:
//! the id has to be drawn *under the lock* of the book, or an order with a smaller id may come in after
//! a larger one was shown. See `tests/book.rs`, where a model finds just that.

#[cfg(loom)]
use loom::sync::Mutex;
use nivis::{Clock, Error, Generator, Id};
#[cfg(not(loom))]
use std::sync::Mutex;

/// The process's generator. It is there in every build but one that explores nivis: loom's atomics
/// have no `const` constructor.
#[cfg(not(all(loom, feature = "explore")))]
pub static IDS: Generator = Generator::const_new(nivis::Layout::TWITTER, 7);

/// An order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Order {
    /// Its place in the book.
    pub id: Id,
    /// What was ordered.
    pub item: u32,
}

/// Orders by id.
#[derive(Debug, Default)]
pub struct Book {
    orders: Mutex<Vec<Order>>,
}

impl Book {
    /// An empty book.
    pub fn new() -> Book {
        Book { orders: Mutex::new(Vec::new()) }
    }

    /// Draws an id and enters the order.
    ///
    /// # Panics
    ///
    /// If a thread panicked with the lock held.
    pub fn place<C: Clock>(&self, ids: &Generator<C>, item: u32) -> Result<Id, Error> {
        let mut orders = self.orders.lock().unwrap();
        let id = ids.try_next_id()?;
        orders.push(Order { id, item });
        Ok(id)
    }

    /// [`place`](Self::place) as one would write it first: the book is locked for a shorter time, and
    /// the promise is broken.
    ///
    /// # Panics
    ///
    /// If a thread panicked with the lock held.
    pub fn place_hastily<C: Clock>(&self, ids: &Generator<C>, item: u32) -> Result<Id, Error> {
        let id = ids.try_next_id()?;
        self.orders.lock().unwrap().push(Order { id, item });
        Ok(id)
    }

    /// The orders after the one that was read last.
    ///
    /// # Panics
    ///
    /// If a thread panicked with the lock held.
    pub fn after(&self, last: Option<Id>) -> Vec<Order> {
        let orders = self.orders.lock().unwrap();
        orders.iter().filter(|order| Some(order.id) > last).copied().collect()
    }
}
