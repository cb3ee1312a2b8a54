//! The parts of a plan that the command line names, and what is said of a name that is none.

use super::PlanError;

/// An option that names parts of a plan.
pub(super) struct Selection<'s> {
    pub(super) option: &'s str,
    /// Where the plan comes from.
    pub(super) plan: &'s str,
}

impl Selection<'_> {
    /// The named members of `legal`, in the order of `legal`. Those of `whole` are words, at least.
    pub(super) fn of<T: Clone>(
        &self,
        names: &[String],
        legal: &[T],
        whole: &[T],
        name_of: impl Fn(&T) -> &str,
    ) -> Result<Vec<T>, PlanError> {
        let all = || legal.iter().map(&name_of).collect::<Vec<_>>().join(", ");
        let is_among = |items: &[T], name: &str| items.iter().any(|item| name_of(item) == name);
        if let Some(name) = names.iter().find(|name| !is_among(legal, name)) {
            let why = if is_among(whole, name) {
                format!("not in the matrix of {}", self.plan)
            } else {
                "unknown name".to_owned()
            };
            return Err(self.illegal(name, format!("{why}; write {}", all())));
        }
        if let Some((_, name)) =
            names.iter().enumerate().find(|(at, name)| names[..*at].contains(name))
        {
            return Err(self.illegal(name, "named twice; leave one out".to_owned()));
        }
        if names.is_empty() {
            let option = self.option;
            return Err(PlanError::Contradiction(format!(
                "{option}: names nothing; write {}",
                all()
            )));
        }
        let is_named = |item: &&T| names.iter().any(|name| name == name_of(item));
        Ok(legal.iter().filter(is_named).cloned().collect())
    }

    fn illegal(&self, name: &str, cause: String) -> PlanError {
        let (place, key) = ("command line".to_owned(), self.option.to_owned());
        PlanError::Illegal { place, key, value: format!("\"{name}\""), cause }
    }
}
