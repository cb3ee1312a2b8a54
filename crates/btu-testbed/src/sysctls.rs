//! Settings of the namespaces that BTU makes.

use std::io;

use btu_sys::sysctl;

/// A setting and its value.
pub(crate) type Setting = (&'static str, &'static str);

/// No IPv6 chatter on the links, and no packet refused for the way it came.
pub(crate) const QUIET: &[Setting] = &[
    ("net.ipv6.conf.all.disable_ipv6", "1"),
    ("net.ipv6.conf.default.disable_ipv6", "1"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
];

/// The same with IPv6, which is then as still as IPv4: no address, question or answer but ours.
pub(crate) const STILL: &[Setting] = &[
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.router_solicitations", "0"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
];

/// Whether the kernel has IPv6.
pub(crate) fn has_ipv6() -> bool {
    sysctl::read("net.ipv6.conf.all.disable_ipv6").is_ok()
}

/// Writes settings in the network namespace of the calling thread.
pub(crate) fn write_all(settings: &[Setting]) -> btu_sys::Result<()> {
    settings.iter().try_for_each(|(name, value)| match sysctl::write(name, value) {
        // A kernel without IPv6 has no setting to switch it off.
        Err(cause) if cause.kind() == io::ErrorKind::NotFound && name.contains("ipv6") => Ok(()),
        result => result,
    })
}
