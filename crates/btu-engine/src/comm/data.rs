//! The data thread of one end: handshake, the timed loop, and what the thread itself can account for.

use std::io;

use btu_core::run::calls::ReadCall;
use btu_core::run::calls::WriteCall;
use btu_core::sample::Hold;
use btu_core::units::Bytes;
use btu_core::words::sentence;
use btu_sys::clock;
use btu_sys::cpu;
use btu_sys::cpu::CpuSet;
use btu_sys::cpu::ThreadUse;
use btu_sys::cpu::Whereabouts;
use btu_sys::descriptors::OwnTable;
use btu_sys::memory::Buffer;
use btu_sys::memory::Pages;

use super::Amount;
use super::calls;
use super::calls::Pen;
use super::end::Account;
use super::end::Part;
use super::end::Shared;
use super::stream::Incoming;
use super::stream::Outgoing;
use crate::lineup::Lineup;
use crate::lineup::Start;
use crate::transport;

/// What a data thread has to do.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub(super) shared: &'a Shared,
    pub(super) part: Part,
    pub(super) message: Bytes,
    pub(super) write_call: WriteCall,
    pub(super) read_call: ReadCall,
    pub(super) amount: Amount,
    /// The CPUs of this thread; empty for those that it was born with.
    pub(super) cpus: CpuSet,
}

/// Which end of the connection this thread serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Far,
    Near,
}

impl Task<'_> {
    /// The whole life of a data thread. Counts itself ready and done, whatever happens.
    pub(super) fn run(&self, side: Side, lineup: &Lineup) -> Account {
        let (call_bytes, write_call) = (self.call_bytes(), self.write_call);
        let hold = if self.cpus.is_empty() { Hold::Free } else { Hold::Pinned };
        let mut account = Account { hold, call_bytes, write_call, ..Account::default() };
        let placed = self.take_place();
        // As the only thread of a process would have it. Without it calls are dearer, and nothing else.
        let _own = OwnTable::keeping(&self.shared.connection).ok();
        let prepared = placed.and_then(|()| self.settle()).and_then(|tools| {
            // Before 'ready': the near end may send as soon as it has heard that.
            account.before = self.shared.connection.tcp_info();
            self.shake_hands(side).map(|()| tools)
        });
        let outcome = match prepared {
            Ok(tools) => self.start_and_work(side, lineup, tools, &mut account),
            Err(cause) => {
                // The other end waits for a word, and would for as long as a handshake may take.
                self.shared.connection.abort();
                lineup.count_ready();
                Err(cause)
            }
        };
        account.fault = outcome.err().map(|fault| sentence(&fault));
        account.options = self.shared.connection.options();
        lineup.count_done();
        account
    }

    /// How many bytes a call asks for.
    fn call_bytes(&self) -> Bytes {
        match self.part {
            Part::Reader => self.read_call.size(self.message),
            Part::Writer => self.message,
        }
    }

    /// Goes to its CPUs, or lets others see where it is.
    fn take_place(&self) -> Result<(), Fault> {
        if self.cpus.is_empty() {
            let here = Whereabouts::of_this_thread();
            let here = here.map_err(|cause| Fault("watch the data thread", other(cause)))?;
            self.shared.whereabouts.get_or_init(|| here);
            return Ok(());
        }
        cpu::pin(&self.cpus).map_err(|cause| Fault("pin the data thread", other(cause)))
    }

    /// Makes what it works with, every page of it present.
    fn settle(&self) -> Result<Tools, Fault> {
        let buffer = Buffer::new(self.call_bytes().len(), OFF_THE_PAGE, Pages::Now);
        let mut buffer = buffer.map_err(|cause| Fault("map a buffer", other(cause)))?;
        buffer.fill(FILL);
        let connection = &*self.shared.connection;
        let tools = match self.part {
            Part::Reader => {
                calls::set_low_water(self.read_call, connection).map(|()| Tools::Space(buffer))
            }
            Part::Writer => Pen::prepare(self.write_call, connection, &buffer)
                .map(|pen| Tools::Message(buffer, pen)),
        };
        tools.map_err(|cause| Fault("prepare its calls", other(cause)))
    }

    /// The far end says that it is there; the near end hears it.
    fn shake_hands(&self, side: Side) -> Result<(), Fault> {
        match side {
            Side::Far => self.say(READY).map_err(|cause| Fault("say ready", cause)),
            Side::Near => self.hear().map_err(|cause| Fault("wait for ready", cause)),
        }
    }

    fn start_and_work(
        &self,
        side: Side,
        lineup: &Lineup,
        tools: Tools,
        account: &mut Account,
    ) -> Result<(), Fault> {
        if side == Side::Near {
            // After 'ready': nobody counts that byte.
            account.before = self.shared.connection.tcp_info();
        }
        line_up(side, lineup)?;
        if (side, self.part) == (Side::Far, Part::Writer) {
            self.hear().map_err(|cause| Fault("wait for the go-ahead", cause))?;
            // Only now is it sure that 'ready' was acknowledged.
            account.before = self.shared.connection.tcp_info();
        }
        let (cpu, used) = (cpu::current(), ThreadUse::now());
        let outcome = match tools {
            Tools::Space(space) => self.read(side, space, account),
            Tools::Message(block, pen) => {
                account.message_file = pen.file();
                self.write(&block, &pen, account)
            }
        };
        account.used = Some(ThreadUse::now().since(&used));
        self.shared.close_diary();
        account.cpus.extend(cpu.into_iter().chain(cpu::current()));
        account.after = self.shared.connection.tcp_info();
        account.unacknowledged = self.shared.connection.unacknowledged();
        outcome
    }

    /// Writes the amount, then waits until the user at the other end has all of it.
    fn write(&self, block: &[u8], pen: &Pen, account: &mut Account) -> Result<(), Fault> {
        let Shared { connection, progress, cue, .. } = self.shared;
        let (messages, observer) = (self.amount.messages(), self.shared);
        let order = Outgoing { block, messages, stop: cue, progress, observer };
        self.shared.mark_start(clock::monotonic_ns());
        let sent = pen.write(&**connection, &order);
        account.messages = progress.bytes() / self.message.count().max(1);
        sent.map_err(|cause| Fault("send", cause))?;
        connection.close_sending().map_err(|cause| Fault("end the stream", cause))?;
        self.hear().map_err(|cause| Fault("wait for the receipt", cause))?;
        account.ended_ns = Some(clock::monotonic_ns());
        Ok(())
    }

    /// Reads to the end of the stream, then gives the receipt.
    fn read(&self, side: Side, mut space: Buffer, account: &mut Account) -> Result<(), Fault> {
        let Shared { connection, progress, cue, first_ns, .. } = self.shared;
        let expected = self.amount.expected(self.message);
        let (space, nearly_over, observer) = (&mut *space, cue, self.shared);
        let order = Incoming { space, expected, nearly_over, progress, observer, first_ns };
        if side == Side::Near {
            self.shared.mark_start(clock::monotonic_ns());
            self.say(GO).map_err(|cause| Fault("give the go-ahead", cause))?;
        }
        let received = calls::read(self.read_call, &**connection, order);
        let received = received.map_err(|cause| Fault("receive", cause))?;
        if expected < u64::MAX && received.bytes < expected {
            return Err(Fault("receive", io::ErrorKind::UnexpectedEof.into()));
        }
        account.ended_ns = (received.last_ns > 0).then_some(received.last_ns);
        self.say(RECEIPT).map_err(|cause| Fault("give the receipt", cause))
    }

    fn say(&self, byte: u8) -> io::Result<()> {
        transport::send_exact(&*self.shared.connection, &[byte])
    }

    fn hear(&self) -> io::Result<()> {
        transport::recv_exact(&*self.shared.connection, &mut [0])
    }
}

/// What a data thread works with.
#[derive(Debug)]
enum Tools {
    /// Room for a read.
    Space(Buffer),
    /// A message, and how it is written.
    Message(Buffer, Pen),
}

/// What a data thread could not do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Fault(&'static str, #[source] io::Error);

/// The far end goes on at the word of its near end, which waits for the common start.
fn line_up(side: Side, lineup: &Lineup) -> Result<(), Fault> {
    match side {
        Side::Far => lineup.count_ready(),
        Side::Near if lineup.wait_for_start() == Start::Given => {}
        Side::Near => return Err(Fault("start", io::Error::other("the run was cancelled"))),
    }
    Ok(())
}

fn other(cause: btu_sys::Error) -> io::Error {
    io::Error::other(cause)
}

const READY: u8 = b'r';
const GO: u8 = b'g';
const RECEIPT: u8 = b'.';
/// Where a buffer starts, one cache line after its page: no allocator gives whole pages to small
/// requests, and a copy between two addresses with equal low 12 bits is slower by an eighth.
const OFF_THE_PAGE: usize = 64;
/// What messages are made of: no zero page, nothing that a link would compress away to less.
const FILL: u8 = 0xb7;
