//! `cargo xtask deps`: licences, duplicates, refused packages, and dependencies that no line uses.

mod licence;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use anyhow::Result;

use crate::chore::Chore;
use crate::chore::Verdict;
use crate::repo::Metadata;
use crate::repo::Package;
use crate::repo::Repo;
use crate::source::Source;

pub(crate) const CHORE: Chore =
    Chore { name: "deps", about: "licences, duplicates, refused names, unused dependencies", run };

/// Packages that must not come back, each with its reason.
static REFUSED: &[(&str, &str)] = &[
    ("aws-lc-rs", "a second crypto provider beside ring"),
    ("bincode", "unmaintained, RUSTSEC-2025-0141"),
    ("libunftp", "stalls about 44 ms per transfer; the FTP server is ours"),
    ("openssl-sys", "a C build that wants an installed library"),
    ("rtnetlink", "async, and its namespaces need root"),
    ("tokio-uring", "has no maintainer"),
    ("xdpilone", "EUPL-1.2"),
];

/// Packages that others still need in two versions.
static TOLERATED_TWICE: &[&str] = &["base64", "digest", "getrandom", "hashbrown", "nom", "syn"];

fn run(repo: &Repo, _args: &[String]) -> Result<Verdict> {
    let packages = repo.packages()?;
    let mut found = licences(&packages);
    found.extend(refused(&packages));
    found.extend(duplicates(&packages));
    found.extend(unused(&repo.metadata()?, &repo.sources()?));
    println!("deps: {} packages, {} violations", packages.len(), found.len());
    for sentence in &found {
        println!("  {sentence}");
    }
    Ok(Verdict::of(found.is_empty()))
}

fn licences(packages: &BTreeSet<Package>) -> Vec<String> {
    let others = packages.iter().filter(|p| !licence::allowed(&p.licence));
    let sentence = |p: &Package| {
        format!("{} {}: licence `{}` is not on the list", p.name, p.version, p.licence)
    };
    others.map(sentence).collect()
}

fn refused(packages: &BTreeSet<Package>) -> Vec<String> {
    let back = REFUSED.iter().filter(|(name, _)| packages.iter().any(|p| p.name == *name));
    back.map(|(name, reason)| format!("{name}: refused, {reason}")).collect()
}

fn duplicates(packages: &BTreeSet<Package>) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    let twice = versions.iter().filter(|(name, v)| v.len() > 1 && !TOLERATED_TWICE.contains(name));
    twice.map(|(name, v)| format!("{name}: {} versions: {}", v.len(), v.join(", "))).collect()
}

fn unused(metadata: &Metadata, sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for member in &metadata.members {
        let own: Vec<&Source> = sources.iter().filter(|s| s.krate() == member.name).collect();
        for dependency in &member.dependencies {
            let name = dependency.name.replace('-', "_");
            if !own.iter().any(|s| s.has_word(&name)) {
                found.push(format!("{}: no line uses {}", member.name, dependency.name));
            }
        }
    }
    found
}
