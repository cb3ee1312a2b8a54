//! The statistics of a link, for people and for programs.

use btu_core::run::verdict;
use btu_core::run::verdict::Verdict;
use btu_core::sample::DirectionSample;
use serde_json::Value;
use serde_json::json;

use super::session::Ended;
use super::statement;

/// What a link did, judged.
#[derive(Debug)]
pub(crate) struct Document {
    directions: Vec<(DirectionSample, Verdict)>,
    notes: Vec<String>,
    status: u8,
}

impl Document {
    /// Judges the record of both directions.
    pub(crate) fn of(ended: &Ended) -> Self {
        let judged = ended.directions.iter().map(|sample| {
            let verdict = verdict::direction(sample, &verdict::Context::default());
            (sample.clone(), verdict)
        });
        Self { directions: judged.collect(), notes: ended.notes.clone(), status: ended.status }
    }

    /// The verdict on both directions together.
    pub(crate) fn verdict(&self) -> Verdict {
        let verdicts = self.directions.iter().map(|(_, verdict)| verdict.clone());
        verdicts.fold(Verdict::Valid, Verdict::and)
    }

    /// One line per direction, and what else is to be said.
    pub(crate) fn lines(&self) -> Vec<String> {
        let directions =
            self.directions.iter().map(|(sample, verdict)| statement::done(sample, verdict));
        self.notes.iter().cloned().chain(directions).collect()
    }

    /// `{"up": {...}, "down": {...}, "verdict": ...}`
    pub(crate) fn json(&self) -> Value {
        let verdict = self.verdict();
        let mut document = json!({
            "schema_version": 1,
            "verdict": name(&verdict),
            "verdict_causes": verdict.causes(),
            "exit_status": self.status,
            "notes": self.notes,
        });
        for (sample, verdict) in &self.directions {
            document[&sample.direction] = direction(sample, verdict);
        }
        document
    }
}

fn direction(sample: &DirectionSample, verdict: &Verdict) -> Value {
    let mut value = json!(sample);
    let positions = sample.drop_positions.iter().take(POSITIONS).collect::<Vec<_>>();
    value["drop_positions"] = json!(positions);
    value["verdict"] = json!(name(verdict));
    value["verdict_causes"] = json!(verdict.causes());
    value
}

fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Valid => "valid",
        Verdict::Limited(_) => "limited",
        Verdict::Invalid(_) => "invalid",
    }
}

/// Positions of drops in the document; the journal of a run keeps more.
const POSITIONS: usize = 1000;
