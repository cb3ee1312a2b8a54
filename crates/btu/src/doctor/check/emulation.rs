//! What the emulator itself needs: namespaces, containment, the relay, its memory and stamps.

use std::io;

use btu_core::units::BitRate;
use btu_sys::namespace::Refusal;
use btu_sys::sysctl;

use crate::doctor::finding::Check;
use crate::doctor::finding::Finding;
use crate::doctor::finding::Serves;
use crate::doctor::machine::Attempt;
use crate::doctor::machine::Machine;

pub(super) static KERNEL: Check = Check {
    name: "kernel",
    title: "Linux",
    serves: Serves::Verbs(&["link", "run"]),
    needed: true,
    ask: |machine| {
        let release = machine.file("/proc/sys/kernel/osrelease").unwrap_or_default();
        let release = release.trim();
        let remedy = "update the kernel to 6.2 or later";
        match version(release) {
            None => Finding::limited("unknown", "read kernel.osrelease: no version", "mount /proc"),
            Some(old) if old < IGNORE_OUTGOING => Finding::missing(
                release,
                "packet sockets ignore their own packets only since Linux 4.20",
                remedy,
            ),
            Some(old) if old < EPOLL_PWAIT2 => Finding::limited(
                release,
                "waits shorter than a millisecond (epoll_pwait2) came with Linux 5.11",
                remedy,
            ),
            Some(_) => Finding::ok(release),
        }
    },
};

pub(super) static NAMESPACES: Check = Check {
    name: "namespaces",
    title: "user and network namespaces",
    serves: Serves::Verbs(&["link", "run"]),
    needed: true,
    ask: |machine| match machine.attempt(Attempt::Namespaces) {
        Ok(()) if machine.is_root() => Finding::ok("yes, as root"),
        Ok(()) => Finding::ok("yes, as an ordinary user"),
        Err(cause) => {
            let refusal = Refusal::given(&cause, &|path| machine.file(path).ok());
            Finding::missing(
                "no: neither the local testbed nor btu link works",
                format!("{cause}: {refusal}"),
                refusal.remedy(),
            )
        }
    },
};

pub(super) static CONTAINMENT: Check = Check {
    name: "containment",
    title: "process containment with a /proc of its own",
    serves: Serves::Verbs(&["link"]),
    needed: false,
    ask: |machine| match machine.attempt(Attempt::FreshProc) {
        Ok(()) => Finding::ok("yes"),
        Err(cause) => {
            let refusal = Refusal::given(&cause, &|path| machine.file(path).ok());
            let (why, remedy) = match refusal {
                Refusal::NoProc => (refusal.to_string(), refusal.remedy()),
                _ => (
                    "parts of /proc are masked here, as containers do".to_owned(),
                    "start the container with `--security-opt systempaths=unconfined`",
                ),
            };
            let effect = "commands of btu link see the processes outside";
            Finding::limited(effect, format!("mount /proc: {cause}: {why}"), remedy)
        }
    },
};

pub(super) static RELAY: Check = Check {
    name: "relay",
    title: "emulator: counted packets through the relay",
    serves: Serves::Verbs(&["link", "run"]),
    needed: true,
    ask: |machine| match machine.calibration() {
        Err(cause) => relay_refused(machine, &cause),
        Ok(done) => {
            let [sent, dropped, formula] = done.counted;
            let found = format!(
                "{} {:.2} Gbit/s; round trip floor {:.0} us; {dropped} of {sent} packets dropped, \
                 the pattern says {formula}",
                done.backend,
                BitRate::new(done.bulk_bit_s).mbps() / 1e3,
                done.floor_rtt_us,
            );
            match (dropped == formula, done.unasked_loss) {
                (true, 0) => Finding::ok(found),
                (_, 1..) => Finding::limited(
                    found,
                    format!("{} packets were lost that nobody asked for", done.unasked_loss),
                    "end other programs: the emulator was not given its CPU in time",
                ),
                (false, 0) => Finding::missing(
                    found,
                    "the drops are not those of the pattern, and the emulator lost none itself",
                    "report it with this output; results with drops are not valid here",
                ),
            }
        }
    },
};

pub(super) static RECEIVE_MEMORY: Check = Check {
    name: "receive-memory",
    title: "emulator: memory for packets on their way in",
    serves: Serves::Verbs(&["link", "run"]),
    needed: false,
    ask: |machine| match machine.arrival() {
        Err(cause) => relay_refused(machine, &cause),
        Ok(seen) => {
            let found = format!("{} MiB ({})", seen.memory_bytes >> 20, seen.form);
            if seen.memory_bytes >= GOOD_MEMORY {
                return Finding::ok(found);
            }
            Finding::limited(
                found,
                "neither a ring of 68 MiB nor a socket buffer of 64 MiB was granted, so that bulk \
                 traffic may lose packets",
                "give the container more memory; as root: `sysctl net.core.rmem_max=67108864`",
            )
        }
    },
};

pub(super) static STAMPS: Check = Check {
    name: "stamps",
    title: "emulator: the kernel's arrival stamps",
    serves: Serves::Verbs(&["link", "run"]),
    needed: false,
    ask: |machine| match machine.arrival() {
        Err(cause) => relay_refused(machine, &cause),
        Ok(seen) if seen.stamp_age_ns <= STAMP_AGE_NS => {
            Finding::ok(format!("read {} us after the arrival", seen.stamp_age_ns / 1000))
        }
        Ok(seen) => Finding::limited(
            format!("{} us away from the clock", seen.stamp_age_ns / 1000),
            "the wall clock was stepped, or the process was not given a CPU in time",
            "let the clock settle (`chronyc tracking`), end other programs, and try again",
        ),
    },
};

pub(super) static DELAY_ERROR: Check = Check {
    name: "delay-error",
    title: "emulator: achieved minus asked delay",
    serves: Serves::Verbs(&["link", "run"]),
    needed: false,
    ask: |machine| match machine.calibration() {
        Err(cause) => relay_refused(machine, &cause),
        Ok(done) => {
            let [at_1ms, at_5ms] = [done.error_1ms_us, done.error_5ms_us];
            let found = format!(
                "at 1 ms p50 {:.0} us, p99 {:.0} us; at 5 ms p50 {:.0} us, p99 {:.0} us",
                at_1ms[0], at_1ms[1], at_5ms[0], at_5ms[1],
            );
            if at_1ms[1].max(at_5ms[1]) <= LATE_P99_US {
                return Finding::ok(found);
            }
            Finding::limited(
                found,
                "the emulator was not given its CPU in time",
                "end other programs; use a machine with more CPUs",
            )
        }
    },
};

/// `6.18.44-x` as (6, 18).
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// A link writes no file but its namespaces' settings.
fn relay_refused(machine: &dyn Machine, cause: &io::Error) -> Finding {
    let remedy = match cause.kind() {
        _ if machine.attempt(Attempt::Namespaces).is_err() => {
            "make the line \"namespaces\" work first"
        }
        io::ErrorKind::ReadOnlyFilesystem => sysctl::WRITABLE,
        _ => {
            "make the line \"namespaces\" work; the kernel needs veth and AF_PACKET \
             (`modprobe veth af_packet`)"
        }
    };
    Finding::missing("no link could be emulated", cause.to_string(), remedy)
}

/// `PACKET_IGNORE_OUTGOING`
const IGNORE_OUTGOING: (u32, u32) = (4, 20);
const EPOLL_PWAIT2: (u32, u32) = (5, 11);
const GOOD_MEMORY: u64 = 64 << 20;
/// A stamp that is farther from the wall clock is of another clock.
const STAMP_AGE_NS: u64 = 1_000_000;
/// The bound beyond which a run is limited: 5 % of 5 ms. Who is later at 1 ms was as little given a CPU.
const LATE_P99_US: f64 = 250.0;
