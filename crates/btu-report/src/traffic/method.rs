//! What standard methods found: a table for each kind of finding.

mod frames;
mod probes;
mod transfers;

use btu_core::traffic::course::QOS;
use btu_core::traffic::method;

use super::Seen;
use crate::document::Block;
use crate::document::Column;
use crate::document::Pair;
use crate::document::Table;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let findings = &seen.analysis.findings;
    let mut blocks: Vec<Block> = standard(seen).into_iter().collect();
    blocks.extend(frames::compose(&findings.frames));
    blocks.extend(transfers::compose(findings));
    blocks.extend(probes::compose(seen));
    blocks
}

/// Which text was followed, and how far.
fn standard(seen: &Seen<'_>) -> Option<Block> {
    let course = seen.journal.plan.course.as_ref()?;
    let (method, source) = match method::find(&course.name) {
        Some(method) => (format!("{}: {}", method.name, method.about), method.source),
        None if course.name == QOS => (format!("{QOS}: a sheet of the path"), OF_SHEET),
        None => return None,
    };
    let deviations = seen.analysis.findings.deviations(course);
    let told = if deviations.is_empty() {
        "as the text asks".to_owned()
    } else {
        format!("not conformant: {}", deviations.join("; "))
    };
    Some(Block::Facts {
        rows: vec![
            Pair::new("Method", method),
            Pair::new("Follows", source),
            Pair::new("Effort", told),
        ],
    })
}

fn table(title: String, columns: Vec<Column>, rows: Vec<Vec<String>>) -> Block {
    Block::Table(Table { title, columns, rows, summary_rows: 0 })
}

/// What a sheet follows.
const OF_SHEET: &str = "RFC 9097, RFC 6349 and draft-ietf-ippm-responsiveness, each in part";
