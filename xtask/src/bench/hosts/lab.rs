//! Three hosts in namespaces, as alike to the local testbed as root can make them: the same CPUs, path,
//! windows and congestion control, and an agent on each black box.

use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use crate::bench::namespace::Namespace;
use crate::bench::namespace::waited;
use crate::bench::private::CONGESTION;
use crate::bench::private::ip;
use crate::repo::Repo;

/// The host under test is the namespace of the bench.
pub(super) struct Lab {
    program: PathBuf,
    folder: PathBuf,
    cpus: Placement,
    boxes: Vec<Black>,
}

/// A black box. Dropped, its agent is killed.
struct Black {
    net: Namespace,
    agent: Child,
}

/// The CPUs of the host under test and of the black boxes, as the local testbed divides them.
struct Placement {
    test: Vec<usize>,
    boxes: Vec<usize>,
}

impl Lab {
    /// Two agents, paired with the host under test as `lab0` and `lab1`.
    pub(super) fn new(repo: &Repo, folder: &Path) -> Result<Self> {
        let cpus = Placement::of(std::thread::available_parallelism().map_or(1, usize::from));
        steer(&mut shell_here(), &cpus.test);
        let program = repo.path("target/release/btu");
        let mut lab = Self { program, folder: folder.to_owned(), cpus, boxes: Vec::new() };
        for number in 0..2 {
            let black = lab.black_box(repo, number)?;
            lab.boxes.push(black);
            lab.pair(number)?;
        }
        Ok(lab)
    }

    /// A run on the local testbed.
    pub(super) fn local(&self) -> Command {
        self.btu(&self.program.display().to_string(), None)
    }

    /// A run between the three hosts, on the CPUs that the local testbed gives the host under test.
    pub(super) fn remote(&self) -> Command {
        let mut command = self.btu("taskset", None);
        command.args(["-c", &list(&self.cpus.test)]).arg(&self.program);
        command
    }

    fn black_box(&self, repo: &Repo, number: usize) -> Result<Black> {
        let net = Namespace::new()?;
        steer(&mut net.command("sh -s"), &self.cpus.boxes);
        open_window(&mut net.command("sh -s"))?;
        let (near, far, holder) = (near(number), far(number), net.holder());
        let device = format!("black{number}");
        ip(repo, &format!("link add {device} type veth peer name lan netns {holder}"))?;
        ip(repo, &format!("addr add {near}/24 dev {device}"))?;
        ip(repo, &format!("link set {device} up"))?;
        for line in
            [format!("addr add {far}/24 dev lan").as_str(), "link set lan up", "link set lo up"]
        {
            net.run(&format!("ip {line}"))?;
        }
        let network = format!("10.77.{number}.0/24");
        ip(repo, &format!("route replace {network} dev {device} src {near} congctl {CONGESTION}"))?;
        net.run(&format!("ip route replace {network} dev lan src {far} congctl {CONGESTION}"))?;
        let agent = self.agent(&net, number)?;
        let black = Black { net, agent };
        let answers = || self.answers(&black, number);
        waited("an agent", answers)?;
        Ok(black)
    }

    /// Invited first: nobody listens beyond loopback for nobody.
    fn agent(&self, net: &Namespace, number: usize) -> Result<Child> {
        let address = format!("{}:{PORT}", far(number));
        self.invite(number, &["--address", &address])?;
        let program = self.program.display();
        let line =
            format!("taskset -c {} {program} agent --listen {address}", list(&self.cpus.boxes));
        let mut agent = net.command(&line);
        agent.env(STATE, self.state(&number.to_string())).stdout(Stdio::null());
        agent.stderr(Stdio::null()).spawn().context("start an agent")
    }

    fn answers(&self, black: &Black, number: usize) -> std::io::Result<bool> {
        let mut status = black.net.command(&format!("{} agent status", self.program.display()));
        status.env(STATE, self.state(&number.to_string()));
        Ok(status.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
    }

    fn invite(&self, number: usize, options: &[&str]) -> Result<String> {
        let program = self.program.display().to_string();
        let mut invite = self.btu(&program, Some(number));
        let said = invite.args(["agent", "invite"]).args(options).output().context("invite")?;
        if !said.status.success() {
            bail!("btu agent invite: {}", String::from_utf8_lossy(&said.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
    }

    fn pair(&self, number: usize) -> Result<()> {
        let invitation = self.invite(number, &[])?;
        let name = format!("lab{number}");
        let mut pair = self.btu(&self.program.display().to_string(), None);
        let paired = pair.args(["pair", &invitation, "--name", &name]).output().context("pair")?;
        if !paired.status.success() {
            bail!("btu pair: {}", String::from_utf8_lossy(&paired.stderr).trim());
        }
        Ok(())
    }

    /// A program with the state of a black box, or of the host under test.
    fn btu(&self, program: &str, number: Option<usize>) -> Command {
        let owner = number.map_or_else(|| "test".to_owned(), |number| number.to_string());
        let mut command = Command::new(program);
        command.env(STATE, self.state(&owner)).current_dir(&self.folder);
        command
    }

    fn state(&self, owner: &str) -> PathBuf {
        self.folder.join(format!("state-{owner}"))
    }
}

impl Drop for Black {
    fn drop(&mut self) {
        // Gone already is as good.
        let _ = self.agent.kill();
        let _ = self.agent.wait();
    }
}

impl Placement {
    /// From four CPUs on the local testbed keeps the last one for its emulator.
    fn of(cpus: usize) -> Self {
        let all: Vec<usize> = (0..cpus).collect();
        let (test, others) = all.split_at(cpus / 2);
        match others {
            [boxes @ .., _] if cpus >= 4 => Self { test: test.into(), boxes: boxes.into() },
            _ if cpus >= 2 => Self { test: test.into(), boxes: others.into() },
            _ => Self { test: all.clone(), boxes: all },
        }
    }
}

/// Received packets of devices that come later are handled on these CPUs, where the kernel lets us.
fn steer(shell: &mut Command, cpus: &[usize]) {
    let mask = cpus.iter().filter(|cpu| **cpu < 32).fold(0_u32, |mask, cpu| mask | 1 << cpu);
    let script = format!("echo {mask:x} > /proc/sys/net/core/rps_default_mask");
    if let Err(error) = told(shell, &script) {
        println!("hosts: received packets are not steered: {error:#}");
    }
}

/// The receive window of a black box is open at once, as on the local testbed.
fn open_window(shell: &mut Command) -> Result<()> {
    told(
        shell,
        "f=/proc/sys/net/ipv4/tcp_rmem; read least first most < $f; wide=6291456; \
         [ $wide -gt $most ] && wide=$most; [ $wide -lt $first ] && wide=$first; \
         echo $least $wide $most > $f",
    )
}

fn shell_here() -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-s");
    shell
}

/// Runs a script on the standard input of a shell.
fn told(shell: &mut Command, script: &str) -> Result<()> {
    let mut running =
        shell.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().context("run sh")?;
    let mut input = running.stdin.take().context("a shell without input")?;
    std::io::Write::write_all(&mut input, script.as_bytes()).context("tell a shell")?;
    drop(input);
    let status = running.wait().context("wait for a shell")?;
    if status.success() { Ok(()) } else { bail!("{script}: {status}") }
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

fn near(number: usize) -> String {
    format!("10.77.{number}.1")
}

fn far(number: usize) -> String {
    format!("10.77.{number}.2")
}

const STATE: &str = "BTU_STATE_DIR";
const PORT: u16 = 7411;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_divided_as_on_the_local_testbed() {
        let of = |cpus| {
            let Placement { test, boxes } = Placement::of(cpus);
            (test, boxes)
        };
        assert_eq!(of(1), (vec![0], vec![0]));
        assert_eq!(of(2), (vec![0], vec![1]));
        assert_eq!(of(3), (vec![0], vec![1, 2]));
        assert_eq!(of(4), (vec![0, 1], vec![2]));
    }
}
