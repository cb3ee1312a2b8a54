//! The figures beside a diagnosis: what both hosts say, what the packets say, what the causes used.

use btu_core::diagnosis::EndEvidence;
use btu_core::diagnosis::Evidence;
use btu_core::role::Role;
use btu_core::run::analysis::Carried;
use btu_core::run::analysis::Followed;
use btu_core::units::Nanos;

use crate::document::Column;
use crate::document::Table;
use crate::number;

/// One row for each figure that is known.
pub(super) fn table(title: &str, one: &Followed) -> Table {
    let elapsed = one.evidence.elapsed;
    let mut rows = Vec::new();
    let ends = [("sender", &one.evidence.sender), ("receiver", &one.evidence.receiver)];
    for (name, end) in ends {
        rows.extend(of_end(name, end, elapsed));
    }
    rows.extend(time("host", "stolen by the hypervisor", one.evidence.steal, elapsed));
    rows.extend(time("host", "softirqs, all CPUs", one.evidence.softirq, elapsed));
    rows.extend(time("host", "other programs, all CPUs", one.evidence.foreign, elapsed));
    rows.extend(of_capture(&one.evidence));
    rows.extend(count("link", "drops asked for", one.evidence.asked_drops));
    rows.extend(count("link", "drops of a full queue", one.evidence.queue_drops));
    if let Some(carried) = &one.connection {
        rows.extend(of_packets(carried));
    }
    rows.extend(ends.into_iter().flat_map(|(_, end)| of_host(end)));
    rows.extend(figures(one));
    let columns = vec![Column::left("from"), Column::left("figure"), Column::right("value")];
    let rows = rows.into_iter().map(Vec::from).collect();
    Table { title: title.to_owned(), columns, rows, summary_rows: 0 }
}

type Row = [String; 3];

/// `TCP_INFO` and the scheduler, of one end.
fn of_end(name: &str, end: &EndEvidence, elapsed: Nanos) -> Vec<Row> {
    let times = [
        ("CPU of the data thread", end.cpu),
        ("waiting for a CPU", end.run_delay),
        ("data outstanding (busy)", end.busy),
        ("limited by the receiver's window", end.window_limited),
        ("limited by its send buffer", end.buffer_limited),
    ];
    let mut rows: Vec<Row> =
        times.into_iter().filter_map(|(what, spent)| time(name, what, spent, elapsed)).collect();
    rows.extend(count(name, "send buffer, B", end.send_buffer_bytes));
    rows.extend(count(name, "receive buffer, B", end.receive_buffer_bytes));
    rows
}

/// What the capture lacks.
fn of_capture(evidence: &Evidence) -> Vec<Row> {
    let part =
        evidence.covered.map(|part| format!("{} %", number::percent(part.share().percent())));
    let part = part.map(|part| row("capture", "part of the run in it", part));
    let lost = Some(evidence.lost_packets).filter(|lost| *lost > 0);
    part.into_iter().chain(count("capture", "packets lost by it", lost)).collect()
}

fn of_packets(carried: &Carried) -> Vec<Row> {
    let outline = &carried.outline;
    let counts = outline.counts;
    let some = |count: u64| (count > 0).then_some(count);
    let all = [
        ("segments with data", Some(counts.data_segments)),
        ("retransmissions", Some(counts.retransmissions)),
        ("of them after a timeout", some(counts.timeouts.saturating_add(counts.after_timeout))),
        ("of them fast", some(counts.fast)),
        ("of them probes of the tail", some(counts.tail_probes)),
        ("of them not needed", some(counts.spurious)),
        ("duplicate acknowledgements", some(counts.duplicate_acks)),
        ("delayed acknowledgements", some(counts.delayed_acks)),
        ("answers that shut the window", some(counts.zero_windows)),
        ("segments that filled the window", some(counts.window_full)),
        ("most bytes in flight", Some(outline.flight_peak_bytes)),
    ];
    let mut rows: Vec<Row> =
        all.into_iter().filter_map(|(name, value)| count("packets", name, value)).collect();
    rows.extend(count(
        "packets",
        "pauses",
        u64::try_from(outline.pauses.len()).ok().and_then(some),
    ));
    if let Some(trip) = carried.round_trip {
        rows.push(row("packets", "round trip", format!("{} ms", number::figure(trip.millis()))));
    }
    rows
}

/// What this end's host spent elsewhere, and its counters that tell of trouble.
fn of_host(end: &EndEvidence) -> Vec<Row> {
    let host = match end.role {
        Some(Role::Test) => "test host".to_owned(),
        Some(role) => format!("black box {role}"),
        None => return Vec::new(),
    };
    let name = host.as_str();
    let times = end.host.into_iter().flat_map(|spent| {
        let of = [("stolen by its hypervisor", spent.steal), ("softirqs, all CPUs", spent.softirq)];
        of.into_iter().filter_map(move |(what, part)| time(name, what, part, spent.elapsed))
    });
    let mut rows: Vec<Row> = times.collect();
    let telling = end.counters.iter().filter(|counter| TELLING.contains(&counter.name.as_str()));
    rows.extend(telling.map(|counter| row(&host, &counter.name, counter.delta.to_string())));
    rows
}

/// What the causes used, each figure once.
fn figures(one: &Followed) -> Vec<Row> {
    let mut rows = Vec::new();
    for found in &one.diagnoses {
        for figure in &found.figures {
            let value = number::measured(figure.value, &figure.unit);
            rows.push(row(found.cause, &figure.name, value));
        }
    }
    rows
}

/// A time that was spent at all.
fn time(from: &str, name: &str, spent: Option<Nanos>, elapsed: Nanos) -> Option<Row> {
    let spent = spent.filter(|spent| *spent > Nanos::ZERO)?;
    let share = (elapsed > Nanos::ZERO).then(|| spent.seconds() / elapsed.seconds() * 100.0);
    let share = share.map_or_else(String::new, |share| format!(" ({} %)", number::percent(share)));
    Some(row(from, name, format!("{} ms{share}", number::figure(spent.millis()))))
}

fn count(from: &str, name: &str, value: Option<u64>) -> Option<Row> {
    value.map(|value| row(from, name, value.to_string()))
}

fn row(from: &str, name: &str, value: String) -> Row {
    [from.to_owned(), name.to_owned(), value]
}

/// Of `/proc/net/snmp` and `/proc/net/netstat` (`Documentation/networking/snmp_counter.rst`).
const TELLING: [&str; 33] = [
    "Tcp.AttemptFails",
    "Tcp.InErrs",
    "Tcp.RetransSegs",
    "TcpExt.DelayedACKs",
    "TcpExt.ListenDrops",
    "TcpExt.ListenOverflows",
    "TcpExt.OfoPruned",
    "TcpExt.PruneCalled",
    "TcpExt.RcvPruned",
    "TcpExt.TCPBacklogDrop",
    "TcpExt.TCPDSACKOfoRecv",
    "TcpExt.TCPDSACKRecv",
    "TcpExt.TCPFastRetrans",
    "TcpExt.TCPFromZeroWindowAdv",
    "TcpExt.TCPLossProbeRecovery",
    "TcpExt.TCPLossProbes",
    "TcpExt.TCPLostRetransmit",
    "TcpExt.TCPMemoryPressures",
    "TcpExt.TCPOFODrop",
    "TcpExt.TCPRcvCollapsed",
    "TcpExt.TCPRcvQDrop",
    "TcpExt.TCPSACKReorder",
    "TcpExt.TCPSlowStartRetrans",
    "TcpExt.TCPSpuriousRTOs",
    "TcpExt.TCPSynRetrans",
    "TcpExt.TCPTSReorder",
    "TcpExt.TCPTimeouts",
    "TcpExt.TCPToZeroWindowAdv",
    "TcpExt.TCPWantZeroWindowAdv",
    "TcpExt.TCPZeroWindowDrop",
    "Udp.InErrors",
    "Udp.RcvbufErrors",
    "Udp.SndbufErrors",
];
