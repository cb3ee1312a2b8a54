//! From a journal to text, Markdown, HTML, CSV and JSON.
//!
//! [`open`] reads a result's directory, [`compose`] makes a neutral document of a journal and its
//! analysis, [`render`] gives it a form. Nothing here opens a socket, reads a clock or depends on
//! the machine: the same input gives the same bytes.
#![forbid(unsafe_code)]

mod bundle;
mod chart;
mod document;
mod files;
mod flags;
mod format;
mod number;
mod pingpong;
mod ranking;
mod result;
mod score;
mod section;
mod store;
mod traffic;
mod verify;

pub use bundle::BundleError;
pub use bundle::RESULT_FILES;
pub use bundle::pack;
pub use bundle::unpack;
pub use document::*;
pub use files::MANIFEST;
pub use files::ResultFiles;
pub use files::SIGNATURES;
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
pub use pingpong::open_pingpong_files;
pub use pingpong::pingpong_text;
pub use pingpong::render_pingpong;
pub use ranking::Candidate;
pub use ranking::ClassFigures;
pub use ranking::CorrelationResult;
pub use ranking::MarkResult;
pub use ranking::PriceResult;
pub use ranking::RankedHost;
pub use ranking::Ranking;
pub use ranking::SettingField;
pub use ranking::compose_ranking;
pub use ranking::ranking;
pub use ranking::render_ranking;
pub use result::*;
pub use score::score_json;
pub use score::score_text;
pub use section::Run;
pub use section::SECTIONS;
pub use section::Section;
pub use section::compose;
pub use section::compose_second_run;
pub use store::OpenMode;
pub use store::Opened;
pub use store::StoreError;
pub use store::open;
pub use store::open_files;
pub use traffic::OpenedTraffic;
pub use traffic::compose_traffic;
pub use traffic::is_traffic;
pub use traffic::open_traffic;
pub use traffic::render_traffic;
pub use traffic::traffic_text;
pub use verify::Claim;
pub use verify::Finding;
pub use verify::Signer;
pub use verify::Tier;
pub use verify::Verification;
pub use verify::verification_text;
pub use verify::verify;
