//! A cell of AFS on one of two hosts: what it gives, what is told of that, and that nothing of it stays.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::thread;

use btu_core::file::sample::Direction;
use btu_core::file::sample::Held;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::Party;
use btu_engine::file;
use btu_engine::file::Errand;
use btu_engine::file::Visit;
use btu_engine::file::service::Service;

use super::assert_whole;
use super::directory;
use super::flags;
use super::left_in;
use super::offer;
use super::trial;
use crate::veth;

/// A7 and A8 of the design. A cell takes ten seconds to come up: there is one.
#[test]
fn a_cell_gives_its_files_whole_and_leaves_nothing_behind() {
    if !btu_sys::namespace::is_privileged() {
        skip!("not root");
    }
    let ([near, far], before) = (veth::hosts(), mounts());
    let (directory, is_disk) = directory();
    let mut service = Service::between(
        near.clone(),
        far.clone(),
        Nanos::from_secs(60),
        std::sync::Arc::default(),
    );
    service.keep_files_in(directory.path().to_owned()).unwrap();
    if let Err(lack) = service.try_out("afs", Operation::Get) {
        let lack = lack.to_string();
        assert!(lack.contains("apt-get install") || lack.contains("/dev/fuse"), "{lack}");
        skip!("device missing: {lack}");
    }
    for held in [Held::Warm, Held::Cold] {
        read(&mut service, held, is_disk);
    }
    compare(&near, &far, directory.path());
    drop(service);
    assert_eq!((left_in(&directory).len(), mounts()), (0, before));
}

fn read(service: &mut Service, held: Held, is_disk: bool) {
    let wanted = Trial {
        direction: Direction::BToA,
        size_bytes: SIZE,
        count: 1,
        clients: 2,
        held,
        ..trial("afs", Operation::Get)
    };
    let seen = service.trial(&wanted);
    seen.clients.iter().for_each(|client| assert_whole(client, &wanted));
    let server = &seen.servers[0];
    assert!(server.cpu_ns.is_some_and(|used| !used.is_zero()), "{server:?}");
    let read = server.disk_read.unwrap().count();
    match held {
        Held::Cold if !is_disk => assert_eq!(flags(&seen), ["not-cold"]),
        Held::Cold => assert!(read * 100 >= SIZE.count() * 95 && seen.flags.is_empty(), "{seen:?}"),
        Held::Nowhere | Held::Unknown | Held::Warm => {
            assert!(read * 20 < SIZE.count(), "{server:?}");
        }
    }
}

/// The file of the directory beside what the cell gives of it; the first file of a cell has the vnode 2, and what `try_out`
/// asked for was the first.
fn compare(near: &Party, far: &Party, directory: &Path) {
    let stage = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let name = format!("{}-0", SIZE.count());
    let file = stage.map(|stage| stage.join(&name)).find(|file| file.exists()).unwrap();
    let visit = Visit {
        server: SocketAddr::new(far.address, 7000),
        settings: near.sockets.clone(),
        patience: std::time::Duration::from_mins(1),
        errand: Errand { operation: Operation::Get, size: SIZE, count: 1, files: vec![name] },
        stay: None,
        sockets: std::sync::Arc::default(),
        program: None,
    };
    let place = near.place.clone();
    let reading = thread::spawn(move || {
        place.enter().unwrap();
        let mut session = file::by_name("afs").unwrap().open(&visit).unwrap();
        let files = session.keeping().unwrap();
        let mut came = Vec::new();
        let _ = files.get("536870915.4.3", &mut came).unwrap();
        let missing = files.get("536870915.40.3", &mut Vec::new()).unwrap_err();
        (came, missing.to_string())
    });
    let (came, missing) = reading.join().unwrap();
    assert!(came == fs::read(file).unwrap(), "{} bytes", came.len());
    assert!(missing.contains("read 536870915.40.3: afsio: "), "{missing}");
}

#[test]
fn a_cell_that_cannot_be_is_told_with_its_reason() {
    let afs = file::by_name("afs").unwrap();
    let lack = afs.serve(&offer(1)).unwrap_err().to_string();
    let known = ["not root", "apt-get install", "/dev/fuse", "no address like"];
    assert!(known.iter().any(|reason| lack.contains(reason)), "{lack}");
}

/// What this process has mounted.
fn mounts() -> String {
    fs::read_to_string("/proc/self/mounts").unwrap()
}

/// Several packets, and no whole number of buffers.
const SIZE: Bytes = Bytes::new((4 << 20) + 1);
