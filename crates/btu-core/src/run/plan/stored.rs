//! The plan of a stored result, read back.

use std::collections::BTreeMap;

use super::Choices;
use super::EDITIONS;
use super::Edition;
use super::Plan;
use super::PlanError;
use super::Vocabulary;
use super::bounds::Purpose;
use super::error::Source;
use super::raw::RawEdition;
use super::raw::RawPlan;
use super::raw::RawPreset;
use super::resolve::assemble;
use super::resolve::parse_edition;
use super::text::Reader;

impl Plan {
    /// The plan in `plan.toml` of a result.
    ///
    /// Whoever reads a result need not be able to repeat it: an activity or an edition that this
    /// build does not have is still a name, and the canonical plan holds every value. What a run can
    /// keep bounds no plan that was run.
    ///
    /// # Errors
    /// The first value that is not legal, with its place.
    #[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
    pub fn stored(name: &str, text: &str) -> Result<Self, PlanError> {
        let source = Source { name, text };
        let own: RawPlan = toml::from_str(text).map_err(|error| source.syntax(&error))?;
        let theirs = own.matrix.activities.iter().flatten().map(|name| name.get_ref().clone());
        let mut names: Vec<String> = theirs.collect();
        for edition in EDITIONS {
            let legal = parse_edition(edition)?.matrix.activities;
            names.extend(legal.into_iter().flatten().map(toml::Spanned::into_inner));
        }
        let activities: Vec<&str> = names.iter().map(String::as_str).collect();
        let words = Vocabulary { activities: &activities };
        if is_of_this_build(&own) {
            let choices = Choices { plan: Some((name, text)), ..Choices::default() };
            return Self::resolve_for(Purpose::Read, &choices, &words, 0);
        }
        foreign(own, &Reader { source, words: &words, purpose: Purpose::Read })
    }
}

/// True where the plan's edition is one of ours, to the byte.
fn is_of_this_build(own: &RawPlan) -> bool {
    let hash = spelled(own.edition_hash.as_ref());
    let edition = Edition::named(&spelled(own.edition.as_ref()));
    edition.is_some_and(|edition| hash.is_empty() || edition.hash() == hash)
}

/// A plan of an edition that this build does not have: every value is in the plan itself.
fn foreign(own: RawPlan, reader: &Reader<'_>) -> Result<Plan, PlanError> {
    let edition = spelled(own.edition.as_ref());
    let edition_hash = spelled(own.edition_hash.as_ref());
    let preset = spelled(own.preset.as_ref());
    let partial = own.partial;
    let base = RawEdition {
        name: toml::Spanned::new(0..0, edition.clone()),
        matrix: own.matrix.clone(),
        time: own.time.clone(),
        link: own.link.clone(),
        sockets: own.sockets.clone(),
        comm: own.comm.clone(),
        activity: own.activity.clone(),
        preset: BTreeMap::new(),
    };
    let plan = assemble(own, &base, &RawPreset::default(), &EDITIONS[0], reader)?;
    Ok(Plan { edition, edition_hash, preset, partial, ..plan })
}

fn spelled(text: Option<&toml::Spanned<String>>) -> String {
    text.map(|text| text.get_ref().clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    fn plan(choices: &Choices<'_>) -> Plan {
        let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
        Plan::resolve(choices, &words, 7).unwrap()
    }

    #[test]
    fn a_stored_plan_is_the_plan_that_was_run() {
        for choices in [
            Choices { edition: Some("btu-96"), ..Choices::default() },
            Choices { activities: Some(&["io".to_owned()]), ..Choices::default() },
            Choices { official: true, cases: Some(&["SEND".to_owned()]), ..Choices::default() },
        ] {
            let plan = plan(&choices);
            assert_eq!(Plan::stored("plan.toml", &plan.to_toml()), Ok(plan));
        }
    }

    /// Results are kept for longer than the bounds of the program that made them.
    #[test]
    fn a_plan_that_no_run_may_have_any_more_is_read_and_none_that_no_arithmetic_holds() {
        let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
        let edited = |key: &str, value: &str| {
            let text = plan(&Choices::default()).to_toml();
            let line = text.lines().find(|line| line.starts_with(key)).unwrap();
            text.replacen(line, &format!("{key} = {value}"), 1)
        };
        for (key, value) in [
            ("window", "\"100000s\""),
            ("window", "\"10us\""),
            ("lead_in", "\"40s\""),
            ("alone", "\"100000s\""),
            ("budget", "\"315360000s\""),
            ("repeat_allowance", "\"315360000s\""),
            ("delay", "\"1000s\""),
            ("max", "20000"),
            ("max", "4294967295"),
            ("io_file", "\"1000TB\""),
        ] {
            let text = edited(key, value);
            let choices = Choices { plan: Some(("plan.toml", &text)), ..Choices::default() };
            let refused = Plan::resolve(&choices, &words, 7).is_err();
            assert!(refused, "{key} = {value} would run");
            let read = Plan::stored("plan.toml", &text);
            let read = read.unwrap_or_else(|why| panic!("{key} = {value}: {why}"));
            assert!(read.estimate() <= read.estimate_max(), "{key} = {value}");
            let foreign = text.replacen("btu-26", "btu-31", 1);
            assert!(Plan::stored("plan.toml", &foreign).is_ok(), "{key} = {value}");
        }
        for (key, value) in [("window", "\"0s\""), ("lead_in", "\"1000000000s\""), ("max", "0")] {
            let refused = Plan::stored("plan.toml", &edited(key, value)).unwrap_err().to_string();
            assert!(refused.contains(key), "{refused}");
        }
    }

    #[test]
    fn all_that_a_stored_plan_may_hold_together_is_read() {
        let text = plan(&Choices::default()).to_toml();
        let most = |line: &str| match line.split(" = ").next() {
            Some(
                key @ ("window" | "lead_in" | "alone" | "budget" | "repeat_allowance" | "delay"),
            ) => {
                format!("{key} = \"315360000s\"")
            }
            Some(key @ ("min" | "max")) => format!("{key} = 4294967295"),
            _ => line.to_owned(),
        };
        let text: Vec<String> = text.lines().map(most).collect();
        let read = Plan::stored("plan.toml", &text.join("\n")).unwrap();
        assert!(read.estimate() <= read.estimate_max() && read.time_cap() > Nanos::ZERO);
    }

    /// Whether the matrix is the edition's is known where that edition is: the plan itself has to say it.
    #[test]
    fn a_part_of_an_edition_that_this_build_does_not_have_stays_a_part() {
        let part = Choices { cases: Some(&["SEND".to_owned()]), ..Choices::default() };
        for (choices, partial) in [(part, true), (Choices::default(), false)] {
            let text = plan(&choices).to_toml();
            let foreign = text.replacen("edition_hash = \"", "edition_hash = \"0", 1);
            let read = |text: &str| Plan::stored("plan.toml", text).unwrap().partial;
            assert_eq!([read(&text), read(&foreign)], [Some(partial); 2]);
            let silent = |text: &str| text.replacen(&format!("partial = {partial}\n"), "", 1);
            assert_eq!(read(&silent(&text)), Some(partial), "this build has the edition");
            assert_eq!(read(&silent(&foreign)), None);
        }
    }

    #[test]
    fn a_plan_of_another_edition_is_read_as_it_stands() {
        for (edition, hash) in [("btu-31", "12"), ("btu-26", "34")] {
            let theirs = Plan {
                edition: edition.to_owned(),
                edition_hash: hash.to_owned(),
                preset: "thorough".to_owned(),
                ..plan(&Choices::default())
            };
            assert_eq!(Plan::stored("plan.toml", &theirs.to_toml()), Ok(theirs));
        }
    }
}
