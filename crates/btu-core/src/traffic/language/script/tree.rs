//! What a value says before it is known what it is for: numbers, calls, endpoints, texts.

use std::fmt;

use super::Problem;
use super::token::Place;
use super::token::Placed;
use super::token::Token;
use super::token::tokens;

/// A value as it is written.
#[derive(Clone, Debug)]
pub(in crate::traffic) struct Tree {
    pub(in crate::traffic) place: Place,
    pub(in crate::traffic) form: Form,
}

#[derive(Clone, Debug)]
pub(in crate::traffic) enum Form {
    /// A name in lower case with its arguments; a word alone has none.
    Call(String, Vec<Argument>),
    Endpoint(String, u16),
    /// A number and its unit, which may be empty.
    Number(f64, String),
    Text(String),
}

impl fmt::Display for Form {
    /// As a message shows what was written; of a call its name alone.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(name, _) => out.write_str(name),
            Self::Endpoint(host, port) => write!(out, "{host}:{port}"),
            Self::Number(value, unit) if unit.is_empty() => write!(out, "{value}"),
            Self::Number(value, unit) => write!(out, "{value} {unit}"),
            Self::Text(text) => write!(out, "\"{text}\""),
        }
    }
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(in crate::traffic) struct Argument {
    pub(in crate::traffic) place: Place,
    pub(in crate::traffic) label: Label,
    pub(in crate::traffic) value: Tree,
}

/// What stands before the value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::traffic) enum Label {
    Name(String),
    None,
    /// The weight of a part of a mixture.
    Weight(f64),
}

/// The tokens that are left.
#[derive(Debug)]
pub(super) struct Reader {
    tokens: Vec<Placed>,
    at: usize,
    pub(super) problems: Vec<Problem>,
}

/// How deep blocks and calls may nest.
pub(super) const DEPTH: usize = 32;

impl Reader {
    pub(super) fn new(text: &str, start: Place) -> Self {
        let (tokens, problems) = tokens(text, start);
        Self { tokens, at: 0, problems }
    }

    pub(super) fn peek(&self) -> &Token {
        self.ahead(0)
    }

    /// The token `steps` after the next one.
    pub(super) fn ahead(&self, steps: usize) -> &Token {
        self.tokens.get(self.at + steps).map_or(&Token::End, |placed| &placed.token)
    }

    pub(super) fn place(&self) -> Place {
        self.tokens.get(self.at).or(self.tokens.last()).map_or_else(Place::default, |t| t.place)
    }

    pub(super) fn is(&self, mark: char) -> bool {
        *self.peek() == Token::Mark(mark)
    }

    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    /// Takes a mark if it is next.
    pub(super) fn take(&mut self, mark: char) -> bool {
        let found = self.is(mark);
        if found {
            self.skip();
        }
        found
    }

    pub(super) fn expect(&mut self, mark: char, after: &str) -> Result<(), Problem> {
        if self.take(mark) {
            return Ok(());
        }
        Err(self.unexpected(&format!("\"{mark}\" {after}")))
    }

    /// The problem of the next token, where `wanted` was.
    pub(super) fn unexpected(&self, wanted: &str) -> Problem {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            Token::Mark(mark) => format!("\"{mark}\""),
            Token::Text(text) => format!("\"{text}\""),
            Token::Word(word) => format!("\"{word}\""),
        };
        Problem::at(self.place(), format!("found {found}, wanted {wanted}"))
    }

    pub(super) fn word(&mut self, wanted: &str) -> Result<String, Problem> {
        let Token::Word(word) = self.peek() else { return Err(self.unexpected(wanted)) };
        let word = word.clone();
        self.skip();
        Ok(word)
    }

    /// A value of a setting or an argument.
    pub(super) fn value(&mut self, depth: usize) -> Result<Tree, Problem> {
        let place = self.place();
        let form = match self.peek() {
            Token::Text(text) => {
                let form = Form::Text(text.clone());
                self.skip();
                form
            }
            Token::Word(_) if *self.ahead(1) == Token::Mark(':') => self.endpoint()?,
            Token::Word(word) => match number(word) {
                Some((value, unit)) => self.number(value, &unit),
                None => self.call(depth)?,
            },
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Tree { place, form })
    }

    fn number(&mut self, value: f64, unit: &str) -> Form {
        self.skip();
        let Token::Word(next) = self.peek() else { return Form::Number(value, unit.to_owned()) };
        // A unit may stand apart; `s = 1` after a number is the next setting instead. What stands there and is
        // none is told as an unknown one, with those that are legal.
        if unit.is_empty() && *self.ahead(1) != Token::Mark('=') {
            let unit = next.clone();
            self.skip();
            return Form::Number(value, unit);
        }
        Form::Number(value, unit.to_owned())
    }

    fn endpoint(&mut self) -> Result<Form, Problem> {
        let host = self.word("a host")?.to_lowercase();
        self.expect(':', "after the host")?;
        let place = self.place();
        let port = self.word("a port")?;
        let number = port.parse().ok().filter(|port| *port > 0);
        let number = number.ok_or_else(|| {
            Problem::at(place, format!("\"{port}\" is no port; write 1 to 65535"))
        })?;
        Ok(Form::Endpoint(host, number))
    }

    fn call(&mut self, depth: usize) -> Result<Form, Problem> {
        let place = self.place();
        let name = self.word("a name")?.to_lowercase();
        let mut arguments = Vec::new();
        if !self.take('(') {
            return Ok(Form::Call(name, arguments));
        }
        if depth >= DEPTH {
            return Err(Problem::at(place, format!("nested deeper than {DEPTH}")));
        }
        if self.take(')') {
            return Ok(Form::Call(name, arguments));
        }
        loop {
            arguments.push(self.argument(depth + 1)?);
            if self.take(')') {
                return Ok(Form::Call(name, arguments));
            }
            self.expect(',', "or \")\"")?;
        }
    }

    fn argument(&mut self, depth: usize) -> Result<Argument, Problem> {
        let place = self.place();
        let label = match (self.peek(), self.ahead(1)) {
            (Token::Word(name), Token::Mark('=')) => Label::Name(name.to_lowercase()),
            (Token::Word(weight), Token::Mark(':')) => match number(weight) {
                Some((weight, unit)) if unit.is_empty() => Label::Weight(weight),
                _ => Label::None,
            },
            _ => Label::None,
        };
        if label != Label::None {
            self.skip();
            self.skip();
        }
        Ok(Argument { place, label, value: self.value(depth)? })
    }
}

/// Splits `80ms` or `1.5e3` into number and unit; `None` for a name such as `g729` or `10.0.0.1`.
fn number(word: &str) -> Option<(f64, String)> {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if !digits.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let end = numeric_end(word);
    let (number, unit) = word.split_at(end);
    let value: f64 = number.parse().ok().filter(|value: &f64| value.is_finite())?;
    let name = unit.chars().all(|c| c.is_ascii_alphabetic() || c == '/' || c == '%');
    name.then(|| (value, unit.to_owned()))
}

/// Where the number at the start of a word ends.
fn numeric_end(word: &str) -> usize {
    let bytes = word.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(usize::from(word.starts_with('-')));
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > end + 1 {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}
