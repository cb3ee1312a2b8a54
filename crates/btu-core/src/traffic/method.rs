//! Standard methods under their own names: each decides from what was measured what is measured next.

mod frames;
pub(super) mod mlrsearch;
pub(super) mod responsiveness;
mod rfc2544;
pub(super) mod rfc6349;
mod rfc9004;
pub(super) mod rfc9097;

pub(super) use frames::FRAMES_OF_A_TRIAL;
pub(super) use frames::Frame;
pub(super) use frames::lost;
pub(super) use rfc6349::full_frame;
pub(super) use rfc6349::too_small;
pub(super) use rfc9004::MOST_FRAMES;

use super::course::SoFar;
use super::plan::Cell;
use super::plan::Course;
use crate::units::Nanos;

/// A standard method.
#[derive(Debug)]
pub struct Method {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it finds.
    pub about: &'static str,
    /// The text that it follows.
    pub source: &'static str,
    /// In which respects it is not what that text asks for, whatever the effort.
    pub differs: &'static [&'static str],
    /// What [`Course::time_ns`] is.
    pub trial: &'static str,
    /// The time that the text asks for.
    pub time: Nanos,
    /// A time that shows how it works and is not what the text asks for.
    pub short_time: Nanos,
    /// The frame sizes that the text asks for, bytes; empty where frames do not matter.
    pub frames: &'static [u32],
    /// How often a search is repeated, where the text takes a mean.
    pub repeats: u32,
    /// The relative distance at which the bounds of a search are near enough.
    pub width: f64,
    /// What a course does that was chosen in the place of what the text asks for.
    pub(super) chosen: fn(&Course) -> Option<String>,
    /// The next cell; `None` at the end.
    pub(super) next: fn(&SoFar<'_>) -> Option<Cell>,
}

/// Every method, by name.
pub static METHODS: &[&Method] = &[
    &mlrsearch::METHOD,
    &responsiveness::METHOD,
    &rfc2544::METHOD,
    &rfc6349::METHOD,
    &rfc9004::METHOD,
    &rfc9097::METHOD,
];

/// The method of this name.
pub fn find(name: &str) -> Option<&'static Method> {
    METHODS.iter().copied().find(|method| method.name == name)
}

impl Method {
    /// Times, sizes and repeats as the text asks for them.
    pub fn standard(&self) -> Course {
        Course {
            name: self.name.to_owned(),
            time_ns: self.time,
            frames: self.frames.to_vec(),
            classes: Vec::new(),
            width: self.width,
            repeats: self.repeats,
            ..Course::default()
        }
    }

    /// The same in little time: fewer frame sizes, short trials, one repeat.
    pub fn short(&self) -> Course {
        let frames = self.frames.iter().copied().filter(|size| SHORT_FRAMES.contains(size));
        Course {
            time_ns: self.short_time,
            frames: frames.collect(),
            repeats: self.repeats.min(3),
            ..self.standard()
        }
    }

    /// In which respects a course is not what the text asks for: what is never done here, then what this one leaves out.
    pub fn deviations(&self, course: &Course) -> Vec<String> {
        let mut found: Vec<String> = self.differs.iter().copied().map(str::to_owned).collect();
        found.extend((self.chosen)(course));
        if course.time_ns < self.time {
            let (got, want) = (course.time_ns.seconds(), self.time.seconds());
            found.push(format!("{} of {got} s instead of {want} s", self.trial));
        }
        let left: Vec<String> = self
            .frames
            .iter()
            .filter(|size| !course.frames.contains(size))
            .map(ToString::to_string)
            .collect();
        if !left.is_empty() {
            found.push(format!("without frames of {} B", left.join(", ")));
        }
        if course.repeats < self.repeats {
            found.push(format!("{} repeats instead of {}", course.repeats, self.repeats));
        }
        found
    }
}

/// Of a method that leaves nothing to choose.
fn nothing_chosen(_course: &Course) -> Option<String> {
    None
}

/// Of a search that its text gives none.
const WIDTH: f64 = 0.01;
const SHORT_FRAMES: [u32; 3] = [64, 512, 1518];
