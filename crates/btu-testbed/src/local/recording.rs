//! The packets of a run on the local testbed, by whatever carries them.

use btu_core::role::Role;

use super::LocalError;
use super::LocalTestbed;
use super::Path;
use super::topology::Pair;
use crate::capture::Capture;
use crate::capture::Listening;
use crate::capture::Watch;

/// A recording that goes on until it is finished or dropped.
#[derive(Debug)]
pub struct Recording<'t> {
    testbed: &'t LocalTestbed,
    /// The links that are wanted, in the order in which they were asked for.
    links: Vec<String>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Emulator,
    Listeners(Vec<Listening>),
    Finished,
}

impl<'t> Recording<'t> {
    pub(super) fn start(
        testbed: &'t LocalTestbed,
        black_boxes: &[Role],
        path: Path,
        limit: usize,
    ) -> Result<Self, LocalError> {
        let links = black_boxes.iter().map(|role| LocalTestbed::link_name(*role)).collect();
        let source = match path {
            Path::Emulated => {
                testbed.emulator.start_capture(limit)?;
                Source::Emulator
            }
            Path::Direct => {
                let listen = |role: &Role| testbed.listen(*role, limit);
                let all: Result<Vec<_>, _> = black_boxes.iter().map(listen).collect();
                Source::Listeners(all?)
            }
        };
        Ok(Self { testbed, links, source })
    }

    /// Ends the recording: one capture for each black box, in the order in which they were named.
    pub fn finish(mut self) -> Result<Vec<Capture>, LocalError> {
        match std::mem::replace(&mut self.source, Source::Finished) {
            Source::Emulator => {
                let all = self.testbed.emulator.end_capture()?;
                Ok(all.into_iter().filter(|one| self.links.contains(&one.link)).collect())
            }
            Source::Listeners(all) => {
                let finished: Result<Vec<_>, _> = all.into_iter().map(Listening::finish).collect();
                Ok(finished?)
            }
            Source::Finished => Ok(Vec::new()),
        }
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if matches!(self.source, Source::Emulator) {
            // A run that was broken off: the emulator must not go on recording.
            let _ = self.testbed.emulator.end_capture();
        }
    }
}

impl LocalTestbed {
    fn listen(&self, black_box: Role, limit: usize) -> Result<Listening, LocalError> {
        let watch = Watch {
            device: Pair::to(black_box).device(black_box, Path::Direct),
            link: Self::link_name(black_box),
            limit,
            cpus: self.cpus(black_box).clone(),
        };
        Ok(Listening::start(&self.hosts[&black_box], watch)?)
    }
}
