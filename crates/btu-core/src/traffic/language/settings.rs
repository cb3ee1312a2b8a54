//! The settings of a test, one by one, from what is written to their types.

use std::ops::RangeInclusive;

use crate::units::Bytes;
use crate::units::Nanos;

use super::call::Call;
use super::call::Pattern;
use super::quantity::Quantity;
use super::quantity::whole;
use super::recording::FileText;
use super::scenario::Drain;
use super::scenario::Endpoint;
use super::scenario::Pace;
use super::scenario::Protocol;
use super::script::Argument;
use super::script::Expressions;
use super::script::Form;
use super::script::Label;
use super::script::Place;
use super::script::Problem;
use super::script::Tree;
use crate::traffic::receipts;
use crate::traffic::transport::Transport;

/// What the text may name that this crate does not know.
#[derive(Clone, Copy)]
pub struct Vocabulary<'v> {
    /// Gives what stands in a file that a scenario names, or why it cannot.
    pub files: &'v dyn Fn(&str) -> Result<FileText, String>,
}

impl std::fmt::Debug for Vocabulary<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Vocabulary").finish_non_exhaustive()
    }
}

/// What the settings of one end say; most belong to the sender.
#[derive(Clone, Debug, Default)]
pub(in crate::traffic) struct Settings {
    pub(in crate::traffic) name: Option<(String, Place)>,
    pub(in crate::traffic) call: Option<Call>,
    pub(in crate::traffic) protocol: Option<Protocol>,
    pub(in crate::traffic) own: Option<Endpoint>,
    pub(in crate::traffic) peer: Option<Endpoint>,
    pub(in crate::traffic) start: Option<Nanos>,
    pub(in crate::traffic) seed: Option<u64>,
    pub(in crate::traffic) pace: Option<Pace>,
    pub(in crate::traffic) drain: Option<Drain>,
    pub(in crate::traffic) receipts: Option<(bool, Place)>,
    pub(in crate::traffic) dscp: Option<u8>,
    pub(in crate::traffic) link: Option<String>,
}

/// The names of the settings of a test, for errors.
pub(in crate::traffic) const NAMES: &str =
    "type, protocol, own, peer, name, start, seed, pace, drain, receipts, dscp, link";

impl Settings {
    /// Takes one setting; it may be written once.
    pub(in crate::traffic) fn set(
        &mut self,
        (name, place): (&str, Place),
        value: &Tree,
        expressions: &mut Expressions<'_>,
    ) -> Result<(), Problem> {
        let twice = match name {
            "type" => put(&mut self.call, expressions.call(value)?),
            "protocol" => put(&mut self.protocol, protocol(value, expressions)?),
            "own" => put(&mut self.own, endpoint(value)?),
            "peer" => put(&mut self.peer, endpoint(value)?),
            "name" => put(&mut self.name, (label(value)?, place)),
            "start" => put(&mut self.start, time(value, expressions)?),
            "seed" => put(&mut self.seed, count(value, "seed", SEEDS)?),
            "pace" => put(&mut self.pace, pace(value)?),
            "drain" => put(&mut self.drain, drain(value, expressions)?),
            "receipts" => put(&mut self.receipts, (yes(name, value)?, value.place)),
            "dscp" => put(&mut self.dscp, count(value, "dscp", 63)?),
            "link" => put(&mut self.link, text(value)?),
            _ => {
                let cause = format!("unknown setting \"{name}\"; write one of {NAMES}");
                return Err(Problem::at(place, cause));
            }
        };
        if twice { Err(Problem::at(place, format!("{name} is written twice"))) } else { Ok(()) }
    }

    /// True for the reading end.
    pub(in crate::traffic) fn is_sink(&self) -> bool {
        self.call.as_ref().is_some_and(|call| matches!(call.pattern(), Pattern::Sink))
    }

    /// What is wrong with receipts that are wanted.
    pub(in crate::traffic) fn receipts_refused(&self) -> Option<Problem> {
        let (_, place) = self.receipts.filter(|(is_wanted, _)| *is_wanted)?;
        let transport = self.protocol.as_ref().map_or(Transport::default(), |one| one.transport);
        let cause = receipts::refusal(self.call.as_ref()?, transport)?;
        Some(Problem::at(place, cause))
    }
}

/// Fills a place; true if it was filled before.
fn put<T>(slot: &mut Option<T>, value: T) -> bool {
    slot.replace(value).is_some()
}

/// A transport with its options.
fn protocol(tree: &Tree, expressions: &mut Expressions<'_>) -> Result<Protocol, Problem> {
    let legal = Transport::names;
    let Form::Call(name, parts) = &tree.form else {
        return Err(Problem::at(tree.place, format!("write one of {}", legal())));
    };
    let Some(transport) = Transport::by_name(name) else {
        let cause = format!("unknown protocol \"{name}\"; write one of {}", legal());
        return Err(Problem::at(tree.place, cause));
    };
    let mut protocol = Protocol { transport, ..Protocol::default() };
    for part in parts {
        set_option(&mut protocol, part, expressions)?;
    }
    Ok(protocol)
}

/// One option of a transport that has it.
fn set_option(
    protocol: &mut Protocol,
    part: &Argument,
    expressions: &mut Expressions<'_>,
) -> Result<(), Problem> {
    let (transport, value) = (protocol.transport, &part.value);
    let option = match &part.label {
        Label::Name(option) => option.as_str(),
        _ => "",
    };
    match (transport, option) {
        (Transport::Tcp | Transport::Quic, "window") => {
            protocol.window = Some(size(value, &WINDOW, expressions)?);
        }
        (Transport::Tcp, "congestion") => protocol.congestion = Some(word(value)?),
        (Transport::Tcp, "mss") => protocol.mss = Some(size(value, &MSS, expressions)?),
        (Transport::Tcp, "nodelay") => protocol.nodelay = Some(yes("nodelay", value)?),
        (Transport::Quic, "congestion") => protocol.congestion = Some(of_quic(value)?),
        (_, "") => {
            let cause = format!("write {} as NAME=VALUE", options(transport));
            return Err(Problem::at(part.place, cause));
        }
        _ => {
            let legal = options(transport);
            let cause = format!("{transport} has no option \"{option}\"; write {legal}");
            return Err(Problem::at(part.place, cause));
        }
    }
    Ok(())
}

/// The options that a transport has, for errors.
fn options(transport: Transport) -> &'static str {
    match transport {
        Transport::Quic => "window or congestion",
        Transport::Tcp => "window, nodelay, congestion or mss",
        Transport::Udp => "udp alone: what datagrams wait in is as large as this program makes it",
    }
}

/// A congestion control that the library has.
fn of_quic(value: &Tree) -> Result<String, Problem> {
    let found = word(value)?;
    if QUIC_CONGESTION.contains(&found.as_str()) {
        return Ok(found);
    }
    let legal = QUIC_CONGESTION.join(", ");
    let cause = format!("quic has no congestion control \"{found}\"; write one of {legal}");
    Err(Problem::at(value.place, cause))
}

const QUIC_CONGESTION: [&str; 3] = ["cubic", "reno", "bbr"];

/// Of a smaller buffer Linux makes a larger one, and of a larger one less, without a word.
pub(in crate::traffic) const WINDOW: RangeInclusive<Bytes> =
    Bytes::new(4096)..=Bytes::new(512 << 20);

/// What `TCP_MAXSEG` takes: `TCP_MIN_MSS` to `MAX_TCP_WINDOW` of the kernel (net/tcp.h).
pub(in crate::traffic) const MSS: RangeInclusive<Bytes> = Bytes::new(88)..=Bytes::new(32_767);

/// `host:port`, or a host or role alone.
pub(in crate::traffic) fn endpoint(tree: &Tree) -> Result<Endpoint, Problem> {
    match &tree.form {
        Form::Endpoint(host, port) => Ok(Endpoint { host: host.clone(), port: Some(*port) }),
        Form::Call(host, none) if none.is_empty() => {
            Ok(Endpoint { host: host.clone(), port: None })
        }
        _ => Err(Problem::at(tree.place, "wanted HOST:PORT, or a role: test, active, passive")),
    }
}

/// A name that can stand in a key of the matrix.
pub(in crate::traffic) fn label(tree: &Tree) -> Result<String, Problem> {
    let name = word(tree).or_else(|_| text(tree))?;
    name_of(&name).ok_or_else(|| Problem::at(tree.place, NAME))
}

/// A name that can stand in a key of the matrix, in lower case.
pub(in crate::traffic) fn name_of(text: &str) -> Option<String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let fits = !text.is_empty() && text.len() <= 64 && text.chars().all(legal);
    fits.then(|| text.to_lowercase())
}

/// What a name must be.
pub(in crate::traffic) const NAME: &str = "a name has 1 to 64 letters, digits, \"-\" or \"_\"";

/// An end of a path: a host or a role, with or without `:PORT`.
pub(in crate::traffic) fn end_of(text: &str) -> Option<Endpoint> {
    let text = text.trim();
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if host.ends_with(']') || !host.contains(':') => (host, Some(port)),
        _ => (text, None),
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let mark = if address.is_some() { ":.%" } else { ".-_%" };
    let legal = |c: char| c.is_ascii_alphanumeric() || mark.contains(c);
    let name = address.unwrap_or(host);
    let port = match port {
        Some(port) => Some(port.parse().ok().filter(|port| *port > 0)?),
        None => None,
    };
    let fits = !name.is_empty() && name.chars().all(legal);
    fits.then(|| Endpoint { host: host.to_lowercase(), port })
}

fn word(tree: &Tree) -> Result<String, Problem> {
    match &tree.form {
        Form::Call(word, none) if none.is_empty() => Ok(word.clone()),
        _ => Err(Problem::at(tree.place, "wanted a word")),
    }
}

fn text(tree: &Tree) -> Result<String, Problem> {
    match &tree.form {
        Form::Text(text) => Ok(text.clone()),
        _ => Err(Problem::at(tree.place, "wanted a text in double quotes")),
    }
}

/// `yes` or `no` for the setting `name`, in the spellings of people.
pub(in crate::traffic) fn yes(name: &str, tree: &Tree) -> Result<bool, Problem> {
    let word = match &tree.form {
        Form::Number(value, unit) if unit.is_empty() => value.to_string(),
        _ => word(tree).unwrap_or_default(),
    };
    match word.as_str() {
        "yes" | "on" | "true" | "1" => Ok(true),
        "no" | "off" | "false" | "0" => Ok(false),
        _ => Err(Problem::at(tree.place, format!("{name} = {}; write yes or no", tree.form))),
    }
}

fn size(
    tree: &Tree,
    legal: &RangeInclusive<Bytes>,
    expressions: &mut Expressions<'_>,
) -> Result<Bytes, Problem> {
    let bytes = Bytes::new(whole(fixed(tree, Quantity::Bytes, expressions)?));
    if legal.contains(&bytes) {
        return Ok(bytes);
    }
    let (least, most) = (legal.start(), legal.end());
    Err(Problem::at(tree.place, format!("a size must be from {least} to {most} here")))
}

fn time(tree: &Tree, expressions: &mut Expressions<'_>) -> Result<Nanos, Problem> {
    fixed(tree, Quantity::Time, expressions).map(|time| Nanos::new(whole(time)))
}

fn fixed(
    tree: &Tree,
    quantity: Quantity,
    expressions: &mut Expressions<'_>,
) -> Result<f64, Problem> {
    let value = expressions.variate(tree, quantity, "")?.fixed();
    value.ok_or_else(|| Problem::at(tree.place, "wanted one value, not a distribution"))
}

fn count<T: TryFrom<u64>>(tree: &Tree, name: &str, most: u64) -> Result<T, Problem> {
    let problem = || Problem::at(tree.place, format!("{name}: write a whole number to {most}"));
    let Form::Number(value, unit) = &tree.form else { return Err(problem()) };
    let exact = unit.is_empty() && value.fract() == 0.0 && *value >= 0.0;
    let count = Some(whole(*value)).filter(|count| exact && *count <= most).ok_or_else(problem)?;
    T::try_from(count).map_err(|_| problem())
}

/// Whole numbers of a text are exact to here.
const SEEDS: u64 = 1 << 53;

fn pace(tree: &Tree) -> Result<Pace, Problem> {
    match word(tree).as_deref() {
        Ok("hybrid") => Ok(Pace::Hybrid),
        Ok("sleep") => Ok(Pace::Sleep),
        Ok("spin") => Ok(Pace::Spin),
        _ => {
            let cause = format!("pace = {}; write sleep, hybrid or spin", tree.form);
            Err(Problem::at(tree.place, cause))
        }
    }
}

fn drain(tree: &Tree, expressions: &mut Expressions<'_>) -> Result<Drain, Problem> {
    match yes("drain", tree) {
        Ok(true) => Ok(Drain::Yes),
        Ok(false) => Ok(Drain::No),
        Err(_) => time(tree, expressions).map(Drain::UpTo).map_err(|problem| {
            Problem::at(tree.place, format!("{}; write yes, no or a time", problem.cause))
        }),
    }
}
