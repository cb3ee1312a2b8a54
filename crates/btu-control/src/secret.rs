//! 32 bytes that are nobody else's business: written as hexadecimal, compared in constant time,
//! never printed.

use std::fmt;

use ring::rand::SecureRandom;
use ring::rand::SystemRandom;
use serde::Deserialize;
use serde::Serialize;

/// A secret, or the proof of one.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hex32([u8; 32]);

/// Why a text is no such secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not 64 hexadecimal digits")]
pub struct NotHex;

/// The system gives no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers")]
pub struct NoRandomness;

impl Hex32 {
    /// These bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A fresh one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut bytes = [0; 32];
        SystemRandom::new().fill(&mut bytes).map_err(|_unspecified| NoRandomness)?;
        Ok(Self(bytes))
    }

    /// The bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The bytes as 64 digits.
    pub fn digits(&self) -> String {
        hex(&self.0)
    }
}

/// Takes as long for a wrong secret as for a right one.
impl PartialEq for Hex32 {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
    }
}

impl Eq for Hex32 {}

impl fmt::Debug for Hex32 {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Hex32(..)")
    }
}

impl From<Hex32> for String {
    fn from(secret: Hex32) -> Self {
        secret.digits()
    }
}

impl TryFrom<String> for Hex32 {
    type Error = NotHex;
    fn try_from(text: String) -> Result<Self, NotHex> {
        let bytes = unhex(&text).ok_or(NotHex)?;
        bytes.try_into().map(Self).map_err(|_| NotHex)
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('?');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Hexadecimal digits as bytes.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let (pairs, rest) = digits.as_ref()?.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_reads_back_and_is_never_printed() {
        let secret = Hex32::random().unwrap();
        assert_eq!(Hex32::try_from(secret.digits()), Ok(secret));
        assert_ne!(secret, Hex32::random().unwrap());
        assert_eq!(format!("{secret:?}"), "Hex32(..)");
        let digits = secret.digits();
        let long = format!("{digits}00");
        for wrong in
            ["", "0", &digits[1..], &digits[2..], &long, &digits.replace(&digits[..1], "g")]
        {
            assert_eq!(Hex32::try_from(wrong.to_owned()), Err(NotHex), "{wrong}");
        }
    }
}
