//! What one full stream says of TCP and of the queue on the way.

use crate::traffic::plan::Group;
use crate::traffic::sample::FlowSample;
use crate::traffic::sample::Journal;
use crate::traffic::sample::RunSample;
use crate::traffic::trace::float;

/// One full stream: the figures of RFC 6349 and round trips under load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Payload sent less retransmitted, over sent, percent (RFC 6349, 4.2).
    pub efficiency_percent: f64,
    /// Mean round trip less the smallest, over the smallest, percent (RFC 6349, 4.3); `None` where nobody sampled it.
    pub buffer_delay_percent: Option<f64>,
    /// Round trips per minute while the stream filled the path, by TCP's own RTT; `None` where nobody sampled it.
    pub loaded_rpm: Option<f64>,
    /// The smallest round trip, seconds.
    pub least_rtt_s: f64,
}

/// The first full stream whose socket told what it did.
pub(super) fn first(journal: &Journal) -> Option<Stream> {
    let is_capacity = |run: &&RunSample| {
        journal.plan.cell(run.cell).is_some_and(|cell| cell.group == Group::Capacity)
    };
    journal.runs().filter(is_capacity).find_map(|run| told(run.flows().next()?))
}

/// What a flow of a full stream says, where the kernel of its sender told round trips and acknowledged bytes.
pub(super) fn told(flow: &FlowSample) -> Option<Stream> {
    let least = flow.least_rtt_ns?.seconds();
    let acknowledged = float(flow.acknowledged_bytes?.count());
    let again = float(flow.retransmitted_bytes?.count());
    let loaded = flow.places.map(|places| places.least_rtt_s + places.queueing_s);
    let loaded = loaded.filter(|loaded| *loaded > 0.0);
    (acknowledged > 0.0 && least > 0.0).then(|| Stream {
        efficiency_percent: 100.0 * acknowledged / (acknowledged + again),
        buffer_delay_percent: loaded.map(|loaded| 100.0 * (loaded - least) / least),
        loaded_rpm: loaded.map(|loaded| 60.0 / loaded),
        least_rtt_s: least,
    })
}
