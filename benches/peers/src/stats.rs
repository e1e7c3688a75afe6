//! Medians and quartiles.

/// Of some rounds.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    pub max: f64,
}

impl Spread {
    /// Median, lower and upper quartile, maximum.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Spread {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        // Between two values, by how near it lies to each. Not a number if there are none.
        let at = |quarters: f64| {
            let place = (sorted.len().max(1) - 1) as f64 * quarters / 4.0;
            let value = |at: f64| sorted.get(at as usize).copied().unwrap_or(f64::NAN);
            let (below, above) = (value(place.floor()), value(place.ceil()));
            below + (above - below) * place.fract()
        };
        Spread { median: at(2.0), low: at(1.0), high: at(3.0), max: at(4.0) }
    }
}

/// Three figures that mean something, without an exponent.
pub fn short(value: f64) -> String {
    match value {
        v if v.is_nan() => "-".to_owned(),
        v if v >= 10_000.0 => format!("{:.0}k", v / 1000.0),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}
