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
    (
        "suppaftp",
        "regular expressions, twice, and a calendar for a dialogue of one page; the FTP client is ours",
    ),
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
    let metadata = repo.metadata()?;
    found.extend(unused(&metadata, &repo.sources()?));
    found.extend(unclaimed(&repo.read("Cargo.toml")?, &metadata));
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

/// Names under `[workspace.dependencies]` that no crate takes.
fn unclaimed(manifest: &str, metadata: &Metadata) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let names = lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name));
    let taken =
        |name: &str| metadata.members.iter().any(|m| m.dependencies.iter().any(|d| d.name == name));
    names.filter(|name| !taken(name)).map(|name| format!("{name}: no crate takes it")).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Dependency;
    use crate::repo::Member;

    #[test]
    fn a_version_that_no_crate_takes_is_named() {
        let manifest =
            "[workspace.dependencies]\nlibc = \"0.2\"\nnix = \"0.31\"\n\n[profile.dev]\nx = 1\n";
        let dependencies = vec![Dependency { name: "libc".into() }];
        let metadata = Metadata { members: vec![Member { name: "btu-sys".into(), dependencies }] };
        assert_eq!(unclaimed(manifest, &metadata), ["nix: no crate takes it"]);
    }
}
