//! A capture's analysis and diagnoses as one JSON document, with units in its keys.

use btu_core::stats::whole_quantile;
use btu_core::tcp::Connection;
use btu_core::tcp::Limit;
use btu_core::tcp::Stream;
use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::Explained;
use crate::result::version::EXPLAIN_SCHEMA_VERSION;

pub(super) fn document(explained: &Explained<'_>) -> Value {
    let analysis = explained.analysis;
    let one = |place: usize| {
        let connection: &Connection = &analysis.connections[place];
        json!({
            "number": place + 1,
            "client": connection.client,
            "server": connection.server,
            "begin_ns": connection.begin,
            "length_ns": connection.length,
            "handshake_round_trip_ns": connection.handshake,
            "is_reset": connection.is_reset,
            "up": stream(&connection.up),
            "down": stream(&connection.down),
            "diagnoses": explained.diagnoses[place],
        })
    };
    json!({
        "schema_version": EXPLAIN_SCHEMA_VERSION,
        "capture": explained.name,
        "traffic": analysis.traffic,
        "missing": {
            "dropped": analysis.missing.dropped,
            "full_since_ns": analysis.missing.full_since,
            "behind": analysis.missing.behind,
            "skipped": analysis.missing.skipped,
            "unread_bytes": analysis.missing.unread_bytes,
            "notes": analysis.missing.notes,
        },
        "connections": explained.wanted.iter().copied().map(one).collect::<Vec<_>>(),
    })
}

fn stream(stream: &Stream) -> Value {
    let limits: Map<String, Value> = Limit::ALL
        .into_iter()
        .map(|limit| (name(limit), json!(stream.waited_for(limit))))
        .collect();
    let pause = |wait: &btu_core::tcp::Wait| json!({ "from_ns": wait.from, "length_ns": wait.length(), "limit": wait.limit });
    let trips: Vec<u64> = stream.round_trips.iter().map(|trip| trip.time.count()).collect();
    json!({
        "from": stream.from,
        "offer": stream.offer,
        "mss_bytes": stream.mss_bytes,
        "active_ns": stream.active(),
        "counts": stream.counts,
        "waits_ns": limits,
        "pauses": stream.pauses().map(pause).collect::<Vec<_>>(),
        "window_bytes": stream.window_bytes.filter(|_| stream.window_is_known),
        "zero_window_ns": stream.zero_windows.iter().map(|span| span.length().count()).sum::<u64>(),
        "most_in_flight_bytes": stream.flight_peak(),
        "round_trips": trips.len(),
        "least_round_trip_ns": trips.iter().min(),
        "median_round_trip_ns": whole_quantile(&trips, 0.5),
    })
}

/// `congestion_window`, as a limit is called everywhere in JSON.
fn name(limit: Limit) -> String {
    match json!(limit) {
        Value::String(name) => name,
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::Ipv4Addr;

    use btu_core::diagnosis::Evidence;
    use btu_core::tcp::Analysis;
    use btu_core::tcp::Endpoint;
    use btu_core::units::Nanos;

    use super::*;
    use crate::explain::explain;

    /// Every key of a document, by its path; the entries of a list share theirs.
    fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(entries) => {
                for (key, value) in entries {
                    let path = format!("{path}.{key}");
                    keys(value, &path, found);
                    found.insert(path);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| keys(value, path, found)),
            _ => {}
        }
    }

    /// A connection without a packet has no lists; what stands in those is counted by itself.
    #[test]
    fn added_keys_raise_the_minor_version() {
        let end = Endpoint { address: Ipv4Addr::LOCALHOST.into(), port: 7 };
        let connection = Connection {
            client: end,
            server: end,
            begin: Nanos::ZERO,
            length: Nanos::ZERO,
            handshake: None,
            is_reset: false,
            up: Stream::default(),
            down: Stream::default(),
        };
        let analysis = Analysis { connections: vec![connection], ..Analysis::default() };
        let explained = explain("a", &analysis, &Evidence::default(), 1);
        let mut found = BTreeSet::new();
        keys(&document(&explained), "", &mut found);
        assert_eq!((EXPLAIN_SCHEMA_VERSION, found.len()), ("1.3.0", 140), "{found:#?}");
    }
}
