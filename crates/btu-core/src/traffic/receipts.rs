//! Which tests can have receipts: a receiver that answers each block in band, once its user has read the last byte of it.

use super::chance::Streams;
use super::train::Train;
use super::transport::Transport;
use crate::traffic::language::call::Call;
use crate::traffic::language::call::Overrun;
use crate::traffic::language::call::Pattern;
use crate::traffic::language::scenario::Test;
use crate::units::Bytes;

/// The largest datagram over IPv4: 65,535 bytes with headers of 20 and 8 (RFC 791, RFC 768).
pub const LARGEST_DATAGRAM: Bytes = Bytes::new(65_507);

impl Test {
    /// Why nothing of this test can be answered although it asks for that, and what can.
    pub(super) fn receipts_refusal(&self) -> Option<String> {
        refusal(&self.traffic, self.protocol.transport).filter(|_| self.has_receipts)
    }
}

/// Why receipts of what is sent have no meaning, and what to write.
pub(super) fn refusal(call: &Call, transport: Transport) -> Option<String> {
    let name = call.name();
    match call.pattern() {
        Pattern::Full => Some(format!(
            "receipts: {name} writes back to back, and none of it is due; write burst, burstq or a model with a schedule"
        )),
        Pattern::Sink => {
            Some("receipts: a sink sends no blocks; write it in the test of its sender".to_owned())
        }
        Pattern::Model(_) => of_model(call),
        Pattern::Burst(overrun) if transport == Transport::Udp => of_datagrams(call, overrun),
        Pattern::Burst(_) | Pattern::Burstq => None,
    }
}

/// What a model is does not depend on its seed.
fn of_model(call: &Call) -> Option<String> {
    let why = match call.train(&Streams::new(0, "receipts"))? {
        Train::Closed(_) => "waits for answers, which its sender times already",
        Train::Media(_) => "follows the reports of its receiver, which are its receipts",
        Train::Open(_) => return None,
    };
    Some(format!("receipts: {} {why}; leave receipts out", call.name()))
}

/// Who reads datagrams knows their numbers, and finds a block by how many each has: that has to be the same where some
/// blocks are not sent, and one where the rest of a block may not be.
fn of_datagrams(call: &Call, overrun: Overrun) -> Option<String> {
    let remedy = "write burstq, or tcp";
    let Some(size) = call.variate("blocksize").fixed() else {
        return Some(format!(
            "receipts of datagrams: with blocks of several sizes nobody knows which of them was missed; {remedy}"
        ));
    };
    let most = call.optional("buffer").map_or(LARGEST_DATAGRAM, |size| size.mean_bytes());
    let most = crate::traffic::language::quantity::float(most.min(LARGEST_DATAGRAM).count());
    (overrun == Overrun::Interrupt && size > most).then(|| {
        format!("receipts of datagrams: nobody knows how many an interrupted block has; {remedy}, or blocks of one datagram")
    })
}
