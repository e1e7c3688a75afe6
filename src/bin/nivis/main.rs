//! `nivis`: draws ids, reads ids, and lists the layouts.
//!
//! Results go to stdout and nothing else does. Bad input is one line on stderr and exit code 2; what
//! else can go wrong is one line and exit code 1. A reader that closes the pipe is no error.

mod inspect;
mod layouts;
mod next;
mod time;

use std::error::Error;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use clap::error::ErrorKind as Usage;
use clap::{Parser, Subcommand};
use nivis::Layout;

/// 64-bit Snowflake-family ids that stay unique whatever any clock does.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Draw ids, one a line.
    Next(next::Args),
    /// Read the fields and the time of ids.
    Inspect(inspect::Args),
    /// List the layouts.
    Layouts(layouts::Args),
}

/// Why a command ended early.
enum Failure {
    /// The input is wrong: exit code 2.
    Input(String),
    /// The input is right, and it still did not work: exit code 1.
    Other(String),
    /// Whoever reads the output has seen enough: exit code 0.
    PipeClosed,
}

/// Of writing: reading has a message of its own.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            ErrorKind::BrokenPipe => Failure::PipeClosed,
            _ => Failure::Other(format!("cannot write: {error}")),
        }
    }
}

fn main() -> ExitCode {
    let command = match Cli::try_parse() {
        Ok(cli) => cli.command,
        Err(error) if error.use_stderr() => return exit(&Err(Failure::Input(usage(&error)))),
        // --help and --version.
        Err(error) => return exit(&error.print().map_err(Failure::from)),
    };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let result = match &command {
        Command::Next(args) => next::run(args, &mut out),
        Command::Inspect(args) => inspect::run(args, &mut out),
        Command::Layouts(args) => layouts::run(args, &mut out),
    };
    // Flushed before the message, whatever came out: good ids ahead of a bad one are still shown.
    let flushed = out.flush().map_err(Failure::from);
    exit(&result.and(flushed))
}

fn exit(result: &Result<(), Failure>) -> ExitCode {
    let (code, message) = match result {
        Ok(()) | Err(Failure::PipeClosed) => return ExitCode::SUCCESS,
        Err(Failure::Other(message)) => (1, message),
        Err(Failure::Input(message)) => (2, message),
    };
    // `eprintln!` would panic where stderr cannot be written to.
    let _ = writeln!(io::stderr(), "error: {}", one_line(message));
    ExitCode::from(code)
}

/// What the parser of a value says; or what clap says in its first paragraph, since the tips and the
/// usage below it are in `--help`.
fn usage(error: &clap::Error) -> String {
    if let Some(source) = error.source() {
        return source.to_string();
    }
    match error.kind() {
        Usage::MissingSubcommand | Usage::DisplayHelpOnMissingArgumentOrSubcommand => {
            "no command: next, inspect or layouts; see nivis --help".into()
        }
        _ => {
            let text = error.to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            first.trim_start_matches("error: ").trim_end().into()
        }
    }
}

/// Arguments may hold anything, terminal codes included: a message stays one line and harmless.
fn one_line(message: &str) -> String {
    message.chars().fold(String::new(), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        line
    })
}

/// The layout of that name: case does not matter, and `js-safe` is `JS_SAFE`.
fn layout(name: &str) -> Result<Layout, String> {
    let wanted = name.replace('-', "_");
    let found = Layout::PRESETS.iter().find(|(preset, _)| preset.eq_ignore_ascii_case(&wanted));
    found.map(|(_, layout)| *layout).ok_or_else(|| {
        let names = Layout::PRESETS.map(|(name, _)| name);
        format!("no layout is named {name:?}: there are {}", names.join(", "))
    })
}

/// The layout's name as `--layout` takes it.
fn name(layout: &Layout) -> &'static str {
    layout.name().unwrap_or("unnamed")
}
