//! From a journal to text, Markdown, HTML, CSV and JSON.
//!
//! [`open`] reads a result's directory, [`compose`] makes a neutral document of a journal and its
//! analysis, [`render`] gives it a form. Nothing here opens a socket, reads a clock or depends on
//! the machine: the same input gives the same bytes.
#![forbid(unsafe_code)]

mod chart;
mod document;
mod flags;
mod format;
mod number;
mod pingpong;
mod result;
mod score;
mod section;
mod store;

pub use document::*;
pub use format::Content;
pub use format::FORMATS;
pub use format::Format;
pub use format::Report;
pub use format::UnknownFormat;
pub use format::headline_text;
pub use format::render;
pub use pingpong::OpenedPingPong;
pub use pingpong::compose_pingpong;
pub use pingpong::is_pingpong;
pub use pingpong::open_pingpong;
pub use pingpong::pingpong_text;
pub use pingpong::render_pingpong;
pub use result::*;
pub use score::score_json;
pub use score::score_text;
pub use section::Run;
pub use section::SECTIONS;
pub use section::Section;
pub use section::compose;
pub use store::OpenMode;
pub use store::Opened;
pub use store::StoreError;
pub use store::open;
