//! `nivis next`: ids and nothing else.

use std::io::Write;
use std::time::Duration;

use nivis::{BuildError, Generator, Layout};

use crate::{Failure, name, time};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many ids to draw
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value = "1",
        allow_negative_numbers = true,
        value_parser = count
    )]
    count: u64,
    /// The layout, by its name in `nivis layouts`
    #[arg(long, value_name = "NAME", default_value = "twitter", value_parser = crate::layout)]
    layout: Layout,
    /// The whole worker field; nobody else may use the same one at the same time
    ///
    /// Datacenter bits are its top bits. Two generators of one layout and one worker that run at the
    /// same time draw the same ids: 0 is right only where this is the one generator.
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true)]
    worker: String,
}

/// Long enough for any tick and for a busy machine: at a terminal, waiting is better than an error.
const MAX_WAIT: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let worker = worker(&args.worker, &args.layout).map_err(Failure::Input)?;
    let ids = Generator::builder(args.layout)
        .worker(worker)
        .max_wait(MAX_WAIT)
        .build()
        .map_err(|error| Failure::Input(refused(&error)))?;
    let mut left = args.count;
    while left > 0 {
        let wanted = usize::try_from(left).unwrap_or(usize::MAX);
        let batch = ids.next_ids(wanted).map_err(|error| Failure::Other(error.to_string()))?;
        left -= batch.len() as u64;
        for id in batch {
            writeln!(out, "{id}")?;
        }
    }
    Ok(())
}

fn count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("count {text:?} is not a whole number from 0 to {}", u64::MAX))
}

/// The generator refuses a number that does not fit, and says so well; this is for all other texts.
fn worker(text: &str, layout: &Layout) -> Result<u64, String> {
    text.parse().map_err(|_| {
        format!("worker {text:?} is not a whole number from 0 to {}", layout.max_worker())
    })
}

fn refused(error: &BuildError) -> String {
    match error {
        BuildError::Expired { layout, .. } => format!(
            "layout {} ended at {}: its old ids can be read, and there are no new ones",
            name(layout),
            time::utc(time::unix_ms(layout.expires()))
        ),
        _ => error.to_string(),
    }
}
