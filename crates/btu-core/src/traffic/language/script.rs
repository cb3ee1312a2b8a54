//! The block language of NetSpec, and the expressions that both front ends share.

mod block;
mod distribution;
mod expression;
mod keyword;
mod token;
mod tree;

use std::fmt;

use super::call::Call;
use super::quantity::Dialect;
use super::quantity::Quantity;
use super::recording::FileText;
use super::variate::Variate;

pub(in crate::traffic) use block::BlockKind;
pub(in crate::traffic) use block::RawBlock;
pub(in crate::traffic) use block::RawTest;
pub(in crate::traffic) use expression::Expressions;
pub use token::Place;
pub(in crate::traffic) use tree::Argument;
pub(in crate::traffic) use tree::Form;
pub(in crate::traffic) use tree::Label;
pub(in crate::traffic) use tree::Tree;

/// One thing that is wrong with a text, or worth saying about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what would be legal.
    pub cause: String,
}

impl Problem {
    pub(in crate::traffic) fn at(place: Place, cause: impl Into<String>) -> Self {
        Self { line: place.line, column: place.column, cause: cause.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}", self.line, self.column, self.cause)
    }
}

/// All blocks of a script, or everything that is wrong with it.
pub(in crate::traffic) fn blocks(text: &str) -> (Vec<RawBlock>, Vec<Problem>) {
    if text.len() > LARGEST {
        let start = Place { line: 1, column: 1 };
        return (Vec::new(), vec![Problem::at(start, "the file is larger than 1 MiB")]);
    }
    let mut reader = tree::Reader::new(text, Place { line: 1, column: 1 });
    let blocks = block::script(&mut reader);
    let mut problems = reader.problems;
    problems.sort_by_key(|problem| (problem.line, problem.column));
    (blocks, problems)
}

/// The one value that a text says; `start` is where the text stands.
pub(in crate::traffic) fn tree(text: &str, start: Place) -> Result<Tree, Problem> {
    let mut reader = tree::Reader::new(text, start);
    let value = match reader.problems.pop() {
        Some(problem) => return Err(problem),
        None => reader.value(0)?,
    };
    match reader.peek() {
        token::Token::End => Ok(value),
        _ => Err(reader.unexpected("the end of the value")),
    }
}

/// A value or a distribution of this quantity, such as `uniform(20 ms, 200 ms)`.
pub fn variate(text: &str, quantity: Quantity, dialect: Dialect) -> Result<Variate, Problem> {
    let start = Place { line: 1, column: 1 };
    let mut expressions = Expressions::new(dialect, &no_files);
    expressions.variate(&tree(text, start)?, quantity, "")
}

/// A call of a shape, such as `burstq(blocksize=12500 B, period=80 ms)`, with what is worth saying.
pub fn call(
    text: &str,
    dialect: Dialect,
    files: &dyn Fn(&str) -> Result<FileText, String>,
) -> Result<(Call, Vec<Problem>), Problem> {
    let start = Place { line: 1, column: 1 };
    let mut expressions = Expressions::new(dialect, files);
    let call = expressions.call(&tree(text, start)?)?;
    Ok((call, expressions.warnings))
}

fn no_files(_name: &str) -> Result<FileText, String> {
    Err("files are not available here".to_owned())
}

/// No scenario that a person wrote is larger.
const LARGEST: usize = 1 << 20;
