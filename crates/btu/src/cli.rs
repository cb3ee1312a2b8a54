//! The command line: one variant per verb, each verb's options in its own file.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;
use clap::Parser;
use clap::Subcommand;
use clap::error::ContextKind;
use clap::error::ContextValue;
use clap::error::ErrorKind;

use crate::exit::Failure;
use crate::output::shown;

/// BTU, "bits to the user": what this host really delivers to its applications over a network,
/// while it is busy and while the network delays and drops packets.
///
/// Start with `btu run`: it needs no root, no other machine and no options.
#[derive(Debug, Parser)]
#[command(name = "btu", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = AFTER)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Cli {
    /// The command line of this process.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let words: Vec<OsString> = std::env::args_os().collect();
        Self::parse_words(&words)
    }

    fn parse_words(words: &[OsString]) -> Result<Self, clap::Error> {
        Self::try_parse_from(words).map_err(|error| with_bytes(with_verbs(error, words), words))
    }

    /// Runs the verb.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.verb {
            Verb::Agent(args) => crate::agent::agent(&args).map(Into::into),
            Verb::App(args) => crate::app::app(&args).map(Into::into),
            Verb::Bundle(args) => crate::bundle::bundle(&args).map(Into::into),
            Verb::Compare(args) => crate::compare::compare(&args).map(Into::into),
            Verb::Completions(args) => crate::completions::completions(&args).map(Into::into),
            Verb::Doctor(args) => crate::doctor::doctor(&args).map(Into::into),
            Verb::Explain(args) => crate::explain::explain(&args).map(Into::into),
            Verb::File(args) => crate::file::file(&args).map(Into::into),
            Verb::Link(args) => crate::link::link(&args),
            Verb::List(args) => crate::list::list(&args).map(Into::into),
            Verb::Man(args) => crate::man::man(&args).map(Into::into),
            Verb::Mesh(args) => crate::mesh::mesh(&args).map(Into::into),
            Verb::Model(args) => crate::model::model(&args).map(Into::into),
            Verb::Pair(args) => crate::pair::pair(&args).map(Into::into),
            Verb::Pingpong(args) => crate::pingpong::pingpong(&args).map(Into::into),
            Verb::Rank(args) => crate::rank::rank(&args).map(Into::into),
            Verb::Redact(args) => crate::redact::redact(&args).map(Into::into),
            Verb::Report(args) => crate::report::report(&args).map(Into::into),
            Verb::Run(args) => crate::run::run(&args).map(Into::into),
            Verb::RxEnd(args) => crate::rx_end::rx_end(&args).map(Into::into),
            Verb::Score(args) => crate::score::score(&args).map(Into::into),
            Verb::Traffic(args) => crate::traffic::traffic(&args).map(Into::into),
            Verb::Verify(args) => crate::verify::verify(&args).map(Into::into),
        }
    }
}

/// The verbs, in alphabetical order.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Serve as a black box of other hosts' runs, once they are paired
    Agent(Box<crate::agent::AgentArgs>),
    /// Run parallel applications over each message layer: times, where they go, what is passed
    App(crate::app::AppArgs),
    /// Put a result into one file that can be sent, read and verified anywhere
    Bundle(crate::bundle::BundleArgs),
    /// Compare two results: what changed, how sure that is, and whether it is too much
    Compare(crate::compare::CompareArgs),
    /// Print what bash, zsh or fish needs to complete the words of a command line
    Completions(crate::completions::CompletionsArgs),
    /// Say what this machine can and cannot do for BTU, each line with its remedy
    Doctor(crate::doctor::DoctorArgs),
    /// Say what a capture of TCP shows, and why its connections were slow; with charts
    Explain(Box<crate::explain::ExplainArgs>),
    /// Measure a file service: what it delivers to one and to many clients, at which cost
    File(Box<crate::file::FileArgs>),
    /// Run a command behind an emulated link: delay, rate, queue, drops, without root
    Link(Box<crate::link::LinkArgs>),
    /// List what there is: editions, cases, applications, activities, link elements, rules ...
    List(crate::list::ListArgs),
    /// Print the manual page of a verb, or write all of them
    Man(crate::man::ManArgs),
    /// Measure every pair of many hosts, and name the host, direction or path that is slow
    Mesh(Box<crate::mesh::MeshArgs>),
    /// Show what applications send: traffic models with their sources, rates, pictures, tests
    Model(crate::model::ModelArgs),
    /// Get to know an agent on another host, by its invitation
    Pair(crate::pair::PairArgs),
    /// Time blocks there and back over any transport, find the sizes that are too slow, and say why
    Pingpong(Box<crate::pingpong::PingPongArgs>),
    /// Rank many results: shared ranks, intervals, penalty, marks, price, charts of all hosts
    Rank(crate::rank::RankArgs),
    /// Take names, addresses and serials out of a result; its figures stay verifiable
    Redact(crate::redact::RedactArgs),
    /// Render a stored result again: text, Markdown, HTML, CSV or JSON
    Report(crate::report::ReportArgs),
    /// Measure the BTU score of this machine
    Run(Box<crate::run::RunArgs>),
    /// Be one end of Rx; started by `btu file`
    #[command(hide = true)]
    RxEnd(crate::rx_end::RxEndArgs),
    /// Compute BTU and penalties from a table of cells that somebody else measured
    Score(crate::score::ScoreArgs),
    /// Carry scenarios of traffic over a path: rates, queues, delays, knees, quality of service
    Traffic(Box<crate::traffic::TrafficArgs>),
    /// Say whether a stored result is what was measured: figures, hashes, signatures
    Verify(crate::verify::VerifyArgs),
}

/// The value of a `--seed`.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("write a whole number from 0 to {}", u64::MAX))
}

/// The value of a `--reconnect`.
pub(crate) fn seconds(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("write a whole number of seconds from 0 to {}", u32::MAX))
}

/// Whoever writes a verb that there is not is told those that there are in its place. `words` is the
/// command line.
fn with_verbs(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    let wrong = match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(wrong))) => OsStr::new(wrong),
        _ => return error,
    };
    let program = Cli::command();
    let mut of = &program;
    for word in words.iter().skip(1) {
        match of.find_subcommand(word) {
            Some(verb) => of = verb,
            None if word == wrong => break,
            None => {}
        }
    }
    let open = of.get_subcommands().filter(|verb| !verb.is_hide_set());
    let legal: Vec<&str> = open.map(clap::Command::get_name).collect();
    let told = format!("write {}", legal.join(", "));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![told.into()]));
    error
}

/// Tells which word is refused for bytes that are no UTF-8: one that is still refused where it is the only one. Paths may
/// have such bytes, and words of a command behind `--`.
fn with_bytes(mut error: clap::Error, words: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return error;
    }
    let lossy = |word: &OsString| OsString::from(word.to_string_lossy().into_owned());
    let alone = |place: usize| -> Vec<OsString> {
        let others = words.iter().enumerate();
        others.map(|(at, word)| if at == place { word.clone() } else { lossy(word) }).collect()
    };
    let is_refused = |place: &usize| {
        words[*place].to_str().is_none()
            && Cli::try_parse_from(alone(*place))
                .is_err_and(|error| error.kind() == ErrorKind::InvalidUtf8)
    };
    let refused = (1..words.len()).filter(is_refused);
    let told = refused.map(|place| {
        let word = shown(&words[place].to_string_lossy());
        format!(
            "word {place}, '{word}', is not UTF-8, which only paths need not be: write it in UTF-8"
        )
        .into()
    });
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(told.collect()));
    error
}

const AFTER: &str = "\
Examples:
  btu run                                     the score of this machine, in 90 seconds
  btu run --official --out before             half an hour, with narrow intervals
  btu report before --format md               the same result in another form
  btu verify before                           is the result what was measured?
  btu pingpong tcp unix                       time and throughput over block size, in a minute
  btu traffic sweep --rate 10Mbit/s           where a path stops carrying what it is offered
  btu file baseline transfer                  what files get over loopback and over a path
  btu explain slow.pcapng --html slow.html    why the connections of a capture were slow
  btu link --delay 10ms --drop 1% -- CMD      any command behind an emulated link

Results go to stdout, messages to stderr. Exit codes: 0 done, 1 a check failed, 2 wrong command
line, plan or input, 3 the machine lacks something (see btu doctor), 4 an agent was lost, 5 results
are not comparable, 6 incomplete (a cell met its cap, or failed), 70 an internal error, 129, 130 and
143 hung up, interrupted, terminated.";
