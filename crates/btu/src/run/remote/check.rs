//! Checks of the emulated links between real hosts: short runs of COMM with a known answer.

use btu_control::CellRun;
use btu_control::When;
use btu_control::message::LinkOrder;
use btu_core::role::Role;
use btu_core::run::cell::ActivityName;
use btu_core::run::cell::Application;
use btu_core::run::cell::Case;
use btu_core::run::cell::Cell;
use btu_core::run::cell::Direction;
use btu_core::run::cell::Flow;
use btu_core::run::cell::Impairment;
use btu_core::run::plan::Elements;
use btu_core::sample::CellSample;
use btu_core::sample::DirectionSample;
use btu_core::sample::Outcome;
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
        self.emulator_rate = btu_core::run::verdict::emulator_rate(&records).or(self.emulator_rate);
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
        let link = self.plan.link.clone();
        let delay = uses(Impairment::Delay).then_some(link.delay);
        let drops = uses(Impairment::Drop).then_some(link.drop);
        let asked = delay.iter().filter(|delay| delay.is_constant()).map(Elements::round_trip);
        let mut record = VerificationSample {
            when: when.name().to_owned(),
            link: btu_testbed::local::LocalTestbed::link_name(role),
            delay_asked_us: asked.map(|delay| delay.micros() / 2.0).sum(),
            ..VerificationSample::default()
        };
        let direct = self.trial(role, None)?;
        record.direct_rtt_us = round_trip(&direct);
        let plain = self.trial(role, Some(&Elements::default()))?;
        record.emulated_rtt_us = round_trip(&plain);
        record.bulk_bit_s = rate(&plain);
        let (plain, mut impaired) = ([direct.outcome, plain.outcome], Vec::new());
        if let Some(delay) = &delay {
            impaired.push(self.try_delay(role, delay, &mut record)?);
        }
        let counts = drops.as_ref().is_some_and(|drops| drops.pattern(Direction::Send).is_some());
        if let Some(drops) = &drops {
            impaired.push(self.try_drops(role, drops, &mut record)?);
        }
        let found = mismatches(&record, counts, &plain, &impaired);
        record.mismatches.extend(found);
        Some(record)
    }

    /// A run over the link of the delayed cases.
    fn try_delay(
        &mut self,
        role: Role,
        delay: &Elements,
        record: &mut VerificationSample,
    ) -> Option<Outcome> {
        let delayed = self.trial(role, Some(delay))?;
        if delay.is_constant() {
            record.delayed_rtt_us = round_trip(&delayed);
        } else {
            record.not_foretold.push(format!("DL: {delay}"));
            record.mismatches.extend(lost_unasked(&delayed));
        }
        Some(delayed.outcome)
    }

    /// A run over the link of the dropping case. What acts on the way back is known by the emulator's counters alone.
    fn try_drops(
        &mut self,
        role: Role,
        drops: &Elements,
        record: &mut VerificationSample,
    ) -> Option<Outcome> {
        let dropped = self.trial(role, Some(drops))?;
        if drops.pattern(Direction::Send).is_some() {
            count_drops(&dropped, record);
        } else if !drops.up.is_empty() {
            record.not_foretold.push(format!("DR up: {}", drops.up.join(", ")));
        }
        if !drops.down.is_empty() {
            record.not_foretold.push(format!("DR down: {}", drops.down.join(", ")));
        }
        if record.not_foretold.iter().any(|told| told.starts_with("DR")) {
            record.mismatches.extend(lost_unasked(&dropped));
        }
        Some(dropped.outcome)
    }

    /// One short run to one black box.
    fn trial(&mut self, role: Role, elements: Option<&Elements>) -> Option<CellSample> {
        let case = Case::Send;
        let link = elements.map(|elements| LinkOrder {
            up: elements.up.clone(),
            down: elements.down.clone(),
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

/// Losses that nobody asked for, as the emulator counted them.
fn lost_unasked(sample: &CellSample) -> Vec<String> {
    let lost = |seen: &DirectionSample| seen.overflow + seen.socket_drops + seen.send_errors;
    let found = sample.emulation.iter().filter(|seen| lost(seen) > 0);
    found
        .map(|seen| {
            let (link, direction, lost) = (&seen.link, &seen.direction, lost(seen));
            format!("{link}: {direction} lost {lost} packets unasked")
        })
        .collect()
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

/// What does not fit. A run whose fixed amount takes longer than its cap behind the impairment is none of that.
fn mismatches(
    record: &VerificationSample,
    drops: bool,
    plain: &[Outcome],
    impaired: &[Outcome],
) -> Vec<String> {
    let plain = plain.iter().filter(|outcome| !outcome.is_complete());
    let impaired = impaired.iter().filter(|outcome| matches!(outcome, Outcome::Failed { .. }));
    let failed = plain.chain(impaired).map(Outcome::to_string);
    let delay = (record.delay_asked_us > 0.0).then(|| wrong_delay(record)).flatten();
    let dropped = drops.then(|| wrong_drops(record)).flatten();
    failed.chain(delay).chain(dropped).map(|found| format!("{}: {found}", record.link)).collect()
}

/// The smallest round trips, which nothing but the path and the delay make: with the delay it is no shorter than the
/// delay alone, and longer than without by twice the delay, within 5 % and at least 200 us, as on the local testbed.
fn wrong_delay(record: &VerificationSample) -> Option<String> {
    let asked = 2.0 * record.delay_asked_us;
    let (Some(found), Some(without)) = (record.delayed_rtt_us, record.emulated_rtt_us) else {
        return Some("no delayed round trip to compare with one without delay".to_owned());
    };
    if found.p50 < asked {
        let found = found.p50;
        return Some(format!("a round trip of {found:.0} us, the delay alone makes {asked:.0}"));
    }
    let (added, most) = (found.p50 - without.p50, asked + (0.05 * asked).max(200.0));
    (added > most).then(|| {
        format!("the delay should add {asked:.0} us to a round trip, it adds {added:.0} us > {most:.0} us")
    })
}

fn wrong_drops(record: &VerificationSample) -> Option<String> {
    let (found, due) = (record.pattern_dropped, record.pattern_expected);
    if record.pattern_packets == 0 {
        return Some("no packet passed the drops".to_owned());
    }
    (found != due).then(|| format!("{found} drops, the pattern has {due}"))
}

const MESSAGE: Bytes = Bytes::new(65_536);

#[cfg(test)]
mod tests {
    use super::*;

    fn record(without_us: f64, delayed_us: f64) -> VerificationSample {
        let of = |us| Some(Quantiles { n: 1, mean: us, p50: us, p99: us, max: us });
        VerificationSample {
            link: "test-active".to_owned(),
            delay_asked_us: 5000.0,
            emulated_rtt_us: of(without_us),
            delayed_rtt_us: of(delayed_us),
            ..VerificationSample::default()
        }
    }

    #[test]
    fn a_delay_is_neither_shorter_nor_longer_than_asked() {
        let found = |without, delayed| mismatches(&record(without, delayed), false, &[], &[]);
        assert_eq!(found(300.0, 10_290.0), [""; 0]);
        assert_eq!(found(300.0, 10_800.0), [""; 0]);
        let short = "test-active: a round trip of 9900 us, the delay alone makes 10000";
        assert_eq!(found(300.0, 9900.0), [short]);
        let long = "test-active: the delay should add 10000 us to a round trip, it adds 20300 us > 10500 us";
        assert_eq!(found(300.0, 20_600.0), [long]);
        let none = VerificationSample { delayed_rtt_us: None, ..record(300.0, 0.0) };
        assert_eq!(mismatches(&none, false, &[], &[]).len(), 1);
    }

    #[test]
    fn drops_that_were_not_tried_are_not_right() {
        let counted = |packets, expected, dropped| {
            let counted = VerificationSample {
                pattern_packets: packets,
                pattern_expected: expected,
                pattern_dropped: dropped,
                ..record(300.0, 10_300.0)
            };
            mismatches(&counted, true, &[], &[])
        };
        assert_eq!(counted(1000, 4, 4), [""; 0]);
        assert_eq!(counted(1000, 4, 3), ["test-active: 3 drops, the pattern has 4"]);
        assert_eq!(counted(0, 0, 0), ["test-active: no packet passed the drops"]);
    }

    #[test]
    fn what_the_emulator_lost_unasked_is_told_of_each_direction() {
        let application = Application { name: "check".to_owned(), message_bytes: MESSAGE };
        let cell = Cell { case: Case::Send, application, activity: ActivityName::none() };
        let run = CellRun { cell, pass: 0, position: 0, attempt: 1, fixed_units: None };
        let mut sample = crate::run::local::sample(&run, String::new(), Outcome::Complete);
        let of = |direction: &str, dropped, overflow, send_errors| DirectionSample {
            link: "test-active".to_owned(),
            direction: direction.to_owned(),
            dropped,
            overflow,
            send_errors,
            ..DirectionSample::default()
        };
        sample.emulation = vec![of("up", 9, 0, 0), of("down", 0, 2, 1)];
        assert_eq!(lost_unasked(&sample), ["test-active: down lost 3 packets unasked"]);
    }

    #[test]
    fn a_trial_that_failed_is_told() {
        let outcomes = [
            Outcome::Failed { reason: "no route".to_owned() },
            Outcome::Capped { reason: "bits".to_owned() },
        ];
        let told =
            |plain, impaired| mismatches(&record(300.0, 10_300.0), false, plain, impaired).len();
        assert_eq!(
            (told(&outcomes, &[]), told(&[], &outcomes), told(&[Outcome::Complete], &[])),
            (2, 1, 0)
        );
    }
}
