//! The user's own models, in two builds under `--cfg loom`: with the feature `explore` nivis is explored
//! along with the book, without it nivis is opaque.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use loom::thread;
use loom_downstream::Book;
use nivis::{Clock, Error, Generator, Id};

/// As `Book::place`.
type Place<C> = fn(&Book, &Generator<C>, u32) -> Result<Id, Error>;

/// Two place an order each, and a third reads the book twice with a cursor.
fn readers_miss_nothing<C>(ids: &Arc<Generator<C>>, place: Place<C>)
where
    C: Clock + Send + Sync + 'static,
{
    let book = Arc::new(Book::new());
    let writers = [1, 2].map(|item| {
        let (book, ids) = (book.clone(), ids.clone());
        thread::spawn(move || place(&book, &ids, item).unwrap())
    });
    let mut read = book.after(None);
    read.extend(book.after(read.last().map(|order| order.id)));
    let placed = writers.map(|writer| writer.join().unwrap());
    assert_ne!(placed[0], placed[1], "an id came twice");
    read.extend(book.after(read.last().map(|order| order.id)));
    assert_eq!(read.len(), 2, "a reader with a cursor missed an order");
}

/// Counts the iterations of a model.
fn model(name: &str, body: impl Fn() + Send + Sync + 'static) {
    let iterations = Arc::new(AtomicU64::new(0));
    let counted = iterations.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    let start = std::time::Instant::now();
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        body();
    });
    let iterations = iterations.load(Ordering::Relaxed);
    println!("model {name}: {iterations} iterations, {:.1} s", start.elapsed().as_secs_f64());
    assert!(iterations > 1, "a model with one iteration explores nothing");
}

#[cfg(feature = "explore")]
mod explored {
    use super::*;
    use nivis::{Layout, ManualClock};
    use std::time::Duration;

    /// The clock shows a tick that nobody has drawn from; a sequence of 2 bits has room for the test.
    fn ids() -> Arc<Generator<ManualClock>> {
        let layout = Layout::new(20, 1, 2);
        let clock = ManualClock::new(10_000_000);
        let ids = Generator::builder(layout).worker(1).clock(clock).build().unwrap();
        ids.clock().advance(Duration::from_millis(1));
        Arc::new(ids)
    }

    #[test]
    fn a_reader_with_a_cursor_misses_nothing() {
        model("a_reader_with_a_cursor_misses_nothing", || {
            readers_miss_nothing(&ids(), Book::place::<ManualClock>);
        });
    }

    /// The hasty book's bug lies between nivis and the lock, so that only this build sees it.
    #[test]
    #[should_panic(expected = "a reader with a cursor missed an order")]
    fn a_hasty_book_is_found_out() {
        model("a_hasty_book_is_found_out", || {
            readers_miss_nothing(&ids(), Book::place_hastily::<ManualClock>);
        });
    }
}

#[cfg(not(feature = "explore"))]
mod opaque {
    use super::*;
    use loom_downstream::IDS;
    use nivis::{Layout, SystemClock};
    use std::time::Duration;

    /// nivis is on std's atomics: ids come as in production, from the user's static.
    #[test]
    fn a_static_generator_works_in_a_model() {
        model("a_static_generator_works_in_a_model", || {
            let book = Arc::new(Book::new());
            let threads = [(); 2].map(|()| {
                let book = book.clone();
                thread::spawn(move || {
                    let first = IDS.next_id().unwrap();
                    assert_eq!(book.after(Some(first)), []);
                    let second = IDS.next_id().unwrap();
                    assert!(first < second);
                    assert_eq!(Layout::TWITTER.node(second), 7);
                })
            });
            for thread in threads {
                thread.join().unwrap();
            }
        });
    }

    /// The lead makes room for all ids of the test: no refusal depends on how fast it runs.
    #[test]
    fn the_book_alone_is_explored() {
        let lead = Duration::from_secs(1);
        let ids = Generator::builder(Layout::TWITTER).worker(3).lead(lead).clock(SystemClock);
        let ids = Arc::new(ids.build().unwrap());
        ids.next_id().unwrap();
        model("the_book_alone_is_explored", move || {
            readers_miss_nothing(&ids, Book::place::<SystemClock>);
        });
    }
}
