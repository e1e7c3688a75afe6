//! The default clock against the system's, for as long as one likes to watch.

use std::time::{Duration, Instant, SystemTime};

use nivis::{Generator, Layout};

/// Each id's tick is the system clock's tick when it was drawn: not before the one just before the
/// call, not after the one just after it. Where that clock is being set meanwhile, its neighbour: a step
/// ahead is followed when the tick is over, and after a step back ids lead by what `ahead` says.
fn watch(time: Duration) {
    let layout = Layout::TWITTER;
    let ids = Generator::new(layout, 1).unwrap();
    let tick = |t: SystemTime| layout.decompose(layout.min_id_at(t).unwrap()).tick;
    ids.next_id().unwrap();
    let start = Instant::now();
    let (mut n, mut neighbours) = (0_u64, 0_u64);
    while start.elapsed() < time {
        for _ in 0..1_000 {
            let before = tick(SystemTime::now());
            let id = ids.next_id().unwrap();
            let after = tick(SystemTime::now());
            let shown = layout.decompose(id).tick;
            n += 1;
            if shown < before || shown > after {
                neighbours += 1;
                let ahead = ids.clock().ahead().as_millis() as u64;
                let near = before - 1..=after + ahead + 1;
                assert!(near.contains(&shown), "{shown} is not in {near:?}");
            }
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    println!("{n} ids, {neighbours} of them one tick apart from the system's clock");
    // Some virtual machines step their clocks by half a millisecond ten times a second.
    assert!(neighbours * 20 <= n, "{neighbours} of {n}");
}

#[test]
fn ids_show_the_system_clocks_tick() {
    watch(Duration::from_secs(3));
}

#[test]
#[ignore = "takes 10 minutes: tests/run --slow"]
fn ids_show_the_system_clocks_tick_for_10_minutes() {
    watch(Duration::from_secs(600));
}
