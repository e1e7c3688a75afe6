//! The memory orderings that the arguments in the sources are about, pinned.
//!
//! Most of them no model can defend: loom's compare-and-swap always sees the newest word, and its loads
//! never see a store that is still to come, so that a weaker ordering passes every model and may fail
//! on hardware. The argument at the head of `generator.rs` is what they stand on, and it is about these
//! very orderings. Whoever changes one changes the argument, and then the list in `orderings.txt`
//! (`NIVIS_BLESS=1 cargo test --test orderings` writes it).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The files that may name an ordering.
const FILES: [&str; 4] =
    ["src/generator.rs", "src/clock/manual.rs", "src/clock/steer.rs", "src/fork.rs"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The part of a source file that is not tests.
fn code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let end = text.find("#[cfg(all(test").or_else(|| text.find("    #[cfg(test)]\n    mod tests"));
    let head = end.map_or(text.as_str(), |end| &text[..end]);
    // What follows a module of tests is code again, in the one file that has two modules.
    let tail = text.find("#[cfg(not(all(unix").filter(|at| end.is_some_and(|end| *at > end));
    head.to_owned() + tail.map_or("", |at| &text[at..])
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn orderings_are_those_that_the_argument_is_about() {
    let mut found = String::new();
    for file in FILES {
        writeln!(found, "{file}").unwrap();
        // One call a line, however it is wrapped.
        let flat: String = code(&root().join(file))
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with("//"))
            .collect::<Vec<_>>()
            .join(" ");
        for statement in flat.split([';', '{', '}']).filter(|s| s.contains("Ordering::")) {
            if statement.contains("use ") {
                continue;
            }
            writeln!(found, "    {}", statement.trim()).unwrap();
        }
    }
    let list = root().join("tests/orderings.txt");
    if std::env::var_os("NIVIS_BLESS").is_some() {
        std::fs::write(&list, &found).unwrap();
    }
    let pinned = std::fs::read_to_string(&list).unwrap();
    for (line, (pinned, found)) in pinned.lines().zip(found.lines()).enumerate() {
        assert_eq!(pinned, found, "line {} of tests/orderings.txt", line + 1);
    }
    assert_eq!(pinned.lines().count(), found.lines().count());
}

#[test]
fn no_other_file_names_an_ordering() {
    for file in sources(&root().join("src")) {
        let name = file.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        let names = code(&file).contains("Ordering::");
        assert!(!names || FILES.contains(&name.as_str()), "{name} names an ordering");
    }
}

#[test]
fn sync_is_the_only_switch() {
    for file in sources(&root().join("src")) {
        let name = file.file_name().unwrap().to_str().unwrap();
        let loom = code(&file).matches("loom::").count();
        assert!(loom == 0 || name == "sync.rs", "{name} names loom {loom} times");
        let atomics = code(&file).contains("sync::atomic::");
        assert!(!atomics || name == "sync.rs" || name == "fork.rs", "{name} names std's atomics");
    }
}
