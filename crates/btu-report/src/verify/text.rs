//! What `btu verify` tells people.

use btu_core::words::several;

use super::Finding;
use super::Signer;
use super::Tier;
use super::UNSIGNED;
use super::Verification;
use crate::document::Block;
use crate::document::Document;
use crate::document::Level;
use crate::document::Pair;
use crate::document::Part;
use crate::format::blocks_as_text;

/// The verdict with every violation, for a terminal.
pub fn verification_text(found: &Verification) -> String {
    let blocks = vec![
        Block::Facts { rows: facts(found) },
        Block::List { items: found.violations.iter().map(violation).collect() },
        Block::paragraph(remedy(found)),
        Block::List { items: found.notes.iter().map(|note| format!("note: {note}")).collect() },
    ];
    let part = Part { name: "verification", title: "", level: Level::Headline, blocks };
    let title = "Verification".to_owned();
    let document = Document { title, caption: String::new(), sections: vec![part] }.cleaned();
    document.sections.iter().map(|part| blocks_as_text(&part.blocks)).collect()
}

fn facts(found: &Verification) -> Vec<Pair> {
    let mut facts = vec![
        Pair::new("Result", &found.result),
        Pair::new("Verdict", verdict(found)),
        Pair::new("Trust", trust(found.tier)),
    ];
    facts.extend(found.signers.iter().map(|signer| Pair::new("Signed", signed(signer))));
    facts.extend(found.manifest_blake3.iter().map(|hash| Pair::new("Manifest", hash)));
    facts
}

fn verdict(found: &Verification) -> String {
    let (figures, samples) = (found.figures, found.samples);
    match found.violations.len() {
        0 => format!("VALID: {figures} figures computed again from {}", several(samples, "sample")),
        some => format!("NOT VALID: {}", several(some, "violation")),
    }
}

fn trust(tier: Tier) -> String {
    let words = tier.words();
    match tier {
        Tier::AllRolesSigned => format!("{words}: each host stands for what it measured"),
        Tier::SelfSigned => format!("{words}: says who, not that it is true"),
        Tier::Unsigned => format!("{words}: nobody stands for it"),
    }
}

fn signed(signer: &Signer) -> String {
    let doubt = if signer.holds { "" } else { " DOES NOT HOLD" };
    format!("{} of {} by {}{doubt}", signer.covers, signer.role, signer.id)
}

/// What can be done where nobody stands for a result; empty where somebody does.
fn remedy(found: &Verification) -> &'static str {
    let is_unsigned = found.violations.iter().any(|finding| finding.rule == UNSIGNED);
    if is_unsigned { "A result that nobody signed is accepted with --allow-unsigned." } else { "" }
}

fn violation(finding: &Finding) -> String {
    format!("{}: {}: {}", finding.rule, finding.place, finding.detail)
}
