//! One request and its answer: sequence numbers, acknowledgement, the kernel's own sentence.

use std::io;

use netlink_packet_core::NLM_F_REQUEST;
use netlink_packet_core::NetlinkHeader;
use netlink_packet_core::NetlinkMessage;
use netlink_packet_core::NetlinkPayload;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::Socket;
use netlink_sys::SocketAddr;
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::Error;
use crate::Result;

/// A socket and the number of the last request.
#[derive(Debug)]
pub(super) struct Exchange {
    socket: Socket,
    sequence: u32,
}

impl Exchange {
    /// A socket in the namespace of the calling thread.
    pub(super) fn open() -> Result<Self> {
        let open = || -> io::Result<Socket> {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            socket.connect(&SocketAddr::new(0, 0))?;
            socket.set_ext_ack(true)?;
            socket.set_cap_ack(true)?;
            Ok(socket)
        };
        let socket = open().map_err(|cause| Error::new("open a netlink socket", cause))?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Sends `message` and collects the answer up to its acknowledgement.
    pub(super) fn answer(
        &mut self,
        what: &dyn Fn() -> String,
        flags: u16,
        message: RouteNetlinkMessage,
    ) -> Result<Vec<RouteNetlinkMessage>> {
        self.sequence += 1;
        let request = encode(message, NLM_F_REQUEST | flags, self.sequence);
        self.socket.send(&request, 0).map_err(|cause| Error::new(what(), cause))?;
        let mut answers = Vec::new();
        loop {
            let (datagram, _) =
                self.socket.recv_from_full().map_err(|cause| Error::new(what(), cause))?;
            if self.collect(&datagram, &mut answers, what)? {
                return Ok(answers);
            }
        }
    }

    /// Reads the messages of one datagram; true once the acknowledgement was among them.
    fn collect(
        &self,
        datagram: &[u8],
        answers: &mut Vec<RouteNetlinkMessage>,
        what: &dyn Fn() -> String,
    ) -> Result<bool> {
        let mut rest = datagram;
        while !rest.is_empty() {
            let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest)
                .map_err(|cause| Error::new(what(), io::Error::other(cause)))?;
            let (header, payload) = message.into_parts();
            match payload {
                _ if header.sequence_number != self.sequence => {}
                NetlinkPayload::Error(reply) if reply.code.is_none() => return Ok(true),
                NetlinkPayload::Error(reply) => {
                    let said = kernels_sentence(&reply.header);
                    return Err(Error::new(format!("{}{said}", what()), reply.to_io()));
                }
                NetlinkPayload::Done(_) => return Ok(true),
                NetlinkPayload::InnerMessage(inner) => answers.push(inner),
                _ => {}
            }
            // Messages of one datagram start at multiples of four bytes.
            let length = usize::try_from(header.length).unwrap_or(usize::MAX);
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(false)
    }
}

fn encode(message: RouteNetlinkMessage, flags: u16, sequence: u32) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    header.sequence_number = sequence;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    bytes
}

/// The sentence of an extended acknowledgement (`NLMSGERR_ATTR_MSG`), in parentheses; empty where
/// the kernel said nothing. With capped acknowledgements the attributes follow the request's
/// header of 16 bytes.
fn kernels_sentence(reply: &[u8]) -> String {
    let mut rest = reply.get(16..).unwrap_or_default();
    while let [a, b, c, d, after @ ..] = rest {
        let length = usize::from(u16::from_ne_bytes([*a, *b]));
        let kind = u16::from_ne_bytes([*c, *d]) & 0x3fff;
        let value = after.get(..length.saturating_sub(4)).unwrap_or_default();
        if kind == NLMSGERR_ATTR_MSG {
            let text = String::from_utf8_lossy(value);
            return format!(" (kernel: {})", text.trim_end_matches('\0'));
        }
        rest = rest.get(length.max(4).next_multiple_of(4)..).unwrap_or_default();
    }
    String::new()
}

/// `linux/netlink.h`.
const NLMSGERR_ATTR_MSG: u16 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_sentence_is_found_behind_other_attributes() {
        let mut reply = vec![0; 16];
        reply.extend([8, 0, 2, 0, 1, 2, 3, 4]);
        reply.extend([7, 0, 1, 0, b'n', b'o', 0, 0]);
        assert_eq!(kernels_sentence(&reply), " (kernel: no)");
        assert_eq!(kernels_sentence(&[0; 16]), "");
        assert_eq!(kernels_sentence(&[0; 20]), "");
    }
}
