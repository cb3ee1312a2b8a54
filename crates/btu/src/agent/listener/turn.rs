//! The agent's side of its listener: whose run is recorded, from its preparation until its packets are
//! handed over.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::net::IpAddr;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::process::Stdio;

use btu_control::agent::Event;
use btu_control::agent::WorkerId;
use btu_control::frame::Chunk;
use btu_control::line;
use btu_control::message::Answer;
use btu_control::message::Which;
use btu_control::policy::Policy;
use btu_sys::wait::Waiter;

use super::Order;
use crate::agent::worker::doorway::Ends;
use crate::agent::workers::Word;
use crate::agent::workers::Worker;
use crate::exit::Failure;
use crate::output;

/// The listener's process, or why there is none, and the run that it records.
pub(in crate::agent) struct Listener {
    process: Result<Worker, String>,
    turn: Option<Turn>,
    /// Those whose run was not recorded because another one was.
    late: BTreeSet<WorkerId>,
    /// Turns so far: what is said in one is never taken for a word of another.
    turns: u64,
}

/// One run that is recorded.
struct Turn {
    number: u64,
    worker: WorkerId,
    run: Which,
    /// The conductor's host.
    remote: IpAddr,
    /// Where the worker listens: one connection comes to each.
    local: Vec<SocketAddr>,
    /// Those that the worker let in.
    connections: Vec<Ends>,
    /// The worker's answer, until the listener listens.
    held: Option<Answer>,
    /// Why it does not.
    failed: Option<String>,
    /// The number of the request for the packets.
    asked: Option<u64>,
    /// Whether it was answered, and what is still to come of the document.
    answered: bool,
    left: u64,
}

impl Listener {
    /// Starts it, where some peer may have packets. Where it cannot listen the agent works without.
    pub(in crate::agent) fn start(policy: &Policy) -> Result<Self, Failure> {
        let late = BTreeSet::new();
        let of = |process| Self { process, turn: None, late, turns: 0 };
        if !policy.classes.iter().any(|class| class.capture) {
            return Ok(of(Err("policy: capture = false".to_owned())));
        }
        let process = launch().map_err(not_started)?;
        if let Err(reason) = &process {
            output::message(&format!(
                "no packets of unimpaired cases are recorded: {reason} (they need CAP_NET_RAW; with \
                 capture = false in the policy nothing is tried)"
            ));
        }
        Ok(of(process))
    }

    /// Its words end a wait of this.
    pub(in crate::agent) fn wakes(&self, waiter: &Waiter) -> btu_sys::Result<()> {
        self.process.as_ref().map_or(Ok(()), |process| waiter.add(process))
    }

    /// The run that a worker prepares now is to be recorded.
    pub(in crate::agent) fn expect(
        &mut self,
        worker: WorkerId,
        run: Which,
        remote: Option<IpAddr>,
    ) {
        if self.turn.as_ref().is_some_and(|turn| turn.worker != worker) {
            self.late.insert(worker);
            return;
        }
        let Some(remote) = remote else { return };
        self.turns += 1;
        self.turn = Some(Turn::new(self.turns, worker, run, remote));
    }

    /// Nothing of this worker is recorded any more.
    pub(in crate::agent) fn forget(&mut self, worker: WorkerId) {
        self.late.remove(&worker);
        if self.turn.as_ref().is_some_and(|turn| turn.worker == worker) {
            self.turn = None;
            self.tell(&Order::End {});
        }
    }

    /// What a worker said; nothing where that has to wait until the listener listens.
    pub(in crate::agent) fn answered(
        &mut self,
        worker: WorkerId,
        answer: Answer,
    ) -> Option<Answer> {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.worker == worker) else {
            return Some(answer);
        };
        match &answer {
            Answer::Prepared { which, addresses } if turn.is_of(*which) && self.process.is_ok() => {
                let (number, local, remote) = (turn.number, addresses.clone(), turn.remote);
                turn.local.clone_from(&local);
                turn.held = Some(answer);
                self.tell(&Order::Begin { turn: number, local, remote });
                None
            }
            Answer::Connected { which, local, remote } if turn.admits(*which, *remote) => {
                turn.connections.push([*local, *remote]);
                Some(answer)
            }
            _ => Some(answer),
        }
    }

    /// The packets of a worker's run are asked for; the error says why there are none.
    pub(in crate::agent) fn hand(&mut self, worker: WorkerId, seq: u64) -> Result<(), String> {
        self.process.as_ref().map_err(Clone::clone)?;
        if self.late.remove(&worker) {
            return Err(ANOTHER.to_owned());
        }
        let turn = self.turn.as_mut().filter(|turn| turn.worker == worker);
        let turn = turn.ok_or_else(|| "no packets of it were recorded".to_owned())?;
        if let Some(reason) = turn.failed.take() {
            self.turn = None;
            return Err(reason);
        }
        turn.asked = Some(seq);
        let (number, connections) = (turn.number, std::mem::take(&mut turn.connections));
        self.tell(&Order::Hand { turn: number, connections });
        Ok(())
    }

    /// What it said since the last time, as words of the worker whose run it records.
    pub(in crate::agent) fn hear(&mut self) -> Vec<Event> {
        let Ok(process) = &mut self.process else { return Vec::new() };
        let words = process.hear();
        words.into_iter().filter_map(|word| self.heard(word)).collect()
    }

    fn heard(&mut self, word: Word) -> Option<Event> {
        let event = match word {
            Word::Answer(answer) => {
                let turn = self.turn.as_mut()?;
                (answer.seq() == Some(turn.number)).then(|| turn.heard(answer))?
            }
            Word::Piece(chunk) => {
                let turn = self.turn.as_mut().filter(|turn| turn.number == chunk.document)?;
                turn.passed(chunk)
            }
            Word::Ended(how) => self.ended(&how),
        };
        // Whoever has its packets does not keep others from theirs.
        if self.turn.as_ref().is_some_and(Turn::is_over) {
            self.turn = None;
        }
        event
    }

    /// The agent goes on without it, and says so once.
    fn ended(&mut self, how: &str) -> Option<Event> {
        let reason = format!("the listener ended: {how}");
        output::message(&format!("no packets of unimpaired cases are recorded: {reason}"));
        self.process = Err(reason.clone());
        let turn = self.turn.as_mut()?;
        turn.heard(Answer::Failed { seq: turn.number, reason })
    }

    /// Sends what the channel takes.
    pub(in crate::agent) fn flush(&mut self) {
        if let Ok(process) = &mut self.process {
            process.flush();
        }
    }

    /// True where orders wait for room in the channel.
    pub(in crate::agent) fn wants_write(&self) -> bool {
        self.process.as_ref().is_ok_and(Worker::wants_write)
    }

    fn tell(&mut self, order: &Order) {
        if let Ok(process) = &mut self.process {
            process.tell(order);
        }
    }
}

impl Turn {
    const fn new(number: u64, worker: WorkerId, run: Which, remote: IpAddr) -> Self {
        Self {
            number,
            worker,
            run,
            remote,
            local: Vec::new(),
            connections: Vec::new(),
            held: None,
            failed: None,
            asked: None,
            answered: false,
            left: 0,
        }
    }

    fn is_of(&self, which: Which) -> bool {
        (which.run, which.attempt) == (self.run.run, self.run.attempt)
    }

    /// Whatever a worker says: a conductor gets what its own host sent and was sent, and of no more
    /// connections than were prepared.
    fn admits(&self, which: Which, remote: SocketAddr) -> bool {
        self.is_of(which)
            && remote.ip().to_canonical() == self.remote.to_canonical()
            && self.connections.len() < self.local.len()
    }

    /// Its packets were asked for, and nothing of the answer is still to come.
    const fn is_over(&self) -> bool {
        self.asked.is_some() && self.answered && self.left == 0
    }

    /// A word of this turn, as the worker's.
    fn heard(&mut self, answer: Answer) -> Option<Event> {
        let worker = self.worker;
        let asked = self.asked;
        let said = match answer {
            Answer::Failed { reason, .. } if asked.is_none() => {
                self.failed = Some(reason);
                self.held.take()?
            }
            Answer::Failed { reason, .. } => {
                self.answered = true;
                Answer::Failed { seq: asked?, reason }
            }
            Answer::Document { length, moved_bytes, account, .. } => {
                (self.answered, self.left) = (true, length);
                Answer::Document { seq: asked?, length, moved_bytes, account }
            }
            _ => self.held.take()?,
        };
        Some(Event::Answered { worker, answer: said })
    }

    /// A piece of its document, as the worker's.
    fn passed(&mut self, chunk: Chunk) -> Option<Event> {
        self.left = self.left.saturating_sub(chunk.bytes.len() as u64);
        let chunk = Chunk { document: self.asked?, ..chunk };
        Some(Event::Piece { worker: self.worker, chunk })
    }
}

/// The process; the inner error is why it cannot listen.
fn launch() -> std::io::Result<Result<Worker, String>> {
    let (ours, theirs) = UnixStream::pair()?;
    let output = theirs.try_clone()?;
    let mut command = Command::new("/proc/self/exe");
    command.args(["agent", "listener", "--parent", &std::process::id().to_string()]);
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    command.stdout(Stdio::from(OwnedFd::from(output)));
    let child = command.spawn()?;
    // The command holds the other end until it is dropped.
    drop(command);
    let made: Result<(), String> = line::hear(&mut BufReader::new(&ours))
        .unwrap_or_else(|error| Err(format!("the listener ended: {error}")));
    let worker = Worker::of_process(child, ours)?;
    Ok(made.map(|()| worker))
}

/// It is this program once more, which only `/proc` can tell.
fn not_started(cause: std::io::Error) -> Failure {
    let is_missing = cause.kind() == std::io::ErrorKind::NotFound;
    let cause = anyhow::Error::new(cause).context("start the listener by /proc/self/exe");
    let failure = Failure::environment(cause);
    if is_missing { failure.hint("mount /proc: mount -t proc proc /proc") } else { failure }
}

const ANOTHER: &str = "the agent is shared, and packets of another conductor were being recorded";

#[cfg(test)]
mod tests {
    use btu_core::units::Bytes;

    use super::*;

    #[test]
    fn a_listener_that_cannot_start_without_proc_says_so() {
        let told = not_started(std::io::ErrorKind::NotFound.into());
        assert!(told.cause.to_string().contains("/proc/self/exe"), "{told:?}");
        assert!(told.remedy().is_some_and(|remedy| remedy.starts_with("mount /proc")));
        assert_eq!(not_started(std::io::Error::other("so")).remedy(), None);
    }

    const FIRST: WorkerId = WorkerId(1);
    const SECOND: WorkerId = WorkerId(2);
    const RUN: Which = Which { run: 3, attempt: 1, seq: 7 };
    const REMOTE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 4, 1));

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn answered(event: Option<Event>, of: WorkerId) -> Answer {
        match event {
            Some(Event::Answered { worker, answer }) if worker == of => answer,
            other => panic!("no answer of it: {other:?}"),
        }
    }

    #[test]
    fn a_turn_is_one_run_s_until_its_packets_are_handed_over() {
        let (ours, _process) = UnixStream::pair().unwrap();
        let process = Ok(Worker::of_another(ours).unwrap());
        let mut listener = Listener { process, turn: None, late: BTreeSet::new(), turns: 0 };
        listener.expect(FIRST, RUN, Some(REMOTE));
        let addresses = ["10.0.4.7:7420", "10.0.4.7:7421"].map(at).to_vec();
        let prepared = Answer::Prepared { which: RUN, addresses };
        assert_eq!(listener.answered(FIRST, prepared.clone()), None, "before the listener listens");
        // Another conductor's run is told that it is not recorded, and why.
        listener.expect(SECOND, RUN, Some(REMOTE));
        assert_eq!(listener.hand(SECOND, 1), Err(ANOTHER.to_owned()));
        let which = Which { seq: 1, ..Which::default() };
        let begun = Word::Answer(Answer::Prepared { which, addresses: Vec::new() });
        assert_eq!(answered(listener.heard(begun), FIRST), prepared);
        // However many a worker says there were, and from wherever.
        for remote in ["10.0.4.2:1", "10.0.4.1:1", "10.0.4.1:2", "10.0.4.1:3", "10.0.4.1:4"] {
            let (local, remote) = (at("10.0.4.7:7420"), at(remote));
            let word = Answer::Connected { which: RUN, local, remote };
            assert!(listener.answered(FIRST, word).is_some());
        }
        let known: Vec<u16> = listener
            .turn
            .iter()
            .flat_map(|turn| &turn.connections)
            .map(|ends| ends[1].port())
            .collect();
        assert_eq!(known, [1, 2]);
        listener.hand(FIRST, 9).unwrap();
        let document =
            Answer::Document { seq: 1, length: 5, moved_bytes: Bytes::ZERO, account: None };
        let told = answered(listener.heard(Word::Answer(document)), FIRST);
        assert_eq!(told.seq(), Some(9));
        for (offset, bytes) in [(0, vec![1; 3]), (3, vec![1; 2])] {
            assert!(listener.turn.is_some(), "before its last piece");
            let chunk = Chunk { document: 1, offset, bytes };
            let Some(Event::Piece { worker: FIRST, chunk }) = listener.heard(Word::Piece(chunk))
            else {
                panic!("no piece")
            };
            assert_eq!((chunk.document, chunk.offset), (9, offset));
        }
        listener.expect(SECOND, RUN, Some(REMOTE));
        assert_eq!(listener.turn.as_ref().map(|turn| turn.worker), Some(SECOND));
        listener.heard(Word::Ended("signal: 9".to_owned()));
        assert_eq!(listener.hand(SECOND, 2), Err("the listener ended: signal: 9".to_owned()));
    }
}
