//! Files on a disk: cold ones come from it, warm ones do not (A8 of the design).

use btu_core::file::sample::Held;
use btu_core::file::sample::Operation;
use btu_core::file::sample::Trial;
use btu_core::units::Bytes;

use super::assert_whole;
use super::directory;
use super::flags;
use super::left_in;
use super::service;
use super::trial;

#[test]
fn a_cold_file_comes_from_the_disk_and_a_warm_one_does_not() {
    let (directory, is_disk) = directory();
    let mut service = service();
    service.keep_files_in(directory.path().to_owned());
    for protocol in ["ftp", "tcp-rpc"] {
        let size_bytes = Bytes::new(3 << 20);
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
    service.keep_files_in(directory.path().to_owned());
    let wanted = Trial { held: Held::Cold, ..trial("ftp", Operation::Get) };
    let seen = service.trial(&wanted);
    assert_whole(&seen.clients[0], &wanted);
    assert_eq!(flags(&seen), ["not-cold"]);
    assert!(seen.flags[0].detail.contains("in memory"), "{:?}", seen.flags);
}
