//! Proof that every bit arrived: both users' counts and both kernels' counts must agree.

use btu_core::units::Bytes;

use super::end::EndReport;

/// Where the counts of a complete connection disagree; empty when the proof holds.
///
/// The kernel counts the FIN as one byte acknowledged and received. A count that the running
/// kernel does not keep proves nothing and contradicts nothing.
pub(super) fn failures(sender: &EndReport, receiver: &EndReport) -> Vec<String> {
    let payload = receiver.bytes.count();
    let (out, inward) = (sender.sample.tcp_info.as_ref(), receiver.sample.tcp_info.as_ref());
    let sent_once = out.and_then(|info| info.bytes_sent?.checked_sub(info.bytes_retrans?));
    let checks = [
        ("bytes that the sending user wrote", Some(sender.bytes.count()), payload),
        ("sender's bytes_acked", out.and_then(|info| info.bytes_acked), payload + FIN),
        ("sender's bytes_sent - bytes_retrans", sent_once, payload),
        ("sender's unacknowledged bytes", sender.unacknowledged, 0),
        ("receiver's bytes_received", inward.and_then(|info| info.bytes_received), payload + FIN),
    ];
    checks.into_iter().filter_map(|(name, found, due)| deviation(name, found?, due)).collect()
}

fn deviation(name: &str, found: u64, due: u64) -> Option<String> {
    let text =
        || format!("{name}: {found}, should be {due} (the receiving user read {}", Bytes::new(due));
    (found != due).then(|| text() + ")")
}

const FIN: u64 = 1;
