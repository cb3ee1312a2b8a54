//! The proof of what was told, on the disk: with it a test that was cut off is gone on with.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use anyhow::bail;
use btu_control::HostId;
use btu_report::ResultFiles;

use super::proof::Files;
use super::proof::Proof;

/// What `host` told of the test in this directory, and its proof: the last one, whole or announced, or
/// that of a result that it handed over before its end.
pub(super) fn stored(out: &Path, host: HostId) -> anyhow::Result<(Proof, Files)> {
    let files = ResultFiles::read(out)?.all().clone();
    let read = |name: &str| std::fs::read(out.join(name)).ok();
    let told = [read(ANNOUNCED), read(TOLD)].into_iter().flatten();
    let told = told.filter_map(|text| serde_json::from_slice::<Proof>(&text).ok());
    let mut why = "no host under test told what it stands for of it".to_owned();
    for proof in told.chain(Proof::part(&mut files.clone())) {
        match proof.proved(&files, host) {
            Ok(part) => return Ok((proof, part)),
            Err(reason) => why = reason,
        }
    }
    bail!("{}: {why}", out.display())
}

/// A proof is there before the lines that it is of, and in its place when they are, too: whenever this
/// process is killed, one of the two holds.
pub(super) fn announce(out: &Path, proof: &Proof) -> anyhow::Result<()> {
    let path = out.join(ANNOUNCED);
    let written = File::create(&path).and_then(|mut file| {
        file.write_all(&serde_json::to_vec(proof)?)?;
        file.sync_data()
    });
    written.with_context(|| format!("write {}", path.display()))
}

/// All lines that the announced one is of are here.
pub(super) fn settle(out: &Path) -> anyhow::Result<()> {
    let path = out.join(TOLD);
    std::fs::rename(out.join(ANNOUNCED), &path).with_context(|| format!("write {}", path.display()))
}

/// Takes away what only a test that is not at its end needs.
pub(super) fn forget_proofs(out: &Path) {
    for name in [ANNOUNCED, TOLD] {
        drop(std::fs::remove_file(out.join(name)));
    }
}

/// The last proof of which all is here.
const TOLD: &str = "told.json";
/// One of which something may be missing.
const ANNOUNCED: &str = "told.json.new";
