//! How element texts are read: in which spelling, and where named files come from.

use std::fmt;

/// The spelling that is legal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Rates also as `tc` writes them: `10Mbit`.
    CommandLine,
    /// Units in full: `10Mbit/s`.
    #[default]
    Plan,
}

/// What a parser needs to know beside the text.
#[derive(Clone, Copy)]
pub struct Reader<'f> {
    /// The spelling that is legal.
    pub dialect: Dialect,
    /// Gives the text of a file that an element names, or why it cannot.
    pub files: &'f dyn Fn(&str) -> Result<String, String>,
}

impl Reader<'_> {
    /// For plans, which name no files.
    pub const PLAN: Reader<'static> = Reader { dialect: Dialect::Plan, files: &not_in_a_plan };
    /// For command lines that name no files.
    pub const COMMAND_LINE: Reader<'static> =
        Reader { dialect: Dialect::CommandLine, files: &no_files };
}

impl fmt::Debug for Reader<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Reader").field("dialect", &self.dialect).finish_non_exhaustive()
    }
}

fn not_in_a_plan(_name: &str) -> Result<String, String> {
    Err("a plan is repeated and copied without files; only btu link takes elements with one"
        .to_owned())
}

fn no_files(_name: &str) -> Result<String, String> {
    Err("files are not available here".to_owned())
}
