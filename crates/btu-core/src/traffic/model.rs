//! Traffic models: what applications send, each with its source.
//!
//! To add a model, write `model/NAME.rs` with a `MODEL`, name it in [`MODELS`], and give it a
//! section in `docs/models.md` that tells its parameters. A model says in which variants it is tested,
//! and which law each of its parts follows; the checks test that its train keeps them, so the values of a claim
//! come from the train, or from the function that the train steps by, never from the law itself.

mod capture;
mod cloud_gaming;
mod collective;
mod dash;
mod frames;
mod ftp;
mod ftp_3gpp;
mod incast;
mod iot;
mod library;
mod mobile_game;
mod mpeg;
mod pages;
mod partition;
mod replay;
mod rpc;
mod self_similar;
pub(super) mod tcplib;
mod teleconf;
mod telnet;
mod vdi;
mod vectors;
mod video_11ax;
mod voice_cbr;
mod voice_onoff;
mod voip_11ax;
mod web_h2;
mod web_h3;
mod webrtc;
mod workloads;
mod www_3gpp;
mod www_surge;

use crate::units::BitRate;

use super::chance::Streams;
use super::law::Law;
use super::train::Train;
use crate::traffic::language::call::Call;
use crate::traffic::language::call::Parameter;
use crate::traffic::language::call::Shape;
use crate::traffic::language::call::Takes;
use crate::traffic::language::quantity::Dialect;
use crate::traffic::language::quantity::Quantity;
use crate::traffic::language::quantity::float;
use crate::traffic::language::quantity::whole;
use crate::traffic::language::script;
use crate::traffic::language::script::Problem;

pub(super) use capture::Row as RecordedPayload;
pub(super) use mpeg::frames as mpeg_frames;
pub(super) use replay::Row as Exchange;
pub(super) use telnet::durations as telnet_durations;
pub(super) use vectors::Vector;

/// Every traffic model, in the order of the documentation.
pub static MODELS: &[&Model] = &[
    &telnet::MODEL,
    &ftp::MODEL,
    &ftp_3gpp::MODEL,
    &voice_cbr::MODEL,
    &voice_onoff::MODEL,
    &voip_11ax::MODEL,
    &teleconf::MODEL,
    &mpeg::MODEL,
    &video_11ax::MODEL,
    &www_surge::MODEL,
    &www_3gpp::MODEL,
    &self_similar::MODEL,
    &web_h2::MODEL,
    &web_h3::MODEL,
    &dash::MODEL,
    &webrtc::MODEL,
    &cloud_gaming::MODEL,
    &mobile_game::MODEL,
    &vdi::MODEL,
    &iot::MODEL,
    &rpc::MODEL,
    &incast::MODEL,
    &partition::MODEL,
    &collective::MODEL,
    &replay::MODEL,
    &capture::MODEL,
];

/// What every model's file needs.
mod prelude {
    pub(in crate::traffic) use super::Claim;
    pub(in crate::traffic) use super::DURATION;
    pub(in crate::traffic) use super::LARGEST;
    pub(in crate::traffic) use super::Model;
    pub(in crate::traffic) use super::PLAIN;
    pub(in crate::traffic) use super::Says;
    pub(in crate::traffic) use super::Verified;
    pub(in crate::traffic) use super::below_tails;
    pub(in crate::traffic) use super::choice;
    pub(in crate::traffic) use super::fixed;
    pub(in crate::traffic) use super::follows;
    pub(in crate::traffic) use super::message_size;
    pub(in crate::traffic) use super::ms;
    pub(in crate::traffic) use super::per_session;
    pub(in crate::traffic) use super::rounded;
    pub(in crate::traffic) use super::s;
    pub(in crate::traffic) use super::sending_rate;
    pub(in crate::traffic) use super::time_between;
    pub(in crate::traffic) use super::us;
    pub(in crate::traffic) use super::value;
    pub(in crate::traffic) use super::variant;
    pub(in crate::traffic) use crate::traffic::chance::Stream;
    pub(in crate::traffic) use crate::traffic::chance::Streams;
    pub(in crate::traffic) use crate::traffic::language::call::Call;
    pub(in crate::traffic) use crate::traffic::language::call::Shape;
    pub(in crate::traffic) use crate::traffic::language::quantity::Quantity;
    pub(in crate::traffic) use crate::traffic::language::quantity::float;
    pub(in crate::traffic) use crate::traffic::language::quantity::whole;
    pub(in crate::traffic) use crate::traffic::law::BELOW_TAIL;
    pub(in crate::traffic) use crate::traffic::law::Law;
    pub(in crate::traffic) use crate::traffic::observe;
    pub(in crate::traffic) use crate::traffic::train::Arrival;
    pub(in crate::traffic) use crate::traffic::train::Direction;
    pub(in crate::traffic) use crate::traffic::train::Direction::Backward;
    pub(in crate::traffic) use crate::traffic::train::Direction::Forward;
    pub(in crate::traffic) use crate::traffic::train::Open;
    pub(in crate::traffic) use crate::traffic::train::Renewal;
    pub(in crate::traffic) use crate::traffic::train::Train;
    pub(in crate::traffic) use crate::traffic::train::merge;
    pub(in crate::traffic) use crate::units::Bytes;
    pub(in crate::traffic) use crate::units::Nanos;
}

/// A traffic model.
#[derive(Debug)]
pub struct Model {
    /// Name, sentence and parameters.
    pub shape: Shape,
    /// Where it is from: the paper, the standard, the file.
    pub source: &'static str,
    /// Whether its parameters were compared with the source.
    pub verified: Verified,
    /// How it is tested: in every combination of its words, and with what else changes its train. The first one
    /// has every default.
    pub variants: &'static [ModelVariant],
    /// The mean rates forward and backward, in bytes per second, where answers take no time.
    pub(super) rates: fn(&Call) -> [f64; 2],
    /// The train of a test.
    pub(super) train: fn(&Call, &Streams) -> Train,
    /// What can be tested about it.
    pub(super) claims: fn(&Call) -> Vec<Claim>,
}

/// A model with arguments that the checks test by themselves.
#[derive(Debug)]
pub struct ModelVariant {
    /// What it is called; no other one of its model has the name.
    pub name: &'static str,
    /// Its arguments as they are written, such as `film=starwars`.
    pub arguments: &'static str,
}

/// Whether the parameters of a model were compared with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// Not; what is missing.
    No(&'static str),
    /// Which of them were compared with which page or file, and where that differs; the page of the models
    /// says it in the same words.
    Yes(&'static str),
}

impl Verified {
    /// True for those that were compared.
    pub const fn is_yes(self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

/// Something that a model says about its train.
#[derive(Debug)]
pub struct Claim {
    /// What it is about, such as `size of a frame`.
    pub what: &'static str,
    /// What is claimed.
    pub says: Says,
    /// How the values are got from the streams of a test, so many.
    pub(super) values: Values,
}

/// What is claimed of a sequence of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Says {
    /// The correlation of each value with the next.
    Correlation(f64),
    /// Independent values of this distribution.
    Follows(Law),
    /// Independent values of this distribution, rounded to whole numbers of at least 1.
    FollowsRounded(Law),
    /// Self-similar counts with this Hurst parameter.
    Hurst(f64),
    /// Independent sessions, each by its bytes one way and the seconds until the next begins: so many bytes
    /// per second in the mean.
    Rate(f64),
    /// The same where what is beyond the 95th percentile of every law lies there: the mean of heavy tails is
    /// seen in no train of a bearable length, and that of the rest soon.
    RateBelowTails(f64),
}

/// The model of this name.
pub fn find(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.shape.name == name).copied()
}

impl Model {
    /// The name.
    pub const fn name(&self) -> &'static str {
        self.shape.name
    }

    /// The mean rates forward and backward, where answers take no time.
    pub fn mean_rates(&self, call: &Call) -> [BitRate; 2] {
        (self.rates)(call).map(|bytes| BitRate::new(whole(8.0 * bytes)))
    }

    /// Every variant by its name, as a test would have it.
    pub fn calls(&self) -> Result<Vec<(&'static str, Call)>, Problem> {
        let files = |_: &str| Err("no variant reads a file".to_owned());
        let read = |variant: &ModelVariant| {
            let text = format!("{}({})", self.name(), variant.arguments);
            Ok((variant.name, script::call(&text, Dialect::Btu, &files)?.0))
        };
        self.variants.iter().map(read).collect()
    }

    /// What can be tested about it with these arguments.
    pub fn claims(&self, call: &Call) -> Vec<Claim> {
        (self.claims)(call)
    }
}

/// A variant with these arguments.
pub(super) const fn variant(name: &'static str, arguments: &'static str) -> ModelVariant {
    ModelVariant { name, arguments }
}

/// The variant of a model whose train nothing changes.
pub(super) const PLAIN: &[ModelVariant] = &[variant("default", "")];

/// The duration that every model takes.
pub(super) const DURATION: Parameter = Parameter {
    name: "duration",
    takes: Takes::Value(Quantity::Time),
    default: "60 s",
    about: "how long to send",
    range: None,
    at_least: None,
    only_beside: None,
};

/// A parameter that chooses among variants; the first is the default.
pub(super) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Parameter {
    let takes = Takes::Word(words);
    Parameter { name, takes, default: "", about, range: None, at_least: None, only_beside: None }
}

/// A parameter with a default.
pub(super) const fn value(
    name: &'static str,
    quantity: Quantity,
    default: &'static str,
    about: &'static str,
) -> Parameter {
    let takes = Takes::Value(quantity);
    Parameter { name, takes, default, about, range: None, at_least: None, only_beside: None }
}

/// A parameter with a default that holds for a whole test.
pub(super) const fn fixed(
    name: &'static str,
    quantity: Quantity,
    default: &'static str,
    about: &'static str,
) -> Parameter {
    Parameter { takes: Takes::Fixed(quantity), ..value(name, quantity, default, about) }
}

/// The time between two things of which there would be no end if it were none.
pub(super) const fn time_between(
    name: &'static str,
    default: &'static str,
    about: &'static str,
) -> Parameter {
    value(name, Quantity::Time, default, about).within(us(1.0), s(86_400.0))
}

/// A rate at which something is sent: 1 kbit/s to 10 Tbit/s.
pub(super) const fn sending_rate(
    name: &'static str,
    default: &'static str,
    about: &'static str,
) -> Parameter {
    fixed(name, Quantity::Rate, default, about).within(1e3, 1e13)
}

/// The size of a message: a byte to a TiB.
pub(super) const fn message_size(
    name: &'static str,
    default: &'static str,
    about: &'static str,
) -> Parameter {
    value(name, Quantity::Bytes, default, about).within(1.0, LARGEST)
}

/// A span in nanoseconds, for laws.
pub(super) const fn us(count: f64) -> f64 {
    count * 1e3
}

/// A span in nanoseconds, for laws.
pub(super) const fn ms(count: f64) -> f64 {
    count * 1e6
}

/// A span in nanoseconds, for laws.
pub(super) const fn s(count: f64) -> f64 {
    count * 1e9
}

/// A claim that values follow a law.
pub(super) fn follows(what: &'static str, law: Law, values: Values) -> Claim {
    Claim { what, says: Says::Follows(law), values }
}

/// A claim that values follow a law, rounded to whole numbers of at least 1.
pub(super) fn rounded(what: &'static str, law: Law, values: Values) -> Claim {
    // One value leaves no bins to count in.
    if let Some(value) = law.fixed() {
        let law = Law::of("const", [float(whole(value).max(1)), 0.0, 0.0]);
        return follows(what, law, values);
    }
    Claim { what, says: Says::FollowsRounded(law), values }
}

/// A claim that sessions make so many bytes per second, told by themselves where they last so long that few of
/// them fit into a train of a bearable length.
pub(super) fn per_session(rate: f64, values: Values) -> Claim {
    Claim { what: "rate of sessions, bytes per second", says: Says::Rate(rate), values }
}

/// The same where every law is cut as [`Law::below_tail`] cuts it, both the values and the rate.
pub(super) fn below_tails(rate: f64, values: Values) -> Claim {
    let what = "rate below the tails, bytes per second";
    Claim { what, says: Says::RateBelowTails(rate), values }
}

/// A TiB.
pub(super) const LARGEST: f64 = 1_099_511_627_776.0;

/// How the values of a claim are got from the streams of a test, so many.
pub(super) type Values = fn(&Call, &Streams, usize) -> Vec<f64>;
