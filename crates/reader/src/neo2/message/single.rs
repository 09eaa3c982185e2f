//! A value that must be the same wherever an answer has it.

/// A value that has been seen, and whether another one has been seen too. It has no `Debug`, because a value may be a
/// KSN.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SingleValue<T> {
    value: Option<T>,
    contradicted: bool,
}

impl<T> Default for SingleValue<T> {
    fn default() -> Self {
        Self { value: None, contradicted: false }
    }
}

impl<T: Copy + PartialEq> SingleValue<T> {
    pub(super) fn see(&mut self, value: T) {
        self.contradicted |= *self.value.get_or_insert(value) != value;
    }

    /// Returns the value, or `None` if there is none or more than one.
    #[must_use]
    pub fn get(&self) -> Option<T> {
        self.value.filter(|_| !self.contradicted)
    }

    /// Checks that the answer has this value and no other.
    #[must_use]
    pub fn is(&self, expected: T) -> bool {
        self.get() == Some(expected)
    }

    /// Checks that the answer does not have the value.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.value.is_none()
    }

    /// Checks whether the answer has two different values.
    #[must_use]
    pub fn is_contradicted(&self) -> bool {
        self.contradicted
    }
}
