//! What a test sends, as it is written: a name with arguments, such as `burstq(period=80 ms)`.

mod conflict;
mod content;

use std::fmt;

use crate::units::Nanos;

use super::quantity::Dialect;
use super::quantity::Quantity;
use super::quantity::whole;
use super::script;
use super::variate::Variate;
use crate::traffic::chance::Streams;
use crate::traffic::model;
use crate::traffic::model::Model;
use crate::traffic::train::Bursts;
use crate::traffic::train::Train;

pub use conflict::OnlyBeside;
pub use content::Content;
pub(in crate::traffic) use content::Rows;

/// Something that can be written as `name(argument=value, ...)`.
#[derive(Debug)]
pub struct Shape {
    /// The name, in lower case.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// What can be said about it.
    pub parameters: &'static [Parameter],
}

/// A parameter of a shape.
#[derive(Debug)]
pub struct Parameter {
    /// The name, in lower case.
    pub name: &'static str,
    /// What a value must be.
    pub takes: Takes,
    /// The value that holds if none is written; empty for one that must be, or may be absent.
    pub default: &'static str,
    /// What it means, in one sentence.
    pub about: &'static str,
    /// The least and the most that its mean may be, where not every value has a meaning.
    pub range: Option<(f64, f64)>,
    /// How many times another parameter, by its name, it has to be at the least.
    pub at_least: Option<(f64, &'static str)>,
    /// Which of its words not every word of another parameter suits.
    pub only_beside: Option<OnlyBeside>,
}

/// What a value of a parameter must be.
#[derive(Clone, Copy, Debug)]
pub enum Takes {
    /// The name of a file, in double quotes, whose text this reads, or refuses with its reason.
    File(fn(&str) -> Result<Content, String>),
    /// A number of this quantity that holds for a whole test; without a default it may be absent.
    Fixed(Quantity),
    /// A value or a distribution of this quantity; it must be written.
    Needed(Quantity),
    /// A value or a distribution of this quantity; it may be absent.
    Optional(Quantity),
    /// A value or a distribution of this quantity, with a default.
    Value(Quantity),
    /// One of these words; the first is the default.
    Word(&'static [&'static str]),
}

/// A value that was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The name of a file and what stands in it.
    File(String, Content),
    /// A value or a distribution.
    Value(Variate),
    /// A word.
    Word(&'static str),
}

/// A shape with its arguments, in the order of the parameters.
#[derive(Clone, Debug)]
pub struct Call {
    pub(in crate::traffic) shape: &'static Shape,
    pub(in crate::traffic) arguments: Vec<(&'static str, Argument)>,
}

/// How a test sends.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// Blocks at periods; those due while an earlier one is unfinished are missed.
    Burst(Overrun),
    /// Blocks at periods; those due while an earlier one is unfinished wait in a queue.
    Burstq,
    /// Writes back to back.
    Full,
    /// As one of [`crate::traffic::MODELS`] says.
    Model(&'static Model),
    /// Not at all: it reads.
    Sink,
}

/// What happens to a block that is due while an earlier one is unfinished, without a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overrun {
    /// The rest of the old block is abandoned.
    Interrupt,
    /// The new block is not sent, and counted.
    Miss,
}

const fn parameter(
    name: &'static str,
    takes: Takes,
    default: &'static str,
    about: &'static str,
) -> Parameter {
    Parameter { name, takes, default, about, range: None, at_least: None, only_beside: None }
}

const BLOCKSIZE: Parameter =
    parameter("blocksize", Takes::Value(Quantity::Bytes), "64 KiB", "bytes of a block");
const DURATION: Parameter =
    parameter("duration", Takes::Value(Quantity::Time), "10 s", "how long to send");
const NEEDED_SIZE: Parameter =
    parameter("blocksize", Takes::Needed(Quantity::Bytes), "", "bytes of a block");
const PERIOD: Parameter =
    parameter("period", Takes::Needed(Quantity::Time), "", "from one group to the next");
const REPEATS: Parameter =
    parameter("repeats", Takes::Value(Quantity::Count), "1", "blocks of a group").within(1.0, 1e9);
const BUFFER: Parameter =
    parameter("buffer", Takes::Fixed(Quantity::Bytes), "", "the largest single write");
const QUEUE_LIMIT: Parameter =
    parameter("queue_limit", Takes::Fixed(Quantity::Bytes), "", "more unsent data is fatal");
const BLOCK_TIMEOUT: Parameter = parameter(
    "block_timeout",
    Takes::Fixed(Quantity::Time),
    "",
    "longer from due to sent is fatal",
);
const OVERRUN: Parameter = parameter(
    "overrun",
    Takes::Word(&["miss", "interrupt"]),
    "",
    "which block suffers when two meet",
);

/// The shapes of NetSpec, in its order.
pub static BASICS: &[Shape] = &[
    Shape {
        name: "full",
        about: "writes back to back",
        parameters: &[BLOCKSIZE, DURATION, BUFFER],
    },
    Shape {
        name: "burst",
        about: "blocks at periods; one that is due while another is unfinished is missed",
        parameters: &[
            NEEDED_SIZE,
            PERIOD,
            REPEATS,
            BUFFER,
            DURATION,
            QUEUE_LIMIT,
            BLOCK_TIMEOUT,
            OVERRUN,
        ],
    },
    Shape {
        name: "burstq",
        about: "blocks at periods; one that is due while another is unfinished waits in a queue",
        parameters: &[NEEDED_SIZE, PERIOD, REPEATS, BUFFER, DURATION, QUEUE_LIMIT, BLOCK_TIMEOUT],
    },
    Shape {
        name: "sink",
        about: "reads what comes",
        parameters: &[
            parameter("blocksize", Takes::Fixed(Quantity::Bytes), "64 KiB", "bytes of a block"),
            parameter("duration", Takes::Optional(Quantity::Time), "", "how long to read"),
            parameter("buffer", Takes::Fixed(Quantity::Bytes), "", "the largest single read"),
        ],
    },
];

/// The shape of this name: one of [`BASICS`], or a model.
pub(in crate::traffic) fn shape(name: &str) -> Option<&'static Shape> {
    let models = model::MODELS.iter().map(|model| &model.shape);
    BASICS.iter().chain(models).find(|shape| shape.name == name)
}

/// The shape of a sink.
pub(in crate::traffic) fn sink() -> &'static Shape {
    &BASICS[BASICS.len() - 1]
}

/// The names of all shapes, for errors.
pub(in crate::traffic) fn shapes() -> String {
    let models = model::MODELS.iter().map(|model| &model.shape);
    BASICS.iter().chain(models).map(|shape| shape.name).collect::<Vec<_>>().join(", ")
}

impl Shape {
    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}

impl Parameter {
    /// The same where only values from one to another have a meaning.
    pub(in crate::traffic) const fn within(self, least: f64, most: f64) -> Self {
        Self { range: Some((least, most)), ..self }
    }

    /// The same where less than so many times another parameter has no meaning.
    pub(in crate::traffic) const fn at_least(self, times: f64, other: &'static str) -> Self {
        Self { at_least: Some((times, other)), ..self }
    }

    /// The same of which a word has a meaning only beside some words of another parameter.
    pub(in crate::traffic) const fn only_beside(self, rule: OnlyBeside) -> Self {
        Self { only_beside: Some(rule), ..self }
    }

    pub(in crate::traffic) const fn quantity(&self) -> Option<Quantity> {
        match self.takes {
            Takes::Fixed(quantity)
            | Takes::Needed(quantity)
            | Takes::Optional(quantity)
            | Takes::Value(quantity) => Some(quantity),
            Takes::File(_) | Takes::Word(_) => None,
        }
    }

    /// Why a value has no meaning for it, and which have.
    pub(in crate::traffic) fn refusal(&self, value: &Variate) -> Option<String> {
        let (name, mean, quantity) = (self.name, value.mean(), value.quantity());
        if matches!(self.takes, Takes::Fixed(_)) && value.fixed().is_none() {
            return Some(format!("{name}: write a number; it holds for the whole test"));
        }
        let is_zero = value.fixed().is_some_and(|value| value <= 0.0);
        if is_zero && matches!(name, "blocksize" | "buffer" | "period" | "duration") {
            return Some(format!("{name} must be above 0"));
        }
        if let Some((least, most)) =
            self.range.filter(|(low, high)| !(*low..=*high).contains(&mean))
        {
            let [found, least, most] = [mean, least, most].map(|value| quantity.write(value));
            return Some(format!("{name} = {found}; write {least} to {most}"));
        }
        let is_part =
            quantity == Quantity::Count && value.fixed().is_some_and(|value| value.fract() != 0.0);
        is_part.then(|| format!("{name} = {mean}; write a whole number"))
    }
}

impl Call {
    /// The shape with every default.
    pub const fn plain(shape: &'static Shape) -> Self {
        Self { shape, arguments: Vec::new() }
    }

    /// The name.
    pub const fn name(&self) -> &'static str {
        self.shape.name
    }

    /// The shape.
    pub const fn shape(&self) -> &'static Shape {
        self.shape
    }

    /// What was written for a parameter.
    pub fn written(&self, name: &str) -> Option<&Argument> {
        self.arguments.iter().find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// Writes or replaces an argument of a parameter of the shape.
    pub(in crate::traffic) fn set(&mut self, parameter: &'static Parameter, value: Argument) {
        self.arguments.retain(|(name, _)| *name != parameter.name);
        self.arguments.push((parameter.name, value));
        let place = |name: &str| self.shape.parameters.iter().position(|p| p.name == name);
        self.arguments.sort_by_key(|(name, _)| place(name));
    }

    /// The value of a parameter, or its default; `None` for one that is absent.
    pub fn optional(&self, name: &str) -> Option<Variate> {
        if let Some(Argument::Value(variate)) = self.written(name) {
            return Some(variate.clone());
        }
        let parameter = self.shape.parameter(name)?;
        let quantity = parameter.quantity()?;
        let dialect = Dialect::Btu;
        (!parameter.default.is_empty())
            .then(|| script::variate(parameter.default, quantity, dialect).ok())
            .flatten()
    }

    /// The value of a parameter that has a default or had to be written. The constant 1 for a name
    /// that the shape does not have.
    pub fn variate(&self, name: &str) -> Variate {
        self.optional(name).unwrap_or_else(|| Variate::constant(1.0, Quantity::Count))
    }

    /// The mean of a parameter in its base unit.
    pub(in crate::traffic) fn number(&self, name: &str) -> f64 {
        self.variate(name).mean()
    }

    /// A count that holds for the whole test.
    pub(in crate::traffic) fn count(&self, name: &str) -> u32 {
        u32::try_from(whole(self.number(name))).unwrap_or(u32::MAX)
    }

    /// The word of a parameter, or its default.
    pub fn word(&self, name: &str) -> &'static str {
        match (self.written(name), self.shape.parameter(name).map(|parameter| parameter.takes)) {
            (Some(Argument::Word(word)), _) => word,
            (_, Some(Takes::Word(words))) => words.first().copied().unwrap_or_default(),
            _ => "",
        }
    }

    /// What stands in the file that was written for a parameter.
    pub(in crate::traffic) fn file(&self, name: &str) -> Option<&Rows> {
        match self.written(name) {
            Some(Argument::File(_, Content(rows))) => Some(rows),
            _ => None,
        }
    }

    /// How the test sends.
    pub fn pattern(&self) -> Pattern {
        match self.name() {
            "burst" if self.word("overrun") == "interrupt" => Pattern::Burst(Overrun::Interrupt),
            "burst" => Pattern::Burst(Overrun::Miss),
            "burstq" => Pattern::Burstq,
            "full" => Pattern::Full,
            name => model::find(name).map_or(Pattern::Sink, Pattern::Model),
        }
    }

    /// True where every seed draws the same.
    pub fn is_fixed(&self) -> bool {
        let fixed = |argument: &Argument| match argument {
            Argument::Value(variate) => variate.fixed().is_some(),
            Argument::File(..) | Argument::Word(_) => true,
        };
        let is_model = matches!(self.pattern(), Pattern::Model(_));
        !is_model && self.arguments.iter().all(|(_, argument)| fixed(argument))
    }

    /// How long the test sends, drawn where that is a distribution; `None` for a sink that reads
    /// until its sender ends.
    pub fn duration(&self, streams: &Streams) -> Option<Nanos> {
        self.optional("duration").map(|time| time.time(&mut streams.stream("duration")))
    }

    /// The train of the test; `None` for a sink, which sends nothing.
    pub fn train(&self, streams: &Streams) -> Option<Train> {
        match self.pattern() {
            Pattern::Sink => None,
            Pattern::Burst(_) | Pattern::Burstq | Pattern::Full => {
                Some(Train::Open(Box::new(Bursts::new(self, streams))))
            }
            Pattern::Model(model) => Some((model.train)(self, streams)),
        }
    }
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.arguments == other.arguments
    }
}

impl fmt::Display for Call {
    /// The canonical text, which reads back as an equal call.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}(", self.name())?;
        for (index, (name, value)) in self.arguments.iter().enumerate() {
            write!(out, "{}{name}={value}", if index == 0 { "" } else { ", " })?;
        }
        out.write_str(")")
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(name, _) => write!(out, "\"{name}\""),
            Self::Value(variate) => variate.fmt(out),
            Self::Word(word) => out.write_str(word),
        }
    }
}
