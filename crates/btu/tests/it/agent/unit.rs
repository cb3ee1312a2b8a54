//! The unit as a service of a real systemd, with the commands of its page: systemd is the first process of
//! namespaces of its own on a black box, over a copy-on-write view of this machine's files.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Output;
use std::process::Stdio;

use serde_json::Value;

use super::hosts::Hosts;
use super::hosts::children;
use super::hosts::said;
use crate::program::Cells;
use crate::program::btu;
use crate::program::of_kind;
use crate::program::read_json;
use crate::program::wait_until;

/// A machine that systemd was started on. Dropped, all of it ends.
struct Machine<'h> {
    hosts: &'h Hosts,
    /// What waits for systemd.
    starter: Child,
    first: u32,
    cgroup: PathBuf,
}

impl<'h> Machine<'h> {
    /// Boots the black box 0 with these units; an error is what this machine lacks.
    fn boot(hosts: &'h Hosts, units: &Path) -> Result<Self, String> {
        if !Path::new("/lib/systemd/systemd").is_file() {
            return Err("systemd is not here".to_owned());
        }
        let cgroup = cgroups()?.join(format!("btu-unit-{}", std::process::id()));
        let refused = |what: &str, cause: std::io::Error| format!("{what}: {cause}");
        std::fs::create_dir(&cgroup).map_err(|cause| refused("make a cgroup", cause))?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/agent/machine.sh");
        let (folder, log) = (hosts.path("machine"), hosts.path("machine.log"));
        std::fs::create_dir(&folder).unwrap();
        let (program, written) = (btu(), std::fs::File::create(&log).unwrap());
        let mut command = hosts.command(0, "sh");
        command.args(["-c", ENTER]).arg(&cgroup).arg(&script).arg(&folder);
        command.arg(program.get_program()).arg(units);
        command.stdout(Stdio::from(written.try_clone().unwrap())).stderr(Stdio::from(written));
        let starter = command.spawn().map_err(|cause| refused("unshare", cause))?;
        let mut machine = Self { hosts, starter, first: 0, cgroup };
        wait_until(|| machine.has_started());
        if machine.first == 0 {
            return Err(std::fs::read_to_string(&log).unwrap().replace('\n', "; "));
        }
        Ok(machine)
    }

    /// True once systemd takes orders, or nothing became of it.
    fn has_started(&mut self) -> bool {
        if self.starter.try_wait().unwrap().is_some() {
            return true;
        }
        let takes_orders =
            |first: &u32| Path::new(&format!("/proc/{first}/root/run/systemd/private")).exists();
        let first = children(self.starter.id()).into_iter().find(takes_orders);
        self.first = first.unwrap_or(0);
        self.first != 0
    }

    /// Runs something on it, as root.
    fn run(&self, words: &[&str]) -> Output {
        let mut command = self.hosts.command(0, "nsenter");
        command.args(["--target", &self.first.to_string(), "--mount", "--pid", "--ipc", "--uts"]);
        command.args(["--cgroup", "--"]).args(words).output().unwrap()
    }

    /// The same for what has to work; what it says.
    fn done(&self, words: &[&str]) -> String {
        let ended = self.run(words);
        let told = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
        let log = || self.run(&["journalctl", "--no-pager", "-n", "40"]);
        assert!(
            ended.status.success(),
            "{words:?}: {told} {}\n{}",
            said(&ended),
            String::from_utf8_lossy(&log().stdout)
        );
        told
    }

    /// A property of the unit.
    fn shows(&self, property: &str) -> String {
        self.done(&["systemctl", "show", "--value", "--property", property, "btu-agent"])
    }

    /// Waits until the agent answers its own host.
    fn answers(&self) -> Value {
        let status = ["btu", "agent", "status", "--state", "/var/lib/btu", "--json"];
        wait_until(|| self.run(&status).status.success());
        serde_json::from_str(&self.done(&status)).unwrap()
    }
}

impl Drop for Machine<'_> {
    fn drop(&mut self) {
        // With its first process everything in the namespace dies; the starter waits for that.
        for process in children(self.starter.id()) {
            let _ = Command::new("kill").args(["-KILL", &process.to_string()]).status();
        }
        let _ = self.starter.wait();
        remove(&self.cgroup);
    }
}

/// A cgroup with all below it; each is empty once its processes are gone.
fn remove(cgroup: &Path) {
    for below in std::fs::read_dir(cgroup).into_iter().flatten().flatten() {
        if below.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&below.path());
        }
    }
    let _ = std::fs::remove_dir(cgroup);
}

/// Where the second version of control groups is: systemd takes orders for its units there alone.
fn cgroups() -> Result<PathBuf, String> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mut fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let found = fields.find(|fields| fields.get(2) == Some(&"cgroup2"));
    let place = found.and_then(|fields| fields.get(1).map(PathBuf::from));
    place.ok_or_else(|| "cgroup2 is not mounted".to_owned())
}

/// The units of this tree, with the address of a black box in the two places that the page names.
fn units(hosts: &Hosts) -> PathBuf {
    let contrib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/btu-agent.service");
    let text = std::fs::read_to_string(contrib).unwrap();
    assert_eq!(text.matches("10.0.4.7:7411").count(), 1);
    assert_eq!(text.matches("10.0.4.0/24").count(), 1);
    let text = text.replace("10.0.4.7", "10.77.0.2").replace("10.0.4.0/24", "10.77.0.0/24");
    let folder = hosts.path("units");
    let more = folder.join("btu-agent.service.d");
    std::fs::create_dir_all(&more).unwrap();
    std::fs::write(folder.join("btu-agent.service"), text).unwrap();
    // A test does not wait for longer than it has to.
    std::fs::write(more.join("soon.conf"), "[Service]\nRestartSec=100ms\n").unwrap();
    folder
}

#[test]
fn the_unit_serves_under_systemd_as_its_page_says() {
    let ids = std::fs::read_to_string("/proc/self/uid_map").unwrap();
    let user = std::fs::metadata("/proc/self").unwrap().uid();
    if user != 0 || ids.split_whitespace().ne(ALL_IDS) {
        skip!("no systemd: only root of a whole machine can start one");
    }
    let hosts = Hosts::new();
    let machine = match Machine::boot(&hosts, &units(&hosts)) {
        Ok(machine) => machine,
        Err(reason) => skip!("no systemd: {reason}"),
    };
    let invite = |options: &[&str]| {
        let words = [&["btu", "agent", "invite", "--state", "/var/lib/btu"], options].concat();
        machine.done(&words)
    };
    let pair = |invite: &str, state: &str| {
        let mut pair = hosts.btu(2);
        pair.env("BTU_STATE_DIR", hosts.state(state));
        pair.args(["pair", invite, "--name", "lab1"]).ends_with(0);
    };
    let first = invite(&["--address", "10.77.0.2:7411"]);
    machine.done(&["btu", "man", "--out", "/usr/local/share/man/man1"]);
    machine.done(&["systemctl", "enable", "--now", "btu-agent"]);
    let status = machine.answers();
    pair(&first, "2");
    let plan = Cells { cases: &["SEND", "RECV"], ..Cells::SHORT };
    hosts.run(plan, "result", &["--active", "lab1"]).ends_with(0);
    let facts = read_json(&hosts.path("result/hosts.json"));
    assert_eq!(facts["hosts"]["active"]["agent"]["identity"]["value"], status["agent"]);
    is_confined(&machine, &status, "0000000000000000");
    // Another one is invited while the agent runs; its files are another user's.
    pair(&invite(&[]), "third");
    // Whatever kills it, it is there again, as the same agent.
    let before = machine.shows("MainPID");
    machine.done(&["systemctl", "kill", "--signal=KILL", "btu-agent"]);
    wait_until(|| !["0", &before].contains(&machine.shows("MainPID").as_str()));
    assert_eq!(machine.answers()["agent"], status["agent"]);
    machine.done(&["systemctl", "restart", "btu-agent"]);
    assert_eq!(machine.answers()["agent"], status["agent"]);
    machine.done(&["systemctl", "stop", "btu-agent"]);
    assert_eq!([machine.shows("ActiveState"), machine.shows("Result")], ["inactive", "success"]);
    let log = machine.done(&["journalctl", "--no-pager", "--output=cat", "--unit=btu-agent"]);
    let name = format!("btu agent {}", status["agent"].as_str().unwrap());
    for line in [name.as_str(), "listens on 10.77.0.2:7411"] {
        assert_eq!(log.lines().filter(|told| *told == line).count(), 3, "{line} in\n{log}");
    }
    emulates_links_without_root(&machine, &hosts);
    lets_the_kernel_emulate(&machine, &hosts);
    refuses_without_an_invitation(&machine);
}

/// With the file for emulated links, and a policy that names the device.
fn emulates_links_without_root(machine: &Machine<'_>, hosts: &Hosts) {
    let conf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contrib/btu-agent-emulation.conf");
    let policy = "[front]\ndevice = \"lan\"\naddress = \"10.77.0.9/24\"\n";
    for (text, place) in [
        (
            std::fs::read_to_string(conf).unwrap().as_str(),
            "/etc/systemd/system/btu-agent.service.d/e.conf",
        ),
        (policy, "/var/lib/btu/policy.toml"),
    ] {
        machine.done(&["sh", "-c", "printf %s \"$0\" >\"$1\"", text, place]);
    }
    machine.done(&["systemctl", "daemon-reload"]);
    machine.done(&["systemctl", "start", "btu-agent"]);
    is_confined(machine, &machine.answers(), "0000000000203000");
    let plan = Cells { cases: &["SEND+DL"], ..Cells::SHORT };
    let run = hosts.run(plan, "delayed", &["--active", "lab1"]).output().unwrap();
    // A busy machine may need longer than the cap of a cell.
    assert!(matches!(run.status.code(), Some(0 | 6)), "{}", said(&run));
    let cell = &of_kind(&hosts.path("delayed"), "cell")[0];
    assert_eq!(cell["emulation"][0]["delay_asked_us"], 5000.0, "{cell}");
    machine.done(&["systemctl", "stop", "btu-agent"]);
}

/// The same where the policy asks for netem: its rights reach the keeper, which is told by the kernel and by
/// nobody before it that there is no netem, if there is none.
fn lets_the_kernel_emulate(machine: &Machine<'_>, hosts: &Hosts) {
    let mechanism = "printf '%s\\n' 'mechanism = \"netem\"' >>/var/lib/btu/policy.toml";
    machine.done(&["sh", "-c", mechanism]);
    machine.done(&["systemctl", "start", "btu-agent"]);
    is_confined(machine, &machine.answers(), "0000000000203000");
    let plan = Cells { cases: &["SEND+DL"], ..Cells::SHORT };
    let run = hosts.run(plan, "netem", &["--active", "lab1"]).output().unwrap();
    let log = machine.done(&["journalctl", "--no-pager", "--output=cat", "--unit=btu-agent"]);
    if let Some(refused) = log.lines().rfind(|line| line.starts_with("no emulated links")) {
        assert!(refused.contains("the kernel has no sch_netem"), "{refused}");
    } else {
        assert!(matches!(run.status.code(), Some(0 | 6)), "{}", said(&run));
        let cell = &of_kind(&hosts.path("netem"), "cell")[0];
        assert_eq!(cell["emulation"][0]["backend"], "netem", "{cell}");
    }
    machine.done(&["systemctl", "stop", "btu-agent"]);
}

/// A user of its own, no right, its own filters beside those of the unit; `bounding` is what it had for a start.
fn is_confined(machine: &Machine<'_>, status: &Value, bounding: &str) {
    let of = |field: &str| {
        let words =
            ["grep", &format!("^{field}:"), &format!("/proc/{}/status", machine.shows("MainPID"))];
        machine.done(&words).split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let user: u32 = of("Uid")[0].parse().unwrap();
    // systemd.exec(5), "DynamicUser".
    assert!((61_184..=65_519).contains(&user), "{user}");
    assert_eq!([of("CapEff"), of("CapBnd")].concat(), ["0000000000000000", bounding]);
    assert_eq!([of("NoNewPrivs"), of("Seccomp")].concat(), ["1", "2"]);
    let bounds = &status["confinement"];
    for bound in ["capabilities", "system_calls_seccomp"] {
        assert!(!bounds[bound]["value"].is_null(), "{bounds}");
    }
    let landlock = &bounds["files_landlock"];
    assert!(
        landlock["value"].is_number() || landlock["reason"].is_string(),
        "what the kernel lacks is said: {bounds}"
    );
}

/// Whom nobody may use does not try again and again.
fn refuses_without_an_invitation(machine: &Machine<'_>) {
    for file in ["peers.json", "invites.json"] {
        machine.done(&["rm", &format!("/var/lib/btu/{file}")]);
    }
    machine.done(&["systemctl", "start", "btu-agent"]);
    wait_until(|| machine.shows("ActiveState") == "failed");
    assert_eq!([machine.shows("Result"), machine.shows("ExecMainStatus")], ["exit-code", "2"]);
    // The unit has failed before its last words are in the journal.
    let words = ["journalctl", "--no-pager", "--output=cat", "--unit=btu-agent"];
    let reason = "first: btu agent invite --address 10.77.0.2:7411";
    wait_until(|| machine.done(&words).contains(reason));
}

/// Enters the cgroup, and then namespaces in which it is the root of all.
const ENTER: &str = "echo $$ >\"$0/cgroup.procs\" && exec unshare --mount --propagation slave --pid --fork \
                     --ipc --uts --cgroup sh \"$@\"";
/// The user ids of a process that is in no user namespace.
const ALL_IDS: [&str; 3] = ["0", "0", "4294967295"];
