//! The message layer `openmpi`: Open MPI, by its library and its launcher.

use std::process::Command;

use btu_core::app::sample::Wait;
use btu_sys::mpi::OpenMpi as Interface;

use super::Entered;
use super::MessageLayer;
use super::ProcessLayer;
use super::RanksAre;
use super::Start;
use super::Terms;
use super::mpi::Launcher;
use super::mpi::MpiEnd;
use crate::error::EngineError;

/// The message layer `openmpi`.
#[derive(Debug)]
pub(super) struct OpenMpi;

impl MessageLayer for OpenMpi {
    fn name(&self) -> &'static str {
        "openmpi"
    }

    fn about(&self) -> &'static str {
        "Open MPI 3 to 5 over shared memory, ranks are processes; all on one host"
    }

    fn spans_hosts(&self) -> bool {
        false
    }

    fn waits(&self) -> &'static [Wait] {
        &[Wait::Block, Wait::Spin]
    }

    fn ranks(&self) -> RanksAre<'_> {
        RanksAre::Processes(self)
    }
}

impl ProcessLayer for OpenMpi {
    fn is_there(&self) -> Result<(), EngineError> {
        LAUNCHER.program().map(drop)
    }

    fn disclosed(&self) -> String {
        LAUNCHER.disclosed()
    }

    fn launcher(&self, start: &Start) -> Result<Command, EngineError> {
        let mut command = Command::new(LAUNCHER.program()?);
        // It refuses root otherwise, for what a mistaken order could do; this order runs this program alone.
        command.envs(LAUNCHER.variables.iter().map(|name| (name, "1")));
        let idle = if start.is_crowded { "1" } else { "0" };
        // Ranks choose their CPUs themselves, and slots are those of the machine, not of this process.
        command.args(["--oversubscribe", "--bind-to", "none"]);
        command.args(["--mca", "mpi_yield_when_idle", idle]);
        // Shared memory alone: which path is taken is no matter of what else is installed.
        command.args(["--mca", "pml", "ob1", "--mca", "btl", "vader,self"]);
        command.args(["-np", &start.ranks.to_string()]).args(&start.words);
        Ok(command)
    }

    fn end(&self, _: &Start, terms: &Terms) -> Result<Entered, EngineError> {
        MpiEnd::<Interface>::enter(terms, LAUNCHER.remedy)
    }
}

pub(super) const LAUNCHER: Launcher = Launcher {
    name: "mpirun.openmpi",
    is_own: |file| !file.contains("hydra"),
    variables: &["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"],
    remedy: "apt-get install openmpi-bin libopenmpi3",
};
