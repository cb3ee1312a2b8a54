//! Layers whose ranks are processes: each rank is this test program again, started by the launcher of its library.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_core::app::kernel;
use btu_core::app::kernel::Kernel;
use btu_core::app::kernel::Outcome;
use btu_engine::app::Launched;
use btu_engine::app::attempt;
use btu_engine::app::launch;
use btu_engine::app::live;

use super::kernels::seen_by;
use super::launches::DIES;
use super::launches::HANGS;
use super::launches::RING;
use super::launches::Scripted;
use super::launches::job;
use super::*;

/// What ranks execute: the test below and no other. The file of the order, which follows, is taken for the name of one
/// more, and none has it.
fn program() -> Vec<OsString> {
    let own = std::env::current_exe().unwrap().into_os_string();
    let words = ["--nocapture", "--exact", "messages::processes::a_rank_lives_by_its_order"];
    [own].into_iter().chain(words.map(OsString::from)).collect()
}

/// Without an order it is no rank.
#[test]
fn a_rank_lives_by_its_order() {
    let order = std::env::args_os().next_back().map(PathBuf::from);
    if let Some(order) = order.filter(|order| order.ends_with("order.json")) {
        assert!(live(&order, named).unwrap());
    }
}

fn named(name: &str) -> Option<&'static dyn Kernel> {
    match name {
        "contract" => Some(&CONTRACT),
        "computes" => Some(&COMPUTES),
        "crossed" => Some(&CROSSED),
        "dies" => Some(&DIES),
        "hangs" => Some(&HANGS),
        "ring" => Some(&RING),
        name => pvm::scripted(name).or_else(|| kernel::by_name(name)),
    }
}

/// Libraries of others that join two ranks here, and the right to start some: one test at a time.
pub(super) fn libraries() -> (Vec<&'static dyn MessageLayer>, MutexGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let all = MESSAGE_LAYERS.iter().copied();
    let here = all.filter(|layer| {
        let RanksAre::Processes(library) = layer.ranks() else { return false };
        let Err(lack) = library.is_there() else { return true };
        crate::skip::record(&format!("program missing: {}: {}", layer.name(), lack.sentence()));
        false
    });
    (here.collect(), turn)
}

fn launched(kernel: &str, layer: &dyn MessageLayer, ranks: usize, cap: Nanos) -> Launched {
    launched_with(kernel, layer, Wait::Block, ranks, cap)
}

pub(super) fn launched_with(
    kernel: &str,
    layer: &dyn MessageLayer,
    wait: Wait,
    ranks: usize,
    cap: Nanos,
) -> Launched {
    let mut job = job(layer.name(), ranks, wait);
    kernel.clone_into(&mut job.kernel);
    let seats = seats(ranks);
    launch(named(kernel).unwrap(), &job, &seats, cap, &Arc::default(), &program()).unwrap()
}

/// No process has the directory of a launch among its words, and there is none any more.
fn assert_nothing_is_left() {
    let mark = format!("btu-ranks-{}-", std::process::id());
    let words = |entry: &fs::DirEntry| fs::read(entry.path().join("cmdline")).unwrap_or_default();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let words = String::from_utf8_lossy(&words(&entry)).into_owned();
        assert!(!words.contains(&mark), "{words}");
    }
    let mut left = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    assert!(!left.any(|entry| entry.file_name().to_string_lossy().starts_with(&mark)));
}

#[test]
fn k2_k4_k5_a_kernel_verifies_over_libraries_of_others_with_the_bits_and_messages_of_tcp() {
    let (libraries, _turn) = libraries();
    let kernel = kernel::by_name("mg").unwrap();
    let over_tcp = seen_by(kernel, 2, message::by_name("tcp").unwrap(), &[]);
    for library in libraries {
        attempt(library.name(), Wait::Spin, &seats(2), &Arc::default(), &program()).unwrap();
        assert!(seen_by(kernel, 2, library, &program()) == over_tcp, "{}", library.name());
    }
}

/// All send before they receive, messages of many lengths, and receive the last first.
static CONTRACT: Scripted = Scripted(|ranks| {
    const LENGTHS: [usize; 9] = [0, 1, 15, 4080, 4081, 4097, 70_000, 300_000, 1 << 20];
    let (me, all) = (ranks.rank(), ranks.size());
    let others = (0..all).filter(|peer| *peer != me);
    for (tag, length) in (0..).zip(LENGTHS) {
        for to in others.clone() {
            ranks.send(to, tag, &payload(me, tag, length))?;
        }
    }
    for (tag, length) in (0..9).zip(LENGTHS).rev() {
        for from in others.clone() {
            take(ranks, from, tag, length)?;
        }
    }
    Ok(Outcome::default())
});

pub(super) fn take(
    ranks: &mut Ranks<'_>,
    from: usize,
    tag: u32,
    length: usize,
) -> Result<(), LayerError> {
    let mut space = vec![0; length];
    ranks.receive(from, tag, &mut space)?;
    assert!(space == payload(from, tag, length), "tag {tag} of rank {from}, {length} B");
    Ok(())
}

/// Rank 0 waits for rank 1, which waits for rank 2, which goes on once rank 0 takes in what it did not ask for; then for the
/// second of two messages of rank 1, the first of which is long.
static CROSSED: Scripted = Scripted(|ranks| {
    match ranks.rank() {
        0 => {
            take(ranks, 1, 1, 8)?;
            take(ranks, 2, 2, 8 << 20)?;
            take(ranks, 1, 5, 8)?;
            take(ranks, 1, 4, 8 << 20)?;
        }
        1 => {
            take(ranks, 2, 3, 8)?;
            ranks.send(0, 1, &payload(1, 1, 8))?;
            ranks.send(0, 4, &payload(1, 4, 8 << 20))?;
            ranks.send(0, 5, &payload(1, 5, 8))?;
        }
        _ => {
            ranks.send(0, 2, &payload(2, 2, 8 << 20))?;
            ranks.send(1, 3, &payload(2, 3, 8))?;
        }
    }
    Ok(Outcome::default())
});

#[test]
fn m2_messages_of_processes_come_whole_in_any_order_however_much_all_send_at_once() {
    let (libraries, _turn) = libraries();
    for library in libraries {
        for kernel in ["contract", "crossed", "ring"] {
            let Launched { ranks, .. } = launched(kernel, library, 3, Nanos::from_secs(60));
            let failures: Vec<_> = ranks.iter().filter_map(|r| r.failure.as_ref()).collect();
            assert!(failures.is_empty(), "{}: {failures:?}", library.name());
            assert!(ranks.iter().all(|rank| rank.split.undated == 0 && rank.cpu_ns.is_some()));
        }
    }
    assert_nothing_is_left();
}

/// It passes no message, so that it does not see that it should end.
static COMPUTES: Scripted = Scripted(|_| {
    loop {
        thread::sleep(Duration::from_millis(1));
    }
});

#[test]
fn m9_processes_that_hang_or_compute_on_end_with_the_cap_and_none_is_left() {
    let (libraries, _turn) = libraries();
    // Those of PVM have one launcher.
    for library in libraries.into_iter().filter(|one| !one.name().starts_with("pvm-")) {
        for kernel in ["hangs", "computes"] {
            let start = Instant::now();
            let ranks = launched(kernel, library, 2, Nanos::from_millis(500)).ranks;
            assert!(start.elapsed() >= Duration::from_millis(500));
            let failures = ranks.iter().map(|rank| rank.failure.as_deref());
            assert!(failures.eq([Some("its time was up: 0.5 s"); 2]), "{ranks:?}");
            assert_nothing_is_left();
        }
    }
}

#[test]
fn a_process_that_panics_is_told_and_ends_the_others() {
    let (libraries, _turn) = libraries();
    for library in libraries {
        let ranks = launched("dies", library, 3, Nanos::from_secs(60)).ranks;
        let told: Vec<&str> = ranks.iter().filter_map(|rank| rank.failure.as_deref()).collect();
        let why = "thread rank-1 panicked: out of luck";
        let is_told = |one: &&str| *one == why || one.contains("rank 1 is gone: ");
        assert!(told.len() == 3 && told[1] == why, "{}: {told:?}", library.name());
        assert!(told.iter().all(is_told), "{}: {told:?}", library.name());
    }
    assert_nothing_is_left();
}

#[test]
fn processes_need_a_program() {
    let (libraries, _turn) = libraries();
    for library in libraries {
        let name = library.name();
        let refused = attempt(name, Wait::Block, &seats(2), &Arc::default(), &[]).unwrap_err();
        let told = format!("ranks over {name} are processes, and there is no program for them");
        assert_eq!(refused.to_string(), told);
    }
}
