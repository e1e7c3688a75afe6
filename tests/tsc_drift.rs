//! The default clock against the system's, for as long as one likes to watch.

use std::time::{Duration, Instant, SystemTime};

use nivis::{Generator, Layout};

/// Each id's tick is the system clock's tick when it was drawn: not before the one just before the
/// call, not after the one just after it. On a machine whose clock is slewed meanwhile, its neighbour.
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
                assert!(shown + 1 >= before && shown <= after + 1, "{shown}: {before} to {after}");
            }
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    println!("{n} ids, {neighbours} of them one tick apart from the system's clock");
    // By the 1/1024 of a tick that a counter may hide the next, and for a slewed clock, tenfold.
    assert!(neighbours * 100 <= n, "{neighbours} of {n}");
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
