//! Many small devices: reports at long periods, or all at once after an event.

use super::prelude::*;
use crate::traffic::train::Periodic;
use crate::traffic::train::Timeline;

/// 3GPP TR 45.820: payload Pareto(20 B, 2.5) clamped at 200 B; periods of 1 day, 2 hours, 1 hour, 30
/// minutes for 40, 40, 15, 5 % of the devices, each with a phase of its own. TR 37.868: after an event
/// every device reports once, at Beta(3, 4) over 10 s. With MQTT at level 1 each report is acknowledged in
/// 4 bytes (PUBACK).
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "iot",
        about: "many small devices: reports at long periods, or all within 10 s",
        parameters: &[
            choice("mode", &["periodic", "burst"], "periods, or an event that all report"),
            choice("mqtt", &["qos0", "qos1"], "reports alone, or acknowledged"),
            fixed("devices", Quantity::Count, "1000", "devices, each a flow").within(1.0, 1e6),
            DURATION,
        ],
    },
    source: "3GPP TR 45.820, TR 37.868; MQTT 3.1.1, 3.4",
    verified: Verified::No(
        "laws of periods and of the event are those of public programs (periodic-sender-helper.cc of signetlabdei/lorawan, \
         LTEA_M_H_ACB_QL8.m of dfpach/QL_Pacb), PUBACK that of MQTT 3.1.1; of payloads only the 2.5 was found there, and \
         the reports were not read",
    ),
    variants: &[
        variant("periodic", ""),
        variant("periodic-qos1", "mqtt=qos1"),
        variant("burst", "mode=burst"),
        variant("burst-qos1", "mode=burst, mqtt=qos1"),
    ],
    rates: |call| {
        if call.word("mode") == "burst" {
            return [0.0, 0.0];
        }
        let rate: f64 = (0..call.count("devices")).map(|device| 1.0 / period(call, device)).sum();
        let back = if call.word("mqtt") == "qos1" { float(PUBACK) } else { 0.0 };
        [rate * payload().mean().unwrap_or(0.0), rate * back]
    },
    train: |call, streams| {
        let trains = match call.word("mode") {
            "burst" => vec![Box::new(event(call, streams)) as Box<dyn Open>],
            _ => (0..call.count("devices")).map(|device| reports(call, streams, device)).collect(),
        };
        let train = merge(trains);
        Train::Open(match call.word("mqtt") {
            "qos1" => Box::new(Acknowledged { train, due: None }),
            _ => train,
        })
    },
    claims: |call| {
        let mut claims = match call.word("mode") {
            "burst" => claims_of_events(),
            _ => claims_of_periods(),
        };
        if call.word("mqtt") == "qos1" {
            let bytes = Law::of("const", [float(PUBACK), 0.0, 0.0]);
            claims.push(follows("size of an acknowledgement", bytes, |call, streams, n| {
                observe::sizes(call, streams, Backward, n)
            }));
        }
        claims
    },
};

fn claims_of_periods() -> Vec<Claim> {
    vec![
        rounded("payload", payload(), |call, streams, n| observe::sizes(call, streams, Forward, n)),
        follows(
            "phase of a device by its period",
            Law::of("uniform", [0.0, 1.0, 0.0]),
            |call, streams, n| {
                let devices = call.count("devices");
                let phases = |part| {
                    let streams = streams.part(part);
                    (0..devices).filter_map(move |device| {
                        let first = reports(call, &streams, device).next()?;
                        Some(first.gap.seconds() / period(call, device))
                    })
                };
                (0..).flat_map(phases).take(n.min(1000).max(n / 10)).collect()
            },
        ),
    ]
}

/// As many events as have the values: each device reports once.
fn claims_of_events() -> Vec<Claim> {
    vec![
        rounded("payload", payload(), |call, streams, n| {
            events(call, streams, n, |_, report| float(report.bytes.count()))
        }),
        follows("time of a report", when(), |call, streams, n| {
            events(call, streams, n, |at, _| float(at.count()))
        }),
    ]
}

fn events(
    call: &Call,
    streams: &Streams,
    count: usize,
    value: fn(Nanos, Arrival) -> f64,
) -> Vec<f64> {
    let events = (0..).map(|part| Timeline::new(Box::new(event(call, &streams.part(part)))));
    // All of the last one: the values of an event are in the order of their time.
    let many = events.take(count.div_ceil(call.count("devices") as usize));
    many.flatten().map(|(at, report)| value(at, report)).collect()
}

fn reports(call: &Call, streams: &Streams, device: u32) -> Box<dyn Open> {
    let streams = streams.part(u64::from(device));
    let period = period(call, device) * 1e9;
    let phase = period * streams.stream("phase").unit();
    let size = (payload(), streams.stream("payload"));
    Box::new(Periodic::new(Nanos::new(whole(period)), Nanos::new(whole(phase)), device, size))
}

/// One report of every device.
#[derive(Debug)]
struct Event {
    times: std::vec::IntoIter<(Nanos, u32)>,
    size: Stream,
    at: Nanos,
}

fn event(call: &Call, streams: &Streams) -> Event {
    let mut stream = streams.stream("when");
    let one = |device| (Nanos::new(whole(when().sample(&mut stream))), device);
    let mut times: Vec<(Nanos, u32)> = (0..call.count("devices")).map(one).collect();
    times.sort_unstable();
    Event { times: times.into_iter(), size: streams.stream("payload"), at: Nanos::ZERO }
}

impl Open for Event {
    fn next(&mut self) -> Option<Arrival> {
        let (at, flow) = self.times.next()?;
        let bytes = Bytes::new(whole(payload().sample(&mut self.size)).max(1));
        let gap = at.since(std::mem::replace(&mut self.at, at));
        Some(Arrival { gap, bytes, flow, direction: Forward })
    }
}

/// A train whose messages are acknowledged in 4 bytes.
#[derive(Debug)]
struct Acknowledged {
    train: Box<dyn Open>,
    due: Option<u32>,
}

impl Open for Acknowledged {
    fn next(&mut self) -> Option<Arrival> {
        if let Some(flow) = self.due.take() {
            let bytes = Bytes::new(PUBACK);
            return Some(Arrival { gap: Nanos::ZERO, bytes, flow, direction: Backward });
        }
        let arrival = self.train.next()?;
        self.due = Some(arrival.flow);
        Some(arrival)
    }
}

fn payload() -> Law {
    Law::of("pareto", [20.0, 2.5, 0.0]).clamped(20.0, 200.0)
}

fn when() -> Law {
    Law::of("beta", [3.0, 4.0, s(10.0)])
}

/// The period of a device in seconds: shares of the devices in order, so that any number has them.
fn period(call: &Call, device: u32) -> f64 {
    match (f64::from(device) + 0.5) / f64::from(call.count("devices")) {
        share if share < 0.40 => 86_400.0,
        share if share < 0.80 => 7_200.0,
        share if share < 0.95 => 3_600.0,
        _ => 1_800.0,
    }
}

/// Bytes of an acknowledgement.
const PUBACK: u64 = 4;
