//! Tables in Markdown, and the plots beside them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::plots;
use crate::stats::Spread;

/// `results.md`, as it grows.
pub struct Report {
    text: String,
    directory: PathBuf,
}

impl Report {
    /// Into this directory, after a first paragraph.
    pub fn new(directory: &Path, preface: &str) -> Report {
        let text = format!("# Results\n\n{preface}\n");
        Report { text, directory: directory.to_owned() }
    }

    pub fn section(&mut self, title: &str, text: &str) {
        let _ = write!(self.text, "\n## {title}\n\n{text}\n");
    }

    /// Adds it, and shows it.
    pub fn table(&mut self, table: &Table) {
        println!("{}", table.text);
        let _ = write!(self.text, "\n{}", table.text);
    }

    /// Draws it, and points to it.
    pub fn plot(&mut self, name: &str, dots: &Dots) {
        let plots = self.directory.join("plots");
        let drawn = fs::create_dir_all(&plots).map_err(|error| error.to_string()).and_then(|()| {
            plots::draw(&plots.join(format!("{name}.svg")), dots).map_err(|error| error.to_string())
        });
        match drawn {
            Ok(()) => {
                let _ = write!(self.text, "\n![{}](plots/{name}.svg)\n", dots.title);
            }
            // The tables took minutes; they are worth more than a plot.
            Err(error) => eprintln!("no plot {name}: {error}"),
        }
    }

    pub fn write(&self) -> io::Result<()> {
        fs::write(self.directory.join("results.md"), &self.text)
    }
}

pub struct Table {
    text: String,
}

impl Table {
    pub fn new(title: &str, header: &[&str]) -> Table {
        let rule = ["---"].into_iter().chain(header[1..].iter().map(|_| "--:"));
        let mut table = Table { text: format!("### {title}\n\n") };
        table.row(&header.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>());
        table.row(&rule.map(str::to_owned).collect::<Vec<_>>());
        table
    }

    pub fn row(&mut self, cells: &[String]) {
        let _ = writeln!(self.text, "| {} |", cells.join(" | "));
    }
}

/// A plot with a row for each contestant, and a dot in it for each of the series.
pub struct Dots {
    pub title: String,
    pub axis: String,
    pub series: Vec<String>,
    pub rows: Vec<Row>,
    pub log: bool,
}

impl Dots {
    pub fn new(title: &str, axis: &str, series: &[&str]) -> Dots {
        Dots {
            title: title.to_owned(),
            axis: axis.to_owned(),
            series: series.iter().map(|&name| name.to_owned()).collect(),
            rows: Vec::new(),
            log: true,
        }
    }

    /// From zero, in equal steps.
    pub fn linear(self) -> Dots {
        Dots { log: false, ..self }
    }

    pub fn row(&mut self, row: Row) {
        self.rows.push(row);
    }
}

pub struct Row {
    pub name: String,
    pub points: Vec<Spread>,
    pub is_floor: bool,
}

impl Row {
    pub fn new(name: &str, points: Vec<Spread>, is_floor: bool) -> Row {
        Row { name: name.to_owned(), points, is_floor }
    }
}
