//! Checks of the emulated links between real hosts: short runs of COMM with a known answer.

use btu_control::CellRun;
use btu_control::When;
use btu_control::message::LinkOrder;
use btu_core::cell::ActivityName;
use btu_core::cell::Application;
use btu_core::cell::Case;
use btu_core::cell::Cell;
use btu_core::cell::Direction;
use btu_core::cell::Flow;
use btu_core::cell::Impairment;
use btu_core::cell::Role;
use btu_core::sample::CellSample;
use btu_core::sample::Quantiles;
use btu_core::sample::VerificationSample;
use btu_core::units::Bytes;

use super::RemoteRunner;
use super::black_box::RemoteBox;
use crate::measurement::losses::Losses;
use crate::measurement::place::timestamp;

impl RemoteRunner {
    /// One check of the link in front of each agent: without elements, with the plan's delay, with
    /// its drops. `None` where it was interrupted or an agent was lost for good.
    pub(super) fn check_links(&mut self, when: When) -> Option<Vec<VerificationSample>> {
        let roles: Vec<Role> = self.boxes.keys().copied().collect();
        let mut samples = Vec::new();
        for role in roles {
            samples.push(self.checked(when, role)?);
        }
        let records: Vec<_> =
            samples.iter().cloned().map(btu_core::journal::Record::Verification).collect();
        self.emulator_rate = btu_core::verdict::emulator_rate(&records).or(self.emulator_rate);
        Some(samples)
    }

    /// A check in which an agent was lost is none: it begins anew once the agent is back.
    fn checked(&mut self, when: When, role: Role) -> Option<VerificationSample> {
        let mut losses = Losses::default();
        loop {
            let sample = self.check_link(when, role);
            let Some((lost, fault)) = self.fault() else { return sample };
            if self.is_interrupted() || !self.is_tried_again(&mut losses, lost, &fault) {
                return None;
            }
        }
    }

    /// `None` where it was interrupted, or where a fault says why.
    fn check_link(&mut self, when: When, role: Role) -> Option<VerificationSample> {
        let uses = |wanted| self.plan.cases.iter().any(|case| case.impairment() == wanted);
        let delay = uses(Impairment::Delay).then_some(self.plan.link.delay);
        let drops = uses(Impairment::Drop).then(|| self.plan.link.drop.clone());
        let mut record = VerificationSample {
            when: when.name().to_owned(),
            link: btu_testbed::local::LocalTestbed::link_name(role),
            delay_asked_us: delay.map_or(0.0, btu_core::units::Nanos::micros),
            ..VerificationSample::default()
        };
        let direct = self.trial(role, None)?;
        record.direct_rtt_us = round_trip(&direct);
        let plain = self.trial(role, Some(&[]))?;
        record.emulated_rtt_us = round_trip(&plain);
        record.bulk_bit_s = rate(&plain);
        if delay.is_some() {
            let element = format!("delay {}", self.plan.link.delay);
            let delayed = self.trial(role, Some(&[element]))?;
            record.delayed_rtt_us = round_trip(&delayed);
        }
        if let Some(pattern) = drops {
            let dropped = self.trial(role, Some(&[format!("drop {pattern}")]))?;
            count_drops(&dropped, &mut record);
        }
        judge(&mut record, &[&direct, &plain]);
        Some(record)
    }

    /// One short run to one black box.
    fn trial(&mut self, role: Role, elements: Option<&[String]>) -> Option<CellSample> {
        let case = Case::Send;
        let link = elements.map(|elements| LinkOrder {
            up: elements.to_vec(),
            down: elements.iter().filter(|one| one.starts_with("delay")).cloned().collect(),
            seed: self.plan.seed,
        });
        let application = Application { name: "check".to_owned(), message_bytes: MESSAGE };
        let activity = ActivityName::new("none");
        let cell = Cell { case, application, activity };
        let run = CellRun { cell, pass: 0, position: 0, attempt: 1, fixed_units: None };
        let flows = [Flow { peer: role, direction: Direction::Send }];
        let sample = self.measure(&run, &flows, link.as_ref(), timestamp())?;
        let is_lost = self.boxes.values().any(RemoteBox::is_lost);
        (!is_lost).then_some(sample)
    }
}

/// The kernel's smallest round trip of the run, which no queue of its own traffic has lengthened.
fn round_trip(sample: &CellSample) -> Option<Quantiles> {
    let info = sample.comm.as_ref()?.connections.first()?.sender.tcp_info.as_ref()?;
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a round trip")]
    let us = info.min_rtt_us? as f64;
    Some(Quantiles { n: 1, mean: us, p50: us, p99: us, max: us })
}

fn rate(sample: &CellSample) -> Option<f64> {
    let comm = sample.comm.as_ref()?;
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    comm.bytes.per(comm.elapsed_ns).map(|rate| rate.bit_per_second() as f64)
}

/// What the emulator itself counted, against the formula.
fn count_drops(sample: &CellSample, record: &mut VerificationSample) {
    let up = sample.emulation.iter().find(|seen| seen.direction == "up");
    if let Some(up) = up {
        record.pattern_packets = up.packets;
        record.pattern_expected = up.pattern_drops.unwrap_or(0);
        record.pattern_dropped = up.dropped;
    }
}

/// What does not fit.
fn judge(record: &mut VerificationSample, runs: &[&CellSample]) {
    let link = record.link.clone();
    let failed = runs.iter().filter(|run| !run.outcome.is_complete());
    record.mismatches = failed.map(|run| format!("{link}: {}", run.outcome)).collect();
    let (asked, found) = (2.0 * record.delay_asked_us, record.delayed_rtt_us);
    match found {
        Some(found) if found.p50 < asked => record.mismatches.push(format!(
            "{link}: a round trip of {:.0} us, the delay alone makes {asked:.0}",
            found.p50
        )),
        None if asked > 0.0 => record.mismatches.push(format!("{link}: no delayed round trip")),
        _ => {}
    }
    if record.pattern_dropped != record.pattern_expected {
        let (found, due) = (record.pattern_dropped, record.pattern_expected);
        record.mismatches.push(format!("{link}: {found} drops, the pattern has {due}"));
    }
}

const MESSAGE: Bytes = Bytes::new(65_536);
