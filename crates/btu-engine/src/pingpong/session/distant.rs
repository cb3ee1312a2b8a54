//! The far end of a session where another host has it: what a thread of this process would be told
//! and would report goes there by word.

use btu_core::pingpong::sample::Fault;
use btu_core::pingpong::schedule::Visit;
use btu_core::units::Nanos;

use super::Opening;
use super::worker::Done;
use super::worker::Side;
use crate::door::Seat;
use crate::error::EngineError;
use crate::pingpong::duty::Answer;
use crate::pingpong::duty::Broken;
use crate::pingpong::host;
use crate::pingpong::host::Account;
use crate::pingpong::host::Host;
use crate::pingpong::host::Told;
use crate::pingpong::host::Word;
use crate::pingpong::transport::Rendezvous;

/// An end on another host.
#[derive(Debug)]
pub(super) struct Distant {
    host: Host,
    connection: u32,
}

impl Distant {
    /// Asks for an end that listens; where it does, and what a connection to it has to know.
    pub(super) fn listen(
        opening: &Opening,
        host: &Host,
    ) -> Result<(Self, Rendezvous, Seat), EngineError> {
        let connection = host.next_connection();
        let word = Word::Listen {
            connection,
            configuration: Box::new(opening.configuration.clone()),
            patience_ns: opening.patience,
            cpus: host.cpus.clone(),
            plant: opening.plant,
        };
        let told = host.say(&word, opening.patience)?;
        let Told::Listening { at } = told else { return Err(host::misfit(&told)) };
        let seat = host.seat(connection);
        Ok((Self { host: host.clone(), connection }, at.into(), seat))
    }

    /// Returns once that end is connected, with what is known of the connection.
    pub(super) fn wait_until_open(&self, patience: Nanos) -> Result<Vec<String>, EngineError> {
        let word = Word::Opened { connection: self.connection };
        match self.host.say(&word, patience)? {
            Told::Open { remarks } => Ok(remarks),
            told => Err(host::misfit(&told)),
        }
    }

    /// Tells it which visit comes; it waits for the first block when this returns.
    pub(super) fn order(
        &self,
        visit: &Visit,
        verify_from: Option<u64>,
        cap: Nanos,
    ) -> Option<Done> {
        let (connection, size_bytes) = (self.connection, visit.size);
        let word = Word::Visit { connection, size_bytes, verify_from };
        match self.host.say(&word, cap) {
            Ok(Told::Ready {}) => None,
            Ok(told) => Some(failed(&host::misfit(&told))),
            Err(cause) => Some(failed(&cause)),
        }
    }

    /// What it saw of the visit; one that broke off here is ended there.
    pub(super) fn over(&self, broken: bool) -> Done {
        let word = Word::Over { connection: self.connection, broken };
        match self.host.say(&word, ENDING) {
            Ok(Told::Over { account }) => done(account),
            Ok(told) => failed(&host::misfit(&told)),
            Err(cause) => failed(&cause),
        }
    }
}

impl Drop for Distant {
    fn drop(&mut self) {
        // A host that is lost has nothing open any more.
        let _ = self.host.say(&Word::Close { connection: self.connection }, ENDING);
    }
}

fn done(account: Account) -> Done {
    let used = account.used();
    let outcome = match account.fault {
        None => Ok(Answer { verified: account.verified, ..Answer::default() }),
        Some((fault, detail)) => Err(Broken::Elsewhere { fault, detail }),
    };
    Done { side: Side::Far, outcome, used, times: Vec::new(), division: None }
}

/// A host that cannot be asked any more is a peer that is gone.
fn failed(cause: &EngineError) -> Done {
    let account =
        Account { fault: Some((Fault::PeerGone, cause.sentence())), ..Account::default() };
    done(account)
}

/// How long an end may take to end, twice over.
const ENDING: Nanos = Nanos::from_secs(5);
