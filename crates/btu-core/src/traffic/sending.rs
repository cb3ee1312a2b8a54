//! What a sender decides while it sends: bursts on a schedule, and how much the path and its peer allow now.

pub mod breaker;
pub mod burst;
pub mod gcc;
pub mod margin;
pub mod media;
pub mod token_bucket;
