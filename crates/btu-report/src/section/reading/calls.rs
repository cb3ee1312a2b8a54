//! By which calls messages went, where the plan has others than the editions.

use std::collections::BTreeSet;

use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::role::Role;
use btu_core::run::calls::Calls;
use btu_core::run::calls::MessageFile;
use btu_core::run::calls::WriteCall;

/// How the messages of an application class were written.
pub(super) fn written(calls: Calls) -> &'static str {
    match calls.write {
        WriteCall::Batched => "one write per message, and the kernel waits for full segments.",
        WriteCall::Plain | WriteCall::NoDelay | WriteCall::Sendfile => {
            "one write per message, never batched."
        }
    }
}

/// The calls of this result; none where they are the edition's.
pub(super) fn told(journal: &Journal) -> Option<String> {
    let calls = journal.plan.comm;
    (!calls.is_default()).then(|| sentence(calls, &files(&journal.records)))
}

/// Who sent from what kind of file.
type Files = BTreeSet<(MessageFile, Role)>;

fn files(records: &[Record]) -> Files {
    let cells = records.iter().filter_map(|record| match record {
        Record::Cell(sample) => sample.comm.as_ref(),
        _ => None,
    });
    let senders = cells.flat_map(|comm| &comm.connections).map(|connection| &connection.sender);
    senders.filter_map(|end| Some((end.message_file?, end.role))).collect()
}

fn sentence(calls: Calls, files: &Files) -> String {
    let Calls { write, test_read, black_box_read } = calls;
    let unseen = "; the bits never reached the memory of a user there";
    let unseen = if black_box_read.reaches_the_user() { "" } else { unseen };
    let from = [MessageFile::Disk, MessageFile::Memory].map(|file| origin(files, file)).concat();
    format!(
        "not those of the edition, so never to be compared with a score of it: messages were written by \
         {write}{from}, the host under test read by {test_read}, a black box by {black_box_read}{unseen}."
    )
}

/// Who sent from this kind of file, to follow the name of the call.
fn origin(files: &Files, file: MessageFile) -> String {
    let roles = files.iter().filter(|(kind, _)| *kind == file).map(|(_, role)| role.to_string());
    let roles = roles.collect::<Vec<_>>().join(", ");
    let of = match file {
        MessageFile::Disk => "a file on a disk",
        MessageFile::Memory => "a file in memory, which costs more",
    };
    if roles.is_empty() { roles } else { format!(", at {roles} from {of}") }
}

#[cfg(test)]
mod tests {
    use btu_core::run::calls::ReadCall;

    use super::*;

    #[test]
    fn what_was_sent_from_is_told_of_each_host() {
        let calls = Calls { write: WriteCall::Sendfile, ..Calls::default() };
        let said = |files: &[_]| sentence(calls, &files.iter().copied().collect());
        let disk = (MessageFile::Disk, Role::Test);
        let memory = [Role::Active, Role::Passive].map(|role| (MessageFile::Memory, role));
        assert!(said(&[]).contains("by sendfile, the host"));
        assert!(said(&[disk]).contains("by sendfile, at test from a file on a disk, the host"));
        let both = said(&[memory[1], disk, memory[0]]);
        let told = ", at test from a file on a disk, at active, passive from a file in memory, which costs more, the";
        assert!(both.contains(told), "{both}");
    }

    #[test]
    fn a_reader_that_sees_nothing_is_told() {
        let calls = Calls { black_box_read: ReadCall::Sink, ..Calls::default() };
        assert!(sentence(calls, &Files::new()).ends_with("of a user there."));
        assert!(!sentence(Calls::default(), &Files::new()).contains("never reached"));
    }

    #[test]
    fn only_messages_that_are_not_batched_are_said_not_to_be() {
        let said = |write| written(Calls { write, ..Calls::default() });
        let never = |write| said(write).contains("never batched");
        assert_eq!(WriteCall::ALL.map(never), [true, true, false, true]);
    }
}
