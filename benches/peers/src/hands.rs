//! A hand draws ids, one after another, on one thread. Everything that is measured is a hand.
//!
//! Hands are types and not boxed functions: each measurement's loop is compiled for each contestant,
//! as it would be in a service.

use std::marker::PhantomData;
use std::sync::Arc;

/// 8 bytes, 12 or 16.
pub trait Ident: Copy + Ord + Send + 'static {}
impl<T: Copy + Ord + Send + 'static> Ident for T {}

/// Draws ids on one thread.
pub trait Hand: Send {
    type Id: Ident;
    fn draw(&mut self) -> Self::Id;
}

/// Makes a fresh contestant, and a hand on it for each thread.
pub trait Maker {
    type Hand: Hand;
    fn hands(&self, threads: usize) -> Vec<Self::Hand>;
}

/// One generator for all threads, behind an `Arc`.
pub struct Shared<M, D, G, T> {
    make: M,
    draw: D,
    types: PhantomData<fn() -> (G, T)>,
}

pub fn shared<M, D, G, T>(make: M, draw: D) -> Shared<M, D, G, T>
where
    M: Fn() -> G,
    D: Fn(&G) -> T + Copy + Send,
{
    Shared { make, draw, types: PhantomData }
}

impl<M, D, G, T> Maker for Shared<M, D, G, T>
where
    M: Fn() -> G,
    D: Fn(&G) -> T + Copy + Send,
    G: Send + Sync,
    T: Ident,
{
    type Hand = OnShared<D, G, T>;

    fn hands(&self, threads: usize) -> Vec<Self::Hand> {
        let one = Arc::new((self.make)());
        let hand = || OnShared { one: one.clone(), draw: self.draw, types: PhantomData };
        std::iter::repeat_with(hand).take(threads).collect()
    }
}

pub struct OnShared<D, G, T> {
    one: Arc<G>,
    draw: D,
    types: PhantomData<fn() -> T>,
}

impl<D: Fn(&G) -> T + Send, G: Send + Sync, T: Ident> Hand for OnShared<D, G, T> {
    type Id = T;

    #[inline]
    fn draw(&mut self) -> T {
        (self.draw)(&self.one)
    }
}

/// Something of its own for each thread: a generator, or a clone of one that is a pointer already.
pub struct Each<M, D, G, T> {
    make: M,
    draw: D,
    types: PhantomData<fn() -> (G, T)>,
}

pub fn each<M, D, G, T>(make: M, draw: D) -> Each<M, D, G, T>
where
    M: Fn(usize) -> Vec<G>,
    D: Fn(&mut G) -> T + Copy + Send,
{
    Each { make, draw, types: PhantomData }
}

impl<M, D, G, T> Maker for Each<M, D, G, T>
where
    M: Fn(usize) -> Vec<G>,
    D: Fn(&mut G) -> T + Copy + Send,
    G: Send,
    T: Ident,
{
    type Hand = OnOwn<D, G, T>;

    fn hands(&self, threads: usize) -> Vec<Self::Hand> {
        let hand = |own| OnOwn { own, draw: self.draw, types: PhantomData };
        (self.make)(threads).into_iter().map(hand).collect()
    }
}

pub struct OnOwn<D, G, T> {
    own: G,
    draw: D,
    types: PhantomData<fn() -> T>,
}

impl<D: Fn(&mut G) -> T + Send, G: Send, T: Ident> Hand for OnOwn<D, G, T> {
    type Id = T;

    #[inline]
    fn draw(&mut self) -> T {
        (self.draw)(&mut self.own)
    }
}
