//! Names of hosts, which are words like any other and therefore have to be known.

use std::net::IpAddr;

use super::is_alias;
use super::places;
use super::scan::is_end;
use crate::disclosure::Disclosure;
use crate::disclosure::Fact;
use crate::role::Role;

/// Names that a disclosure gives hosts, in every form in which texts hold them.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// As it stands in a text, the longest first, and the name.
    forms: Vec<(String, String)>,
    /// `.example.org`: whatever ends so is the name of a host.
    domains: Vec<String>,
    /// Paths that somebody named, the longest first.
    paths: Vec<String>,
}

impl Names {
    /// What the hosts of a disclosure are called, by themselves and by others.
    pub(super) fn of(disclosure: &Disclosure) -> Self {
        let mut names = Self { paths: places::named(disclosure), ..Self::default() };
        let own = disclosure.hosts.values().flat_map(|groups| {
            let fact = |group: &str, name: &str| groups.get(group)?.get(name);
            [fact("system", "host_name"), fact("agent", "address")].into_iter().flatten()
        });
        let placed = disclosure.placement.iter().filter(|(name, _)| is_of_agent(name));
        for fact in own.chain(placed.map(|(_, fact)| fact)) {
            names.learn(text(fact));
        }
        names
    }

    /// One more name, or where a host listens: `lab1.example.org:7411`.
    pub(super) fn learn(&mut self, text: &str) {
        let host = host_of(text);
        if is_nobody(host) {
            return;
        }
        self.add(host);
        if let Some((label, domain)) = host.split_once('.') {
            self.add(label);
            if domain.contains('.') {
                self.add(domain);
                self.domains.push(format!(".{domain}"));
            }
        }
        self.forms.sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
    }

    /// Device mapper writes `--` for `-`, and many programs write small letters.
    fn add(&mut self, name: &str) {
        let has_letter = name.contains(|c: char| c.is_alphabetic());
        if name.chars().count() < SHORTEST || !has_letter || is_nobody(name) {
            return;
        }
        let small = name.to_lowercase();
        for form in [name.replace('-', "--"), small.replace('-', "--"), name.to_owned(), small] {
            if self.forms.iter().all(|(known, _)| *known != form) {
                self.forms.push((form, name.to_owned()));
            }
        }
    }

    /// The path that a text begins with, of those that somebody named.
    pub(super) fn path(&self, text: &str) -> Option<&str> {
        let is_here = |path: &&String| text.starts_with(path.as_str()) && is_end(text, path.len());
        self.paths.iter().find(is_here).map(String::as_str)
    }

    /// The name that a text begins with, and how much of the text it takes: with a domain that follows.
    pub(super) fn begin<'n>(&'n self, text: &'n str) -> Option<(usize, &'n str)> {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '.' && c != '-');
        let host = text[..end.unwrap_or(text.len())].trim_end_matches(['.', '-']);
        if self.domains.iter().any(|domain| host.len() > domain.len() && host.ends_with(domain)) {
            return Some((host.len(), host));
        }
        let (form, name) = self.forms.iter().find(|(form, _)| {
            let rest = text.strip_prefix(form.as_str());
            rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })?;
        let has_domain = host.strip_prefix(form.as_str()).is_some_and(|rest| rest.starts_with('.'));
        Some((if has_domain { host.len() } else { form.len() }, name))
    }
}

/// True for what a placement says of an agent's name.
pub(super) fn is_of_agent(fact: &str) -> bool {
    fact.starts_with("agent_")
}

/// The host of `lab1:7411`, `[2001:db8::7]:7411` or `lab1`.
pub(super) fn host_of(text: &str) -> &str {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let host = match text.rsplit_once(':') {
        Some((host, port)) if is_port(port) && (!host.contains(':') || host.ends_with(']')) => host,
        _ => text,
    };
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// True for what is no name of one host: a part in a measurement, an address, an alias.
pub(super) fn is_nobody(host: &str) -> bool {
    let is_role = Role::ALL.iter().any(|role| role.name() == host);
    let is_here = ["", "localhost", "localdomain", "localhost.localdomain"].contains(&host);
    is_role || is_here || host.parse::<IpAddr>().is_ok() || is_alias(host)
}

fn text(fact: &Fact) -> &str {
    fact.value.as_ref().and_then(|value| value.as_str()).unwrap_or_default()
}

/// A single letter is a word of every sentence, and tells of no host.
const SHORTEST: usize = 2;
