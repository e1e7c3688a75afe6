//! `nivis inspect`: what an id says.

use std::io::{self, BufRead, BufReader, Read, Write};

use nivis::{Id, Layout};
use serde_json::json;

use crate::{Failure, name, time};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The ids, in decimal; without any they are read from stdin, one a line
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,
    /// The layout of the ids, by its name in `nivis layouts`
    #[arg(long, value_name = "NAME", default_value = "twitter", value_parser = crate::layout)]
    layout: Layout,
    /// One JSON object a line, with the id as a string: JavaScript's numbers end at 2^53
    #[arg(long)]
    json: bool,
}

/// No line with an id is longer, and a file without line ends is not read to its end.
const MAX_LINE: u64 = 4096;
/// So much of a text that is no id is shown.
const MAX_SHOWN: usize = 40;

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let mut show = Show { args, now: time::now(), first: true };
    for text in &args.ids {
        show.id(text, "", out)?;
    }
    if !args.ids.is_empty() {
        return Ok(());
    }
    let mut input = BufReader::with_capacity(1 << 16, io::stdin());
    let mut line = Vec::new();
    for number in 1_u64.. {
        // About to wait for more: whoever feeds ids one at a time sees each at once, and its age then.
        let waits = input.buffer().is_empty();
        if waits {
            out.flush()?;
        }
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::Other(format!("cannot read stdin: {error}")))? == 0 {
            break;
        }
        if waits {
            show.now = time::now();
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if !text.is_empty() {
            show.id(text, &format!(" on line {number}"), out)?;
        }
    }
    Ok(())
}

struct Show<'a> {
    args: &'a Args,
    /// Milliseconds since 1970.
    now: i64,
    first: bool,
}

impl Show<'_> {
    /// Reads a text, and shows it or says what is wrong with it and where it stood.
    fn id(&mut self, text: &str, place: &str, out: &mut impl Write) -> Result<(), Failure> {
        let bad = |why: String| {
            let mut shown: String = text.chars().take(MAX_SHOWN).collect();
            if shown.len() < text.len() {
                shown.push_str("...");
            }
            Failure::Input(format!("bad id {shown:?}{place}: {why}"))
        };
        let id: Id = text.parse().map_err(|error: nivis::ParseIdError| bad(error.to_string()))?;
        let layout = &self.args.layout;
        // Every other field is cut to its width; a stray high bit shows in the tick.
        if layout.decompose(id).tick > layout.max_tick() {
            return Err(bad(format!(
                "{layout} has {} bits, so at most {}",
                u64::BITS - largest(layout).leading_zeros(),
                largest(layout)
            )));
        }
        if self.args.json {
            self.json(id, out)?;
        } else {
            self.text(id, out)?;
        }
        self.first = false;
        Ok(())
    }

    fn text(&self, id: Id, out: &mut impl Write) -> io::Result<()> {
        let layout = &self.args.layout;
        let parts = layout.decompose(id);
        let at = self.unix_ms(id);
        let age = time::span(self.now.abs_diff(at));
        if !self.first {
            writeln!(out)?;
        }
        writeln!(out, "id          {id}")?;
        writeln!(out, "layout      {}", name(layout))?;
        writeln!(out, "time        {}", time::utc(at))?;
        writeln!(out, "age         {}{age}", if at > self.now { "in " } else { "" })?;
        writeln!(out, "tick        {}", parts.tick)?;
        if layout.max_datacenter() > 0 {
            writeln!(out, "datacenter  {}", parts.datacenter)?;
        }
        writeln!(out, "worker      {}", parts.worker)?;
        writeln!(out, "node        {}", layout.node(id))?;
        writeln!(out, "sequence    {}", parts.sequence)
    }

    fn json(&self, id: Id, out: &mut impl Write) -> io::Result<()> {
        let layout = &self.args.layout;
        let parts = layout.decompose(id);
        let at = self.unix_ms(id);
        let mut object = json!({
            "id": id.to_string(),
            "layout": name(layout),
            "time": time::utc(at),
            "unix_ms": at,
            "age_ms": self.now.saturating_sub(at),
            "tick": parts.tick,
            "worker": parts.worker,
            "node": layout.node(id),
            "sequence": parts.sequence,
        });
        if layout.max_datacenter() > 0 {
            object["datacenter"] = parts.datacenter.into();
        }
        writeln!(out, "{object}")
    }

    fn unix_ms(&self, id: Id) -> i64 {
        time::unix_ms(self.args.layout.timestamp(id))
    }
}

/// The largest id of a layout: all of its bits.
fn largest(layout: &Layout) -> u64 {
    let bits = [layout.max_tick(), layout.max_worker(), layout.max_sequence()].map(u64::count_ones);
    u64::MAX >> (u64::BITS - bits.iter().sum::<u32>())
}
