//! The namespaces of the link: rights, level, and the far end's place.

use btu_sys::namespace;
use btu_sys::namespace::IdMap;
use btu_sys::namespace::NamespaceError;
use btu_testbed::around::Around;
use btu_testbed::around::AroundError;
use btu_testbed::around::FarEnd;
use btu_testbed::around::Level;

use anyhow::anyhow;

use crate::exit::Failure;

/// The namespaces of one link, and the address that a command behind it should talk to.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) around: Around,
    /// Whether the far end is the near end of an enclosing link.
    pub(crate) far_end: FarEnd,
}

impl Network {
    /// Enters a user namespace where needed and makes the link's namespaces. Call it while the
    /// process has one thread.
    pub(crate) fn create(mtu: u32) -> Result<Self, Failure> {
        if !namespace::is_privileged() {
            namespace::enter_user_namespace(IdMap::Identity).map_err(refused)?;
        }
        let (level, far_end) = place()?;
        let around = Around::create(level, far_end, mtu).map_err(|cause| match cause {
            AroundError::Namespace(cause) => refused(cause),
            taken @ AroundError::Taken(_) => Failure::environment(taken)
                .hint("put the commands behind one link, or start the links from different ones"),
            other @ AroundError::End { .. } => Failure::environment(other),
        })?;
        Ok(Self { around, far_end })
    }

    /// The far end to talk to: of an enclosing link its own, so that packets cross all levels,
    /// unless this link has a server of its own.
    pub(crate) fn target(&self, own_server: bool) -> String {
        let own = self.around.level().far().to_string();
        match std::env::var(FAR) {
            Ok(outer) if self.far_end == FarEnd::Here && !own_server => outer,
            _ => own,
        }
    }
}

/// Inside another link if its variables say so and its near end is really here.
fn place() -> Result<(Level, FarEnd), Failure> {
    let outer = std::env::var(LEVEL).ok().and_then(|text| text.parse().ok()).and_then(Level::new);
    match outer.filter(|level| level.is_here()) {
        None => Ok((Level::OUTERMOST, FarEnd::Alone)),
        Some(outer) => match outer.inner() {
            Some(level) => Ok((level, FarEnd::Here)),
            None => Err(Failure::usage(anyhow!("links nest at most {} deep", Level::DEEPEST))),
        },
    }
}

fn refused(cause: NamespaceError) -> Failure {
    let remedy = match &cause {
        NamespaceError::User { refusal, .. }
        | NamespaceError::Map { refusal, .. }
        | NamespaceError::Net { refusal, .. } => Some(refusal.remedy()),
        _ => None,
    };
    let failure = Failure::environment(cause);
    match remedy {
        Some(remedy) => failure.hint(format!("{remedy}; btu doctor says more")),
        None => failure,
    }
}

/// Variables that a command behind a link finds.
pub(crate) const NEAR: &str = "BTU_LINK_NEAR";
pub(crate) const FAR: &str = "BTU_LINK_FAR";
pub(crate) const LEVEL: &str = "BTU_LINK_LEVEL";
