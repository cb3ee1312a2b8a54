//! What `btu run` can be asked for, and the plan that follows.

use std::path::PathBuf;

use anyhow::Context;
use btu_core::run::plan::Captured;
use btu_core::run::plan::Choices;
use btu_core::run::plan::Plan;
use btu_core::run::plan::TestbedClass;
use btu_core::run::plan::Vocabulary;
use btu_core::words::shell_word;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;

use super::ordered::Ordered;
use super::price;
use crate::exit::Failure;
use crate::input;
use crate::measurement::fresh_seed;

/// Options of `btu run`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct RunArgs {
    /// Edition of the benchmark: btu-26 (default) or btu-96 (as the paper of 1996 ran it)
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    edition: Option<String>,
    /// The official preset: windows of 2 s, 5 passes or more, at most half an hour
    #[arg(long, conflicts_with_all = ["plan", "resume"])]
    official: bool,
    /// Run a plan of your own (its result is never ranked), or repeat a run by its plan.toml
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    plan: Option<PathBuf>,
    /// Only these cases, separated by commas (the result is then partial)
    #[arg(long, value_name = "CASE,...", value_delimiter = ',', conflicts_with = "resume")]
    cases: Option<Vec<String>>,
    /// Only these application classes, separated by commas
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "resume")]
    applications: Option<Vec<String>>,
    /// Only these host activities, separated by commas
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', conflicts_with = "resume")]
    activities: Option<Vec<String>>,
    /// Cells to run again with their packets captured, after the last pass [default: abnormal]
    #[arg(long, value_name = "CELLS", value_parser = captured(), conflicts_with = "resume")]
    capture: Option<Captured>,
    /// Seed of the random order, instead of a fresh one
    #[arg(long, value_parser = crate::cli::seed, value_name = "NUMBER", allow_hyphen_values = true, conflicts_with = "resume")]
    seed: Option<u64>,
    /// Where the result goes; must be empty or not exist [default: btu-results/TIME-EDITION-PRESET]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub(super) out: Option<PathBuf>,
    /// Go on with a run that was cut short; what it measured is not repeated
    #[arg(long, value_name = "DIR")]
    pub(super) resume: Option<PathBuf>,
    /// Measure against real black boxes: the agent that takes almost all traffic (see btu pair)
    #[arg(long, value_name = "AGENT")]
    pub(super) active: Option<String>,
    /// The second agent, for the cases with two peers
    #[arg(long, value_name = "AGENT", requires = "active")]
    pub(super) passive: Option<String>,
    /// Put another host under test, whose agent measures against the two above
    #[arg(long, value_name = "AGENT", requires = "active", conflicts_with = "io_dir")]
    pub(super) test: Option<String>,
    /// What lies between real hosts: lab (default), cloud or wan
    #[arg(long, value_name = "CLASS", requires = "active", conflicts_with = "resume",
        value_parser = of_real_hosts())]
    testbed_class: Option<TestbedClass>,
    /// How long a lost agent is waited for, in seconds
    #[arg(long, value_name = "SECONDS", requires = "active", default_value_t = 300,
        value_parser = crate::cli::seconds, allow_hyphen_values = true)]
    pub(super) reconnect: u32,
    #[command(flatten)]
    pub(super) state: crate::agent::StateArgs,
    /// Directory for the files of the io activity; must be on a disk
    #[arg(long, value_name = "DIR")]
    pub(super) io_dir: Option<PathBuf>,
    /// Accept a tmpfs for --io-dir (the result is then not rankable)
    #[arg(long, requires = "io_dir")]
    pub(super) allow_tmpfs: bool,
    /// Price of the machine: 2900USD or 2900USD@2026-11
    #[arg(long, value_name = "PRICE", allow_hyphen_values = true, value_parser = price::price, conflicts_with = "resume")]
    pub(super) price: Option<String>,
    /// Another figure of the machine: SPECint=76.9@spec.org; repeatable
    #[arg(long = "mark", value_name = "NAME=VALUE[@SOURCE]", allow_hyphen_values = true, value_parser = mark, conflicts_with = "resume")]
    pub(super) marks: Vec<String>,
    /// A note that goes into the result
    #[arg(long, value_name = "TEXT", conflicts_with = "resume")]
    pub(super) note: Option<String>,
    /// Print the plan and its time estimate, and run nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// No progress on stderr
    #[arg(long)]
    pub(super) quiet: bool,
    /// Write exactly one JSON document (the result) to stdout
    #[arg(long)]
    pub(super) json: bool,
    /// The order of another host, where this one is under test
    #[arg(skip)]
    pub(super) ordered: Option<Ordered>,
}

impl RunArgs {
    /// True where the black boxes are other hosts.
    pub(super) const fn is_remote(&self) -> bool {
        self.active.is_some()
    }

    /// The class says where a result comes from: a run must not call itself anything else.
    pub(super) fn fits(&self, plan: &Plan) -> Result<(), Failure> {
        let class = plan.testbed_class;
        match (self.is_remote(), class.is_local()) {
            (true, false) | (false, true) => Ok(()),
            (false, false) if self.resume.is_some() => {
                let cause = anyhow::anyhow!("this result is of agents, and no --active is given");
                let hint =
                    "name those of the first part: --active NAME, and --passive or --test as there";
                Err(Failure::usage(cause).hint(hint))
            }
            (false, false) => {
                let cause = anyhow::anyhow!(
                    "testbed_class = \"{class}\": this run is on the local testbed; write \"local\""
                );
                Err(Failure::usage(cause).hint("with --active the run is on real hosts"))
            }
            (true, true) => {
                let cause = anyhow::anyhow!("--active: this result is of the local testbed");
                Err(Failure::usage(cause).hint("go on without --active and --passive"))
            }
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  btu run                                         quick, within 90 seconds
  btu run --official --out before                 what can be compared and ranked
  btu run --cases SEND,RECV --applications video  a part of it
  btu run --dry-run > mine.toml                   a plan to change ...
  btu run --plan mine.toml                        ... and to run
  btu run --active lab1 --passive lab2            between real hosts (btu agent, btu pair)

btu list says which cases, applications and activities there are.";

/// A plan with the file that it came from, if it came from one.
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) given: Option<String>,
}

impl RunArgs {
    /// The plan of these options; nothing but a plan's file is read.
    pub(super) fn plan(&self) -> Result<Planned, Failure> {
        each_mark_once(&self.marks)?;
        if let Some(Ordered { order, .. }) = &self.ordered {
            let plan = stored("the ordered plan", &order.plan)?;
            self.fits(&plan)?;
            return Ok(Planned { plan, given: order.given.clone() });
        }
        let given = match &self.plan {
            None => None,
            Some(path) => {
                let text = input::text(path)
                    .with_context(|| format!("read plan {}", path.display()))
                    .map_err(Failure::usage)?;
                Some((path.display().to_string(), text))
            }
        };
        let choices = Choices {
            edition: self.edition.as_deref(),
            official: self.official,
            cases: self.cases.as_deref(),
            applications: self.applications.as_deref(),
            activities: self.activities.as_deref(),
            captured: self.capture,
            seed: self.seed,
            testbed_class: self.testbed_class,
            real_hosts: self.is_remote(),
            plan: given.as_ref().map(|(name, text)| (name.as_str(), text.as_str())),
        };
        let plan = resolve(&choices)?;
        let written = given.as_ref().filter(|_| self.testbed_class.is_none());
        let place = written.and_then(|(name, text)| Some(format!("{name}:{}", class_at(text)?)));
        self.fits(&plan).map_err(|failure| match place {
            Some(place) => Failure { cause: failure.cause.context(place), ..failure },
            None => failure,
        })?;
        Ok(Planned { plan, given: given.map(|(_, text)| text) })
    }
}

/// Line and column of the class of the testbed in a legal plan: a key of its own, above all tables.
fn class_at(plan: &str) -> Option<String> {
    let own = plan.lines().take_while(|line| !line.trim_start().starts_with('['));
    let found = |(line, text): (usize, &str)| {
        let (key, value) = text.split_once('=')?;
        let column = 1 + text.len() - value.trim_start().len();
        (key.trim() == "testbed_class").then(|| format!("{line}:{column}"))
    };
    (1..).zip(own).find_map(found)
}

/// The plan of a stored result.
pub(super) fn stored(file: &str, text: &str) -> Result<Plan, Failure> {
    resolve(&Choices { plan: Some((file, text)), ..Choices::default() })
}

fn resolve(choices: &Choices<'_>) -> Result<Plan, Failure> {
    let activities: Vec<&str> =
        btu_engine::activity::ACTIVITIES.iter().map(|activity| activity.name()).collect();
    let resolved = Plan::resolve(choices, &Vocabulary { activities: &activities }, fresh_seed());
    resolved.map_err(|refused| {
        let other = choices.plan.and_then(|(file, text)| Some((file, other_verb(text)?)));
        let refused = Failure::usage(refused);
        match other {
            Some((file, verb)) => {
                let file = shell_word(file);
                refused.hint(format!("it is a plan of btu {verb}: write btu {verb} --plan {file}"))
            }
            None => refused,
        }
    })
}

/// The verb that a stored plan says it is of; plans of runs say none.
pub(super) fn other_verb(plan: &str) -> Option<&str> {
    plan.lines().find_map(|line| line.strip_prefix("verb = \"")?.strip_suffix('"'))
}

/// Which cells are run again, by the words of a plan.
fn captured() -> impl TypedValueParser<Value = Captured> {
    PossibleValuesParser::new(Captured::CHOICES.map(Captured::name))
        .try_map(|word| word.parse::<Captured>())
}

/// A class that is not of this machine.
fn of_real_hosts() -> impl TypedValueParser<Value = TestbedClass> {
    let real = TestbedClass::ALL.into_iter().filter(|class| !class.is_local());
    PossibleValuesParser::new(real.map(TestbedClass::name))
        .try_map(|name| TestbedClass::named(&name).ok_or("unknown testbed class"))
}

/// `NAME=VALUE@SOURCE`: a name, a number, an optional source.
fn mark(text: &str) -> Result<String, String> {
    let legal = text.split_once('=').is_some_and(|(name, rest)| {
        let (value, source) = rest.split_once('@').unwrap_or((rest, "not named"));
        !name.is_empty() && !source.is_empty() && value.parse::<f64>().is_ok_and(f64::is_finite)
    });
    if legal {
        Ok(text.to_owned())
    } else {
        Err("write NAME=VALUE or NAME=VALUE@SOURCE, the value being a number".to_owned())
    }
}

/// A ranking has one column for each name.
fn each_mark_once(marks: &[String]) -> Result<(), Failure> {
    let name = |mark: &String| mark.split_once('=').map(|(name, _)| name.to_owned());
    for (at, mark) in marks.iter().enumerate() {
        if let Some(other) = marks[..at].iter().find(|other| name(other) == name(mark)) {
            let cause = anyhow::anyhow!("--mark {mark} contradicts --mark {other}: one name");
            return Err(Failure::usage(cause).hint("give each figure a name of its own, once"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_given_once() {
        let marks = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            each_mark_once(&texts).map_err(|failure| (failure.exit, failure.cause.to_string()))
        };
        assert_eq!(marks(&["SPECint=76.9@spec.org", "SPECfp=76.9", "specint=1"]), Ok(()));
        let told = "--mark A=2@b contradicts --mark A=1: one name".to_owned();
        assert_eq!(marks(&["B=1", "A=1", "A=2@b"]), Err((crate::exit::Exit::Usage, told)));
    }

    #[test]
    fn a_mark_has_a_name_and_a_number() {
        assert!(mark("SPECint=76.9").is_ok() && mark("SPECint=76.9@spec.org").is_ok());
        for bad in ["76.9", "=76.9", "SPECint=fast", "SPECint=", "a=inf", "a=1@"] {
            assert!(mark(bad).is_err(), "{bad}");
        }
    }
}
