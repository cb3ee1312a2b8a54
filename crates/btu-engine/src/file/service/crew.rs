//! All clients of a trial, as whoever watches them knows them: none keeps the others waiting for ever.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_core::file::sample::ClientSample;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Phases;
use btu_core::file::sample::Trial;
use btu_core::sample::Flag;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use super::Posted;
use super::STOPPED;
use super::client::Client;
use super::client::Gates;
use super::client::Word;
use super::way::Way;
use crate::error::EngineError;
use crate::file::Errand;
use crate::file::FileProtocol;
use crate::file::Sockets;
use crate::file::Visit;
use crate::file::site::Lodging;
use crate::threads;
use crate::time::now;

/// What all clients are told.
pub(super) struct Terms<'a> {
    pub(super) protocol: &'static dyn FileProtocol,
    pub(super) errand: Errand,
    pub(super) program: Option<&'a Path>,
    pub(super) patience: Nanos,
    /// At a server of others.
    pub(super) lodging: Option<&'a Lodging>,
    pub(super) stop: &'a AtomicBool,
}

/// The clients of a trial. Dropped, it ends those that go on.
pub(super) struct Crew<'a> {
    terms: &'a Terms<'a>,
    members: Vec<Member<'a>>,
    gates: Arc<Gates>,
    words: Receiver<(usize, Word)>,
}

/// A client, as it is known.
struct Member<'a> {
    sample: ClientSample,
    server: &'a Posted,
    sockets: Arc<Sockets>,
    progress: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
    came: Came,
    /// When it had done its errand, or could not.
    done: Option<Nanos>,
    /// What had moved of it at the last look, and since when nothing has.
    seen: u64,
    still_since: Nanos,
    /// Since when its sockets are closed.
    ended: Option<Nanos>,
    /// Why it did not take leave, where it did everything else.
    remark: Option<String>,
}

/// How far a client came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Nowhere,
    ToASession,
    ToItsEnd,
    Home,
}

/// Clients of a trial that never began.
pub(super) fn absent(trial: &Trial, ways: &[Way], reason: &str) -> Vec<ClientSample> {
    let failed = |sample| ClientSample { failure: Some(reason.to_owned()), ..sample };
    each(trial.clients, ways).map(|(way, number)| failed(nobody(way, number))).collect()
}

impl<'a> Crew<'a> {
    /// Starts `clients` for each way; they open their sessions.
    pub(super) fn hire(
        terms: &'a Terms<'a>,
        clients: u32,
        ways: &'a [Way],
        posted: &'a [Posted],
    ) -> Result<Self, EngineError> {
        let (speak, words) = mpsc::channel();
        let mut crew = Self { terms, members: Vec::new(), gates: Arc::default(), words };
        for (way, one) in ways.iter().zip(posted) {
            for number in 1..=clients {
                let member = Member::new(nobody(way, number), one);
                crew.members.push(member);
                crew.start_last(way, &speak)?;
            }
        }
        Ok(crew)
    }

    fn start_last(&mut self, way: &Way, speak: &Sender<(usize, Word)>) -> Result<(), EngineError> {
        let number = self.members.len().saturating_sub(1);
        let Some(member) = self.members.last_mut() else { return Ok(()) };
        let (lodging, errand) = (self.terms.lodging, self.terms.errand.clone());
        let client = Client {
            number,
            protocol: self.terms.protocol,
            place: way.client.place.clone(),
            visit: Visit {
                server: member.server.address,
                settings: way.client.sockets.clone(),
                // Whoever watches is the first to lose it, and says so.
                patience: (self.terms.patience * 2).into(),
                stay: lodging.map(|one| one.stay(member.sample.client, errand.size)),
                errand,
                sockets: Arc::clone(&member.sockets),
                program: self.terms.program.map(Path::to_owned),
            },
            gates: Arc::clone(&self.gates),
            progress: Arc::clone(&member.progress),
            words: speak.clone(),
        };
        member.thread = Some(threads::start("file-client", move || client.attend())?);
        Ok(())
    }

    /// Until every client has a session, or none to hope for.
    pub(super) fn await_sessions(&mut self) {
        self.gather(Came::ToASession);
    }

    /// Releases all, and waits until each has done its errand, or will not. Returns when the last one had.
    pub(super) fn work(&mut self, released: Nanos) -> Nanos {
        self.gates.begin.open(released);
        self.gather(Came::ToItsEnd);
        let noticed = now();
        let done = self.members.iter().map(|member| member.done.unwrap_or(noticed));
        done.max().unwrap_or(noticed)
    }

    /// Lets all take leave.
    pub(super) fn dismiss(&mut self) {
        self.gates.leave.open(now());
        self.gather(Came::Home);
    }

    /// What is known of each client, and remarks.
    pub(super) fn told(&mut self) -> (Vec<ClientSample>, Vec<Flag>) {
        let remarks = self.members.iter_mut().filter_map(|member| {
            let (client, remark) = (member.sample.client, member.remark.take()?);
            Some(Flag::new("teardown", format!("client {client}: {remark}")))
        });
        let remarks = remarks.collect();
        (self.members.iter().map(Member::told).collect(), remarks)
    }

    fn gather(&mut self, aim: Came) {
        let begun = now();
        self.members.iter_mut().for_each(|member| member.still_since = begun);
        while self.members.iter().any(|member| member.is_awaited(aim)) {
            match self.words.recv_timeout(GLANCE) {
                Ok((number, word)) => self.members[number].hear(word),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.look(aim);
        }
    }

    /// Ends who has moved nothing for too long, and everybody where everything is to stop.
    fn look(&mut self, aim: Came) {
        let stops = self.terms.stop.load(Relaxed);
        for member in self.members.iter_mut().filter(|member| member.is_awaited(aim)) {
            if stops {
                member.end(STOPPED.to_owned());
            } else if member.is_still(self.terms) {
                member.end(self.terms.reproach(member.came));
            }
        }
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        self.gates.begin.call_off();
        self.gates.leave.call_off();
        for member in &mut self.members {
            member.sockets.close();
            // One that does not even heed that is left behind: it holds nothing that anybody needs.
            let thread = member.thread.take().filter(|_| !member.is_lost());
            thread.map(JoinHandle::join);
        }
    }
}

impl Terms<'_> {
    /// What is said of a client that moved nothing for too long.
    fn reproach(&self, came: Came) -> String {
        let (protocol, size) = (self.protocol.name(), self.errand.size);
        let time = self.patience;
        match came {
            Came::Nowhere => format!("{protocol}: no session within {time}"),
            Came::ToASession => format!("hung at {size}: nothing moved for {time}"),
            Came::ToItsEnd | Came::Home => format!("{protocol}: no leave within {time}"),
        }
    }
}

impl<'a> Member<'a> {
    fn new(sample: ClientSample, server: &'a Posted) -> Self {
        Self {
            sample,
            server,
            sockets: Arc::default(),
            progress: Arc::default(),
            thread: None,
            came: Came::Nowhere,
            done: None,
            seen: 0,
            still_since: Nanos::ZERO,
            ended: None,
            remark: None,
        }
    }

    fn hear(&mut self, word: Word) {
        match word {
            Word::Ready(opening) => {
                self.came = Came::ToASession;
                self.sample.phases.connect_ns = Some(opening.connect_ns);
                self.sample.phases.auth_ns = opening.auth_ns;
            }
            Word::Worked(worked) => {
                let Phases { connect_ns, auth_ns, .. } = self.sample.phases;
                self.sample.phases = Phases { connect_ns, auth_ns, ..worked.phases };
                self.sample.took_ns = worked.took_ns;
                self.sample.sent = worked.sent;
                self.done = Some(worked.done);
                self.came = if worked.failure.is_some() { Came::Home } else { Came::ToItsEnd };
                worked.failure.into_iter().for_each(|why| self.blame(why));
            }
            Word::Left(took) => {
                self.came = Came::Home;
                self.sample.phases.teardown_ns = Some(took);
            }
            Word::Failed(why) => {
                self.blame(why);
                self.came = Came::Home;
            }
        }
    }

    /// The first reason is the true one: others follow from it. What was measured before somebody takes leave stays.
    fn blame(&mut self, why: String) {
        if self.came == Came::ToItsEnd {
            self.remark.get_or_insert(why);
        } else {
            self.sample.failure.get_or_insert(why);
        }
    }

    fn end(&mut self, why: String) {
        if self.ended.is_none() {
            self.blame(why);
            self.ended = Some(now());
            self.sockets.close();
        }
    }

    /// True where something can still be heard of it.
    fn is_awaited(&self, aim: Came) -> bool {
        self.came < aim && !self.is_lost()
    }

    /// True where it does not even heed that its sockets are closed.
    fn is_lost(&self) -> bool {
        self.came != Came::Home && self.ended.is_some_and(|at| now().since(at) > GRACE)
    }

    /// True where nothing has moved for longer than anybody waits. What a full send buffer took travels on without a
    /// call of the client: its server sees it come. A client that receives sees every byte itself.
    fn is_still(&mut self, terms: &Terms<'_>) -> bool {
        let own = self.progress.load(Relaxed);
        let moved = match terms.errand.operation {
            Operation::Get => own,
            _ => own.wrapping_add(self.server.moved().count()),
        };
        if moved != self.seen {
            (self.seen, self.still_since) = (moved, now());
        }
        now().since(self.still_since) >= terms.patience
    }

    fn told(&self) -> ClientSample {
        let bytes = Bytes::new(self.progress.load(Relaxed));
        ClientSample { bytes, ..self.sample.clone() }
    }
}

fn each(clients: u32, ways: &[Way]) -> impl Iterator<Item = (&Way, u32)> {
    ways.iter().flat_map(move |way| (1..=clients).map(move |number| (way, number)))
}

/// A client of which nothing is known yet.
fn nobody(way: &Way, number: u32) -> ClientSample {
    ClientSample {
        client: number,
        direction: way.direction,
        bytes: Bytes::ZERO,
        phases: Phases::default(),
        took_ns: Vec::new(),
        sent: None,
        failure: None,
    }
}

/// How long nobody looks around while nothing is heard.
const GLANCE: Duration = Duration::from_millis(20);

/// How long a client takes at most to see that its sockets are closed, on a busy machine.
const GRACE: Nanos = Nanos::from_secs(2);

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use btu_core::file::sample::Direction;

    use super::*;
    use crate::file::Account;
    use crate::file::Served;
    use crate::file::ftp::Ftp;

    /// A server that is busy with others.
    #[derive(Debug, Default)]
    struct Busy(AtomicU64, Account);

    impl Served for Busy {
        fn address(&self) -> SocketAddr {
            ([127, 0, 0, 1], 1).into()
        }

        fn account(&self) -> &Account {
            &self.1
        }

        fn moved(&self) -> Bytes {
            Bytes::new(1 + self.0.fetch_add(1, Relaxed))
        }
    }

    #[test]
    fn a_client_that_receives_nothing_is_still_however_busy_its_server_is() {
        let sample = ClientSample {
            client: 1,
            direction: Direction::AToB,
            bytes: Bytes::ZERO,
            phases: Phases::default(),
            took_ns: Vec::new(),
            sent: None,
            failure: None,
        };
        let server = Posted::own(Box::new(Busy::default()), "ftp", "b");
        let stop = AtomicBool::new(false);
        for (operation, is_still) in [(Operation::Get, true), (Operation::Put, false)] {
            let errand = Errand { operation, size: Bytes::new(1), count: 1, files: Vec::new() };
            let patience = Nanos::from_secs(1);
            let (program, lodging) = (None, None);
            let terms = Terms { protocol: &Ftp, errand, program, patience, lodging, stop: &stop };
            let mut member = Member::new(sample.clone(), &server);
            // Still since the beginning of the clock, longer ago than anybody waits.
            assert_eq!(member.is_still(&terms), is_still, "{operation:?}");
        }
    }
}
