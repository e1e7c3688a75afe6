//! Dot plots as SVG: a row for each contestant, a dot for each median, a line from quartile to quartile.

use std::error::Error;
use std::ops::Range;
use std::path::Path;

use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use crate::report::Dots;
use crate::stats::{Spread, short};

/// Told apart by those who see few colours as well.
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(230, 159, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];
const FLOOR: RGBColor = RGBColor(110, 110, 110);
const WIDTH: u32 = 960;
const ROW: u32 = 22;
/// Left of the plot, for names.
const NAMES: u32 = 330;

pub fn draw(path: &Path, dots: &Dots) -> Result<(), Box<dyn Error>> {
    let spreads = || dots.rows.iter().flat_map(|row| &row.points);
    let most = spreads().map(|spread| spread.high).fold(0.0, f64::max) * 1.1;
    if dots.log {
        let least = spreads().map(|spread| spread.low).filter(|low| *low > 0.0);
        let least = least.fold(most, f64::min) / 1.3;
        draw_on(path, dots, (least..most).log_scale(), least)
    } else {
        draw_on(path, dots, 0.0..most, 0.0)
    }
}

fn draw_on<X>(path: &Path, dots: &Dots, x: X, least: f64) -> Result<(), Box<dyn Error>>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
{
    let rows = dots.rows.len() as u32;
    let size = (WIDTH, rows * ROW + 110);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    root.draw(&Text::new(&*dots.title, (12, 12), ("sans-serif", 18)))?;
    legend(&root, &dots.series)?;

    let y: Range<f64> = 0.0..f64::from(rows);
    let mut chart = ChartBuilder::on(&root)
        .margin_top(62)
        .margin_right(20)
        .x_label_area_size(40)
        .y_label_area_size(NAMES)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_labels(8)
        .x_label_formatter(&|value| short(*value))
        .x_desc(&*dots.axis)
        .light_line_style(BLACK.mix(0.05))
        .draw()?;

    for (at, row) in dots.rows.iter().enumerate() {
        let from_top = rows - 1 - at as u32;
        let middle = f64::from(from_top) + 0.5;
        let colour = if row.is_floor { FLOOR } else { BLACK };
        let pixel = 62 + (at as u32 * ROW + ROW / 2) as i32 - 5;
        root.draw(&Text::new(
            &*row.name,
            (12, pixel),
            ("sans-serif", 13).into_font().color(&colour),
        ))?;
        let known = |(_, spread): &(usize, &Spread)| !spread.median.is_nan();
        for (series, spread) in row.points.iter().enumerate().filter(known) {
            let colour = COLOURS[series % COLOURS.len()];
            let at = |value: f64| (value.max(least), middle);
            let whisker = vec![at(spread.low), at(spread.high)];
            chart.draw_series([PathElement::new(whisker, colour.stroke_width(2))])?;
            chart.draw_series([Circle::new(at(spread.median), 4, colour.filled())])?;
        }
    }
    root.present()?;
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn legend(root: &Area<'_>, series: &[String]) -> Result<(), Box<dyn Error>> {
    for (at, name) in series.iter().enumerate() {
        let left = (NAMES as usize + 10 + at * 120) as i32;
        root.draw(&Circle::new((left, 47), 4, COLOURS[at % COLOURS.len()].filled()))?;
        root.draw(&Text::new(&**name, (left + 10, 40), ("sans-serif", 13)))?;
    }
    Ok(())
}
