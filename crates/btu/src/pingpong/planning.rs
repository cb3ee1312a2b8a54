//! From the options of `btu pingpong` to the plan of what is measured.

use std::collections::BTreeSet;

use anyhow::Context;
use anyhow::anyhow;
use btu_core::journal::file;
use btu_core::pingpong::configuration::Cache;
use btu_core::pingpong::configuration::Configuration;
use btu_core::pingpong::configuration::Mode;
use btu_core::pingpong::configuration::Placement;
use btu_core::pingpong::configuration::Wait;
use btu_core::pingpong::configuration::Writes;
use btu_core::pingpong::nature::Nature;
use btu_core::pingpong::nature::Setting;
use btu_core::pingpong::plan::ChasmSearch;
use btu_core::pingpong::plan::Path;
use btu_core::pingpong::plan::Plan;
use btu_core::pingpong::plan::SizeChoice;
use btu_core::pingpong::sizes::Sizes;
use btu_core::pingpong::sizes::Step;
use btu_core::units::Bytes;
use btu_engine::pingpong::Plant;
use btu_engine::pingpong::transport;
use btu_engine::pingpong::transport::TRANSPORTS;
use btu_engine::pingpong::transport::Transport;

use super::choices::Offsets;
use super::choices::PlantWord;
use super::options::PingPongArgs;
use super::options::WhatArgs;
use crate::conductor::shown;
use crate::exit::Failure;
use crate::input;

/// A transport that was asked for, and whether it may be missing.
#[derive(Clone, Copy, Debug)]
struct Asked {
    transport: &'static dyn Transport,
    by_name: bool,
}

impl PingPongArgs {
    /// The plan of these options; nothing but a plan's file is read.
    pub(super) fn plan(&self) -> Result<Plan, Failure> {
        let plan = match (&self.result.plan, &self.result.resume) {
            (Some(file), _) => stored(file)?,
            (None, Some(directory)) => stored(&directory.join(file::PLAN))?,
            (None, None) => {
                let path = if self.peer.is_some() { Path::Peer } else { self.what.on.into() };
                self.what.plan(path)?
            }
        };
        self.checked_as_asked(&plan)?;
        self.exported_as_asked(&plan)?;
        planted_as_asked(&plan)?;
        match (&self.peer, plan.path) {
            (None, Path::Peer) => {
                let cause = anyhow!("the plan is between paired hosts: no --peer was given");
                Err(Failure::usage(cause).hint("name the agent: --peer NAME"))
            }
            (Some(name), Path::Direct | Path::Loopback) => {
                let cause = anyhow!("--peer {}: this plan is of one machine", shown(name));
                Err(Failure::usage(cause).hint("leave --peer out"))
            }
            _ => Ok(plan),
        }
    }

    /// Where every byte is checked nothing is timed: another exchange would be left out without a word.
    fn checked_as_asked(&self, plan: &Plan) -> Result<(), Failure> {
        let mut left = plan.configurations.iter().filter_map(Configuration::left_out_by_verify);
        let Some(left) = left.next() else { return Ok(()) };
        let file = self.result.plan.as_ref().or(self.result.resume.as_ref());
        let place = file.map_or_else(String::new, |file| format!("{}: ", file.display()));
        let cause = anyhow!("{place}verify checks ping-pong with one write; leave {left} out");
        Err(Failure::usage(cause))
    }

    /// `NetPIPE` writes times of blocks there and back; of two ways at once it has the rate of both, and its
    /// readers would take ours for half of that.
    fn exported_as_asked(&self, plan: &Plan) -> Result<(), Failure> {
        let Some(file) = &self.export else { return Ok(()) };
        let unfit = plan.configurations.iter().find_map(|one| match (one.verify, one.mode) {
            (true, _) => Some("--verify times nothing".to_owned()),
            (false, Mode::PingPong) => None,
            (false, mode) => Some(format!("an np.out holds ping-pong, not mode {mode}")),
        });
        let Some(why) = unfit else { return Ok(()) };
        let cause = anyhow!("--export {}: {why}", file.display());
        Err(Failure::usage(cause).hint("leave --export out; result.json has every figure"))
    }

    /// True where configurations were not named one by one, so that some may be missing.
    pub(super) fn takes_what_is_there(&self) -> bool {
        let is_stored = self.result.plan.is_some() || self.result.resume.is_some();
        is_stored
            || self.what.table
            || self.what.asked().is_ok_and(|asked| asked.iter().all(|one| !one.by_name))
    }
}

impl WhatArgs {
    fn plan(&self, path: Path) -> Result<Plan, Failure> {
        let configurations = self.configurations(path)?;
        let (near_cpus, far_cpus) = self.cpus.clone().unzip();
        let timed = !self.verify;
        if self.resolution.is_empty() {
            let cause = anyhow!("--resolution {}: write 1B or more", self.resolution);
            return Err(Failure::usage(cause));
        }
        let search = ChasmSearch { time_ns: self.chasm_time, resolution_bytes: self.resolution };
        let plan = Plan {
            path,
            rounds: self.rounds.unwrap_or(if timed { ROUNDS } else { 1 }),
            connections: self.connections,
            point_time_ns: self.point_time,
            block_time_ns: self.block_time,
            patience_ns: self.patience,
            reset: self.reset,
            order: self.order.into(),
            statistic: self.statistic,
            reference: timed && self.reference.is_on() && !self.table,
            near_cpus,
            far_cpus,
            plant: self.plant.map(PlantWord::name),
            base: self.base.clone(),
            chasms: (timed && self.chasms.is_on() && !self.table).then_some(search),
            sizes: self.size_choice()?,
            ..Plan::new(configurations, self.seed.unwrap_or_else(crate::measurement::fresh_seed))
        };
        known_base(&plan)?;
        match plan.no_time() {
            Some((name, cause)) => {
                Err(Failure::usage(anyhow!("--{} {cause}", name.replace('_', "-"))))
            }
            None => Ok(plan),
        }
    }

    fn size_choice(&self) -> Result<SizeChoice, Failure> {
        if self.table {
            return Ok(SizeChoice::Listed(TABLE_SIZES.to_vec()));
        }
        if !self.sizes.is_empty() {
            let empty = self.sizes.iter().any(|size| size.is_empty());
            let cause = anyhow!("--sizes: the smallest block is 1B");
            return if empty {
                Err(Failure::usage(cause))
            } else {
                Ok(SizeChoice::Listed(self.sizes.clone()))
            };
        }
        let grid = if self.powers_of_two { Step::Doubling } else { Step::NetPipe };
        let step = self.increment.map_or(grid, Step::Every);
        Sizes::new(self.start, self.end, self.perturbation, step)
            .map(SizeChoice::Grid)
            .map_err(Failure::usage)
    }

    /// Transports by ways to wait by placements by offsets.
    fn configurations(&self, path: Path) -> Result<Vec<Configuration>, Failure> {
        let mut all = Vec::new();
        for asked in self.asked()? {
            self.refuse_two_writes(asked)?;
            for (wait, placement) in self.crossed(&self.waits(asked)?, path) {
                for offsets in self.offsets() {
                    let one = Configuration { wait, placement, ..self.common(asked, offsets) };
                    within_range(&one)?;
                    let nature = asked.transport.nature(&one);
                    all.push(applicable(Configuration { nature, ..one }, asked)?);
                }
            }
        }
        Ok(all)
    }

    /// Where messages are kept apart, two writes would be two of them.
    fn refuse_two_writes(&self, asked: Asked) -> Result<(), Failure> {
        let is_bounded = asked.transport.properties().bounded;
        if self.header.is_none() || !is_bounded || !asked.by_name {
            return Ok(());
        }
        let name = asked.transport.name();
        Err(Failure::usage(anyhow!("--header: two writes over {name} would be two messages")))
    }

    fn asked(&self) -> Result<Vec<Asked>, Failure> {
        let all =
            || TRANSPORTS.iter().map(|transport| Asked { transport: *transport, by_name: false });
        let mut asked: Vec<Asked> = Vec::new();
        for name in &self.transports {
            match transport::by_name(name) {
                Some(transport) => asked.push(Asked { transport, by_name: true }),
                None if name == "all" => asked.extend(all()),
                None => return Err(unknown(name)),
            }
        }
        match (asked.is_empty(), self.table) {
            (true, true) => asked.extend(all()),
            (true, false) => asked.extend(
                transport::by_name("tcp").map(|transport| Asked { transport, by_name: true }),
            ),
            (false, _) => {}
        }
        Ok(without_repeats(asked))
    }

    /// The ways to wait that the transport has; one that was asked for by name and is not there is
    /// an error where the transport was named too.
    fn waits(&self, asked: Asked) -> Result<Vec<Wait>, Failure> {
        let legal = asked.transport.properties().waits;
        let wanted: Vec<Wait> = if self.table {
            vec![Wait::Block, Wait::Spin, Wait::BusyPoll]
        } else {
            self.wait.iter().map(|word| (*word).into()).collect()
        };
        let missing = wanted.iter().find(|wait| !legal.contains(wait));
        if let (Some(wait), true, false) = (missing, asked.by_name, self.table) {
            let words: Vec<String> = legal.iter().map(ToString::to_string).collect();
            let name = asked.transport.name();
            let cause = anyhow!("{name} has no wait \"{wait}\"; write {}", words.join(", "));
            return Err(Failure::usage(cause));
        }
        Ok(wanted.into_iter().filter(|wait| legal.contains(wait)).collect())
    }

    /// Ways to wait by placements. Two ends that spin on one CPU would measure the scheduler: the table has
    /// no such row.
    fn crossed(&self, waits: &[Wait], path: Path) -> Vec<(Wait, Placement)> {
        let named: Vec<Placement> = self.placement.iter().map(|word| (*word).into()).collect();
        let placements = match (named.is_empty(), self.table && path != Path::Peer) {
            (false, _) => named,
            (true, true) => vec![Placement::Split, Placement::Same],
            (true, false) => vec![Placement::Split],
        };
        let all = waits.iter().flat_map(|wait| placements.iter().map(|placed| (*wait, *placed)));
        all.filter(|one| !self.table || *one != (Wait::Spin, Placement::Same)).collect()
    }

    fn offsets(&self) -> Vec<Offsets> {
        let aligned = Offsets { send: Bytes::ZERO, receive: Bytes::ZERO };
        if self.offsets.is_empty() { vec![aligned] } else { self.offsets.clone() }
    }

    /// A configuration but for what it is crossed with.
    fn common(&self, asked: Asked, offsets: Offsets) -> Configuration {
        let transport = asked.transport;
        let header = self.header.filter(|_| !transport.properties().bounded);
        Configuration {
            mode: self.mode.into(),
            writes: header.map_or(Writes::One, Writes::HeaderFirst),
            send_offset_bytes: offsets.send,
            receive_offset_bytes: offsets.receive,
            cache: if self.cold { Cache::Cold } else { Cache::Warm },
            nodelay: self.nodelay.into(),
            quick_ack: self.quick_ack.into(),
            send_buffer_bytes: self.send_buffer,
            receive_buffer_bytes: self.receive_buffer,
            max_segment_bytes: self.mss,
            offload: self.offload.into(),
            mtu_bytes: self.mtu,
            verify: self.verify,
            ..Configuration::new(transport.name())
        }
    }
}

/// Sizes that a socket takes as they are.
fn within_range(configuration: &Configuration) -> Result<(), Failure> {
    let Some(beyond) = configuration.out_of_range() else { return Ok(()) };
    let option = match beyond.key {
        "max_segment_bytes" => "--mss",
        "mtu_bytes" => "--mtu",
        "receive_buffer_bytes" => "--receive-buffer",
        "send_buffer_bytes" => "--send-buffer",
        _ => "--offset",
    };
    Err(Failure::usage(anyhow!("{option} {beyond}")))
}

/// What the transport does not have is an error where it was named, and left out of those of `all`.
fn applicable(configuration: Configuration, asked: Asked) -> Result<Configuration, Failure> {
    let lacking = configuration.not_applicable();
    if lacking.is_empty() || !asked.by_name {
        return Ok(configuration.applicable());
    }
    let options: Vec<&str> = lacking.iter().map(|setting| option_of(*setting)).collect();
    let settings: Vec<&str> = lacking.iter().map(|setting| setting.name()).collect();
    let (name, lacking) = (asked.transport.name(), settings.join(", "));
    let cause = anyhow!("{name} has no {lacking}; leave {} out", options.join(", "));
    Err(Failure::usage(cause))
}

/// The option that a setting is asked for with.
fn option_of(setting: Setting) -> &'static str {
    match setting {
        Setting::MaxSegment => "--mss",
        Setting::Mtu => "--mtu",
        Setting::Nodelay => "--nodelay",
        Setting::Offload => "--offload",
        Setting::QuickAck => "--quick-ack",
        Setting::ReceiveBuffer => "--receive-buffer",
        Setting::SendBuffer => "--send-buffer",
    }
}

/// One that was named twice is measured twice, as a control; `all` adds those that were not named.
fn without_repeats(asked: Vec<Asked>) -> Vec<Asked> {
    let named: Vec<&str> =
        asked.iter().filter(|one| one.by_name).map(|one| one.transport.name()).collect();
    let mut all: Vec<&str> = Vec::new();
    let is_wanted = |one: &Asked| {
        let name = one.transport.name();
        let is_new = !named.contains(&name) && !all.contains(&name);
        all.extend(Some(name).filter(|_| !one.by_name));
        one.by_name || is_new
    };
    asked.into_iter().filter(is_wanted).collect()
}

/// A fault that nobody could notice is refused: wrong contents are seen by a check of contents alone, and
/// another host answers wrongly in nothing else; what times are kept of is the first round.
fn planted_as_asked(plan: &Plan) -> Result<(), Failure> {
    let Some(planted) = plant(plan)?.filter(|_| !plan.verifies()) else { return Ok(()) };
    let name = plan.plant.as_deref().unwrap_or_default();
    let refuse = |cause: String| Err(Failure::usage(anyhow!(cause)));
    match plan.path {
        Path::Peer => refuse(format!("--plant {name}: a paired host does it with --verify only")),
        _ if !planted.shows_unchecked() => refuse(format!(
            "--plant {name}: only --verify sees contents; add it, or write close, short, silence"
        )),
        _ if plan.rounds < 2 => refuse(format!(
            "--plant {name} --rounds {}: the first round is left whole; write --rounds 2 or more, \
             or add --verify",
            plan.rounds
        )),
        _ => Ok(()),
    }
}

/// The fault that a plan asks for.
pub(super) fn plant(plan: &Plan) -> Result<Option<Plant>, Failure> {
    let Some(name) = &plan.plant else { return Ok(None) };
    let word = <PlantWord as clap::ValueEnum>::from_str(name, false);
    let legal = <PlantWord as clap::ValueEnum>::value_variants().iter().map(|word| word.name());
    let legal = legal.collect::<Vec<_>>().join(", ");
    let unknown = |_| Failure::usage(anyhow!("plant = \"{name}\": no such fault; write {legal}"));
    word.map(|word| Some(word.into())).map_err(unknown)
}

/// The plan of a file.
fn stored(file: &std::path::Path) -> Result<Plan, Failure> {
    let name = file.display().to_string();
    let text =
        input::text(file).with_context(|| format!("read plan {name}")).map_err(Failure::usage)?;
    let plan = Plan::stored(&name, &text).map_err(|cause| {
        Failure::usage(cause).hint("a plan of this verb says verb = \"pingpong\"; see --dry-run")
    })?;
    Ok(plan.with_natures(nature))
}

/// What the transport of a configuration is in this build.
fn nature(one: &Configuration) -> Nature {
    let found = transport::by_name(&one.transport);
    found.map_or_else(Nature::default, |transport| transport.nature(one))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = TRANSPORTS.iter().map(|transport| transport.name()).collect();
    let cause = anyhow!("unknown transport \"{name}\"; write all, {}", names.join(", "));
    Failure::usage(cause)
}

/// A base that nothing is measured of would silently be another one.
fn known_base(plan: &Plan) -> Result<(), Failure> {
    let Some(base) = &plan.base else { return Ok(()) };
    if plan.configurations.iter().any(|configuration| configuration.transport == *base) {
        return Ok(());
    }
    let measured = plan.configurations.iter().map(|configuration| &*configuration.transport);
    let measured: BTreeSet<&str> = measured.collect();
    let measured = measured.into_iter().collect::<Vec<_>>().join(", ");
    let cause =
        anyhow!("--base {base}: not among the transports that are measured; write {measured}");
    Err(Failure::usage(cause))
}

/// How often each point is visited where nothing else is asked for.
const ROUNDS: u32 = 10;
/// 64 KiB for those that carry it, 60,000 B for datagrams.
const TABLE_SIZES: [Bytes; 4] =
    [Bytes::new(8), Bytes::new(1_400), Bytes::new(60_000), Bytes::new(64 << 10)];
