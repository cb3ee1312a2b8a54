//! The host activities of a run, prepared once, started in every cell that wants them.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use btu_core::disclosure::Disclosure;
use btu_core::disclosure::Fact;
use btu_core::role::Role;
use btu_core::run::cell::ActivityName;
use btu_core::run::plan::Plan;
use btu_engine::Place;
use btu_engine::activity;
use btu_engine::activity::Prepared;
use btu_engine::activity::Setup;
use btu_engine::file::ftp::Access;
use btu_engine::file::ftp::Gauge;
use btu_engine::file::ftp::Server;
use btu_engine::file::ftp::Serving;
use btu_testbed::local::LocalTestbed;
use btu_testbed::local::Path as Way;

use crate::exit::Failure;
use crate::measurement::first_part;
use crate::run::options::RunArgs;

/// The prepared activities of a plan, and what they hold open.
pub(in crate::run) struct Activities {
    prepared: BTreeMap<ActivityName, Box<dyn Prepared>>,
    directory: PathBuf,
    server: Option<Server>,
}

impl Activities {
    /// Prepares the plan's activities on the test host. FTP takes `path` to the active black box.
    pub(super) fn new(
        plan: &Plan,
        testbed: &LocalTestbed,
        path: Way,
        directory: PathBuf,
    ) -> Result<Self, Failure> {
        let address = testbed.address(Role::Active, path);
        let serving = Serving::at(super::place(testbed, Role::Active), address);
        let server = Server::start(serving).map_err(Failure::environment)?;
        let place = super::place(testbed, Role::Test);
        let access = Access::anonymous(server.address());
        let prepared = Self::prepared(plan, place, directory, Some(access))?;
        Ok(Self { server: Some(server), ..prepared })
    }

    /// Prepares the plan's activities at `place`; FTP uses somebody else's server.
    pub(in crate::run) fn prepared(
        plan: &Plan,
        place: Place,
        directory: PathBuf,
        ftp_server: Option<Access>,
    ) -> Result<Self, Failure> {
        let setup = Setup {
            place,
            cpu_threads: plan.activity.cpu_threads,
            io_directory: directory.clone(),
            io_file: plan.activity.io_file,
            ftp_transfer: plan.activity.ftp_transfer,
            ftp_server,
        };
        let mut prepared = BTreeMap::new();
        for name in &plan.activities {
            let Some(activity) = activity::by_name(name.as_str()) else { continue };
            let ready = activity.prepare(&setup).map_err(Failure::environment)?;
            prepared.insert(name.clone(), ready);
        }
        Ok(Self { prepared, directory, server: None })
    }

    /// The activity of this name; `None` for a baseline.
    pub(in crate::run) fn named(&self, name: &ActivityName) -> Option<&dyn Prepared> {
        self.prepared.get(name).map(|prepared| &**prepared)
    }

    /// How busy the FTP server is, where it is in this process.
    pub(in crate::run) fn gauge(&self) -> Option<Gauge> {
        self.server.as_ref().map(Server::gauge)
    }

    /// What the disclosure says of them.
    pub(in crate::run) fn facts(&self) -> BTreeMap<String, Fact> {
        let found = btu_sys::disk::file_system(&self.directory).map_err(|cause| cause.to_string());
        let memory = found.clone().map(|found| Fact::known(found.in_memory));
        let free = found.map(|found| Fact::known(found.free_bytes));
        let [memory, free] = [memory, free].map(|fact| fact.unwrap_or_else(Fact::unavailable));
        let directory = Fact::known(self.directory.display().to_string());
        let used = self.prepared.contains_key(&ActivityName::new("io"));
        let facts =
            [("io_directory", directory), ("io_free_bytes", free), ("io_in_memory", memory)];
        facts.into_iter().filter(|_| used).map(|(name, fact)| (name.to_owned(), fact)).collect()
    }
}

/// What to say of a directory that is named, and in which nothing will be written.
pub(in crate::run) fn unused(args: &RunArgs, plan: &Plan) -> Option<String> {
    let named = args.io_dir.as_ref().filter(|_| !writes_files(plan))?;
    let named = named.display();
    Some(format!("note: --io-dir {named} is not used: the plan has no activity io"))
}

fn writes_files(plan: &Plan) -> bool {
    plan.activities.iter().any(|name| name.as_str() == "io")
}

/// Where `io` works: `--io-dir`, else where it did in the first part of a run that is gone on with, else
/// the first place on a disk of the result's directory, /var/tmp and the home directory. A plan without
/// `io` needs none.
pub(in crate::run) fn directory(
    args: &RunArgs,
    plan: &Plan,
    first: Option<&Disclosure>,
) -> Result<PathBuf, Failure> {
    if !writes_files(plan) {
        return Ok(args.io_dir.clone().unwrap_or_else(|| ".".into()));
    }
    let candidates = candidates(args);
    let stored = first.and_then(first_part::io_directory);
    // Whoever orders a run may not say by a journal where this host writes.
    let stored =
        stored.filter(|(place, _)| args.ordered.is_none() || is_own(args, &candidates, place));
    let (asked, in_memory) = match (&args.io_dir, stored) {
        (Some(own), _) => (Some(own.clone()), args.allow_tmpfs),
        (None, Some((place, in_memory))) => (Some(place), in_memory),
        (None, None) => (None, false),
    };
    let chosen = activity::choose_directory(asked.as_deref(), &candidates, in_memory);
    let chosen = chosen.map_err(|error| match (&args.io_dir, asked) {
        (Some(own), _) => {
            let option = format!("--io-dir {}", own.display());
            let failure = Failure::usage(anyhow::Error::new(error).context(option));
            if own.is_dir() { failure } else { failure.hint(NO_SUCH_DIRECTORY) }
        }
        (None, Some(_)) => Failure::environment(error)
            .hint("the activity io worked there in the first part; start a new run to use another"),
        (None, None) => {
            Failure::environment(error).hint("name a directory on a disk with --io-dir")
        }
    })?;
    // As it is found from everywhere, whoever goes on with the run.
    Ok(chosen.canonicalize().unwrap_or(chosen))
}

/// Where `io` may work unasked, best first.
fn candidates(args: &RunArgs) -> Vec<PathBuf> {
    let parent = args.out.as_ref().and_then(|out| out.ancestors().find(|path| path.is_dir()));
    let here = |path: &Path| if path.as_os_str().is_empty() { ".".into() } else { path.to_owned() };
    let parent = parent.map_or_else(|| ".".into(), here);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    [parent, PathBuf::from("/var/tmp")].into_iter().chain(home).collect()
}

/// True for a place that this host could have chosen itself, for the first part or for this one.
fn is_own(args: &RunArgs, candidates: &[PathBuf], place: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let result = args.resume.as_deref().and_then(real);
    let around = result.iter().flat_map(|result| result.ancestors());
    let all = around.map(Path::to_owned).chain(candidates.iter().filter_map(|path| real(path)));
    all.into_iter().any(|own| own == place)
}

const NO_SUCH_DIRECTORY: &str = "give a directory that is there, on a disk: it is not made";
