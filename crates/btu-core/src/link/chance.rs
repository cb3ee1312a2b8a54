//! Chance as an argument: one random stream per element, one draw per wire packet.

use rand::Rng as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha12Rng;

use crate::units::Ratio;

/// What the random streams of a chain are derived from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct StreamSeed([u8; 32]);

/// The random numbers of one element in one run.
#[derive(Debug)]
pub(super) struct Stream {
    seed: [u8; 32],
    rng: ChaCha12Rng,
}

/// A probability in units of 2^-32 or 2^-53, to be compared with a draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    of_half: u64,
    of_whole: u64,
}

impl StreamSeed {
    /// The seed of one direction of one link of a plan.
    pub(super) fn new(plan_seed: u64, link: &str, direction: &str) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("btu link element streams 1");
        hash.update(&plan_seed.to_le_bytes());
        for name in [link, direction] {
            hash.update(&name.len().to_le_bytes());
            hash.update(name.as_bytes());
        }
        Self(hash.finalize().into())
    }

    /// The stream of the element at `index` of the chain.
    pub(super) fn stream(&self, index: usize) -> Stream {
        let mut hash = blake3::Hasher::new_keyed(&self.0);
        hash.update(&index.to_le_bytes());
        Stream::new(hash.finalize().into())
    }
}

impl Stream {
    pub(super) fn new(seed: [u8; 32]) -> Self {
        Self { seed, rng: ChaCha12Rng::from_seed(seed) }
    }

    /// The number of the next wire packet.
    pub(super) fn draw(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// A number that is fixed for the element, for choices by position.
    pub(super) fn key(&self) -> u64 {
        self.seed.iter().fold(0, |key: u64, byte| key.rotate_left(8) ^ u64::from(*byte))
    }
}

impl Chance {
    pub(super) fn new(share: Ratio) -> Self {
        Self { of_half: scaled(share, 32), of_whole: scaled(share, 53) }
    }

    /// True with this probability, by the upper 53 bits of a draw.
    pub(super) const fn hits(self, draw: u64) -> bool {
        draw >> 11 < self.of_whole
    }

    /// True with this probability, by the upper half of a draw.
    pub(super) const fn hits_upper(self, draw: u64) -> bool {
        draw >> 32 < self.of_half
    }

    /// True with this probability, by the lower half of a draw.
    pub(super) const fn hits_lower(self, draw: u64) -> bool {
        draw & 0xffff_ffff < self.of_half
    }
}

/// Legal for [`Chance::hits_upper`] and [`Chance::hits_lower`], to which a smaller share is none.
pub(super) fn is_share_of_half(share: Ratio) -> bool {
    let share = share.share();
    share == 0.0 || (2_f64.powi(-32)..=1.0).contains(&share)
}

/// A draw as a number in the open interval (0, 1).
#[expect(clippy::cast_precision_loss, reason = "52 bits and a half are exact in a float")]
pub(crate) fn unit_interval(draw: u64) -> f64 {
    ((draw >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
}

/// The number of position `i` under `key`: the finaliser of `SplitMix64` (Steele et al., 2014).
pub(super) const fn mix(key: u64, i: u64) -> u64 {
    let z = key.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share within 0 and 1 times at most 2^53"
)]
fn scaled(share: Ratio, bits: i32) -> u64 {
    (share.share().clamp(0.0, 1.0) * 2_f64.powi(bits)).round() as u64
}
