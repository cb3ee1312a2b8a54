//! What a telephone call would be worth on a path: rating factor and mean opinion score of the E-model.
//!
//! ITU-T G.107 with its default parameters (clause 7.7), of which the path decides two: the delay of one way and
//! the loss. R = Ro - Is - Id - Ie,eff, without an advantage factor.

/// What the decoder of a codec makes of lost packets (ITU-T G.113, appendix I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Codec {
    /// Speech of a packet: what is said first waits so long for the rest, seconds.
    pub packet_s: f64,
    /// Ie: what it takes from R without any loss.
    pub impairment: f64,
    /// Bpl: how well it bears loss, percent.
    pub robustness_percent: f64,
}

/// The worth of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// R, from 0 to 100.
    pub r: f64,
    /// The mean opinion score that belongs to it (G.107, annex B), from 1 to 4.5.
    pub mos: f64,
}

impl Rating {
    /// Of a call of which nothing was heard: there is no delay to rate, and nothing is worse.
    pub const NOTHING_HEARD: Self = Self { r: 0.0, mos: 1.0 };
}

/// G.711 in packets of 20 ms with the concealment of its appendix I.
pub const G711: Codec = Codec { packet_s: 0.02, impairment: 0.0, robustness_percent: 25.1 };

/// Ro: what noise leaves of a call (7.2), with default parameters.
const SIGNAL_TO_NOISE: f64 = 94.769;
/// Is: what comes along with the voice (7.3), with default parameters.
const SIMULTANEOUS: f64 = 1.414;
/// TELR: the loudness of the talker's echo, dB.
const TALKER_ECHO: f64 = 65.0;
/// WEPL: the loss of the listener's echo, dB.
const LISTENER_ECHO: f64 = 110.0;

impl Codec {
    /// A call whose last packets to be played come `network_s` late, and which loses this share of all.
    pub fn rating(&self, network_s: f64, lost: f64) -> Rating {
        let delay_ms = 1e3 * (network_s + self.packet_s);
        let r = SIGNAL_TO_NOISE - SIMULTANEOUS - delayed(delay_ms) - self.impaired(100.0 * lost);
        Rating { r: r.clamp(0.0, 100.0), mos: opinion(r) }
    }

    /// `Ie,eff = Ie + (95 - Ie) Ppl / (Ppl / BurstR + Bpl)` (7.5), of losses that come singly: `BurstR` = 1.
    fn impaired(&self, lost_percent: f64) -> f64 {
        let share = lost_percent / (lost_percent + self.robustness_percent);
        self.impairment + (95.0 - self.impairment) * share
    }
}

/// Id = Idte + Idle + Idd (7.4) of a delay that is the same both ways.
fn delayed(ms: f64) -> f64 {
    let talker = if ms < 1.0 {
        0.0
    } else {
        let echo = 40.0 * ((1.0 + ms / 10.0) / (1.0 + ms / 150.0)).log10();
        let loudness = TALKER_ECHO - echo + 6.0 * (-0.3 * ms * ms).exp();
        let rating = 80.0 + 2.5 * (loudness - 14.0);
        (above(rating, 100.0) - 1.0) * (1.0 - (-ms).exp())
    };
    let rating = 10.5 * (LISTENER_ECHO + 7.0) * (2.0 * ms + 1.0).powf(-0.25);
    talker + above(rating, 169.0) + too_late(ms)
}

/// `(Ro - R) / 2 + sqrt((Ro - R)^2 / 4 + spread)`: Roe is Ro with default parameters.
fn above(rating: f64, spread: f64) -> f64 {
    let half = (SIGNAL_TO_NOISE - rating) / 2.0;
    half + (half * half + spread).sqrt()
}

/// Idd: what a delay takes that no echo betrays, from 100 ms on.
fn too_late(ms: f64) -> f64 {
    if ms <= 100.0 {
        return 0.0;
    }
    let x = (ms / 100.0).log2();
    let root = |x: f64| (1.0 + x.powi(6)).powf(1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// `MOS = 1 + 0.035 R + R (R - 60) (100 - R) 7e-6` (annex B).
fn opinion(r: f64) -> f64 {
    let r = r.clamp(0.0, 100.0);
    // The polynomial dips below 1 for the very smallest.
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At once, as the recommendation has its defaults.
    const IDEAL: Codec = Codec { packet_s: 0.0, ..G711 };

    /// G.107, 7.7: all defaults give R = 93.2; annex B: that is an MOS of 4.41.
    #[test]
    fn the_default_call_is_worth_93() {
        let rating = IDEAL.rating(0.0, 0.0);
        assert!((rating.r - 93.2).abs() < 0.05, "{rating:?}");
        assert!((rating.mos - 4.41).abs() < 0.005, "{rating:?}");
    }

    /// Annex B, table B.1: R = 90, 80, 70, 60, 50 are MOS 4.34, 4.03, 3.60, 3.10, 2.58, the second of which the
    /// formula has as 4.024.
    #[test]
    fn opinions_are_those_of_the_table() {
        for (r, mos) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            assert!((opinion(r) - mos).abs() < 0.007, "{r}: {}", opinion(r));
        }
        assert_eq!((opinion(-5.0), opinion(120.0)), (1.0, 4.5));
    }

    /// G.113 states robustness so that 1 % of loss takes 95 / 26.1; 200 ms take 3.0 beside the echoes.
    #[test]
    fn delay_and_loss_take_their_share() {
        let of = |delay, loss| IDEAL.rating(delay, loss).r;
        assert!((of(0.0, 0.0) - of(0.0, 0.01) - 95.0 / 26.1).abs() < 1e-9);
        assert!((too_late(200.0) - 3.04).abs() < 0.01, "{}", too_late(200.0));
        assert!((of(0.15, 0.0) - 89.5).abs() < 0.1 && (of(0.4, 0.0) - 62.2).abs() < 0.1);
        assert!(
            (0..100).all(|at| of(f64::from(at) / 100.0, 0.0) > of(f64::from(at + 1) / 100.0, 0.0))
        );
    }
}
