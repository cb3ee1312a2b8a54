//! Self-similar traffic: many sources that are on and off for times with heavy tails.

use super::prelude::*;

/// Willinger, Taqqu, Sherman, Wilson (1997): on and off times Pareto with 1 < alpha < 2; the sum of
/// many sources is self-similar with H = (3 - alpha) / 2. A source that is on sends packets of 1000
/// bytes at its rate.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "self-similar",
        about: "many on/off sources with heavy tails: H = (3 - alpha) / 2",
        parameters: &[
            fixed("sources", Quantity::Count, "32", "sources").within(1.0, 1e5),
            fixed("alpha", Quantity::Number, "1.4", "index of the tails, above 1 and below 2")
                .within(1.01, 2.0),
            fixed("period", Quantity::Time, "400 ms", "mean on time, and mean off time")
                .within(us(1.0), s(86_400.0)),
            sending_rate("rate", "800 kbit/s", "of a source that is on"),
            DURATION,
        ],
    },
    source: "W. Willinger, M. Taqqu, R. Sherman, D. Wilson, IEEE/ACM ToN 5(1), 1997",
    verified: Verified::Yes(
        "H = (3 - alpha) / 2 with Mikosch, Resnick, Rootzen, Stegeman (Annals of Applied Probability 12(1), 2002, theorem 4 \
         and p. 62) as others quote them, not with the paper of 1997; that both times have the same law, sources, times and \
         rates are ours",
    ),
    variants: PLAIN,
    rates: |call| [call.number("sources") * call.number("rate") / 8.0 / 2.0, 0.0],
    train: |call, streams| {
        let source = |index| Box::new(Source::new(call, streams, index)) as Box<dyn Open>;
        Train::Open(merge((0..call.count("sources")).map(source).collect()))
    },
    claims: |call| {
        let rate = call.number("sources") * call.number("rate") / 8.0 / 2.0;
        vec![
            below_tails(rate, turns),
            follows("on time", times(call), |call, streams, n| {
                let mut source = Source::new(call, streams, 0);
                (0..n).map(|_| source.turn().1).collect()
            }),
            // Of a source that begins off: the others have no first one.
            follows("off time", times(call), |call, streams, n| {
                let mut source = Source::new(call, streams, 1);
                (0..n).map(|_| source.turn().0).collect()
            }),
            Claim {
                what: "long memory of the sum",
                says: Says::Hurst((3.0 - call.number("alpha")) / 2.0),
                values: |call, streams, n| counts(call, streams, n.clamp(1 << 13, 1 << 16)),
            },
        ]
    },
};

#[derive(Debug)]
struct Source {
    times: Law,
    on: Stream,
    off: Stream,
    flow: u32,
    /// Between two packets while on.
    gap: f64,
    /// On time that is left.
    left: f64,
    /// Whether it has sent yet: half the sources begin off.
    begun: bool,
}

impl Source {
    fn new(call: &Call, streams: &Streams, flow: u32) -> Self {
        let streams = streams.part(u64::from(flow));
        let gap = 8e9 * PACKET / call.number("rate");
        let (on, off) = (streams.stream("on"), streams.stream("off"));
        Self { times: times(call), on, off, flow, gap, left: 0.0, begun: flow.is_multiple_of(2) }
    }

    /// The silence and the on time that come next.
    fn turn(&mut self) -> (f64, f64) {
        let on = self.times.sample(&mut self.on);
        if std::mem::replace(&mut self.begun, false) {
            return (0.0, on);
        }
        (self.times.sample(&mut self.off), on)
    }
}

impl Open for Source {
    fn next(&mut self) -> Option<Arrival> {
        let (mut gap, mut wanted) = (0.0, self.gap);
        while self.left < wanted {
            let (off, on) = self.turn();
            gap += self.left + off;
            wanted -= self.left;
            self.left = on;
        }
        self.left -= wanted;
        let gap = Nanos::new(whole(gap + wanted));
        Some(Arrival { gap, bytes: Bytes::new(1000), flow: self.flow, direction: Forward })
    }
}

/// Turns of one source without the tails: the bytes of as many sources in the time that it is on, and the
/// seconds that it is on and off.
fn turns(call: &Call, streams: &Streams, count: usize) -> Vec<f64> {
    let mut source = Source::new(call, streams, 1);
    source.times = source.times.below_tail();
    let bytes = call.number("sources") * call.number("rate") / 8.0 / 1e9;
    let turn = |_| {
        let (off, on) = source.turn();
        [bytes * on, (off + on) / 1e9]
    };
    (0..count).flat_map(turn).collect()
}

/// On time of all sources in each stretch of 16 mean on times: at shorter ones a sum of on/off
/// sources still looks like its sources, and H would come out up to a tenth too large.
fn counts(call: &Call, streams: &Streams, count: usize) -> Vec<f64> {
    let width = 16.0 * call.number("period");
    let mut bins = vec![0.0; count];
    for index in 0..call.count("sources") {
        let mut source = Source::new(call, streams, index);
        let mut at = 0.0;
        while at < width * crate::stats::count(count) {
            let (off, on) = source.turn();
            spread(&mut bins, (at + off) / width, (at + off + on) / width);
            at += off + on;
        }
    }
    bins
}

/// Adds a stretch from one place to another to the bins that it covers.
fn spread(bins: &mut [f64], from: f64, to: f64) {
    let mut at = from;
    while at < to {
        let Some(bin) = usize::try_from(whole(at.floor())).ok().and_then(|i| bins.get_mut(i))
        else {
            return;
        };
        let next = (at.floor() + 1.0).min(to);
        *bin += next - at;
        at = next;
    }
}

fn times(call: &Call) -> Law {
    let alpha = call.number("alpha");
    Law::of("pareto", [call.number("period") * (alpha - 1.0) / alpha, alpha, 0.0])
}

const PACKET: f64 = 1000.0;
