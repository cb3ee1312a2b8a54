//! The service `pingpong`: the ends that answer blocks, for `btu pingpong --peer`.

use btu_core::cell::Role;
use btu_core::units::BitRate;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::pingpong::far::FarEnds;
use btu_engine::pingpong::far::Setting;
use btu_engine::pingpong::host::Told;
use btu_engine::pingpong::host::Word;
use btu_sys::socket::Settings;
use serde::Deserialize;
use serde_json::Value;

use super::Begun;
use super::Kind;
use super::Service;
use super::Terms;
use super::held_to;
use super::paced;

/// The service `pingpong`.
pub(super) static PINGPONG: Kind =
    Kind { name: "pingpong", about: "answers the blocks of btu pingpong --peer", begin };

/// The ends of one conductor.
struct PingPong {
    ends: FarEnds,
    /// What they may send, one at a time.
    rate: Option<BitRate>,
    /// The connection whose visit goes on.
    visited: Option<u32>,
}

fn begin(terms: &Terms, _order: &Value) -> Result<Begun, String> {
    if terms.flows == 0 {
        return Err("a ping-pong needs a connection".to_owned());
    }
    let rate = terms.rate;
    let party = Party {
        place: Place::here(Role::Active),
        address: terms.address,
        sockets: Settings { pacing_byte_s: paced(rate), ..Settings::default() },
    };
    let setting = Setting { party, ports: terms.ports, seat: terms.seat, most: terms.flows };
    let service = PingPong { ends: FarEnds::new(setting), rate, visited: None };
    Ok((Box::new(service), held_to(rate)))
}

impl Service for PingPong {
    fn hear(&mut self, word: &Value) -> Result<Value, String> {
        let word = Word::deserialize(word).map_err(|cause| format!("no word: {cause}"))?;
        let refused = self.refuses(&word).map(|reason| Told::Refused { reason });
        let told = refused.unwrap_or_else(|| self.answer(word));
        serde_json::to_value(told).map_err(|cause| cause.to_string())
    }

    fn take_moved(&mut self) -> u64 {
        self.ends.take_moved()
    }
}

impl PingPong {
    /// Why a word is refused where a rate holds: the kernel paces each connection over TCP by itself.
    fn refuses(&self, word: &Word) -> Option<String> {
        let rate = self.rate?;
        let what = match (word, self.visited) {
            (Word::Listen { configuration, .. }, _)
                if !PACED.contains(&configuration.transport.as_str()) =>
            {
                let name = &configuration.transport;
                format!("{name} cannot be held to that, only {}", PACED.join(", "))
            }
            (Word::Visit { connection, .. }, Some(other)) if *connection != other => {
                format!("connection {other} is still visited")
            }
            _ => return None,
        };
        Some(format!("policy: max_rate = {rate}: {what}"))
    }

    fn answer(&mut self, word: Word) -> Told {
        self.note(&word);
        let mut told = self.ends.hear(word);
        if let (Told::Open { remarks }, Some(rate)) = (&mut told, self.rate) {
            remarks.push(format!("max_rate in the agent's policy: {rate}"));
        }
        told
    }

    /// Which connection sends from now on.
    fn note(&mut self, word: &Word) {
        match word {
            Word::Visit { connection, .. } => self.visited = Some(*connection),
            Word::Close { connection } | Word::Over { connection, .. }
                if self.visited == Some(*connection) =>
            {
                self.visited = None;
            }
            _ => {}
        }
    }
}

/// Transports over TCP sockets.
const PACED: [&str; 3] = ["tcp", "tls", "uring"];

#[cfg(test)]
mod tests {
    use btu_core::pingpong::configuration::Configuration;
    use btu_core::units::Bytes;
    use btu_core::units::Nanos;
    use btu_engine::comm::Seat;
    use btu_engine::pingpong::transport;

    use super::super::RATE_OF_CONNECTION;
    use super::*;

    fn told(service: &mut dyn Service, word: &Word) -> Value {
        service.hear(&serde_json::to_value(word).unwrap()).unwrap()
    }

    fn listen(connection: u32, transport: &str) -> Word {
        let configuration = Box::new(Configuration::new(transport));
        let patience_ns = Nanos::from_secs(1);
        Word::Listen { connection, configuration, patience_ns, cpus: None, plant: None }
    }

    fn begun(rate: Option<BitRate>) -> Begun {
        let seat = Seat { secret: [1; 32], run: 1, attempt: 1, flow: 0 };
        let address = [127, 0, 0, 1].into();
        begin(&Terms { address, ports: None, seat, flows: 4, rate }, &Value::Null).unwrap()
    }

    #[test]
    fn a_rate_lets_transports_over_tcp_answer_one_at_a_time() {
        let (mut service, said) = begun(Some(BitRate::new(80_000_000)));
        assert_eq!(said[RATE_OF_CONNECTION], 80_000_000);
        let refused = told(&mut *service, &listen(1, "udp"));
        let why = "policy: max_rate = 80Mbit/s: udp cannot be held to that, only tcp, tls, uring";
        assert_eq!(refused["reason"], why);
        for connection in [1, 2] {
            assert_eq!(told(&mut *service, &listen(connection, "tcp"))["told"], "listening");
        }
        let visit =
            |connection| Word::Visit { connection, size_bytes: Bytes::new(1), verify_from: None };
        told(&mut *service, &visit(1));
        let second = told(&mut *service, &visit(2));
        let why = "policy: max_rate = 80Mbit/s: connection 1 is still visited";
        assert_eq!(second["reason"], why);
        told(&mut *service, &Word::Close { connection: 1 });
        assert_ne!(told(&mut *service, &visit(2))["reason"], why);
    }

    #[test]
    fn without_a_rate_every_transport_of_two_hosts_answers() {
        let (mut service, said) = begun(None);
        assert_eq!(said, Value::Null);
        assert_eq!(told(&mut *service, &listen(1, "udp"))["told"], "listening");
        for name in PACED {
            assert!(transport::by_name(name).is_some(), "{name}");
        }
    }
}
