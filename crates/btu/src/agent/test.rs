//! This host under test, driven from elsewhere: a process of its own that runs what it is told against
//! the black boxes that it is told, in this host's name, and hands the result back.

use std::io;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;

use anyhow::Context;
use anyhow::anyhow;
use btu_control::frame::Frame;
use btu_control::frame::FrameLimits;
use btu_control::frame::FrameReader;
use btu_control::message::Answer;
use btu_control::message::Bounded;
use btu_control::message::Request;
use btu_control::message::TestOrder;
use btu_sys::process;

use super::StateArgs;
use super::confine;
use super::given::Given;
use super::growth::Growth;
use super::worker::Heard;
use super::worker::doorway::Output;
use super::worker::each_request;
use crate::elsewhere::proof::Files;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Told;
use crate::run::ordered;
use crate::run::ordered::Measured;
use crate::run::ordered::Site;
use crate::state::StateDir;
use crate::traffic;
use crate::traffic::remote::words;

/// What the agent tells it when it starts it.
#[derive(Debug, clap::Args)]
pub(super) struct TestArgs {
    /// The process that started it
    #[arg(long)]
    parent: u32,
    /// The agent's state: the identity of this host, and room for the result
    #[arg(long)]
    state: PathBuf,
    /// Where the agent listens for it
    #[arg(long)]
    connect: PathBuf,
    /// Where its policy wants the files of the test
    #[arg(long)]
    scratch: Option<PathBuf>,
}

/// Does what it is told until the agent is gone.
pub(super) fn test(args: &TestArgs) -> Result<Exit, Failure> {
    process::die_with_parent(args.parent)
        .and_then(|()| process::give_up_rights())
        .context("confine the test")
        .map_err(Failure::environment)?;
    let state = StateDir::open(&StateArgs { state: Some(args.state.clone()) })?;
    let agent = UnixStream::connect(&args.connect).map_err(Failure::environment)?;
    let mut said = agent.try_clone().map_err(Failure::environment)?;
    let scratch = args.scratch.as_deref();
    let words = agent.try_clone().map_err(Failure::environment)?;
    let driver = Arc::new(Mutex::new(Driver::heard_on(words)));
    let agent = Output::new(agent);
    let mut given = Given::default();
    each_request(&mut said, &mut |heard| match heard {
        Heard::Nothing => Ok(()),
        Heard::Order(Request::Test(order)) => {
            let told = given.told(&state, &order);
            run(&Site { state: &state, scratch }, &order, told, &agent, &driver)
        }
        Heard::Order(Request::Given { seq, offset, piece }) => {
            agent.say(&given.take(seq, offset, &piece), &[])
        }
        Heard::Order(other) => {
            let (seq, reason) = (other.seq().unwrap_or_default(), NO_WORK.to_owned());
            agent.say(&Answer::Failed { seq, reason }, &[])
        }
    })
}

fn run(
    site: &Site<'_>,
    order: &TestOrder,
    before: Result<Files, Failure>,
    agent: &Output,
    driver: &Arc<Mutex<Driver>>,
) -> anyhow::Result<()> {
    let measured = before.and_then(|before| {
        let own = site.state.identity()?;
        let growth = Growth::of(site.state.test_folder(), own, before);
        measured(site, order, &telling(order, growth, agent, driver))
    });
    site.state.clear_test();
    let seq = order.seq;
    let (answer, document) = match measured {
        Ok(result) => {
            let (length, moved_bytes) = (result.bundle.len() as u64, result.moved);
            (Answer::Document { seq, length, moved_bytes, account: None }, result.bundle)
        }
        Err(failure) => {
            let reason = shortened(&format!("{:#}", failure.cause));
            (Answer::Failed { seq, reason }, Vec::new())
        }
    };
    agent.say(&answer, &document)
}

fn measured(site: &Site<'_>, order: &TestOrder, told: &Told) -> Result<Measured, Failure> {
    match order.service.as_deref() {
        None => ordered::run(site, order, told),
        Some(words::SERVICE) => confine::bound_memory()
            .map_err(Failure::environment)
            .and_then(|()| traffic::remote::ordered::run(site.state, order, told)),
        Some(other) => Err(Failure::usage(anyhow!("no test here uses the service {other}"))),
    }
}

/// Tells each step, with what the result grew by where that is wanted, and waits until it was heard.
fn telling(order: &TestOrder, growth: Growth, agent: &Output, driver: &Arc<Mutex<Driver>>) -> Told {
    let seq = order.seq;
    let (way, driver) = (agent.clone(), Arc::clone(driver));
    let growth = order.copies.then(|| Mutex::new(growth));
    Told::new(move |step, moved_bytes| {
        let text = step.map(shortened);
        let is_step = text.is_some();
        let grown = growth
            .as_ref()
            .filter(|_| is_step)
            .and_then(|growth| growth.lock().unwrap_or_else(PoisonError::into_inner).taken());
        let grown = grown.unwrap_or_default();
        let kept_bytes = grown.len() as u64;
        let step = |text| Answer::Progress { seq, text, moved_bytes, kept_bytes };
        let said = way.say(&text.map_or(Answer::Moved { moved_bytes }, step), &grown);
        if is_step {
            // Who drives this may be lost: what goes on ends by itself, and nothing else begins.
            let mut driver = driver.lock().unwrap_or_else(PoisonError::into_inner);
            driver.await_word(said.is_ok());
        }
    })
}

/// Whoever drives the test, by way of the agent.
struct Driver {
    words: UnixStream,
    frames: FrameReader,
}

impl Driver {
    const fn heard_on(words: UnixStream) -> Self {
        Self { words, frames: FrameReader::new(FrameLimits::REQUESTS) }
    }

    /// Waits until it has heard of the last step. Where it never will, because the agent is gone, this
    /// process is about to be killed, and does nothing until then.
    fn await_word(&mut self, told: bool) {
        if !told || self.next_word().is_err() {
            loop {
                thread::park();
            }
        }
    }

    fn next_word(&mut self) -> anyhow::Result<()> {
        let mut space = [0; 4096];
        loop {
            if let Some(frame) = self.frames.next_frame()? {
                let Frame::Message(text) = frame else { continue };
                if matches!(Request::parse(&text)?, Request::Ping {}) {
                    return Ok(());
                }
                continue;
            }
            match self.words.read(&mut space) {
                Ok(0) => return Err(anyhow!("the agent is gone")),
                Ok(count) => self.frames.push(&space[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

const NO_WORK: &str = "this host is under test, and no black box";
/// Of a text in a message: four bytes a character at most.
const LONGEST_TEXT: usize = 1000;
