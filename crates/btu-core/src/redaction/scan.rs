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

/// A stretch of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    /// What it identifies, in one spelling; `None` for what stays.
    pub(super) found: Option<(Kind, String)>,
}

/// The text in pieces that together are the text.
pub(super) fn pieces<'t>(text: &'t str, names: Option<&Names>) -> Vec<Piece<'t>> {
    let plain = |text: &'t str| Piece { text, found: None };
    let (mut pieces, mut start, mut at) = (Vec::new(), 0, 0);
    while let Some(character) = text[at..].chars().next() {
        let Some(hit) = hit(text, at, names) else {
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

fn hit(text: &str, at: usize, names: Option<&Names>) -> Option<Hit> {
    let (before, rest) = text.split_at(at);
    if before.ends_with(char::is_alphanumeric) {
        return None;
    }
    alias_length(rest)
        .map(|end| Hit { kept: 0, end, found: None })
        .or_else(|| path(rest))
        .or_else(|| labelled(before, rest))
        .or_else(|| mac(rest))
        .or_else(|| device(rest))
        .or_else(|| uuid(rest))
        .or_else(|| long_id(rest))
        .or_else(|| address(before, rest))
        .or_else(|| account(rest))
        .or_else(|| {
            let (end, name) = names?.begin(rest)?;
            Some(Hit::of(Kind::Host, end, name.to_owned()))
        })
}

/// A path below somebody's home, or to what somebody plugged in.
fn path(rest: &str) -> Option<Hit> {
    let of_path = |c: char| !c.is_whitespace() && !":;,\"'()<>|".contains(c);
    let path = run(rest, of_path).trim_end_matches('.');
    let is_below = |home: &&str| path.find(home).is_some_and(|at| at + home.len() < path.len());
    let of_root = path.strip_prefix("/root/").is_some_and(|below| !below.is_empty());
    let is_home = path.starts_with('/') && (of_root || HOMES.iter().any(is_below));
    is_home.then(|| Hit::of(Kind::Path, path.len(), path.to_owned()))
}

/// What is named an id, whatever its form: `UUID=1234-ABCD`, `/dev/disk/by-id/ata-...`.
fn labelled(before: &str, rest: &str) -> Option<Hit> {
    let before = before.as_bytes();
    let is_behind = |label: &&str| {
        let tail = before.len().checked_sub(label.len()).map(|from| &before[from..]);
        tail.is_some_and(|tail| tail.eq_ignore_ascii_case(label.as_bytes()))
    };
    if is_behind(&"by-id/") {
        let id = run(rest, |c| !c.is_whitespace() && c != ',');
        return (!id.is_empty()).then(|| Hit::of(Kind::Serial, id.len(), id.to_owned()));
    }
    let id = run(rest, |c| c.is_alphanumeric() || "-:".contains(c)).trim_end_matches(['-', ':']);
    let is_inside = |(at, _)| uuid(&id[at..]).is_some() || alias_length(&id[at..]).is_some();
    let is_id = id.contains(|c: char| c.is_ascii_digit()) && !id.char_indices().any(is_inside);
    (is_id && UNIQUE.iter().any(is_behind))
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

/// A device that systemd named after its hardware address: `enx001b44113ab7`.
fn device(rest: &str) -> Option<Hit> {
    let kept = BY_ADDRESS.iter().find(|prefix| rest.starts_with(**prefix))?.len();
    let end = kept + 12;
    let digits = rest.get(kept..end).filter(|digits| is_hex(digits) && is_end(rest, end))?;
    Some(Hit { kept, end, found: Some((Kind::Mac, digits.to_lowercase())) })
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
/// Eight groups of which the last two are written as IPv4.
const LONGEST_ADDRESS: usize = 45;

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in a text, and where it stood.
    fn found(text: &str) -> Vec<(&str, Kind)> {
        let pieces = pieces(text, None).into_iter();
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
        let name = |text: &str| pieces(text, None).into_iter().find_map(|piece| piece.found);
        let same = |texts: &[&str]| texts.iter().all(|text| name(text) == name(texts[0]));
        let macs =
            ["00:1b:44:11:3a:b7", "01-00-1B-44-11-3A-B7", "wlx001b44113ab7", "x=00-1b-44-11-3a-b7"];
        assert!(name(macs[0]).is_some() && same(&macs));
        assert!(same(&["2001:db8::7", "2001:DB8:0::7", "[2001:db8::7]:80"]));
    }

    proptest::proptest! {
        #[test]
        fn the_pieces_of_a_text_are_the_text(text in "([a-f0-9:.@/=\\-]|home|enx|uuid=|\u{20ac}| ){0,60}") {
            let whole: String = pieces(&text, None).iter().map(|piece| piece.text).collect();
            proptest::prop_assert_eq!(whole, text);
        }
    }
}
