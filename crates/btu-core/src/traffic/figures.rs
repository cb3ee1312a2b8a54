//! What traces mean: rates, queues and delays of one flow; the knee, the sessions and the limits of a path.

pub mod capacity;
pub mod delay;
pub mod delay_knee;
pub mod emodel;
pub mod flow;
pub mod knee;
pub mod path_mtu;
pub mod places;
pub mod responsiveness;
pub mod search;
pub mod sessions;
pub mod slowdown;
pub mod transfer;
