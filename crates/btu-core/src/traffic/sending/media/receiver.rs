//! The receiving end of media.

use std::collections::BTreeSet;

use super::frames::Frames;
use super::packet::Head;
use super::packet::Kind;
use super::report::Came;
use super::report::Report;
use crate::traffic::chance::Stream;
use crate::traffic::language::quantity::whole;
use crate::traffic::law::Law;
use crate::units::Nanos;

/// What came, and what is still to be reported of it.
#[derive(Debug)]
pub struct Receiver {
    frames: Frames,
    /// From one report to the next.
    gap: (Law, Stream),
    due: Nanos,
    report: Report,
    /// Numbers that came, as far back as one may come again.
    known: BTreeSet<u64>,
    patience: Nanos,
    reports: u64,
}

impl Receiver {
    /// A receiver that reports after these gaps.
    pub(in crate::traffic) fn new(mut gap: (Law, Stream)) -> Self {
        let due = drawn(&mut gap);
        Self {
            frames: Frames::default(),
            gap,
            due,
            report: Report::default(),
            known: BTreeSet::new(),
            patience: Nanos::MAX,
            reports: 0,
        }
    }

    /// When the next report is due.
    pub const fn due(&self) -> Nanos {
        self.due
    }

    /// A packet came. Gives a report that has no room for it, if there is one.
    pub fn hear(&mut self, now: Nanos, head: &Head) -> Option<Report> {
        if !self.is_new(head.number) {
            return None;
        }
        let came = Came { number: head.number, at: now };
        let full = (!self.report.has_room_for(came)).then(|| self.made(now));
        self.report.expected = self.report.expected.max(head.number.saturating_add(1));
        self.report.received += 1;
        self.report.came.push(came);
        self.patience = head.patience;
        if let Kind::Video { frame, part, parts, is_key } = head.kind {
            self.frames.hear(now, frame, [part, parts], is_key);
        }
        full
    }

    /// The report that is due; nothing where there is nothing to tell.
    pub fn report(&mut self, now: Nanos) -> Option<Report> {
        while self.due <= now {
            self.due = self.due.saturating_add(drawn(&mut self.gap));
        }
        self.frames.look(now, self.patience);
        let is_news = !self.report.came.is_empty() || self.frames.wants_key();
        is_news.then(|| self.made(now))
    }

    /// How many different packets came.
    pub const fn received(&self) -> u64 {
        self.report.received
    }

    /// Reports that were made.
    pub const fn reports(&self) -> u64 {
        self.reports
    }

    pub(super) fn whole(&self) -> &[(u32, Nanos)] {
        self.frames.whole()
    }

    pub(super) fn shown(&self) -> &[Nanos] {
        self.frames.shown()
    }

    /// What is to be told now; the next report begins anew.
    fn made(&mut self, now: Nanos) -> Report {
        self.reports += 1;
        let next = Report { came: Vec::new(), ..self.report.clone() };
        let report = std::mem::replace(&mut self.report, next);
        let held = report.came.last().map_or(Nanos::ZERO, |last| now.since(last.at));
        Report { held, wants_key: self.frames.wants_key(), ..report }
    }

    /// False for what came before, and for what is so late that nobody knows.
    fn is_new(&mut self, number: u64) -> bool {
        let oldest = self.report.expected.saturating_sub(REMEMBERED);
        if number < oldest || !self.known.insert(number) {
            return false;
        }
        while self.known.first().is_some_and(|first| *first < oldest) {
            self.known.pop_first();
        }
        true
    }
}

fn drawn(gap: &mut (Law, Stream)) -> Nanos {
    Nanos::new(whole(gap.0.sample(&mut gap.1)).max(1))
}

/// Packets that one may be late by.
const REMEMBERED: u64 = 4096;
