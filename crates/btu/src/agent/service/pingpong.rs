//! The service `pingpong`: the ends that answer blocks, for `btu pingpong --peer`.

use btu_control::policy::LEAST_RATE;
use btu_core::role::Role;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::pingpong::far::FarEnds;
use btu_engine::pingpong::far::Setting;
use btu_engine::pingpong::host::Told;
use btu_engine::pingpong::host::Word;
use btu_engine::pingpong::transport;
use btu_engine::pingpong::transport::TRANSPORTS;
use btu_engine::pingpong::transport::Transport;
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
    /// What each of them may send.
    rate: Option<BitRate>,
}

fn begin(terms: &Terms, _order: &Value) -> Result<Begun, String> {
    if terms.flows == 0 {
        return Err("a ping-pong needs a connection".to_owned());
    }
    let rate = whole(terms)?;
    let party =
        Party { place: Place::here(Role::Active), address: terms.address, sockets: paced(rate) };
    let (ports, seat, most) = (terms.ports, terms.seat, terms.flows);
    let setting = Setting { party, ports, seat, most, rate };
    let service = PingPong { ends: FarEnds::new(setting), rate };
    Ok((Box::new(service), held_to(rate)))
}

/// The one connection that exchanges blocks has all that they may send together.
fn whole(terms: &Terms) -> Result<Option<BitRate>, String> {
    match terms.rate {
        Some(rate) if rate < LEAST_RATE => Err(format!(
            "policy: max_rate leaves {rate}: a ping-pong needs {LEAST_RATE}; set a higher max_rate there"
        )),
        rate => Ok(rate),
    }
}

impl Service for PingPong {
    fn hear(&mut self, word: &Value) -> Result<Value, String> {
        let word = Word::deserialize(word).map_err(|cause| format!("no word: {cause}"))?;
        let refused = self.refuses(&word).map(|reason| Told::Refused { reason });
        let told = refused.unwrap_or_else(|| self.answer(word));
        serde_json::to_value(told).map_err(|cause| cause.to_string())
    }

    fn take_moved(&mut self) -> Bytes {
        self.ends.take_moved()
    }
}

impl PingPong {
    /// Why a word is refused where a rate holds: what is neither paced by the kernel nor by its end.
    fn refuses(&self, word: &Word) -> Option<String> {
        let (rate, Word::Listen { configuration, .. }) = (self.rate?, word) else { return None };
        let name = &configuration.transport;
        let can_be = transport::by_name(name).is_some_and(Transport::is_paced);
        let paced: Vec<&str> = TRANSPORTS
            .iter()
            .filter(|one| one.is_paced())
            .map(|transport| transport.name())
            .collect();
        let of = paced.join(", ");
        let what = || {
            format!(
                "policy: max_rate leaves each connection {rate}: {name} cannot be held to that, only {of}"
            )
        };
        (!can_be).then(what)
    }

    fn answer(&mut self, word: Word) -> Told {
        let mut told = self.ends.hear(word);
        if let (Told::Open { remarks }, Some(rate)) = (&mut told, self.rate) {
            remarks.push(format!("max_rate in the agent's policy: {rate} per connection"));
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use btu_core::pingpong::configuration::Configuration;
    use btu_core::units::Nanos;
    use btu_engine::comm::Seat;

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
    fn a_rate_is_that_of_whoever_exchanges_and_refuses_what_cannot_be_held_to_it() {
        let (mut service, said) = begun(Some(BitRate::new(80_000_000)));
        assert_eq!(said[RATE_OF_CONNECTION], 80_000_000);
        let refused = told(&mut *service, &listen(1, "mptcp"));
        let why = "policy: max_rate leaves each connection 80Mbit/s: mptcp cannot be held to that, \
                   only tcp, udp, uring, tls, quic";
        assert_eq!(refused["reason"], why);
        for (connection, transport) in [(1, "tcp"), (2, "udp"), (3, "tls"), (4, "quic")] {
            let heard = told(&mut *service, &listen(connection, transport));
            assert_eq!(heard["told"], "listening", "{transport}: {heard}");
        }
        // What was reserved is what is shared; nothing else answers.
        assert_eq!(told(&mut *service, &listen(5, "tcp"))["told"], "refused");
    }

    #[test]
    fn less_than_a_policy_can_set_is_no_rate_for_blocks() {
        let seat = Seat { secret: [1; 32], run: 1, attempt: 1, flow: 0 };
        let (address, rate) = ([127, 0, 0, 1].into(), Some(BitRate::new(64_000)));
        let terms = Terms { address, ports: None, seat, flows: 24, rate };
        let why = begin(&terms, &Value::Null).err().unwrap();
        assert!(why.starts_with("policy: max_rate leaves 64kbit/s: a ping-pong needs 128kbit/s"));
    }

    #[test]
    fn without_a_rate_every_transport_of_two_hosts_answers() {
        let (mut service, said) = begun(None);
        assert_eq!(said, Value::Null);
        assert_eq!(told(&mut *service, &listen(1, "udp"))["told"], "listening");
    }
}
