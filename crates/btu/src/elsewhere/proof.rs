//! What a host under test stands for of a result that is not at its end: each step is told with its
//! signature over all that was told, so that it knows its own runs when somebody goes on with them.

use std::collections::BTreeMap;

use btu_control::HostId;
use btu_control::Identity;
use btu_core::journal::file;
use btu_core::manifest::Covers;
use btu_core::manifest::Manifest;
use btu_core::manifest::Signature;
use btu_core::manifest::signatures_json;
use btu_core::role::Role;
use btu_report::MANIFEST;
use btu_report::SIGNATURES;
use serde::Deserialize;
use serde::Serialize;

use crate::sign;

/// The files of a result, by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A manifest of what was told, and who signed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proof {
    manifest: String,
    signatures: Vec<Signature>,
}

/// Files that grow line by line.
pub(crate) const APPENDED: [&str; 2] = [file::EVENTS, file::SAMPLES];
/// Files that are written as a whole.
pub(crate) const WHOLE: [&str; 3] = [file::HOSTS, file::PLAN_GIVEN, file::PLAN];

impl Proof {
    /// Of what this host has told.
    pub(crate) fn of(told: &Files, own: &Identity) -> Self {
        let files = told.iter().map(|(name, content)| (name.as_str(), content.as_slice()));
        let manifest = Manifest::of(sign::PROGRAM, files).to_json();
        let signatures = vec![sign::whole(own, Role::Test.name(), &manifest)];
        Self { manifest, signatures }
    }

    /// Adds it to the files of a bundle, under the names that every result has for it.
    pub(crate) fn join(&self, files: &mut Files) {
        files.insert(MANIFEST.to_owned(), self.manifest.clone().into_bytes());
        files.insert(SIGNATURES.to_owned(), signatures_json(&self.signatures).into_bytes());
    }

    /// Takes it out of the files of a bundle or of a result; `None` where there is none.
    pub(crate) fn part(files: &mut Files) -> Option<Self> {
        let (manifest, signatures) = (files.remove(MANIFEST)?, files.remove(SIGNATURES)?);
        let manifest = String::from_utf8(manifest).ok()?;
        Some(Self { manifest, signatures: serde_json::from_slice(&signatures).ok()? })
    }

    /// The part of these files that `host` told and stands for, and behind it the events with which its
    /// conductor ended the test; the error says what is not as it was told.
    pub(crate) fn proved(&self, files: &Files, host: HostId) -> Result<Files, String> {
        let signed = |one: &Signature| {
            one.covers == Covers::Manifest && sign::holds(one, host, self.manifest.as_bytes())
        };
        if !self.signatures.iter().any(signed) {
            return Err(format!("not signed by the host under test, {}", host.brief()));
        }
        let mut manifest = Manifest::parse(self.manifest.as_bytes())?;
        manifest.files.retain(|name, _| is_kept(name));
        let mut part = Files::new();
        for (name, entry) in &manifest.files {
            let content = files.get(name).map_or(&[][..], Vec::as_slice);
            let told = usize::try_from(entry.bytes).unwrap_or(usize::MAX);
            let is_longer = APPENDED.contains(&name.as_str()) && content.len() > told;
            let end = if is_longer { told } else { content.len() };
            part.insert(name.clone(), content[..end].to_vec());
        }
        if let Some(first) = manifest.deviations(|name| part.get(name).map(Vec::as_slice)).first() {
            return Err(format!("{}: {}", first.place, first.detail));
        }
        add_ends(&mut part, files);
        Ok(part)
    }
}

/// True for a file that a result has while it is made.
pub(crate) fn is_kept(name: &str) -> bool {
    WHOLE.contains(&name) || APPENDED.contains(&name)
}

/// A test that was cut off ends with an event of its conductor, which no other host can tell.
fn add_ends(part: &mut Files, files: &Files) {
    let Some(told) = part.get_mut(file::EVENTS) else { return };
    let Some(more) = files.get(file::EVENTS).and_then(|all| all.get(told.len()..)) else { return };
    for line in more.split_inclusive(|byte| *byte == b'\n').filter(|line| is_end(line)) {
        told.extend_from_slice(line);
    }
}

fn is_end(line: &[u8]) -> bool {
    let event = serde_json::from_slice::<btu_core::journal::EventRecord>(line);
    line.ends_with(b"\n") && event.is_ok_and(|one| one.cuts())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: &str = "{\"at\":\"x\",\"event\":\"agent_lost\",\"detail\":\"gone\"}\n";

    fn files(samples: &str, events: &str) -> Files {
        let all = [("plan.toml", "seed = 7\n"), ("samples.jsonl", samples), (file::EVENTS, events)];
        all.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into()
    }

    #[test]
    fn what_was_told_is_known_again_with_the_conductors_end_and_nothing_else() {
        let own = Identity::ephemeral().unwrap();
        let told = files("1\n2\n", "a\n");
        let proof = Proof::of(&told, &own);
        assert_eq!(proof.proved(&told, own.id()), Ok(told.clone()));
        // A line that came without its proof is not known, nor is an event that a conductor does not add.
        let more =
            files("1\n2\n3\n", &format!("a\n{{\"event\":\"finished\"}}\n{LOST}{}", &LOST[..9]));
        assert_eq!(proof.proved(&more, own.id()), Ok(files("1\n2\n", &format!("a\n{LOST}"))));
        for changed in [files("1\n3\n", "a\n"), files("1\n", "a\n"), files("1\n2\n", "b\n")] {
            assert!(proof.proved(&changed, own.id()).is_err(), "{changed:?}");
        }
        let other = Identity::ephemeral().unwrap();
        let why = proof.proved(&told, other.id()).unwrap_err();
        assert!(why.starts_with("not signed by the host under test"), "{why}");
    }

    #[test]
    fn a_proof_travels_with_the_files_of_a_bundle() {
        let own = Identity::ephemeral().unwrap();
        let mut all = files("1\n", "a\n");
        let proof = Proof::of(&all, &own);
        proof.join(&mut all);
        let mut came = btu_report::unpack(&btu_report::pack(&all).unwrap()).unwrap();
        assert_eq!(Proof::part(&mut came), Some(proof));
        assert_eq!(came, files("1\n", "a\n"));
        assert_eq!(Proof::part(&mut came), None);
    }
}
