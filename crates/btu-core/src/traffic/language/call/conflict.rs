//! Values that each have a meaning, and none beside each other.

use super::Call;
use super::Parameter;
use super::Shape;
use super::Takes;

/// A word that has a meaning only beside some words of another parameter.
#[derive(Clone, Copy, Debug)]
pub struct OnlyBeside {
    /// The word.
    pub word: &'static str,
    /// The name of the other parameter.
    pub other: &'static str,
    /// The words of that which suit.
    pub suits: &'static [&'static str],
    /// Why no other one does.
    pub reason: &'static str,
}

impl Shape {
    /// Whether a word of a parameter is one that not every word of another parameter suits, or that does not suit
    /// every one of another.
    pub(in crate::traffic) fn is_choosy(&self, parameter: &Parameter, word: &str) -> bool {
        let mut rules = self.parameters.iter().filter_map(|one| Some((one.name, one.only_beside?)));
        rules.any(|(name, rule)| {
            (name == parameter.name && rule.word == word)
                || (rule.other == parameter.name && !rule.suits.contains(&word))
        })
    }
}

impl Call {
    /// The parameter that has no meaning beside another one, why, and what has.
    pub(in crate::traffic) fn conflict(&self) -> Option<(&'static str, String)> {
        self.shape
            .parameters
            .iter()
            .find_map(|one| Some((one.name, self.too_small(one).or_else(|| self.misplaced(one))?)))
    }

    fn too_small(&self, parameter: &Parameter) -> Option<String> {
        let ((times, other), quantity) = (parameter.at_least?, parameter.quantity()?);
        let (own, least) = (self.number(parameter.name), times * self.number(other));
        let [found, legal] = [own, least].map(|value| quantity.write(value));
        let name = parameter.name;
        (own < least)
            .then(|| format!("{name} = {found}; write {legal} or more: {times} times {other}"))
    }

    fn misplaced(&self, parameter: &Parameter) -> Option<String> {
        let OnlyBeside { word, other, suits, reason } = parameter.only_beside?;
        let (name, beside) = (parameter.name, self.word(other));
        let Takes::Word(words) = parameter.takes else { return None };
        let legal: Vec<&str> = words.iter().copied().filter(|legal| *legal != word).collect();
        (self.word(name) == word && !suits.contains(&beside)).then(|| {
            let (legal, suits) = (legal.join(", "), suits.join(", "));
            format!(
                "{name} = {word}; write {legal} with {other} = {beside}: {reason}; {word} suits {suits}"
            )
        })
    }
}
