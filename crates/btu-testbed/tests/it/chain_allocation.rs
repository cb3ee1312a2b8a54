//! The emulator's hot path allocates nothing: a chain reserves all its memory when it is made.

use btu_core::link::Chain;
use btu_core::link::ChainSpec;
use btu_core::link::Dialect;
use btu_core::link::Flow;
use btu_core::link::Limits;
use btu_core::link::Lines;
use btu_core::link::Packet;
use btu_core::link::Place;
use btu_core::link::Reader;
use btu_core::link::Slot;
use btu_core::link::Wire;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::alloc::Counting;
use btu_sys::alloc::thread_allocations;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Every element, in chains that fill queues and overflow them.
const CHAINS: &[&[&str]] = &[
    &["drop 1@200,3@400/400 per flow", "duplicate 5%", "corrupt 5%", "delay 10ms"],
    &["drop 1%", "drop ge 1% 25%", "drop 4state 1%", "rate 50Mbit/s queue 20pkt", "delay 5ms"],
    &["drop list positions", "rate 50Mbit/s queue 10ms codel 1ms 10ms shared line"],
    &["trace up queue 40pkt", "hold 3@100/100 5ms overtake", "jitter exp(1ms) free"],
    &["hold 3@100/100 5pkt", "jitter normal(1ms,1ms)", "reorder 1% after 3pkt"],
    &["delay 1s"],
];
const SLOTS: u32 = 512;

fn files(name: &str) -> Result<String, String> {
    match name {
        "positions" => Ok("5\n9\n".to_owned()),
        "up" => Ok("1\n2\n3\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

fn chain(texts: &[&str], lines: &mut Lines) -> Chain {
    let spec = ChainSpec::as_given(texts, &Reader { dialect: Dialect::Plan, files: &files });
    let limits = Limits { slots: SLOTS, handles: 4_096, positions: 100 };
    let (wire, link, direction) = (Wire::Ethernet, "test", "up");
    let place = Place { seed: 1, link, direction, wire, limits };
    Chain::new(&spec.unwrap(), &place, lines).unwrap()
}

/// Pushes super-packets as fast as their buffers come back; gives how many went in.
fn drive(chain: &mut Chain, free: &mut Vec<Slot>) -> u64 {
    let (header, segment) = (Bytes::new(52), Bytes::new(1448));
    let mut pushed = 0;
    for i in 0..20_000 {
        let now = Nanos::from_micros(50) * i;
        if let Some(slot) = free.pop() {
            let packet = Packet::segmented(slot, header, segment, segment * (1 + i % 44), now);
            pushed += u64::from(packet.count());
            chain.push(packet.with_flow(Flow(u32::try_from(i % 100).unwrap())));
        }
        while let Some(packet) = chain.pop(now) {
            chain.done(&packet);
        }
        while let Some(slot) = chain.take_released() {
            free.push(slot);
        }
        std::hint::black_box(chain.next_wakeup());
    }
    pushed
}

#[test]
fn push_and_pop_allocate_nothing() {
    for texts in CHAINS {
        let mut chain = chain(texts, &mut Lines::default());
        let mut free: Vec<Slot> = (0..SLOTS).map(Slot).collect();
        let before = thread_allocations();
        assert!(before > 0, "the counting allocator is not installed");
        let pushed = drive(&mut chain, &mut free);
        assert_eq!(thread_allocations() - before, 0, "{texts:?}");
        assert!(pushed > 1_000 && chain.conserves(), "{texts:?}: {pushed} packets");
    }
}
