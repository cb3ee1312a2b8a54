//! The conductor's side of one connection to an agent, as a pure state machine: one question at a
//! time, a deadline in every state, and no word of the agent believed that does not fit.

mod fit;
mod pieces;
mod silence;

use btu_core::units::Nanos;

use crate::HostId;
use crate::frame::Chunk;
use crate::invite::Secret;
use crate::message::Answer;
use crate::message::MAJOR;
use crate::message::MINOR;
use crate::message::Request;
use crate::policy;

use fit::asked;
use fit::misfit;
use fit::name;
use pieces::Pieces;
use pieces::STALL;

pub use silence::Silence;

/// What happened to a conductor's connection.
#[derive(Clone, Debug)]
pub enum ClientEvent {
    /// The conductor asks; the answer may take this long.
    Ask {
        /// What.
        request: Request,
        /// How long.
        patience: Nanos,
        /// Of a test, where each step that is told may take so long: how long all of it may take.
        longest: Option<Nanos>,
    },
    /// A message came.
    Heard(Answer),
    /// The connection is gone, or what came is no message.
    Lost(String),
    /// A piece of a document came.
    Piece(Chunk),
    /// The channel is secure, and the agent's identity is proved.
    Secured {
        /// Who it is.
        agent: HostId,
        /// What is unique to this channel.
        binding: [u8; 32],
    },
    /// Time has passed.
    Tick,
}

/// What a conductor's connection has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientAction {
    /// The question is answered, or the connection is ready for the first.
    Done(Reply),
    /// The connection is of no use any more, and closed.
    Failed(Fault),
    /// The agent works for others; the place in its queue.
    Queued(u32),
    /// The result of a test grew there: keep this before anything else is done.
    Kept(Vec<u8>),
    /// A step of a test is done there.
    Progress(String),
    /// Send a message.
    Send(Request),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The message.
    pub answer: Answer,
    /// The document that came with it; empty where there is none.
    pub document: Vec<u8>,
}

/// Why a connection to an agent is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The agent ended it.
    #[error("the agent ended the connection: {0}")]
    Bye(String),
    /// The agent tells steps, and never the end.
    #[error(
        "no result within {0}, the longest that the test may take, however many steps were told"
    )]
    Endless(Nanos),
    /// It is gone.
    #[error("the connection is gone: {0}")]
    Lost(String),
    /// The agent said what does not fit.
    #[error("the agent does not keep to the protocol: {0}")]
    Lied(String),
    /// It does not do what was asked, because of its policy or because that is beyond its bounds, and will not
    /// the next time.
    #[error("{0}")]
    Refused(String),
    /// The agent said nothing in time.
    #[error("no answer to {0} within {1}")]
    Silent(&'static str, Nanos),
    /// It is another host.
    #[error("another host answers there: {0}")]
    Stranger(HostId),
    /// The agent does not know this host.
    #[error("the agent does not know this host")]
    Unknown,
    /// The versions do not fit.
    #[error("the agent (btu {theirs}) speaks protocol {major}, this is btu {ours} with {MAJOR}")]
    Version {
        /// Of the agent.
        major: u16,
        /// Of the agent, for people.
        theirs: String,
        /// Of this program.
        ours: String,
    },
}

impl Fault {
    /// What an agent refused for this reason, where its policy gave it.
    pub fn by_policy(reason: String) -> Option<Self> {
        policy::speaks_in(&reason).then_some(Self::Refused(reason))
    }

    /// True where the agent's policy is the reason: to try again changes nothing.
    pub fn is_by_policy(&self) -> bool {
        matches!(self, Self::Bye(reason) | Self::Refused(reason) if policy::speaks_in(reason))
    }
}

/// One connection to an agent.
#[derive(Debug)]
pub struct Client {
    agent: HostId,
    join: Option<(Secret, String)>,
    build: String,
    binding: [u8; 32],
    state: State,
    deadline: Nanos,
}

/// What bounds an answer, however many steps are told before it.
#[derive(Clone, Copy, Debug)]
struct Whole {
    longest: Nanos,
    end: Nanos,
}

#[derive(Debug)]
enum State {
    Asked {
        request: Request,
        patience: Nanos,
        whole: Option<Whole>,
    },
    /// What was asked is not answered yet: first comes what a step added to the result.
    Copying {
        asked: Box<Self>,
        text: String,
        pieces: Pieces,
    },
    Joining,
    Over(Fault),
    Ready,
    Receiving {
        answer: Answer,
        pieces: Pieces,
    },
    Securing,
    Welcoming,
}

impl State {
    /// What bounds the answer that is waited for, with all steps before it.
    fn whole(&self) -> Option<Whole> {
        match self {
            Self::Asked { whole, .. } => *whole,
            Self::Copying { asked, .. } => asked.whole(),
            _ => None,
        }
    }
}

impl Client {
    /// A connection that was begun: to this agent, with an invitation and a name where this host is
    /// not known there.
    pub const fn new(
        agent: HostId,
        join: Option<(Secret, String)>,
        build: String,
        now: Nanos,
    ) -> Self {
        let deadline = now.saturating_add(GREETING);
        Self { agent, join, build, binding: [0; 32], state: State::Securing, deadline }
    }

    /// Takes what happened and says what to do. After [`ClientAction::Failed`] every question
    /// fails for the same reason, and nothing else is said.
    pub fn on(&mut self, now: Nanos, event: ClientEvent) -> Vec<ClientAction> {
        if let State::Over(fault) = &self.state {
            let is_asked = matches!(event, ClientEvent::Ask { .. });
            return is_asked.then(|| ClientAction::Failed(fault.clone())).into_iter().collect();
        }
        match event {
            ClientEvent::Ask { request, patience, longest } => {
                self.ask(now, request, patience, longest)
            }
            ClientEvent::Heard(answer) => self.heard(now, answer),
            ClientEvent::Lost(reason) => self.fail(Fault::Lost(reason)),
            ClientEvent::Piece(chunk) => self.piece(now, &chunk),
            ClientEvent::Secured { agent, binding } => self.secured(now, agent, binding),
            ClientEvent::Tick => self.tick(now),
        }
    }

    /// When [`ClientEvent::Tick`] is due; `None` while nobody waits for anything.
    pub const fn wake_at(&self) -> Option<Nanos> {
        match self.state {
            State::Over(_) | State::Ready => None,
            _ => Some(self.deadline),
        }
    }

    /// True where the connection is of no use any more.
    pub const fn is_over(&self) -> bool {
        matches!(self.state, State::Over(_))
    }

    fn secured(&mut self, now: Nanos, agent: HostId, binding: [u8; 32]) -> Vec<ClientAction> {
        if !matches!(self.state, State::Securing) {
            return self.lied("secured twice");
        }
        if agent != self.agent {
            return self.fail(Fault::Stranger(agent));
        }
        self.binding = binding;
        self.enter(State::Welcoming, now, GREETING);
        let hello = Request::Hello { major: MAJOR, minor: MINOR, build: self.build.clone() };
        vec![ClientAction::Send(hello)]
    }

    fn ask(
        &mut self,
        now: Nanos,
        request: Request,
        patience: Nanos,
        longest: Option<Nanos>,
    ) -> Vec<ClientAction> {
        if !matches!(self.state, State::Ready) {
            return self.lied("asked while an answer is due");
        }
        let whole = longest.map(|longest| Whole { longest, end: now.saturating_add(longest) });
        self.state = State::Asked { request: request.clone(), patience, whole };
        self.deadline = step_end(now, patience, whole);
        vec![ClientAction::Send(request)]
    }

    fn heard(&mut self, now: Nanos, answer: Answer) -> Vec<ClientAction> {
        if let Answer::Bye { reason } = answer {
            return self.fail(Fault::Bye(reason));
        }
        if let Some(endless) = self.endless(now).filter(|_| is_step(&answer)) {
            return self.fail(endless);
        }
        match (&self.state, answer) {
            // Answers to pings may come at any time.
            (_, Answer::Pong {}) if !self.asks_ping() => Vec::new(),
            (State::Welcoming, Answer::Welcome { major, build, known, .. }) => {
                self.welcomed(now, major, build, known)
            }
            (State::Joining, Answer::Joined {}) => self.done(Answer::Joined {}, Vec::new()),
            (State::Asked { request: Request::Reserve(_), .. }, Answer::Queued { position }) => {
                self.deadline = now.saturating_add(QUEUE_SILENCE);
                vec![ClientAction::Queued(position), ClientAction::Send(Request::Ping {})]
            }
            (
                State::Asked { request: Request::Test(order), patience, whole },
                Answer::Progress { seq, text, kept_bytes, .. },
            ) if seq == order.seq => {
                if kept_bytes > 0 {
                    return self.copy(now, text, Pieces::of(seq, kept_bytes, now));
                }
                self.deadline = step_end(now, *patience, *whole);
                vec![ClientAction::Send(Request::Ping {}), ClientAction::Progress(text)]
            }
            (State::Asked { request, .. }, answer) => match (misfit(request, &answer), answer) {
                (None, answer) => self.answered(now, answer),
                // What was asked is no message there: it says why.
                (Some(_), Answer::Refused { reason }) => self.fail(Fault::Refused(reason)),
                (Some(misfit), _) => self.lied(&misfit),
            },
            (_, answer) => {
                self.lied(&format!("an answer that nobody asked for ({})", name(&answer)))
            }
        }
    }

    fn asks_ping(&self) -> bool {
        matches!(&self.state, State::Asked { request: Request::Ping {}, .. })
    }

    fn welcomed(
        &mut self,
        now: Nanos,
        major: u16,
        build: String,
        known: bool,
    ) -> Vec<ClientAction> {
        if major != MAJOR {
            let ours = self.build.clone();
            return self.fail(Fault::Version { major, theirs: build, ours });
        }
        let welcome = Answer::Welcome { major, minor: MINOR, build, known };
        match (known, self.join.take()) {
            (true, _) => self.done(welcome, Vec::new()),
            (false, None) => self.fail(Fault::Unknown),
            (false, Some((secret, name))) => {
                self.enter(State::Joining, now, GREETING);
                let proof = secret.proof(&self.binding);
                vec![ClientAction::Send(Request::Join { proof, name })]
            }
        }
    }

    fn answered(&mut self, now: Nanos, answer: Answer) -> Vec<ClientAction> {
        match answer {
            Answer::Document { seq, length, .. } if length > 0 => {
                let pieces = Pieces::of(seq, length, now);
                self.enter(State::Receiving { answer, pieces }, now, STALL);
                Vec::new()
            }
            answer => self.done(answer, Vec::new()),
        }
    }

    fn tick(&mut self, now: Nanos) -> Vec<ClientAction> {
        if self.wake_at().is_none_or(|at| now < at) {
            return Vec::new();
        }
        if let Some(endless) = self.endless(now) {
            return self.fail(endless);
        }
        let (what, patience) = match &self.state {
            State::Asked { request, patience, .. } => (asked(request), *patience),
            State::Receiving { .. } | State::Copying { .. } => ("the rest of a document", STALL),
            _ => ("a greeting", GREETING),
        };
        self.fail(Fault::Silent(what, patience))
    }

    /// Why no further step of a test is heard: it does not come to its end.
    fn endless(&self, now: Nanos) -> Option<Fault> {
        let whole = self.state.whole().filter(|whole| now >= whole.end)?;
        Some(Fault::Endless(whole.longest))
    }

    fn enter(&mut self, state: State, now: Nanos, patience: Nanos) {
        self.state = state;
        self.deadline = now.saturating_add(patience);
    }

    fn done(&mut self, answer: Answer, document: Vec<u8>) -> Vec<ClientAction> {
        self.state = State::Ready;
        vec![ClientAction::Done(Reply { answer, document })]
    }

    fn lied(&mut self, what: &str) -> Vec<ClientAction> {
        self.fail(Fault::Lied(what.to_owned()))
    }

    fn fail(&mut self, fault: Fault) -> Vec<ClientAction> {
        self.state = State::Over(fault.clone());
        vec![ClientAction::Failed(fault)]
    }
}

const fn is_step(answer: &Answer) -> bool {
    matches!(answer, Answer::Progress { .. })
}

/// When a step has to be told, or the answer be there.
fn step_end(now: Nanos, patience: Nanos, whole: Option<Whole>) -> Nanos {
    let end = now.saturating_add(patience);
    whole.map_or(end, |whole| end.min(whole.end))
}

/// For each word of a greeting.
const GREETING: Nanos = Nanos::from_secs(10);
/// One that waits is told its place every 5 s.
const QUEUE_SILENCE: Nanos = Nanos::from_secs(15);
