//! The causes, one entry each.

use btu_core::run::cell::Direction;

use super::Plant;
use super::Rivals;
use super::Sockets;
use super::talk::Reader;
use super::talk::Writer;

/// Every cause that is planted.
pub(crate) static CAUSES: &[Plant] = &[
    // Two writes per message: the second waits for the acknowledgement of the first, which waits
    // for something to ride on (RFC 896 meets RFC 1122, 4.2.3.2).
    Plant {
        name: "nagle-delayed-ack",
        expected: &["delayed-ack-nagle"],
        writer: TWENTY_OF_TWO_WRITES,
        reader: Reader::Answers { bytes: 216 },
        link: [&["delay 1ms"], &["delay 1ms"]],
        ..BULK
    },
    Plant {
        name: "slow reader",
        expected: &["slow-reader"],
        reader: Reader::Slow { read: 64 << 10, pause_millis: 20 },
        sockets: Sockets { receive_buffer: Some(128 << 10), ..SYSTEM },
        ..BULK
    },
    Plant {
        name: "tiny receive buffer",
        expected: &["small-receive-buffer"],
        sockets: Sockets { receive_buffer: Some(4096), ..SYSTEM },
        link: [&["delay 5ms"], &["delay 5ms"]],
        ..BULK
    },
    Plant {
        name: "tiny send buffer",
        expected: &["small-send-buffer"],
        // The kernel lets one large buffer of 64 KiB beyond any limit, so the path must hold more.
        writer: Writer::Bulk { write: 64 << 10, millis: 1500 },
        sockets: Sockets { send_buffer: Some(4096), ..SYSTEM },
        link: [&["delay 30ms"], &["delay 30ms"]],
        ..BULK
    },
    // The kernel tunes up to 4 MiB, and the path takes more.
    Plant {
        name: "send buffer at its most",
        expected: &["small-send-buffer"],
        link: [&["delay 5ms"], &["delay 5ms"]],
        ..BULK
    },
    // The route's own bound (RTAX_CWND): 20 segments in each round trip of 20 ms, 11 Mbit/s, whatever
    // buffers and path hold.
    Plant {
        name: "bounded congestion window",
        expected: &["congestion-window"],
        writer: Writer::Bulk { write: 64 << 10, millis: 1500 },
        link: [&["delay 10ms"], &["delay 10ms"]],
        // The kernel would tune the buffer to so small a window.
        sockets: Sockets { send_buffer: Some(1 << 20), ..SYSTEM },
        most_window: Some(20),
        ..BULK
    },
    Plant {
        name: "application pauses",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 50_000, count: 8, pause_millis: 150 },
        reader: Reader::Answers { bytes: 50_000 },
        ..BULK
    },
    // Ten segments leave at once, then twenty: those twenty, the probe of the tail and the first
    // timeout's segment are lost.
    Plant {
        name: "burst loss, timeout",
        expected: &["timeout"],
        writer: Writer::Amount(2 << 20),
        link: [&["drop 22@13/1000000", "delay 10ms"], &["delay 10ms"]],
        ..BULK
    },
    Plant {
        name: "single losses",
        expected: &["fast-retransmit"],
        writer: Writer::Amount(8 << 20),
        link: [&["drop 1@200/400", "delay 5ms"], &["delay 5ms"]],
        ..BULK
    },
    // SYN, acknowledgement, twenty segments: the last of them is lost.
    Plant {
        name: "tail loss",
        expected: &["tail-loss"],
        writer: Writer::Messages { bytes: 20 * 1448, count: 1 },
        reader: Reader::Answers { bytes: 20 * 1448 },
        link: [&["drop 1@22/1000000", "delay 10ms"], &["delay 10ms"]],
        ..BULK
    },
    Plant {
        name: "reordering",
        expected: &["reordering"],
        link: [&["delay 5ms", "reorder 1% after 30pkt"], &["delay 5ms"]],
        writer: Writer::Amount(8 << 20),
        ..BULK
    },
    Plant {
        name: "rate, small queue",
        expected: &["small-queue"],
        link: [&["rate 20Mbit/s queue 10pkt", "delay 10ms"], &["delay 10ms"]],
        ..LONG
    },
    Plant {
        name: "rate, bloated queue",
        expected: &["bloated-queue"],
        link: [&["rate 10Mbit/s queue 1000ms", "delay 5ms"], &["delay 5ms"]],
        ..LONG
    },
    Plant {
        name: "CPU-starved receiver",
        expected: &["starved-receiver"],
        direction: Direction::Receive,
        rivals: Rivals::Threads(4),
        ..BULK
    },
    Plant {
        name: "CPU-starved sender",
        expected: &["starved-sender"],
        rivals: Rivals::Threads(4),
        ..BULK
    },
    Plant {
        name: "the link's own pattern",
        expected: &["emulator-pattern"],
        link: [&["drop 1@200,3@400/400", "delay 1ms"], &["delay 1ms"]],
        link_is_known: true,
        ..BULK
    },
    // Each timeout's length of silence halves the window (RFC 2861): after two seconds it is ten
    // segments again, and seven round trips of 100 ms pass until a megabyte is there.
    Plant {
        name: "slow start after idle",
        expected: &["slow-start-after-idle"],
        writer: Writer::Bursts { bytes: 1 << 20, count: 3, pause_millis: 2000 },
        reader: Reader::Answers { bytes: 1 << 20 },
        link: [&["delay 50ms"], &["delay 50ms"]],
        ..BULK
    },
    Plant {
        name: "black box at its limit",
        expected: &["blackbox-limited"],
        reader: Reader::Busy { read: 16 << 10, work_micros: 300 },
        ..BULK
    },
];

/// Two causes at once; the one that costs more time, by what each is known to take, is expected.
pub(crate) static PAIRS: &[Plant] = &[
    // Four timeouts' worth of silence, 1.4 s, against one of 0.25 s.
    Plant {
        name: "timeout over pauses",
        expected: &["timeout"],
        writer: Writer::Bursts { bytes: 1 << 20, count: 2, pause_millis: 250 },
        reader: Reader::Answers { bytes: 1 << 20 },
        link: [&["drop 22@13/1000000", "delay 10ms"], &["delay 10ms"]],
        ..BULK
    },
    // Bursts of ten segments, which no window holds back; the second of them and its probe are lost.
    Plant {
        name: "pauses over timeout",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 14_000, count: 8, pause_millis: 600 },
        reader: Reader::Answers { bytes: 14_000 },
        link: [&["drop 11@14/1000000", "delay 10ms"], &["delay 10ms"]],
        ..BULK
    },
    // A drop in a hundred packets of 40 ms allows some 14 packets in flight: 2 MB take 4 s.
    Plant {
        name: "losses over pauses",
        expected: &["fast-retransmit"],
        writer: Writer::Bursts { bytes: 1 << 20, count: 2, pause_millis: 250 },
        reader: Reader::Answers { bytes: 1 << 20 },
        link: [&["drop 1@60/100", "delay 20ms"], &["delay 20ms"]],
        ..BULK
    },
    Plant {
        name: "pauses over losses",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 200_000, count: 6, pause_millis: 500 },
        reader: Reader::Answers { bytes: 200_000 },
        link: [&["drop 1@60/200", "delay 2ms"], &["delay 2ms"]],
        ..BULK
    },
    // 2 MB at 10 Mbit/s are 1.6 s.
    Plant {
        name: "bloated queue over pauses",
        expected: &["bloated-queue"],
        writer: Writer::Bursts { bytes: 2 << 20, count: 2, pause_millis: 300 },
        reader: Reader::Answers { bytes: 2 << 20 },
        link: [&["rate 10Mbit/s queue 1000ms", "delay 5ms"], &["delay 5ms"]],
        ..BULK
    },
    Plant {
        name: "pauses over bloated queue",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 200_000, count: 4, pause_millis: 800 },
        reader: Reader::Answers { bytes: 200_000 },
        link: [&["rate 10Mbit/s queue 1000ms", "delay 5ms"], &["delay 5ms"]],
        ..BULK
    },
    // Each read of 64 KiB is followed by 20 ms of sleep; a loss costs 2 ms.
    Plant {
        name: "slow reader over losses",
        expected: &["slow-reader"],
        reader: Reader::Slow { read: 64 << 10, pause_millis: 20 },
        sockets: Sockets { receive_buffer: Some(128 << 10), ..SYSTEM },
        link: [&["drop 1@100/400", "delay 1ms"], &["delay 1ms"]],
        ..BULK
    },
    // Twenty messages wait for a delayed acknowledgement of 40 ms each (TCP_DELACK_MIN), 0.8 s; the
    // application rests for 0.25 s.
    Plant {
        name: "Nagle over pauses",
        expected: &["delayed-ack-nagle"],
        writer: Writer::TwoWrites { head: 16, body: 200, count: 20, paused: 1, pause_millis: 250 },
        reader: Reader::Answers { bytes: 216 },
        link: [&["delay 1ms"], &["delay 1ms"]],
        ..BULK
    },
    // Eight such messages, 0.3 s, and four rests, 2.4 s.
    Plant {
        name: "pauses over Nagle",
        expected: &["application"],
        writer: Writer::TwoWrites { head: 16, body: 200, count: 8, paused: 4, pause_millis: 600 },
        reader: Reader::Answers { bytes: 216 },
        link: [&["delay 1ms"], &["delay 1ms"]],
        ..BULK
    },
    // Some 70 kB in a round trip of 60 ms: 2 MB take 1.7 s, and the rests half a second.
    Plant {
        name: "send buffer over pauses",
        expected: &["small-send-buffer"],
        writer: Writer::Bursts { bytes: 1 << 20, count: 2, pause_millis: 250 },
        reader: Reader::Answers { bytes: 1 << 20 },
        sockets: Sockets { send_buffer: Some(4096), ..SYSTEM },
        link: [&["delay 30ms"], &["delay 30ms"]],
        ..BULK
    },
    // Bursts of two such round trips, of which one is the buffer's, half a second together, and rests of
    // 2 s: too short for a window to be forgotten (RFC 2861).
    Plant {
        name: "pauses over send buffer",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 100_000, count: 8, pause_millis: 250 },
        reader: Reader::Answers { bytes: 100_000 },
        sockets: Sockets { send_buffer: Some(4096), ..SYSTEM },
        link: [&["delay 30ms"], &["delay 30ms"]],
        ..BULK
    },
    // Every third message is lost. A probe for a single segment waits for 200 ms and two round trips
    // (RFC 8985, 7.2), a timer for 200 ms: a second at least, and rests of 0.45 s.
    Plant {
        name: "tail loss over pauses",
        expected: &["tail-loss"],
        writer: Writer::Bursts { bytes: 200, count: 15, pause_millis: 30 },
        reader: Reader::Answers { bytes: 200 },
        link: [&["drop 1@4/4", "delay 10ms"], &["delay 10ms"]],
        ..BULK
    },
    // Two such losses, half a second, and rests of 3.6 s.
    Plant {
        name: "pauses over tail loss",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 200, count: 12, pause_millis: 300 },
        reader: Reader::Answers { bytes: 200 },
        link: [&["drop 1@6/8", "delay 10ms"], &["delay 10ms"]],
        ..BULK
    },
    // A megabyte over 5 ms takes less than 0.2 s, whatever is overtaken; the rests take 3 s.
    Plant {
        name: "pauses over reordering",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 200_000, count: 6, pause_millis: 500 },
        reader: Reader::Answers { bytes: 200_000 },
        link: [&["delay 5ms", "reorder 1% after 30pkt"], &["delay 5ms"]],
        ..BULK
    },
    // 1.6 MB at 20 Mbit/s are 0.6 s, of which the queue costs a part; the rests take 3.2 s.
    Plant {
        name: "pauses over small queue",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 400_000, count: 4, pause_millis: 800 },
        reader: Reader::Answers { bytes: 400_000 },
        link: [&["rate 20Mbit/s queue 10pkt", "delay 10ms"], &["delay 10ms"]],
        ..BULK
    },
    // A reader that gets some kB in 10 ms can wait for a CPU now and then.
    Plant {
        name: "window over starved reader",
        expected: &["small-receive-buffer"],
        direction: Direction::Receive,
        sockets: Sockets { receive_buffer: Some(4096), ..SYSTEM },
        link: [&["delay 5ms"], &["delay 5ms"]],
        rivals: Rivals::Threads(4),
        ..BULK
    },
    // The pairs of losses and pauses again, where the link says that it was asked for the losses.
    Plant {
        name: "the link's pattern over pauses",
        expected: &["emulator-pattern"],
        writer: Writer::Bursts { bytes: 1 << 20, count: 2, pause_millis: 250 },
        reader: Reader::Answers { bytes: 1 << 20 },
        link: [&["drop 1@60/100", "delay 20ms"], &["delay 20ms"]],
        link_is_known: true,
        ..BULK
    },
    Plant {
        name: "pauses over the link's pattern",
        expected: &["application"],
        writer: Writer::Bursts { bytes: 200_000, count: 6, pause_millis: 500 },
        reader: Reader::Answers { bytes: 200_000 },
        link: [&["drop 1@60/200", "delay 2ms"], &["delay 2ms"]],
        link_is_known: true,
        ..BULK
    },
    // Seven round trips of 100 ms after each rest, as alone; at the end of the last burst a segment is
    // lost, which costs one.
    Plant {
        name: "slow start over a loss",
        expected: &["slow-start-after-idle"],
        writer: Writer::Bursts { bytes: 1 << 20, count: 3, pause_millis: 2000 },
        reader: Reader::Answers { bytes: 1 << 20 },
        link: [&["drop 1@2100/1000000", "delay 50ms"], &["delay 50ms"]],
        ..BULK
    },
    // 300 us for each 16 KiB that it reads, all the time; a loss in four thousand packets costs 2 ms.
    Plant {
        name: "black box over losses",
        expected: &["blackbox-limited"],
        reader: Reader::Busy { read: 16 << 10, work_micros: 300 },
        link: [&["drop 1@500/4000", "delay 1ms"], &["delay 1ms"]],
        ..BULK
    },
    // A sender that is let go for some kB in 10 ms can wait for a CPU now and then.
    Plant {
        name: "window over starved sender",
        expected: &["small-receive-buffer"],
        sockets: Sockets { receive_buffer: Some(4096), ..SYSTEM },
        link: [&["delay 5ms"], &["delay 5ms"]],
        rivals: Rivals::Threads(4),
        ..BULK
    },
];

/// Traffic in which nothing is wrong.
pub(crate) static HEALTHY: &[Plant] = &[
    Plant { name: "bulk", ..BULK },
    // A line that the buffers fill, since without one they are the limit; its queue takes whatever
    // slow start has sent by the end.
    Plant {
        name: "bulk, 5 ms",
        writer: Writer::Amount(2 << 20),
        link: [&["rate 200Mbit/s queue 40ms", "delay 5ms"], &["delay 5ms"]],
        ..BULK
    },
    Plant { name: "bulk to the test host", direction: Direction::Receive, ..BULK },
    Plant { name: "small writes", writer: Writer::Bulk { write: 1250, millis: 500 }, ..BULK },
    Plant {
        name: "messages and answers",
        writer: Writer::Messages { bytes: 200, count: 500 },
        reader: Reader::Answers { bytes: 200 },
        ..BULK
    },
];

/// Half a second of writes of 64 KiB over a link that does nothing to them.
const BULK: Plant = Plant {
    name: "bulk",
    expected: &[],
    direction: Direction::Send,
    link: [&[], &[]],
    link_is_known: false,
    writer: Writer::Bulk { write: 64 << 10, millis: 500 },
    reader: Reader::Eager,
    sockets: SYSTEM,
    rivals: Rivals::Nobody,
    most_window: None,
};

const TWENTY_OF_TWO_WRITES: Writer =
    Writer::TwoWrites { head: 16, body: 200, count: 20, paused: 0, pause_millis: 0 };

/// Long enough for a window to grow to what a slow line and its queue hold.
const LONG: Plant = Plant { writer: Writer::Bulk { write: 64 << 10, millis: 2500 }, ..BULK };

const SYSTEM: Sockets = Sockets { send_buffer: None, receive_buffer: None, nodelay: false };
