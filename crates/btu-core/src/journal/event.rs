//! What happened to a measurement as a whole: the lines of `events.jsonl`.

use serde::Deserialize;
use serde::Serialize;

use crate::manifest::hash;

/// One line of `events.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// When, UTC, RFC 3339.
    pub at: String,
    /// Snake case, stable: one of the constants here.
    pub event: String,
    /// A sentence for people.
    pub detail: String,
}

impl EventRecord {
    /// It began.
    pub const STARTED: &str = "started";

    /// It was gone on with.
    pub const RESUMED: &str = "resumed";

    /// Everything that was asked for is done.
    pub const FINISHED: &str = "finished";

    /// Somebody stopped it.
    pub const INTERRUPTED: &str = "interrupted";

    /// An agent was gone, and did not come back.
    pub const AGENT_LOST: &str = "agent_lost";

    /// The emulation is not what the plan says; nothing was measured with it.
    pub const EMULATION_MISMATCH: &str = "emulation_mismatch";

    /// The second run of a cell was due when the time for second runs was over; the detail begins with the cell.
    pub const NOT_RUN_AGAIN: &str = "not_run_again";

    /// What cuts a measurement short.
    pub const CUTS: [&str; 2] = [Self::AGENT_LOST, Self::INTERRUPTED];

    /// What [`Self::STARTED`] says of a measurement with this plan: whoever goes on with it, or reads it, knows the plan
    /// again that its first sample was made by.
    pub fn of_plan(what: &str, plan: &str) -> String {
        format!("{what}{OF_PLAN}{}", hash(plan.as_bytes()))
    }

    /// The hash of the plan with which these events began; `None` where an earlier program did not say.
    pub fn plan_hash(events: &[Self]) -> Option<&str> {
        let first = events.iter().find(|one| one.event == Self::STARTED)?;
        let (_, hash) = first.detail.rsplit_once(OF_PLAN)?;
        Some(hash)
    }

    /// What is wrong with a plan that is not the one with which these events began.
    pub fn other_plan(events: &[Self], plan: &[u8]) -> Option<String> {
        let (was, is) = (Self::plan_hash(events)?, hash(plan));
        let brief = |hash: &str| hash.chars().take(16).collect::<String>();
        let said = || {
            let (was, is) = (brief(was), brief(&is));
            format!("not the plan that the measurement began with: BLAKE3 was {was} and is {is}")
        };
        (was != is).then(said)
    }

    /// When what these events tell of began.
    pub fn started_at(events: &[Self]) -> Option<&str> {
        let first = events.iter().find(|one| one.event == Self::STARTED);
        first.map(|first| first.at.as_str())
    }

    /// When everything that was asked for was done: of what was gone on with after its end, the last time,
    /// and never where it was cut short since.
    pub fn finished_at(events: &[Self]) -> Option<&str> {
        let last = Self::last_of_life(events).filter(|last| last.event == Self::FINISHED);
        last.map(|last| last.at.as_str())
    }

    /// Why what these events tell of did not come to its end, where one of them says so.
    pub fn cut(events: &[Self]) -> Option<&str> {
        let last = Self::last_of_life(events).filter(|last| last.cuts());
        last.map(|last| last.detail.as_str())
    }

    /// True for an event that cuts a measurement short.
    pub fn cuts(&self) -> bool {
        Self::CUTS.contains(&self.event.as_str())
    }

    /// The events since the measurement was gone on with last: what ended an earlier part is over.
    pub fn last_part(events: &[Self]) -> &[Self] {
        let begun = events.iter().rposition(|one| one.event == Self::RESUMED).unwrap_or_default();
        &events[begun..]
    }

    /// The last of these events that begins or ends what they tell of.
    fn last_of_life(events: &[Self]) -> Option<&Self> {
        let begins_or_ends = [Self::STARTED, Self::RESUMED, Self::FINISHED];
        let of_life = |one: &&Self| one.cuts() || begins_or_ends.contains(&one.event.as_str());
        events.iter().rfind(of_life)
    }
}

/// Stands before the hash of the plan in what a start says.
const OF_PLAN: &str = "; plan.toml has BLAKE3 ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_knows_its_plan_again_and_an_earlier_program_said_nothing_of_it() {
        let begun = |detail: String| {
            let (at, event) = (String::new(), EventRecord::STARTED.to_owned());
            [EventRecord { at, event, detail }]
        };
        let events = begun(EventRecord::of_plan("a new run", "seed = 1\n"));
        assert_eq!(EventRecord::other_plan(&events, b"seed = 1\n"), None);
        let other = EventRecord::other_plan(&events, b"seed = 2\n").unwrap();
        assert!(other.contains("BLAKE3 was ") && other.contains(" and is "), "{other}");
        assert_eq!(EventRecord::other_plan(&begun("a new run".to_owned()), b"seed = 2\n"), None);
    }

    #[test]
    fn the_last_event_of_a_life_says_whether_it_is_over() {
        let finished = |names: &[&str]| {
            let event = |(number, name): (usize, &&str)| EventRecord {
                at: format!("moment {number}"),
                event: (*name).to_owned(),
                detail: String::new(),
            };
            let events: Vec<EventRecord> = names.iter().enumerate().map(event).collect();
            EventRecord::finished_at(&events).map(str::to_owned)
        };
        assert_eq!(finished(&["started", "finished", "warning"]).as_deref(), Some("moment 1"));
        assert_eq!(finished(&["started", "finished", "resumed", "interrupted"]), None);
        assert_eq!(finished(&["started", "finished", "resumed"]), None);
        let again = finished(&["started", "finished", "resumed", "finished"]);
        assert_eq!(again.as_deref(), Some("moment 3"));
        assert_eq!(finished(&["started"]), None);
        assert_eq!(finished(&[]), None);
    }
}
