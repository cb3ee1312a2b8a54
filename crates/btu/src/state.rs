//! The state directory of a host: its identity, the peers of its agent, the agents that it knows.

use std::collections::BTreeMap;
use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;
use std::time::UNIX_EPOCH;

use anyhow::Context;
use anyhow::anyhow;
use btu_control::HostId;
use btu_control::Identity;
use btu_control::IdentityError;
use btu_control::agent::Account;
use btu_control::agent::Measured;
use btu_control::agent::Peer;
use btu_control::agent::Roster;
use btu_control::give_to_owner;
use btu_control::invite::OpenInvite;
use btu_control::invite::Rights;
use btu_control::state_directory;
use btu_core::words::several;
use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::agent::StateArgs;
use crate::exit::Failure;
use crate::measurement::place::timestamp;
use crate::output;

/// The directory.
#[derive(Clone, Debug)]
pub(crate) struct StateDir {
    path: PathBuf,
}

/// An agent that this host is paired with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownAgent {
    /// Who it is.
    pub(crate) id: String,
    /// Where it listens, `host:port`.
    pub(crate) address: String,
}

impl StateDir {
    /// The directory of these options, made if need be.
    pub(crate) fn open(args: &StateArgs) -> Result<Self, Failure> {
        let usual = || state_directory(|name| std::env::var_os(name));
        let path = args.state.clone().or_else(usual).ok_or_else(|| {
            Failure::environment(anyhow!(
                "no state directory: neither HOME nor BTU_STATE_DIR is set"
            ))
            .hint("name a directory with --state")
        })?;
        if args.state.is_some() && path.exists() && !path.is_dir() {
            return Err(no_directory(&path, "not a directory"));
        }
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        made.with_context(|| format!("create {}", path.display())).map_err(Failure::environment)?;
        Ok(Self { path })
    }

    /// The same for orders to an agent: one that `--state` names has to be there, or the order would go
    /// to nobody.
    pub(crate) fn of_agent(args: &StateArgs) -> Result<Self, Failure> {
        match args.state.as_deref().filter(|path| !path.exists()) {
            Some(path) => Err(no_directory(path, "no such directory")),
            None => Self::open(args),
        }
    }

    /// The same where it is there; nothing is made.
    pub(crate) fn existing(args: &StateArgs) -> Option<Self> {
        let usual = || state_directory(|name| std::env::var_os(name));
        let path = args.state.clone().or_else(usual)?;
        path.is_dir().then_some(Self { path })
    }

    /// The identity of this host.
    pub(crate) fn identity(&self) -> Result<Identity, Failure> {
        Identity::load_or_create(&self.path).map_err(|error| match error {
            IdentityError::Io { .. } | IdentityError::NoRandomness => Failure::environment(error),
            IdentityError::NotAKey { .. } | IdentityError::TooOpen { .. } => Failure::usage(error),
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where a test of this host keeps its result until it is sent.
    pub(crate) fn test_folder(&self) -> PathBuf {
        self.file("test")
    }

    /// Takes away what a test left behind.
    pub(crate) fn clear_test(&self) {
        drop(std::fs::remove_dir_all(self.test_folder()));
    }

    /// A file of the directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Who is known, and who was invited and may still come.
    pub(crate) fn roster(&self) -> Result<Roster, Failure> {
        let peers: Vec<Peer> = self.read(PEERS)?;
        let known = peers.into_iter().filter_map(|peer| Some((peer.id.parse().ok()?, peer)));
        Ok(Roster { peers: known.collect(), invites: self.invites()? })
    }

    /// Keeps a peer of the agent; a host that pairs again replaces what was known of it.
    pub(crate) fn keep_peer(&self, id: HostId, name: &str, rights: Rights) -> Result<(), Failure> {
        let added = timestamp();
        let peer = Peer { id: id.to_string(), name: name.to_owned(), rights, added };
        self.change(PEERS, |peers: &mut Vec<Peer>| {
            peers.retain(|other| other.id != peer.id);
            peers.push(peer);
        })
    }

    /// Invitations that still hold.
    pub(crate) fn invites(&self) -> Result<Vec<OpenInvite>, Failure> {
        let mut invites: Vec<OpenInvite> = self.read(INVITES)?;
        let now = unix_seconds();
        invites.retain(|open| open.expires_unix_s > now && open.tries > 0);
        Ok(invites)
    }

    /// Keeps one invitation more.
    pub(crate) fn invite(&self, fresh: OpenInvite) -> Result<(), Failure> {
        self.change(INVITES, |invites: &mut Vec<OpenInvite>| invites.push(fresh))
    }

    /// Keeps what is left of the invitations that the agent knew of; others stay as they are.
    pub(crate) fn keep_invites(
        &self,
        known: &[OpenInvite],
        left: &[OpenInvite],
    ) -> Result<(), Failure> {
        self.change(INVITES, |invites: &mut Vec<OpenInvite>| {
            let is_known = |one: &OpenInvite| known.iter().any(|other| other.secret == one.secret);
            invites.retain(|one| !is_known(one));
            invites.extend(left.iter().cloned());
        })
    }

    /// What the agent measured in earlier tests; a line that a crash cut off is none, wherever that was. A
    /// file that has grown long loses its older half.
    pub(crate) fn measured(&self) -> Result<Measured, Failure> {
        let path = self.file(MEASURED);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Measured::default()),
            Err(error) => return Err(refused("read", &path, error)),
        };
        let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
        let kept = &lines[lines.len().saturating_sub(MOST_ACCOUNTS)..];
        let mut measured = Measured::default();
        let accounts = kept.iter().filter_map(|line| serde_json::from_slice::<Account>(line).ok());
        accounts.for_each(|account| measured.keep(&account));
        if kept.len() < lines.len() {
            self.put(MEASURED, &kept.concat())?;
            output::message(&forgotten(&path, lines.len() - kept.len()));
        }
        Ok(measured)
    }

    /// Keeps the account of a run: what will be signed, also after a restart. An agent that goes on for
    /// months keeps no more than one that starts.
    pub(crate) fn keep_account(&self, account: &Account) -> Result<(), Failure> {
        let path = self.file(MEASURED);
        let line = serde_json::to_string(account).map_err(Failure::environment)?;
        let mut options = OpenOptions::new();
        let opened = options.create(true).append(true).read(true).mode(0o600).open(&path);
        let written = opened.and_then(|mut file| {
            let end = if ends_with_a_line(&file)? { "" } else { "\n" };
            file.write_all(format!("{end}{line}\n").as_bytes())?;
            file.metadata().map(|known| known.len())
        });
        let length = written.map_err(|error| refused("append to", &path, error))?;
        if length > LONGEST_MEASURED { self.measured().map(drop) } else { Ok(()) }
    }

    /// The agents that this host is paired with, by name.
    pub(crate) fn agents(&self) -> Result<BTreeMap<String, KnownAgent>, Failure> {
        self.read(AGENTS)
    }

    /// Keeps an agent under a name.
    pub(crate) fn keep_agent(&self, name: &str, agent: KnownAgent) -> Result<(), Failure> {
        self.change(AGENTS, |agents: &mut BTreeMap<String, KnownAgent>| {
            agents.insert(name.to_owned(), agent);
        })
    }

    /// A whole file of JSON; nothing where there is no file.
    pub(crate) fn read<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, Failure> {
        let path = self.file(name);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
            Err(error) => return Err(refused("read", &path, error)),
        };
        let read = serde_json::from_slice(&text);
        read.with_context(|| format!("read {}", path.display())).map_err(Failure::usage)
    }

    /// Writes a whole file, which its owner alone may read.
    pub(crate) fn write<T: Serialize>(&self, name: &str, content: &T) -> Result<(), Failure> {
        self.put(name, &serde_json::to_vec_pretty(content).map_err(Failure::environment)?)
    }

    /// A new file beside the old one, then a rename.
    fn put(&self, name: &str, text: &[u8]) -> Result<(), Failure> {
        let (path, fresh) =
            (self.file(name), self.file(&format!(".{name}.{}", std::process::id())));
        // One of a process that was killed, with the same number.
        drop(std::fs::remove_file(&fresh));
        let written = self
            .made(&fresh)
            .and_then(|mut file| file.write_all(text).and_then(|()| file.sync_data()))
            .and_then(|()| std::fs::rename(&fresh, &path));
        written.map_err(|error| refused("write", &path, error))
    }

    /// A file that was not there before, for whoever the directory belongs to: root invites for the agent
    /// of a service, which has another user's rights.
    fn made(&self, path: &Path) -> io::Result<File> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        give_to_owner(&file, &self.path)?;
        Ok(file)
    }

    /// Reads, changes and writes a file while nobody else does.
    fn change<T>(&self, name: &str, change: impl FnOnce(&mut T)) -> Result<(), Failure>
    where
        T: Serialize + DeserializeOwned + Default,
    {
        let path = self.file(LOCK);
        let lock = match self.made(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => File::open(&path),
            made => made,
        };
        let lock = lock.and_then(|file| file.lock().map(|()| file));
        let _lock = lock.map_err(|error| refused("lock", &path, error))?;
        let mut content: T = self.read(name)?;
        change(&mut content);
        self.write(name, &content)
    }
}

fn no_directory(path: &Path, what: &str) -> Failure {
    let cause = anyhow!("--state {}: {what}", path.display());
    Failure::usage(cause).hint("name the directory that btu agent was started with")
}

/// What an operator should know of accounts that made room.
fn forgotten(path: &Path, count: usize) -> String {
    let (path, runs) = (path.display(), several(count, "run"));
    format!(
        "{path}: the oldest accounts made room, of {runs}; the newest {MOST_ACCOUNTS} are kept, and a result that holds \
         older runs and is not signed yet stays self-signed"
    )
}

/// False where the last line is torn: the next one would be joined to it.
pub(super) fn ends_with_a_line(file: &File) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let mut last = [b'\n'];
    if length > 0 {
        file.read_exact_at(&mut last, length - 1)?;
    }
    Ok(last == [b'\n'])
}

fn refused(operation: &str, path: &Path, error: io::Error) -> Failure {
    Failure::environment(
        anyhow::Error::new(error).context(format!("{operation} {}", path.display())),
    )
}

/// Seconds since 1970.
pub(crate) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

const PEERS: &str = "peers.json";
const INVITES: &str = "invites.json";
const AGENTS: &str = "agents.json";
const MEASURED: &str = "measured.jsonl";
/// Some 10 MB, and the runs of dozens of official tests.
const MOST_ACCOUNTS: usize = 40_000;
/// Of the file: more than so many accounts with the longest names.
const LONGEST_MEASURED: u64 = 128 << 20;
const LOCK: &str = ".lock";

#[cfg(test)]
mod tests {
    use btu_control::secret::Hex32;
    use btu_core::manifest::RunLabel;
    use btu_core::role::Role;

    use super::*;

    fn account(peer: HostId, position: u32) -> Account {
        let run = RunLabel { pass: 1, position, attempt: 1, cell: "SEND/video/ä".to_owned() };
        let (peer, hash) = (peer.to_string(), Hex32::new([7; 32]));
        Account { peer, host: None, role: Role::Active, seed: 7, run, hash }
    }

    fn expected(accounts: &[Account]) -> Measured {
        let mut all = Measured::default();
        for account in accounts {
            all.keep(account);
        }
        all
    }

    #[test]
    fn an_account_that_is_torn_within_a_letter_costs_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir { path: folder.path().to_owned() };
        let peer = Identity::ephemeral().unwrap().id();
        let [first, second, third] = [1, 2, 3].map(|position| account(peer, position));
        state.keep_account(&first).unwrap();
        state.keep_account(&second).unwrap();
        let path = state.file(MEASURED);
        let whole = std::fs::read(&path).unwrap();
        let letter = whole.iter().rposition(|byte| *byte == 0xc3).unwrap();
        std::fs::write(&path, &whole[..=letter]).unwrap();
        assert_eq!(state.measured().unwrap(), expected(std::slice::from_ref(&first)));
        state.keep_account(&third).unwrap();
        assert_eq!(state.measured().unwrap(), expected(&[first, third]));
    }

    #[test]
    fn accounts_that_are_too_many_make_room_without_a_moment_in_which_none_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateDir { path: folder.path().to_owned() };
        let peer = Identity::ephemeral().unwrap().id();
        let line = format!("{}\n", serde_json::to_string(&account(peer, 1)).unwrap());
        let path = state.file(MEASURED);
        std::fs::write(&path, line.repeat(MOST_ACCOUNTS + 1)).unwrap();
        // What reads it meanwhile has the old file, whole.
        let old = File::open(&path).unwrap();
        state.measured().unwrap();
        let length = |file: &File| file.metadata().unwrap().len();
        let each = line.len() as u64;
        assert_eq!(length(&old), each * (MOST_ACCOUNTS as u64 + 1));
        assert_eq!(length(&File::open(&path).unwrap()), each * MOST_ACCOUNTS as u64);
        assert!(
            forgotten(&path, 1)
                .contains("measured.jsonl: the oldest accounts made room, of 1 run; ")
        );
    }
}
