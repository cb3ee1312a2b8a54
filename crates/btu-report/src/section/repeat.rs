//! How a stranger repeats the run: the plan as it was run, and the command.

use btu_core::journal::Journal;
use btu_core::journal::file;
use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::words::shell_word;
use serde_json::Value;

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Level;

/// The command and the plan.
#[derive(Debug)]
pub(super) struct Repeat;

impl Section for Repeat {
    fn name(&self) -> &'static str {
        "repeat"
    }

    fn title(&self) -> &'static str {
        "How to repeat this run"
    }

    fn level(&self) -> Level {
        Level::Appendix
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        let plan = run.journal.plan.to_toml();
        let mut blocks = vec![
            Block::paragraph(
                "The plan below is all that the run was given: edition, matrix, times, link and \
                 the seed of the random order. Save it as plan.toml (it is also in the result's \
                 directory) and give it to the same version of the program:",
            ),
            Block::Code { text: command(run.journal) },
        ];
        if is_remote(run.journal) {
            blocks.push(Block::paragraph(
                "ACTIVE and PASSIVE stand for the agents with these parts, by the names under which \
                 the host under test knows them (btu pair).",
            ));
        }
        if io_directory(run.journal).is_some() {
            blocks.push(Block::paragraph(
                "The activity io worked in the directory after --io-dir; elsewhere, name one on a disk.",
            ));
        }
        blocks.push(Block::details(file::PLAN, vec![Block::Code { text: plan }]));
        blocks
    }
}

/// With everything that the plan does not hold: the agents, the class of what lies between, and where
/// the activity `io` worked.
fn command(journal: &Journal) -> String {
    let mut command = "btu run --plan plan.toml".to_owned();
    if is_remote(journal) {
        command.push_str(" --active ACTIVE");
        let two_peers = |case: &Case| case.flows().iter().any(|flow| flow.peer == Role::Passive);
        if journal.plan.cases.iter().any(two_peers) {
            command.push_str(" --passive PASSIVE");
        }
        command.push_str(" --testbed-class ");
        command.push_str(journal.plan.testbed_class.name());
    }
    if let Some(directory) = io_directory(journal) {
        command.push_str(" --io-dir ");
        command.push_str(&shell_word(directory));
        if placed(journal, "io_in_memory").and_then(Value::as_bool) == Some(true) {
            command.push_str(" --allow-tmpfs");
        }
    }
    command
}

/// Where `io` worked; none where it has not.
fn io_directory(journal: &Journal) -> Option<&str> {
    placed(journal, "io_directory").and_then(Value::as_str).filter(|directory| *directory != ".")
}

fn placed<'j>(journal: &'j Journal, name: &str) -> Option<&'j Value> {
    journal.hosts.placement.get(name).and_then(|fact| fact.value.as_ref())
}

/// Only the local testbed needs no other hosts.
fn is_remote(journal: &Journal) -> bool {
    !journal.plan.testbed_class.is_local()
}
