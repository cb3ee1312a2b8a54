//! The message layer `mpich`: MPICH, by its library and its launcher.

use std::process::Command;

use btu_core::app::sample::Wait;
use btu_sys::mpi::Mpich as Interface;

use super::Entered;
use super::MessageLayer;
use super::ProcessLayer;
use super::RanksAre;
use super::Start;
use super::Terms;
use super::mpi::Launcher;
use super::mpi::MpiEnd;
use crate::error::EngineError;

/// The message layer `mpich`.
#[derive(Debug)]
pub(super) struct Mpich;

impl MessageLayer for Mpich {
    fn name(&self) -> &'static str {
        "mpich"
    }

    fn about(&self) -> &'static str {
        "MPICH 3.2 to 4 over shared memory, ranks are processes; all on one host"
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

impl ProcessLayer for Mpich {
    fn is_there(&self) -> Result<(), EngineError> {
        LAUNCHER.program().map(drop)
    }

    fn disclosed(&self) -> String {
        LAUNCHER.disclosed()
    }

    fn launcher(&self, start: &Start) -> Result<Command, EngineError> {
        let mut command = Command::new(LAUNCHER.program()?);
        command.args(["-np", &start.ranks.to_string()]).args(&start.words);
        Ok(command)
    }

    fn end(&self, _: &Start, terms: &Terms) -> Result<Entered, EngineError> {
        MpiEnd::<Interface>::enter(terms, LAUNCHER.remedy)
    }
}

pub(super) const LAUNCHER: Launcher = Launcher {
    name: "mpirun.mpich",
    is_own: |file| file.contains("hydra"),
    variables: &[],
    remedy: "apt-get install mpich libmpich12",
};
