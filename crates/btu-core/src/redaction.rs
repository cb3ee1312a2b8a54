//! A disclosure without names: what tells who and where a host is becomes an alias.
//!
//! The same thing has the same alias wherever the same key is used, so that results of one host can
//! still be joined, and nobody without the key can try names out.

mod names;
mod scan;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::disclosure::Disclosure;
use crate::disclosure::Fact;
use names::Names;
use names::host_of;
use names::is_nobody;
use names::is_of_agent;

/// Replaces what identifies a host, and remembers what it replaced.
#[derive(Clone, Debug)]
pub struct Redactor {
    key: [u8; 32],
    names: Names,
    replaced: BTreeMap<Kind, BTreeSet<String>>,
}

/// Where names of hosts are looked for; what has a form of its own is found everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// In the facts of hosts and their placement.
    Everywhere,
    /// In journals: a word alone may be a role or a transport that happens to be called so.
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
}

impl Redactor {
    /// A redactor for results with this disclosure.
    pub fn new(key: [u8; 32], disclosure: &Disclosure) -> Self {
        Self { key, names: Names::of(disclosure), replaced: BTreeMap::new() }
    }

    /// The same where a host is also called so, as an agent in a plan.
    #[must_use]
    pub fn knowing<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().for_each(|name| self.names.learn(name));
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

    /// A user's words, such as the label of a cell.
    pub fn words(&mut self, words: &str) -> String {
        self.text(words, Search::Everywhere)
    }

    /// One line of a journal; `None` where nothing in it had to change.
    pub fn line(&mut self, line: &str) -> Option<String> {
        let before: Value = serde_json::from_str(line).ok()?;
        let mut after = before.clone();
        self.value(&mut after, Search::Sentences);
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
            (Some(Value::String(text)), _) if name == "address" || is_of_agent(name) => {
                *text = self.agent(text);
            }
            (Some(value), _) => self.value(value, search),
            (None, _) => {}
        }
        fact.reason = fact.reason.take().map(|reason| self.text(&reason, search));
    }

    fn value(&mut self, value: &mut Value, search: Search) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, search)),
            Value::Object(fields) => {
                for (name, mut field) in std::mem::take(fields) {
                    self.value(&mut field, search);
                    fields.insert(self.text(&name, Search::Nowhere), field);
                }
            }
            Value::String(text) => *text = self.text(text, search),
            Value::Bool(_) | Value::Null | Value::Number(_) => {}
        }
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
        let names = match search {
            Search::Everywhere => Some(&self.names),
            Search::Nowhere => None,
            Search::Sentences => text.contains(' ').then_some(&self.names),
        };
        let pieces = scan::pieces(text, names).into_iter();
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

    /// What everyday hosts disclose: LVM and LUKS volumes, USB adapters, agents by name.
    fn lab() -> Disclosure {
        let mut disclosure = disclosure();
        let facts = |facts: &[(&str, &str)]| {
            facts.iter().map(|(name, value)| ((*name).to_owned(), Fact::known(*value))).collect()
        };
        let active = disclosure.hosts.entry("active".to_owned()).or_default();
        active.insert("system".to_owned(), facts(&[("host_name", "box9.example.org")]));
        active.insert(
            "agent".to_owned(),
            facts(&[("address", "lab1.example.org:7411"), ("identity", "abcd-lab7-2345")]),
        );
        active.insert("tool".to_owned(), facts(&[("target", "x86_64-lab7-linux")]));
        active.insert(
            "disk".to_owned(),
            facts(&[
                ("mounts", "/dev/mapper/lab7--vg-root / ext4 rw"),
                ("boot", "root=/dev/mapper/luks-0a1b2c3d-0001-0002-0003-0a1b2c3d4e5f"),
            ]),
        );
        active.insert(
            "nic".to_owned(),
            facts(&[
                ("enx001b44113ab7.mtu", "1500"),
                ("devices", "enx001b44113ab7"),
                ("boot", "BOOTIF=01-00-1b-44-11-3a-b7 ifname=eth0:00:1b:44:11:3a:b7"),
            ]),
        );
        disclosure.placement = facts(&[
            ("agent_active", "LAB1"),
            ("agent_test", "active"),
            ("policy_active", "max_rate in the policy of agent lab1: 1 Mbit/s per connection"),
            ("volume", "vg_box9-swap"),
        ]);
        disclosure
    }

    #[test]
    fn no_name_stays_within_a_word_a_key_or_another_form_of_it() {
        let mut redactor = Redactor::new([7; 32], &lab()).knowing(["bench-2"]);
        let mut found = serde_json::to_string(&redactor.disclosure(lab())).unwrap();
        for told in [
            "agent lab1.example.org wants data at 2001:db8::7: nothing is sent, see 2001:db8::/64",
            "the last time it was 192.0.2.7. Then box9 and lab8.example.org and bench-2 were lost",
        ] {
            let line = serde_json::json!({ "detail": told }).to_string();
            found += &redactor.line(&line).unwrap();
        }
        for secret in [
            "lab1",
            "LAB1",
            "box9",
            "lab8",
            "bench-2",
            "example.org",
            "lab7--vg",
            "001b44",
            "00-1b",
            "00:1b",
            "2001:db8",
            "192.0.2",
            "0a1b2c3d-0001",
        ] {
            assert!(!found.contains(secret), "{secret}: {found}");
        }
        for kept in [
            "--vg-root / ext4",
            "/dev/mapper/luks-uuid-",
            "BOOTIF=01-mac-",
            "/64",
            ":7411",
            r#""agent_test":{"value":"active"}"#,
            "x86_64-lab7-linux",
            "abcd-lab7-2345",
        ] {
            assert!(found.contains(kept), "{kept}: {found}");
        }
        // The hardware address stands there in three forms.
        assert!(
            redactor.told().contains(&"1 hardware address".to_owned()),
            "{:?}",
            redactor.told()
        );
    }

    #[test]
    fn a_name_has_its_alias_in_facts_sentences_and_plans() {
        let mut redactor = Redactor::new([7; 32], &lab());
        let alias = redactor.agent("lab1");
        let disclosed = redactor.disclosure(lab());
        assert_eq!(disclosed.placement["agent_active"], Fact::known(alias.as_str()));
        let told = redactor.line(r#"{"detail":"agent lab1: gone"}"#).unwrap();
        assert!(told.contains(&format!("agent {alias}: gone")), "{told}");
        let address = disclosed.hosts["active"]["agent"]["address"].clone();
        let full = redactor.agent("lab1.example.org");
        assert_eq!(address, Fact::known(format!("{full}:7411")));
        // Where nothing but the option says that it is a name.
        let short = redactor.agent("x:7411");
        assert!(short.starts_with("host-") && short.ends_with(":7411"), "{short}");
        for nobody in ["passive", "localhost:7411", "127.0.0.1:7411", &alias, &short] {
            assert_eq!(redactor.agent(nobody), nobody);
        }
    }

    #[test]
    fn what_was_redacted_within_words_is_not_redacted_again() {
        let once = Redactor::new([7; 32], &lab()).disclosure(lab());
        let mut again = Redactor::new([8; 32], &once);
        assert_eq!(again.disclosure(once.clone()), once);
        assert!(again.told().is_empty(), "{:?}", again.told());
    }

    proptest::proptest! {
        /// Whatever stands beside what: pieces of one alias and its surroundings make nothing new.
        #[test]
        fn a_text_is_redacted_once(
            parts in proptest::collection::vec(0_usize..20, 0..12),
            between in proptest::sample::select(vec!["", " ", "-", ":", "/", "=", ".", "--"]),
        ) {
            let known = [
                "lab7", "box9.example.org", "lab8.example.org", "192.0.2.7", "2001:db8::7", "luks", "by-id",
                "uuid", "uuid=1234-ABCD", "00:1b:44:11:3a:b7", "01", "enx001b44113ab7", "/home/anna",
                "anna@forge", "0a1b2c3d-0001-0002-0003-0a1b2c3d4e5f", "3600508b400105e2100009000004900f",
                "7411", "ab", "@", "::",
            ];
            let text: Vec<&str> = parts.iter().map(|part| known[*part]).collect();
            let mut redactor = Redactor::new([7; 32], &lab());
            let once = redactor.words(&text.join(between));
            proptest::prop_assert_eq!(redactor.words(&once), once);
        }
    }
}
