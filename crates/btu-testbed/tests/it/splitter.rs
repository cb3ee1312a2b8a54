//! The kernel judges the splitter: super-packets of its own, cut anywhere, must arrive as if whole.

use std::fs;
use std::net::IpAddr;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use btu_sys::namespace::NetNs;
use btu_sys::netlink::Netlink;
use btu_sys::packet::PacketSocket;
use btu_sys::packet::ReceiveForm;
use btu_sys::packet::Received;
use btu_sys::wait::Waiter;
use btu_testbed::around::Around;
use btu_testbed::around::Depth;
use btu_testbed::around::FAR_PORT;
use btu_testbed::around::FarEnd;
use btu_testbed::around::NEAR_PORT;
use btu_testbed::segment;
use btu_testbed::segment::Frame;
use btu_testbed::segment::Vnet;

use crate::isolated::isolated;
use crate::traffic::inside;
use crate::traffic::near_socket;
use crate::traffic::numbered;
use crate::traffic::tcp_transfer;
use crate::world::ends;
use crate::world::far;

/// What is done to each super-packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Treatment {
    /// Cut into runs of random length.
    Cut,
    /// The same, and in about every 50th wire packet a bit is flipped.
    CutAndCorrupt,
}

/// A thread that carries frames between the two ends, cutting as it goes.
struct Cutter {
    stop: Arc<AtomicBool>,
    runs: Arc<AtomicU64>,
    /// Packets whose sum the receiver verified.
    judged: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Cutter {
    fn start(around: &Around, treatment: Treatment) -> Self {
        let mut netlink = Netlink::open(around.wire()).unwrap();
        let mut open = |device| {
            let link = netlink.link(device).unwrap().index;
            let form = Some(ReceiveForm::Ring);
            inside(around.wire(), || PacketSocket::open(link, form).unwrap())
        };
        let (mut near, mut far) = (open(NEAR_PORT), open(FAR_PORT));
        let stop = Arc::new(AtomicBool::new(false));
        let [runs, judged] = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let waiter = Waiter::new().unwrap();
        waiter.add(&near).unwrap();
        waiter.add(&far).unwrap();
        let thread = thread::spawn({
            let [runs, judged] = [&runs, &judged].map(Arc::clone);
            let stop = Arc::clone(&stop);
            let mut knife = Knife { treatment, state: 1, packets: 0, spoil: 50, runs, judged };
            move || {
                while !stop.load(Ordering::Relaxed) {
                    waiter.wait(Some(1_000_000)).unwrap();
                    while let Some(received) = near.receive().unwrap() {
                        knife.pass(&received, &far);
                    }
                    while let Some(received) = far.receive().unwrap() {
                        far_to_near(&received, &near);
                    }
                }
            }
        });
        Self { stop, runs, judged, thread: Some(thread) }
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(matches!(ended, Some(Ok(()))) || thread::panicking());
    }
}

fn far_to_near(received: &Received<'_>, near: &PacketSocket) {
    near.send(&received.vnet, received.frame, &[]).unwrap();
}

struct Knife {
    treatment: Treatment,
    state: u32,
    packets: u64,
    /// The packet to spoil next.
    spoil: u64,
    runs: Arc<AtomicU64>,
    judged: Arc<AtomicU64>,
}

impl Knife {
    fn pass(&mut self, received: &Received<'_>, to: &PacketSocket) {
        let vnet = Vnet::from_bytes(received.vnet);
        let Frame::Counted(shape) = segment::read(vnet, received.frame) else {
            return to.send(&received.vnet, received.frame, &[]).unwrap();
        };
        let mut first = 0;
        while first < shape.count {
            let is_spoilt =
                self.treatment == Treatment::CutAndCorrupt && self.packets >= self.spoil;
            let length = if is_spoilt { 1 } else { 1 + self.random() % shape.count };
            let end = (first + length).min(shape.count);
            let run = shape.run(vnet, received.frame, first..end);
            self.packets += u64::from(end - first);
            if is_spoilt {
                self.spoil = self.packets + 50;
                let mut broken = run.to_frame(received.frame);
                let bit = 8 * 60 + self.random() % 4000;
                let vnet = segment::corrupted(run.vnet(), &mut broken, bit);
                to.send(&vnet.to_bytes(), &broken, &[]).unwrap();
            } else if end - first == 1 && shape.count > 1 {
                let mut frame = run.to_frame(received.frame);
                complete(run.vnet(), &mut frame);
                to.send(&Vnet::default().to_bytes(), &frame, &[]).unwrap();
                self.judged.fetch_add(1, Ordering::Relaxed);
            } else {
                let payload = &received.frame[run.payload()];
                to.send(&run.vnet().to_bytes(), run.headers(), payload).unwrap();
            }
            self.runs.fetch_add(u64::from(shape.count > 1), Ordering::Relaxed);
            first = end;
        }
    }

    /// Numerical Recipes' generator: which cuts are made does not matter, only that they vary.
    fn random(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.state >> 8
    }
}

/// Completes the checksum of one packet as a device would: the field holds the sum of the pseudo header (`linux/skbuff.h`,
/// `CHECKSUM_PARTIAL`). A packet that still says so is believed by its receiver whatever is in it.
fn complete(vnet: Vnet, frame: &mut [u8]) {
    assert_eq!(
        (vnet.flags, vnet.gso_type),
        (1, 0),
        "one packet, whose sum is still to be completed"
    );
    let start = usize::from(vnet.csum_start);
    let words = frame[start..].chunks(2).map(|pair| match pair {
        [high, low] => u32::from(u16::from_be_bytes([*high, *low])),
        [last] => u32::from(*last) << 8,
        _ => 0,
    });
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let field = start + usize::from(vnet.csum_offset);
    let sum = !u16::try_from(sum).unwrap();
    frame[field..field + 2].copy_from_slice(&sum.to_be_bytes());
}

/// `InCsumErrors` of a protocol in a namespace.
fn checksum_errors(namespace: &NetNs, protocol: &str) -> u64 {
    let read = || fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
    let text = inside(namespace, read);
    let mut lines = text.lines().filter(|line| line.starts_with(protocol));
    let (names, values) = (lines.next().unwrap(), lines.next().unwrap());
    let mut fields = names.split_whitespace().zip(values.split_whitespace());
    fields.find(|(name, _)| *name == "InCsumErrors").unwrap().1.parse().unwrap()
}

fn hosts() -> Around {
    Around::create(Depth::OUTERMOST, FarEnd::Alone, 1500).unwrap()
}

fn tcp_survives(around: &Around, far: IpAddr, treatment: Treatment) -> u64 {
    let cutter = Cutter::start(around, treatment);
    let amount = 16 << 20;
    let (received, _) = tcp_transfer(ends(around, far), amount);
    assert!(received > amount - (1 << 20), "{received} of {amount}");
    assert!(cutter.runs.load(Ordering::Relaxed) > 100, "the kernel made no super-packets");
    assert!(cutter.judged.load(Ordering::Relaxed) > 20, "the receiver verified no sums");
    checksum_errors(around.far(), "Tcp:")
}

/// Check E5.
#[test]
fn cut_tcp_over_ipv4_is_as_good_as_whole() {
    isolated("splitter::cut_tcp_over_ipv4_is_as_good_as_whole", || {
        assert_eq!(tcp_survives(&hosts(), far(), Treatment::Cut), 0);
    });
}

/// Check E5.
#[test]
fn cut_tcp_over_ipv6_is_as_good_as_whole() {
    isolated("splitter::cut_tcp_over_ipv6_is_as_good_as_whole", || {
        let around = hosts();
        if !around.has_ipv6() {
            skip!("kernel lacks: IPv6");
        }
        let far = around.depth().far6().into();
        assert_eq!(tcp_survives(&around, far, Treatment::Cut), 0);
    });
}

#[test]
fn a_corrupted_packet_is_noticed_by_the_receiver() {
    isolated("splitter::a_corrupted_packet_is_noticed_by_the_receiver", || {
        assert!(tcp_survives(&hosts(), far(), Treatment::CutAndCorrupt) > 0);
    });
}

/// Check E5.
#[test]
fn cut_datagrams_are_as_good_as_whole() {
    isolated("splitter::cut_datagrams_are_as_good_as_whole", || {
        let around = hosts();
        let cutter = Cutter::start(&around, Treatment::Cut);
        let receiver = inside(around.far(), || UdpSocket::bind((far(), 0)).unwrap());
        receiver.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let address = receiver.local_addr().unwrap();
        let sender = near_socket(ends(&around, far()));
        if let Err(cause) = btu_sys::socket::segment_datagrams(&sender, 1000) {
            skip!("kernel lacks: UDP_SEGMENT ({cause})");
        }
        let mut space = [0; 2000];
        for round in 0..200 {
            let data = numbered(round, 20_500);
            sender.send_to(&data, address).unwrap();
            for expected in data.chunks(1000) {
                let (length, _) = receiver.recv_from(&mut space).unwrap();
                assert_eq!(&space[..length], expected);
            }
        }
        assert!(cutter.runs.load(Ordering::Relaxed) > 200, "the kernel made no super-packets");
        assert!(cutter.judged.load(Ordering::Relaxed) > 20, "the receiver verified no sums");
        assert_eq!(checksum_errors(around.far(), "Udp:"), 0);
    });
}
