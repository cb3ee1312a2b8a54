//! Level 2: each suspicion, what was made of it, and what to look at.

use btu_core::mesh::analysis::Judged;
use btu_core::mesh::suspect::Suspect;
use btu_core::words::shell_word;

use super::Mesh;
use super::words;
use crate::document::Block;
use crate::document::Column;
use crate::document::Table;
use crate::number;

pub(super) fn compose(mesh: &Mesh<'_>) -> Vec<Block> {
    let judged = &mesh.analysis.judged;
    if judged.is_empty() {
        return Vec::new();
    }
    let plan = &mesh.journal.plan;
    let row = |one: &Judged| {
        vec![
            words::suspect(plan, one.suspicion.suspect),
            number::ratio(one.suspicion.ratio),
            words::verdict(one),
            words::remedy(one.suspicion.suspect).to_owned(),
        ]
    };
    let table = Table {
        title: "What is slow, the slowest first".to_owned(),
        columns: vec![
            Column::left("Who"),
            Column::right("Of what is usual"),
            Column::left("Beside good hosts"),
            Column::left("Look at"),
        ],
        rows: judged.iter().map(row).collect(),
        summary_rows: 0,
    };
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(others(mesh));
    blocks.extend(drained(mesh));
    blocks
}

/// What is not retested.
fn others(mesh: &Mesh<'_>) -> Option<Block> {
    let more = mesh.analysis.suspected.saturating_sub(mesh.analysis.judged.len());
    let told = || {
        format!(
            "{more} more look slow and are not retested: where that many do, look for what they have in common."
        )
    };
    (more > 0).then(|| Block::paragraph(told()))
}

/// The hosts that somebody may want to take out of service, as commands that nobody has run.
fn drained(mesh: &Mesh<'_>) -> Option<Block> {
    let confirmed = mesh.analysis.judged.iter().filter(|one| one.is_confirmed());
    let command = |one: &Judged| {
        let (host, way) = match one.suspicion.suspect {
            Suspect::Host(host) => (host, "host"),
            Suspect::Sender(host) => (host, "tx"),
            Suspect::Receiver(host) => (host, "rx"),
            _ => return None,
        };
        // Whoever wrote the plan wrote this name, and somebody else may run the line.
        let name = shell_word(mesh.journal.plan.hosts.get(host)?);
        let less = (1.0 - one.suspicion.ratio) * 100.0;
        // sinfo -R cuts a reason at 20 characters.
        Some(format!(
            "scontrol update NodeName={name} State=DRAIN Reason=\"btu {way} -{less:.0}%\""
        ))
    };
    let commands: Vec<String> = confirmed.filter_map(command).collect();
    let text = commands.join("\n");
    let block = Block::details("To drain them under Slurm", vec![Block::Code { text }]);
    (!commands.is_empty()).then_some(block)
}
