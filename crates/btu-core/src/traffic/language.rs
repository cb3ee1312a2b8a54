//! Scenarios as they are written: the block language of NetSpec and TOML, both to one tree, and back.

pub(super) mod build;
pub(super) mod call;
pub(super) mod form;
pub(super) mod hosts;
pub(super) mod quantity;
pub mod recipe;
pub(super) mod recording;
pub(super) mod scenario;
pub(super) mod script;
pub(super) mod settings;
pub(super) mod variate;
pub(super) mod write;
