//! A disclosure without names: what tells who and where a host is becomes an alias.
//!
//! The same thing has the same alias wherever the same key is used, so that results of one host can
//! still be joined, and nobody without the key can try names out.

mod scan;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::disclosure::Disclosure;
use crate::disclosure::Fact;

/// Replaces what identifies a host, and remembers what it replaced.
#[derive(Clone, Debug)]
pub struct Redactor {
    key: [u8; 32],
    /// Names of hosts, which are words like any other and therefore have to be known.
    names: BTreeSet<String>,
    replaced: BTreeMap<Kind, BTreeSet<String>>,
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
}

impl Redactor {
    /// A redactor for results with this disclosure.
    pub fn new(key: [u8; 32], disclosure: &Disclosure) -> Self {
        let facts = disclosure.hosts.values().filter_map(|host| host.get("system"));
        let names = facts.filter_map(|facts| facts.get("host_name")?.value.as_ref()?.as_str());
        let names = names.filter(|name| !name.is_empty() && !is_alias(name));
        let names = names.map(ToOwned::to_owned).collect();
        Self { key, names, replaced: BTreeMap::new() }
    }

    /// The disclosure without names. Price and marks stay: they are the user's own words for others.
    pub fn disclosure(&mut self, mut disclosure: Disclosure) -> Disclosure {
        let hosts = disclosure.hosts.values_mut().flat_map(BTreeMap::values_mut);
        for facts in hosts.chain([&mut disclosure.tool, &mut disclosure.placement]) {
            for (name, fact) in facts.iter_mut() {
                self.fact(name, fact);
            }
        }
        disclosure.note = disclosure.note.map(|note| self.text(&note));
        disclosure
    }

    /// One line of a journal; `None` where nothing in it had to change.
    pub fn line(&mut self, line: &str) -> Option<String> {
        let before: Value = serde_json::from_str(line).ok()?;
        let mut after = before.clone();
        self.value(&mut after);
        (after != before).then(|| after.to_string())
    }

    /// What was replaced, in words: `2 addresses`.
    pub fn told(&self) -> Vec<String> {
        let counted = |(kind, found): (&Kind, &BTreeSet<String>)| match found.len() {
            1 => format!("1 {}", kind.words()[0]),
            n => format!("{n} {}", kind.words()[1]),
        };
        self.replaced.iter().map(counted).collect()
    }

    fn fact(&mut self, name: &str, fact: &mut Fact) {
        let whole = match name {
            "host_name" => Some(Kind::Host),
            name if name.contains("serial") || name.contains("asset") => Some(Kind::Serial),
            name if name.contains("uuid") => Some(Kind::Uuid),
            _ => None,
        };
        match (&mut fact.value, whole) {
            (Some(Value::String(text)), Some(kind)) if !text.is_empty() => {
                *text = self.alias(kind, text);
            }
            (Some(value), _) => self.value(value),
            (None, _) => {}
        }
        fact.reason = fact.reason.take().map(|reason| self.text(&reason));
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.value(field)),
            Value::String(text) => *text = self.text(text),
            Value::Bool(_) | Value::Null | Value::Number(_) => {}
        }
    }

    /// A text without what has a form of its own, and, in sentences, without the names of hosts: a
    /// word alone may be a role or a transport that happens to be called so.
    fn text(&mut self, text: &str) -> String {
        let sentence = text.contains(' ');
        scan::words(text)
            .into_iter()
            .map(|word| match scan::kind(word) {
                Some(kind) => self.alias(kind, word),
                None if sentence && self.names.contains(word) => self.alias(Kind::Host, word),
                None => word.to_owned(),
            })
            .collect()
    }

    fn alias(&mut self, kind: Kind, text: &str) -> String {
        if is_alias(text) {
            return text.to_owned();
        }
        let hash = blake3::keyed_hash(&self.key, format!("{kind:?} {text}").as_bytes());
        let alias = format!("{}-{}", kind.prefix(), &hash.to_hex()[..8]);
        self.replaced.entry(kind).or_default().insert(alias.clone());
        alias
    }
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Account, Self::Address, Self::Host, Self::Mac, Self::Path, Self::Serial, Self::Uuid];

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
        }
    }
}

/// True for what an earlier redaction left: it is replaced once.
fn is_alias(text: &str) -> bool {
    let hex = |rest: &str| rest.len() == 8 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let of = |kind: &Kind| text.strip_prefix(kind.prefix()).and_then(|rest| rest.strip_prefix('-'));
    Kind::ALL.iter().filter_map(of).any(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disclosure() -> Disclosure {
        let mut disclosure = Disclosure::default();
        let host = disclosure.hosts.entry("test".to_owned()).or_default();
        let facts = [
            ("host_name", "lab7"),
            ("product_serial", "S3C-12"),
            (
                "boot_command_line",
                "root=UUID=0a1b2c3d-0001-0002-0003-0a1b2c3d4e5f ip=192.0.2.7 quiet",
            ),
            ("kernel_build", "Linux version 6.18 (builder@forge) on lab7"),
            ("kernel", "6.18.44"),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), Fact::known(value)));
        host.insert("system".to_owned(), facts.into());
        disclosure.marks = vec!["SPECint=76.9@spec.org".to_owned()];
        disclosure
    }

    #[test]
    fn names_addresses_serials_and_ids_are_gone_and_figures_stay() {
        let mut redactor = Redactor::new([7; 32], &disclosure());
        let found = serde_json::to_string(&redactor.disclosure(disclosure())).unwrap();
        for secret in ["lab7", "S3C-12", "0a1b2c3d-0001", "192.0.2.7", "builder@forge"] {
            assert!(!found.contains(secret), "{secret}: {found}");
        }
        for kept in ["6.18.44", "quiet", "SPECint=76.9@spec.org", "root=UUID=uuid-"] {
            assert!(found.contains(kept), "{kept}: {found}");
        }
        assert_eq!(
            redactor.told(),
            ["1 account", "1 address", "1 host name", "1 serial number", "1 unique id"]
        );
    }

    #[test]
    fn a_second_time_nothing_changes_and_the_same_thing_has_the_same_alias() {
        let once = Redactor::new([7; 32], &disclosure()).disclosure(disclosure());
        let mut again = Redactor::new([8; 32], &once);
        assert_eq!(again.disclosure(once.clone()), once);
        assert!(again.told().is_empty());
        let same = Redactor::new([7; 32], &disclosure()).disclosure(disclosure());
        let other = Redactor::new([9; 32], &disclosure()).disclosure(disclosure());
        assert!(same == once && other != once);
    }

    #[test]
    fn a_line_without_names_stays_as_it_is() {
        let mut redactor = Redactor::new([7; 32], &disclosure());
        assert_eq!(
            redactor.line(r#"{"role":"lab7","bytes":12.50,"at":"2026-11-22T01:33:27.719Z"}"#),
            None
        );
        let told = r#"{"detail":"lab7: connect 192.0.2.7:80","bytes":12}"#;
        let changed = redactor.line(told).unwrap();
        assert!(changed.contains(r#""bytes":12"#) && !changed.contains("192.0.2.7"), "{changed}");
        assert!(changed.contains("host-") && changed.contains(":80"), "{changed}");
    }
}
