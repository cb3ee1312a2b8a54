//! One request and its answer: sequence numbers, acknowledgement, the kernel's own sentence.

use std::io;

use netlink_sys::Socket;
use netlink_sys::SocketAddr;
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::Error;
use crate::Result;

use super::wire;
use super::wire::Message;
use super::wire::Received;

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
        message: &Message,
    ) -> Result<Vec<Message>> {
        self.sequence += 1;
        let request = message.request(flags, self.sequence);
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
        answers: &mut Vec<Message>,
        what: &dyn Fn() -> String,
    ) -> Result<bool> {
        let mut rest = datagram;
        while !rest.is_empty() {
            let cut_off = || Error::new(what(), io::Error::other("the answer is cut off"));
            let (message, after) = wire::first_message(rest).ok_or_else(cut_off)?;
            rest = after;
            if message.sequence != self.sequence {
                continue;
            }
            match message.kind {
                ERROR | DONE => return verdict(&message, what).map(|()| true),
                kind => answers.push(Message::new(kind, &[message.body])),
            }
        }
        Ok(false)
    }
}

/// The last word on a request, with the kernel's sentence where it is a refusal.
fn verdict(last: &Received<'_>, what: &dyn Fn() -> String) -> Result<()> {
    wire::verdict(last.body).map_err(|cause| {
        let said = kernels_sentence(last.body.get(4..).unwrap_or_default());
        Error::new(format!("{}{said}", what()), cause)
    })
}

/// The sentence of an extended acknowledgement, in parentheses; empty where the kernel said nothing.
/// With capped acknowledgements the attributes follow the request's header of 16 bytes.
fn kernels_sentence(reply: &[u8]) -> String {
    let said = reply.get(16..).and_then(|attributes| wire::find_text(attributes, SENTENCE));
    said.map_or_else(String::new, |text| format!(" (kernel: {text})"))
}

// `linux/netlink.h`
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `NLMSGERR_ATTR_MSG`
const SENTENCE: u16 = 1;

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
