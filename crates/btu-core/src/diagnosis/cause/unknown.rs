//! Nothing that is known explains it.

use crate::diagnosis::Basis;
use crate::diagnosis::Cause;
use crate::diagnosis::Confidence;
use crate::diagnosis::Figure;
use crate::diagnosis::Finding;
use crate::diagnosis::Site;
use crate::diagnosis::seen::Seen;
use crate::tcp::Limit;

pub(in crate::diagnosis) const CAUSE: Cause = Cause {
    name: "unknown",
    site: Site::Path,
    basis: Basis::Waits,
    about: "no known cause explains what was seen",
    remedy: "look at the chart, and at the hosts while it happens",
    explains: &[],
    find,
};

fn find(seen: &Seen<'_>) -> Option<Finding> {
    let share = seen.waited(Limit::Unknown);
    let asked = &seen.evidence.abnormal;
    if share < LEAST_SHARE && asked.is_empty() {
        return None;
    }
    let sentence = match asked.first() {
        Some(why) if share < LEAST_SHARE && seen.worked.fills_the_time() => {
            let busy = seen.worked.told();
            let rest = seen.other_programs().map_or_else(
                || "nothing else explains it".to_owned(),
                |used| format!("other programs used {used:.0} % of a CPU"),
            );
            format!("{busy} of the time, and {rest} ({why})")
        }
        Some(why) if share < LEAST_SHARE => format!("nothing in the capture explains it ({why})"),
        _ => format!(
            "{:.0} % of the time the sender had data, window and acknowledgements, and did not send: a \
             busy or paced sender, perhaps",
            share * 100.0
        ),
    };
    Some(Finding {
        share: share.max(0.01),
        confidence: Confidence::Low,
        sentence,
        figures: vec![Figure::new("unexplained waits", share * 100.0, "%")],
    })
}

const LEAST_SHARE: f64 = 0.25;
