//! `nivis layouts`: what there is to choose from, and for how long.

use std::io::Write;

use nivis::{Layout, Parts};
use serde_json::json;

use crate::{Failure, name, time};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &mut impl Write) -> Result<(), Failure> {
    let now = time::now();
    if !args.json {
        writeln!(
            out,
            "{}",
            row(["NAME", "BITS, FROM THE TOP", "TICK", "IDS/S/WORKER", "WORKERS", "ENDS"])
        )?;
    }
    for (_, layout) in &Layout::PRESETS {
        let ends = time::unix_ms(layout.expires());
        let warning = warning(ends, now);
        if args.json {
            let bits: Vec<_> = fields(layout)
                .iter()
                .map(|(field, bits)| json!({ "field": field, "bits": bits }))
                .collect();
            let object = json!({
                "name": name(layout),
                "fields": bits,
                "epoch": time::utc(i64::try_from(layout.epoch()).unwrap_or(i64::MAX)),
                "epoch_unix_ms": layout.epoch(),
                "tick_ms": layout.tick_length().as_millis() as u64,
                "ids_per_second_per_worker": rate(layout),
                "workers": workers(layout),
                "ends": time::utc(ends),
                "ends_unix_ms": ends,
                "warning": warning,
            });
            writeln!(out, "{object}")?;
        } else {
            let bits: Vec<_> =
                fields(layout).iter().map(|(field, bits)| format!("{bits} {field}")).collect();
            let line = row([
                name(layout),
                &bits.join(" | "),
                &format!("{:?}", layout.tick_length()),
                &thousands(rate(layout)),
                &thousands(workers(layout)),
                // The day is enough for people.
                time::utc(ends).split('T').next().unwrap_or_default(),
            ]);
            let warning = warning.map(|warning| format!("  warning: {warning}"));
            writeln!(out, "{line}{}", warning.unwrap_or_default())?;
        }
    }
    Ok(())
}

fn row([name, bits, tick, rate, workers, ends]: [&str; 6]) -> String {
    format!("{name:<9}  {bits:<47}  {tick:>4}  {rate:>12}  {workers:>9}  {ends:<12}")
        .trim_end()
        .into()
}

/// The fields that a layout has, from the highest bit down: each stands where a 1 in it does.
fn fields(layout: &Layout) -> Vec<(&'static str, u32)> {
    let worker = layout.max_worker().count_ones() - layout.max_datacenter().count_ones();
    let mut fields = [
        ("tick", layout.max_tick().count_ones(), Parts { tick: 1, ..Parts::default() }),
        (
            "datacenter",
            layout.max_datacenter().count_ones(),
            Parts { datacenter: 1, ..Parts::default() },
        ),
        ("worker", worker, Parts { worker: 1, ..Parts::default() }),
        ("sequence", layout.max_sequence().count_ones(), Parts { sequence: 1, ..Parts::default() }),
    ];
    fields.sort_by_key(|(_, _, one)| std::cmp::Reverse(layout.compose(*one).ok()));
    fields.iter().filter(|(_, bits, _)| *bits > 0).map(|(field, bits, _)| (*field, *bits)).collect()
}

fn rate(layout: &Layout) -> u64 {
    (layout.max_sequence() + 1) * 1_000_000_000 / layout.tick_length().as_nanos() as u64
}

fn workers(layout: &Layout) -> u64 {
    layout.max_worker() + 1
}

/// Of a layout that has ended or has under a year left.
fn warning(ends: i64, now: i64) -> Option<String> {
    let span = time::span(now.abs_diff(ends));
    if ends <= now {
        Some(format!("ended {span} ago, no new ids"))
    } else if ends - now < 365 * time::DAY_MS {
        Some(format!("ends in {span}"))
    } else {
        None
    }
}

fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_14_the_last_year_of_a_layout_is_a_warning() {
        let (ends, day) = (2_000_000_000_000, time::DAY_MS);
        assert_eq!(warning(ends, ends - 365 * day), None);
        assert_eq!(warning(ends, ends - 365 * day + 1).unwrap(), "ends in 364d 23h");
        assert_eq!(warning(ends, ends - day).unwrap(), "ends in 1d 0h");
        assert_eq!(warning(ends, ends).unwrap(), "ended 0ms ago, no new ids");
        assert_eq!(warning(ends, ends + 3 * day).unwrap(), "ended 3d 0h ago, no new ids");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(thousands(1), "1");
        assert_eq!(thousands(8192), "8,192");
        assert_eq!(thousands(65_536_000), "65,536,000");
    }
}
