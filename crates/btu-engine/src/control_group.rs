//! The control groups that hold this process, and what they limit (cgroups(7)): its own may have no limit and one around it
//! have one, and a container sees a part of them only.

use std::io;
use std::io::ErrorKind;

/// Reads a file below `/proc` or `/sys`.
pub type Read<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// The groups of one controller (`cpu`, `cpuset`, `memory`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlGroups {
    /// Where their files are: its own first, then those around it, as far as they can be seen.
    pub folders: Vec<String>,
    /// What their files are called.
    pub version: Version,
}

/// Version 1 has a hierarchy for each controller, version 2 one for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `cpu.cfs_quota_us`
    One,
    /// `cpu.max`
    Two,
}

/// How much of CPUs a group may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Time that it may run in each period, all CPUs together.
    pub quota_us: u64,
    /// After so long it may run again.
    pub period_us: u64,
}

impl ControlGroups {
    /// Those of this process that have a controller; an error where none is mounted.
    pub fn with(controller: &str, read: Read<'_>) -> io::Result<Self> {
        let mounts = read("/proc/self/mountinfo")?;
        let memberships = read("/proc/self/cgroup")?;
        let mount = |version| mounts.lines().find_map(|line| mount(line, controller, version));
        // A controller that version 1 has is not in version 2.
        let (mount, version) = [Version::One, Version::Two]
            .into_iter()
            .find_map(|version| Some((mount(version)?, version)))
            .ok_or_else(|| no_controller(controller))?;
        let path = memberships.lines().find_map(|line| membership(line, controller, version));
        Ok(Self { folders: folders(mount, path.unwrap_or("/")), version })
    }

    /// The smallest share of CPUs that one of them may use; nothing where none has a limit.
    pub fn quota(&self, read: Read<'_>) -> Option<Quota> {
        let number = |path: String| read(&path).ok()?.trim().parse().ok();
        let of = |folder: &String| match self.version {
            Version::Two => Quota::parse(&read(&format!("{folder}/cpu.max")).ok()?),
            Version::One => Some(Quota {
                // -1 where there is none.
                quota_us: number(format!("{folder}/cpu.cfs_quota_us"))?,
                period_us: number(format!("{folder}/cpu.cfs_period_us"))?,
            }),
        };
        self.folders.iter().filter_map(of).min_by(|one, other| one.cpus().total_cmp(&other.cpus()))
    }

    /// How long each of them was stopped since it was made, since its quota was used up; in nanoseconds, all CPUs together.
    pub fn throttled_ns<'a>(&'a self, read: Read<'a>) -> impl Iterator<Item = (&'a str, u64)> {
        let (key, unit) = match self.version {
            Version::One => ("throttled_time ", 1),
            Version::Two => ("throttled_usec ", 1000),
        };
        self.folders.iter().filter_map(move |folder| {
            let text = read(&format!("{folder}/cpu.stat")).ok()?;
            let count = text.lines().find_map(|line| line.strip_prefix(key))?;
            Some((folder.as_str(), count.trim().parse::<u64>().ok()?.saturating_mul(unit)))
        })
    }

    /// A file of its own group.
    pub fn own_file(&self, name: &str) -> String {
        format!("{}/{name}", self.folders.first().map_or("", String::as_str))
    }
}

impl Quota {
    /// How many CPUs that is.
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a period")]
    pub fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us.max(1) as f64
    }

    /// `50000 100000`; nothing for `max 100000`.
    fn parse(text: &str) -> Option<Self> {
        let (quota, period) = text.trim().split_once(' ')?;
        Some(Self { quota_us: quota.parse().ok()?, period_us: period.parse().ok()? })
    }
}

/// The part of a hierarchy that is mounted, and where.
type Mount<'a> = (&'a str, &'a str);

/// `30 24 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu`
fn mount<'a>(line: &'a str, controller: &str, version: Version) -> Option<Mount<'a>> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, at) = (place.next()?, place.next()?);
    let mut kind = kind.split(' ');
    let (name, options) = (kind.next()?, kind.nth(1).unwrap_or_default());
    let is_it = match version {
        Version::One => name == "cgroup" && options.split(',').any(|one| one == controller),
        Version::Two => name == "cgroup2",
    };
    is_it.then_some((root, at))
}

/// `1:cpu,cpuacct:/path`, and `0::/path` in version 2.
fn membership<'a>(line: &'a str, controller: &str, version: Version) -> Option<&'a str> {
    let (number, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let is_it = match version {
        Version::One => controllers.split(',').any(|one| one == controller),
        Version::Two => number == "0",
    };
    is_it.then_some(path)
}

/// From the group at `path` to the top of what is mounted. A container may be told of a path that it does not see: then the top.
fn folders((root, at): Mount<'_>, path: &str) -> Vec<String> {
    let below = if root == "/" { Some(path) } else { path.strip_prefix(root) };
    let below = below.filter(|below| !below.contains("..")).unwrap_or_default();
    let parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty()).collect();
    let folder = |depth| std::iter::once(at).chain(parts[..depth].iter().copied());
    (0..=parts.len()).rev().map(|depth| folder(depth).collect::<Vec<_>>().join("/")).collect()
}

fn no_controller(controller: &str) -> io::Error {
    io::Error::new(
        ErrorKind::NotFound,
        format!("no control group with the controller {controller} is mounted"),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn machine(files: &[(&str, &str)]) -> impl Fn(&str) -> io::Result<String> + use<> {
        let files: BTreeMap<String, String> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        move |path| files.get(path).cloned().ok_or_else(|| ErrorKind::NotFound.into())
    }

    #[test]
    fn a_quota_of_a_group_around_is_found_in_version_2() {
        let read = machine(&[
            (
                "/proc/self/mountinfo",
                "30 24 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n",
            ),
            ("/proc/self/cgroup", "0::/user.slice/session.scope\n"),
            ("/sys/fs/cgroup/user.slice/session.scope/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n"),
            (
                "/sys/fs/cgroup/user.slice/cpu.stat",
                "usage_usec 9\nnr_throttled 3\nthrottled_usec 700\n",
            ),
            ("/sys/fs/cgroup/cpu.stat", "usage_usec 9\n"),
        ]);
        let groups = ControlGroups::with("cpu", &read).unwrap();
        let [own, around] =
            ["/sys/fs/cgroup/user.slice/session.scope", "/sys/fs/cgroup/user.slice"];
        assert_eq!(groups.folders, [own, around, "/sys/fs/cgroup"]);
        assert_eq!(groups.quota(&read), Some(Quota { quota_us: 50_000, period_us: 100_000 }));
        assert_eq!(groups.throttled_ns(&read).collect::<Vec<_>>(), [(around, 700_000)]);
        assert_eq!(groups.own_file("cpu.max"), format!("{own}/cpu.max"));
    }

    /// Docker, version 1: the path is that of the host, and the mount begins at it.
    #[test]
    fn a_container_of_version_1_finds_its_group_where_it_is_mounted() {
        let mounts = "31 25 0:27 /docker/4f /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
                      32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let read = machine(&[
            ("/proc/self/mountinfo", mounts),
            ("/proc/self/cgroup", "0::/\n4:cpuset:/docker/4f\n3:cpu,cpuacct:/docker/4f\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "150000\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 4\nthrottled_time 12345\n"),
        ]);
        let groups = ControlGroups::with("cpu", &read).unwrap();
        assert_eq!(groups.folders, ["/sys/fs/cgroup/cpu,cpuacct"]);
        assert_eq!(groups.quota(&read).map(|quota| quota.cpus()), Some(1.5));
        assert_eq!(groups.throttled_ns(&read).map(|(_, ns)| ns).collect::<Vec<_>>(), [12_345]);
    }

    #[test]
    fn without_a_limit_there_is_no_quota_and_without_groups_a_reason() {
        let mounts = "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
        let read = machine(&[
            ("/proc/self/mountinfo", mounts),
            ("/proc/self/cgroup", "1:cpu:/../elsewhere\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        let groups = ControlGroups::with("cpu", &read).unwrap();
        assert_eq!(
            (groups.folders.as_slice(), groups.quota(&read)),
            (&["/sys/fs/cgroup/cpu".to_owned()][..], None)
        );
        let error = ControlGroups::with("memory", &read).unwrap_err();
        assert_eq!(error.to_string(), "no control group with the controller memory is mounted");
    }
}
