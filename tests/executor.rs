//! The async form on tokio: it yields, it orders, and dropping it loses nothing.
#![cfg(feature = "tokio")]

mod support;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use nivis::{Error, Generator, Id, Layout};
use support::manual;

/// Case 36: a tick is exhausted inside a task, and the only thread of the executor goes on with others.
#[tokio::test(flavor = "current_thread")]
async fn case_36_exhaustion_yields_to_the_executor() {
    // 256 ids per 10 ms: 16 tasks for 512 ids have to wait for two ticks or so.
    let ids = Arc::new(
        Generator::builder(Layout::SONYFLAKE)
            .worker(1)
            .max_wait(Duration::from_secs(20))
            .build()
            .unwrap(),
    );
    let stop = Arc::new(AtomicBool::new(false));
    let beats = Arc::new(AtomicU64::new(0));
    let heart = tokio::spawn({
        let (stop, beats) = (stop.clone(), beats.clone());
        async move {
            while !stop.load(Ordering::Relaxed) {
                beats.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
            }
        }
    });
    let tasks: Vec<_> = (0..16)
        .map(|_| {
            let ids = ids.clone();
            tokio::spawn(async move {
                let mut mine = Vec::new();
                for _ in 0..64 {
                    mine.push(ids.next_id_async().await.unwrap());
                }
                mine
            })
        })
        .collect();
    let mut all = HashSet::new();
    for task in tasks {
        let mine = task.await.unwrap();
        assert!(mine.is_sorted());
        all.extend(mine);
    }
    stop.store(true, Ordering::Relaxed);
    heart.await.unwrap();
    assert_eq!(all.len(), 16 * 64);
    // Between the first id and the last lie ticks in which only the heart ran.
    let ticks: HashSet<u64> = all.iter().map(|id| Layout::SONYFLAKE.decompose(*id).tick).collect();
    assert!(ticks.len() >= 4, "{}", ticks.len());
    let beats = beats.load(Ordering::Relaxed);
    assert!(beats > 1_000, "the executor was blocked: {beats} beats");
}

#[tokio::test]
async fn refusals_come_within_max_wait() {
    let (ids, clock) = manual(Layout::TWITTER);
    while ids.try_next_id().is_ok() {}
    let tick = Duration::from_millis(1);
    assert_eq!(ids.next_id_async().await, Err(Error::Exhausted { retry_after: tick }));
    clock.set_time(0);
    assert_eq!(ids.next_id_async().await, Err(Error::BeforeEpoch));
}

#[tokio::test]
async fn a_dropped_future_takes_no_id() {
    let (ids, clock) = manual(Layout::TWITTER);
    let last = ids.next_ids(4_096).unwrap().last().unwrap();
    for _ in 0..10 {
        let waiting = ids.next_id_async();
        assert!(tokio::time::timeout(Duration::from_millis(2), waiting).await.is_err());
    }
    clock.advance(Duration::from_millis(1));
    let next: Vec<Id> = ids.next_ids(usize::MAX).unwrap().collect();
    assert!(next[0] > last);
    assert_eq!(next.len(), 4_096, "nobody waits any more, and nothing is kept back");
}

#[tokio::test]
async fn a_core_waits_without_blocking_too() {
    let cores = nivis::per_core(Layout::SONYFLAKE, 1, 2).unwrap();
    let mut all = HashSet::new();
    for core in &cores {
        for _ in 0..300 {
            assert!(all.insert(core.next_id_async().await.unwrap()));
        }
    }
}
