//! [`Layout`]: how 64 bits are divided. Pure arithmetic, `const`, no atomics.

use core::fmt;
use core::time::Duration;
#[cfg(feature = "std")]
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Id;
use crate::error::LayoutError;

/// How the 64 bits of an id are divided: a tick counted from an epoch, a worker, a sequence.
///
/// ```
/// use nivis::Layout;
///
/// // Checked when it is compiled: 65 bits, or no sequence bits, would not build.
/// const ORDERS: Layout = Layout::new(41, 8, 14).epoch_unix_ms(1_704_067_200_000);
///
/// assert_eq!(ORDERS.max_worker(), 255);
/// assert_eq!(ORDERS.max_sequence(), 16_383);
/// ```
///
/// # Which one
///
/// | preset | tick | worker | sequence | ids per second and worker | ends |
/// |---|---|---|---|---|---|
/// | [`TWITTER`](Self::TWITTER), [`LEAF`](Self::LEAF) | 41 of 1 ms | 10 | 12 | 4,096,000 | 2080 |
/// | [`DISCORD`](Self::DISCORD) | 42 of 1 ms | 10 | 12 | 4,096,000 | 2154 |
/// | [`INSTAGRAM`](Self::INSTAGRAM) | 41 of 1 ms | 13 | 10 | 1,024,000 | 2081 |
/// | [`MASTODON`](Self::MASTODON) | 48 of 1 ms | 0 | 16 | 65,536,000 | 10889 |
/// | [`SONYFLAKE`](Self::SONYFLAKE) | 39 of 10 ms | 16 | 8 | 25,600 | 2188 |
/// | [`BAIDU`](Self::BAIDU) | 28 of 1 s | 22 | 13 | 8,192 | 2024 |
/// | [`JS_SAFE`](Self::JS_SAFE) | 41 of 1 ms | 5 | 7 | 128,000 | 2093 |
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    epoch_unix_ms: u64,
    tick_nanos: u32,
    tick_bits: u8,
    worker_bits: u8,
    sequence_bits: u8,
    datacenter_bits: u8,
    worker_last: bool,
}

/// The fields of an id, as [`Layout::decompose`] reads them and [`Layout::compose`] takes them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Parts {
    /// Ticks since the layout's epoch.
    pub tick: u64,
    /// The top bits of the worker field: 0 in a layout without datacenter bits.
    pub datacenter: u64,
    /// The worker field below its datacenter bits. [`Layout::node`] is the two together.
    pub worker: u64,
    /// The place among the ids of this worker and tick.
    pub sequence: u64,
}

/// The compiler's unwrap: in a const, a bad layout is a compile error.
const fn checked(layout: Result<Layout, LayoutError>) -> Layout {
    match layout {
        Ok(layout) => layout,
        Err(LayoutError::TooWide { .. }) => panic!("the fields of this layout have too many bits"),
        Err(LayoutError::NoTickBits { .. }) => panic!("a layout needs at least one tick bit"),
        Err(LayoutError::NoSequenceBits { .. }) => {
            panic!("a layout needs at least one sequence bit")
        }
        Err(LayoutError::TickLength { .. }) => {
            panic!("a tick is 1 us to 1 s, in whole nanoseconds")
        }
        Err(_) => panic!("a layout has at most as many datacenter bits as worker bits"),
    }
}

/// The largest value of a field. Shifts by up to 64.
const fn ones(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Layout {
    /// Twitter's Snowflake: 41 bits of 1 ms since 2010-11-04T01:42:54.657Z, 5 of datacenter, 5 of
    /// worker, 12 of sequence. (twitter-archive/snowflake, `IdWorker.scala`.)
    pub const TWITTER: Layout =
        Layout::new(41, 10, 12).epoch_unix_ms(1288834974657).datacenter_bits(5);
    /// Meituan's Leaf-snowflake: Twitter's epoch and widths, with one 10-bit worker.
    /// (Meituan-Dianping/Leaf, `SnowflakeIDGenImpl.java`.)
    pub const LEAF: Layout = Layout::new(41, 10, 12).epoch_unix_ms(1288834974657);
    /// Discord: 42 bits of 1 ms since 2015, 5 of internal worker (here: datacenter), 5 of process
    /// (here: worker), 12 of increment; 64 bits, unsigned. (Discord API reference, "Snowflakes".)
    pub const DISCORD: Layout =
        Layout::new_unsigned(42, 10, 12).epoch_unix_ms(1420070400000).datacenter_bits(5);
    /// Instagram: 41 bits of 1 ms since 2011-08-24T21:07:01.721Z, 13 of shard, 10 of sequence; 64
    /// bits, so that a signed column turns negative in 2046. (Instagram Engineering, "Sharding &
    /// IDs at Instagram", 2012.)
    pub const INSTAGRAM: Layout = Layout::new_unsigned(41, 13, 10).epoch_unix_ms(1314220021721);
    /// Mastodon: 48 bits of 1 ms since 1970, 16 of sequence, no worker; 64 bits, unsigned. One
    /// generator in the whole world may use it. (mastodon/mastodon, `lib/mastodon/snowflake.rb`.)
    pub const MASTODON: Layout = Layout::new_unsigned(48, 0, 16);
    /// Sonyflake: 39 bits of 10 ms since 2014-09-01, 8 of sequence, then 16 of machine.
    /// (sony/sonyflake, README.)
    pub const SONYFLAKE: Layout = Layout::new(39, 16, 8)
        .epoch_unix_ms(1409529600000)
        .tick(Duration::from_millis(10))
        .worker_last();
    /// Baidu's uid-generator with its default widths: 28 bits of 1 s since 2016-05-20 in China, 22
    /// of worker, 13 of sequence. Its time ended in November 2024: it reads old ids, and a generator
    /// refuses it. (baidu/uid-generator, README.)
    pub const BAIDU: Layout =
        Layout::new(28, 22, 13).epoch_unix_ms(1463673600000).tick(Duration::from_secs(1));
    /// At most 2^53 - 1, so that JavaScript's numbers hold it: 41 bits of 1 ms since 2024-01-01, 5
    /// of worker, 7 of sequence. (ECMA-262, `Number.MAX_SAFE_INTEGER`.)
    pub const JS_SAFE: Layout = Layout::new(41, 5, 7).epoch_unix_ms(1704067200000);

    /// The presets with their names, in the order of their documentation.
    pub const PRESETS: [(&'static str, Layout); 8] = [
        ("TWITTER", Layout::TWITTER),
        ("LEAF", Layout::LEAF),
        ("DISCORD", Layout::DISCORD),
        ("INSTAGRAM", Layout::INSTAGRAM),
        ("MASTODON", Layout::MASTODON),
        ("SONYFLAKE", Layout::SONYFLAKE),
        ("BAIDU", Layout::BAIDU),
        ("JS_SAFE", Layout::JS_SAFE),
    ];

    /// A layout of at most 63 bits, so that ids stay positive as signed numbers: ticks of 1 ms since
    /// 1970 on top, then worker, then sequence.
    ///
    /// # Panics
    ///
    /// If the widths are not possible: in a const, that is a compile error. See [`try_new`](Self::try_new).
    pub const fn new(tick_bits: u32, worker_bits: u32, sequence_bits: u32) -> Layout {
        checked(Layout::try_new(tick_bits, worker_bits, sequence_bits))
    }

    /// [`new`](Self::new) for widths that are only known at run time.
    ///
    /// # Errors
    ///
    /// [`LayoutError::TooWide`] above 63 bits in all, [`LayoutError::NoTickBits`],
    /// [`LayoutError::NoSequenceBits`]. Worker bits may be 0.
    pub const fn try_new(
        tick_bits: u32,
        worker_bits: u32,
        sequence_bits: u32,
    ) -> Result<Layout, LayoutError> {
        Layout::with_limit(tick_bits, worker_bits, sequence_bits, 63)
    }

    /// [`new`](Self::new) with all 64 bits to divide: ids are unsigned.
    ///
    /// # Panics
    ///
    /// If the widths are not possible.
    pub const fn new_unsigned(tick_bits: u32, worker_bits: u32, sequence_bits: u32) -> Layout {
        checked(Layout::try_new_unsigned(tick_bits, worker_bits, sequence_bits))
    }

    /// [`new_unsigned`](Self::new_unsigned) for widths that are only known at run time.
    ///
    /// # Errors
    ///
    /// As [`try_new`](Self::try_new), with a limit of 64 bits.
    pub const fn try_new_unsigned(
        tick_bits: u32,
        worker_bits: u32,
        sequence_bits: u32,
    ) -> Result<Layout, LayoutError> {
        Layout::with_limit(tick_bits, worker_bits, sequence_bits, 64)
    }

    const fn with_limit(
        tick_bits: u32,
        worker_bits: u32,
        sequence_bits: u32,
        limit: u32,
    ) -> Result<Layout, LayoutError> {
        // Together and widened: three fields of u32::MAX bits must not wrap into a small sum.
        if tick_bits as u64 + worker_bits as u64 + sequence_bits as u64 > limit as u64 {
            return Err(LayoutError::TooWide { tick_bits, worker_bits, sequence_bits, limit });
        }
        if tick_bits == 0 {
            return Err(LayoutError::NoTickBits { worker_bits, sequence_bits });
        }
        if sequence_bits == 0 {
            return Err(LayoutError::NoSequenceBits { tick_bits, worker_bits });
        }
        Ok(Layout {
            epoch_unix_ms: 0,
            tick_nanos: 1_000_000,
            tick_bits: tick_bits as u8,
            worker_bits: worker_bits as u8,
            sequence_bits: sequence_bits as u8,
            datacenter_bits: 0,
            worker_last: false,
        })
    }

    /// Counts ticks from this moment, in milliseconds since 1970-01-01T00:00Z; 0 unless told.
    ///
    /// Any value makes a layout; a generator is refused while its epoch lies in the future.
    #[must_use]
    pub const fn epoch_unix_ms(mut self, ms: u64) -> Layout {
        self.epoch_unix_ms = ms;
        self
    }

    /// The length of a tick: 1 ms unless told, 1 us to 1 s.
    ///
    /// # Panics
    ///
    /// If it is outside of that: in a const, that is a compile error. See [`try_tick`](Self::try_tick).
    #[must_use]
    pub const fn tick(self, d: Duration) -> Layout {
        checked(self.try_tick(d))
    }

    /// [`tick`](Self::tick) for a length that is only known at run time.
    ///
    /// # Errors
    ///
    /// [`LayoutError::TickLength`] outside of 1 us to 1 s.
    pub const fn try_tick(mut self, d: Duration) -> Result<Layout, LayoutError> {
        let nanos = d.as_nanos();
        if nanos < 1_000 || nanos > 1_000_000_000 {
            return Err(LayoutError::TickLength { tick: d });
        }
        self.tick_nanos = nanos as u32;
        Ok(self)
    }

    /// Names the top bits of the worker field the datacenter; the rest is the worker within it.
    ///
    /// # Panics
    ///
    /// If there are fewer worker bits than that: in a const, that is a compile error. See
    /// [`try_datacenter_bits`](Self::try_datacenter_bits).
    #[must_use]
    pub const fn datacenter_bits(self, bits: u32) -> Layout {
        checked(self.try_datacenter_bits(bits))
    }

    /// [`datacenter_bits`](Self::datacenter_bits) for a width that is only known at run time.
    ///
    /// # Errors
    ///
    /// [`LayoutError::DatacenterBits`] above the worker field's bits.
    pub const fn try_datacenter_bits(mut self, bits: u32) -> Result<Layout, LayoutError> {
        if bits > self.worker_bits as u32 {
            let worker_bits = self.worker_bits as u32;
            return Err(LayoutError::DatacenterBits { datacenter_bits: bits, worker_bits });
        }
        self.datacenter_bits = bits as u8;
        Ok(self)
    }

    /// Puts the sequence above the worker, as sonyflake does: ids of one tick then sort by sequence
    /// before worker.
    #[must_use]
    pub const fn worker_last(mut self) -> Layout {
        self.worker_last = true;
        self
    }

    /// The largest worker: all bits of the worker field, its datacenter bits included.
    pub const fn max_worker(&self) -> u64 {
        ones(self.worker_bits)
    }

    /// The largest sequence number; a tick holds one id more than that per worker.
    pub const fn max_sequence(&self) -> u64 {
        ones(self.sequence_bits)
    }

    /// The largest tick.
    pub const fn max_tick(&self) -> u64 {
        ones(self.tick_bits)
    }

    /// The largest datacenter: 0 in a layout without datacenter bits.
    pub const fn max_datacenter(&self) -> u64 {
        ones(self.datacenter_bits)
    }

    /// The length of a tick.
    pub const fn tick_length(&self) -> Duration {
        Duration::from_nanos(self.tick_nanos as u64)
    }

    /// The epoch, in milliseconds since 1970-01-01T00:00Z.
    pub const fn epoch(&self) -> u64 {
        self.epoch_unix_ms
    }

    /// The name of the preset that this is, if it is one.
    pub fn name(&self) -> Option<&'static str> {
        Layout::PRESETS.iter().find(|(_, preset)| preset == self).map(|(name, _)| *name)
    }

    /// The id with these fields.
    ///
    /// # Errors
    ///
    /// [`LayoutError::FieldOutOfRange`] for the first field that does not fit; nothing is masked.
    pub const fn compose(&self, parts: Parts) -> Result<Id, LayoutError> {
        let worker_low = self.worker_bits - self.datacenter_bits;
        let fields = [
            ("tick", parts.tick, self.tick_bits),
            ("datacenter", parts.datacenter, self.datacenter_bits),
            ("worker", parts.worker, worker_low),
            ("sequence", parts.sequence, self.sequence_bits),
        ];
        let mut i = 0;
        while i < fields.len() {
            let (field, value, bits) = fields[i];
            if value > ones(bits) {
                return Err(LayoutError::FieldOutOfRange {
                    layout: *self,
                    field,
                    value,
                    bits: bits as u32,
                });
            }
            i += 1;
        }
        let node = (parts.datacenter << worker_low) | parts.worker;
        Ok(self.pack(parts.tick, node, parts.sequence))
    }

    /// The fields of an id, each without loss: in a layout of fewer than 64 bits a stray high bit
    /// shows as a tick above [`max_tick`](Self::max_tick).
    pub const fn decompose(&self, id: Id) -> Parts {
        let node = self.node(id);
        let worker_low = self.worker_bits - self.datacenter_bits;
        let sequence_shift = if self.worker_last { self.worker_bits } else { 0 };
        Parts {
            tick: self.tick_of(id),
            datacenter: node >> worker_low,
            worker: node & ones(worker_low),
            sequence: (id.as_u64() >> sequence_shift) & ones(self.sequence_bits),
        }
    }

    /// The whole worker field of an id: what [`Generator::new`](crate::Generator::new) was given.
    pub const fn node(&self, id: Id) -> u64 {
        let shift = if self.worker_last { 0 } else { self.sequence_bits };
        (id.as_u64() >> shift) & ones(self.worker_bits)
    }

    /// The start of the tick of an id, in nanoseconds since 1970-01-01T00:00Z.
    pub const fn unix_nanos(&self, id: Id) -> u128 {
        self.tick_start(self.tick_of(id) as u128)
    }

    /// The start of the tick of an id.
    #[cfg(feature = "std")]
    pub fn timestamp(&self, id: Id) -> SystemTime {
        system_time(self.unix_nanos(id))
    }

    /// When the tick field is used up: the first moment that no id can show.
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    /// use nivis::Layout;
    ///
    /// let end = Layout::TWITTER.expires().duration_since(UNIX_EPOCH).unwrap();
    /// assert_eq!(end, Duration::from_millis(1288834974657 + (1 << 41)));
    /// ```
    #[cfg(feature = "std")]
    pub fn expires(&self) -> SystemTime {
        system_time(self.tick_start(u128::from(self.max_tick()) + 1))
    }

    /// The smallest id of the tick that `t` lies in, for `WHERE id >= ..`.
    ///
    /// # Errors
    ///
    /// [`LayoutError::TimeOutOfRange`] before the epoch and past the last tick.
    #[cfg(feature = "std")]
    pub fn min_id_at(&self, t: SystemTime) -> Result<Id, LayoutError> {
        Ok(self.pack(self.tick_at(t)?, 0, 0))
    }

    /// The largest id of the tick that `t` lies in, for `.. AND id <= ..`.
    ///
    /// # Errors
    ///
    /// [`LayoutError::TimeOutOfRange`] before the epoch and past the last tick.
    #[cfg(feature = "std")]
    pub fn max_id_at(&self, t: SystemTime) -> Result<Id, LayoutError> {
        Ok(self.pack(self.tick_at(t)?, self.max_worker(), self.max_sequence()))
    }

    #[cfg(feature = "std")]
    fn tick_at(&self, t: SystemTime) -> Result<u64, LayoutError> {
        let since_epoch = t
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|d| d.as_nanos().checked_sub(self.tick_start(0)));
        match since_epoch.map(|nanos| nanos / u128::from(self.tick_nanos)) {
            Some(tick) if tick <= u128::from(self.max_tick()) => Ok(tick as u64),
            _ => Err(LayoutError::TimeOutOfRange { layout: *self, time: t }),
        }
    }

    const fn tick_start(&self, tick: u128) -> u128 {
        self.epoch_unix_ms as u128 * 1_000_000 + tick * self.tick_nanos as u128
    }

    const fn tick_of(&self, id: Id) -> u64 {
        id.as_u64() >> (self.worker_bits + self.sequence_bits)
    }

    /// Fields that are known to fit, into their published order.
    const fn pack(&self, tick: u64, node: u64, sequence: u64) -> Id {
        let low = if self.worker_last {
            (sequence << self.worker_bits) | node
        } else {
            (node << self.sequence_bits) | sequence
        };
        Id::from_u64((tick << (self.worker_bits + self.sequence_bits)) | low)
    }

    pub(crate) const fn widths(&self) -> Widths {
        Widths {
            tick: self.tick_bits,
            worker: self.worker_bits,
            datacenter: self.datacenter_bits,
            sequence: self.sequence_bits,
            worker_last: self.worker_last,
        }
    }

    pub(crate) const fn tick_nanos(&self) -> u64 {
        self.tick_nanos as u64
    }
}

/// The bits of each field, for the packed word.
#[derive(Clone, Copy)]
pub(crate) struct Widths {
    pub(crate) tick: u8,
    pub(crate) worker: u8,
    pub(crate) datacenter: u8,
    pub(crate) sequence: u8,
    pub(crate) worker_last: bool,
}

/// The widest layouts end after the last moment a `SystemTime` can hold; they get the year 292 billion.
#[cfg(feature = "std")]
fn system_time(unix_nanos: u128) -> SystemTime {
    let secs = u64::try_from(unix_nanos / 1_000_000_000).unwrap_or(u64::MAX);
    let nanos = (unix_nanos % 1_000_000_000) as u32;
    UNIX_EPOCH
        .checked_add(Duration::new(secs, nanos))
        .or_else(|| UNIX_EPOCH.checked_add(Duration::from_secs(i64::MAX as u64)))
        .unwrap_or(UNIX_EPOCH)
}

/// `Layout::TWITTER`, or what a layout that is no preset is made of.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "Layout::{name}"),
            None => write!(f, "{self:?}"),
        }
    }
}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (worker, sequence) = (self.worker_bits, self.sequence_bits);
        write!(f, "Layout({} tick | ", self.tick_bits)?;
        if self.worker_last {
            write!(f, "{sequence} sequence | {worker} worker")?;
        } else {
            write!(f, "{worker} worker | {sequence} sequence")?;
        }
        if self.datacenter_bits > 0 {
            write!(f, ", datacenter in the top {} of the worker", self.datacenter_bits)?;
        }
        write!(f, ", tick {:?}, epoch {} ms)", self.tick_length(), self.epoch_unix_ms)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(ms)
    }

    /// Public ids, what their publishers say of them, and the same fields put together again.
    #[test]
    fn golden_vectors() {
        let golden = [
            // Wikipedia, "Snowflake ID": a tweet of 2022-06-28T16:07:40.105Z, machine 378.
            (Layout::TWITTER, 1541815603606036480, 1656432460105, (11, 26), 0),
            (Layout::LEAF, 1541815603606036480, 1656432460105, (0, 378), 0),
            // Discord API reference: 2016-04-30T11:18:25.796Z, worker 1, process 0, increment 7.
            (Layout::DISCORD, 175928847299117063, 1462015105796, (1, 0), 7),
            // "Sharding & IDs at Instagram": 1387263000 ms since their epoch, shard 31341 % 2000, 5001 % 1024.
            (
                Layout::INSTAGRAM,
                (1387263000 << 23) + (1341 << 10) + 905,
                1315607284721,
                (0, 1341),
                905,
            ),
            // sony/sonyflake: elapsed 100 s in units of 10 ms, sequence 5, machine 0x0a0b.
            (Layout::SONYFLAKE, (10_000 << 24) + (5 << 16) + 0x0a0b, 1409529700000, (0, 0x0a0b), 5),
            // baidu/uid-generator README: "timestamp":"..", the deltaSeconds in the top 28 of 63 bits.
            (Layout::BAIDU, (1_000 << 35) + (300 << 13) + 8, 1463674600000, (0, 300), 8),
            (
                Layout::MASTODON,
                (1_700_000_000_000 << 16) + 65_535,
                1_700_000_000_000,
                (0, 0),
                65_535,
            ),
            (Layout::JS_SAFE, (1 << 53) - 1, 1704067200000 + (1 << 41) - 1, (0, 31), 127),
        ];
        for (layout, id, unix_ms, (datacenter, worker), sequence) in golden {
            let id = Id::from_u64(id);
            let parts = layout.decompose(id);
            assert_eq!(
                (parts.datacenter, parts.worker, parts.sequence),
                (datacenter, worker, sequence),
                "{layout}"
            );
            assert_eq!(layout.timestamp(id), at_ms(unix_ms), "{layout}");
            assert_eq!(layout.compose(parts), Ok(id), "{layout}");
        }
        assert_eq!(Layout::TWITTER.node(Id::from_u64(1541815603606036480)), 378);
        assert_eq!(Layout::DISCORD.node(Id::from_u64(175928847299117063)), 32);
    }

    #[test]
    fn presets_end_when_their_publishers_say() {
        // Days since 1970 of the last moment, by hand from the widths and epochs.
        let ends = [
            (Layout::TWITTER, 1288834974657 + (1_u64 << 41)),
            (Layout::DISCORD, 1420070400000 + (1 << 42)),
            (Layout::INSTAGRAM, 1314220021721 + (1 << 41)),
            (Layout::SONYFLAKE, 1409529600000 + (10 << 39)),
            (Layout::BAIDU, 1463673600000 + (1000 << 28)),
            (Layout::MASTODON, 1 << 48),
        ];
        for (layout, unix_ms) in ends {
            assert_eq!(layout.expires(), at_ms(unix_ms), "{layout}");
            assert!(layout.min_id_at(at_ms(unix_ms - 1)).is_ok(), "{layout}");
            assert!(layout.max_id_at(at_ms(unix_ms)).is_err(), "{layout}");
        }
    }

    #[test]
    fn case_18_impossible_layouts_are_errors_that_show_the_whole_layout() {
        let message = |layout: Result<Layout, LayoutError>| layout.unwrap_err().to_string();
        assert_eq!(
            message(Layout::try_new(41, 12, 12)),
            "41 tick + 12 worker + 12 sequence bits are 65, above the limit of 63"
        );
        assert_eq!(
            message(Layout::try_new(u32::MAX, u32::MAX, u32::MAX)),
            "4294967295 tick + 4294967295 worker + 4294967295 sequence bits are 12884901885, above the limit of 63"
        );
        assert_eq!(
            message(Layout::try_new(0, 10, 12)),
            "0 tick + 10 worker + 12 sequence bits: a layout needs at least one tick bit"
        );
        assert_eq!(
            message(Layout::try_new(41, 10, 0)),
            "41 tick + 10 worker + 0 sequence bits: a layout needs at least one sequence bit"
        );
        assert_eq!(
            message(Layout::LEAF.try_datacenter_bits(11)),
            "11 datacenter bits do not fit into 10 worker bits"
        );
        assert_eq!(
            message(Layout::LEAF.try_tick(Duration::ZERO)),
            "a tick of 0ns is outside of 1 us to 1 s"
        );
        assert!(Layout::LEAF.try_tick(Duration::from_micros(1)).is_ok());
        assert!(Layout::LEAF.try_tick(Duration::from_nanos(999)).is_err());
        assert!(Layout::LEAF.try_tick(Duration::from_secs(1)).is_ok());
        assert!(Layout::LEAF.try_tick(Duration::MAX).is_err());
        assert!(
            Layout::try_new(41, 10, 13).is_err() && Layout::try_new_unsigned(41, 10, 13).is_ok()
        );
        assert!(Layout::try_new_unsigned(42, 10, 13).is_err());
    }

    #[test]
    fn a_layout_says_what_it_is_made_of() {
        assert_eq!(Layout::TWITTER.epoch(), 1288834974657);
        assert_eq!(Layout::SONYFLAKE.tick_length(), Duration::from_millis(10));
        assert_eq!(Layout::TWITTER.to_string(), "Layout::TWITTER");
        let own = Layout::new(40, 8, 10).epoch_unix_ms(5);
        assert_eq!(
            own.to_string(),
            "Layout(40 tick | 8 worker | 10 sequence, tick 1ms, epoch 5 ms)"
        );
        assert_eq!(own.to_string(), format!("{own:?}"));
        assert_eq!(
            format!("{:?}", own.worker_last().datacenter_bits(3)),
            "Layout(40 tick | 10 sequence | 8 worker, datacenter in the top 3 of the worker, tick 1ms, epoch 5 ms)"
        );
        // All of the worker field may be the datacenter.
        let parts = Parts { tick: 1, datacenter: 1023, worker: 0, sequence: 2 };
        let all = Layout::LEAF.datacenter_bits(10);
        assert_eq!(all.decompose(all.compose(parts).unwrap()), parts);
        assert!(all.compose(Parts { worker: 1, ..parts }).is_err());
    }

    #[test]
    fn a_field_that_does_not_fit_is_refused_and_never_masked() {
        let parts = Parts { tick: 1, datacenter: 31, worker: 31, sequence: 4095 };
        assert!(Layout::TWITTER.compose(parts).is_ok());
        assert_eq!(
            Layout::TWITTER.compose(Parts { worker: 32, ..parts }).unwrap_err().to_string(),
            "worker 32 is out of range: Layout::TWITTER has 5 worker bits, so 0 to 31"
        );
        assert!(Layout::TWITTER.compose(Parts { datacenter: 32, ..parts }).is_err());
        assert!(Layout::TWITTER.compose(Parts { tick: 1 << 41, ..parts }).is_err());
        assert!(Layout::TWITTER.compose(Parts { sequence: 4096, ..parts }).is_err());
        // A stray high bit is shown, not dropped.
        let stray = Layout::JS_SAFE.decompose(Id::from_u64(1 << 60));
        assert_eq!(stray.tick, 1 << 48);
        assert!(Layout::JS_SAFE.compose(stray).is_err());
    }

    #[test]
    fn the_widest_and_the_oddest_layouts_do_not_overflow() {
        let widest =
            Layout::new_unsigned(63, 0, 1).epoch_unix_ms(u64::MAX).tick(Duration::from_secs(1));
        assert!(widest.expires() > at_ms(u64::MAX));
        let last = Id::from_u64(u64::MAX);
        assert_eq!(widest.compose(widest.decompose(last)), Ok(last));
        assert!(widest.timestamp(last) > at_ms(u64::MAX));
    }
}
