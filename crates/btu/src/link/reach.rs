//! `--reach HOST:PORT`: the far end listens in the service's place and carries the bytes on.

use std::io;
use std::net::IpAddr;
use std::net::Shutdown;
use std::net::SocketAddr;
use std::net::SocketAddrV4;
use std::net::TcpListener;
use std::net::TcpStream;
use std::net::ToSocketAddrs;
use std::thread;

use anyhow::Context;
use anyhow::anyhow;
use btu_engine::EngineError;
use btu_sys::netlink::Netlink;
use btu_sys::process::ReplacedFile;
use btu_testbed::around::Around;

use crate::exit::Failure;

/// A service outside, and where a command behind the link finds it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    written: String,
    name: String,
    outside: SocketAddrV4,
}

impl Target {
    /// Looks the host up, in the caller's network.
    pub(crate) fn resolve(written: &str) -> Result<Self, Failure> {
        let (name, port) = written.rsplit_once(':').unwrap_or((written, ""));
        if name.is_empty() || !port.parse::<u16>().is_ok_and(|port| port > 0) {
            return Err(Failure::usage(anyhow!(
                "--reach {written}: write HOST:PORT, port 1-65535"
            )));
        }
        let found =
            written.to_socket_addrs().with_context(|| format!("--reach {written}: look up {name}"));
        let addresses = found.map_err(Failure::environment)?;
        let mut ipv4 = addresses.filter_map(|address| match address {
            SocketAddr::V4(address) => Some(address),
            SocketAddr::V6(_) => None,
        });
        let outside = ipv4.next().ok_or_else(|| {
            Failure::environment(anyhow!("--reach {written}: {name} has no IPv4 address"))
        })?;
        Ok(Self { written: written.to_owned(), name: name.to_owned(), outside })
    }

    /// True where both would appear at one place.
    fn meets(&self, other: &Self) -> bool {
        let [own, others] = [self, other].map(|target| (target.is_of_this_host(), target.outside));
        own.1.port() == others.1.port() && (own.1.ip() == others.1.ip() || own.0 && others.0)
    }

    fn is_of_this_host(&self) -> bool {
        self.outside.ip().is_loopback() || self.outside.ip().is_unspecified()
    }

    /// Where it appears: under its own address, or the far end's for services of this host.
    fn inside(&self, around: &Around) -> SocketAddrV4 {
        let far = around.depth().far();
        let address = if self.is_of_this_host() { far } else { *self.outside.ip() };
        SocketAddrV4::new(address, self.outside.port())
    }

    fn without_name(&self, inside: SocketAddrV4, cause: &io::Error) -> String {
        let name = &self.name;
        format!(
            "reach {}: {name} may not be known behind the link (read {HOSTS}: {cause}); write {inside}",
            self.written
        )
    }

    /// `reach example.org:80: TCP ends at the far end, ...`
    pub(crate) fn announcement(&self, around: &Around) -> String {
        let inside = self.inside(around);
        format!(
            "reach {} at {inside}: TCP ends at the far end and goes on from there",
            self.written
        )
    }
}

/// The services that are named, each once.
pub(crate) fn targets(written: &[String]) -> Result<Vec<Target>, Failure> {
    let mut targets: Vec<Target> = Vec::new();
    for text in written {
        let target = Target::resolve(text)?;
        if let Some(known) = targets.iter().find(|known| known.meets(&target)) {
            let cause = anyhow!("--reach {text}: --reach {} has its place already", known.written);
            return Err(Failure::usage(cause).hint("name each service once"));
        }
        targets.push(target);
    }
    Ok(targets)
}

/// `/etc/hosts` with the names of the targets, so that they mean the same behind the link; none where there is no name,
/// and the cause where the file cannot be read.
pub(crate) fn hosts_file(targets: &[Target], around: &Around) -> io::Result<Option<ReplacedFile>> {
    let lines: Vec<String> = named(targets)
        .map(|target| format!("{} {}\n", target.inside(around).ip(), target.name))
        .collect();
    if lines.is_empty() {
        return Ok(None);
    }
    let old = std::fs::read(HOSTS)?;
    Ok(Some(ReplacedFile { path: HOSTS.into(), content: [lines.concat().into(), old].concat() }))
}

/// What to write in place of each name, where the names could not be given.
pub(crate) fn without_names(targets: &[Target], around: &Around, cause: &io::Error) -> Vec<String> {
    named(targets).map(|target| target.without_name(target.inside(around), cause)).collect()
}

/// Those whose name means something by a file alone.
fn named(targets: &[Target]) -> impl Iterator<Item = &Target> {
    let by_name = |target: &&Target| target.name.parse::<IpAddr>().is_err();
    targets.iter().filter(by_name).filter(|target| target.name != "localhost")
}

/// Listens at the far end for every target. Call it on a thread of the outer network: connections
/// go out from there.
pub(crate) fn serve(targets: &[Target], around: &Around) -> Result<(), Failure> {
    for target in targets {
        let listener = listen(target, around)
            .with_context(|| format!("--reach {}: listen at the far end", target.written));
        let listener = listener.map_err(Failure::environment)?;
        let outside = target.outside;
        let forward = move || {
            for near in listener.incoming().flatten() {
                // Whom no thread serves finds its connection closed.
                let carry = move || TcpStream::connect(outside).map(|far| splice(near, far));
                drop(thread::Builder::new().spawn(carry));
            }
        };
        let none = |source| EngineError::Thread { name: "reach".to_owned(), source };
        let started = thread::Builder::new().spawn(forward).map_err(none);
        started.map_err(Failure::environment)?;
    }
    Ok(())
}

fn listen(target: &Target, around: &Around) -> anyhow::Result<TcpListener> {
    let inside = target.inside(around);
    if *inside.ip() != around.depth().far() {
        let mut netlink = Netlink::open(around.far())?;
        let loopback = netlink.link("lo")?;
        match netlink.add_address(loopback.index, (*inside.ip()).into(), 32) {
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            added => added?,
        }
    }
    Ok(around.far().inside(|| TcpListener::bind(inside))??)
}

/// Carries bytes both ways until each side has closed; a reset of one side closes the other.
fn splice(near: TcpStream, far: TcpStream) {
    let (Ok(near_copy), Ok(far_copy)) = (near.try_clone(), far.try_clone()) else { return };
    let Ok(back) = thread::Builder::new().spawn(move || carry(far_copy, near_copy)) else { return };
    carry(near, far);
    drop(back.join());
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let ended = if io::copy(&mut from, &mut to).is_ok() {
        to.shutdown(Shutdown::Write)
    } else {
        from.shutdown(Shutdown::Both).and(to.shutdown(Shutdown::Both))
    };
    // Refused where the other side was faster.
    drop(ended);
}

const HOSTS: &str = "/etc/hosts";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cannot_be_given_is_told_with_its_address() {
        let of = |written| Target::resolve(written).unwrap();
        let targets = ["127.0.0.1:80", "localhost:81"].map(of);
        assert_eq!(named(&targets).count(), 0, "both mean what they mean anywhere");
        let outside = SocketAddrV4::new([192, 0, 2, 1].into(), 80);
        let (written, name) = ("example.org:80".to_owned(), "example.org".to_owned());
        let target = Target { written, name, outside };
        assert_eq!(
            target.without_name(outside, &io::ErrorKind::NotFound.into()),
            "reach example.org:80: example.org may not be known behind the link (read /etc/hosts: \
             entity not found); write 192.0.2.1:80"
        );
    }
}
