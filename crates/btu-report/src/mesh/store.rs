//! The directory of a mesh, read back and judged.

use btu_core::comparison::series::ByRound;
use btu_core::disclosure::Disclosure;
use btu_core::journal::EventRecord;
use btu_core::mesh::Journal;
use btu_core::mesh::analysis::Analysis;
use btu_core::mesh::analysis::analyse;
use btu_core::mesh::plan::Plan;
use btu_core::sample::Flag;

use crate::document::Document;
use crate::files::ResultFiles;
use crate::format::Content;
use crate::store::OpenMode;
use crate::store::StoreError;
use crate::store::read_verb;
use crate::stored::Kind;
use crate::stored::Stored;

use super::compose_mesh;

/// How a result of this verb is recognised and opened.
pub(crate) const KIND: Kind = Kind {
    verb: "mesh",
    is_in: Plan::is_in,
    open: |files, mode| Ok(Box::new(StoredMesh::open(files, mode)?)),
};

/// A mesh that was read back.
#[derive(Clone, Debug)]
pub struct StoredMesh {
    /// What was measured.
    pub journal: Journal,
    /// What it means.
    pub analysis: Analysis,
    warnings: Vec<Flag>,
}

impl StoredMesh {
    /// Reads the files of a result.
    ///
    /// # Errors
    /// A file is missing, unreadable or damaged; in [`OpenMode::Salvage`] damaged lines are left out.
    pub fn open(files: &ResultFiles, mode: OpenMode) -> Result<Self, StoreError> {
        let read = read_verb(files, mode, Plan::stored)?;
        let mut analysis = analyse(&read.journal);
        analysis.complete &= !read.salvaged;
        Ok(Self { journal: read.journal, analysis, warnings: read.warnings })
    }
}

impl Stored for StoredMesh {
    fn warnings(&self) -> &[Flag] {
        &self.warnings
    }

    fn samples(&self) -> usize {
        self.journal.lines.len()
    }

    fn document(&self) -> Document {
        compose_mesh(&self.journal, &self.analysis)
    }

    fn content(&self) -> Content<'_> {
        Content::Mesh { journal: &self.journal, analysis: &self.analysis }
    }

    fn figures(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_str(&crate::result::mesh_result(&self.journal, &self.analysis).to_json())
    }

    fn by_round(&self) -> ByRound {
        ByRound::of_mesh(&self.journal.plan, &self.analysis)
    }

    fn hosts(&self) -> &Disclosure {
        &self.journal.hosts
    }

    fn events(&self) -> &[EventRecord] {
        &self.journal.events
    }
}
