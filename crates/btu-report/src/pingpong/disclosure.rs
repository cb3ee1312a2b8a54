//! What was measured on, with which settings, and how to do it again.

use btu_core::journal::file;
use btu_core::pingpong::analysis::Measured;
use btu_core::sample::SocketOptions;

use super::Seen;
use crate::document::Block;
use crate::document::Pair;
use crate::section::disclosed_hosts;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let curves = seen.analysis.curves.iter().chain(&seen.analysis.reference);
    let mut blocks: Vec<Block> = curves.map(settings).collect();
    blocks.extend(disclosed_hosts(&seen.journal.hosts));
    blocks
}

/// Every setting of a curve, and the socket's options as they were read back.
fn settings(curve: &Measured) -> Block {
    let asked = curve.configuration.settings().into_iter();
    let mut rows: Vec<Pair> = asked.map(|(name, value)| Pair::new(name, value)).collect();
    rows.push(Pair::new("largest block", curve.largest.to_string()));
    rows.extend(curve.options.iter().flat_map(read_back));
    Block::details(format!("Settings of {}", curve.label), vec![Block::Facts { rows }])
}

fn read_back(options: &SocketOptions) -> Vec<Pair> {
    let number = |name: &str, value: Option<u64>| {
        value.map(|value| Pair::new(format!("{name} read back"), value.to_string()))
    };
    let found = [
        options.congestion.as_ref().map(|name| Pair::new("congestion control", name)),
        options.nodelay.map(|on| Pair::new("TCP_NODELAY read back", on.to_string())),
        number("SO_SNDBUF", options.send_buffer_bytes),
        number("SO_RCVBUF", options.receive_buffer_bytes),
        number("TCP_MAXSEG", options.mss_bytes),
        number("TCP_NOTSENT_LOWAT", options.not_sent_low_water_bytes),
    ];
    let negotiated = options.negotiated.into_iter().flat_map(|one| one.told());
    let negotiated = negotiated.map(|(name, value)| Pair::new(format!("{name} negotiated"), value));
    found.into_iter().flatten().chain(negotiated).collect()
}

pub(super) fn repeat(seen: &Seen<'_>) -> Vec<Block> {
    vec![
        Block::paragraph(
            "The plan below is all that the measurement was given: sizes, configurations, rounds and \
             the seed of the random order. Save it as plan.toml (it is also in the result's \
             directory) and give it to the same version of the program:",
        ),
        Block::Code { text: "btu pingpong --plan plan.toml".to_owned() },
        Block::details(file::PLAN, vec![Block::Code { text: seen.journal.plan.to_toml() }]),
    ]
}

#[cfg(test)]
mod tests {
    use btu_core::sample::Negotiated;

    use super::*;

    #[test]
    fn what_was_negotiated_stands_beside_what_was_read_back() {
        let told = |options: &SocketOptions| {
            let rows = read_back(options).into_iter();
            rows.map(|row| format!("{}: {}", row.name, row.value)).collect::<Vec<_>>()
        };
        let scaled = Negotiated { sack: true, wscale_snd_bits: Some(7), ..Negotiated::default() };
        let tcp = SocketOptions {
            not_sent_low_water_bytes: Some(131_072),
            negotiated: Some(scaled),
            ..SocketOptions::default()
        };
        let expected = [
            "TCP_NOTSENT_LOWAT read back: 131072",
            "SACK negotiated: yes",
            "time stamps negotiated: no",
            "ECN negotiated: no",
            "window scaling negotiated: 7 bits of the peer's window, 0 bits of its own",
        ];
        assert_eq!(told(&tcp), expected);
        assert!(told(&SocketOptions::default()).is_empty());
    }
}
