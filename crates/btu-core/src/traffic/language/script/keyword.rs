//! The words of NetSpec that stand for a fixed distribution.
//!
//! Those whose law its manual of 1999 gives are exact, and so are those whose table of tcplib (Danzig and Jamin, 1991)
//! is at hand. The others are such tables in NetSpec, too; here they are fits, and using one is a warning.

use crate::traffic::law::Law;
use crate::traffic::model::tcplib;

/// A word of NetSpec.
pub(super) struct Keyword {
    /// In lower case.
    pub(super) name: &'static str,
    /// The parameters that it takes, `min` and `max` apart.
    pub(super) parameters: &'static [&'static str],
    /// The distribution, in bytes, nanoseconds or counts.
    pub(super) law: fn(&[f64]) -> Law,
    /// What a user should know.
    pub(super) warning: &'static str,
}

const FITTED: &str = "NetSpec draws it from a table of tcplib; this is a fit, not verified";

/// Every word, in alphabetical order.
pub(super) static KEYWORDS: &[Keyword] = &[
    Keyword { name: "ftpitemsize", parameters: &[], law: |_| tcplib::sizes().clone(), warning: "" },
    Keyword { name: "ftpnofitems", parameters: &[], law: |_| tcplib::files().clone(), warning: "" },
    interarrival("ftpsessioninterarrival"),
    Keyword {
        name: "telnetpacketinterarrival",
        parameters: &[],
        law: |_| tcplib::gaps().clone(),
        warning: "",
    },
    Keyword {
        name: "telnetpacketsize",
        parameters: &[],
        law: |_| Law::of("const", [1.0, 0.0, 0.0]),
        warning: FITTED,
    },
    Keyword {
        name: "telnetsessionduration",
        parameters: &[],
        law: |_| crate::traffic::model::telnet_durations(),
        warning: FITTED,
    },
    interarrival("telnetsessioninterarrival"),
    Keyword {
        name: "videompegframesize",
        parameters: &["scenelengthmean"],
        law: |_| crate::traffic::model::mpeg_frames(),
        warning: "frames are drawn one by one here, and scenelengthmean changes nothing; type = mpeg keeps \
                  their pattern, and scenes of 10.5 I frames on average",
    },
    Keyword {
        name: "videoteleconferenceframesize",
        parameters: &["scale", "shape"],
        law: |values| match values {
            [scale, shape, ..] => Law::of("gamma", [*shape, *scale, 0.0]),
            _ => Law::of("const", [1.0, 0.0, 0.0]),
        },
        warning: "",
    },
    interarrival("voicesessionduration"),
    interarrival("voicesessioninterarrival"),
];

/// Exponential, lambda per microsecond.
const fn interarrival(name: &'static str) -> Keyword {
    Keyword {
        name,
        parameters: &["lambda"],
        law: |values| {
            let lambda = values.first().copied().unwrap_or(1.0);
            Law::of("exp", [crate::traffic::language::quantity::snap(1e3 / lambda), 0.0, 0.0])
        },
        warning: "",
    }
}
