//! How the MTU of a path was found, in words.

use btu_core::traffic::probe::PathMtuFigures;
use btu_core::words::several;

use super::span;

/// `7 probes that nobody may fragment, 4 of them answered; ...`
pub(crate) fn how_found(found: &PathMtuFigures) -> String {
    if let Some(why) = &found.unavailable {
        return format!("nobody searched: {why}");
    }
    let probes = several(found.probes, "probe");
    let device = found.device.count();
    let end = match (found.path_mtu, found.is_exact) {
        (None, _) => "nobody answered".to_owned(),
        (Some(_), false) => "the search was cut off".to_owned(),
        (Some(mtu), true) if mtu >= found.device => {
            format!("all that the device sends, {device} B, comes")
        }
        (Some(_), true) => {
            format!("one byte more has three probes without an answer; the device sends {device} B")
        }
    };
    format!(
        "{probes} that nobody may fragment, {} answered, each waited for {} and four round trips: {end}",
        found.answered,
        span(Some(found.timer.seconds()))
    )
}

#[cfg(test)]
mod tests {
    use btu_core::units::Bytes;
    use btu_core::units::Nanos;

    use super::*;

    #[test]
    fn how_a_path_mtu_was_found_says_what_ended_the_search() {
        let found = |path_mtu: Option<u64>, is_exact| PathMtuFigures {
            path_mtu: path_mtu.map(Bytes::new),
            is_exact,
            device: Bytes::new(1500),
            over_ipv6: false,
            timer: Nanos::from_millis(100),
            probes: 9,
            answered: 3,
            unavailable: None,
        };
        for (found, end) in [
            (found(Some(1500), true), "all that the device sends, 1500 B, comes"),
            (found(Some(1400), true), "without an answer; the device sends 1500 B"),
            (found(Some(1400), false), "the search was cut off"),
            (found(None, false), "nobody answered"),
        ] {
            let said = how_found(&found);
            assert!(said.starts_with("9 probes that nobody may fragment, 3 answered"), "{said}");
            assert!(said.ends_with(end), "{said}");
        }
        let why = Some("lab1 is older".to_owned());
        let none = PathMtuFigures { unavailable: why, ..found(None, false) };
        assert_eq!(how_found(&none), "nobody searched: lab1 is older");
    }
}
