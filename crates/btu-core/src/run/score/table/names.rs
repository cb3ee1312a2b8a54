//! The names of a table beside those of the editions: what is unknown, and what is missing.

use std::collections::BTreeSet;

use super::object::COUNTING;
use crate::run::cell::Case;
use crate::run::score::Figure;
use crate::words::slip_of;

/// The application classes of every edition (maly1996, section 4.2, eq. 2).
pub(super) const APPLICATIONS: [&str; 5] = ["telnet", "ftp", "audio", "netscape", "video"];

/// The message sizes of these, bytes.
const SIZES: [u64; 5] = [100, 1024, 1250, 4096, 65_536];

/// The message size of a class, where it is one of the editions'.
pub(super) fn size_of(name: &str) -> Option<u64> {
    APPLICATIONS.iter().zip(SIZES).find(|(known, _)| **known == name).map(|(_, size)| size)
}

/// The host activities of every edition.
pub(super) const ACTIVITIES: [&str; 3] = ["cpu", "ftp", "io"];

/// What to write where a cell was meant to have no activity, and would count as loaded.
pub(super) fn meant_none(name: &str) -> Option<String> {
    slip_of(name, &["none"])
        .map(|known| format!("unknown activity: write {known}, if the host was idle"))
}

/// An activity is known by what it does alone: one that no edition has may have slowdowns only.
pub(super) fn unknown_activity(name: &str) -> String {
    let meant = slip_of(name, &ACTIVITIES)
        .map_or_else(String::new, |known| format!(" (or is it {known}?)"));
    format!(
        "activity \"{name}\" is of no edition{meant}, and activities_base has no rate of it; editions have {}",
        ACTIVITIES.join(", ")
    )
}

/// A flag of results that says nothing of how its row counts.
pub(super) fn idle_flag(name: &str) -> String {
    format!("flag \"{name}\" changes no figure here; {} do", COUNTING.join(" and "))
}

/// A class is known by its message size: one that no edition has should say it.
pub(super) fn unsized_class(name: &str) -> Option<String> {
    if APPLICATIONS.contains(&name) {
        return None;
    }
    let meant = slip_of(name, &APPLICATIONS)
        .map_or_else(String::new, |known| format!(" (or is it {known}?)"));
    Some(format!(
        "application \"{name}\" is of no edition{meant}, and no row gives its message_bytes; editions have {}",
        APPLICATIONS.join(", ")
    ))
}

/// What an edition measures and the table has nothing of; `None` where there is no such thing.
pub(super) fn lacks(cells: &[Figure]) -> Option<String> {
    let loaded: Vec<&Figure> = cells.iter().filter(|cell| cell.is_loaded()).collect();
    if loaded.is_empty() {
        return Some("less than an edition measures: no loaded cell".to_owned());
    }
    let lacks = |of: &str, wanted: &[&str], name: fn(&Figure) -> &str| {
        let found: BTreeSet<&str> = loaded.iter().map(|cell| name(cell)).collect();
        let missing: Vec<&str> =
            wanted.iter().copied().filter(|one| !found.contains(one)).collect();
        (!missing.is_empty()).then(|| format!("no {of} {}", missing.join(", ")))
    };
    let cases = Case::ALL.map(Case::name);
    let missing: Vec<String> = [
        lacks("case", &cases, |cell| &cell.case),
        lacks("application", &APPLICATIONS, |cell| &cell.application),
        lacks("activity", &ACTIVITIES, |cell| &cell.activity),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!missing.is_empty()).then(|| {
        format!("less than an edition measures among the loaded cells: {}", missing.join("; "))
    })
}

/// Why a table is not whole; `None` for one that is.
pub(super) fn holes(cells: &[Figure]) -> Option<String> {
    has_holes(cells).then(|| HOLES.to_owned())
}

const HOLES: &str = "PARTIAL: not every case x application x activity is in the table";

/// What a result says of itself.
#[derive(Clone, Debug)]
pub(super) struct OfResult {
    /// It has not the whole matrix of its edition.
    pub(super) partial: bool,
    /// Why it is not rankable.
    pub(super) reasons: Vec<String>,
}

impl OfResult {
    /// Why the result is not the whole of what its edition measures.
    pub(super) fn lacks(&self, cells: &[Figure]) -> Option<String> {
        let said = self.reasons.iter().find_map(|reason| reason.strip_prefix("partial: "));
        let left_out = said.unwrap_or("the result has not the whole matrix of its edition");
        let told = self.partial.then(|| format!("PARTIAL: {left_out}"));
        told.or_else(|| has_holes(cells).then(|| HOLES.to_owned()))
    }
}

/// True where the loaded cells are fewer than cases x applications x activities, and where there are baselines,
/// but not of the same cases x applications.
fn has_holes(cells: &[Figure]) -> bool {
    let (loaded, idle): (Vec<&Figure>, Vec<&Figure>) =
        cells.iter().partition(|cell| cell.is_loaded());
    let pairs = |cells: &[&Figure]| {
        let pair = |cell: &&Figure| (cell.case.clone(), cell.application.clone());
        cells.iter().map(pair).collect::<BTreeSet<_>>()
    };
    let kinds = |name: fn(&Figure) -> &str| {
        loaded.iter().map(|cell| name(cell)).collect::<BTreeSet<_>>().len()
    };
    let whole = kinds(|c| &c.case) * kinds(|c| &c.application) * kinds(|c| &c.activity);
    let is_even = loaded.is_empty() || idle.is_empty() || pairs(&loaded) == pairs(&idle);
    loaded.len() < whole || !is_even
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::cell::ActivityName;
    use crate::run::plan::Choices;
    use crate::run::plan::EDITIONS;
    use crate::run::plan::Plan;
    use crate::run::plan::Vocabulary;

    #[test]
    fn these_are_the_names_of_every_edition() {
        for edition in EDITIONS {
            let choices = Choices { edition: Some(edition.name), ..Choices::default() };
            let plan = Plan::resolve(&choices, &Vocabulary { activities: &ACTIVITIES }, 1).unwrap();
            let applications: Vec<&str> =
                plan.applications.iter().map(|a| a.name.as_str()).collect();
            assert_eq!(applications, APPLICATIONS, "{}", edition.name);
            let sizes: Vec<u64> =
                plan.applications.iter().map(|a| a.message_bytes.count()).collect();
            assert_eq!(sizes, SIZES, "{}", edition.name);
            let activities: Vec<&str> = plan.activities.iter().map(ActivityName::as_str).collect();
            assert_eq!(activities, ACTIVITIES, "{}", edition.name);
        }
    }
}
