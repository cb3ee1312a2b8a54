//! From options to the two chains of a link.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::anyhow;
use btu_core::link::ChainSpec;
use btu_core::link::Dialect;
use btu_core::link::LinkError;
use btu_core::link::Reader;
use btu_core::link::Wire;
use btu_core::units::Nanos;

use super::options::ElementArgs;
use super::options::LinkArgs;
use crate::exit::Failure;
use crate::input;

/// What a link does, per direction.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    /// From the command to the far end.
    pub(crate) up: ChainSpec,
    /// From the far end to the command.
    pub(crate) down: ChainSpec,
    /// What counts against a rate.
    pub(crate) wire: Wire,
}

/// The files that elements name, each read once: a text is parsed more than once, and a pipe is empty the second
/// time (`--drop "list /dev/fd/63"`, which `<(...)` of a shell becomes).
#[derive(Debug, Default)]
struct Files {
    texts: RefCell<BTreeMap<String, Result<String, String>>>,
}

impl Files {
    fn text(&self, name: &str) -> Result<String, String> {
        let read = || input::text(Path::new(name)).map_err(|cause| cause.to_string());
        self.texts.borrow_mut().entry(name.to_owned()).or_insert_with(read).clone()
    }
}

/// Reads the options; contradictions and illegal values are usage failures.
pub(crate) fn elements(args: &LinkArgs) -> Result<Elements, Failure> {
    let elements = chains(&args.elements, args.wire.as_deref().unwrap_or("ethernet"))?;
    let texts = [&elements.up, &elements.down].map(ChainSpec::texts).concat();
    if args.wire.is_some() && !texts.iter().any(|text| text.starts_with("rate ")) {
        return Err(Failure::usage(anyhow!("--wire: it belongs to --rate")));
    }
    Ok(elements)
}

/// The same for any verb that has these options.
pub(crate) fn chains(options: &ElementArgs, wire: &str) -> Result<Elements, Failure> {
    let wire = wire.parse().map_err(|cause: LinkError| usage("--wire", &cause))?;
    let files = Files::default();
    let read = |name: &str| files.text(name);
    let reader = Reader { dialect: Dialect::CommandLine, files: &read };
    if let Some(chain) = &options.chain {
        let chain = given_chain(options, chain, &reader)?;
        return Ok(Elements { up: chain.clone(), down: chain, wire });
    }
    let common = common(options)?;
    let up = direction(&common, "--up", &options.up, &reader)?;
    let down = direction(&common, "--down", &options.down, &reader)?;
    Ok(Elements { up, down, wire })
}

/// `--chain 'drop 1%; delay 10ms'`: the order written, and nothing beside it.
fn given_chain(
    options: &ElementArgs,
    chain: &str,
    reader: &Reader<'_>,
) -> Result<ChainSpec, Failure> {
    let beside = common(options)?;
    if !(beside.is_empty() && options.up.is_empty() && options.down.is_empty()) {
        return Err(Failure::usage(anyhow!("--chain: it stands alone; put every element into it")));
    }
    let texts: Vec<&str> = chain.split(';').collect();
    ChainSpec::as_given(&texts, reader).map_err(|cause| usage("--chain", &cause))
}

/// The elements of both directions, each with the option that it came from.
fn common(options: &ElementArgs) -> Result<Vec<(&'static str, String)>, Failure> {
    let mut all: Vec<(&str, String)> = Vec::new();
    for (option, drops) in [("--drop", &options.drop), ("--loss", &options.loss)] {
        all.extend(drops.iter().map(|drop| (option, format!("drop {drop}"))));
    }
    let simple = [
        ("--duplicate", "duplicate", &options.duplicate),
        ("--corrupt", "corrupt", &options.corrupt),
        ("--delay", "delay", &options.delay),
        ("--hold", "hold", &options.hold),
        ("--jitter", "jitter", &options.jitter),
        ("--reorder", "reorder", &options.reorder),
    ];
    let written = simple.into_iter().filter_map(|(option, name, value)| {
        value.as_ref().map(|value| (option, format!("{name} {value}")))
    });
    all.extend(written);
    all.extend(line(options)?);
    all.extend(half_of_rtt(options)?);
    Ok(all)
}

/// `--rate` or `--trace`, with `--queue`.
fn line(options: &ElementArgs) -> Result<Option<(&'static str, String)>, Failure> {
    let (option, text) = match (&options.rate, &options.trace) {
        (Some(_), Some(_)) => return Err(contradiction("--trace", "--rate", "give one of them")),
        (Some(rate), None) => ("--rate", format!("rate {rate}")),
        (None, Some(trace)) => ("--trace", format!("trace {trace}")),
        (None, None) if options.queue.is_some() => {
            return Err(Failure::usage(anyhow!("--queue: it belongs to --rate or --trace")));
        }
        (None, None) => return Ok(None),
    };
    let queue = options.queue.as_ref().map_or(String::new(), |queue| format!(" queue {queue}"));
    Ok(Some((option, text + &queue)))
}

fn half_of_rtt(options: &ElementArgs) -> Result<Option<(&'static str, String)>, Failure> {
    let Some(rtt) = &options.rtt else { return Ok(None) };
    if options.delay.is_some() {
        return Err(contradiction("--rtt", "--delay", "a round trip is two delays: give one"));
    }
    let whole: Nanos =
        rtt.parse().map_err(|cause| Failure::usage(anyhow!("--rtt {rtt}: {cause}")))?;
    let half = Nanos::new(whole.count() / 2);
    Ok(Some(("--rtt", format!("delay {half}"))))
}

/// The chain of one direction: the common elements and its own, in the fixed order.
fn direction(
    common: &[(&'static str, String)],
    option: &str,
    own: &[String],
    reader: &Reader<'_>,
) -> Result<ChainSpec, Failure> {
    for (at, text) in own.iter().enumerate() {
        let alike = |other: &str| word(other) == word(text) || (is_line(other) && is_line(text));
        if let Some((other, _)) = common.iter().find(|(_, known)| alike(known)) {
            let rule = "give the element for both directions or for each, not both";
            return Err(contradiction(&format!("{option} '{text}'"), other, rule));
        }
        if let Some(other) = own[..at].iter().find(|other| is_line(other) && is_line(text)) {
            let (text, other) = (format!("{option} '{text}'"), format!("{option} '{other}'"));
            return Err(contradiction(&text, &other, "a direction has one line: give one of them"));
        }
    }
    // Each text is read by itself first, so that the message can name its option.
    for (from, text) in common {
        ChainSpec::as_given(&[text], reader).map_err(|cause| usage(from, &cause))?;
    }
    for text in own {
        ChainSpec::as_given(&[text], reader).map_err(|cause| usage(option, &cause))?;
    }
    let texts: Vec<&String> = common.iter().map(|(_, text)| text).chain(own).collect();
    ChainSpec::ordered(&texts, reader).map_err(|cause| usage(option, &cause))
}

/// True of a rate and of a trace: a direction has one of them.
fn is_line(text: &str) -> bool {
    matches!(word(text), Some("rate" | "trace"))
}

fn word(text: &str) -> Option<&str> {
    text.split_whitespace().next()
}

fn usage(option: &str, cause: &LinkError) -> Failure {
    let failure = Failure::usage(anyhow!("{option}: {cause}"));
    if bytes_per_second(&cause.to_string()) {
        return failure.hint(
            "in tc, bps is bytes per second (10mbps = 80Mbit/s); \
             bits are written 10Mbit/s or 10Mbit",
        );
    }
    failure
}

/// True where a message quotes tc's unit of bytes: `"mbps"`, `"bps"`, `"kBps"`.
fn bytes_per_second(message: &str) -> bool {
    message.split('"').any(|part| part.to_ascii_lowercase().ends_with("bps"))
}

fn contradiction(option: &str, other: &str, rule: &str) -> Failure {
    Failure::usage(anyhow!("{option} contradicts {other}: {rule}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn losses_are_drops() {
        let written = vec!["1%".to_owned(), "1@2/2".to_owned()];
        let lost = ElementArgs { loss: written.clone(), ..ElementArgs::default() };
        let dropped = ElementArgs { drop: written, ..ElementArgs::default() };
        let [lost, dropped] = [lost, dropped].map(|options| chains(&options, "ethernet").unwrap());
        assert_eq!((lost.up.texts().len(), lost.up), (2, dropped.up));
    }

    #[test]
    fn a_pipe_is_read_once() {
        let (list, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"3\n5\n").unwrap();
        drop(writer);
        let name = format!("list /dev/fd/{}", list.as_raw_fd());
        let options = ElementArgs { drop: vec![name.clone()], ..ElementArgs::default() };
        let both = chains(&options, "ethernet").unwrap();
        assert_eq!(both.up.texts(), [format!("drop {name}")]);
        assert_eq!(both.up, both.down);
        let nothing_left = chains(&options, "ethernet").unwrap_err();
        assert!(format!("{nothing_left:?}").contains("no position is in it"), "{nothing_left:?}");
    }
}
