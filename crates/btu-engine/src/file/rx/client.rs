//! A client of Rx as a session: its process does all errands in a row, and the session hands them out one by one.
//!
//! Between two calls nobody waits for a word of another process, which would be measured as Rx's.

use std::collections::VecDeque;

use btu_core::file::sample::Sent;
use btu_core::units::Bytes;
use btu_sys::socket;

use super::process::Process;
use super::process::ipv4;
use super::words::Begin;
use super::words::Calling;
use super::words::Order;
use super::words::Times;
use super::words::Word;
use crate::error::EngineError;
use crate::file::Errand;
use crate::file::Moments;
use crate::file::Opening;
use crate::file::Session;
use crate::file::Visit;

/// A process that has reached its server.
#[derive(Debug)]
pub(in crate::file) struct Client {
    process: Process,
    errand: Errand,
    opening: Opening,
    /// Done, and not handed out.
    done: VecDeque<Times>,
    /// Why nothing more is done.
    fault: Option<EngineError>,
    /// Bytes of which somebody has heard.
    moved: Bytes,
    sent: Option<Sent>,
}

impl Client {
    pub(in crate::file) fn open(visit: &Visit) -> Result<Self, EngineError> {
        let errand = visit.errand.clone();
        let order = Order::Call(Calling { server: ipv4(visit.server)?, errand: errand.clone() });
        let mut process = Process::start(visit.program.as_deref(), &visit.sockets, &order)?;
        socket::bound_waits(process.socket(), visit.patience)?;
        let connect_ns = match process.hear()? {
            Word::Ready(took) => took,
            other => return Err(unexpected(&other)),
        };
        let opening = Opening { connect_ns, auth_ns: None };
        let done = VecDeque::new();
        Ok(Self { process, errand, opening, done, fault: None, moved: Bytes::ZERO, sent: None })
    }

    /// Lets the process do all its errands, and hears of them.
    fn work(&mut self, moments: &Moments<'_>) -> Result<(), EngineError> {
        self.process.channel.say(&Begin)?;
        loop {
            match self.process.hear()? {
                Word::Moved(total) => self.note(total, moments),
                Word::Done(some) => self.done.extend(some),
                Word::Ended(sent) => {
                    self.sent = sent;
                    return Ok(());
                }
                other => return Err(unexpected(&other)),
            }
        }
    }

    fn note(&mut self, total: Bytes, moments: &Moments<'_>) {
        moments.moved_elsewhere(total.saturating_sub(self.moved));
        self.moved = total;
    }
}

impl Session for Client {
    fn opening(&self) -> Opening {
        self.opening
    }

    fn run(&mut self, _number: u32, moments: &mut Moments<'_>) -> Result<Bytes, EngineError> {
        if self.done.is_empty() && self.fault.is_none() {
            self.fault = self.work(moments).err();
        }
        // What was done before something failed was done.
        match (self.done.pop_front(), self.fault.take()) {
            (Some(times), fault) => {
                self.fault = fault;
                moments.seen_elsewhere(times);
                Ok(self.errand.bytes())
            }
            (None, Some(fault)) => Err(fault),
            (None, None) => Err(unexpected(&Word::Ended(self.sent))),
        }
    }

    fn sent(&self) -> Option<Sent> {
        self.sent
    }

    fn close(mut self: Box<Self>) -> Result<(), EngineError> {
        let leave = socket::close_sending(self.process.socket());
        leave.map_err(EngineError::peer("take leave of a process of Rx"))?;
        match self.process.channel.hear::<Word>()? {
            None => Ok(()),
            Some(other) => Err(unexpected(&other)),
        }
    }
}

fn unexpected(word: &Word) -> EngineError {
    EngineError::Refused(format!("the process of Rx said {word:?} out of turn"))
}
