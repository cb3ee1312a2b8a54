//! A result without names: what tells who and where a host is becomes an alias.
//!
//! The same thing has the same alias wherever the same key is used, so that results of one host can
//! still be joined, and nobody without the key can try names out.

mod names;
mod places;
mod scan;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::disclosure::Disclosure;
use crate::disclosure::Fact;
use crate::file::target::Target;
use crate::pingpong::import;
use crate::pingpong::sample::Line;
use crate::words::several;
use names::Names;
use names::host_of;
use names::is_nobody;
use names::is_of_agent;

/// Replaces what identifies a host, and remembers what it replaced.
#[derive(Clone, Debug)]
pub struct Redactor {
    key: [u8; 32],
    names: Names,
    /// Files and directories of a server of others, as errors name them.
    operands: Vec<String>,
    replaced: BTreeMap<Kind, BTreeSet<String>>,
    /// Files of other tools that lost what nothing was read of.
    thinned: usize,
    /// Those of which nothing is left.
    emptied: usize,
}

/// Where names of hosts are looked for; what has a form of its own is found everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// In the facts of hosts and their placement.
    Everywhere,
    /// In journals: a word alone may be a role or a transport that happens to be called so, but where a key says that
    /// its value is a sentence.
    Sentences,
    /// In the names of facts.
    Nowhere,
}

/// What was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `user@host`, as kernels name who built them.
    Account,
    /// An IPv4 or IPv6 address.
    Address,
    /// The name of a host.
    Host,
    /// A hardware address.
    Mac,
    /// A path below somebody's home.
    Path,
    /// A serial number or an asset tag.
    Serial,
    /// The unique id of a disk or a machine.
    Uuid,
    /// What somebody called a volume.
    Volume,
}

impl Redactor {
    /// A redactor for results with this disclosure.
    pub fn new(key: [u8; 32], disclosure: &Disclosure) -> Self {
        Self {
            key,
            names: Names::of(disclosure),
            operands: Vec::new(),
            replaced: BTreeMap::new(),
            thinned: 0,
            emptied: 0,
        }
    }

    /// The same where a host is also called so, as an agent in a plan.
    #[must_use]
    pub fn knowing<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().for_each(|name| self.names.learn(name));
        self
    }

    /// The same where errors name these files: what may be a word like any other is replaced only there.
    #[must_use]
    pub fn knowing_operands(mut self, operands: impl IntoIterator<Item = String>) -> Self {
        self.operands.extend(operands);
        self
    }

    /// The disclosure without names. Price and marks stay: they are the user's own words for others.
    pub fn disclosure(&mut self, mut disclosure: Disclosure) -> Disclosure {
        for (group, facts) in disclosure.hosts.values_mut().flatten() {
            // Of the program, not of the host.
            let search = if group == "tool" { Search::Sentences } else { Search::Everywhere };
            self.facts(facts, search);
        }
        self.facts(&mut disclosure.tool, Search::Sentences);
        self.facts(&mut disclosure.placement, Search::Everywhere);
        disclosure.note = disclosure.note.map(|note| self.text(&note, Search::Everywhere));
        disclosure
    }

    /// An agent's name, or where it listens. A name that tells of no host stays, such as `active`.
    pub fn agent(&mut self, name: &str) -> String {
        let text = self.text(name, Search::Everywhere);
        let host = host_of(name);
        if text != name || is_nobody(host) {
            return text;
        }
        let alias = self.alias(Kind::Host, host);
        name.replacen(host, &alias, 1)
    }

    /// A server of others, of which the protocol and the port stay.
    pub fn target(&mut self, target: &Target) -> Target {
        let host = self.agent(&target.host);
        let user = target.user.as_ref().map(|user| self.alias(Kind::Account, user));
        let directories = target.directories.iter().map(|part| self.path(part)).collect();
        Target { user, host, directories, ..target.clone() }
    }

    /// A path of a user, wherever it leads.
    pub fn path(&mut self, path: &str) -> String {
        self.alias(Kind::Path, path)
    }

    /// A user's words, such as the label of a cell.
    pub fn words(&mut self, words: &str) -> String {
        self.text(words, Search::Everywhere)
    }

    /// One line of a journal; `None` where nothing in it had to change.
    pub fn line(&mut self, line: &str) -> Option<String> {
        let before: Value = serde_json::from_str(line).ok()?;
        let mut after = before.clone();
        self.imported(&mut after);
        self.value(&mut after, Search::Sentences);
        (after != before).then(|| after.to_string())
    }

    /// A file of another tool: where it lay, and whatever people wrote into it.
    fn imported(&mut self, line: &mut Value) {
        if line["kind"] != IMPORTED {
            return;
        }
        let Ok(Line::PingPongFile { file, text }) = Line::deserialize(&*line) else { return };
        let needed = import::essence(&file, &text);
        let is_whole = needed.is_empty() && !text.is_empty();
        self.emptied += usize::from(is_whole);
        self.thinned += usize::from(needed != text && !is_whole);
        line["text"] = Value::String(needed);
        line["file"] = Value::String(self.place(&file));
    }

    /// What was replaced, in words: `2 addresses`.
    pub fn told(&self) -> Vec<String> {
        let counted = |(kind, found): (&Kind, &BTreeSet<String>)| match found.len() {
            1 => format!("1 {}", kind.words()[0]),
            n => format!("{n} {}", kind.words()[1]),
        };
        let thinned = match self.thinned {
            0 => None,
            1 => Some("comments of 1 imported file".to_owned()),
            n => Some(format!("comments of {n} imported files")),
        };
        let emptied = (self.emptied > 0).then(|| {
            let files = several(self.emptied, "imported file");
            format!("all of {files}: what points need of it could not be found out")
        });
        self.replaced.iter().map(counted).chain(thinned).chain(emptied).collect()
    }

    fn facts(&mut self, facts: &mut BTreeMap<String, Fact>, search: Search) {
        for (name, mut fact) in std::mem::take(facts) {
            self.fact(&name, &mut fact, search);
            facts.insert(self.text(&name, Search::Nowhere), fact);
        }
    }

    fn fact(&mut self, name: &str, fact: &mut Fact, search: Search) {
        let whole = match name {
            "host_name" => Some(Kind::Host),
            name if name.contains("serial") || name.contains("asset") => Some(Kind::Serial),
            name if name.contains("uuid") => Some(Kind::Uuid),
            _ => None,
        };
        match (&mut fact.value, whole) {
            // By its id a host stands for what it measured.
            _ if name == "identity" => {}
            (Some(Value::String(text)), Some(kind)) if !text.is_empty() => {
                *text = self.alias(kind, text);
            }
            (Some(Value::String(text)), _) if name == "io_directory" => *text = self.place(text),
            (Some(Value::String(text)), _) if name == "address" || is_of_agent(name) => {
                *text = self.agent(text);
            }
            (Some(value), _) => self.value(value, search),
            (None, _) => {}
        }
        fact.reason = fact.reason.take().map(|reason| self.text(&reason, search));
    }

    /// Where somebody works, as a whole: of a path nobody can tell which part is a name.
    fn place(&mut self, text: &str) -> String {
        let is_path = text.contains('/') && !places::is_of_system(text);
        if is_path { self.alias(Kind::Path, text) } else { text.to_owned() }
    }

    fn value(&mut self, value: &mut Value, search: Search) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, search)),
            Value::Object(fields) => {
                for (name, mut field) in std::mem::take(fields) {
                    match &mut field {
                        Value::String(text) if name == DIRECTORY => *text = self.place(text),
                        Value::String(text) if name == FAILURE => *text = self.failure(text),
                        Value::Array(_) | Value::String(_) if SENTENCES.contains(&&*name) => {
                            self.value(&mut field, Search::Everywhere);
                        }
                        _ => self.value(&mut field, search),
                    }
                    fields.insert(self.text(&name, Search::Nowhere), field);
                }
            }
            Value::String(text) => *text = self.text(text, search),
            Value::Bool(_) | Value::Null | Value::Number(_) => {}
        }
    }

    /// `ftp RETR OPERAND: the server answers 550`
    fn failure(&mut self, text: &str) -> String {
        let mut told = text.to_owned();
        for operand in self.operands.clone() {
            let alias = self.alias(Kind::Path, &operand);
            told = told.replace(&format!(" {operand}:"), &format!(" {alias}:"));
        }
        self.text(&told, Search::Sentences)
    }

    fn text(&mut self, text: &str, search: Search) -> String {
        let mut text = text.to_owned();
        // An alias may part what could not be told from its surroundings: `192.0.2.7.2001:db8::7`.
        for _ in 0..MOST_LOOKS {
            let next = self.look(&text, search);
            if next == text {
                break;
            }
            text = next;
        }
        text
    }

    fn look(&mut self, text: &str, search: Search) -> String {
        let has_hosts = match search {
            Search::Everywhere => true,
            Search::Nowhere => false,
            Search::Sentences => text.contains(' '),
        };
        let pieces = scan::pieces(text, &self.names, has_hosts).into_iter();
        let replaced = pieces.map(|piece| match piece.found {
            Some((kind, name)) => self.alias(kind, &name),
            None => piece.text.to_owned(),
        });
        replaced.collect()
    }

    fn alias(&mut self, kind: Kind, text: &str) -> String {
        if is_alias(text) {
            return text.to_owned();
        }
        // Names of hosts know no capitals (RFC 4343).
        let text = if kind == Kind::Host { text.to_lowercase() } else { text.to_owned() };
        let hash = blake3::keyed_hash(&self.key, format!("{kind:?} {text}").as_bytes());
        let alias = format!("{}-{}", kind.prefix(), &hash.to_hex()[..8]);
        self.replaced.entry(kind).or_default().insert(alias.clone());
        alias
    }
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Account,
        Self::Address,
        Self::Host,
        Self::Mac,
        Self::Path,
        Self::Serial,
        Self::Uuid,
        Self::Volume,
    ];

    /// One, and several.
    const fn words(self) -> [&'static str; 2] {
        match self {
            Self::Account => ["account", "accounts"],
            Self::Address => ["address", "addresses"],
            Self::Host => ["host name", "host names"],
            Self::Mac => ["hardware address", "hardware addresses"],
            Self::Path => ["path", "paths"],
            Self::Serial => ["serial number", "serial numbers"],
            Self::Uuid => ["unique id", "unique ids"],
            Self::Volume => ["name of a volume", "names of volumes"],
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Address => "address",
            Self::Host => "host",
            Self::Mac => "mac",
            Self::Path => "path",
            Self::Serial => "serial",
            Self::Uuid => "uuid",
            Self::Volume => "volume",
        }
    }
}

/// Keys of journals whose values are sentences, also where one is a single word.
const SENTENCES: [&str; 10] = [
    "detail",
    "drift",
    "failed",
    "failures",
    "invalid",
    "mismatches",
    "not_captured",
    "not_foretold",
    "proof_failures",
    "reason",
];
/// The kind of a line with a file of another tool.
const IMPORTED: &str = "ping_pong_file";
/// The key of why a client of a file service failed.
const FAILURE: &str = "failure";
/// The key of a directory that the user named.
const DIRECTORY: &str = "directory";
/// Each look leaves fewer words that are no alias; two are the most that any text needed so far.
const MOST_LOOKS: usize = 8;

/// True for what an earlier redaction left: it is replaced once.
fn is_alias(text: &str) -> bool {
    alias_length(text) == Some(text.len())
}

/// How long the alias is that a text begins with.
fn alias_length(text: &str) -> Option<usize> {
    let end = |kind: &Kind| {
        let digits = text.strip_prefix(kind.prefix())?.strip_prefix('-')?.get(..8)?;
        let is_hash = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let end = kind.prefix().len() + 1 + digits.len();
        (is_hash && scan::is_end(text, end)).then_some(end)
    };
    Kind::ALL.iter().find_map(end)
}

#[cfg(test)]
mod tests;
