//! One line of a conversation: requests that are sent as there is room, answers in their order.

use std::collections::VecDeque;
use std::io;

use super::line::Line;
use crate::traffic::answerer::may_go_on;
use crate::traffic::answerer::to_count;
use crate::traffic::answerer::to_length;
use crate::traffic::quic::QuicTalk;
use crate::traffic::request::Head;
use crate::traffic::request::Lengths;

/// A line and what is under way on it.
pub(super) struct Talk {
    pub(super) line: Line,
    /// Whose it is.
    pub(super) flow: u32,
    /// Whether its flow has another line, or none, from now on: it goes with its last answer.
    pub(super) is_left: bool,
    /// Whether its socket tells of room.
    pub(super) is_watched: bool,
    /// Requests without an answer: their places among the exchanges, with the bytes that are still to come.
    waiting: VecDeque<(usize, u64)>,
    unsent: VecDeque<Unsent>,
    /// The request before, which the next one is like or not.
    last: Option<Lengths>,
}

/// A request that is not all sent.
struct Unsent {
    head: Head,
    sent: u64,
    left: u64,
}

impl Talk {
    pub(super) fn new(line: Line, flow: u32) -> Self {
        let (waiting, unsent) = (VecDeque::new(), VecDeque::new());
        Self { line, flow, is_left: false, is_watched: false, waiting, unsent, last: None }
    }

    /// One request more, which is the exchange of this place.
    pub(super) fn ask(&mut self, lengths: Lengths, place: usize) {
        let head = lengths.head(self.last.replace(lengths));
        self.unsent.push_back(Unsent { sent: 0, left: lengths.whole(&head), head });
        self.waiting.push_back((place, lengths.answer()));
    }

    pub(super) fn awaits_answers(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn awaits_room(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Sends while there is room, filled from `space`, where nobody looks. Gives how many bytes were sent.
    pub(super) fn send(
        &mut self,
        quic: &mut Option<QuicTalk>,
        space: &mut [u8],
    ) -> io::Result<u64> {
        let mut all = 0;
        while let Some(request) = self.unsent.front_mut() {
            let part = request.next(space);
            let sent = match self.line.send(quic, part) {
                Ok(sent) => to_count(sent),
                Err(cause) if may_go_on(&cause) => break,
                Err(cause) => return Err(cause),
            };
            all += sent;
            request.sent += sent;
            request.left -= sent.min(request.left);
            if request.left == 0 {
                self.unsent.pop_front();
                if self.is_left && self.unsent.is_empty() {
                    self.line.finish(quic);
                }
            }
        }
        Ok(all)
    }

    /// Nothing more is asked on it; what was asked is still sent and answered.
    pub(super) fn leave(&mut self, quic: &mut Option<QuicTalk>) {
        self.is_left = true;
        if !self.awaits_room() {
            self.line.finish(quic);
        }
    }

    /// Bytes came. Gives the exchanges that are answered with them.
    pub(super) fn hear(&mut self, mut came: u64) -> Vec<usize> {
        let mut answered = Vec::new();
        while let Some((place, left)) = self.waiting.front_mut() {
            let part = came.min(*left);
            *left -= part;
            came -= part;
            if *left > 0 {
                break;
            }
            answered.push(*place);
            self.waiting.pop_front();
        }
        answered
    }
}

impl Unsent {
    /// What is sent next: what is left of the head, and as much filling as fits beside it.
    fn next<'s>(&self, space: &'s mut [u8]) -> &'s [u8] {
        let head = self.head.bytes();
        let left = head.get(to_length(self.sent)..).unwrap_or_default();
        space[..left.len()].copy_from_slice(left);
        &space[..to_length(self.left).min(space.len())]
    }
}
