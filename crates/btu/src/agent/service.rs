//! Services: what an agent's worker does for a conductor besides the cells of a run.
//!
//! A service is begun by an order, told words, and leaves an account; its connections end when it is
//! dropped. The agent before the worker knows its name, bounds its connections, its time and its bytes
//! by the policy, and kills the worker when the lease of the last word is over.
//!
//! To add one: a file here with a [`Service`] and a function that begins it, a line in [`SERVICES`], a
//! section in `docs/services.md`. The other side is a [`RemoteService`](crate::conductor::RemoteService)
//! with the same name. Nothing in `btu-control` changes: words are the service's own.

mod pingpong;
mod traffic;

use std::net::IpAddr;

use btu_control::message::Answer;
use btu_control::message::ServiceOrder;
use btu_control::message::ServiceWord;
use btu_control::policy::LEAST_RATE;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_engine::comm::Seat;
use btu_sys::socket::Settings;
use serde_json::Value;
use serde_json::json;

use crate::agent::worker::share;
use crate::conductor::RATE_OF_CONNECTION;

/// Every service of this build.
pub(crate) static SERVICES: &[&Kind] = &[&pingpong::PINGPONG, &traffic::TRAFFIC];

/// A kind of service.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its name in orders and policies.
    pub(crate) name: &'static str,
    /// One line for people.
    pub(crate) about: &'static str,
    /// Begins it; an error says why it cannot.
    begin: fn(&Terms, &Value) -> Result<Begun, String>,
}

/// A service, and what it says first.
type Begun = (Box<dyn Service>, Value);

/// What every service is given.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Where data connections come in.
    pub(super) address: IpAddr,
    /// Ports of data connections; `None` for any.
    pub(super) ports: Option<(u16, u16)>,
    /// What data connections must know; `flow` and `attempt` tell them apart as the service likes.
    pub(super) seat: Seat,
    /// The most data connections at once.
    pub(super) flows: usize,
    /// What all of them together may send, headers included; `None` for what the path takes.
    pub(super) rate: Option<BitRate>,
}

/// What a conductor is told first: what one of its connections may send.
fn held_to(rate: Option<BitRate>) -> Value {
    rate.map_or(Value::Null, |rate| json!({ RATE_OF_CONNECTION: rate.bit_per_second() }))
}

/// What each connection may send: all send side by side, so each has the same part of what they may send
/// together. `fewer` is how to ask for fewer of them.
fn part(terms: &Terms, fewer: &str) -> Result<Option<BitRate>, String> {
    part_of(terms.rate, terms.flows, fewer)
}

/// The same of a rate and so many connections.
pub(crate) fn part_of(
    rate: Option<BitRate>,
    flows: usize,
    fewer: &str,
) -> Result<Option<BitRate>, String> {
    let Some(rate) = rate else { return Ok(None) };
    let part = share(rate, flows);
    if part < LEAST_RATE {
        return Err(format!(
            "policy: max_rate leaves {rate}: {flows} connections need {LEAST_RATE} each; ask for fewer \
             ({fewer}), or set a higher max_rate there"
        ));
    }
    Ok(Some(part))
}

/// What cannot be held to a rate, as it is refused.
pub(crate) fn unheld(rate: Option<BitRate>, what: &str) -> String {
    let rate = rate.map_or_else(String::new, |rate| rate.to_string());
    format!(
        "policy: max_rate leaves {rate}: {what} cannot be held to that; send streams, or remove \
         max_rate there"
    )
}

/// Has the kernel hold a connection to that. What it has still to send when it is closed is discarded: its
/// place is given to another.
pub(crate) fn pace(settings: &mut Settings, rate: Option<BitRate>) {
    pace_held(settings, rate);
    settings.reset_on_close = rate.is_some();
}

/// The kernel's pace alone, for connections that are held open until their job is closed.
pub(crate) fn pace_held(settings: &mut Settings, rate: Option<BitRate>) {
    settings.pacing_byte_s = rate.map(|rate| rate.bit_per_second() / 8);
}

/// Options of a connection that is held to that.
fn paced(rate: Option<BitRate>) -> Settings {
    let mut settings = Settings::default();
    pace(&mut settings, rate);
    settings
}

/// Work that goes on until it is dropped, which ends all of its connections.
pub(super) trait Service {
    /// Does what it is told and says what came of it. Returns soon: the lease of the word runs, and
    /// nothing else is heard meanwhile. Nothing in a word is to be believed.
    fn hear(&mut self, word: &Value) -> Result<Value, String>;

    /// Payload that was moved since this was asked last, for the policy.
    fn take_moved(&mut self) -> Bytes;

    /// What is left to tell when it is over; may be long.
    fn account(&mut self) -> Result<Vec<u8>, String> {
        Ok(Vec::new())
    }
}

/// The service of one worker.
#[derive(Default)]
pub(super) struct Served(Option<Box<dyn Service>>);

impl Served {
    /// Begins a service; what was begun before is over.
    pub(super) fn begin(
        &mut self,
        order: &ServiceOrder,
        address: IpAddr,
        ports: Option<(u16, u16)>,
        rate: Option<BitRate>,
    ) -> Answer {
        self.0 = None;
        let which = order.which;
        let secret = *order.secret.bytes();
        let seat = Seat { secret, run: which.run, attempt: which.attempt, flow: 0 };
        let flows = usize::try_from(order.flows).unwrap_or(usize::MAX);
        let terms = Terms { address, ports, seat, flows, rate };
        let kind = SERVICES.iter().find(|kind| kind.name == order.service);
        let unknown = || format!("no service is called \"{}\" here", order.service);
        match kind.ok_or_else(unknown).and_then(|kind| (kind.begin)(&terms, &order.order)) {
            Ok((service, said)) => {
                self.0 = Some(service);
                Answer::Said { which, said, moved_bytes: Bytes::ZERO }
            }
            Err(reason) => Answer::Failed { seq: which.seq, reason },
        }
    }

    /// Tells the service something.
    pub(super) fn hear(&mut self, word: &ServiceWord) -> Answer {
        let which = word.which;
        let none = || "no service was begun".to_owned();
        let Some(service) = &mut self.0 else {
            return Answer::Failed { seq: which.seq, reason: none() };
        };
        match service.hear(&word.word) {
            Ok(said) => Answer::Said { which, said, moved_bytes: service.take_moved() },
            Err(reason) => Answer::Failed { seq: which.seq, reason },
        }
    }

    /// Its account, with the payload that was not told yet; nothing where none was begun.
    pub(super) fn end(&mut self) -> Option<Result<(Vec<u8>, Bytes), String>> {
        let mut service = self.0.take()?;
        let account = service.account();
        let moved = service.take_moved();
        Some(account.map(|account| (account, moved)))
    }

    /// Payload that was moved since somebody was told of that last.
    pub(super) fn take_moved(&mut self) -> Bytes {
        self.0.as_mut().map_or(Bytes::ZERO, |service| service.take_moved())
    }

    /// Ends its connections.
    pub(super) fn drop_now(&mut self) {
        self.0 = None;
    }
}
