//! How a flow ends: by its time, by a limit or a fault, and what it leaves behind.

use std::sync::atomic::Ordering::Relaxed;

use btu_core::sample::Outcome;
use btu_core::traffic::sending::burst::BlockRecord;
use btu_core::traffic::sending::burst::Fate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_sys::tcp_info::TcpInfo;

use super::Load;
use super::Progress;
use super::Sender;
use super::Stage;
use crate::time::now;
use crate::traffic::connect::Socket;
use crate::traffic::flow::Sent;
use crate::traffic::job::TcpEnd;
use crate::traffic::pacer::Pacer;

impl Sender<'_> {
    pub(super) fn is_past_giving_up(&self) -> bool {
        self.stopped.is_some_and(|stopped| stopped >= self.give_up)
    }

    pub(super) fn fail(&mut self, reason: String) -> Progress {
        self.cut_short(now(), Outcome::Failed { reason });
        Progress::Over
    }

    /// Ends it although it has more: what it sent is averaged over the time that it had.
    pub(in crate::traffic) fn cut_short(&mut self, time: Nanos, fault: Outcome) {
        self.fault = Some(fault);
        self.cut_short = Some(time.since(self.start));
        self.end();
    }

    /// T has come, or the end of the time to drain, or a limit was met.
    pub(super) fn look_at_the_end(&mut self, time: Nanos, was_blocked: bool) -> Option<Progress> {
        let since = time.since(self.start);
        if let Load::Blocks(bursts) = &mut self.load {
            // What was due before T is due, however late somebody looks.
            bursts.advance(since.min(self.flow.duration));
            if let Some(overflow) = bursts.overflow(since) {
                let reason = format!("{overflow}, at t = {:.3} s", since.seconds());
                self.cut_short(time, Outcome::Capped { reason });
                return Some(Progress::Over);
            }
        }
        if time >= self.end && self.stopped.is_none() {
            self.stopped = Some(time);
            self.tcp = self.account();
            if let Load::Blocks(bursts) = &mut self.load {
                bursts.stop();
            }
        }
        // What was due is offered once, where only this thread was late and not the transport.
        let stopped = self.stopped?;
        let tries = !was_blocked && time < stopped.saturating_add(LAST_TRY);
        (time >= self.give_up && !tries).then(|| {
            self.end();
            Progress::Over
        })
    }

    /// Nothing is due now: the flow waits, or is over.
    pub(super) fn nothing_left(&mut self, time: Nanos) -> Progress {
        let has_more = match &self.load {
            Load::Blocks(bursts) => bursts.next_due().is_some(),
            Load::Endless { .. } => false,
        };
        if has_more || (time < self.end && self.stopped.is_none()) {
            return Progress::Idle;
        }
        self.end();
        Progress::Over
    }

    /// Nothing more is sent: the receiver sees the end once it has read what was.
    pub(super) fn end(&mut self) {
        self.stage = self.stage.max(Stage::Over);
        if self.tcp.is_none() {
            self.tcp = self.account();
        }
        if let Socket::Stream(stream) = self.socket {
            // A connection that is gone has nothing left to end.
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        self.quic.iter_mut().for_each(|quic| quic.finish());
        if let (Some(awaiting), Load::Blocks(bursts)) = (&mut self.awaiting, &self.load) {
            awaiting.all_sent(now(), bursts.records());
        }
        self.shared.sender_done.store(true, Relaxed);
    }

    fn account(&self) -> Option<TcpEnd> {
        let Socket::Stream(stream) = self.socket else { return None };
        let read = TcpInfo::of(stream).ok()?;
        let bytes = |count: Option<u64>| Bytes::new(count.unwrap_or(0));
        let own = |count: u64| count.saturating_sub(self.said.count());
        let micros = |count: Option<u64>| Nanos::from_micros(count.unwrap_or(0));
        Some(TcpEnd {
            // The SYN counts as a byte.
            acknowledged: bytes(read.bytes_acked().map(|acked| own(acked.saturating_sub(1)))),
            sent: bytes(read.bytes_sent().map(own)),
            retransmitted: bytes(read.bytes_retrans()),
            rtt: micros(read.rtt_us()),
            least_rtt: micros(read.min_rtt_us()),
        })
    }

    /// Why nothing of it left this host.
    pub(super) fn silenced(&self) -> Option<Outcome> {
        let cause = self.refusal.as_ref()?;
        let all = self.refused == self.shared.datagrams.load(Relaxed);
        all.then(|| Outcome::Failed { reason: format!("send: {cause}, of every datagram") })
    }

    pub(in crate::traffic) fn finish(self, pacer: &Pacer) -> Sent {
        let fault = self.fault.clone().or_else(|| self.silenced());
        let blocks = match self.load {
            Load::Blocks(bursts) => bursts.into_records(),
            Load::Endless { taken, .. } => vec![BlockRecord {
                size: Bytes::new(taken),
                start: Some(Nanos::ZERO),
                end: Some(self.cut_short.unwrap_or(self.flow.duration).min(self.flow.duration)),
                taken: Bytes::new(taken),
                fate: Fate::Sent,
                ..BlockRecord::default()
            }],
        };
        let receipts = self.awaiting.map(|awaiting| awaiting.by_block(&blocks));
        Sent {
            number: self.number,
            blocks,
            receipts,
            tcp: self.tcp,
            pace: pacer.name(),
            refused: self.refused,
            fault,
            ended: self.cut_short,
        }
    }

    /// Whether what it sent is still on its way by the hands of this process.
    pub(in crate::traffic) fn delivers(&self) -> bool {
        let is_read = self.shared.receiver_done.load(Relaxed);
        !is_read && self.quic.as_ref().is_some_and(|quic| quic.delivers())
    }

    /// Whether a receipt is waited for although nothing more is sent.
    pub(in crate::traffic) fn awaits(&self, linger: Nanos) -> bool {
        self.awaiting.as_ref().is_some_and(|awaiting| awaiting.waits(now(), linger))
    }

    /// Nothing of it moves any more.
    pub(in crate::traffic) fn let_go(&mut self) {
        self.stage = Stage::Gone;
        self.quic.iter_mut().for_each(|quic| quic.close());
    }

    /// True once its user sends nothing more.
    pub(in crate::traffic) fn is_over(&self) -> bool {
        self.stage != Stage::Sends
    }

    /// True once nothing of it moves any more.
    pub(in crate::traffic) fn is_gone(&self) -> bool {
        self.stage == Stage::Gone
    }
}

/// How long what was due at T is still offered to a transport that has room.
const LAST_TRY: Nanos = Nanos::from_millis(20);
