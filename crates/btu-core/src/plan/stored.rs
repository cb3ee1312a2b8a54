//! The plan of a stored result, read back.

use super::Choices;
use super::EDITIONS;
use super::Plan;
use super::PlanError;
use super::Vocabulary;
use super::error::Source;
use super::raw::RawPlan;

impl Plan {
    /// The plan in `plan.toml` of a result.
    ///
    /// Whoever reads a result need not be able to repeat it: an activity that this build does not
    /// have is still a name.
    ///
    /// # Errors
    /// The first value that is not legal, with its place.
    pub fn stored(name: &str, text: &str) -> Result<Self, PlanError> {
        let raw: RawPlan =
            toml::from_str(text).map_err(|error| Source { name, text }.syntax(&error))?;
        let mut names = spelled(raw.matrix.activities);
        for edition in EDITIONS {
            names.extend(spelled(super::resolve::parse_edition(edition)?.matrix.activities));
        }
        let activities: Vec<&str> = names.iter().map(String::as_str).collect();
        let choices = Choices { plan: Some((name, text)), ..Choices::default() };
        Self::resolve(&choices, &Vocabulary { activities: &activities }, 0)
    }
}

fn spelled(names: Option<Vec<toml::Spanned<String>>>) -> Vec<String> {
    names.unwrap_or_default().into_iter().map(toml::Spanned::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_plan_is_the_plan_that_was_run() {
        let words = Vocabulary { activities: &["cpu", "ftp", "io"] };
        for choices in [
            Choices { edition: Some("btu-96"), ..Choices::default() },
            Choices { activities: Some(&["io".to_owned()]), ..Choices::default() },
            Choices { official: true, cases: Some(&["SEND".to_owned()]), ..Choices::default() },
        ] {
            let plan = Plan::resolve(&choices, &words, 7).unwrap();
            assert_eq!(Plan::stored("plan.toml", &plan.to_toml()), Ok(plan));
        }
    }
}
