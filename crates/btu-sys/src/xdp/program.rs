//! The XDP program, in instructions: frames of our `EtherType` go to the socket, all others pass.

use std::io;
use std::os::fd::AsRawFd;
use std::os::fd::FromRawFd;
use std::os::fd::OwnedFd;

use crate::error::Error;
use crate::error::Result;
use crate::namespace::NetNs;

/// The name under which `bpftool` shows the program.
pub const PROGRAM_NAME: &str = "btu_pingpong";

/// The queue whose frames are taken. Frames without IP reach the first one of every device: there
/// is nothing in them to spread them by.
pub(super) const QUEUE: u32 = 0;

/// A program that is loaded, and the table in which it looks for the socket.
pub(super) struct Program {
    program: OwnedFd,
    sockets: OwnedFd,
}

/// A program on a link, for as long as this lives.
pub(super) struct Attached {
    _link: OwnedFd,
}

/// A program on the loopback of a network that nobody uses, so that it is never attached for the
/// first or the last time elsewhere: with these the kernel changes code that all CPUs run
/// (`bpf_dispatcher_change_prog`) and waits until each has left it, several ticks.
pub(super) struct Anchor {
    _attached: Attached,
    _network: NetNs,
}

impl Anchor {
    /// `None` where no network can be made: attaching takes longer then.
    pub(super) fn of(program: &Program) -> Option<Self> {
        let network = NetNs::create().ok()?;
        let attached = network.inside(|| program.attach(LOOPBACK)).ok()?.ok()?;
        Some(Self { _attached: attached, _network: network })
    }
}

impl Program {
    pub(super) fn load(ether_type: u16) -> Result<Self> {
        let named = |what: &str, cause: io::Error| {
            let why = if cause.raw_os_error() == Some(libc::EPERM) { NEEDED } else { "" };
            Error::new(format!("{what}{why}"), cause)
        };
        let table = NewMap { map_type: XSKMAP, key: 4, value: 4, entries: QUEUE + 1, flags: 0 };
        let sockets = made(bpf(MAP_CREATE, &table));
        let sockets = sockets.map_err(|cause| named("make a table of AF_XDP sockets", cause))?;
        let instructions = instructions(ether_type, sockets.as_raw_fd());
        let wanted = NewProgram {
            program_type: XDP_PROGRAM,
            count: u32::try_from(instructions.len()).unwrap_or(0),
            instructions: address(instructions.as_ptr()),
            licence: address(LICENCE.as_ptr()),
            log: [0; 4],
            version_and_flags: [0; 2],
            name: padded(PROGRAM_NAME),
            device: 0,
            attach_type: XDP,
        };
        let program = made(bpf(PROGRAM_LOAD, &wanted));
        let program = program.map_err(|cause| named("load the XDP program", cause))?;
        Ok(Self { program, sockets })
    }

    /// Frames go to this socket.
    pub(super) fn hand_over(&self, socket: &OwnedFd) -> Result<()> {
        let (key, value) = (QUEUE, socket.as_raw_fd());
        let entry = NewEntry {
            map: raw(&self.sockets),
            unused: 0,
            key: address(&raw const key),
            value: address(&raw const value),
            flags: 0,
        };
        let entered = bpf(MAP_UPDATE, &entry);
        entered.map(drop).map_err(|cause| Error::new("enter an AF_XDP socket in its table", cause))
    }

    /// Puts the program on a link of the caller's network namespace.
    pub(super) fn attach(&self, link: u32) -> Result<Attached> {
        let wanted = NewLink {
            program: raw(&self.program),
            device: link,
            attach_type: XDP,
            flags: GENERIC_MODE,
        };
        let attached = made(bpf(LINK_CREATE, &wanted));
        let named = |cause| Error::new(format!("attach the XDP program to link {link}"), cause);
        attached.map(|link| Attached { _link: link }).map_err(named)
    }
}

/// The name of the program with this number; needs `CAP_SYS_ADMIN`.
pub fn name_of(program: u32) -> Result<String> {
    let named = |cause| Error::new(format!("look up BPF program {program}"), cause);
    let wanted = ById { number: program, next: 0, flags: 0 };
    let program = made(bpf(PROGRAM_BY_ID, &wanted)).map_err(named)?;
    // `struct bpf_prog_info` up to its name, which is at 64.
    let mut found = [0_u64; 10];
    let wanted = Question {
        descriptor: raw(&program),
        length: u32::try_from(size_of_val(&found)).unwrap_or(0),
        found: address(found.as_mut_ptr()),
    };
    bpf(OBJECT_INFO, &wanted).map_err(named)?;
    let bytes: Vec<u8> = found[8..].iter().flat_map(|word| word.to_ne_bytes()).collect();
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// `struct bpf_insn`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    value: i32,
}

/// Reads the `EtherType` if the frame is long enough for one, and redirects or lets pass.
fn instructions(ether_type: u16, sockets: i32) -> [Instruction; 15] {
    // As the two bytes of the frame look when they are loaded by this machine.
    let wanted = i32::from(ether_type.to_be());
    [
        op(LOAD_U32, 2, 1, 0, 0),                // r2 = start of the frame
        op(LOAD_U32, 3, 1, 4, 0),                // r3 = its end
        op(MOVE, 4, 2, 0, 0),                    // r4 = r2 + 14
        op(ADD_VALUE, 4, 0, 0, 14),              //
        op(JUMP_IF_GREATER, 4, 3, 8, 0),         // too short: pass
        op(LOAD_U16, 4, 2, 12, 0),               // r4 = EtherType
        op(JUMP_UNLESS_VALUE, 4, 0, 6, wanted),  // another: pass
        op(LOAD_U32, 2, 1, 16, 0),               // r2 = queue
        op(LOAD_MAP, 1, PSEUDO_MAP, 0, sockets), // r1 = the table, in two places
        op(0, 0, 0, 0, 0),                       //
        op(MOVE_VALUE, 3, 0, 0, PASS),           // r3 = if nobody is in the table
        op(CALL, 0, 0, 0, REDIRECT_MAP),         //
        op(EXIT, 0, 0, 0, 0),                    // return what the call said
        op(MOVE_VALUE, 0, 0, 0, PASS),           // pass:
        op(EXIT, 0, 0, 0, 0),
    ]
}

const fn op(code: u8, to: u8, from: u8, offset: i16, value: i32) -> Instruction {
    let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
    Instruction { code, registers, offset, value }
}

/// One call with its record of `union bpf_attr`; what the record does not hold is zero.
fn bpf<T>(command: libc::c_int, record: &T) -> io::Result<libc::c_long> {
    let (start, size) = (std::ptr::from_ref(record), size_of::<T>());
    // SAFETY: the kernel reads `size` bytes of a live record, and what the record points to lives
    // until the caller has its answer.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, start, size) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// The descriptor that a call returned.
fn made(answer: io::Result<libc::c_long>) -> io::Result<OwnedFd> {
    let fd = i32::try_from(answer?).map_err(io::Error::other)?;
    // SAFETY: the kernel has just returned it (with FD_CLOEXEC), and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn raw(fd: &OwnedFd) -> u32 {
    u32::try_from(fd.as_raw_fd()).unwrap_or(u32::MAX)
}

fn address<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}

fn padded(name: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    for (place, byte) in bytes.iter_mut().zip(name.bytes()) {
        *place = byte;
    }
    bytes
}

#[repr(C)]
struct NewMap {
    map_type: u32,
    key: u32,
    value: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
struct NewEntry {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
struct NewProgram {
    program_type: u32,
    count: u32,
    instructions: u64,
    licence: u64,
    log: [u32; 4],
    version_and_flags: [u32; 2],
    name: [u8; 16],
    device: u32,
    attach_type: u32,
}

#[repr(C)]
struct NewLink {
    program: u32,
    device: u32,
    attach_type: u32,
    flags: u32,
}

#[repr(C)]
struct ById {
    number: u32,
    next: u32,
    flags: u32,
}

#[repr(C)]
struct Question {
    descriptor: u32,
    length: u32,
    found: u64,
}

/// The number of the loopback in every network.
const LOOPBACK: u32 = 1;
const NEEDED: &str = ", which needs CAP_BPF and CAP_NET_ADMIN in the initial user namespace";
const LICENCE: &[u8; 13] = b"Dual MIT/GPL\0";

// `linux/bpf.h`: commands, types, and the parts of instructions.
const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE: libc::c_int = 2;
const PROGRAM_LOAD: libc::c_int = 5;
const PROGRAM_BY_ID: libc::c_int = 13;
const OBJECT_INFO: libc::c_int = 15;
const LINK_CREATE: libc::c_int = 28;
const XSKMAP: u32 = 17;
const XDP_PROGRAM: u32 = 6;
const XDP: u32 = 37;
const PASS: i32 = 2;
const REDIRECT_MAP: i32 = 51;
const PSEUDO_MAP: u8 = 1;
const LOAD_U32: u8 = 0x61;
const LOAD_U16: u8 = 0x69;
const LOAD_MAP: u8 = 0x18;
const MOVE: u8 = 0xbf;
const MOVE_VALUE: u8 = 0xb7;
const ADD_VALUE: u8 = 0x07;
const JUMP_IF_GREATER: u8 = 0x2d;
const JUMP_UNLESS_VALUE: u8 = 0x55;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// `linux/if_link.h`: `XDP_FLAGS_SKB_MODE`.
const GENERIC_MODE: u32 = 2;
