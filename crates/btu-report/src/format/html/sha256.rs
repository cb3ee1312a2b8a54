//! SHA-256 at compile time (FIPS 180-4), for the hash of the style sheet in the page's policy.
//!
//! A content security policy takes no other family of hashes; a constant cannot be out of date.

/// The digest of `message`.
pub(super) const fn sha256(message: &[u8]) -> [u8; 32] {
    let mut state = INITIAL;
    let blocks = (message.len() + 9).div_ceil(64);
    let mut block = 0;
    while block < blocks {
        state = compress(state, &schedule(message, block, blocks));
        block += 1;
    }
    let mut digest = [0; 32];
    let mut place = 0;
    while place < 32 {
        digest[place] = state[place / 4].to_be_bytes()[place % 4];
        place += 1;
    }
    digest
}

/// The 64 words of a block of the padded message.
const fn schedule(message: &[u8], block: usize, blocks: usize) -> [u32; 64] {
    let mut words = [0_u32; 64];
    let mut place = 0;
    while place < 64 {
        let byte = padded(message, block * 64 + place, blocks * 64);
        words[place / 4] = words[place / 4] << 8 | byte as u32;
        place += 1;
    }
    let mut t = 16;
    while t < 64 {
        let (a, b) = (words[t - 15], words[t - 2]);
        let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
        let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
        words[t] = words[t - 16].wrapping_add(s0).wrapping_add(words[t - 7]).wrapping_add(s1);
        t += 1;
    }
    words
}

/// A byte of the message followed by 0x80, zeros, and its length in bits.
const fn padded(message: &[u8], place: usize, padded_length: usize) -> u8 {
    if place < message.len() {
        message[place]
    } else if place == message.len() {
        0x80
    } else if place + 8 < padded_length {
        0
    } else {
        (message.len() as u64 * 8).to_be_bytes()[place + 8 - padded_length]
    }
}

#[expect(clippy::many_single_char_names, reason = "the standard's own names")]
const fn compress(state: [u32; 8], words: &[u32; 64]) -> [u32; 8] {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
    let mut t = 0;
    while t < 64 {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first =
            h.wrapping_add(s1).wrapping_add(choice).wrapping_add(ROUNDS[t]).wrapping_add(words[t]);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
        t += 1;
    }
    let turned = [a, b, c, d, e, f, g, h];
    let mut sum = state;
    let mut place = 0;
    while place < 8 {
        sum[place] = state[place].wrapping_add(turned[place]);
        place += 1;
    }
    sum
}

/// First 32 bits of the fractional parts of the square roots of the first 8 primes.
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes.
#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn hex(digest: [u8; 32]) -> String {
        digest.iter().fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    }

    /// FIPS 180-4 examples: one block, two blocks, and lengths around the padding's edges.
    #[test]
    fn known_digests() {
        let cases: [(&[u8], &str); 4] = [
            (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (&[b'a'; 64], "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        ];
        for (message, digest) in cases {
            assert_eq!(hex(sha256(message)), digest);
        }
    }
}
