//! The seat of a data connection: what it must know before it is one.
//!
//! The first 64 bytes of a connection: `BTUD`, version, flow, attempt, run and a nonce, 32 bytes in
//! all, and BLAKE3 over them, keyed with a secret that was drawn for this run. The answer is BLAKE3
//! over the same bytes with another purpose. Wrong or late: closed without a word. All of it comes
//! before the timed window and counts nowhere.

/// What both ends of a connection know.
#[derive(Clone, Copy)]
pub struct Seat {
    /// Drawn for this run and this black box.
    pub secret: [u8; 32],
    /// Number of the run.
    pub run: u64,
    /// Number of the attempt.
    pub attempt: u32,
    /// Place of the connection in the job of its black box.
    pub flow: u16,
}

impl Seat {
    fn opening(&self, nonce: &[u8; 12]) -> [u8; HALF] {
        let mut opening = [0; HALF];
        opening[..4].copy_from_slice(MAGIC);
        opening[4] = VERSION;
        opening[6..8].copy_from_slice(&self.flow.to_be_bytes());
        opening[8..12].copy_from_slice(&self.attempt.to_be_bytes());
        opening[12..20].copy_from_slice(&self.run.to_be_bytes());
        opening[20..].copy_from_slice(nonce);
        opening
    }

    /// The place that words claim, true or not.
    pub(crate) const fn flow_of(words: &[u8; 2 * HALF]) -> u16 {
        u16::from_be_bytes([words[6], words[7]])
    }

    /// What words claim to be like no others, true or not.
    pub(crate) fn nonce_of(words: &[u8; 2 * HALF]) -> [u8; 12] {
        words[..HALF].last_chunk().copied().unwrap_or_default()
    }

    /// What the end that connects says first.
    pub fn words(&self, nonce: &[u8; 12]) -> [u8; 2 * HALF] {
        let opening = self.opening(nonce);
        let mut words = [0; 2 * HALF];
        words[..HALF].copy_from_slice(&opening);
        words[HALF..].copy_from_slice(self.tag(&opening).as_bytes());
        words
    }

    /// The answer to words that know the secret and mean this seat; nothing for all others.
    pub(crate) fn answer_to(&self, words: &[u8; 2 * HALF]) -> Option<[u8; HALF]> {
        let (mut opening, mut tag) = ([0; HALF], [0; HALF]);
        opening.copy_from_slice(&words[..HALF]);
        tag.copy_from_slice(&words[HALF..]);
        let nonce = opening.last_chunk().copied().unwrap_or_default();
        let is_ours = opening == self.opening(&nonce);
        // The comparison of hashes takes as long for a wrong one.
        let knows = blake3::Hash::from_bytes(tag) == self.tag(&opening);
        (knows && is_ours).then(|| *self.answer(&opening).as_bytes())
    }

    /// True for the answer of an end that knows the secret too.
    pub(crate) fn is_answer(&self, nonce: &[u8; 12], answer: [u8; HALF]) -> bool {
        blake3::Hash::from_bytes(answer) == self.answer(&self.opening(nonce))
    }

    /// A proof that its maker knows the secret and has just read `challenge`.
    pub(crate) fn proof(&self, challenge: &[u8; HALF]) -> blake3::Hash {
        blake3::keyed_hash(&self.secret, &[&challenge[..], b"here"].concat())
    }

    fn tag(&self, opening: &[u8; HALF]) -> blake3::Hash {
        blake3::keyed_hash(&self.secret, opening)
    }

    fn answer(&self, opening: &[u8; HALF]) -> blake3::Hash {
        blake3::keyed_hash(&self.secret, &[&opening[..], b"answer"].concat())
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { run, attempt, flow, .. } = self;
        write!(out, "Seat(run {run}, attempt {attempt}, flow {flow})")
    }
}

const MAGIC: &[u8; 4] = b"BTUD";
const VERSION: u8 = 1;
const HALF: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    const SEAT: Seat = Seat { secret: [7; 32], run: 3, attempt: 1, flow: 0 };
    const NONCE: [u8; 12] = [5; 12];

    /// Seats that somebody else may have words of: of another run, attempt or connection, or a guess.
    const OTHERS: [Seat; 4] = [
        Seat { run: 2, ..SEAT },
        Seat { attempt: 2, ..SEAT },
        Seat { flow: 1, ..SEAT },
        Seat { secret: [8; 32], ..SEAT },
    ];

    #[test]
    fn words_are_good_for_their_run_attempt_and_connection_alone() {
        let words = SEAT.words(&NONCE);
        let answer = SEAT.answer_to(&words).unwrap();
        assert!(SEAT.is_answer(&NONCE, answer) && !SEAT.is_answer(&[6; 12], answer));
        for other in OTHERS {
            assert_eq!(SEAT.answer_to(&other.words(&NONCE)), None, "{other:?}");
            assert!(!other.is_answer(&NONCE, answer), "{other:?}");
        }
        for bit in 0..8 * words.len() {
            let mut altered = words;
            altered[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SEAT.answer_to(&altered), None, "bit {bit}");
        }
    }
}
