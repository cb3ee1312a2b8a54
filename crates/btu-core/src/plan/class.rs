//! Where a result comes from: the class of a plan's testbed.

use toml::Spanned;

use super::PlanError;
use super::error::Source;
use super::raw::RawPlan;
use super::resolve::Choices;

/// All that there are: the first is this machine alone.
pub(super) const TESTBED_CLASSES: &[&str] = &[LOCAL, "lab", "cloud", "wan"];

const LOCAL: &str = "local";

/// Writes the class into the plan: what the command line says, else what the file says, else that of real hosts by
/// default. A printed plan is one of this machine, and made for real hosts by naming them.
pub(super) fn decide(
    choices: &Choices<'_>,
    own: &mut RawPlan,
    source: &Source<'_>,
) -> Result<(), PlanError> {
    let file = own.testbed_class.as_ref().filter(|class| class.get_ref() != LOCAL);
    if let (Some(option), Some(file)) = (choices.testbed_class, file)
        && option != file.get_ref()
    {
        return Err(PlanError::Contradiction(format!(
            "--testbed-class {option} contradicts {}: testbed_class = \"{}\"; leave one of them out",
            source.place(file.span()),
            file.get_ref()
        )));
    }
    let default = (choices.real_hosts && file.is_none()).then_some("lab");
    if let Some(class) = choices.testbed_class.or(default) {
        own.testbed_class = Some(Spanned::new(0..0, class.to_owned()));
    }
    Ok(())
}
