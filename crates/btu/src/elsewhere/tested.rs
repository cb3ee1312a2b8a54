//! Another host under test, as the one that drives it has it: its time, the black boxes that take it for a
//! guest, and the result that it hands over. No secret is handed out: every host comes with its own key.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use anyhow::Context;
use anyhow::anyhow;
use btu_control::Identity;
use btu_control::JournalDir;
use btu_control::client::Fault;
use btu_control::message::Answer;
use btu_control::message::BlackBox;
use btu_control::message::Bounded;
use btu_control::message::MessageError;
use btu_control::message::Request;
use btu_control::message::Reservation;
use btu_control::message::TestOrder;
use btu_control::policy::NO_TEST;
use btu_core::journal::EventRecord;
use btu_core::journal::codec::StoredLine;
use btu_core::journal::file::EVENTS;
use btu_core::manifest::hex;
use btu_core::role::Role;
use btu_core::units::Nanos;
use btu_report::ResultFiles;
use serde::Serialize;

use super::copied::Copied;
use super::disk::replace;
use super::told::forget_proofs;
use crate::conductor::ANSWER;
use crate::conductor::Asking;
use crate::conductor::NamedAgent;
use crate::conductor::PeerLink;
use crate::conductor::Steps;
use crate::exit::Exit;
use crate::exit::Failure;
use crate::measurement::Interrupt;
use crate::measurement::closing::mismatch;
use crate::measurement::journal::journal_failure;
use crate::measurement::journal::note;
use crate::output;
use crate::sign;

/// A host under test, and who takes part in its test.
pub(crate) struct Tested<'a> {
    pub(crate) host: &'a NamedAgent,
    pub(crate) boxes: &'a [(Role, NamedAgent)],
    /// This host.
    pub(crate) own: &'a Identity,
    /// Set by whoever wants all waiting to end.
    pub(crate) cancel: &'a Arc<AtomicBool>,
    /// Who hears its steps and its place in a queue.
    pub(crate) tell: fn(&str),
    /// Where the runs that are done are kept meanwhile.
    pub(crate) copied: Copied,
    /// What it told before of the test that it shall go on with, as a bundle.
    pub(crate) given: Option<Vec<u8>>,
    /// How long the black boxes take it for a guest, waiting for them included.
    pub(crate) longest: Nanos,
    /// How long it waits for a black box that it lost, in seconds.
    pub(crate) reconnect: u32,
}

impl Tested<'_> {
    /// The result as the host under test handed it over, in answer to an order of this number. Whatever
    /// happens, the black boxes forget it.
    pub(crate) fn measured(
        &self,
        wanted: Reservation,
        order: impl FnOnce(u64) -> TestOrder,
    ) -> Result<Vec<u8>, Failure> {
        let mut link = self.reserved(wanted)?;
        let vouch = |(_, agent): &(Role, NamedAgent)| self.vouch(agent, self.longest, self.cancel);
        let vouched = self.boxes.iter().try_for_each(vouch);
        let measured = vouched.and_then(|()| self.test(&mut link, order));
        // The word lapses by itself where a black box cannot be told; the others
        // are told even then, without waiting for it, and after an interrupt, too.
        std::thread::scope(|scope| {
            for (_, agent) in self.boxes {
                scope.spawn(|| drop(self.vouch(agent, Nanos::ZERO, &Arc::default())));
            }
        });
        measured
    }

    /// An order to measure this plan, each step within `lease`, and nothing else that a verb may add.
    pub(crate) fn order(&self, seq: u64, lease: Nanos, plan: String) -> TestOrder {
        TestOrder {
            seq,
            lease_ns: lease,
            plan,
            given: None,
            boxes: self.black_boxes(),
            reconnect_s: self.reconnect,
            price: None,
            marks: Vec::new(),
            note: None,
            service: None,
            limits: None,
            copies: true,
            goes_on: self.given.is_some(),
        }
    }

    /// The black boxes as an order names them.
    fn black_boxes(&self) -> Vec<BlackBox> {
        let boxes = self.boxes.iter().map(|(role, agent)| BlackBox {
            role: *role,
            id: agent.id.to_string(),
            address: agent.address.clone(),
            name: agent.name.clone(),
        });
        boxes.collect()
    }

    /// The files of a bundle that holds and that the host under test signed.
    pub(crate) fn believed(&self, bundle: &[u8]) -> Result<ResultFiles, Failure> {
        let files = btu_report::unpack(bundle).map_err(|error| self.lied(error.to_string()))?;
        let files = ResultFiles::new(Path::new("result"), files);
        let found = btu_report::verify(&files, &sign::signer);
        if let Some(first) = found.violations.first() {
            return Err(self.lied(format!("{}: {}", first.place, first.detail)));
        }
        if found.figures == 0 {
            let name = &self.host.name;
            let cause = anyhow!(
                "agent {name}: its result is of an earlier version: no figure of it can be compared"
            );
            return Err(Failure::agent(cause).hint("install the same btu on both hosts"));
        }
        if !self.copied.begins(&files) {
            return Err(self.lied("a result without runs that it told before"));
        }
        let own = self.host.id.to_string();
        if !found.signers.iter().any(|one| one.covers == "manifest" && one.id == own) {
            return Err(self.lied("a result that it did not sign"));
        }
        Ok(files)
    }

    /// What came is not what was ordered.
    pub(crate) fn lied(&self, what: impl Into<String>) -> Failure {
        crate::conductor::failure(self.host, Fault::Lied(what.into()))
    }

    /// The host under test did not do what was ordered.
    pub(crate) fn refused(&self, what: &str) -> Failure {
        let cause = anyhow!("agent {}: {what}", self.host.name);
        let hint = if what == NO_TEST { LET_TEST } else { "btu agent status, there, says more" };
        Failure::agent(cause).hint(hint)
    }

    fn reserved(&self, wanted: Reservation) -> Result<PeerLink, Failure> {
        let Self { own, cancel, tell, .. } = *self;
        let asking = Asking { own, cancel, tell: &tell, meanwhile: &|| () };
        let granted = asking.reserve(self.host, wanted);
        let granted = granted.map_err(|fault| crate::conductor::failure(self.host, fault))?;
        granted.map(|granted| granted.link).map_err(|reason| self.refused(&reason))
    }

    /// A black box takes the host under test for a guest of this host.
    fn vouch(
        &self,
        agent: &NamedAgent,
        time: Nanos,
        cancel: &Arc<AtomicBool>,
    ) -> Result<(), Failure> {
        let request = Request::Vouch { guest: self.host.id.to_string(), for_ns: time };
        let answer = PeerLink::connect(agent, self.own, cancel, &mut |_| ())
            .and_then(|mut link| link.ask(request, ANSWER, &mut |_| ()))
            .map_err(|fault| crate::conductor::failure(agent, fault))?;
        if let Answer::Refused { reason } = answer.answer {
            let cause = anyhow!("agent {}: {reason}", agent.name);
            return Err(Failure::agent(cause).hint("its policy decides; see docs/agent.md"));
        }
        Ok(())
    }

    /// Hands over what the host under test told before, piece by piece.
    fn give(&self, link: &mut PeerLink, bundle: &[u8]) -> Result<(), Failure> {
        let mut offset = 0;
        for piece in bundle.chunks(PIECE) {
            let seq = link.next_seq();
            let request = Request::Given { seq, offset, piece: hex(piece) };
            offset += piece.len() as u64;
            let reply = link.ask(request, ANSWER, &mut |_| ());
            match reply.map_err(|fault| crate::conductor::failure(self.host, fault))?.answer {
                Answer::Taken { .. } => {}
                Answer::Failed { reason, .. } => return Err(self.refused(&reason)),
                _ => return Err(self.refused("a piece of the result was not taken")),
            }
        }
        Ok(())
    }

    fn test(
        &self,
        link: &mut PeerLink,
        order: impl FnOnce(u64) -> TestOrder,
    ) -> Result<Vec<u8>, Failure> {
        if let Some(bundle) = &self.given {
            self.give(link, bundle)?;
        }
        let order = order(link.next_seq());
        let patience = order.lease_ns.saturating_add(ANSWER);
        let steps = Steps { tell: self.tell, copied: self.copied.clone() };
        let reply = link.order_test(order, patience, self.longest, steps);
        let reply = reply.map_err(|fault| crate::conductor::failure(self.host, fault))?;
        match reply.answer {
            Answer::Document { .. } => Ok(reply.document),
            Answer::Failed { reason, .. } => Err(self.refused(&reason)),
            _ => Err(self.refused("no result")),
        }
    }
}

/// The time of a host under test, each step of which may take `lease`, for a test without connections of a
/// service.
pub(crate) fn reservation(plan: String, longest_run: Nanos, lease: Nanos) -> Reservation {
    Reservation {
        plan,
        longest_run_ns: longest_run,
        silence_ns: lease,
        flows: 0,
        activities: Vec::new(),
        emulation: false,
        services: Vec::new(),
        test: true,
    }
}

/// An order is one message, and each of its values has its bound: better said before anybody's time is asked
/// for. `shorter` is what makes a plan fit.
pub(crate) fn fits(order: TestOrder, shorter: &str) -> Result<(), Failure> {
    let (length, plan) = (length(&order), length(&(&order.plan, &order.given)));
    Request::Test(Box::new(order)).check().map_err(|error| beyond(&error))?;
    if length <= LONGEST_ORDER {
        return Ok(());
    }
    let cause = anyhow!(
        "the order takes {length} bytes, {plan} of them its plan: at most {LONGEST_ORDER} are told to \
         an agent"
    );
    let is_plan = plan > length / 2;
    Err(Failure::usage(cause).hint(if is_plan { shorter } else { FEWER_WORDS }))
}

/// In a message.
fn length(part: &impl Serialize) -> usize {
    serde_json::to_vec(part).map_or(usize::MAX, |text| text.len())
}

/// An order with a value that no agent takes.
fn beyond(error: &MessageError) -> Failure {
    let failure = Failure::usage(anyhow!("no agent takes this test: {error}"));
    match error {
        MessageError::Bound { field, .. } if WORDS.contains(field) => failure.hint(BOUNDS),
        _ => failure,
    }
}

/// Who keeps the result, and what `host` told of it before, as a bundle, where it is one to go on with: that
/// in `resumed`, or a new one in the directory that is named, else in the first default one that nobody else
/// takes meanwhile.
pub(crate) fn directory(
    resumed: Option<&Path>,
    named: Option<&Path>,
    default: impl Fn() -> PathBuf,
    host: &NamedAgent,
) -> Result<(Copied, Option<Vec<u8>>), Failure> {
    let Some(dir) = resumed else { return Ok((Copied::anew(named, default)?, None)) };
    let (copied, told) = Copied::going_on(dir, host.id).map_err(|cause| {
        let name = crate::conductor::shown(&host.name);
        let cause = cause.context(format!("resume: agent {name} cannot go on with this test"));
        Failure::usage(cause)
            .hint("the host of its first part can; or start anew, without --resume")
    })?;
    Ok((copied, Some(told)))
}

/// Who hears of steps where the user wants to.
pub(crate) fn heard(quiet: bool) -> fn(&str) {
    if quiet { |_| () } else { output::message }
}

/// Writes the files of a result in the place of what was kept of it meanwhile. The events come last, of
/// which the last one says that the test is finished: whoever is killed before that has a test to go on with,
/// and what it needs for that.
pub(crate) fn write(out: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<(), Failure> {
    let (last, first): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| *name == EVENTS);
    std::fs::create_dir_all(out)
        .with_context(|| format!("create {}", out.display()))
        .and_then(|()| {
            let mut ordered = first.into_iter().chain(last);
            ordered.try_for_each(|(name, content)| replace(&out.join(name), content))
        })
        .map(|()| forget_proofs(out))
        .map_err(Failure::environment)
}

/// The journal of a test that was cut off, with the reason as its last event; `None` where no run of it is
/// kept. Nobody signed it: a host under test signs what is whole.
pub(crate) fn cut<R: StoredLine>(
    tested: &Tested<'_>,
    failure: &Failure,
    interrupt: &Interrupt,
) -> Result<Option<JournalDir>, Failure> {
    let Some(out) = tested.copied.released() else { return Ok(None) };
    let (mut journal, _) = JournalDir::resume::<R>(&out).map_err(journal_failure)?;
    if interrupt.flag().load(Relaxed) {
        note(&mut journal, EventRecord::INTERRUPTED, "stopped before its end")?;
    } else {
        note(&mut journal, EventRecord::AGENT_LOST, &format!("{:#}", failure.cause))?;
    }
    Ok(Some(journal))
}

/// Whether the test of a result that was handed over came to its end there, by its events; `again` is what
/// goes on with one that did not. Of two reasons the one counts that comes first among the exit codes.
pub(crate) fn ended(events: &[EventRecord], again: &str) -> Result<(), Failure> {
    let last = EventRecord::last_part(events);
    let event = |name: &str| last.iter().rfind(|one| one.event == name);
    let go_on = |cause| Err(Failure::agent(cause).hint(format!("go on with: {again}")));
    if let Some(wrong) = event(EventRecord::EMULATION_MISMATCH) {
        return Err(mismatch(&wrong.detail));
    }
    if let Some(lost) = event(EventRecord::AGENT_LOST) {
        return go_on(anyhow!("the host under test lost an agent: {}", lost.detail));
    }
    match event(EventRecord::FINISHED) {
        Some(_) => Ok(()),
        None => go_on(anyhow!("the test was stopped there before its end")),
    }
}

/// The end of a test that was cut off; `kept` is where its runs are.
pub(crate) fn end(
    kept: Option<&Path>,
    again: Option<&str>,
    failure: Failure,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let interrupted = interrupt.flag().load(Relaxed);
    let kept = kept.map_or_else(
        || "no run of it was done".to_owned(),
        |out| format!("the runs that were done are kept in {}, unsigned", out.display()),
    );
    let what = again.map_or_else(|| kept.clone(), |again| format!("{kept}; go on with: {again}"));
    if interrupted {
        output::message(&format!("interrupted; the test is ended there; {what}"));
        return Ok(interrupt.exit());
    }
    output::message(&format!("the test was cut off; {what}"));
    Err(failure)
}

/// How long a guest may wait for black boxes.
pub(crate) const WAITING: Nanos = Nanos::from_secs(3600);
/// No test takes longer.
pub(crate) const DAY: Nanos = Nanos::from_secs(86_400);
/// Of a message, less what the agent adds.
const LONGEST_ORDER: usize = 63 << 10;
/// What a user says of the host, as the bounds of an order call it.
const WORDS: [&str; 4] = ["length of a mark", "marks", "note", "price"];
const BOUNDS: &str =
    "a note, a price and a mark have at most 4096 bytes each, and there are at most 64 marks";
const FEWER_WORDS: &str = "make the note, the price or the marks shorter, or leave some marks out";
/// How a host may be let measure for others.
const LET_TEST: &str = "an agent connects to other hosts only where its policy says so: write test = true \
                        into the [[class]] of this host in policy.toml there and start the agent anew, or \
                        let another host measure with --test AGENT";
/// Bytes of a result that are handed over at once.
const PIECE: usize = 30 << 10;

#[cfg(test)]
mod tests;
