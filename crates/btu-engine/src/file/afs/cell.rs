//! A cell that is up: the thread that its servers belong to, and the files that it has.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::Ipv4Addr;
use std::net::SocketAddr;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::Weak;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

use btu_core::units::Bytes;
use btu_sys::disk;
use btu_sys::namespace::MountNs;
use btu_sys::netlink::Netlink;

use super::layout::Layout;
use super::servers::Servers;
use super::volume;
use super::volume::Kept;
use super::volume::Mounted;
use crate::error::EngineError;
use crate::file::Account;
use crate::file::Errand;
use crate::file::Offer;
use crate::file::Served;
use crate::file::scratch::Kind;
use crate::file::scratch::Scratch;
use crate::file::site::Repeated;
use crate::place::Place;

/// A cell. Dropped, its processes end and its directories are removed.
#[derive(Debug)]
pub(super) struct Cell {
    house: Arc<House>,
    /// Its end is that of the servers.
    stays: Option<Sender<()>>,
    keeper: Option<JoinHandle<Result<(), EngineError>>>,
    _scratch: Scratch,
}

/// What clients need of a cell.
#[derive(Debug)]
pub(super) struct House {
    address: SocketAddr,
    pub(super) mounts: MountNs,
    place: Place,
    layout: Layout,
    /// The volume of the files.
    volume: String,
    /// From which files are taken that are asked for by name.
    directory: Option<PathBuf>,
    kept: Mutex<BTreeMap<String, Kept>>,
    account: Account,
    moved: AtomicU64,
}

/// The namespace and the volume of a cell that has come up.
type Up = (MountNs, String);

/// The cell that has this address.
pub(super) fn at(address: SocketAddr) -> Result<Arc<House>, EngineError> {
    let houses = registered();
    let found = houses.iter().rev().filter_map(Weak::upgrade).find(|one| one.address == address);
    found.ok_or_else(|| EngineError::Refused(format!("afs: no cell at {address}")))
}

impl Cell {
    pub(super) fn bring_up(offer: &Offer, address: Ipv4Addr) -> Result<Self, EngineError> {
        let above = offer.directory.as_deref().and_then(Path::parent);
        let scratch = Scratch::below(above.unwrap_or(Path::new(DIRECTORY)), KIND)?;
        let layout = Layout(scratch.path().to_owned());
        layout.make(address)?;
        let account = Account::without_calls(UNCOUNTED);
        let (tell, told) = mpsc::channel();
        let (stays, may_end) = mpsc::channel();
        let keeper = offer.place.spawn("afs-cell", {
            let (layout, account) = (layout.clone(), account.clone());
            move || {
                open_loopback()?;
                let mounts = MountNs::enter_new(&layout.root())?;
                let (_servers, volume) = Servers::bring_up(&layout, &account, address)?;
                let _mounted = Mounted::of(&layout)?;
                keep_up((mounts, volume), &tell, &may_end);
                Ok(())
            }
        })?;
        let Ok((mounts, volume)) = told.recv() else { return Err(why_not(keeper)) };
        let house = Arc::new(House {
            address: SocketAddr::new(address.into(), FILE_SERVER_PORT),
            mounts,
            place: offer.place.clone(),
            layout,
            volume,
            directory: offer.directory.clone(),
            kept: Mutex::default(),
            account,
            moved: AtomicU64::new(0),
        });
        registered().push(Arc::downgrade(&house));
        Ok(Self { house, stays: Some(stays), keeper: Some(keeper), _scratch: scratch })
    }
}

impl Served for Cell {
    fn address(&self) -> SocketAddr {
        self.house.address
    }

    fn account(&self) -> &Account {
        &self.house.account
    }

    fn moved(&self) -> Bytes {
        Bytes::new(self.house.moved.load(Relaxed))
    }

    fn copy_of(&self, name: &str) -> Option<PathBuf> {
        self.house.kept().get(name).map(|kept| kept.path.clone())
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        drop(self.stays.take());
        // A keeper that panicked has said so on its own.
        let _ = self.keeper.take().map(JoinHandle::join);
        registered().retain(|house| house.strong_count() > 0);
    }
}

impl House {
    /// The FIDs of the files of an errand, in turn; what the cell does not have yet is written first.
    pub(super) fn fids(&self, errand: &Errand) -> Result<Vec<String>, EngineError> {
        if errand.files.is_empty() {
            let name = format!("made-up-{}", errand.size.count());
            let made_up = Repeated::new().take(errand.size.count());
            return Ok(vec![self.fid(&name, || Ok(Box::new(made_up)))?]);
        }
        let directory = self.directory.as_deref();
        let directory = directory.ok_or_else(|| EngineError::Refused(NO_DIRECTORY.to_owned()))?;
        let fid =
            |name: &String| self.fid(name, || Ok(Box::new(disk::file_within(directory, name)?)));
        errand.files.iter().map(fid).collect()
    }

    /// So many bytes of a file were read.
    pub(super) fn count(&self, count: u64) {
        self.moved.fetch_add(count, Relaxed);
    }

    /// Clients of the same file wait for the one that writes it.
    fn fid(
        &self,
        name: &str,
        open: impl FnOnce() -> Result<Box<dyn Read + Send>, EngineError>,
    ) -> Result<String, EngineError> {
        let mut kept = self.kept();
        if let Some(kept) = kept.get(name) {
            return Ok(kept.fid.clone());
        }
        let new = self.write(name, open()?)?;
        let fid = new.fid.clone();
        kept.insert(name.to_owned(), new);
        Ok(fid)
    }

    /// In a thread that goes where the cell is.
    fn write(&self, name: &str, mut source: Box<dyn Read + Send>) -> Result<Kept, EngineError> {
        let (place, name) = (&self.place, name.to_owned());
        std::thread::scope(|scope| {
            let work = || {
                place.enter()?;
                self.mounts.enter()?;
                volume::keep(&self.layout, &self.volume, &name, &mut source)
            };
            let writing = crate::threads::start_in(scope, "afs-write", work)?;
            writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Servers of a cell talk to each other by the address of their host, which takes the loopback device.
fn open_loopback() -> Result<(), EngineError> {
    let mut netlink = Netlink::here()?;
    let loopback = netlink.link("lo")?.index;
    Ok(netlink.set_up(loopback)?)
}

/// Tells that a cell is up, and waits until nobody wants it any more.
fn keep_up(up: Up, tell: &Sender<Up>, may_end: &Receiver<()>) {
    if tell.send(up).is_ok() {
        let _ = may_end.recv();
    }
}

/// Why a keeper ended before its cell was up.
fn why_not(keeper: JoinHandle<Result<(), EngineError>>) -> EngineError {
    let ended = keeper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    ended.err().unwrap_or_else(|| EngineError::Refused("afs: the cell ended".to_owned()))
}

fn registered() -> MutexGuard<'static, Vec<Weak<House>>> {
    HOUSES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a cell that nobody uses.
fn remove(directory: &Path) {
    let _ = fs::remove_dir_all(directory);
}

/// Cells of this process: a client knows the address alone.
static HOUSES: Mutex<Vec<Weak<House>>> = Mutex::new(Vec::new());

/// The directories of cells.
const KIND: Kind = Kind { prefix: "btu-afs-", remove };

/// For cells whose files are on no disk by demand.
const DIRECTORY: &str = "/var/tmp";

const NO_DIRECTORY: &str = "afs: no directory for files was named";

/// No option of the file server changes it.
const FILE_SERVER_PORT: u16 = 7000;

/// Why the server does not know how many calls it makes.
const UNCOUNTED: &str = "AFS's servers make calls for packets, which nobody counts";
