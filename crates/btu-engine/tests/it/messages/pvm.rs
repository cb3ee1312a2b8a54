//! The layers of PVM: their ranks are processes, each this test binary again.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use btu_core::app::class::ProblemClass;
use btu_core::app::kernel;
use btu_core::app::kernel::Kernel;
use btu_core::app::kernel::Outcome;
use btu_core::app::sample::Job;
use btu_core::app::sample::RankSample;
use btu_engine::app::launch;
use btu_engine::app::live;

use super::*;
use crate::wait::wait_until;

/// What each rank does.
#[derive(Debug)]
struct Scripted(&'static str, fn(&mut Ranks<'_>) -> Result<Outcome, LayerError>);

impl Kernel for Scripted {
    fn name(&self) -> &'static str {
        self.0
    }

    fn about(&self) -> &'static str {
        "a function"
    }

    fn takes(&self, _: usize) -> bool {
        true
    }

    fn legal(&self) -> &'static str {
        "any number"
    }

    fn memory(&self, _: ProblemClass, _: usize) -> Bytes {
        Bytes::ZERO
    }

    fn run(&self, _: ProblemClass, ranks: &mut Ranks<'_>) -> Result<Outcome, LayerError> {
        (self.1)(ranks)
    }
}

static OUT_OF_ORDER: Scripted = Scripted("out-of-order", |ranks| {
    let (me, other) = (ranks.rank(), 1 - ranks.rank());
    for (tag, length) in (0..).zip(LENGTHS) {
        ranks.send(other, tag, &payload(me, tag, length))?;
    }
    for (tag, length) in (0..).zip(LENGTHS).collect::<Vec<_>>().into_iter().rev() {
        take(ranks, other, tag, length)?;
    }
    Ok(Outcome::default())
});

static ALL_SEND_FIRST: Scripted = Scripted("all-send-first", |ranks| {
    let (me, all) = (ranks.rank(), ranks.size());
    let others = || (0..all).filter(move |other| *other != me);
    for tag in 0..4 {
        for other in others() {
            ranks.send(other, tag, &payload(me, tag, 1 << 20))?;
        }
    }
    for tag in 0..4 {
        for other in others() {
            take(ranks, other, tag, 1 << 20)?;
        }
    }
    ranks.barrier().map(|()| Outcome::default())
});

/// What it sent before is still received; the next receive fails at once, long before the cap.
static LEAVES_EARLY: Scripted = Scripted("leaves-early", |ranks| {
    let (last, me) = (ranks.size() - 1, ranks.rank());
    if me == last {
        ranks.send(0, 1, &payload(me, 1, 300_000))?;
        return Ok(Outcome::default());
    }
    if me == 0 {
        take(ranks, last, 1, 300_000)?;
    }
    let told = ranks.receive(last, 2, &mut [0_u8; 8]).unwrap_err();
    assert_eq!(told, LayerError::Gone { peer: last, cause: "it ended".to_owned() });
    Ok(Outcome::default())
});

static WRONG_LENGTH: Scripted = Scripted("wrong-length", |ranks| {
    if ranks.rank() == 1 {
        ranks.send(0, 1, &[0_u8; 5])?;
        return Ok(Outcome::default());
    }
    let told = ranks.receive(1, 1, &mut [0_u8; 8]).unwrap_err();
    let (got_bytes, wanted_bytes) = (5, 8);
    assert_eq!(told, LayerError::Length { from: 1, tag: 1, got_bytes, wanted_bytes });
    Ok(Outcome::default())
});

/// One rank waits for what nobody sends, the other computes.
static HANGS: Scripted = Scripted("hangs", |ranks| {
    if ranks.rank() == 0 {
        ranks.receive(1, 1, &mut [0_u8; 8])?;
    }
    loop {
        thread::sleep(Duration::from_secs(1));
    }
});

static PANICS: Scripted = Scripted("panics", |ranks| {
    assert!(ranks.rank() != 1, "of rank 1");
    ranks.receive(1, 1, &mut [0_u8; 8])?;
    Ok(Outcome::default())
});

static SCRIPTED: &[&Scripted] =
    &[&OUT_OF_ORDER, &ALL_SEND_FIRST, &LEAVES_EARLY, &WRONG_LENGTH, &HANGS, &PANICS];
const LENGTHS: [usize; 8] = [0, 1, 15, 4080, 4096, 4097, 70_000, 1 << 20];

fn take(ranks: &mut Ranks<'_>, from: usize, tag: u32, length: usize) -> Result<(), LayerError> {
    let mut space = vec![0; length];
    ranks.receive(from, tag, &mut space)?;
    assert!(space == payload(from, tag, length), "tag {tag} of rank {from}, {length} B");
    Ok(())
}

/// What each rank executes; the file of its order follows as one more name of tests, of which there is none.
fn program() -> Vec<OsString> {
    let own = std::env::current_exe().unwrap().into_os_string();
    let words = ["--test-threads=1", "--nocapture", "--exact", "messages::pvm::a_rank_is_a_test"];
    [own].into_iter().chain(words.map(OsString::from)).collect()
}

/// In a process that a launcher started, its rank; nothing among other tests.
#[test]
fn a_rank_is_a_test() {
    let last = std::env::args_os().next_back().unwrap_or_default();
    let order = Path::new(&last);
    if order.extension().is_some_and(|extension| extension == "json") {
        live(order, named).unwrap();
    }
}

fn named(name: &str) -> Option<&'static dyn Kernel> {
    let scripted = SCRIPTED.iter().find(|one| one.0 == name).map(|one| *one as &dyn Kernel);
    scripted.or_else(|| kernel::by_name(name))
}

/// The layers, where PVM is there; one test at a time, so that each may look for processes that are left.
fn installed() -> Option<(MutexGuard<'static, ()>, Vec<&'static dyn MessageLayer>)> {
    static ALONE: Mutex<()> = Mutex::new(());
    let is_of_pvm = |layer: &&dyn MessageLayer| layer.name().starts_with("pvm");
    let layers: Vec<_> = MESSAGE_LAYERS.iter().copied().filter(is_of_pvm).collect();
    for layer in &layers {
        let RanksAre::Processes(processes) = layer.ranks() else { panic!("{}", layer.name()) };
        if let Err(lack) = processes.is_there() {
            crate::skip::record(&format!("program missing: pvmd: {}", lack.sentence()));
            return None;
        }
    }
    Some((ALONE.lock().unwrap_or_else(PoisonError::into_inner), layers))
}

fn launched(kernel: &'static dyn Kernel, layer: &str, ranks: usize, wait: Wait) -> Vec<RankSample> {
    until(kernel, layer, ranks, wait, Nanos::from_secs(60))
}

fn until(
    kernel: &'static dyn Kernel,
    layer: &str,
    ranks: usize,
    wait: Wait,
    cap: Nanos,
) -> Vec<RankSample> {
    let (name, class, layer) = (kernel.name().to_owned(), ProblemClass::S, layer.to_owned());
    let job = Job { kernel: name, class, ranks: ranks as u32, layer, wait };
    launch(kernel, &job, &seats(ranks), cap, &Arc::default(), &program()).unwrap().ranks
}

#[track_caller]
fn assert_all_well(ranks: &[RankSample]) {
    assert!(ranks.iter().all(|rank| rank.outcome.is_some()), "{ranks:?}");
}

/// Numbers of the processes whose PVM is in a directory of this process's launches.
fn left() -> Vec<String> {
    let own =
        format!("PVM_TMP={}/btu-ranks-{}-", std::env::temp_dir().display(), std::process::id());
    let is_of_us = |number: &String| {
        let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
        environment.windows(own.len()).any(|text| text == own.as_bytes())
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().into_string().ok()).filter(is_of_us).collect()
}

#[test]
fn m3_messages_of_pvm_come_whole_with_tags_in_any_order() {
    let Some((_alone, layers)) = installed() else { return };
    for layer in layers {
        for wait in layer.waits() {
            assert_all_well(&launched(&OUT_OF_ORDER, layer.name(), 2, *wait));
        }
    }
}

#[test]
fn tasks_of_pvm_that_all_send_first_do_not_stand_still() {
    let Some((_alone, layers)) = installed() else { return };
    for layer in layers {
        assert_all_well(&launched(&ALL_SEND_FIRST, layer.name(), 3, Wait::Block));
    }
}

#[test]
fn what_a_task_of_pvm_sent_before_its_end_is_received_and_its_end_is_told() {
    let Some((_alone, layers)) = installed() else { return };
    for layer in layers {
        for wait in layer.waits() {
            assert_all_well(&launched(&LEAVES_EARLY, layer.name(), 3, *wait));
        }
    }
}

#[test]
fn a_message_of_pvm_of_another_length_is_an_error() {
    let Some((_alone, layers)) = installed() else { return };
    for layer in layers {
        assert_all_well(&launched(&WRONG_LENGTH, layer.name(), 2, Wait::Block));
    }
}

#[test]
fn a_kernel_over_pvm_comes_to_the_same_bits_as_over_tcp() {
    let Some((_alone, layers)) = installed() else { return };
    let kernel = kernel::by_name("mg").unwrap();
    let over_tcp = bits(&launched(kernel, "tcp", 2, Wait::Block));
    for layer in layers {
        let ranks = launched(kernel, layer.name(), 2, Wait::Block);
        assert!(bits(&ranks) == over_tcp, "{}: {ranks:?}", layer.name());
    }
}

/// The bits of what all ranks found, which is right.
fn bits(ranks: &[RankSample]) -> Vec<u64> {
    let outcomes = ranks.iter().map(|rank| rank.outcome.as_ref().unwrap());
    let checks = outcomes.inspect(|one| assert!(one.is_verified())).flat_map(|one| &one.checks);
    checks.map(|check| check.found.to_bits()).collect()
}

#[test]
fn m9_a_rank_over_pvm_that_hangs_ends_with_the_cap_and_leaves_no_process() {
    let Some((_alone, layers)) = installed() else { return };
    let (start, cap) = (Instant::now(), Nanos::from_millis(700));
    let ranks = until(&HANGS, layers[0].name(), 2, Wait::Block, cap);
    assert!(start.elapsed() >= Duration::from(cap));
    let failures = ranks.iter().map(|rank| rank.failure.as_deref());
    assert!(failures.eq([Some("its time was up: 0.7 s"); 2]), "{ranks:?}");
    wait_until("no process is left", || left().is_empty());
}

#[test]
fn a_task_of_pvm_that_panics_ends_the_others() {
    let Some((_alone, layers)) = installed() else { return };
    for layer in layers {
        let ranks = launched(&PANICS, layer.name(), 3, Wait::Block);
        let failures: Vec<&str> = ranks.iter().filter_map(|one| one.failure.as_deref()).collect();
        assert!(failures.len() == 3 && failures[1].ends_with("panicked: of rank 1"), "{ranks:?}");
        wait_until("no process is left", || left().is_empty());
    }
}
