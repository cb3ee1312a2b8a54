//! Files on a disk: cold ones come from it, warm ones do not (A8 of the design).

use std::sync::atomic::AtomicU64;

use btu_core::file::sample::Held;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_core::units::Bytes;
use btu_engine::file;
use btu_engine::file::Errand;
use btu_engine::file::FileProtocol;
use btu_engine::file::Moments;
use btu_engine::file::Offer;
use btu_engine::file::Visit;

use super::assert_whole;
use super::built;
use super::directory;
use super::flags;
use super::left_in;
use super::offer;
use super::service;
use super::trial;
use super::visit;

#[test]
fn a_cold_file_comes_from_the_disk_and_a_warm_one_does_not() {
    let (directory, is_disk) = directory();
    let mut service = service();
    service.keep_files_in(directory.path().to_owned()).unwrap();
    for protocol in built().map(FileProtocol::name) {
        let size_bytes = Bytes::new(8 << 20);
        let base = Trial { size_bytes, count: 2, ..trial(protocol, Operation::Get) };
        for held in [Held::Warm, Held::Cold] {
            let wanted = Trial { held, ..base.clone() };
            let seen = service.trial(&wanted);
            assert_whole(&seen.clients[0], &wanted);
            let Some(read) = seen.servers[0].disk_read else {
                skip!("not readable: {:?}", seen.servers[0].not_available);
            };
            match held {
                Held::Warm => {
                    assert!(read.count() < size_bytes.count() / 20, "{read}");
                    assert!(seen.flags.is_empty(), "{:?}", seen.flags);
                }
                _ if !is_disk => assert_eq!(flags(&seen), ["not-cold"]),
                _ => {
                    assert!(seen.flags.is_empty(), "{:?}", seen.flags);
                    assert!(read.count() * 100 >= 2 * size_bytes.count() * 95, "{read}");
                }
            }
        }
    }
    drop(service);
    assert_eq!(left_in(&directory).len(), 0);
    if !is_disk {
        skip!("device missing: the target directory is in memory, no file of it is cold");
    }
}

#[test]
fn files_in_memory_are_never_called_cold() {
    let memory = std::path::Path::new("/dev/shm");
    if !btu_sys::disk::file_system(memory).is_ok_and(|found| found.in_memory) {
        skip!("device missing: /dev/shm is no tmpfs");
    }
    let mut service = service();
    let directory = tempfile::tempdir_in(memory).unwrap();
    service.keep_files_in(directory.path().to_owned()).unwrap();
    let wanted = Trial { held: Held::Cold, ..trial("ftp", Operation::Get) };
    let seen = service.trial(&wanted);
    assert_whole(&seen.clients[0], &wanted);
    assert_eq!(flags(&seen), ["not-cold"]);
    assert!(seen.flags[0].detail.contains("in memory"), "{:?}", seen.flags);
}

#[test]
fn nothing_but_the_files_of_the_directory_is_given() {
    let (directory, _) = directory();
    let inside = directory.path().join("served");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(directory.path().join("beside"), [1; 1024]).unwrap();
    std::fs::write(inside.join("file"), [2; 1024]).unwrap();
    std::os::unix::fs::symlink("../beside", inside.join("link")).unwrap();
    for protocol in built() {
        let offer = Offer { directory: Some(inside.clone()), ..offer(9) };
        let server = protocol.serve(&offer).unwrap();
        for (name, is_given) in
            [("file", true), ("../beside", false), ("link", false), ("gone", false), (".", false)]
        {
            let base = visit(&*server, Operation::Get);
            let errand = Errand { files: vec![name.to_owned()], ..base.errand.clone() };
            let mut session = protocol.open(&Visit { errand, ..base }).unwrap();
            let given = session.run(0, &mut Moments::from_now(&AtomicU64::new(0)));
            assert_eq!(given.is_ok(), is_given, "{} {name}: {given:?}", protocol.name());
        }
    }
}

#[test]
fn what_ftp_gives_of_a_directory_is_the_file_and_cannot_be_changed() {
    let (directory, _) = directory();
    let bytes: Vec<u8> = (0..200_000_u32).flat_map(u32::to_be_bytes).collect();
    std::fs::write(directory.path().join("file"), &bytes).unwrap();
    let ftp = file::by_name("ftp").unwrap();
    let offer = Offer { directory: Some(directory.path().to_owned()), ..offer(1) };
    let server = ftp.serve(&offer).unwrap();
    let mut session = ftp.open(&visit(&*server, Operation::Get)).unwrap();
    let files = session.keeping().unwrap();
    let mut came = Vec::new();
    assert_eq!(files.get("/disk/file", &mut came).unwrap().len(), bytes.len());
    assert!(came == bytes);
    files.remove("/disk/file").unwrap_err();
    files.put("/disk/file", &mut &b"other"[..]).unwrap_err();
    assert!(std::fs::read(directory.path().join("file")).unwrap() == bytes);
}

/// Nobody takes away what another service of this machine works with.
#[test]
fn what_a_killed_program_left_is_removed_and_what_is_in_use_stays() {
    let (directory, _) = directory();
    let wanted = Trial { held: Held::Warm, ..trial("ftp", Operation::Get) };
    let mut first = service();
    first.keep_files_in(directory.path().to_owned()).unwrap();
    first.trial(&wanted);
    let in_use = left_in(&directory);
    let left = directory.path().join("btu-file-1-0");
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("1024-0"), "bits").unwrap();
    let mut second = service();
    second.keep_files_in(directory.path().to_owned()).unwrap();
    assert_whole(&second.trial(&wanted).clients[0], &wanted);
    assert!(!left.exists() && in_use[0].exists());
    assert_whole(&first.trial(&wanted).clients[0], &wanted);
    drop((first, second));
    assert_eq!(left_in(&directory).len(), 0);
}

/// A result may lie where files are kept, under a name that begins like ours.
#[test]
fn what_somebody_else_keeps_beside_the_files_stays() {
    let (directory, _) = directory();
    let others = ["btu-file-mine/plan.toml", "btu-file-1-0/letter", "btu-file-2/1024-0"];
    for other in others.map(|other| directory.path().join(other)) {
        std::fs::create_dir(other.parent().unwrap()).unwrap();
        std::fs::write(other, "bits").unwrap();
    }
    let wanted = Trial { held: Held::Warm, ..trial("ftp", Operation::Get) };
    let mut service = service();
    service.keep_files_in(directory.path().to_owned()).unwrap();
    assert_whole(&service.trial(&wanted).clients[0], &wanted);
    drop(service);
    let stays = |other: &&str| directory.path().join(other).exists();
    assert!(others.iter().all(stays), "{:?}", left_in(&directory));
    assert_eq!(left_in(&directory).len(), others.len());
}
