//! Host activities: alone, in fixed amounts, and beside COMM.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use btu_core::role::Role;
use btu_core::run::cell::Case;
use btu_core::sample::ActivitySample;
use btu_core::sample::Outcome;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::EngineError;
use btu_engine::Party;
use btu_engine::Place;
use btu_engine::activity;
use btu_engine::activity::ACTIVITIES;
use btu_engine::activity::Activity;
use btu_engine::activity::Prepared;
use btu_engine::activity::Setup;
use btu_engine::activity::Stint;
use btu_engine::activity::Worker;
use btu_engine::cellrun;
use btu_engine::cellrun::CellOrder;
use btu_engine::cellrun::Load;
use btu_engine::comm::Amount;
use btu_engine::comm::Terms;
use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;
use btu_sys::cpu::CpuSet;

use crate::local;

/// Small sizes, in a directory of the test's own.
fn setup(directory: &Path) -> Setup {
    Setup {
        place: Place::here(Role::Test),
        cpu_threads: None,
        io_directory: directory.to_owned(),
        io_file: Bytes::new(2 << 20),
        ftp_transfer: Bytes::new(1 << 20),
        ftp_server: None,
    }
}

fn here() -> Place {
    Place::here(Role::Test)
}

/// Everything that needs no server, ready to start.
fn each(mut check: impl FnMut(&str, &dyn Prepared)) {
    let directory = tempfile::tempdir().unwrap();
    for activity in ACTIVITIES.iter().filter(|activity| activity.name() != "ftp") {
        check(activity.name(), &*activity.prepare(&setup(directory.path())).unwrap());
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

//= maly1996#4.2 eq. 1
#[test]
fn every_activity_alone_has_a_rate() {
    each(|name, prepared| {
        let (lead_in, window) = (Nanos::from_millis(5), Nanos::from_millis(50));
        let sample = activity::alone(prepared, &here(), lead_in, window, &NEVER).unwrap();
        assert_eq!(sample.failures, Vec::<String>::new(), "{name}");
        assert!(sample.rate_per_s().is_some_and(|rate| rate > 0.0), "{name}: {sample:?}");
        assert!(sample.elapsed_ns >= window);
        assert!(sample.threads >= 1 && !sample.unit.is_empty());
    });
}

#[test]
fn a_fixed_amount_is_done_whole_and_timed_to_its_end() {
    each(|name, prepared| {
        let cap = Nanos::from_secs(30);
        let sample = activity::alone_fixed(prepared, &here(), 3.0, cap, &NEVER).unwrap();
        assert_eq!(sample.failures, Vec::<String>::new(), "{name}");
        assert!(sample.units >= 3.0 - 1e-6, "{name}: {sample:?}");
        assert!(sample.elapsed_ns > Nanos::ZERO && sample.elapsed_ns < cap);
    });
}

#[test]
fn work_that_is_not_done_at_the_cap_says_so() {
    let idle = activity::Idle.prepare(&setup(Path::new("/"))).unwrap();
    let cap = Nanos::from_millis(20);
    let sample = activity::alone_fixed(&*idle, &here(), 1e9, cap, &NEVER).unwrap();
    assert!(sample.failures[0].ends_with("units done at the cap"), "{:?}", sample.failures);
}

#[test]
fn calibration_finds_the_amount_that_takes_the_target_time() {
    let idle = activity::Idle.prepare(&setup(Path::new("/"))).unwrap();
    let target = Nanos::from_millis(100);
    let sample = activity::alone_calibrated(&*idle, &here(), target, &NEVER).unwrap();
    assert_eq!(sample.failures, Vec::<String>::new());
    assert!((80.0..=126.0).contains(&sample.units), "1 ms each, 100 ms: {sample:?}");
}

/// An activity that works at another pace each time it is started.
#[derive(Debug)]
struct Moody {
    pace: &'static [Pace],
    made: AtomicUsize,
}

#[derive(Clone, Copy, Debug)]
enum Pace {
    /// One unit at once, each 100 ms.
    Coarse {
        steps: u32,
    },
    Fails,
    /// A thousand units in no time.
    Fast,
    /// A thousandth of one in 20 ms.
    Slow,
}

impl Prepared for Moody {
    fn unit(&self) -> String {
        "unit".to_owned()
    }

    fn workers(&self) -> Result<Vec<Box<dyn Worker>>, EngineError> {
        let number = self.made.fetch_add(1, Relaxed);
        Ok(vec![Box::new(self.pace[number % self.pace.len()])])
    }
}

impl Worker for Pace {
    fn step(&mut self) -> Result<f64, EngineError> {
        match self {
            Self::Fails => Err(EngineError::Refused("the disk is gone".to_owned())),
            Self::Coarse { steps } => {
                std::thread::sleep(std::time::Duration::from_millis(10));
                *steps += 1;
                Ok(if steps.is_multiple_of(10) { 1.0 } else { 0.0 })
            }
            Self::Fast => Ok(1000.0),
            Self::Slow => {
                std::thread::sleep(std::time::Duration::from_millis(20));
                Ok(0.001)
            }
        }
    }
}

fn calibrated(pace: &'static [Pace]) -> ActivitySample {
    let moody = Moody { pace, made: AtomicUsize::new(0) };
    activity::alone_calibrated(&moody, &here(), Nanos::from_millis(30), &NEVER).unwrap()
}

/// Nobody cancelled it: it is a sample, and says what went wrong.
#[test]
fn an_activity_that_fails_while_it_is_calibrated_is_a_sample_with_its_failure() {
    let sample = calibrated(&[Pace::Fails]);
    assert_eq!(sample.failures, ["the disk is gone"]);
    assert!(sample.units.abs() < 1e-9, "{sample:?}");
    // Once its rate is known, too: of the amount that was tried it did nothing.
    let later = calibrated(&[Pace::Slow, Pace::Fails, Pace::Fails]);
    assert_eq!(later.failures, ["the disk is gone"]);
    assert!(later.units.abs() < 1e-9, "{later:?}");
}

/// By turns fast and slow: each estimate is wrong.
#[test]
fn an_amount_that_is_not_found_is_said_beside_the_last_estimate() {
    let sample = calibrated(&[Pace::Fast, Pace::Slow]);
    assert_eq!(sample.failures, [NOT_FOUND]);
    assert!(sample.units > 0.0 && sample.rate_per_s().is_some(), "{sample:?}");
}

/// Nothing is done within the first probe, and the least that is done takes three times what is wanted.
#[test]
fn work_in_large_units_is_probed_until_one_is_done() {
    let sample = calibrated(&[Pace::Coarse { steps: 0 }]);
    assert_eq!(sample.failures, [NOT_FOUND]);
    assert!(sample.units >= 1.0 && sample.rate_per_s().is_some(), "{sample:?}");
}

const NOT_FOUND: &str =
    "not calibrated: no amount of work was found that takes 0.8 to 1.25 times 30.0 ms alone";

#[test]
fn the_work_beside_comm_counts_only_inside_its_window() {
    each(|name, activity| {
        let stint = Stint::Steady { lead_in: Nanos::from_millis(5) };
        let terms = local::terms(1024, Amount::Window(Nanos::from_millis(60)));
        let run = local::run_beside(Some(Load { activity, stint }), Case::Recv, terms).unwrap();
        assert_eq!(run.outcome, Outcome::Complete, "{name}");
        let (comm, work) = (run.comm.unwrap(), run.activity.unwrap());
        assert_eq!(work.elapsed_ns, comm.elapsed_ns, "{name}");
        assert!(work.units > 0.0, "{name}");
        assert_eq!(comm.connections[0].proof_failures, Vec::<String>::new());
    });
}

#[test]
fn the_no_op_is_not_slowed_down_by_comm() {
    let idle = activity::Idle.prepare(&setup(Path::new("/"))).unwrap();
    let load = Load { activity: &*idle, stint: Stint::Steady { lead_in: Nanos::from_millis(10) } };
    let terms = local::terms(65_536, Amount::Window(Nanos::from_millis(50)));
    let run = local::run_beside(Some(load), Case::Send, terms).unwrap();
    let rate = run.activity.unwrap().rate_per_s().unwrap();
    assert!((rate - 1000.0).abs() < 20.0, "{rate} per second");
}

#[test]
fn a_fixed_amount_beside_comm_is_timed_to_its_own_end() {
    let idle = activity::Idle.prepare(&setup(Path::new("/"))).unwrap();
    let load = Load { activity: &*idle, stint: Stint::Fixed { units: 40.0 } };
    let run = local::run_beside(Some(load), Case::Send, local::terms(100, Amount::Messages(10)));
    let run = run.unwrap();
    assert_eq!(run.outcome, Outcome::Complete);
    let work = run.activity.unwrap();
    assert!(work.units >= 40.0 - 1e-6 && work.elapsed_ns > run.comm.unwrap().elapsed_ns);
}

#[test]
fn a_cancelled_cell_has_no_sample() {
    let terms = local::terms(1024, Amount::Window(Nanos::from_secs(5)));
    terms.cancel.store(true, Relaxed);
    assert_eq!(local::run_beside(None, Case::Send, terms), None);
    let idle = activity::Idle.prepare(&setup(Path::new("/"))).unwrap();
    let cancelled = AtomicBool::new(true);
    let long = Nanos::from_secs(60);
    assert_eq!(activity::alone(&*idle, &here(), long, long, &cancelled), None);
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let fault = activity::Io.prepare(&setup(Path::new("/proc"))).unwrap_err().to_string();
    assert!(fault.starts_with("create /proc/"), "{fault}");
}

#[test]
fn a_full_disk_is_named_and_leaves_no_file_behind() {
    let Some(disk) = SmallDisk::mount() else {
        skip!("not root: a small tmpfs cannot be mounted");
    };
    let mut setup = setup(&disk.0);
    setup.io_file = Bytes::new(8 << 20);
    let fault = activity::Io.prepare(&setup).unwrap_err().sentence();
    assert!(fault.contains("no space left"), "{fault}");
    assert!(fault.contains(&disk.0.display().to_string()), "{fault}");
    assert_eq!(std::fs::read_dir(&disk.0).unwrap().count(), 0);
}

/// A file system with room for one mebibyte.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let path = tempfile::tempdir().unwrap().keep();
        let options = ["-t", "tmpfs", "-o", "size=1m", "btu-test"];
        let mounted = Command::new("mount").args(options).arg(&path).output();
        mounted.is_ok_and(|done| done.status.success()).then_some(Self(path))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The activity `ftp` against a server on loopback.
fn with_ftp(check: impl FnOnce(&dyn Prepared)) {
    let server = crate::ftp::server();
    let directory = tempfile::tempdir().unwrap();
    let mut setup = setup(directory.path());
    setup.ftp_server = Some(Access::anonymous(server.address()));
    check(&*activity::by_name("ftp").unwrap().prepare(&setup).unwrap());
}

#[test]
fn ftp_alone_has_a_rate_and_does_what_it_is_told() {
    with_ftp(|ftp| {
        let (lead_in, window) = (Nanos::from_millis(5), Nanos::from_millis(50));
        let sample = activity::alone(ftp, &here(), lead_in, window, &NEVER).unwrap();
        assert_eq!(sample.failures, Vec::<String>::new());
        assert!(sample.units > 0.0, "{sample:?}");
        let cap = Nanos::from_secs(30);
        let fixed = activity::alone_fixed(ftp, &here(), 10.0, cap, &NEVER).unwrap();
        assert_eq!(fixed.failures, Vec::<String>::new());
        // A step moves at most one file: no more than that comes on top.
        assert!((10.0..11.0).contains(&fixed.units), "{fixed:?}");
    });
}

#[test]
fn ftp_goes_on_beside_comm() {
    with_ftp(|ftp| {
        let load = Load { activity: ftp, stint: Stint::Steady { lead_in: Nanos::from_millis(20) } };
        let terms = local::terms(65536, Amount::Window(Nanos::from_millis(100)));
        let run = local::run_beside(Some(load), Case::Send, terms).unwrap();
        assert_eq!(run.outcome, Outcome::Complete);
        assert!(run.activity.is_some_and(|sample| sample.units > 0.0));
    });
}

#[test]
fn ftp_without_a_server_is_refused() {
    let ftp = activity::by_name("ftp").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut setup = setup(directory.path());
    let none = ftp.prepare(&setup).unwrap_err().to_string();
    assert!(none.contains("needs an FTP server"), "{none}");
    setup.ftp_server = Some(Access::anonymous(local::NOBODY));
    let gone = ftp.prepare(&setup).unwrap_err().sentence();
    assert!(gone.contains("connect to 127.0.0.1:1") && gone.contains("refused"), "{gone}");
}

#[test]
fn ftp_that_loses_its_server_fails_and_says_so() {
    let server = crate::ftp::server();
    let directory = tempfile::tempdir().unwrap();
    let mut setup = setup(directory.path());
    setup.ftp_server = Some(Access::anonymous(server.address()));
    let ftp = activity::by_name("ftp").unwrap().prepare(&setup).unwrap();
    let running = activity::Running::start(&*ftp, &here(), None).unwrap();
    running.release();
    drop(server);
    assert!(running.wait_done(Nanos::MAX));
    let failures = running.stop().whole().failures;
    assert!(failures.iter().any(|failure| failure.contains("ftp")), "{failures:?}");
}

/// maly1996, 4.3: traffic takes time from the work beside it. Everybody shares one CPU here, so that
/// the order of the two rates does not depend on the machine; and what else wants that CPU can only
/// take from both, hence the fastest of some windows.
#[test]
fn ftp_is_slower_beside_comm_on_one_cpu() {
    let cpus = one_cpu();
    let place = |role| Place { cpus: cpus.clone(), ..Place::here(role) };
    let serving = Serving::at(place(Role::Active), "127.0.0.1".parse().unwrap());
    let server = Server::start(serving).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let setup = Setup {
        place: place(Role::Test),
        ftp_server: Some(Access::anonymous(server.address())),
        ..setup(directory.path())
    };
    let ftp = activity::by_name("ftp").unwrap().prepare(&setup).unwrap();
    let party = |role| Party { place: place(role), ..local::party(role) };
    let (near, fars) = (party(Role::Test), [party(Role::Active)]);
    let (lead_in, window) = (Nanos::from_millis(10), Nanos::from_millis(60));
    let rate = |sample: ActivitySample| sample.rate_per_s().unwrap();
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        alone.push(rate(
            activity::alone(&*ftp, &place(Role::Test), lead_in, window, &NEVER).unwrap(),
        ));
        let order = CellOrder {
            flows: Case::Send.flows(),
            terms: local::terms(65536, Amount::Window(window)),
            near: &near,
            fars: &fars,
            load: Some(Load { activity: &*ftp, stint: Stint::Steady { lead_in } }),
        };
        beside.push(rate(cellrun::run(&order).unwrap().activity.unwrap()));
    }
    assert!(fastest(&beside) < fastest(&alone), "alone {alone:?}, beside {beside:?}");
}

/// What the rule `blackbox-limited` judges the server by.
#[test]
fn the_active_far_end_tells_what_a_session_of_its_ftp_server_used_meanwhile() {
    let serving = Serving::at(Place::here(Role::Active), "127.0.0.1".parse().unwrap());
    let server = Server::start(serving).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let ftp_server = Some(Access::anonymous(server.address()));
    let setup = Setup { ftp_server, ..setup(directory.path()) };
    let ftp = activity::by_name("ftp").unwrap().prepare(&setup).unwrap();
    let window = Nanos::from_millis(100);
    let used = |case, loaded: bool| {
        let stint = Stint::Steady { lead_in: Nanos::from_millis(10) };
        let load = Load { activity: &*ftp, stint };
        let terms =
            Terms { ftp: Some(server.gauge()), ..local::terms(4096, Amount::Window(window)) };
        let comm = local::run_beside(loaded.then_some(load), case, terms).unwrap().comm.unwrap();
        let ends = comm.connections.into_iter().flat_map(|one| [one.sender, one.receiver]);
        ends.map(|end| (end.role, end.ftp_session)).collect::<Vec<_>>()
    };
    for (role, session) in used(Case::TwoSendDropped, true) {
        let Some(session) = session.filter(|_| role == Role::Active) else {
            assert_eq!((role == Role::Active, session), (false, None), "{role}");
            continue;
        };
        assert!(session.elapsed_ns >= window, "{session:?}");
        assert!(
            session.cpu_ns > Nanos::ZERO && session.cpu_ns <= session.elapsed_ns,
            "{session:?}"
        );
    }
    let idle = used(Case::Send, false).into_iter().filter_map(|(_, session)| session);
    assert_eq!(idle.map(|session| session.cpu_ns).sum::<Nanos>(), Nanos::ZERO);
}

fn fastest(rates: &[f64]) -> f64 {
    rates.iter().copied().fold(0.0, f64::max)
}

/// One of the CPUs that this process may use.
fn one_cpu() -> CpuSet {
    btu_sys::cpu::allowed().unwrap().iter().take(1).collect()
}
