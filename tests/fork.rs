//! I8: a forked child never issues an id that its parent could. Real `fork()`, from a process whose
//! other threads are drawing at that moment.
#![cfg(unix)]
#![allow(unsafe_code, reason = "fork, pipe, waitpid")]

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nivis::{Clock, Error, Generator, Id, Layout, LocalGenerator, OnTurn, TscClock};

/// Forks; the child runs `child`, sends what it returns, and ends. The parent gets its pid and words.
fn fork(child: impl FnOnce() -> Vec<u64>) -> (libc::pid_t, File) {
    let mut ends = [0; 2];
    // SAFETY: an array of two, as pipe wants it.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: the child runs `child` and ends with `_exit`; it takes no lock of this process but the
    // allocator's, which the C library looks after.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    // SAFETY: both ends are ours, and each process keeps one.
    let [mut reader, mut writer] = ends.map(|end| unsafe { File::from_raw_fd(end) });
    if pid > 0 {
        drop(writer);
        return (pid, reader);
    }
    // SAFETY: ends a child that hangs, which the parent then reports.
    unsafe { libc::alarm(20) };
    let words = child();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let sent = writer.write_all(&bytes).is_ok();
    let _ = reader.read(&mut []);
    // SAFETY: ends this process without the parent's exit handlers.
    unsafe { libc::_exit(i32::from(!sent)) }
}

fn words((pid, mut reader): (libc::pid_t, File)) -> Vec<u64> {
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    let mut status = 0;
    // SAFETY: our own child.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(status, 0, "a child hung or crashed");
    bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

const FORKED: u64 = u64::MAX;
const OTHER_ERROR: u64 = u64::MAX - 1;

fn word(drawn: Result<Id, Error>) -> u64 {
    match drawn {
        Ok(id) => id.as_u64(),
        Err(Error::Forked) => FORKED,
        Err(_) => OTHER_ERROR,
    }
}

/// Asks in every way, many times: a hot tick, and slow paths.
fn ask<C: Clock>(ids: &Generator<C>) -> Vec<u64> {
    let mut words = Vec::new();
    for _ in 0..2_000 {
        words.push(word(ids.try_next_id()));
        words.push(word(ids.next_id()));
        words.push(word(ids.next_ids(3).map(|mut ids| ids.next().unwrap())));
        ids.turn();
    }
    words
}

#[test]
fn i8_fork_safe_children_of_a_warm_parent() {
    let ids = Generator::builder(Layout::TWITTER).worker(1).build().unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let drawing: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        mine.extend(ids.next_id().map(Id::as_u64).ok());
                    }
                    mine
                })
            })
            .collect();
        let children: Vec<_> = (0..8_u64)
            .map(|child| {
                ids.next_id().unwrap();
                fork(|| {
                    let mut words = ask(&ids);
                    // A generator of the child's own works at once: no thread is missed.
                    let own = Generator::new(Layout::TWITTER, 100 + child).unwrap();
                    words.extend((0..2_000).map(|_| word(own.next_id())));
                    words
                })
            })
            .collect();
        let children: Vec<Vec<u64>> = children.into_iter().map(words).collect();
        stop.store(true, Ordering::Relaxed);
        let mut all = HashSet::new();
        let mut n = 0;
        for mine in drawing {
            for id in mine.join().unwrap() {
                n += 1;
                assert!(all.insert(id));
            }
        }
        assert!(n > 1_000, "the parent was not warm");
        for (child, words) in children.into_iter().enumerate() {
            let (of_the_parent, own) = words.split_at(6_000);
            assert!(of_the_parent.iter().all(|word| *word == FORKED));
            assert_eq!(own.len(), 2_000);
            for id in own {
                assert!(*id < OTHER_ERROR);
                assert_eq!(Layout::TWITTER.node(Id::from_u64(*id)), 100 + child as u64);
                assert!(all.insert(*id));
            }
        }
        // The parent goes on.
        assert!(!all.contains(&ids.next_id().unwrap().as_u64()));
    });
}

#[test]
fn i8_of_the_other_generators_and_of_grandchildren() {
    static UNBORN: Generator = Generator::const_new(Layout::TWITTER, 7);
    static BORN: Generator = Generator::const_new(Layout::TWITTER, 8);
    let on_turn = Generator::builder(Layout::TWITTER)
        .worker(2)
        .clock(OnTurn::new(TscClock::new()))
        .build()
        .unwrap();
    let local: LocalGenerator =
        Generator::builder(Layout::TWITTER).worker(3).build_local().unwrap();
    for _ in 0..100 {
        BORN.next_id().unwrap();
        on_turn.next_id().unwrap();
        local.next_id().unwrap();
    }
    let child = fork(|| {
        let mut words = ask(&on_turn);
        words.extend((0..100).map(|_| word(local.next_id())));
        words.extend((0..100).map(|_| word(BORN.next_id())));
        let own = Generator::new(Layout::TWITTER, 9).unwrap();
        let mine = word(own.next_id());
        let grandchild = fork(|| {
            let mut words = vec![word(own.next_id()), word(on_turn.next_id())];
            words.push(word(UNBORN.next_id()));
            words
        });
        words.extend(self::words(grandchild));
        words.push(mine);
        words
    });
    let words = words(child);
    // A static that nobody had used before the fork might be used by the parent too: refused as well.
    let (forked, drawn) = words.split_at(6_000 + 200 + 3);
    assert!(forked.iter().all(|word| *word == FORKED), "{forked:?}");
    assert_eq!(drawn.len(), 1);
    assert_eq!(Layout::TWITTER.node(Id::from_u64(drawn[0])), 9);
    assert_eq!(Layout::TWITTER.node(UNBORN.next_id().unwrap()), 7);
    on_turn.next_id().unwrap();
    local.next_id().unwrap();
}

/// A child made without the C library's `fork`, as sandboxes and language runtimes do.
#[cfg(target_os = "linux")]
#[test]
fn i8_a_raw_clone_is_seen_too() {
    let ids = Generator::new(Layout::TWITTER, 1).unwrap();
    ids.next_id().unwrap();
    // SAFETY: clone with no flags but the signal is a fork; the child draws and ends.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if pid == 0 {
        let forked = (0..1_000).all(|_| ids.try_next_id() == Err(Error::Forked));
        // SAFETY: as above.
        unsafe { libc::_exit(i32::from(!forked)) };
    }
    assert!(pid > 0);
    let mut status = 0;
    // SAFETY: our own child.
    unsafe { libc::waitpid(pid as libc::pid_t, &raw mut status, 0) };
    assert_eq!(status, 0);
    ids.next_id().unwrap();
}
