//! Moments as people read them.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};

pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub(crate) fn now() -> i64 {
    unix_ms(SystemTime::now())
}

/// Milliseconds since 1970: 0 before that.
pub(crate) fn unix_ms(at: SystemTime) -> i64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// RFC 3339 in UTC. Years past 9999 have five digits and a sign, as ISO 8601 writes them.
pub(crate) fn utc(unix_ms: i64) -> String {
    DateTime::from_timestamp_millis(unix_ms).map_or_else(
        || format!("{unix_ms} ms after 1970"),
        |at| at.to_rfc3339_opts(SecondsFormat::Millis, true),
    )
}

/// A length of time in its two largest units.
pub(crate) fn span(ms: u64) -> String {
    let (s, m, h, d) = (ms / 1000, ms / 60_000, ms / 3_600_000, ms / 86_400_000);
    match ms {
        0..1000 => format!("{ms}ms"),
        1000..60_000 => format!("{s}s {}ms", ms % 1000),
        60_000..3_600_000 => format!("{m}m {}s", s % 60),
        3_600_000..86_400_000 => format!("{h}h {}m", m % 60),
        _ => format!("{d}d {}h", h % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_far_and_near() {
        assert_eq!(utc(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(utc(1656432460105), "2022-06-28T16:07:40.105Z");
        assert_eq!(utc(253402300799999), "9999-12-31T23:59:59.999Z");
        assert_eq!(utc(253402300800000), "+10000-01-01T00:00:00.000Z");
        assert_eq!(utc(i64::MAX), "9223372036854775807 ms after 1970");
    }

    #[test]
    fn spans_name_their_two_largest_units() {
        assert_eq!(span(0), "0ms");
        assert_eq!(span(1_001), "1s 1ms");
        assert_eq!(span(61_999), "1m 1s");
        assert_eq!(span(2 * 3_600_000), "2h 0m");
        assert_eq!(span(3 * 86_400_000 + 4 * 3_600_000), "3d 4h");
    }
}
