//! Seeds bugs into a copy of the sources, one at a time, and runs the model that must catch each.
//!
//! ```text
//! cargo run -p loom-tests --bin twins              all of them
//! cargo run -p loom-tests --bin twins -- 3         the first three
//! cargo run -p loom-tests --bin twins -- steer     those whose name holds "steer"
//! ```
//!
//! A twin is caught if its model fails with the words that the twin names, so that neither a compile
//! error nor a failure of another kind counts. The sources themselves have no switches for bugs. All
//! builds share the models' target folder: nivis and the models are compiled anew for each twin, and
//! nothing else. Cargo tells packages apart by their place in the workspace, so the copy has another
//! version: else the models would run a twin's code, or a twin theirs.

use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

mod list;
use list::{TWINS, Twin};

/// How long a model may take to find the bug.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace member");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target/loom"), |dir| {
        std::path::absolute(dir).expect("the working directory is there")
    });
    let copy = target.join("twins");
    copy_tree(root, &copy);
    rename(root, &copy);

    let filter = std::env::args().nth(1).unwrap_or_default();
    let wanted: Vec<&Twin> = match filter.parse() {
        Ok(n) => TWINS.iter().take(n).collect(),
        Err(_) => TWINS.iter().filter(|twin| twin.name.contains(&filter)).collect(),
    };
    let mut caught = 0;
    for twin in &wanted {
        let start = Instant::now();
        let outcome = run(twin, root, &copy, &target);
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(explored) => {
                caught += 1;
                println!(
                    "twin {}: caught by {} in {seconds:.1} s{explored}",
                    twin.name, twin.model
                );
            }
            Err(why) => println!("twin {}: NOT CAUGHT by {}: {why}", twin.name, twin.model),
        }
    }
    println!("{caught} of {} twins caught", wanted.len());
    if caught == wanted.len() && caught > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Seeds one bug, builds the model, runs it, and puts the source back.
fn run(twin: &Twin, root: &Path, copy: &Path, target: &Path) -> Result<String, String> {
    let file = copy.join(twin.file);
    let source = fs::read_to_string(root.join(twin.file)).map_err(|e| e.to_string())?;
    let found = source.matches(twin.from).count();
    if found != 1 {
        return Err(format!("the list is stale: {} holds {found} times\n{}", twin.file, twin.from));
    }
    write_if_changed(&file, source.replacen(twin.from, twin.to, 1).as_bytes());
    let outcome = build(twin.test, copy, target).and_then(|model| judge(twin, &model));
    write_if_changed(&file, source.as_bytes());
    outcome
}

/// Builds a file of models and returns the program.
fn build(test: &str, copy: &Path, target: &Path) -> Result<PathBuf, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .env("RUSTFLAGS", "--cfg loom")
        .args(["test", "--release", "--offline", "--no-run", "-p", "loom-tests", "--test", test])
        .output()
        .map_err(|e| e.to_string())?;
    let report = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("does not compile\n{report}"));
    }
    // "  Executable tests/lease.rs (/.../deps/lease-0123)"
    report
        .lines()
        .find_map(|line| {
            line.trim().strip_prefix("Executable ")?.split_once('(')?.1.strip_suffix(')')
        })
        .map(|path| copy.join(path))
        .ok_or_else(|| format!("cargo names no program\n{report}"))
}

/// Runs the model in a process of its own: a model that fails often panics twice, which aborts it.
fn judge(twin: &Twin, model: &Path) -> Result<String, String> {
    let log = model.with_extension("log");
    let out = fs::File::create(&log).map_err(|e| e.to_string())?;
    let mut child = Command::new(model)
        .args(["--exact", twin.model, "--nocapture", "--include-ignored"])
        .env_remove("NIVIS_SLOW")
        .env("RUST_BACKTRACE", "0")
        .stdout(out.try_clone().map_err(|e| e.to_string())?)
        .stderr(out)
        .stdin(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => break status,
            None if start.elapsed() > LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer in {} s", LIMIT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let mut bytes = Vec::new();
    fs::File::open(&log)
        .and_then(|mut log| log.read_to_end(&mut bytes))
        .map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    if status.success() {
        return Err(format!("it passes\n{}", tail(&text)));
    }
    // "thread 'take_against_take_2x3' (4711) panicked at tests/generator.rs:27:9:\nI1: ..."
    let panic = format!("thread '{}'", twin.model);
    let first = text.find(&panic).map(|at| &text[at..]);
    match first {
        Some(report) if report.contains("panicked at") && head(report, 4).contains(twin.says) => {
            let words = report.lines().nth(1).unwrap_or_default();
            let mut said = String::new();
            let _ = write!(said, ": {}", words.chars().take(90).collect::<String>());
            Ok(said)
        }
        Some(report) => {
            Err(format!("it fails, and not with \"{}\"\n{}", twin.says, head(report, 8)))
        }
        None => Err(format!("it ends with {status} and no panic\n{}", tail(&text))),
    }
}

fn head(text: &str, lines: usize) -> String {
    text.lines().take(lines).collect::<Vec<_>>().join("\n")
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// Copies what cargo needs of the workspace, without touching what is there already: cargo goes by
/// the time of a file.
fn copy_tree(from: &Path, to: &Path) {
    let expect = "the sources can be read and the target folder written";
    fs::create_dir_all(to).expect(expect);
    for entry in fs::read_dir(from).expect(expect) {
        let path = entry.expect(expect).path();
        let name = path.file_name().expect(expect);
        if name == "target" || name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if path.is_dir() {
            copy_tree(&path, &to.join(name));
        } else if path.is_file() {
            write_if_changed(&to.join(name), &fs::read(&path).expect(expect));
        }
    }
}

/// Gives the copy's package another version.
fn rename(root: &Path, copy: &Path) {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let mut renamed = String::new();
    for line in manifest.lines() {
        match line.strip_prefix("version = \"").and_then(|rest| rest.strip_suffix('"')) {
            Some(version) => writeln!(renamed, "version = \"{version}-twin\""),
            None => writeln!(renamed, "{line}"),
        }
        .expect("a string takes everything");
    }
    assert!(renamed.contains("-twin\"\n"), "the package's version is not where it was");
    write_if_changed(&copy.join("Cargo.toml"), renamed.as_bytes());
}

fn write_if_changed(path: &Path, bytes: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        fs::write(path, bytes).expect("the target folder can be written");
    }
}
