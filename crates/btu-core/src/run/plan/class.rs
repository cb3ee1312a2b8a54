//! Where a result comes from: the class of a plan's testbed.

use std::fmt;

use serde::Deserialize;
use serde::Serialize;
use toml::Spanned;

use super::PlanError;
use super::error::Source;
use super::raw::RawPlan;
use super::resolve::Choices;

/// What lies between the three roles: their testbed. Ordered by how much of it is not the test host's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestbedClass {
    /// Nothing: this machine has all roles, in namespaces.
    Local,
    /// Real hosts, and a network of their own.
    Lab,
    /// Real hosts of a provider, and its network.
    Cloud,
    /// Real hosts, and a network of many owners.
    Wan,
}

impl TestbedClass {
    /// All that there are.
    pub const ALL: [Self; 4] = [Self::Local, Self::Lab, Self::Cloud, Self::Wan];

    /// `local`, `lab`, `cloud` or `wan`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Lab => "lab",
            Self::Cloud => "cloud",
            Self::Wan => "wan",
        }
    }

    /// The class of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// True where this machine has all roles.
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Local)
    }
}

impl fmt::Display for TestbedClass {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// Writes the class into the plan: what the command line says, else what the file says, else that of real hosts by
/// default. A printed plan is one of this machine, and made for real hosts by naming them.
pub(super) fn decide(
    choices: &Choices<'_>,
    own: &mut RawPlan,
    source: &Source<'_>,
) -> Result<(), PlanError> {
    let local = TestbedClass::Local.name();
    let file = own.testbed_class.as_ref().filter(|class| class.get_ref() != local);
    if let (Some(option), Some(file)) = (choices.testbed_class, file)
        && option.name() != file.get_ref()
    {
        return Err(PlanError::Contradiction(format!(
            "--testbed-class {option} contradicts {}: testbed_class = \"{}\"; leave one of them out",
            source.place(file.span()),
            file.get_ref()
        )));
    }
    let default = (choices.real_hosts && file.is_none()).then_some(TestbedClass::Lab);
    if let Some(class) = choices.testbed_class.or(default) {
        own.testbed_class = Some(Spanned::new(0..0, class.name().to_owned()));
    }
    Ok(())
}
