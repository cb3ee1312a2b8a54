//! The service `traffic`: the ends of a scenario's flows on this host, for `btu traffic` between hosts.

mod duty;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::anyhow;
use btu_core::manifest::hex;
use btu_core::role::Role;
use btu_core::traffic::Block;
use btu_core::units::BitRate;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::comm::Seat;
use btu_engine::time::now;
use btu_engine::traffic::Answerer;
use btu_engine::traffic::CapacityEnd;
use btu_engine::traffic::Carrier;
use btu_engine::traffic::Flow;
use btu_engine::traffic::Guests;
use btu_engine::traffic::Keys;
use btu_engine::traffic::Reach;
use btu_engine::traffic::Reception;
use serde::Deserialize;
use serde_json::Value;

use self::duty::Duty;
use self::duty::Meeting;
use super::Begun;
use super::Kind;
use super::Service;
use super::Terms;
use super::held_to;
use super::paced;
use super::part;
use crate::exit::Failure;
use crate::traffic::expand;
use crate::traffic::expand::Cast;
use crate::traffic::expand::Talked;
use crate::traffic::expand::Until;
use crate::traffic::remote::bounds::hold;
use crate::traffic::remote::peers::Apart;
use crate::traffic::remote::words;
use crate::traffic::remote::words::FEWER_FLOWS;
use crate::traffic::remote::words::Preparation;
use crate::traffic::remote::words::Told;
use crate::traffic::remote::words::Word;
use crate::traffic::scenario;

/// The service `traffic`.
pub(super) static TRAFFIC: Kind =
    Kind { name: words::SERVICE, about: "carries the flows of btu traffic between hosts", begin };

/// The jobs of one conductor.
struct Traffic {
    terms: Terms,
    /// What one connection may send.
    rate: Option<BitRate>,
    jobs: BTreeMap<u32, Duty>,
    /// Payload of jobs that are closed, not told yet.
    moved: Bytes,
}

fn begin(terms: &Terms, _order: &Value) -> Result<Begun, String> {
    if terms.flows == 0 {
        return Err("traffic needs a connection".to_owned());
    }
    let rate = part(terms, FEWER_FLOWS)?;
    let traffic = Traffic { terms: *terms, rate, jobs: BTreeMap::new(), moved: Bytes::ZERO };
    Ok((Box::new(traffic), held_to(rate)))
}

impl Service for Traffic {
    fn hear(&mut self, word: &Value) -> Result<Value, String> {
        let word = Word::deserialize(word).map_err(|cause| format!("no word: {cause}"))?;
        let told = self.answer(word).unwrap_or_else(|reason| Told::Refused { reason });
        serde_json::to_value(told).map_err(|cause| cause.to_string())
    }

    fn take_moved(&mut self) -> Bytes {
        let moved = std::mem::take(&mut self.moved);
        self.jobs.values_mut().map(Duty::take_moved).fold(moved, Bytes::saturating_add)
    }
}

impl Traffic {
    fn answer(&mut self, word: Word) -> Result<Told, String> {
        match word {
            Word::Ask { job } => self.job(job)?.ask(),
            Word::Capacity { job, datagram_bytes, ahead_ns } => {
                self.capacity(job, datagram_bytes, ahead_ns)
            }
            Word::Clock {} => Ok(Told::Clock { now_ns: now() }),
            Word::Close { job } => {
                if let Some(mut duty) = self.jobs.remove(&job) {
                    duty.end();
                    self.moved = self.moved.saturating_add(duty.take_moved());
                }
                Ok(Told::Closed {})
            }
            Word::Met { job } => self.job(job)?.met(),
            Word::PathMtu { job } => self.path_mtu(job),
            Word::Prepare(wanted) => self.prepare(&wanted),
            Word::Read { job, from } => self.job(job)?.read(from),
            Word::Respond { job } => self.respond(job),
            Word::Sent { job, datagrams } => {
                self.job(job)?.sent_elsewhere(&datagrams);
                Ok(Told::Ready {})
            }
            Word::Start { job, at_ns } => self.job(job)?.start(at_ns),
        }
    }

    fn job(&mut self, job: u32) -> Result<&mut Duty, String> {
        self.jobs.get_mut(&job).ok_or_else(|| format!("there is no job {job}"))
    }

    /// Where connections of a job come in, and what they must know.
    fn reach(&self, job: u32) -> Reach {
        let Terms { address, ports, seat, .. } = self.terms;
        Reach { address, ports, seat: Seat { attempt: job, ..seat } }
    }

    /// How many connections a new job may have.
    fn room(&self, job: u32) -> Result<usize, String> {
        if self.jobs.contains_key(&job) {
            return Err(format!("job {job} is there already"));
        }
        let open: usize = self.jobs.values().map(Duty::connections).sum();
        Ok(self.terms.flows.saturating_sub(open))
    }

    fn prepare(&mut self, wanted: &Preparation) -> Result<Told, String> {
        let room = self.room(wanted.job)?;
        if wanted.role == Role::Test || !(1..=MOST_SESSIONS).contains(&wanted.sessions) {
            return Err(format!(
                "{} by {} sessions: not for an agent",
                wanted.role, wanted.sessions
            ));
        }
        let here = expand::place(wanted.role);
        let kept: usize = self.jobs.values().map(Duty::blocks).sum();
        let most = words::MOST_BLOCKS.saturating_sub(kept);
        let mut cast = draw(wanted, most).map_err(|cause| format!("{:#}", cause.cause))?;
        let drawn = words::drawn(&cast, &cast.talks);
        let flows = cast.flows.iter_mut().map(|named| &mut named.flow);
        hold(flows, &mut cast.talks, self.rate);
        let blocks = cast.blocks();
        let flows: Vec<_> = cast.flows.into_iter().map(|named| named.flow).collect();
        let own = flows.iter().filter(|flow| flow.from == here || flow.to == here).count();
        let talks = cast.talks.iter().filter(|talk| talk.said.to == wanted.role);
        let needed = talks.map(|talk| talk.connections).fold(own, usize::saturating_add);
        if needed > room || needed == 0 {
            return Err(format!("{needed} connections asked for, {room} were reserved"));
        }
        let reach = self.reach(wanted.job);
        let keys = needs_keys(&flows, &cast.talks).then(Keys::new).transpose();
        let keys = keys.map_err(|cause| cause.sentence())?;
        let certificate = keys.as_ref().map(|keys| hex(keys.certificate()));
        let reception = Reception::open(&flows, here, reach, keys.clone());
        let reception = reception.map_err(|cause| cause.sentence())?;
        let ports = reception.ports().to_vec();
        let answerers: Vec<Option<Answerer>> = (flows.len()..)
            .zip(&cast.talks)
            .map(|(number, talk)| opened(talk, number, wanted.role, (reach, keys.as_ref())))
            .collect::<Result<_, _>>()?;
        let doors = answerers.iter().map(|one| one.as_ref().map(Answerer::port)).collect();
        let answerers = answerers.into_iter().flatten().collect();
        let (linger, stall) = (wanted.linger_ns.min(LONGEST), wanted.stall_ns.min(LONGEST));
        let held = self.rate.is_some();
        let meeting = Meeting { reception, flows, here, linger, stall, held };
        let duty = Duty::new(meeting, answerers, [needed, blocks])?;
        self.jobs.insert(wanted.job, duty);
        Ok(Told::Listening { address: reach.address, ports, talks: doors, drawn, certificate })
    }

    /// Answers requests of round trips under load.
    fn respond(&mut self, job: u32) -> Result<Told, String> {
        let room = self.room(job)?.min(words::OF_A_PROBE);
        if room == 0 {
            return Err("round trips need a connection, none is left of those reserved".to_owned());
        }
        let reach = self.reach(job);
        let guests = Guests::of(reach.seat, room);
        let opened = Answerer::open(&reach, &paced(self.rate), guests);
        let answerer = opened.map_err(|cause| cause.sentence())?;
        let talks = vec![Some(answerer.port())];
        self.jobs.insert(job, Duty::responding(answerer, room));
        let (address, ports, drawn) = (reach.address, Vec::new(), String::new());
        Ok(Told::Listening { address, ports, talks, drawn, certificate: None })
    }

    /// Answers probes of a path MTU.
    fn path_mtu(&mut self, job: u32) -> Result<Told, String> {
        if self.room(job)? == 0 {
            return Err(
                "probes of a path MTU need a connection, none is left of those reserved".to_owned()
            );
        }
        let reach = self.reach(job);
        let answerer = Answerer::open_path_mtu(&reach).map_err(|cause| cause.sentence())?;
        let talks = vec![Some(answerer.port())];
        self.jobs.insert(job, Duty::responding(answerer, 1));
        let (address, ports, drawn) = (reach.address, Vec::new(), String::new());
        Ok(Told::Listening { address, ports, talks, drawn, certificate: None })
    }

    fn capacity(&mut self, job: u32, datagram: Bytes, ahead_ns: i64) -> Result<Told, String> {
        if self.room(job)? == 0 || datagram > LARGEST_DATAGRAM {
            return Err(format!("datagrams of {datagram}, or one connection too many"));
        }
        let reach = self.reach(job);
        let opened = CapacityEnd::open(&reach, datagram, ahead_ns);
        let end = opened.map_err(|cause| cause.sentence())?;
        let ports = vec![Some(end.port())];
        self.jobs.insert(job, Duty::searching(end));
        let (address, drawn) = (reach.address, String::new());
        Ok(Told::Listening { address, ports, talks: Vec::new(), drawn, certificate: None })
    }
}

/// Who answers a conversation, the flow of this number, if this role does.
fn opened(
    talk: &Talked,
    number: usize,
    role: Role,
    (reach, keys): (Reach, Option<&Keys>),
) -> Result<Option<Answerer>, String> {
    if talk.said.to != role {
        return Ok(None);
    }
    let flow = u16::try_from(number).unwrap_or(u16::MAX);
    let reach = Reach { seat: Seat { flow, ..reach.seat }, ..reach };
    let answerer = if let Some((settings, keys)) = talk.dialogue.quic.as_ref().zip(keys.cloned()) {
        Answerer::open_quic(&reach, settings, keys)
    } else {
        let guests = Guests::of(reach.seat, talk.connections);
        Answerer::open(&reach, &talk.dialogue.settings, guests)
    };
    answerer.map(Some).map_err(|cause| cause.sentence())
}

/// Whether anything goes over QUIC.
fn needs_keys(flows: &[Flow], talks: &[Talked]) -> bool {
    let mut carriers = flows.iter().map(|flow| &flow.carrier);
    carriers.any(|carrier| matches!(carrier, Carrier::Quic(_)))
        || talks.iter().any(|talk| talk.dialogue.quic.is_some())
}

/// The flows of a cluster as the conductor draws them, too.
fn draw(wanted: &Preparation, most_blocks: usize) -> Result<Cast, Failure> {
    let scenario = scenario::told(&wanted.scenario)?;
    let Block::Cluster(cluster) = &scenario.run else {
        return Err(Failure::usage(anyhow!("an agent carries one cluster at a time")));
    };
    let until =
        Until { patience: wanted.stall_ns, cancel: Arc::<AtomicBool>::default(), most_blocks };
    expand::flows(cluster, wanted.sessions, wanted.seed, &Apart, &until)
}

const MOST_SESSIONS: u32 = 1024;
const LARGEST_DATAGRAM: Bytes = Bytes::new(65_507);
/// No wait is longer.
const LONGEST: Nanos = Nanos::from_secs(600);

#[cfg(test)]
mod tests {
    use btu_control::policy::LEAST_RATE;
    use serde_json::json;

    use super::super::RATE_OF_CONNECTION;
    use super::*;

    /// What is told to a word.
    fn told(service: &mut Box<dyn Service>, word: &Value) -> Value {
        service.hear(word).unwrap()
    }

    fn terms(flows: usize, rate: Option<BitRate>) -> Terms {
        let seat = Seat { secret: [1; 32], run: 1, attempt: 1, flow: 0 };
        Terms { address: [127, 0, 0, 1].into(), ports: None, seat, flows, rate }
    }

    fn prepare(job: u32, scenario: &str) -> Value {
        json!({ "word": "prepare", "job": job, "role": "active", "scenario": scenario,
            "sessions": 1, "seed": 7, "linger_ns": 1, "stall_ns": 1 })
    }

    #[test]
    fn a_rate_is_shared_by_the_connections_that_were_reserved() {
        let (mut service, said) =
            begin(&terms(2, Some(BitRate::new(256_000))), &Value::Null).unwrap();
        assert_eq!(said[RATE_OF_CONNECTION], LEAST_RATE.bit_per_second());
        let of = |path: &str, transport: &str| {
            let test = "type = \"burstq(blocksize=1 kB, period=10 ms, duration=100 ms)\"";
            format!(
                "[[cluster]]\n[[cluster.test]]\nname = \"one\"\npath = \"{path}\"\n{test}\n\
                 transport = \"{transport}\"\n"
            )
        };
        for (job, path, transport) in [(1, "active -> test", "udp"), (2, "test -> active", "tcp")] {
            let heard = told(&mut service, &prepare(job, &of(path, transport)));
            assert_eq!(heard["told"], "listening", "{path} {transport}: {heard}");
        }
        let too_little = begin(&terms(3, Some(BitRate::new(256_000))), &Value::Null).err().unwrap();
        let why =
            "policy: max_rate leaves 256kbit/s: 3 connections need 128kbit/s each; ask for fewer (";
        assert!(too_little.starts_with(why), "{too_little}");
    }

    #[test]
    fn whatever_carries_a_flow_is_held_to_its_part() {
        let text = "[[cluster]]\n[[cluster.test]]\npath = \"active -> test\"\ntransport = \"udp\"\n\
                    type = \"burstq(blocksize=1 kB, period=10 ms, duration=100 ms)\"\n\
                    [[cluster.test]]\npath = \"active -> test\"\n\
                    type = \"burstq(blocksize=1 kB, period=10 ms, duration=100 ms)\"\n";
        let wanted = serde_json::from_value(prepare(1, text)).unwrap();
        let Word::Prepare(wanted) = wanted else { panic!("{wanted:?}") };
        let mut cast = draw(&wanted, 1000).map_err(|cause| cause.cause).unwrap();
        let rate = BitRate::new(8_000_000);
        let flows = cast.flows.iter_mut().map(|named| &mut named.flow);
        hold(flows, &mut cast.talks, Some(rate));
        assert_eq!(cast.flows.len(), 2);
        for one in &cast.flows {
            assert_eq!(one.flow.held_to, Some(rate));
            if let Carrier::Tcp(settings) = &one.flow.carrier {
                assert_eq!(settings.pacing_byte_s, Some(1_000_000));
            }
        }
    }

    #[test]
    fn no_job_is_without_a_connection_that_was_reserved() {
        let (mut service, _) = begin(&terms(2, None), &Value::Null).unwrap();
        let respond = |job: u32| json!({ "word": "respond", "job": job });
        assert_eq!(told(&mut service, &respond(1))["told"], "listening");
        let refused = told(&mut service, &respond(2));
        assert_eq!(
            refused["reason"],
            "round trips need a connection, none is left of those reserved"
        );
        told(&mut service, &json!({ "word": "close", "job": 1 }));
        // A cluster between two others: nothing of it is here, and its schedule would be kept.
        let test = "type = \"burstq(blocksize=1 kB, period=1 ms, duration=1 s)\"";
        let scenario =
            format!("[[cluster]]\n[[cluster.test]]\npath = \"test -> passive\"\n{test}\n");
        let refused = told(&mut service, &prepare(3, &scenario));
        assert_eq!(refused["reason"], "0 connections asked for, 2 were reserved", "{refused}");
    }
}
