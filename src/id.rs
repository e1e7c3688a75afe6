//! [`Id`]: 64 bits, ordered as a number.

use core::fmt;
use core::str::FromStr;

/// A 64-bit id.
///
/// Ids of one generator increase with each call; ids of one layout sort by tick first. Text is
/// decimal. An `Id` says nothing about its layout: [`Layout::decompose`](crate::Layout::decompose)
/// reads one.
///
/// ```
/// use nivis::Id;
///
/// let id: Id = "1541815603606036480".parse()?;
/// assert_eq!(id.as_u64(), 1541815603606036480);
/// assert_eq!(id.to_string(), "1541815603606036480");
/// # Ok::<(), nivis::ParseIdError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct Id(u64);

impl Id {
    /// The id with these bits.
    pub const fn from_u64(bits: u64) -> Id {
        Id(bits)
    }

    /// The bits of the id.
    #[inline]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The bits as a signed number, for databases whose widest integer is a signed `BIGINT`.
    ///
    /// Never negative for a layout of up to 63 bits. In an unsigned layout of 64 bits (Discord,
    /// Instagram, Mastodon) it turns negative once the highest tick bit is set, and no longer sorts.
    #[inline]
    pub const fn as_i64(self) -> i64 {
        self.0.cast_signed()
    }
}

impl From<Id> for u64 {
    fn from(id: Id) -> u64 {
        id.0
    }
}

impl From<u64> for Id {
    fn from(bits: u64) -> Id {
        Id(bits)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for Id {
    type Err = ParseIdError;

    /// Reads decimal digits and nothing else: no sign, no space, no separator.
    fn from_str(text: &str) -> Result<Id, ParseIdError> {
        if text.is_empty() {
            return Err(ParseIdError::Empty);
        }
        if let Some((at, found)) = text.char_indices().find(|(_, c)| !c.is_ascii_digit()) {
            return Err(ParseIdError::NotADigit { at, found });
        }
        // Digits only, so what is left to go wrong is the size.
        text.parse().map(Id).map_err(|_| ParseIdError::TooLarge)
    }
}

/// Why a text is not an [`Id`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParseIdError {
    /// There is no text.
    Empty,
    /// A character that is not one of `0` to `9`.
    NotADigit {
        /// Where, in bytes from the start.
        at: usize,
        /// What stands there.
        found: char,
    },
    /// The number is above 2^64 - 1.
    TooLarge,
}

impl fmt::Display for ParseIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseIdError::Empty => write!(f, "an empty text is not an id"),
            ParseIdError::NotADigit { at, found } => {
                write!(f, "an id is decimal digits: found {found:?} at byte {at}")
            }
            ParseIdError::TooLarge => {
                write!(f, "an id is at most {}: the number is larger", u64::MAX)
            }
        }
    }
}

impl core::error::Error for ParseIdError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_back_and_refuses_everything_else() {
        for bits in [0, 1, 10, u64::MAX] {
            assert_eq!(Id(bits).to_string().parse(), Ok(Id(bits)));
        }
        assert_eq!("".parse::<Id>(), Err(ParseIdError::Empty));
        assert_eq!("18446744073709551616".parse::<Id>(), Err(ParseIdError::TooLarge));
        for (text, at, found) in
            [("+7", 0, '+'), ("-1", 0, '-'), ("7 ", 1, ' '), ("1_0", 1, '_'), ("1٣", 1, '٣')]
        {
            assert_eq!(text.parse::<Id>(), Err(ParseIdError::NotADigit { at, found }));
        }
        assert_eq!(Id(u64::MAX).as_i64(), -1);
    }
}
