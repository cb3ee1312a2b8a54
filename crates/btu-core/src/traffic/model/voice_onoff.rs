//! Voice with silence suppression: packets while somebody talks.

use super::prelude::*;
use crate::traffic::train::Sessions;

/// Sriram and Whitt (1986): talk spurts Exp 352 ms, silences Exp 650 ms; or the means of ITU-T P.59,
/// 1.004 and 1.587 s (its double talk and mutual silence need both parties, and are left out).
///
/// A packet holds 20 ms of talk. What a spurt leaves begins the first packet of the next one, so
/// that the rate is exactly the share of talk.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "voice-onoff",
        about: "voice with silence suppression: talk spurts and silences",
        parameters: &[
            choice("codec", &["g711", "g729"], "160 or 20 bytes per 20 ms of talk"),
            choice("speech", &["sriram-whitt", "p59"], "whose talk spurts and silences"),
            CALLS,
            // Of calls without a packet there would be no end.
            value("length", Quantity::Time, "exp(180 s)", "length of a call, if calls arrive")
                .within(PACKET, s(86_400.0)),
            DURATION,
        ],
    },
    source: "K. Sriram, W. Whitt, IEEE JSAC 4(6), 1986; ITU-T P.59",
    verified: Verified::No(
        "1.004 s and 1.587 s were found in public programs, where the pause is 200 ms and an exponential time; 352 and \
         650 ms are recalled, and no source was read",
    ),
    variants: &[
        variant("g711", ""),
        variant("g729", "codec=g729"),
        variant("g711-p59", "speech=p59"),
        variant("g729-p59", "codec=g729, speech=p59"),
        variant("calls", "interarrival=exp(20 s)"),
    ],
    rates: |call| {
        let [on, off] = means(call);
        let one = bytes(call) / 0.020 * on / (on + off);
        let calls = call.optional("interarrival").map(|gap| call.number("length") / gap.mean());
        [one * calls.unwrap_or(1.0), 0.0]
    },
    train: |call, streams| Train::Open(train(call, streams)),
    claims: |call| {
        let [on, off] = means(call).map(|mean| Law::of("exp", [mean, 0.0, 0.0]));
        let mut claims = vec![
            follows("talk spurt", on, |call, streams, n| periods(call, streams, n, 0)),
            follows("silence", off, |call, streams, n| periods(call, streams, n, 1)),
        ];
        if let Some(gap) = call.optional("interarrival") {
            claims.extend(claims_of_calls(call, gap.law()));
        }
        claims
    },
};

fn claims_of_calls(call: &Call, between: &Law) -> Vec<Claim> {
    let length = call.variate("length").law().clone();
    vec![
        follows("time between two calls", between.clone(), |call, streams, n| {
            calls(call, streams, call.variate("interarrival").law()).gaps(n)
        }),
        follows("length of a call", length, |call, streams, n| {
            (0..n as u64).map(|part| one_call(call, &streams.part(part)).left).collect()
        }),
        // A train of bearable length holds some hundred calls.
        per_session((MODEL.rates)(call)[0], |call, streams, n| {
            let mut calls = calls(call, streams, call.variate("interarrival").law());
            let (mut begins, mut speech) = calls.birth();
            let mut one = |_| {
                let packets = std::iter::from_fn(|| speech.next());
                let bytes = packets.map(|packet| float(packet.bytes.count())).sum();
                let next;
                (next, speech) = calls.birth();
                let time = next.since(std::mem::replace(&mut begins, next));
                [bytes, time.seconds()]
            };
            (0..(n / 100).max(50)).flat_map(&mut one).collect()
        }),
    ]
}

const CALLS: crate::traffic::language::call::Parameter =
    crate::traffic::language::call::Parameter {
        name: "interarrival",
        takes: crate::traffic::language::call::Takes::Optional(Quantity::Time),
        default: "",
        about: "between calls; without it there is one call",
        range: Some((us(1.0), s(86_400.0))),
        at_least: None,
        only_beside: None,
    };

/// Talk and silence in turn, packets of talk.
#[derive(Debug)]
struct Speech {
    on: (Law, Stream),
    off: (Law, Stream),
    bytes: Bytes,
    /// Talk that is left of this spurt.
    talk: f64,
    /// Time until the end of the call.
    left: f64,
}

impl Speech {
    fn new(call: &Call, streams: &Streams, length: f64) -> Self {
        let [on, off] = means(call).map(|mean| Law::of("exp", [mean, 0.0, 0.0]));
        let mut on = (on, streams.stream("on"));
        let talk = on.0.sample(&mut on.1);
        let bytes = Bytes::new(whole(bytes(call)));
        Self { on, off: (off, streams.stream("off")), bytes, talk, left: length }
    }

    /// The silence and the spurt that come next.
    fn turn(&mut self) -> [f64; 2] {
        [self.off.0.sample(&mut self.off.1), self.on.0.sample(&mut self.on.1)]
    }
}

impl Open for Speech {
    fn next(&mut self) -> Option<Arrival> {
        let (mut gap, mut wanted) = (0.0, PACKET);
        while self.talk < wanted {
            let [silence, talk] = self.turn();
            gap += self.talk + silence;
            wanted -= self.talk;
            self.talk = talk;
        }
        gap += wanted;
        self.talk -= wanted;
        self.left -= gap;
        let arrival =
            Arrival { gap: Nanos::new(whole(gap)), bytes: self.bytes, flow: 0, direction: Forward };
        (self.left >= 0.0).then_some(arrival)
    }
}

fn train(call: &Call, streams: &Streams) -> Box<dyn Open> {
    let Some(gap) = call.optional("interarrival") else {
        return Box::new(Speech::new(call, streams, f64::INFINITY));
    };
    Box::new(calls(call, streams, gap.law()))
}

fn calls(call: &Call, streams: &Streams, between: &Law) -> Sessions {
    let call = call.clone();
    let make = move |streams: &Streams| Box::new(one_call(&call, streams)) as Box<dyn Open>;
    Sessions::new(streams, between.clone(), Box::new(make))
}

fn one_call(call: &Call, streams: &Streams) -> Speech {
    let length = call.variate("length").law().sample(&mut streams.stream("length"));
    Speech::new(call, streams, length)
}

/// Spurts, or silences.
fn periods(call: &Call, streams: &Streams, count: usize, which: usize) -> Vec<f64> {
    let mut speech = Speech::new(call, streams, f64::INFINITY);
    (0..count).map(|_| speech.turn()[1 - which]).collect()
}

/// Mean talk spurt and silence.
fn means(call: &Call) -> [f64; 2] {
    if call.word("speech") == "p59" { [s(1.004), s(1.587)] } else { [ms(352.0), ms(650.0)] }
}

fn bytes(call: &Call) -> f64 {
    if call.word("codec") == "g729" { 20.0 } else { 160.0 }
}

/// The talk in a packet.
const PACKET: f64 = ms(20.0);
