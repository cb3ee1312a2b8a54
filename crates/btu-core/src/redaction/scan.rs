//! What in a text identifies a host: by its form alone, or as a name that is known.
//!
//! Each form is looked for at every place where no letter or digit stands before it, so it is found
//! behind a prefix (`luks-`, `BOOTIF=01-`), in a sentence, and before any sign of punctuation.

use std::net::IpAddr;
use std::net::Ipv4Addr;
use std::net::Ipv6Addr;

use super::Kind;
use super::alias_length;
use super::names::Names;
use super::places;

/// A stretch of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    /// What it identifies, in one spelling; `None` for what stays.
    pub(super) found: Option<(Kind, String)>,
}

/// The text in pieces that together are the text; names of hosts are looked for where it may have some.
pub(super) fn pieces<'t>(text: &'t str, names: &Names, has_hosts: bool) -> Vec<Piece<'t>> {
    let plain = |text: &'t str| Piece { text, found: None };
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(character) = text[at..].chars().next() {
        let Some(hit) = hit(text, at, names, has_hosts) else {
            at += character.len_utf8();
            continue;
        };
        let (from, to) = (at + hit.kept, at + hit.end);
        pieces
            .extend([plain(&text[start..from]), Piece { text: &text[from..to], found: hit.found }]);
        (start, at) = (to, to);
    }
    pieces.push(plain(&text[start..]));
    pieces
}

/// Something at the beginning of a text.
struct Hit {
    /// So many bytes before it stay.
    kept: usize,
    end: usize,
    found: Option<(Kind, String)>,
}

impl Hit {
    const fn of(kind: Kind, end: usize, name: String) -> Self {
        Self { kept: 0, end, found: Some((kind, name)) }
    }
}

fn hit(text: &str, at: usize, names: &Names, has_hosts: bool) -> Option<Hit> {
    let (before, rest) = text.split_at(at);
    if before.ends_with(char::is_alphanumeric) {
        return None;
    }
    alias_length(rest)
        .map(|end| Hit { kept: 0, end, found: None })
        .or_else(|| names.path(rest).map(|path| Hit::of(Kind::Path, path.len(), path.to_owned())))
        .or_else(|| path(before, rest))
        .or_else(|| labelled(before, rest))
        .or_else(|| mac(rest))
        .or_else(|| bare_mac(before, rest))
        .or_else(|| guid(before, rest))
        .or_else(|| world_wide(rest))
        .or_else(|| uuid(rest))
        .or_else(|| long_id(rest))
        .or_else(|| address(before, rest))
        .or_else(|| account(rest))
        .or_else(|| {
            let (end, name) = names.begin(rest).filter(|_| has_hosts)?;
            Some(Hit::of(Kind::Host, end, name.to_owned()))
        })
        .or_else(|| volume(before, rest))
}

/// A path below somebody's home, or to what somebody plugged in.
fn path(before: &str, rest: &str) -> Option<Hit> {
    let of_path = |c: char| !c.is_whitespace() && !":;,\"'()<>|".contains(c);
    let first = run(rest, of_path);
    let path = first.trim_end_matches('.');
    let is_below = |home: &&str| path.find(home).is_some_and(|at| at + home.len() < path.len());
    let of_root = path.strip_prefix("/root/").is_some_and(|below| !below.is_empty());
    let is_home = path.starts_with('/') && (of_root || HOMES.iter().any(is_below));
    (is_home || is_below_tilde(path)).then(|| {
        let end = places::end(before, rest, first.len());
        Hit::of(Kind::Path, end, rest[..end].to_owned())
    })
}

/// `~/x`, `~anna/x`
fn is_below_tilde(path: &str) -> bool {
    let below = path.strip_prefix('~').and_then(|path| path.split_once('/'));
    below.is_some_and(|(name, below)| {
        !below.is_empty() && (name.is_empty() || name.starts_with(char::is_alphabetic))
    })
}

/// What is named an id, whatever its form: `UUID=1234-ABCD`, `/dev/disk/by-id/ata-...`.
fn labelled(before: &str, rest: &str) -> Option<Hit> {
    if is_behind(before, "by-id/") {
        let id = run(rest, |c| !c.is_whitespace() && c != ',');
        return (!id.is_empty()).then(|| Hit::of(Kind::Serial, id.len(), id.to_owned()));
    }
    let id = run(rest, |c| c.is_alphanumeric() || "-:".contains(c)).trim_end_matches(['-', ':']);
    let is_inside = |(at, _)| uuid(&id[at..]).is_some() || alias_length(&id[at..]).is_some();
    let is_id = id.contains(|c: char| c.is_ascii_digit()) && !id.char_indices().any(is_inside);
    (is_id && UNIQUE.iter().any(|label| is_behind(before, label)))
        .then(|| Hit::of(Kind::Uuid, id.len(), id.to_lowercase()))
}

/// Six pairs or more. Before six there may be one of the kind of link, as boot loaders write it.
fn mac(rest: &str) -> Option<Hit> {
    let separator = rest.as_bytes().get(2).filter(|byte| b":-".contains(byte))?;
    let is_pair = |at: usize| {
        let pair = rest.get(at..at + 2);
        pair.is_some_and(|pair| is_hex(pair) && is_end(rest, at + 2))
    };
    let mut pairs = usize::from(is_pair(0));
    while pairs > 0 && rest.as_bytes().get(pairs * 3 - 1) == Some(separator) && is_pair(pairs * 3) {
        pairs += 1;
    }
    let (kept, end) = (if pairs == 7 { 3 } else { 0 }, pairs * 3);
    let name = || rest[kept..end - 1].replace([':', '-'], "").to_lowercase();
    (pairs >= 6).then(|| Hit { kept, end: end - 1, found: Some((Kind::Mac, name())) })
}

/// Twelve digits behind what says that they are an address: `enx001b44113ab7` as systemd names devices, `btmac=001b44113ab7`.
fn bare_mac(before: &str, rest: &str) -> Option<Hit> {
    let by_address = BY_ADDRESS.iter().find(|prefix| rest.starts_with(**prefix));
    let kept = match by_address {
        Some(prefix) => prefix.len(),
        None if is_behind(before, "mac=") => 0,
        None => return None,
    };
    let end = kept + 12;
    let digits = rest.get(kept..end).filter(|digits| is_hex(digits) && is_end(rest, end))?;
    Some(Hit { kept, end, found: Some((Kind::Mac, digits.to_lowercase())) })
}

/// Four groups of four digits: the GUID of an InfiniBand port.
fn guid(before: &str, rest: &str) -> Option<Hit> {
    let guid = run(rest, |c| c.is_ascii_hexdigit() || c == ':');
    let is_guid = guid.split(':').map(str::len).eq([4, 4, 4, 4]) && is_end(rest, guid.len());
    let name = || guid.replace(':', "").to_lowercase();
    (is_guid && !before.ends_with(':')).then(|| Hit::of(Kind::Mac, guid.len(), name()))
}

/// Names that are given once in the world: of disks (`eui.0025385b71b01234`, `0x5000c500a1b2c3d4`), of initiators and targets
/// (`iqn.2001-04.com.example:x`).
fn world_wide(rest: &str) -> Option<Hit> {
    let of_name = |c: char| !c.is_whitespace() && !",;\"'()".contains(c);
    if QUALIFIED.iter().any(|prefix| rest.starts_with(prefix)) {
        let name = run(rest, of_name).trim_end_matches(['.', ':']);
        return Some(Hit::of(Kind::Serial, name.len(), name.to_lowercase()));
    }
    let prefix = NUMBERED.iter().find(|prefix| rest.starts_with(**prefix))?;
    let digits = run(&rest[prefix.len()..], |c| c.is_ascii_hexdigit());
    let end = prefix.len() + digits.len();
    // Masks have one digit, or two.
    let is_mask = digits.chars().all(|c| "0fF".contains(c));
    let is_name = [16, 32].contains(&digits.len()) && is_end(rest, end) && !is_mask;
    is_name.then(|| Hit::of(Kind::Serial, end, digits.to_lowercase()))
}

/// A word that somebody put into the name of a volume: `/dev/mapper/luks-home-anna`.
fn volume(before: &str, rest: &str) -> Option<Hit> {
    let (_, name) = before.rsplit_once("/dev/mapper/")?;
    let is_inside = name.chars().all(|c| c.is_alphanumeric() || "-_.+@".contains(c));
    let word = run(rest, char::is_alphanumeric);
    let is_named = is_inside && !places::is_of_volumes(word);
    is_named.then(|| Hit::of(Kind::Volume, word.len(), word.to_lowercase()))
}

fn uuid(rest: &str) -> Option<Hit> {
    let id = rest.get(..36)?;
    let parts = id.split('-');
    let is_uuid = parts.clone().map(str::len).eq([8, 4, 4, 4, 12]) && parts.clone().all(is_hex);
    (is_uuid && is_end(rest, 36)).then(|| Hit::of(Kind::Uuid, 36, id.to_lowercase()))
}

/// The id of a machine, or the WWID of a disk: hashes are twice as long.
fn long_id(rest: &str) -> Option<Hit> {
    let id = run(rest, |c| c.is_ascii_hexdigit());
    let has = |of: fn(&char) -> bool| id.chars().any(|c| of(&c));
    let is_id = [32, 33].contains(&id.len()) && is_end(rest, id.len());
    let is_mixed = has(char::is_ascii_digit) && has(char::is_ascii_alphabetic);
    (is_id && is_mixed).then(|| Hit::of(Kind::Uuid, id.len(), id.to_lowercase()))
}

/// The longest address that the text begins with. Those of this host itself say nothing.
fn address(before: &str, rest: &str) -> Option<Hit> {
    let (end, address) = six(rest).or_else(|| four(before, rest))?;
    let says_nothing = address.is_loopback() || address.is_unspecified();
    let found = (!says_nothing).then(|| (Kind::Address, address.to_string()));
    Some(Hit { kept: 0, end, found })
}

fn six(rest: &str) -> Option<(usize, IpAddr)> {
    let run = run(rest, |c| c.is_ascii_hexdigit() || ":.".contains(c));
    if run.matches(':').count() < 2 {
        return None;
    }
    let read = |end: usize| Some((end, run[..end].parse::<Ipv6Addr>().ok()?.into()));
    let ends = (2..=run.len().min(LONGEST_ADDRESS)).rev();
    ends.filter(|end| is_end(rest, *end)).find_map(read)
}

/// Not the end of a longer number with dots.
fn four(before: &str, rest: &str) -> Option<(usize, IpAddr)> {
    let run = run(rest, |c| c.is_ascii_digit() || c == '.').trim_end_matches('.');
    let number =
        before.strip_suffix('.').filter(|rest| rest.ends_with(|c: char| c.is_ascii_digit()));
    let read = run.parse::<Ipv4Addr>().ok().filter(|_| number.is_none() && is_end(rest, run.len()));
    Some((run.len(), read?.into()))
}

/// `user@host`: letters on both sides, and no other sign of a price or a version. Before what was taken out
/// stands nothing that was an account.
fn account(rest: &str) -> Option<Hit> {
    let of_name = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let user = run(rest, of_name);
    let behind = rest[user.len()..].strip_prefix('@')?;
    if alias_length(behind).is_some() {
        return None;
    }
    let host = run(behind, of_name).trim_end_matches(['.', '_', '-']);
    let is_account = [user, host].iter().all(|name| name.starts_with(char::is_alphabetic));
    let end = user.len() + 1 + host.len();
    is_account.then(|| Hit::of(Kind::Account, end, rest[..end].to_owned()))
}

/// The longest beginning of characters of a kind.
fn run(text: &str, of: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !of(c)).unwrap_or(text.len())]
}

/// True for a text that ends with a label, in capitals or not.
fn is_behind(before: &str, label: &str) -> bool {
    let from = before.len().checked_sub(label.len());
    let tail = from.map(|from| &before.as_bytes()[from..]);
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(label.as_bytes()))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// True where no letter or digit follows.
pub(super) fn is_end(text: &str, at: usize) -> bool {
    !text.get(at..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
}

/// Below these are folders of people.
const HOMES: [&str; 3] = ["/home/", "/media/", "/Users/"];
/// What unique ids stand behind.
const UNIQUE: [&str; 4] = ["uuid=", "by-uuid/", "by-partuuid/", "machine_id="];
/// systemd.net-naming-scheme(7), the policy `mac`.
const BY_ADDRESS: [&str; 5] = ["enx", "ibx", "slx", "wlx", "wwx"];
/// RFC 3721, 1.1; NVM Express base specification, 4.7.
const QUALIFIED: [&str; 4] = ["iqn.1", "iqn.2", "nqn.1", "nqn.2"];
/// What 64 or 128 bits of a name stand behind.
const NUMBERED: [&str; 5] = ["0x", "0X", "eui.", "naa.", "wwn."];
/// Eight groups of which the last two are written as IPv4.
const LONGEST_ADDRESS: usize = 45;

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a text, and where it stood.
    fn found(text: &str) -> Vec<(&str, Kind)> {
        let pieces = pieces(text, &Names::default(), false).into_iter();
        pieces.filter_map(|piece| Some((piece.text, piece.found?.0))).collect()
    }

    #[test]
    fn each_form_is_known_wherever_it_stands() {
        let id = "0a1b2c3d-0001-0002-0003-0a1b2c3d4e5f";
        let luks = format!("/dev/mapper/luks-{id} rd.luks.uuid=luks-{id}");
        for (text, parts) in [
            ("00:1b:44:11:3a:b7", vec![("00:1b:44:11:3a:b7", Kind::Mac)]),
            ("BOOTIF=01-00-1b-44-11-3a-b7", vec![("00-1b-44-11-3a-b7", Kind::Mac)]),
            ("ifname=eth0:00:1b:44:11:3a:b7", vec![("00:1b:44:11:3a:b7", Kind::Mac)]),
            ("enx001b44113ab7.mtu", vec![("001b44113ab7", Kind::Mac)]),
            (id, vec![(id, Kind::Uuid)]),
            (&luks, vec![(id, Kind::Uuid), (id, Kind::Uuid)]),
            ("root=PARTUUID=0a1b2c3d-02 rw", vec![("0a1b2c3d-02", Kind::Uuid)]),
            ("/dev/disk/by-uuid/1234-ABCD /efi", vec![("1234-ABCD", Kind::Uuid)]),
            ("/dev/disk/by-id/ata-X_S3C12-part1 /", vec![("ata-X_S3C12-part1", Kind::Serial)]),
            (
                "/dev/mapper/3600508b400105e210000900000490000 /",
                vec![("3600508b400105e210000900000490000", Kind::Uuid)],
            ),
            ("connect 192.0.2.7:80", vec![("192.0.2.7", Kind::Address)]),
            ("it was 192.0.2.7.", vec![("192.0.2.7", Kind::Address)]),
            (
                "ip=192.0.2.7::192.0.2.1:x",
                vec![("192.0.2.7", Kind::Address), ("192.0.2.1", Kind::Address)],
            ),
            ("at 2001:db8::7: nothing", vec![("2001:db8::7", Kind::Address)]),
            ("2001:db8::/64", vec![("2001:db8::", Kind::Address)]),
            ("[fe80::1%eth0]:80", vec![("fe80::1", Kind::Address)]),
            ("/home/anna/results: full", vec![("/home/anna/results", Kind::Path)]),
            ("/dev/sda1 /var/home/anna ext4", vec![("/var/home/anna", Kind::Path)]),
            ("/home/anna/My Files/io", vec![("/home/anna/My Files/io", Kind::Path)]),
            ("write '/home/anna/My Files': full", vec![("/home/anna/My Files", Kind::Path)]),
            ("write /home/anna/My Files: full", vec![("/home/anna/My Files", Kind::Path)]),
            ("in /home/anna/My Files/io and more", vec![("/home/anna/My Files/io", Kind::Path)]),
            ("/dev/a /home/anna ext4 rw,x=/y", vec![("/home/anna", Kind::Path)]),
            ("read ~anna/x and ~/y.", vec![("~anna/x", Kind::Path), ("~/y", Kind::Path)]),
            ("nvme.eui.0025385b71b01234", vec![("eui.0025385b71b01234", Kind::Serial)]),
            ("wwn=0x5000c500a1b2c3d4 x", vec![("0x5000c500a1b2c3d4", Kind::Serial)]),
            (
                "iscsi=iqn.2001-04.com.example:deadbeef42, x",
                vec![("iqn.2001-04.com.example:deadbeef42", Kind::Serial)],
            ),
            ("btmac=001b44113ab7", vec![("001b44113ab7", Kind::Mac)]),
            ("guid 0002:c903:00a1:b2c3", vec![("0002:c903:00a1:b2c3", Kind::Mac)]),
            ("/dev/mapper/luks-home-anna /x", vec![("anna", Kind::Volume)]),
            ("(builder@forge)", vec![("builder@forge", Kind::Account)]),
            ("ssh://anna@lab7:22", vec![("anna@lab7", Kind::Account)]),
        ] {
            assert_eq!(found(text), parts, "{text}");
        }
    }

    #[test]
    fn what_tells_of_no_host_stays() {
        let hash = "979f156a5c4565befa65d14b2f9a9f86918934ed3ba8737c82f3cdd1923b0d1a";
        for text in [
            "127.0.0.1:80",
            "[::1]:80",
            "::",
            "6.18.44",
            "5.1.2.3.4",
            "2026-11-22T01:33:27.719Z",
            "/dev/vda",
            "/home /root/ /root",
            "10ms",
            "a@",
            "1@200,3@400/400",
            "0000:00:03.0",
            "x86_64-unknown-linux-gnu",
            "ffffffff,00000003",
            "UUID=none",
            "mask 0x00000000ffffffff 0xffff",
            "/dev/mapper/ubuntu--vg-root /",
            "~10/s ~/",
            "0000:00:03.0 0002:c903",
            "enx12",
            hash,
            "abcd-ef01-2345-6789-abcd-ef01-2345-6789-abcd-ef01-2345-6789-abcd",
            "std::fmt::x",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn one_thing_has_one_name_however_it_is_written() {
        let name = |text: &str| {
            pieces(text, &Names::default(), false).into_iter().find_map(|piece| piece.found)
        };
        let same = |texts: &[&str]| texts.iter().all(|text| name(text) == name(texts[0]));
        let macs =
            ["00:1b:44:11:3a:b7", "01-00-1B-44-11-3A-B7", "wlx001b44113ab7", "x=00-1b-44-11-3a-b7"];
        assert!(name(macs[0]).is_some() && same(&macs));
        assert!(same(&["2001:db8::7", "2001:DB8:0::7", "[2001:db8::7]:80"]));
    }

    proptest::proptest! {
        #[test]
        fn the_pieces_of_a_text_are_the_text(text in "([a-f0-9:.@/=\\-]|home|enx|uuid=|\u{20ac}| ){0,60}") {
            let whole: String = pieces(&text, &Names::default(), false).iter().map(|piece| piece.text).collect();
            proptest::prop_assert_eq!(whole, text);
        }
    }
}
