//! Three namespaces that play hosts: two black boxes, each joined to the host under test.

use std::ffi::OsStr;
use std::fmt::Display;
use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use btu_sys::namespace::NetNs;
use btu_sys::netlink::Mac;
use btu_sys::netlink::Netlink;
use btu_sys::netlink::Prefix;
use btu_sys::netlink::Route;
use btu_sys::netlink::RouteKind;
use btu_sys::netlink::VethEnd;
use btu_sys::packet::Tap;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::btu;
pub(super) use crate::program::said;
use crate::program::signal;
use crate::program::wait_until;
use crate::wait;

/// Black boxes 0 and 1, and the host under test, 2.
pub(super) struct Hosts {
    folder: TempDir,
    nets: [NetNs; 3],
}

/// A black box with its agent. Dropped, the agent is killed.
pub(super) struct Black<'h> {
    hosts: &'h Hosts,
    number: u8,
    address: String,
    child: Child,
}

impl Hosts {
    pub(super) fn new() -> Self {
        Self::prepared(|_| ())
    }

    /// Hosts whose networks are prepared before they have a device.
    pub(super) fn prepared(prepare: impl Fn(usize) + Sync) -> Self {
        let nets = [(), (), ()].map(|()| NetNs::create().unwrap());
        for (host, net) in nets.iter().enumerate() {
            net.inside(|| prepare(host)).unwrap();
        }
        for number in [0, 1] {
            join(&nets[2], &nets[usize::from(number)], number);
        }
        Self { folder: tempfile::tempdir().unwrap(), nets }
    }

    /// Joins the black boxes to each other, too: each reaches the other where the host under test does.
    pub(super) fn join_black_boxes(&self) {
        let [one, other, _] = &self.nets;
        let end = |namespace, mac| VethEnd { namespace, name: "peer", mac: Mac(mac), mtu: 1500 };
        let (near, far_end) = (end(one, *b"\x02btgp1"), end(other, *b"\x02btgp2"));
        Netlink::open(one).unwrap().add_veth(&near, &far_end).unwrap();
        for (net, own, beyond) in [(one, far(0), far(1)), (other, far(1), far(0))] {
            let mut netlink = Netlink::open(net).unwrap();
            let link = netlink.link("peer").unwrap().index;
            netlink.set_up(link).unwrap();
            let destination = Prefix { address: beyond, length: 32 };
            let (gateway, source, congestion) = (None, Some(own), None);
            let kind = RouteKind::Unicast;
            let route = Route { destination, link, gateway, source, congestion, kind };
            netlink.set_route(&route).unwrap();
        }
    }

    /// Leads black box 1 to the host under test by the address that black box 0 has for it.
    pub(super) fn give_one_address(&self) {
        let mut netlink = Netlink::open(&self.nets[1]).unwrap();
        let link = netlink.link("lan").unwrap().index;
        let destination = Prefix { address: under_test(0), length: 32 };
        let (gateway, source, congestion) = (None, Some(far(1)), None);
        let kind = RouteKind::Unicast;
        let route = Route { destination, link, gateway, source, congestion, kind };
        netlink.set_route(&route).unwrap();
    }

    pub(super) fn dir(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir().join(name)
    }

    pub(super) fn state(&self, name: &str) -> PathBuf {
        self.path(&format!("state-{name}"))
    }

    /// Runs something in the network of a host.
    pub(super) fn inside<T: Send>(&self, host: usize, work: impl FnOnce() -> T + Send) -> T {
        self.nets[host].inside(work).unwrap()
    }

    /// From now on nothing of either side arrives, and nobody is told: it goes to a device where
    /// nobody has that address.
    pub(super) fn cut(&self, number: u8) {
        lead(&self.nets[2], "lo", under_test(number), number);
        lead(&self.nets[usize::from(number)], "lo", far(number), number);
    }

    /// From now on connections of this pair have this congestion control.
    pub(super) fn control_by(&self, name: &str, number: u8) {
        let device = format!("black{number}");
        lead_by(&self.nets[2], &device, under_test(number), number, Some(name));
        lead_by(&self.nets[usize::from(number)], "lan", far(number), number, Some(name));
    }

    /// Undoes [`Hosts::cut`].
    pub(super) fn mend(&self, number: u8) {
        lead(&self.nets[2], &format!("black{number}"), under_test(number), number);
        lead(&self.nets[usize::from(number)], "lan", far(number), number);
    }

    /// TCP connections of a host on which something could be sent.
    pub(super) fn connections(&self, host: usize) -> usize {
        let table = self.inside(host, || std::fs::read_to_string("/proc/thread-self/net/tcp"));
        let states = table.unwrap();
        states.lines().filter(|line| line.split_whitespace().nth(3) == Some("01")).count()
    }

    /// Ports of a host at which somebody listens.
    pub(super) fn listening(&self, host: usize) -> Vec<u16> {
        let table = self.inside(host, || std::fs::read_to_string("/proc/thread-self/net/tcp"));
        let table = table.unwrap();
        let fields = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
        let listening = fields.filter(|fields| fields[3] == "0A");
        let port = |fields: Vec<&str>| u16::from_str_radix(fields[1].split(':').nth(1)?, 16).ok();
        listening.filter_map(port).collect()
    }

    /// Bytes that a device of a host has received.
    pub(super) fn received(&self, host: usize, device: &str) -> u64 {
        let table = self.inside(host, || std::fs::read_to_string("/proc/thread-self/net/dev"));
        let table = table.unwrap();
        let prefix = format!("{device}:");
        let line = table.lines().find_map(|line| line.trim().strip_prefix(&prefix)).unwrap();
        line.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// A listener on a device of a host.
    pub(super) fn tap(&self, host: usize, device: &str) -> Tap {
        let link = Netlink::open(&self.nets[host]).unwrap().link(device).unwrap().index;
        self.inside(host, || Tap::open(link)).unwrap()
    }

    /// The program on a host, with that host's state.
    pub(super) fn btu(&self, host: usize) -> Placed<'_> {
        let mut command = btu();
        command.env("BTU_STATE_DIR", self.state(&host.to_string())).current_dir(self.dir());
        Placed { net: &self.nets[host], command }
    }

    /// Another program on a host.
    pub(super) fn command(&self, host: usize, program: &str) -> Placed<'_> {
        Placed { net: &self.nets[host], command: Command::new(program) }
    }

    /// `btu run` on the host under test.
    pub(super) fn run(&self, plan: impl Display, out: &str, options: &[&str]) -> Placed<'_> {
        let file = self.path(&format!("{out}.toml"));
        std::fs::write(&file, plan.to_string()).unwrap();
        let mut command = self.btu(2);
        command.args(["run", "--json", "--out", out, "--plan"]).arg(&file).args(options);
        command.stdout(Stdio::null());
        command
    }

    /// `btu traffic` on the host under test, while it runs.
    pub(super) fn traffic(&self, args: &[&str]) -> Child {
        let mut command = self.btu(2);
        command.args(["traffic", "--quiet"]).args(args).stdout(Stdio::null()).begun()
    }

    /// Starts the agent of a black box, with its policy if one is given.
    pub(super) fn agent(&self, number: u8, policy: &[&str]) -> Black<'_> {
        let state = self.state(&number.to_string());
        std::fs::create_dir_all(&state).unwrap();
        for text in policy {
            std::fs::write(state.join("policy.toml"), text).unwrap();
        }
        let address = match number {
            // The host under test as a black box reaches it.
            2 => "10.77.0.1:7411".to_owned(),
            number => format!("{}:7411", far(number)),
        };
        self.invite_first(number, &address);
        let child = self.start_agent(number, &address);
        Black { hosts: self, number, address, child }
    }

    /// The agent of black box 0, which the host under test knows as `lab1`.
    pub(super) fn lab1(&self, policy: &[&str]) -> Black<'_> {
        let agent = self.agent(0, policy);
        self.pair(&agent, "lab1");
        agent
    }

    /// An agent that may do nothing to its host's network, as that of an ordinary user.
    pub(super) fn powerless_agent(&self, number: u8) -> Black<'_> {
        std::fs::create_dir_all(self.state(&number.to_string())).unwrap();
        let address = format!("{}:7411", far(number));
        self.invite_first(number, &address);
        let plain = self.btu(number.into()).command;
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user"]).arg(plain.get_program());
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.dir());
        let agent = Placed { net: &self.nets[usize::from(number)], command };
        let child = self.started(number, agent, &address);
        Black { hosts: self, number, address, child }
    }

    /// An agent that nobody may use would only be reached from its own host.
    fn invite_first(&self, number: u8, address: &str) {
        let mut invite = self.btu(number.into());
        invite.args(["agent", "invite", "--address", address]).stdout(Stdio::null());
        assert!(invite.output().unwrap().status.success());
    }

    fn start_agent(&self, number: u8, address: &str) -> Child {
        self.started(number, self.btu(number.into()), address)
    }

    fn started(&self, number: u8, mut agent: Placed<'_>, address: &str) -> Child {
        agent.args(["agent", "--listen", address]).stderr(Stdio::null());
        let child = agent.spawn().unwrap();
        wait_until(|| {
            let mut status = self.btu(number.into());
            status.args(["agent", "status"]).output().unwrap().status.success()
        });
        child
    }

    /// `btu run` by somebody with a key of his own.
    pub(super) fn drive(&self, plan: impl Display, out: &str, options: &[&str]) -> Placed<'_> {
        let mut command = self.run(plan, out, options);
        command.env("BTU_STATE_DIR", self.state("driver"));
        command
    }

    pub(super) fn pair_driver(&self, agent: &Black<'_>, name: &str) {
        let mut pair = self.btu(2);
        pair.env("BTU_STATE_DIR", self.state("driver"));
        pair.args(["pair", &agent.invite(), "--name", name]).ends_with(0);
    }

    pub(super) fn pair(&self, agent: &Black<'_>, name: &str) {
        self.btu(2).args(["pair", &agent.invite(), "--name", name]).ends_with(0);
    }
}

impl Black<'_> {
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn state(&self) -> PathBuf {
        self.hosts.state(&self.number.to_string())
    }

    pub(super) fn invite(&self) -> String {
        self.invite_as("runner")
    }

    pub(super) fn invite_as(&self, rights: &str) -> String {
        let mut invite = self.hosts.btu(self.number.into());
        let invite = invite.args(["agent", "invite", "--rights", rights]).output().unwrap();
        assert!(invite.status.success(), "{}", said(&invite));
        String::from_utf8(invite.stdout).unwrap().trim().to_owned()
    }

    pub(super) fn admin(&self, word: &str) -> Value {
        let mut asked = self.hosts.btu(self.number.into());
        let asked = asked.args(["agent", word, "--json"]).output().unwrap();
        assert!(asked.status.success(), "{}", said(&asked));
        serde_json::from_slice(&asked.stdout).unwrap()
    }

    pub(super) fn status(&self) -> Value {
        self.admin("status")
    }

    pub(super) fn id(&self) -> Value {
        self.status()["agent"].clone()
    }

    /// Workers of this agent, of its front and of its bench, found by their command line.
    pub(super) fn workers(&self) -> usize {
        let parent = format!("\0worker\0--parent\0{}\0", self.child.id());
        let socket = format!("--connect\0{}/", self.state().display());
        let is_ours = |line: &str| line.contains(&parent) || line.contains(&socket);
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = processes.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
        lines.filter(|line| is_ours(&String::from_utf8_lossy(line))).count()
    }

    /// Whatever it did comes to its end within a minute.
    pub(super) fn is_idle_soon(&self) {
        wait::wait_until("the end of all work of an agent", || self.workers() == 0);
    }

    /// The agent, its front and their workers, by number.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mut family = vec![self.child.id()];
        let mut next = 0;
        while let Some(parent) = family.get(next).copied() {
            family.extend(children(parent));
            next += 1;
        }
        family
    }

    pub(super) fn kill(&mut self) {
        signal(self.child.id(), "KILL");
        self.child.wait().unwrap();
    }

    /// Starts it again after a kill.
    pub(super) fn restart(&mut self) {
        self.child = self.hosts.start_agent(self.number, &self.address);
    }
}

impl Drop for Black<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The processes that a process started.
pub(super) fn children(parent: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|one| one.file_name().to_str()?.parse::<u32>().ok());
    numbers.filter(|number| parent_of(*number) == Some(parent)).collect()
}

/// The second field behind the name, which may hold anything.
fn parent_of(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// A command that starts in the network of a host.
pub(super) struct Placed<'h> {
    net: &'h NetNs,
    command: Command,
}

impl Placed<'_> {
    pub(super) fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg(arg);
        self
    }

    pub(super) fn args<A: AsRef<OsStr>>(&mut self, args: impl IntoIterator<Item = A>) -> &mut Self {
        self.command.args(args);
        self
    }

    pub(super) fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut Self {
        self.command.env(name, value);
        self
    }

    pub(super) fn stdout(&mut self, to: Stdio) -> &mut Self {
        self.command.stdout(to);
        self
    }

    pub(super) fn stderr(&mut self, to: Stdio) -> &mut Self {
        self.command.stderr(to);
        self
    }

    /// While it runs; what it says to people is kept for its end.
    pub(super) fn begun(&mut self) -> Child {
        self.stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(super) fn spawn(&mut self) -> std::io::Result<Child> {
        let Self { net, command } = self;
        net.inside(|| command.spawn()).unwrap()
    }

    pub(super) fn output(&mut self) -> std::io::Result<Output> {
        let Self { net, command } = self;
        net.inside(|| command.output()).unwrap()
    }

    /// Runs it to its end, which has this exit code.
    #[track_caller]
    pub(super) fn ends_with(&mut self, code: i32) -> Output {
        let output = self.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{:?}: {}", self.command, said(&output));
        output
    }
}

/// One veth pair between the host under test and a black box.
fn join(test: &NetNs, black: &NetNs, number: u8) {
    let mac = |end: u8| Mac([0x02, b'b', b't', b'g', number, end]);
    let name = format!("black{number}");
    let near = VethEnd { namespace: test, name: &name, mac: mac(1), mtu: 1500 };
    let far_end = VethEnd { namespace: black, name: "lan", mac: mac(2), mtu: 1500 };
    Netlink::open(test).unwrap().add_veth(&near, &far_end).unwrap();
    for (net, device, address) in
        [(test, name.as_str(), under_test(number)), (black, "lan", far(number))]
    {
        let mut netlink = Netlink::open(net).unwrap();
        for device in [device, "lo"] {
            let link = netlink.link(device).unwrap().index;
            netlink.set_up(link).unwrap();
        }
        let link = netlink.link(device).unwrap().index;
        netlink.add_address(link, address, 24).unwrap();
        lead(net, device, address, number);
    }
}

/// Leads what a host sends to the other side of a pair over this device.
fn lead(net: &NetNs, device: &str, own: IpAddr, number: u8) {
    lead_by(net, device, own, number, None);
}

fn lead_by(net: &NetNs, device: &str, own: IpAddr, number: u8, congestion: Option<&str>) {
    let mut netlink = Netlink::open(net).unwrap();
    let link = netlink.link(device).unwrap().index;
    let destination = Prefix { address: Ipv4Addr::new(10, 77, number, 0).into(), length: 24 };
    let (gateway, source, kind) = (None, Some(own), RouteKind::Unicast);
    let route = Route { destination, link, gateway, source, congestion, kind };
    netlink.set_route(&route).unwrap();
}

fn under_test(number: u8) -> IpAddr {
    Ipv4Addr::new(10, 77, number, 1).into()
}

fn far(number: u8) -> IpAddr {
    Ipv4Addr::new(10, 77, number, 2).into()
}
