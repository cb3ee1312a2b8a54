//! The causes, one entry each.

use btu_core::cell::Direction;

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
        writer: Writer::TwoWrites { head: 16, body: 200, count: 20 },
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
};

/// Long enough for a window to grow to what a slow line and its queue hold.
const LONG: Plant = Plant { writer: Writer::Bulk { write: 64 << 10, millis: 2500 }, ..BULK };

const SYSTEM: Sockets = Sockets { send_buffer: None, receive_buffer: None, nodelay: false };
