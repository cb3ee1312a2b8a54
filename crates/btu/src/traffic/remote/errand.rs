//! A measurement of traffic that another host makes: what is asked of it, and whether what came back is that.

use btu_control::message::Reservation;
use btu_control::message::TestOrder;
use btu_core::traffic::plan::Plan;
use btu_core::units::Nanos;
use btu_report::OpenMode;
use btu_report::ResultFiles;
use btu_report::StoredTraffic;

use super::peers::Needs;
use super::words;
use crate::elsewhere::tested;
use crate::elsewhere::tested::DAY;
use crate::elsewhere::tested::Tested;
use crate::elsewhere::tested::WAITING;
use crate::exit::Failure;
use crate::traffic::scenario;

/// What is measured, and who takes part in it.
pub(crate) struct Errand<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) needs: Needs,
    /// What the user says of it.
    pub(crate) note: Option<String>,
    pub(crate) tested: Tested<'a>,
}

impl Errand<'_> {
    /// The result of this plan, signed by the host that measured.
    pub(crate) fn run(&self) -> Result<ResultFiles, Failure> {
        tested::fits(self.order(0), SHORTER)?;
        let bundle = self.tested.measured(self.reservation(), |seq| self.order(seq))?;
        let files = self.tested.believed(&bundle)?;
        let opened = StoredTraffic::open(&files, OpenMode::Strict);
        let stored = opened.map_err(|error| self.tested.lied(error.to_string()))?;
        self.is_ordered(&stored).map(|()| files)
    }

    /// Fails where it is the result of another plan.
    pub(super) fn is_ordered(&self, stored: &StoredTraffic) -> Result<(), Failure> {
        if stored.journal.plan.asked().to_toml() == self.plan.to_toml() {
            Ok(())
        } else {
            Err(self.tested.lied("the result of another plan"))
        }
    }

    fn reservation(&self) -> Reservation {
        let plan = format!("traffic {:016x}", self.plan.seed);
        Reservation {
            flows: self.needs.connections,
            services: vec![words::SERVICE.to_owned()],
            ..tested::reservation(plan, self.needs.silence, self.lease())
        }
    }

    fn order(&self, seq: u64) -> TestOrder {
        TestOrder {
            note: self.note.clone(),
            service: Some(words::SERVICE.to_owned()),
            ..self.tested.order(seq, self.lease(), self.plan.to_toml())
        }
    }

    /// The longest step: a run, or waiting for an agent that was lost in it.
    fn lease(&self) -> Nanos {
        self.needs.silence.saturating_add(Nanos::from_secs(self.tested.reconnect.into())).min(DAY)
    }
}

/// How long the other hosts take the one that measures for a guest, waiting for them included.
pub(crate) fn longest(plan: &Plan) -> Result<Nanos, Failure> {
    if plan.course.is_some() {
        return Ok(DAY);
    }
    let estimate = scenario::estimate(plan)?;
    Ok(estimate.saturating_add(estimate).saturating_add(WAITING).min(DAY))
}

/// What makes a plan fit into one message.
const SHORTER: &str = "ask for fewer values, or run btu traffic on that host";
