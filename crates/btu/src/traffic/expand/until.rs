//! What bounds what is drawn, and what ends it before its time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use btu_core::units::Nanos;

use crate::traffic::remote::words;

/// What bounds flows that are drawn, and what ends a conversation that does not end by itself.
#[derive(Clone, Debug)]
pub(crate) struct Until {
    pub(crate) patience: Nanos,
    pub(crate) cancel: Arc<AtomicBool>,
    /// Of all flows together: memory is kept for each.
    pub(crate) most_blocks: usize,
}

impl Until {
    /// Why more is not drawn.
    pub(super) fn too_many(&self) -> String {
        let (left, most) = (self.most_blocks, words::MOST_BLOCKS);
        if left < most {
            return format!("more than the {left} blocks that are left of {most}");
        }
        format!("more than {left} blocks")
    }
}
