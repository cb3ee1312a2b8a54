//! How to read the report: the words and the formulas, for somebody who has not read the paper.

mod calls;

use std::collections::BTreeMap;

use btu_core::placement::Placement;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::INCOMPLETE_PASS;
use btu_core::run::anomaly::RULES;
use btu_core::run::plan::Plan;
use btu_core::run::plan::Work;
use btu_core::sample::Flag;
use btu_core::words::several;

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Level;
use crate::document::Pair;
use crate::flags::Flags;

/// A page of explanation.
#[derive(Debug)]
pub(super) struct Reading;

impl Section for Reading {
    fn name(&self) -> &'static str {
        "reading"
    }

    fn title(&self) -> &'static str {
        "How to read this report"
    }

    fn level(&self) -> Level {
        Level::Appendix
    }

    fn compose(&self, run: &Run<'_>) -> Vec<Block> {
        let plan = &run.journal.plan;
        let words = WORDS.iter().map(|(name, meaning)| match *name {
            ACTIVITY => Pair::new(*name, format!("{meaning} {}", counted(plan.work))),
            CLASS => Pair::new(*name, format!("{meaning} {}", calls::written(plan.comm))),
            _ => Pair::new(*name, *meaning),
        });
        let rows = std::iter::once(Pair::new("BTU", score(plan))).chain(words);
        let rows = rows.chain(window(plan).map(|text| Pair::new("Window", text)));
        let rows = rows.chain(calls::told(run.journal).map(|text| Pair::new("Calls", text)));
        let rows =
            rows.chain(placed(plan.placement).map(|text| Pair::new("Placement", text))).collect();
        let flags = meanings(run.analysis);
        let flags = (!flags.is_empty()).then(|| {
            Block::details("What the flags of this report mean", vec![Block::Facts { rows: flags }])
        });
        let mut blocks = vec![Block::Facts { rows }];
        blocks.extend(flags);
        blocks.push(Block::paragraph(
            "Method: K. Maly, A. Gupta, S. Mynam, A workstation's communication performance \
                 benchmark (BTU), 1996. Every figure can be computed again from samples.jsonl of \
                 this result.",
        ));
        blocks
    }
}

/// Where the data threads ran; `None` of a placement like the edition's.
fn placed(placement: Placement) -> Option<String> {
    let how = match placement {
        Placement::Split => return None,
        Placement::Same => {
            "the black boxes ran on the test host's CPUs, both ends of a connection on one of them"
        }
        Placement::Free => "the data threads ran where the scheduler put them",
    };
    let never = "not that of the edition, so never to be compared with a score of it";
    Some(format!("{placement}, {never}: {how}."))
}

/// What each flag of a cell stands for.
fn meanings(analysis: &Analysis) -> Vec<Pair> {
    let of_rules = RULES.iter().map(|rule| (rule.name, rule.about));
    let known: BTreeMap<&str, &str> = of_rules.chain(OF_RUNS.iter().copied()).collect();
    let flags = Flags::of(&analysis.cells);
    let told = flags.cells.keys().filter_map(|name| Some(Pair::new(*name, *known.get(name)?)));
    told.collect()
}

/// Flags that no rule gives.
const OF_RUNS: &[(&str, &str)] = &[
    ("activity-failed", "the activity, or a part of it, ended with an error"),
    (
        "censored",
        "a time cap or a fault ended the traffic, or the activity finished nothing: the goodput or the slowdown is \
         a bound, and the result is not rankable",
    ),
    (
        "emulation-late",
        "the emulated link was later than its bounds allow, lost what it should not, or dropped other packets than \
         it should: the run is not valid, and counts all the same",
    ),
    (INCOMPLETE_PASS, "of a pass that is not complete: it counts for no composite"),
    ("invalid", "a setting of the host changed during the run, or something else made it invalid"),
    (Flag::POLICY_LIMITED, "an agent's policy held back what it sent"),
];

/// What the score of this plan is a mean of.
fn score(plan: &Plan) -> String {
    let cases = several(plan.cases.len(), "case");
    let applications = several(plan.applications.len(), "application class");
    let activities = match plan.activities.len() {
        1 => "1 host activity".to_owned(),
        count => format!("{count} host activities"),
    };
    let partial =
        if plan.partial == Some(true) { " This is a part of the edition's matrix." } else { "" };
    format!(
        "bits to the user, in Mb/s (10^6 bit/s): what applications of the busy host get over the \
         network. Geometric mean over {cases} of communication, {activities} and {applications}, \
         each cell with equal weight.{partial}"
    )
}

/// Whom the window of the black boxes holds back, where the plan sets one.
fn window(plan: &Plan) -> Option<String> {
    let clamp = plan.sockets.black_box_window_clamp?.count();
    Some(format!(
        "what a black box lets the host send before it answers, here at most {clamp} bytes. It \
         limits SEND and its kin, most of all over a delay: about one window in each round trip. \
         RECV is not limited by it: the host under test receives with the system's own window."
    ))
}

/// Which part of what an activity does counts.
fn counted(work: Work) -> &'static str {
    match work {
        Work::Calibrated => {
            "It does a fixed amount of work, which alone takes about as long as the traffic does \
             alone: both start together, and each is timed to its own end."
        }
        Work::Steady => {
            "It runs before the traffic starts and until after it ends; only work inside the \
             traffic's window counts."
        }
    }
}

const ACTIVITY: &str = "Activity";
const CLASS: &str = "Application class";

const WORDS: &[(&str, &str)] = &[
    (
        "Penalty",
        "how much longer the host's own work takes while traffic flows: geometric mean of the \
         slowdowns less one, in percent.",
    ),
    (
        "Case",
        "who sends to whom, and what the link does. SEND: the host under test sends to a peer; RECV: it \
         receives; SEND_RECV: it does both at once, with one peer each; 2SEND and 2RECV: with two peers at once. +DL \
         delays every packet each way, +DR drops packets towards the peer by a counter pattern.",
    ),
    (
        "Black box",
        "a peer of the host under test (test): active or passive. Its own cost is not judged, but may be a limit. \
         Up is the way from the test host to it, down the way back.",
    ),
    (CLASS, "known by its message size:"),
    (
        ACTIVITY,
        "what else the host does: cpu computes and copies memory, io copies files, ftp transfers \
         files over a connection of its own.",
    ),
    (
        "Slowdown",
        "the rate at which an activity works alone over its rate beside the traffic, in the same \
         pass: 2 means that its work takes twice as long.",
    ),
    (
        "Pass",
        "one complete block of all cells in random order. Passes are what intervals are computed \
         over: Student's t on the logarithms, 95 %.",
    ),
    (
        "Spread",
        "the robust coefficient of variation: how far the passes of a cell are apart, robustly: 1.4826 times the median distance of \
         their goodputs from the median one, in percent of that.",
    ),
    (
        "Flag",
        "a remark on a cell. Flagged cells are never dropped; a cell that met its time cap counts \
         with the cap, and the result is then not rankable.",
    ),
    (
        "Rankable",
        "a complete run of the preset by which its edition is ranked, with a release build and every check \
         passed. Only results of one edition, preset and testbed class may be compared.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use btu_core::run::plan::Choices;
    use btu_core::run::plan::Vocabulary;

    use super::*;

    #[test]
    fn the_score_is_a_mean_of_what_was_in_the_plan() {
        let said = |cases: Option<&[String]>, activities: Option<&[String]>| {
            let choices = Choices { cases, activities, ..Choices::default() };
            score(
                &Plan::resolve(&choices, &Vocabulary { activities: &["cpu", "ftp", "io"] }, 7)
                    .unwrap(),
            )
        };
        let one = |word: &str| [word.to_owned()];
        let part = said(Some(&one("SEND")), Some(&one("io")));
        let mean = "over 1 case of communication, 1 host activity and 5 application classes, each";
        assert!(part.contains(mean) && part.ends_with("a part of the edition's matrix."), "{part}");
        let two = ["cpu", "io"].map(str::to_owned);
        assert!(
            said(None, Some(&two)).contains("over 6 cases of communication, 2 host activities")
        );
    }

    #[test]
    fn every_flag_has_one_meaning() {
        let names = RULES.iter().map(|rule| rule.name).chain(OF_RUNS.iter().map(|(name, _)| *name));
        let names: Vec<&str> = names.collect();
        let different: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(different.len(), names.len());
    }

    #[test]
    fn only_an_edition_with_a_window_says_whom_it_limits() {
        let said = |edition: &str| {
            let choices = Choices { edition: Some(edition), ..Choices::default() };
            let activities = &["cpu", "ftp", "io"];
            window(&Plan::resolve(&choices, &Vocabulary { activities }, 7).unwrap())
        };
        assert_eq!(said("btu-26"), None);
        let old = said("btu-96").unwrap();
        assert!(old.contains("at most 4096 bytes") && old.contains("RECV is not limited by it"));
    }

    #[test]
    fn only_another_placement_than_the_edition_s_is_told() {
        assert_eq!(placed(Placement::Split), None);
        let said = |placement| placed(placement).unwrap();
        assert!(said(Placement::Same).ends_with("both ends of a connection on one of them."));
        assert!(said(Placement::Free).starts_with("free, not that of the edition"));
    }
}
