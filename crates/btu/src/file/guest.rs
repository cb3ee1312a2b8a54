//! A server that somebody else runs: found, furnished with what the clients need, and left as it was.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::net::ToSocketAddrs;
use std::net::UdpSocket;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use anyhow::anyhow;
use btu_control::JournalDir;
use btu_core::disclosure::Fact;
use btu_core::disclosure::HostFacts;
use btu_core::file::leftovers;
use btu_core::file::plan::Plan;
use btu_core::file::sample::Line;
use btu_core::file::sample::Operation;
use btu_core::file::target::Target;
use btu_core::units::Bytes;
use btu_engine::EngineError;
use btu_engine::file::by_name;
use btu_engine::file::site;
use btu_engine::file::site::Abroad;
use btu_engine::file::site::Housekeeping;
use btu_engine::file::site::Lodging;
use btu_engine::file::site::Login;
use btu_engine::file::site::Site;

use crate::exit::Failure;
use crate::input;
use crate::measurement::fresh_seed;
use crate::measurement::journal::journal_failure;
use crate::output;

/// This host at a server of others.
pub(super) struct Guest {
    pub(super) lodging: Lodging,
    pub(super) greeting: String,
    /// The size of the file that was named.
    pub(super) object: Option<Bytes>,
    protocol: &'static dyn Abroad,
    patience: Duration,
    /// What is in the journal as made by this part of the measurement.
    made: Vec<Line>,
}

/// How its clients use servers of others, of the protocol that a URL names.
pub(super) fn protocol(target: &Target) -> Result<&'static dyn Abroad, Failure> {
    let abroad = by_name(&target.scheme).and_then(btu_engine::file::FileProtocol::abroad);
    let cause =
        || anyhow!("--target {target}: {} has no clients for servers of others", target.scheme);
    abroad.ok_or_else(|| Failure::usage(cause()).hint("write ftp://HOST/PATH or http://HOST/PATH"))
}

impl Guest {
    /// Finds the server and hears what it says of itself.
    pub(super) fn arrive(
        plan: &Plan,
        target: &Target,
        password: Option<&Path>,
    ) -> Result<Self, Failure> {
        let protocol = protocol(target)?;
        let login = login(target, password)?;
        let patience = Duration::from(plan.patience_ns);
        let site = |address| Site {
            address,
            host: target.host.clone(),
            login: login.clone(),
            directories: target.directories.clone(),
        };
        let sites = addresses(target, protocol.port())?.into_iter().map(site);
        let (site, mut house) = first_open(protocol, sites, patience)?;
        let measured =
            |name: &String| house.size(name).map_err(|cause| without_object(name, cause));
        let object = plan.object.as_ref().map(measured).transpose()?;
        let greeting = house.greeting();
        house.leave().map_err(Failure::environment)?;
        let (site, directory) = (Arc::new(site), fresh_name());
        let lodging = Lodging { site, directory, object: plan.object.clone() };
        Ok(Self { lodging, greeting, object, protocol, patience, made: Vec::new() })
    }

    /// What is disclosed of the server: what it says, and where it is.
    pub(super) fn facts(&self) -> HostFacts {
        let Site { address, host, .. } = &*self.lodging.site;
        let facts = [
            ("address", Fact::known(address.ip().to_canonical().to_string())),
            ("greeting", Fact::known(self.greeting.clone())),
            ("host_name", Fact::known(host.clone())),
            // An address of others cannot be bound.
            ("on_this_host", Fact::known(UdpSocket::bind((address.ip(), 0)).is_ok())),
            ("port", Fact::known(address.port())),
        ];
        let facts = facts.map(|(name, fact)| (name.to_owned(), fact)).into();
        BTreeMap::from([("server".to_owned(), facts)])
    }

    /// Removes what an earlier part of the measurement left, and makes what the clients need. All of it is in the journal
    /// before it is there. Where the server refuses, nothing stays.
    pub(super) fn furnish(
        &mut self,
        plan: &Plan,
        journal: &mut JournalDir,
        lines: &[Line],
    ) -> Result<(), Failure> {
        let outcome = self.furnished(plan, journal, lines);
        if outcome.is_err() {
            self.leave(journal)?;
        }
        outcome
    }

    fn furnished(
        &mut self,
        plan: &Plan,
        journal: &mut JournalDir,
        lines: &[Line],
    ) -> Result<(), Failure> {
        let left = leftovers(lines);
        let (retrieved, stored) = self.needs(plan);
        if left.is_empty() && retrieved.is_empty() && stored.is_empty() {
            return Ok(());
        }
        let mut house = self.house().map_err(Failure::environment)?;
        self.clear(&mut *house, &left, journal)?;
        if !(retrieved.is_empty() && stored.is_empty()) {
            let directory = self.lodging.directory.clone();
            self.note(journal, format!("{directory}/"))?;
            house.make_directory(&directory).map_err(closed)?;
        }
        for name in stored {
            self.note(journal, name)?;
        }
        for size in retrieved {
            let name = self.lodging.retrieved(size);
            self.note(journal, name.clone())?;
            site::store_and_prove(&mut *house, &name, size).map_err(closed)?;
        }
        house.leave().map_err(Failure::environment)
    }

    /// Removes what was made. Where that fails, the user is told what may be left.
    pub(super) fn leave(&self, journal: &mut JournalDir) -> Result<(), Failure> {
        let left = leftovers(&self.made);
        if left.is_empty() {
            return Ok(());
        }
        match self.house() {
            Ok(mut house) => self.clear(&mut *house, &left, journal),
            Err(cause) => {
                self.tell_of(&left, &cause);
                Ok(())
            }
        }
    }

    /// Before it is there.
    fn note(&mut self, journal: &mut JournalDir, name: String) -> Result<(), Failure> {
        let line = Line::FileMade { name };
        journal.append(&line).map_err(journal_failure)?;
        self.made.push(line);
        Ok(())
    }

    fn house(&self) -> Result<Box<dyn Housekeeping>, EngineError> {
        self.protocol.arrive(&self.lodging.site, self.patience)
    }

    /// Removes these in their order. What is in a directory need not have been made; the directory is gone or it is told.
    fn clear(
        &self,
        house: &mut dyn Housekeeping,
        left: &[String],
        journal: &mut JournalDir,
    ) -> Result<(), Failure> {
        for name in left {
            let Some(directory) = name.strip_suffix('/') else {
                let _ = house.remove(name);
                continue;
            };
            match remove_directory(house, directory) {
                Ok(()) => journal
                    .append(&Line::FileRemoved { name: name.clone() })
                    .map_err(journal_failure)?,
                Err(cause) => self.tell_of(left, &cause),
            }
        }
        Ok(())
    }

    fn tell_of(&self, left: &[String], cause: &EngineError) {
        let (host, names) = (&self.lodging.site.host, left.join(", "));
        let cause = cause.sentence();
        output::message(&format!(
            "btu: warning: {names} may be left at {host}: {cause}; remove what is there"
        ));
    }

    /// The sizes of files that are retrieved and ours, and the names of those that clients will store.
    fn needs(&self, plan: &Plan) -> (BTreeSet<Bytes>, Vec<String>) {
        let trials = plan.trials();
        let of = |operation| trials.iter().filter(move |trial| trial.operation == operation);
        let sizes = of(Operation::Get).map(|trial| trial.size_bytes);
        let clients = of(Operation::Put).map(|trial| trial.clients).max().unwrap_or(0);
        let stored = (1..=clients).map(|client| self.lodging.stored(client)).collect();
        (sizes.filter(|_| plan.object.is_none()).collect(), stored)
    }
}

/// One that was journalled and never made is made and removed: not every protocol can say whether there is one.
fn remove_directory(house: &mut dyn Housekeeping, name: &str) -> Result<(), EngineError> {
    let Err(cause) = house.remove_directory(name) else { return Ok(()) };
    if house.make_directory(name).is_err() {
        return Err(cause);
    }
    house.remove_directory(name)
}

/// The first address that a server answers at; of those that do not, the last says why.
fn first_open(
    protocol: &dyn Abroad,
    sites: impl Iterator<Item = Site>,
    patience: Duration,
) -> Result<(Site, Box<dyn Housekeeping>), Failure> {
    let mut last = None;
    for site in sites {
        match protocol.arrive(&site, patience) {
            Ok(house) => return Ok((site, house)),
            Err(cause) => last = Some(cause),
        }
    }
    Err(match last {
        Some(cause) => Failure::environment(cause).hint(AT_THE_DOOR),
        None => Failure::environment(anyhow!("the target has no address")).hint(AT_THE_DOOR),
    })
}

fn addresses(target: &Target, port: u16) -> Result<Vec<SocketAddr>, Failure> {
    let place = (target.host.as_str(), target.port.unwrap_or(port));
    let found = place.to_socket_addrs().with_context(|| format!("find host {}", target.host));
    Ok(found.map_err(Failure::environment)?.collect())
}

/// As whom to come: a user proves itself by what only a file or the environment says.
fn login(target: &Target, file: Option<&Path>) -> Result<Option<Login>, Failure> {
    let Some(user) = target.user.clone() else {
        let cause = || anyhow!("--password-file: the target names no user");
        let refused = || Failure::usage(cause()).hint("write PROTOCOL://USER@HOST/PATH");
        return if file.is_some() { Err(refused()) } else { Ok(None) };
    };
    let password = match file {
        Some(file) => {
            let read = input::text(file).with_context(|| format!("read {}", file.display()));
            Some(read.map_err(Failure::usage)?)
        }
        None => std::env::var(PASSWORD).ok(),
    };
    let cause = || anyhow!("the target names the user {user}, and nothing its password");
    let hint = || format!("name a file with it: --password-file FILE, or set {PASSWORD}");
    let Some(password) = password else { return Err(Failure::usage(cause()).hint(hint())) };
    let password = password.lines().next().unwrap_or_default().to_owned();
    Ok(Some(Login { user, password }))
}

fn without_object(name: &str, cause: EngineError) -> Failure {
    let hint = format!("--object {name}: name a file that is there, from the directory of the URL");
    Failure::environment(cause).hint(hint)
}

fn closed(cause: EngineError) -> Failure {
    Failure::environment(cause).hint(CLOSED)
}

fn fresh_name() -> String {
    let hash = blake3::hash(&fresh_seed().to_le_bytes()).to_hex();
    format!("btu-{}", &hash[..12])
}

/// The environment of the process is read by its user alone, other than the list of processes.
const PASSWORD: &str = "BTU_TARGET_PASSWORD";
const AT_THE_DOOR: &str = "is it the right host, port, user and directory?";
const CLOSED: &str = "what is written goes into a directory that is made for it, retrieved and removed again: name one where \
     that is allowed, PROTOCOL://HOST/PATH; of a server that only gives, name a file: --object PATH";
