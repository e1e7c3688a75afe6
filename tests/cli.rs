//! The command line, run as a user runs it.
#![cfg(feature = "cli")]

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nivis::{Id, Layout};
use serde_json::Value;

/// Wikipedia, "Snowflake ID".
const TWEET: &str = "1541815603606036480";

fn start(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_nivis"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run_on(stdin: &[u8], args: &[&str]) -> Output {
    let mut child = start(args);
    let mut input = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // A process that stops at a bad line closes the pipe.
    let feeder = std::thread::spawn(move || drop(input.write_all(&stdin)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

/// What a run that succeeds prints; it says nothing on stderr.
fn run(args: &[&str]) -> String {
    stdout(&run_on(b"", args), args)
}

fn stdout(output: &Output, args: &[&str]) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{args:?}: {stderr}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What a run that is refused prints, and its one line on stderr.
fn refused_on(stdin: &[u8], args: &[&str]) -> (String, String) {
    let output = run_on(stdin, args);
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.matches('\n').count(), 1, "{args:?}: {stderr}");
    let line = stderr.strip_prefix("error: ").and_then(|text| text.strip_suffix('\n'));
    let line = line.unwrap_or_else(|| panic!("{args:?}: {stderr}"));
    (String::from_utf8(output.stdout).unwrap(), line.to_owned())
}

/// The one line of a run that is refused before it prints anything.
fn refused(args: &[&str]) -> String {
    let (out, line) = refused_on(b"", args);
    assert_eq!(out, "", "{args:?}");
    line
}

fn ids(text: &str) -> Vec<Id> {
    text.lines().map(|line| line.parse().unwrap()).collect()
}

/// The value of `name` in what `inspect` prints of one id.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::trim)
}

fn ago(at: SystemTime) -> Duration {
    SystemTime::now().duration_since(at).unwrap()
}

#[test]
fn next_draws_ids_that_are_unique_increasing_and_of_now() {
    let text = run(&["next", "-n", "10000", "--worker", "378"]);
    let ids = ids(&text);
    assert_eq!(ids.len(), 10_000);
    assert!(ids.is_sorted_by(|a, b| a < b));
    for id in ids {
        assert_eq!(Layout::TWITTER.node(id), 378);
        assert!(ago(Layout::TWITTER.timestamp(id)) < Duration::from_secs(60));
    }
}

#[test]
fn next_draws_one_id_of_worker_0_unless_told() {
    let ids = ids(&run(&["next"]));
    assert_eq!(ids.len(), 1);
    assert_eq!(Layout::TWITTER.node(ids[0]), 0);
    assert_eq!(run(&["next", "-n", "0"]), "");
}

#[test]
fn next_takes_every_layout_by_any_spelling() {
    let spellings = [
        ("twitter", Layout::TWITTER),
        ("Leaf", Layout::LEAF),
        ("DISCORD", Layout::DISCORD),
        ("instagram", Layout::INSTAGRAM),
        ("mastodon", Layout::MASTODON),
        // Ticks of 10 ms with 256 ids: 600 take three.
        ("sonyflake", Layout::SONYFLAKE),
        ("js-safe", Layout::JS_SAFE),
        ("JS_SAFE", Layout::JS_SAFE),
    ];
    for (name, layout) in spellings {
        let ids = ids(&run(&["next", "-n", "600", "--layout", name]));
        assert_eq!(ids.len(), 600, "{name}");
        // Sonyflake's worker is below its sequence; with one worker the ids still increase.
        assert!(ids.is_sorted_by(|a, b| a < b), "{name}");
        assert!(ids.iter().all(|id| layout.decompose(*id).tick <= layout.max_tick()), "{name}");
        assert!(ago(layout.timestamp(ids[0])) < Duration::from_secs(60), "{name}");
    }
}

#[test]
fn next_refuses_a_layout_that_has_ended() {
    assert_eq!(
        refused(&["next", "--layout", "baidu"]),
        "layout BAIDU ended at 2024-11-20T13:24:16.000Z: its old ids can be read, and there are no new ones"
    );
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    for args in [
        &["next", "-n", "18446744073709551615"][..],
        // More than a pipe and a buffer hold.
        &["next", "-n", "1000000", "--layout", "mastodon"],
    ] {
        let mut child = start(args);
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.trim_end().parse::<Id>().is_ok(), "{line}");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_and_no_panic() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_nivis"))
        .args(["next", "-n", "3"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("error: cannot write: "), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn case_10_a_worker_out_of_range_is_refused_with_the_range() {
    let worker = |worker: &str| refused(&["next", "--worker", worker]);
    assert_eq!(
        worker("1024"),
        "worker 1024 is out of range: Layout::TWITTER has 10 worker bits, so 0 to 1023"
    );
    assert_eq!(
        worker("18446744073709551615"),
        "worker 18446744073709551615 is out of range: Layout::TWITTER has 10 worker bits, so 0 to 1023"
    );
    for text in ["-1", "18446744073709551616", "one", "1.5", ""] {
        assert_eq!(
            worker(text),
            format!("worker {text:?} is not a whole number from 0 to 1023"),
            "{text}"
        );
    }
    assert_eq!(
        refused(&["next", "--layout", "mastodon", "--worker", "1"]),
        "worker 1 is out of range: Layout::MASTODON has 0 worker bits, so 0 to 0"
    );
}

#[test]
fn bad_arguments_are_one_line_that_says_which() {
    let layouts = "TWITTER, LEAF, DISCORD, INSTAGRAM, MASTODON, SONYFLAKE, BAIDU, JS_SAFE";
    for command in ["next", "inspect"] {
        assert_eq!(
            refused(&[command, "--layout", "twiter"]),
            format!("no layout is named \"twiter\": there are {layouts}")
        );
    }
    // Terminal codes and line ends are shown, not sent.
    let hostile = refused(&["next", "--layout", "\u{1b}[31m\n\nx"]);
    assert!(hostile.starts_with(r#"no layout is named "\u{1b}[31m\n\nx""#), "{hostile}");
    for n in ["-1", "18446744073709551616", "many"] {
        assert_eq!(
            refused(&["next", "-n", n]),
            format!("count {n:?} is not a whole number from 0 to 18446744073709551615")
        );
    }
    assert_eq!(refused(&[]), "no command: next, inspect or layouts; see nivis --help");
    assert_eq!(refused(&["draw"]), "unrecognized subcommand 'draw'");
    assert_eq!(refused(&["next", "--fast"]), "unexpected argument '--fast' found");
    assert_eq!(refused(&["next", "5"]), "unexpected argument '5' found");
    assert!(refused(&["next", "-n"]).starts_with("a value is required for"));
}

#[test]
fn help_and_version_succeed() {
    assert_eq!(run(&["--version"]), concat!("nivis ", env!("CARGO_PKG_VERSION"), "\n"));
    for args in [&["--help"][..], &["next", "--help"], &["inspect", "-h"], &["help", "layouts"]] {
        assert!(run(args).contains("Usage: nivis"), "{args:?}");
    }
    assert!(run(&["next", "--help"]).contains("[default: 0]"));
}

#[test]
fn inspect_shows_every_field_and_the_time() {
    let text = run(&["inspect", TWEET]);
    let expected = [
        ("id", TWEET),
        ("layout", "TWITTER"),
        ("time", "2022-06-28T16:07:40.105Z"),
        ("tick", "367597485448"),
        ("datacenter", "11"),
        ("worker", "26"),
        ("node", "378"),
        ("sequence", "0"),
    ];
    for (name, value) in expected {
        assert_eq!(field(&text, name), Some(value), "{text}");
    }
    let days = ago(UNIX_EPOCH + Duration::from_millis(1656432460105)).as_secs() / 86_400;
    assert!(field(&text, "age").unwrap().starts_with(&format!("{days}d ")), "{text}");

    // Discord API reference.
    let text = run(&["inspect", "--layout", "discord", "175928847299117063"]);
    let shown = ["time", "datacenter", "worker", "sequence"].map(|name| field(&text, name));
    assert_eq!(shown, ["2016-04-30T11:18:25.796Z", "1", "0", "7"].map(Some));

    // No datacenter in this layout; several ids are set apart by a blank line.
    let text = run(&["inspect", "--layout", "leaf", TWEET, "0"]);
    let (first, second) = text.split_once("\n\n").unwrap();
    assert_eq!(field(first, "datacenter"), None);
    assert_eq!((field(first, "worker"), field(first, "node")), (Some("378"), Some("378")));
    assert_eq!(field(second, "time"), Some("2010-11-04T01:42:54.657Z"));
}

#[test]
fn case_31_inspect_writes_json_lines_with_ids_as_strings() {
    let text = run(&["inspect", "--json", "653247040368672768", TWEET]);
    let objects: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0]["id"], "653247040368672768");
    let object = &objects[1];
    assert_eq!(object["id"], TWEET);
    assert_eq!(object["layout"], "TWITTER");
    assert_eq!(object["time"], "2022-06-28T16:07:40.105Z");
    assert_eq!(object["unix_ms"], 1656432460105_u64);
    assert_eq!(object["tick"], 367597485448_u64);
    assert_eq!(object["datacenter"], 11);
    assert_eq!(object["worker"], 26);
    assert_eq!(object["node"], 378);
    assert_eq!(object["sequence"], 0);
    let age = u128::from(object["age_ms"].as_u64().unwrap());
    assert!(ago(UNIX_EPOCH + Duration::from_millis(1656432460105)).as_millis() - age < 60_000);

    let text = run(&["inspect", "--json", "--layout", "js_safe", "9007199254740991"]);
    let object: Value = serde_json::from_str(&text).unwrap();
    assert!(object["age_ms"].as_i64().unwrap() < 0);
    assert!(object.get("datacenter").is_none());
}

#[test]
fn inspect_reads_stdin_when_no_id_is_named() {
    let args = ["inspect", "--json"];
    let input = format!("\n  {TWEET}\r\n\n\n0\n7");
    let text = stdout(&run_on(input.as_bytes(), &args), &args);
    let shown: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().into())
        .collect();
    assert_eq!(shown, [TWEET, "0", "7"]);
    assert_eq!(run(&["inspect"]), "");
    // Named ids are all there is.
    assert_eq!(run_on(b"x\n", &["inspect", "5"]).status.code(), Some(0));
}

#[test]
fn inspect_shows_each_id_while_more_are_to_come() {
    let mut child = start(&["inspect", "--json"]);
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in ["1", "2"] {
        writeln!(input, "{id}").unwrap();
        let object: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(object["id"], id);
    }
    drop(input);
    assert!(output.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn inspect_says_which_id_is_bad_and_shows_the_good_ones_before_it() {
    let (out, line) = refused_on(b"", &["inspect", "--json", "1", "2", "3x", "4"]);
    assert_eq!(out.lines().count(), 2);
    assert_eq!(line, "bad id \"3x\": an id is decimal digits: found 'x' at byte 1");

    let (out, line) = refused_on(b"1\n\n-2\n3\n", &["inspect", "--json"]);
    assert_eq!(out.lines().count(), 1);
    assert_eq!(line, "bad id \"-2\" on line 3: an id is decimal digits: found '-' at byte 0");

    assert_eq!(
        refused(&["inspect", "-1"]),
        "bad id \"-1\": an id is decimal digits: found '-' at byte 0"
    );
    assert_eq!(refused(&["inspect", ""]), "bad id \"\": an empty text is not an id");
    assert_eq!(
        refused(&["inspect", "18446744073709551616"]),
        "bad id \"18446744073709551616\": an id is at most 18446744073709551615: the number is larger"
    );
    // Neither text nor lines, and far longer than a line may be.
    let (out, line) = refused_on(&vec![0xFF; 1 << 20], &["inspect"]);
    assert_eq!(out, "");
    assert!(line.ends_with("...\" on line 1: an id is decimal digits: found '\u{fffd}' at byte 0"));
    assert!(line.len() < 300);
}

#[test]
fn inspect_refuses_bits_above_the_layout() {
    assert_eq!(
        refused(&["inspect", "9223372036854775808"]),
        "bad id \"9223372036854775808\": Layout::TWITTER has 63 bits, so at most 9223372036854775807"
    );
    assert_eq!(
        refused(&["inspect", "--layout", "js-safe", "9007199254740992"]),
        "bad id \"9007199254740992\": Layout::JS_SAFE has 53 bits, so at most 9007199254740991"
    );
    for (layout, last) in [
        ("twitter", "9223372036854775807"),
        ("js-safe", "9007199254740991"),
        ("discord", "18446744073709551615"),
    ] {
        let text = run(&["inspect", "--layout", layout, last]);
        assert!(field(&text, "age").unwrap().starts_with("in "), "{text}");
    }
}

#[test]
fn inspect_shows_dates_past_the_year_9999() {
    let text = run(&["inspect", "--layout", "mastodon", "18446744073709551615"]);
    assert_eq!(field(&text, "time"), Some("+10889-08-02T05:31:50.655Z"));
}

#[test]
fn inspect_reads_what_next_draws() {
    for (layout, worker) in [("twitter", "378"), ("sonyflake", "65535"), ("instagram", "8191")] {
        let drawn = run(&["next", "-n", "1000", "--layout", layout, "--worker", worker]);
        let args = ["inspect", "--json", "--layout", layout];
        let read = stdout(&run_on(drawn.as_bytes(), &args), &args);
        let mut read = read.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        for id in drawn.lines() {
            let object = read.next().unwrap();
            assert_eq!(object["id"], id);
            assert_eq!(object["node"].to_string(), worker);
            assert!((-1_000..60_000).contains(&object["age_ms"].as_i64().unwrap()), "{object}");
        }
        assert!(read.next().is_none());
    }
}

/// Each run is a restart of the same worker, most often within the same tick.
#[test]
fn case_16_runs_right_after_each_other_repeat_nothing() {
    for layout in ["twitter", "sonyflake"] {
        let mut seen = HashSet::new();
        let mut last = None;
        for _ in 0..20 {
            for id in ids(&run(&["next", "-n", "50", "--layout", layout, "--worker", "5"])) {
                assert!(seen.insert(id), "{layout}: {id} twice");
                assert!(last < Some(id), "{layout}: {id} is below the run before");
                last = Some(id);
            }
        }
        assert_eq!(seen.len(), 20 * 50);
    }
}

#[test]
fn layouts_is_a_table_with_a_warning_for_what_has_ended() {
    let text = run(&["layouts"]);
    let row = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(text.lines().count(), 1 + Layout::PRESETS.len());
    assert_eq!(
        row("TWITTER"),
        "TWITTER 41 tick | 5 datacenter | 5 worker | 12 sequence 1ms 4,096,000 1,024 2080-07-10"
    );
    assert_eq!(
        row("SONYFLAKE"),
        "SONYFLAKE 39 tick | 8 sequence | 16 worker 10ms 25,600 65,536 2188-11-16"
    );
    assert_eq!(row("MASTODON"), "MASTODON 48 tick | 16 sequence 1ms 65,536,000 1 +10889-08-02");
    assert!(row("BAIDU").contains("1s 8,192 4,194,304 2024-11-20 warning: ended "));
    assert_eq!(text.matches("warning").count(), 1);
}

#[test]
fn layouts_writes_json_lines() {
    let text = run(&["layouts", "--json"]);
    let objects: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<_> = objects.iter().map(|object| object["name"].as_str().unwrap()).collect();
    assert_eq!(names, Layout::PRESETS.map(|(name, _)| name));
    let sonyflake = &objects[5];
    assert_eq!(
        sonyflake["fields"],
        serde_json::json!([
            { "field": "tick", "bits": 39 },
            { "field": "sequence", "bits": 8 },
            { "field": "worker", "bits": 16 },
        ])
    );
    assert_eq!(sonyflake["epoch_unix_ms"], 1409529600000_u64);
    assert_eq!(sonyflake["epoch"], "2014-09-01T00:00:00.000Z");
    assert_eq!(sonyflake["tick_ms"], 10);
    assert_eq!(sonyflake["ids_per_second_per_worker"], 25_600);
    assert_eq!(sonyflake["workers"], 65_536);
    assert_eq!(sonyflake["ends_unix_ms"], 1409529600000 + (10_u64 << 39));
    assert_eq!(sonyflake["warning"], Value::Null);
    assert!(objects[6]["warning"].as_str().unwrap().starts_with("ended "));
}
