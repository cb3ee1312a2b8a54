//! A chain as text: what was asked for.

use std::fmt;
use std::sync::Arc;

use crate::link::LinkError;
use crate::link::element::ELEMENTS;
use crate::link::element::ElementKind;
use crate::link::element::ElementSpec;
use crate::link::netem::NetemSpec;
use crate::link::netem::NotForNetem;
use crate::link::reader::Reader;
use crate::link::words::Words;
use crate::units::BitRate;
use crate::units::Nanos;

/// The elements of one direction, parsed. Chains with equal canonical texts are equal.
#[derive(Clone, Debug, Default)]
pub struct ChainSpec {
    elements: Vec<Arc<dyn ElementSpec>>,
}

impl ChainSpec {
    /// The elements in the order in which they are given.
    pub fn as_given<T: AsRef<str>>(texts: &[T], reader: &Reader<'_>) -> Result<Self, LinkError> {
        let elements = texts.iter().map(|text| parse(text.as_ref(), reader).map(|(_, spec)| spec));
        Ok(Self { elements: elements.collect::<Result<_, _>>()? })
    }

    /// The elements in the fixed order of options: drop, duplicate, corrupt, rate, trace, delay,
    /// hold, jitter, reorder. Equal elements so give equal chains, however they were written; only
    /// several of the same name stay in the order given.
    pub fn ordered<T: AsRef<str>>(texts: &[T], reader: &Reader<'_>) -> Result<Self, LinkError> {
        let elements = texts.iter().map(|text| parse(text.as_ref(), reader));
        let mut elements = elements.collect::<Result<Vec<_>, _>>()?;
        elements.sort_by_key(|(kind, _)| place_in_order(kind));
        Ok(Self { elements: elements.into_iter().map(|(_, spec)| spec).collect() })
    }

    /// Texts of elements in that same order, for who has no need of the elements themselves.
    pub fn in_order(mut texts: Vec<String>) -> Vec<String> {
        texts.sort_by_key(|text| kind_of(text).map_or(ELEMENTS.len(), place_in_order));
        texts
    }

    /// The canonical text of each element.
    pub fn texts(&self) -> Vec<String> {
        self.elements.iter().map(ToString::to_string).collect()
    }

    /// The constant delay of all packets; `None` without a delay element.
    pub fn constant_delay(&self) -> Option<Nanos> {
        self.elements
            .iter()
            .filter_map(|element| element.constant_delay())
            .reduce(|sum, delay| sum + delay)
    }

    /// How long packets wait in all elements by intent, but for a few that may wait longer.
    pub fn wait(&self) -> Nanos {
        let waits = self.elements.iter().map(|element| element.wait());
        waits.fold(Nanos::ZERO, Nanos::saturating_add)
    }

    /// True with an element that delays packets by intent: lateness then has a bound.
    pub fn timed(&self) -> bool {
        self.elements.iter().any(|element| element.timed())
    }

    /// The rate of the slowest line; `None` without a line.
    pub fn rate(&self) -> Option<BitRate> {
        self.elements.iter().filter_map(|element| element.rate()).min()
    }

    /// True for a direction without any element.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The same for the kernel's own emulator.
    ///
    /// # Errors
    /// What of it that emulator does not do exactly so.
    pub fn netem(&self) -> Result<NetemSpec, NotForNetem> {
        NetemSpec::of(self.elements.iter().map(|element| (element.to_string(), element.netem())))
    }

    pub(super) fn elements(&self) -> &[Arc<dyn ElementSpec>] {
        &self.elements
    }
}

impl PartialEq for ChainSpec {
    fn eq(&self, other: &Self) -> bool {
        self.texts() == other.texts()
    }
}

impl Eq for ChainSpec {}

impl fmt::Display for ChainSpec {
    /// The texts of the elements, ` -> ` between them.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.texts().join(" -> "))
    }
}

/// Elements of one option, such as all kinds of `drop`, have the same place.
fn place_in_order(kind: &ElementKind) -> usize {
    let same_option = |other: &&ElementKind| other.option() == kind.option();
    ELEMENTS.iter().position(same_option).unwrap_or(ELEMENTS.len())
}

fn parse(
    text: &str,
    reader: &Reader<'_>,
) -> Result<(&'static ElementKind, Arc<dyn ElementSpec>), LinkError> {
    let text = text.trim();
    let kind = kind_of(text).ok_or_else(|| unknown(text))?;
    let forms = forms_of(kind.option());
    let mut words = Words::new(text, &forms, reader);
    for word in kind.name.split(' ') {
        words.keyword(word);
    }
    let spec = (kind.parse)(&mut words)?;
    words.end()?;
    Ok((kind, spec))
}

/// The entry with the longest name whose words begin `text`.
fn kind_of(text: &str) -> Option<&'static ElementKind> {
    let begins = |kind: &&&ElementKind| {
        let mut words = text.split_whitespace();
        kind.name.split(' ').all(|word| words.next() == Some(word))
    };
    ELEMENTS.iter().filter(begins).max_by_key(|kind| kind.name.len()).copied()
}

/// The legal texts of all entries of an option.
fn forms_of(option: &str) -> String {
    let forms = ELEMENTS.iter().filter(|kind| kind.option() == option).map(|kind| kind.forms);
    forms.collect::<Vec<_>>().join(" | ")
}

fn unknown(text: &str) -> LinkError {
    let mut names: Vec<&str> = ELEMENTS.iter().map(|kind| kind.option()).collect();
    names.dedup();
    LinkError::UnknownElement { text: text.to_owned(), legal: names.join(", ") }
}
