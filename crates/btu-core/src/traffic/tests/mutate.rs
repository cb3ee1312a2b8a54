//! Scripts that nobody meant to write: pieces of legal ones, cut, doubled, exchanged.

/// Numbers of a fixed sequence (`SplitMix64`; Steele et al., 2014).
#[derive(Debug)]
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    /// The next number, below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33;
        usize::try_from(z).unwrap_or(0) % limit.max(1)
    }
}

/// What is put into scripts.
static PIECES: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    ";",
    ",",
    "=",
    ":",
    "\"",
    "[",
    "]",
    "#",
    "//",
    "/*",
    "*/",
    "-",
    "e",
    "1e308",
    "-1",
    "0",
    "é",
    "\u{0}",
    "\n",
    "test",
    "cluster {",
    "serial {",
    "exp(",
    "clamp(exp(1),2,3)",
    "mix(1:",
    "type = ",
    "own = a:1;",
    "peer = [::1]:2;",
    "99999999999999999999",
    "nan",
    "inf",
];

/// A script with a few changes.
pub(super) fn mutated(corpus: &[&str], numbers: &mut Numbers) -> String {
    let mut letters: Vec<char> = corpus[numbers.below(corpus.len())].chars().collect();
    for _ in 0..=numbers.below(6) {
        let (at, other) = (numbers.below(letters.len() + 1), numbers.below(letters.len() + 1));
        let (from, to) = (at.min(other), at.max(other).min(at.min(other) + 40));
        match numbers.below(4) {
            0 => drop(letters.drain(from..to)),
            1 => {
                let copy: Vec<char> = letters[from..to].to_vec();
                letters.splice(at..at, copy);
            }
            2 => drop(letters.splice(at..at, PIECES[numbers.below(PIECES.len())].chars())),
            _ if at < letters.len() && other < letters.len() => letters.swap(at, other),
            _ => {}
        }
    }
    letters.into_iter().collect()
}
