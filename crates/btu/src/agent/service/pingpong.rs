//! The service `pingpong`: the ends that answer blocks, for `btu pingpong --peer`.

use btu_core::cell::Role;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::pingpong::far::FarEnds;
use btu_engine::pingpong::far::Setting;
use btu_engine::pingpong::host::Word;
use btu_sys::socket::Settings;
use serde::Deserialize;
use serde_json::Value;

use super::Begun;
use super::Kind;
use super::Service;
use super::Terms;

/// The service `pingpong`.
pub(super) static PINGPONG: Kind =
    Kind { name: "pingpong", about: "answers the blocks of btu pingpong --peer", begin };

/// The ends of one conductor.
struct PingPong(FarEnds);

fn begin(terms: &Terms, _order: &Value) -> Result<Begun, String> {
    if terms.flows == 0 {
        return Err("a ping-pong needs a connection".to_owned());
    }
    let party = Party {
        place: Place::here(Role::Active),
        address: terms.address,
        sockets: Settings::default(),
    };
    let setting = Setting { party, ports: terms.ports, seat: terms.seat, most: terms.flows };
    Ok((Box::new(PingPong(FarEnds::new(setting))), Value::Null))
}

impl Service for PingPong {
    fn hear(&mut self, word: &Value) -> Result<Value, String> {
        let word = Word::deserialize(word).map_err(|cause| format!("no word: {cause}"))?;
        serde_json::to_value(self.0.hear(word)).map_err(|cause| cause.to_string())
    }

    fn take_moved(&mut self) -> u64 {
        self.0.take_moved()
    }
}
