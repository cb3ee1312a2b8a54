//! What the checks ask of a machine, so that a test can describe a machine that has nothing.

use std::io;

use btu_sys::disk::FileSystem;

/// A machine: its files, and the things that only a trial can tell.
pub(crate) trait Machine {
    /// The text of a file below `/proc`, `/sys` or `/etc`.
    fn file(&self, path: &str) -> io::Result<String>;
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
    /// True for user id 0.
    fn is_root(&self) -> bool;
    /// CPUs that this process may use.
    fn cpus(&self) -> u32;
    /// The file system under a directory, if one can write there.
    fn directory(&self, path: &str) -> io::Result<FileSystem>;
    /// Tries something once and gives it back.
    fn attempt(&self, what: Attempt) -> io::Result<()>;
    /// The XDP programs on the links of this host.
    fn xdp_programs(&self) -> io::Result<Vec<LinkProgram>>;
    /// The transports of the ping-pong by name; those that this machine lacks with the reason.
    fn transports(&self) -> Vec<(&'static str, Result<(), String>)>;
    /// 300 wake-ups of a thread that sleeps 1 ms each time.
    fn wake_ups(&self) -> io::Result<WakeUps>;
    /// Sends a packet to a packet socket such as the emulator has.
    fn arrival(&self) -> io::Result<Arrival>;
    /// Starts an emulated link and sends known traffic through it.
    fn calibration(&self) -> io::Result<Calibration>;
}

/// Something that permissions, limits or the kernel's configuration may refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Attempt {
    /// A process in PID and mount namespaces of its own, with a `/proc` of its own.
    FreshProc,
    /// An `io_uring`.
    IoUring,
    /// Bounds on files that a process sets itself.
    Landlock,
    /// User and network namespaces, and a loopback that comes up there.
    Namespaces,
    /// A queueing discipline.
    Qdisc(&'static str),
    /// `SCHED_FIFO`.
    Realtime,
    /// A filter of system calls.
    Seccomp,
    /// An `AF_XDP` socket, and a program that fills it.
    Xdp,
}

/// An XDP program on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkProgram {
    /// The name of the link.
    pub(crate) link: String,
    /// The number of the program.
    pub(crate) program: u32,
    /// Its name; `None` where only root may ask.
    pub(crate) name: Option<String>,
}

/// How late a sleeping thread woke up, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WakeUps {
    pub(crate) p50: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

/// What an emulated link of this machine does, achieved beside asked.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Calibration {
    /// Backend and receive form: `relay/ring`.
    pub(crate) backend: String,
    /// Round trip with no delay asked, microseconds.
    pub(crate) floor_rtt_us: f64,
    /// Achieved minus asked delay at 1 ms each way, microseconds: median and 99th percentile.
    pub(crate) error_1ms_us: [f64; 2],
    /// The same at 5 ms.
    pub(crate) error_5ms_us: [f64; 2],
    /// TCP through the link at no delay.
    pub(crate) bulk_bit_s: u64,
    /// Packets sent through a drop pattern, dropped, and what its formula says.
    pub(crate) counted: [u64; 3],
    /// Packets lost that nobody asked for.
    pub(crate) unasked_loss: u64,
}

/// How a packet reaches user space.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Arrival {
    /// `ring` or `recvmsg`.
    pub(crate) form: String,
    /// Memory of the ring or buffer that the kernel granted.
    pub(crate) memory_bytes: u64,
    /// Time between the kernel's stamp and the reading.
    pub(crate) stamp_age_ns: u64,
}
