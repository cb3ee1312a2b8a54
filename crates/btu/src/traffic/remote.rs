//! Traffic between real hosts: agents play the others, or measure in the place of this one.

pub(crate) mod bounds;
pub(super) mod casting;
pub(super) mod distant;
pub(super) mod elsewhere;
pub(crate) mod errand;
pub(super) mod meter;
pub(crate) mod needs;
pub(crate) mod ordered;
pub(crate) mod peers;
pub(crate) mod words;
