//! Which frames reach a listener at all: programs that the kernel runs on each of them
//! (Documentation/networking/filter.rst).

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use libc::sock_filter;

use crate::option;
use crate::process::seccomp::answer;
use crate::process::seccomp::instruction;
use crate::process::seccomp::jump;

/// From now on only what passes `program` reaches the socket.
pub(super) fn attach(socket: &OwnedFd, mut program: Vec<sock_filter>) -> io::Result<()> {
    let len = u16::try_from(program.len()).map_err(io::Error::other)?;
    // The kernel copies the program, which outlives the call.
    let whole = libc::sock_fprog { len, filter: program.as_mut_ptr() };
    option::set(socket, (libc::SOL_SOCKET, libc::SO_ATTACH_FILTER), whole)
}

/// No frame.
pub(super) fn nothing() -> Vec<sock_filter> {
    vec![REFUSE]
}

/// Frames from and to an address, behind an Ethernet header without tags: the kernel takes tags away.
pub(super) fn of_host(host: IpAddr) -> Vec<sock_filter> {
    match host.to_canonical() {
        IpAddr::V4(four) => of_words(ETHERTYPE_IPV4, [26, 30], &[u32::from(four)]),
        IpAddr::V6(six) => {
            let words = six.octets();
            let words = words.as_chunks::<4>().0.iter().map(|word| u32::from_be_bytes(*word));
            of_words(ETHERTYPE_IPV6, [22, 38], &words.collect::<Vec<_>>())
        }
    }
}

/// Frames whose payload begins with this word.
pub(super) fn beginning_with(word: u32) -> Vec<sock_filter> {
    vec![load(libc::BPF_W, ETHERNET), jump(libc::BPF_JEQ, word, 0, 1), ACCEPT, REFUSE]
}

/// Frames of this type with these words at one of two places.
fn of_words(ethertype: u32, places: [u32; 2], words: &[u32]) -> Vec<sock_filter> {
    // Each word is a load and a jump; behind those of both places stand the two answers.
    let width = 2 * words.len();
    let (accept, refuse) = (2 + 2 * width, 3 + 2 * width);
    let mut program = vec![load(libc::BPF_H, 12)];
    let to = |from: usize, target: usize| u8::try_from(target - from - 1).unwrap_or(u8::MAX);
    program.push(jump(libc::BPF_JEQ, ethertype, 0, to(1, refuse)));
    for (place, otherwise) in places.into_iter().zip([2 + width, refuse]) {
        for (number, word) in (0..).zip(words) {
            program.push(load(libc::BPF_W, place + 4 * number));
            let at = program.len();
            let is_last = at + 1 == 2 + width || at + 1 == 2 + 2 * width;
            let fits = if is_last { to(at, accept) } else { 0 };
            program.push(jump(libc::BPF_JEQ, *word, fits, to(at, otherwise)));
        }
    }
    program.extend([ACCEPT, REFUSE]);
    program
}

/// Loads a part of the frame.
const fn load(width: u32, offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | width | libc::BPF_ABS, 0, 0, offset)
}

/// All of the frame.
const ACCEPT: sock_filter = answer(u32::MAX);
const REFUSE: sock_filter = answer(0);
/// Of the Ethernet header.
const ETHERNET: u32 = 14;
const ETHERTYPE_IPV4: u32 = 0x0800;
const ETHERTYPE_IPV6: u32 = 0x86dd;

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do with these instructions.
    fn passes(program: &[sock_filter], frame: &[u8]) -> bool {
        let (mut at, mut loaded) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            let place = usize::try_from(k).unwrap();
            match u32::from(code) {
                code if code == libc::BPF_RET => return k > 0,
                code if code == libc::BPF_LD | libc::BPF_H | libc::BPF_ABS => {
                    let Some(part) = frame.get(place..place + 2) else { return false };
                    loaded = u32::from(u16::from_be_bytes(part.try_into().unwrap()));
                }
                code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                    let Some(part) = frame.get(place..place + 4) else { return false };
                    loaded = u32::from_be_bytes(part.try_into().unwrap());
                }
                _ => at += usize::from(if loaded == k { jt } else { jf }),
            }
            at += 1;
        }
    }

    fn frame(ethertype: u16, addresses: &[&[u8]], start: usize) -> Vec<u8> {
        let mut frame = vec![0; start];
        frame[12..14].copy_from_slice(&ethertype.to_be_bytes());
        frame.extend(addresses.concat());
        frame
    }

    #[test]
    fn only_frames_of_the_host_pass() {
        let four = of_host("10.0.4.7".parse().unwrap());
        let of = |from: [u8; 4], to: [u8; 4]| frame(0x0800, &[&from, &to], 26);
        let (host, own, other) = ([10, 0, 4, 7], [10, 0, 4, 8], [10, 0, 4, 9]);
        assert!(passes(&four, &of(host, own)) && passes(&four, &of(own, host)));
        assert!(!passes(&four, &of(own, other)) && !passes(&four, &of(other, own)));
        assert!(!passes(&four, &frame(0x0806, &[&host, &own], 26)), "no IP");
        let [host, own, other] = [7_u8, 8, 9].map(|last| {
            let mut address = [0xfd, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
            address[15] = last;
            address
        });
        let six = of_host(host.into());
        let of = |from: [u8; 16], to: [u8; 16]| frame(0x86dd, &[&from, &to], 22);
        assert!(passes(&six, &of(host, own)) && passes(&six, &of(own, host)));
        assert!(!passes(&six, &of(own, other)) && !passes(&six, &of(other, own)));
        assert!(!passes(&nothing(), &of(host, own)));
    }
    #[test]
    fn only_frames_that_begin_with_the_word_pass() {
        let program = beginning_with(0x0102_0304);
        assert!(passes(&program, &frame(0x88b5, &[&[1, 2, 3, 4, 5]], 14)));
        assert!(!passes(&program, &frame(0x88b5, &[&[1, 2, 3, 5, 4]], 14)));
        assert!(!passes(&program, &frame(0x88b5, &[&[1, 2, 3]], 14)));
    }
}
