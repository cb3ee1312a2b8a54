//! How to read the report: the words and the formulas, for somebody who has not read the paper.

use btu_core::calls::Calls;
use btu_core::plan::Plan;
use btu_core::plan::Work;
use btu_core::words::several;

use super::Run;
use super::Section;
use crate::document::Block;
use crate::document::Level;
use crate::document::Pair;

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
            _ => Pair::new(*name, *meaning),
        });
        let rows = std::iter::once(Pair::new("BTU", score(plan))).chain(words);
        let rows = rows.chain(window(plan).map(|text| Pair::new("Window", text)));
        let rows = rows.chain(calls(plan).map(|text| Pair::new("Calls", text))).collect();
        vec![
            Block::Facts { rows },
            Block::paragraph(
                "Method: K. Maly, A. Gupta, S. Mynam, A workstation's communication performance \
                 benchmark (BTU), 1996. Every figure can be computed again from samples.jsonl of \
                 this result.",
            ),
        ]
    }
}

/// What the score of this plan is a mean of.
fn score(plan: &Plan) -> String {
    let cases = several(plan.cases.len(), "case");
    let applications = several(plan.applications.len(), "application class");
    let activities = match plan.activities.len() {
        1 => "1 host activity".to_owned(),
        count => format!("{count} host activities"),
    };
    let partial = if plan.partial { " This is a part of the edition's matrix." } else { "" };
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

/// By which calls messages went, where the plan has others than the editions.
fn calls(plan: &Plan) -> Option<String> {
    let Calls { write, test_read, black_box_read } = plan.comm;
    let unseen = "; the bits never reached the memory of a user there";
    let unseen = if black_box_read.reaches_the_user() { "" } else { unseen };
    (!plan.comm.is_default()).then(|| {
        format!(
            "not those of the edition, so never to be compared with a score of it: messages were written by \
             {write}, the host under test read by {test_read}, a black box by {black_box_read}{unseen}."
        )
    })
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

const WORDS: &[(&str, &str)] = &[
    (
        "Penalty",
        "how much longer the host's own work takes while traffic flows: geometric mean of the \
         slowdowns less one, in percent.",
    ),
    (
        "Case",
        "who sends to whom, and what the link does: +DL delays every packet each way, +DR drops \
         packets by a counter pattern, 2 means two peers at once.",
    ),
    ("Application class", "known by its message size: one write per message, never batched."),
    (
        ACTIVITY,
        "what else the host does: cpu computes and copies memory, io copies files, ftp transfers \
         files over a connection of its own.",
    ),
    (
        "Pass",
        "one complete block of all cells in random order. Passes are what intervals are computed \
         over: Student's t on the logarithms, 95 %.",
    ),
    (
        "Flag",
        "a remark on a cell. Flagged cells are never dropped; a cell that met its time cap counts \
         with the cap, and the result is then not rankable.",
    ),
    (
        "Rankable",
        "an official run of a complete matrix on real hosts or of one testbed class, with every \
         check passed. Only results of one edition, preset and testbed class may be compared.",
    ),
];

#[cfg(test)]
mod tests {
    use btu_core::plan::Choices;
    use btu_core::plan::Vocabulary;

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
}
