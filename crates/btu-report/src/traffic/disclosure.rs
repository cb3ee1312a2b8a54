//! What was measured on, with which settings, and how to do it again.

use btu_core::journal::file;
use btu_core::traffic::sample::FlowSample;

use super::Seen;
use crate::document::Block;
use crate::document::Pair;
use crate::section::disclosed_hosts;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let flow = seen.journal.runs().last().and_then(|run| run.flows().next());
    let mut blocks: Vec<Block> = flow.map(options).into_iter().collect();
    blocks.extend(disclosed_hosts(&seen.journal.hosts));
    blocks
}

/// Socket options of the last run's first flow, as they were read back at both ends.
fn options(flow: &FlowSample) -> Block {
    let mut rows = vec![Pair::new("traffic", &flow.traffic)];
    for (end, options) in [("sender", &flow.sender_options), ("receiver", &flow.receiver_options)] {
        let number = |name: &str, value: Option<u64>| {
            value.map(|value| Pair::new(format!("{end} {name}"), value.to_string()))
        };
        rows.extend(
            [
                options.congestion.as_ref().map(|c| Pair::new(format!("{end} congestion"), c)),
                number("SO_SNDBUF", options.send_buffer_bytes),
                number("SO_RCVBUF", options.receive_buffer_bytes),
                number("TCP_MAXSEG", options.mss_bytes),
                number("TCP_NOTSENT_LOWAT", options.not_sent_low_water_bytes),
            ]
            .into_iter()
            .flatten(),
        );
        let negotiated = options.negotiated.into_iter().flat_map(|one| one.told());
        rows.extend(
            negotiated.map(|(name, value)| Pair::new(format!("{end} {name} negotiated"), value)),
        );
    }
    Block::details(format!("Sockets of {}, read back", flow.test), vec![Block::Facts { rows }])
}

pub(super) fn repeat(seen: &Seen<'_>) -> Vec<Block> {
    vec![
        Block::paragraph(
            "The plan below is all that the measurement was given: scenarios, link, passes and the \
             seed of every random draw. Save it as plan.toml (it is also in the result's directory) \
             and give it to the same version of the program:",
        ),
        Block::Code { text: "btu traffic --plan plan.toml".to_owned() },
        Block::details(file::PLAN, vec![Block::Code { text: seen.journal.plan.asked().to_toml() }]),
    ]
}
