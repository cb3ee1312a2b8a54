//! Paths that somebody named: which they are, and how far they reach in a text.

use crate::disclosure::Disclosure;

/// The paths that a disclosure names, wherever people may have named them: where `io` works, where disks are mounted, and
/// what is mounted from other hosts.
pub(super) fn named(disclosure: &Disclosure) -> Vec<String> {
    let work =
        disclosure.placement.get("io_directory").and_then(|fact| fact.value.as_ref()?.as_str());
    let mounts = disclosure.hosts.values().filter_map(|groups| groups.get("disk")?.get("mounts"));
    let lines = mounts.filter_map(|fact| fact.value.as_ref()?.as_array()).flatten();
    let mounted = lines.filter_map(|line| line.as_str()).flat_map(of_mount);
    let mut all: Vec<String> = work.map(ToOwned::to_owned).into_iter().chain(mounted).collect();
    all.retain(|path| path.contains('/') && !is_of_system(path));
    all.sort_by_key(|path| (std::cmp::Reverse(path.len()), path.clone()));
    all
}

/// What of a line of `/proc/self/mountinfo` people named: the place, as the line writes it and as everybody else does, and
/// the source where it is no device of this host.
fn of_mount(line: &str) -> Vec<String> {
    let mut fields = line.split(' ');
    let (source, place) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    let unescaped = place.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\");
    let foreign = (!source.starts_with("/dev/")).then(|| source.to_owned());
    [place.to_owned(), unescaped].into_iter().chain(foreign).collect()
}

/// True for a path that every system has: it names nobody.
pub(super) fn is_of_system(path: &str) -> bool {
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    DIRECTORIES.contains(&path) || TREES.iter().any(|tree| path.starts_with(tree))
}

/// Where the path ends that a text begins with, behind `first`, its first word. A path of a text that is nothing
/// else, or stands in quotation marks, may have blanks; so does one before the colon of a cause. In any other sentence a
/// word belongs to it that has a slash within, with all words up to there.
pub(super) fn end(before: &str, rest: &str, first: usize) -> usize {
    let marks = ["\"", "\n", ": "].map(|mark| rest.find(mark));
    let stop = marks.into_iter().flatten().min().unwrap_or(rest.len());
    let is_alone = before.is_empty() || before.ends_with(['"', '\'']);
    let end = if is_alone || rest[stop..].starts_with(": ") {
        stop
    } else {
        last_word(&rest[..stop], first)
    };
    rest[..end.max(first)].trim_end_matches([' ', '.', ',', ';', ')', '\'']).len()
}

fn last_word(text: &str, first: usize) -> usize {
    let mut end = first;
    let mut at = first;
    while let Some(blank) = text[at..].strip_prefix(' ') {
        let word = blank.find(' ').map_or(blank, |to| &blank[..to]);
        if word.starts_with(['/', '~']) || word.contains('=') {
            break;
        }
        at += 1 + word.len();
        end = if word.contains('/') { at } else { end };
    }
    end
}

/// True for a word in the name of a volume that whoever installs systems gives it.
pub(super) fn is_of_volumes(word: &str) -> bool {
    let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
    word.is_empty() || VOLUMES.contains(&word.to_ascii_lowercase().as_str())
}

/// Of the file system hierarchy, and what installers make.
const DIRECTORIES: [&str; 34] = [
    "/",
    "/boot",
    "/data",
    "/dev",
    "/efi",
    "/etc",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/export",
    "/home",
    "/media",
    "/mnt",
    "/nix",
    "/nix/store",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/run/lock",
    "/run/netns",
    "/run/shm",
    "/scratch",
    "/snap",
    "/srv",
    "/swap",
    "/sys",
    "/tmp",
    "/usr",
    "/var",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/tmp",
];
/// Below these nobody names anything.
const TREES: [&str; 5] = ["/boot/", "/dev/", "/proc/", "/sys/", "/usr/"];
/// In names of device mapper.
const VOLUMES: [&str; 34] = [
    "almalinux",
    "arch",
    "boot",
    "centos",
    "control",
    "crypt",
    "cryptroot",
    "cryptswap",
    "data",
    "debian",
    "dm",
    "fedora",
    "home",
    "luks",
    "lv",
    "lvm",
    "mpath",
    "mpatha",
    "opensuse",
    "opt",
    "pve",
    "rhel",
    "rocky",
    "root",
    "srv",
    "swap",
    "sys",
    "system",
    "tmp",
    "ubuntu",
    "usr",
    "var",
    "vg",
    "vol",
];
