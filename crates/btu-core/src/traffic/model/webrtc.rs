//! A video call: speech and video down, reports up.

use super::frames::Packets;
use super::prelude::*;
use crate::traffic::sending::media::Media;
use crate::traffic::sending::media::Receiver;
use crate::traffic::sending::media::Sender;
use crate::traffic::sending::media::Source;
use crate::traffic::train::Periodic;
use crate::units::BitRate;

/// Packets as the RFC 8834 family has them: Opus, 50 packets/s of 80 to 160 bytes; 30 frames/s of
/// gamma sizes, a key frame 5 to 8 times as large each 300 frames, packets of at most 1200 bytes paced
/// at 2.5 times the rate; reports each 50 to 100 ms. The rate follows these by Google Congestion Control, or is fixed.
pub(super) static MODEL: Model = Model {
    shape: Shape {
        name: "webrtc",
        about: "a video call: speech and paced video down, reports up",
        parameters: &[
            sending_rate("rate", "2500 kbit/s", "of the video, the most that it may be"),
            choice("control", &["gcc", "none"], "what the rate follows"),
            sending_rate("start", "300 kbit/s", "of the video at first, where it follows"),
            DURATION,
        ],
    },
    source: "RFC 8834 and the RFCs that it names; draft-ietf-rmcat-gcc-02",
    verified: Verified::No("sizes from the literature; without probes, and no codec"),
    variants: &[variant("gcc", ""), variant("none", "control=none")],
    rates: |call| [call.number("rate") / 8.0 + 50.0 * 120.0, 100.0 / 0.075],
    train: |call, streams| {
        let unhindered = unhindered(call, streams);
        if call.word("control") == "none" {
            return Train::Open(unhindered);
        }
        let receiver = Receiver::new((gap_of_reports(), streams.stream("up gap")));
        let sender = Sender::new(source(call, streams));
        Train::Media(Box::new(Media { sender, receiver, unhindered }))
    },
    claims: |call| {
        let mean = call.number("rate") / 8.0 / 30.0 * SHARE;
        let mut claims = vec![
            rounded("size of speech", opus(), |_, streams, n| {
                observe::sizes_of(speech(streams), n)
            }),
            rounded("size of a frame between key frames", frame(mean), |call, streams, n| {
                let mut video = Video::new(call.number("rate"), streams);
                let sizes = (0..n + n / 200).map(|at| (at, video.size()));
                sizes.filter(|(at, _)| at % 300 != 0).map(|(_, size)| size.round()).collect()
            }),
            follows("key frame over a plain one", key(), keys),
            follows("gap of reports", gap_of_reports(), |call, streams, n| {
                observe::gaps(call, streams, Backward, n.min(20_000))
            }),
        ];
        // Of smaller frames each is a packet.
        if mean > float(PACKET) {
            let pace = Law::of("const", [float(pace(call).count()), 0.0, 0.0]);
            claims.push(follows("gap between two packets of a frame", pace, gaps));
        }
        claims
    },
};

/// All of it at a fixed rate.
fn unhindered(call: &Call, streams: &Streams) -> Box<dyn Open> {
    let (speech, video) = (speech(streams), packets(call, streams));
    let size = Law::of("const", [100.0, 0.0, 0.0]);
    let reports = Renewal::new(streams, Backward, gap_of_reports(), size);
    merge(vec![Box::new(speech), Box::new(video), Box::new(reports)])
}

/// The same media where the rate follows reports.
fn source(call: &Call, streams: &Streams) -> Source {
    let [rate, start] = ["rate", "start"].map(|name| BitRate::new(whole(call.number(name))));
    Source {
        speech: (opus(), streams.stream("speech")),
        speech_period: SPEECH_PERIOD,
        speech_rate: BitRate::new(8 * 50 * 120),
        frame: (frame(1.0), streams.stream("size")),
        frame_period: FRAME_PERIOD,
        key: (key(), streams.stream("key")),
        group: 300,
        packet: Bytes::new(PACKET),
        pace: PACE,
        start: start.min(rate),
        bounds: [LEAST.min(rate), rate],
    }
}

fn speech(streams: &Streams) -> Periodic {
    let size = (opus(), streams.stream("speech"));
    Periodic::new(SPEECH_PERIOD, Nanos::ZERO, 0, size)
}

fn gap_of_reports() -> Law {
    Law::of("uniform", [ms(50.0), ms(100.0), 0.0])
}

fn packets(call: &Call, streams: &Streams) -> Packets<Video> {
    Packets::new(Video::new(call.number("rate"), streams), PACKET, pace(call))
}

/// 2.5 times the rate.
fn pace(call: &Call) -> Nanos {
    Nanos::new(whole(float(PACKET) * 8e9 / (PACE * call.number("rate"))))
}

/// The sizes of key frames over what plain ones in their place would have had.
fn keys(call: &Call, streams: &Streams, count: usize) -> Vec<f64> {
    let mut video = Video::new(call.number("rate"), streams);
    let (plain, mut sizes) = (video.size.0.clone(), streams.stream("size"));
    let frames = (0_u64..).map(|at| (at, video.size() / plain.sample(&mut sizes)));
    let keys = frames.filter(|(at, _)| at.is_multiple_of(300)).map(|(_, over)| over);
    // Each costs 300 frames.
    keys.take((count / 30).max(40)).collect()
}

/// The gaps before the packets of frames that no frame begins with.
fn gaps(call: &Call, streams: &Streams, count: usize) -> Vec<f64> {
    let (mut frames, mut packets) =
        (Video::new(call.number("rate"), streams), packets(call, streams));
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        let parts = whole(frames.size()).max(1).div_ceil(PACKET);
        let frame = (0..parts).filter_map(|_| packets.next());
        found.extend(frame.skip(1).map(|packet| float(packet.gap.count())));
    }
    found.truncate(count);
    found
}

#[derive(Debug)]
struct Video {
    size: (Law, Stream),
    key: (Law, Stream),
    made: u64,
}

impl Video {
    fn new(rate: f64, streams: &Streams) -> Self {
        let size = (frame(rate / 8.0 / 30.0 * SHARE), streams.stream("size"));
        Self { size, key: (key(), streams.stream("key")), made: 0 }
    }

    fn size(&mut self) -> f64 {
        let key = self.made.is_multiple_of(300);
        self.made += 1;
        let size = self.size.0.sample(&mut self.size.1);
        if key { size * self.key.0.sample(&mut self.key.1) } else { size }
    }
}

impl Open for Video {
    fn next(&mut self) -> Option<Arrival> {
        let bytes = Bytes::new(whole(self.size()).max(1));
        Some(Arrival { gap: FRAME_PERIOD, bytes, flow: 0, direction: Forward })
    }
}

/// Gamma sizes, a quarter of the mean as deviation.
fn frame(mean: f64) -> Law {
    Law::of("gamma", [16.0, mean / 16.0, 0.0])
}

/// How many times as large as a plain one a key frame is.
fn key() -> Law {
    Law::of("uniform", [5.0, 8.0, 0.0])
}

/// Bytes of a packet of speech.
fn opus() -> Law {
    Law::of("uniform", [80.0, 160.0, 0.0])
}

const SPEECH_PERIOD: Nanos = Nanos::from_millis(20);
const FRAME_PERIOD: Nanos = Nanos::new(33_333_333);
/// The rate of packets of a frame over that of the video.
const PACE: f64 = 2.5;
/// The least rate of a video that follows; libwebrtc: `kDefaultMinVideoBitrateBps`.
const LEAST: BitRate = BitRate::new(30_000);
/// The most bytes of a packet of video.
const PACKET: u64 = 1200;
/// What a plain frame has of the mean: one frame in 300 is 6.5 times as large.
const SHARE: f64 = 300.0 / 305.5;
