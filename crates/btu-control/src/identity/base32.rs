//! Base32 as people read it aloud: RFC 4648, section 6, without padding.

/// The bytes as letters and digits.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let bit = |n: usize| bytes.get(n / 8).map_or(0, |byte| byte >> (7 - n % 8) & 1);
    let symbol = |first: usize| {
        let value = (first..first + 5).fold(0, |value, n| value << 1 | bit(n));
        char::from(ALPHABET[usize::from(value)])
    };
    (0..bytes.len() * 8).step_by(5).map(symbol).collect()
}

/// The bytes of a text; `None` where a letter is none of ours, or where bits are left over.
pub(super) fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 5 / 8);
    let (mut value, mut bits) = (0_u32, 0);
    for letter in text.bytes() {
        let symbol = ALPHABET.iter().position(|known| *known == letter)?;
        value = value << 5 | u32::try_from(symbol).ok()?;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(value >> bits & 0xff).ok()?);
            value &= (1 << bits) - 1;
        }
    }
    (bits < 5 && value == 0).then_some(bytes)
}

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10, without the padding.
    #[test]
    fn base32_agrees_with_the_standard_s_vectors() {
        let vectors = [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ];
        for (plain, text) in vectors {
            assert_eq!(encoded(plain.as_bytes()), text);
            assert_eq!(decoded(text).as_deref(), Some(plain.as_bytes()));
        }
    }

    #[test]
    fn no_two_texts_stand_for_the_same_bytes() {
        assert_eq!(
            [decoded("MZ"), decoded("M"), decoded("MZXW6A"), decoded("m1")],
            [const { None }; 4]
        );
    }
}
