//! The namespaces of the link: rights, depth, and the far end's place.

use btu_sys::namespace;
use btu_sys::namespace::IdMap;
use btu_testbed::around::Around;
use btu_testbed::around::AroundError;
use btu_testbed::around::Depth;
use btu_testbed::around::FarEnd;
use btu_testbed::outside::Outside;
use btu_testbed::outside::OutsideError;

use anyhow::anyhow;

use super::options::Net;
use crate::exit::Failure;
use crate::privilege::refused;

/// The namespaces of one link, and the address that a command behind it should talk to.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) around: Around,
    /// Whether the far end is the near end of an enclosing link.
    pub(crate) far_end: FarEnd,
    /// The way out, where one was asked for.
    _outside: Option<Outside>,
}

impl Network {
    /// Enters a user namespace where needed and makes the link's namespaces. Call it while the
    /// process has one thread.
    pub(crate) fn create(mtu: u32, net: Net) -> Result<Self, Failure> {
        if !namespace::is_privileged() {
            if net == Net::Nat {
                return Err(Failure::environment(anyhow!("--net nat: {NAT_NEEDS_ROOT}"))
                    .hint("--reach HOST:PORT joins single services of the outside, without root"));
            }
            namespace::enter_user_namespace(IdMap::Identity).map_err(refused)?;
        }
        let (depth, far_end) = place()?;
        if net == Net::Nat && far_end == FarEnd::Here {
            return Err(super::only_outermost("--net nat"));
        }
        let around = Around::create(depth, far_end, mtu).map_err(|cause| match cause {
            AroundError::Namespace(cause) => refused(cause),
            taken @ AroundError::Taken(_) => Failure::environment(taken)
                .hint("put the commands behind one link, or start the links from different ones"),
            other @ AroundError::End { .. } => Failure::environment(other),
        })?;
        let outside = match net {
            Net::Nat => Some(Outside::join(&around).map_err(not_joined)?),
            Net::Far | Net::Pasta => None,
        };
        Ok(Self { around, far_end, _outside: outside })
    }

    /// The far end to talk to: of an enclosing link its own, so that packets cross all depths,
    /// unless this link has a server of its own.
    pub(crate) fn target(&self, own_server: bool) -> String {
        self.outermost(FAR, own_server).unwrap_or_else(|| self.around.depth().far().to_string())
    }

    /// Its IPv6 address, where this link has IPv6.
    pub(crate) fn target6(&self, own_server: bool) -> Option<String> {
        let own = || self.around.depth().far6().to_string();
        let outermost = self.outermost(FAR6, own_server);
        self.around.has_ipv6().then(|| outermost.unwrap_or_else(own))
    }

    fn outermost(&self, variable: &str, own_server: bool) -> Option<String> {
        let outer = std::env::var(variable).ok();
        outer.filter(|_| self.far_end == FarEnd::Here && !own_server)
    }
}

/// Inside another link if its variables say so and its near end is really here.
fn place() -> Result<(Depth, FarEnd), Failure> {
    let outer = std::env::var(DEPTH).ok().and_then(|text| text.parse().ok()).and_then(Depth::new);
    match outer.filter(|depth| depth.is_here()) {
        None => Ok((Depth::OUTERMOST, FarEnd::Alone)),
        Some(outer) => match outer.inner() {
            Some(depth) => Ok((depth, FarEnd::Here)),
            None => Err(Failure::usage(anyhow!("links nest at most {} deep", Depth::DEEPEST))),
        },
    }
}

fn not_joined(cause: OutsideError) -> Failure {
    let remedy = match &cause {
        OutsideError::NotForwarding => Some("as root: sysctl net.ipv4.ip_forward=1"),
        OutsideError::Join(_) => Some("it needs Linux 5.12 with nf_tables and nft_masq"),
        OutsideError::Full | OutsideError::Namespace(_) => None,
    };
    let failure = Failure::environment(anyhow!(cause).context("--net nat"));
    match remedy {
        Some(remedy) => failure.hint(remedy),
        None => failure,
    }
}

const NAT_NEEDS_ROOT: &str = "it needs root: an ordinary user may not change the host's network";
/// Variables that a command behind a link finds.
pub(crate) const NEAR: &str = "BTU_LINK_NEAR";
pub(crate) const FAR: &str = "BTU_LINK_FAR";
pub(crate) const NEAR6: &str = "BTU_LINK_NEAR6";
pub(crate) const FAR6: &str = "BTU_LINK_FAR6";
pub(crate) const DEPTH: &str = "BTU_LINK_DEPTH";
