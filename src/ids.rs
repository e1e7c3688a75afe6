//! [`Ids`]: a run of ids taken at once.

use core::iter::FusedIterator;

use crate::Id;
use crate::word::Shape;

/// Ids taken together by [`Generator::next_ids`](crate::Generator::next_ids), in increasing order.
///
/// They are taken when this is made: those that are not drawn from it are never issued.
#[derive(Clone)]
pub struct Ids {
    shape: Shape,
    word: u64,
    left: u64,
}

impl Ids {
    pub(crate) const fn new(shape: Shape, word: u64, n: u64) -> Ids {
        Ids { shape, word, left: n }
    }

    /// The first of ids that are at least one.
    #[allow(clippy::needless_pass_by_value, reason = "it takes the rest with it")]
    pub(crate) const fn first(self) -> Id {
        self.shape.id(self.word)
    }
}

impl Iterator for Ids {
    type Item = Id;

    #[inline]
    fn next(&mut self) -> Option<Id> {
        if self.left == 0 {
            return None;
        }
        let id = self.shape.id(self.word);
        self.left -= 1;
        // Wrapping: after the very last id of a 64-bit layout there is no next word.
        self.word = self.word.wrapping_add(self.shape.one());
        Some(id)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Ids {}
impl FusedIterator for Ids {}

impl core::fmt::Debug for Ids {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Ids")
            .field("next", &self.shape.id(self.word))
            .field("left", &self.left)
            .finish()
    }
}
