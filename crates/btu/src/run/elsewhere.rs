//! A run whose host under test is another machine: its agent is asked to run, and the black boxes to
//! take it for a guest of this host. No secret is handed out: every host comes with its own key.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::anyhow;
use btu_control::Identity;
use btu_control::client::Fault;
use btu_control::message::Answer;
use btu_control::message::BlackBox;
use btu_control::message::Request;
use btu_control::message::Reservation;
use btu_control::message::TestOrder;
use btu_core::plan::Plan;
use btu_core::units::Nanos;
use btu_report::OpenMode;
use btu_report::ResultFiles;

use super::Interrupt;
use super::RunArgs;
use super::finish;
use super::finish::Closed;
use super::options::Planned;
use super::place;
use super::remote::hosts::Hosts;
use crate::agent::state::StateDir;
use crate::bundle;
use crate::conductor;
use crate::conductor::Asking;
use crate::conductor::NamedAgent;
use crate::conductor::PeerLink;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::output;
use crate::sign;

/// A test, and who takes part in it.
struct Elsewhere<'a> {
    args: &'a RunArgs,
    plan: Plan,
    given: Option<String>,
    own: Identity,
    test: NamedAgent,
    boxes: Hosts,
    interrupt: &'a Interrupt,
}

/// Runs the verb with `--test`.
pub(super) fn run(args: &RunArgs, name: &str, interrupt: &Interrupt) -> Result<Exit, Failure> {
    if let Some(dir) = &args.resume {
        let cause = anyhow!(
            "--resume {}: --test {name} keeps nothing of a test that was cut short: it ends with its \
             conductor, and its result is handed over when it is whole",
            dir.display()
        );
        return Err(Failure::usage(cause).hint("start the test again, without --resume"));
    }
    let Planned { plan, given } = args.plan()?;
    let out = args.out.clone().unwrap_or_else(|| place::default_out(&plan, jiff::Timestamp::now()));
    free(&out)?;
    let state = StateDir::open(&args.state)?;
    let own = state.identity()?;
    let test = NamedAgent::find(&state, "--test", name)?;
    let boxes = Hosts::named(args, &plan, interrupt)?;
    if boxes.agents().iter().any(|(_, agent)| agent.id == test.id) {
        let cause = anyhow!("--test and a black box are the same agent");
        return Err(Failure::usage(cause).hint("name three hosts"));
    }
    let one = Elsewhere { args, plan, given, own, test, boxes, interrupt };
    let bundle = match one.measured() {
        Err(_ended) if one.is_interrupted() => {
            output::message("interrupted; the test is ended there, and nothing of it is kept");
            return Ok(interrupt.exit());
        }
        measured => measured?,
    };
    let files = one.believed(&bundle)?;
    write(&out, files.all())?;
    one.show(&out)
}

impl Elsewhere<'_> {
    /// The result as the host under test handed it over. Whatever happens, the black boxes forget it.
    fn measured(&self) -> Result<Vec<u8>, Failure> {
        let mut link = self.reserved()?;
        let vouched = self.vouch(self.longest(), self.interrupt.flag());
        let measured = vouched.and_then(|()| self.test(&mut link));
        // The word lapses by itself where a black box cannot be told; they
        // are told after an interrupt, too.
        drop(self.vouch(Nanos::ZERO, &Arc::default()));
        measured
    }

    fn reserved(&self) -> Result<PeerLink, Failure> {
        let wanted = Reservation {
            plan: self.plan.edition_hash.chars().take(16).collect(),
            longest_run_ns: self.plan.time_cap().saturating_add(self.plan.lead_in),
            silence_ns: self.lease(),
            flows: 0,
            activities: Vec::new(),
            emulation: false,
            services: Vec::new(),
            test: true,
        };
        let tell = |text: &str| self.say(text);
        let (own, cancel) = (&self.own, self.interrupt.flag());
        let asking = Asking { own, cancel, tell: &tell, meanwhile: &|| () };
        let granted = asking.reserve(&self.test, wanted);
        let granted = granted.map_err(|fault| conductor::failure(&self.test, fault))?;
        granted.map(|granted| granted.link).map_err(|reason| self.refused(&reason))
    }

    /// Every black box takes the host under test for a guest of this host.
    fn vouch(&self, time: Nanos, cancel: &Arc<AtomicBool>) -> Result<(), Failure> {
        for (_, agent) in self.boxes.agents() {
            let request = Request::Vouch { guest: self.test.id.to_string(), for_ns: time };
            let answer = PeerLink::connect(agent, &self.own, cancel, &mut |_| ())
                .and_then(|mut link| link.ask(request, ANSWER, &mut |_| ()))
                .map_err(|fault| conductor::failure(agent, fault))?;
            if let Answer::Refused { reason } = answer.answer {
                let cause = anyhow!("agent {}: {reason}", agent.name);
                return Err(Failure::agent(cause).hint("its policy decides; see docs/agent.md"));
            }
        }
        Ok(())
    }

    fn test(&self, link: &mut PeerLink) -> Result<Vec<u8>, Failure> {
        let seq = link.next_seq();
        if !self.args.quiet && !self.args.json {
            link.told_by(output::message);
        }
        let request = Request::Test(Box::new(self.order(seq)));
        let reply = link.ask(request, self.lease().saturating_add(ANSWER), &mut |_| ());
        let reply = reply.map_err(|fault| conductor::failure(&self.test, fault))?;
        match reply.answer {
            Answer::Document { .. } => Ok(reply.document),
            Answer::Failed { reason, .. } => Err(self.refused(&reason)),
            _ => Err(self.refused("no result")),
        }
    }

    fn order(&self, seq: u64) -> TestOrder {
        let boxes = self.boxes.agents().iter().map(|(role, agent)| BlackBox {
            role: *role,
            id: agent.id.to_string(),
            address: agent.address.clone(),
            name: agent.name.clone(),
        });
        TestOrder {
            seq,
            lease_ns: self.lease(),
            plan: self.plan.to_toml(),
            given: self.given.clone(),
            boxes: boxes.collect(),
            reconnect_s: self.args.reconnect,
            price: self.args.price.clone(),
            marks: self.args.marks.clone(),
            note: self.args.note.clone(),
        }
    }

    /// What came is the result of this order, signed by the host under test; or it is none.
    fn believed(&self, bundle: &[u8]) -> Result<ResultFiles, Failure> {
        let lied = |what: String| conductor::failure(&self.test, Fault::Lied(what));
        let files = btu_report::unpack(bundle).map_err(|error| lied(error.to_string()))?;
        let files = ResultFiles::new(Path::new("result"), files);
        let found = btu_report::verify(&files, &sign::signer);
        if let Some(first) = found.violations.first() {
            return Err(lied(format!("{}: {}", first.place, first.detail)));
        }
        let own = self.test.id.to_string();
        if !found.signers.iter().any(|one| one.covers == "manifest" && one.id == own) {
            return Err(lied("a result that it did not sign".to_owned()));
        }
        let opened = btu_report::open_files(&files, OpenMode::Strict);
        let plan = opened.map_err(|error| lied(error.to_string()))?.journal.plan;
        if (plan.seed, &plan.edition_hash) != (self.plan.seed, &self.plan.edition_hash) {
            return Err(lied("the result of another plan".to_owned()));
        }
        Ok(files)
    }

    /// The report as after any run, and its exit code by the events of the run.
    fn show(&self, out: &Path) -> Result<Exit, Failure> {
        let stored = btu_report::open(out, OpenMode::Strict).map_err(Failure::environment)?;
        let analysis = stored.analyse();
        let events = stored.journal.events.clone();
        let closed = Closed { path: out.to_owned(), journal: stored.journal, analysis };
        finish::show(self.args, &closed)?;
        let event = |name: &str| events.iter().rev().find(|one| one.event == name);
        if let Some(lost) = event("agent_lost") {
            let cause = anyhow!("the host under test lost an agent: {}", lost.detail);
            return Err(Failure::agent(cause).hint("start the test again"));
        }
        if let Some(wrong) = event("emulation_mismatch") {
            return Err(finish::mismatch(&wrong.detail));
        }
        match event("finished") {
            Some(_) => Ok(finish::exit(&closed)),
            None => Err(self.refused("the test was ended there before its last pass")),
        }
    }

    /// The longest step, with what may go wrong in it before it is given up.
    fn lease(&self) -> Nanos {
        let step = self.plan.time_cap().max(self.plan.alone_window);
        step.saturating_add(self.plan.lead_in).saturating_add(MARGIN)
    }

    /// How long the black boxes take the host under test for a guest, waiting for them included.
    fn longest(&self) -> Nanos {
        let estimate = self.plan.estimate();
        estimate.saturating_add(estimate).saturating_add(WAITING).min(DAY)
    }

    fn refused(&self, what: &str) -> Failure {
        let cause = anyhow!("agent {}: {what}", self.test.name);
        Failure::agent(cause).hint("btu agent status, there, says more")
    }

    fn say(&self, text: &str) {
        if !self.args.quiet {
            output::message(text);
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.flag().load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// Nothing that is there is written over; better said before the test than after it.
fn free(out: &Path) -> Result<(), Failure> {
    let is_free = std::fs::read_dir(out).map_or(!out.exists(), |mut all| all.next().is_none());
    if is_free {
        return Ok(());
    }
    let cause = anyhow!("{}: the directory is not empty", out.display());
    Err(Failure::usage(cause).hint("name another directory with --out"))
}

fn write(out: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), Failure> {
    std::fs::create_dir_all(out).map_err(Failure::environment)?;
    files.iter().try_for_each(|(name, content)| bundle::write(&out.join(name), content))
}

/// For an answer that needs no measuring.
const ANSWER: Nanos = Nanos::from_secs(15);
/// For answers of the black boxes around a step, and for an account that comes late.
const MARGIN: Nanos = Nanos::from_secs(120);
const WAITING: Nanos = Nanos::from_secs(3600);
const DAY: Nanos = Nanos::from_secs(86_400);
