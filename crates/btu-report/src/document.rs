//! A report before it has a form: sections of blocks that every format can render.
//!
//! The document holds text and numbers only, already in reading order. Charts are described, not
//! drawn: a format that cannot draw shows the chart's table.

mod clean;
mod groups;
mod lines;
mod sequence;
mod stacks;

use serde::Serialize;

pub use clean::LONGEST_TEXT;
pub use groups::*;
pub use lines::*;
pub use sequence::SequenceChart;
pub use stacks::*;

pub(crate) use clean::Lines;
pub(crate) use clean::harmless;

/// A whole report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// What the report is about, one line.
    pub title: String,
    /// One line that stands inside every picture: edition, host, date.
    pub caption: String,
    /// In reading order.
    pub sections: Vec<Part>,
}

/// One section with its content.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Stable name, usable as an anchor.
    pub name: &'static str,
    /// Heading.
    pub title: &'static str,
    /// Depth of detail.
    pub level: Level,
    /// Content.
    pub blocks: Vec<Block>,
}

/// How deep a reader has to go to meet a section (maly1996, section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// 1: one number, for buyers.
    Headline,
    /// 2: application classes.
    Applications,
    /// 3: every cell.
    Cells,
    /// 4: what is abnormal.
    Abnormal,
    /// What lets a stranger check the result.
    Appendix,
}

/// A piece of content.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Block {
    /// Bars with intervals.
    Bars(BarChart),
    /// The headline.
    Card(Card),
    /// Text to copy, kept as it is.
    Code {
        /// The text.
        text: String,
    },
    /// Content that only some readers want.
    Details {
        /// What is inside.
        summary: String,
        /// The content.
        blocks: Vec<Self>,
    },
    /// Names and values.
    Facts {
        /// The pairs.
        rows: Vec<Pair>,
    },
    /// Bars of several hosts.
    Groups(GroupedBars),
    /// A matrix in colours.
    Heatmap(Heatmap),
    /// Curves over two axes.
    Lines(LineChart),
    /// Short points.
    List {
        /// The points.
        items: Vec<String>,
    },
    /// Running text.
    Paragraph {
        /// The text.
        text: String,
    },
    /// A TCP connection over time.
    Sequence(Box<SequenceChart>),
    /// Bars that are divided into parts.
    Stacks(StackedBars),
    /// Rows and columns.
    Table(Table),
}

/// Level 1: what a buyer reads in ten seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    /// Score, penalty, score without load.
    pub figures: Vec<Figure>,
    /// What stands beside the score wherever it is shown.
    pub badges: Vec<Badge>,
    /// Why the result is not rankable.
    pub reasons: Vec<String>,
    /// The result in a sentence.
    pub sentence: String,
    /// Edition, testbed, host, date.
    pub facts: Vec<Pair>,
}

/// One figure of the headline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// `BTU`.
    pub name: &'static str,
    /// The digits, or a dash.
    pub value: String,
    /// `Mb/s`.
    pub unit: &'static str,
    /// Interval, or why there is none.
    pub interval: String,
    /// What the figure means.
    pub meaning: &'static str,
}

/// A word that must not be missed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Badge {
    /// `NOT RANKABLE`.
    pub word: &'static str,
    /// How it looks.
    pub tone: Tone,
}

/// Whether a badge is good news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Nothing to watch out for.
    Good,
    /// Read the reasons.
    Watch,
}

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// Rows and columns of text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Table {
    /// What the table shows.
    pub title: String,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; each has one text per column.
    pub rows: Vec<Vec<String>>,
    /// How many rows at the end are means of those above.
    pub summary_rows: usize,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Heading, with the unit.
    pub title: String,
    /// How its texts stand.
    pub align: Align,
}

/// How a column's texts stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Bars with intervals, one per group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BarChart {
    /// Stable name, usable as an anchor.
    pub name: &'static str,
    /// What is shown.
    pub title: String,
    /// What a reader who cannot see the picture should know.
    pub description: String,
    /// Left axis.
    pub axis: String,
    /// The left axis goes at least so far: less is not worth a tall bar.
    pub reach: f64,
    /// Right axis.
    pub second_axis: Option<SecondAxis>,
    /// The bars, from left to right.
    pub bars: Vec<Bar>,
    /// What a bar is.
    pub bar_legend: String,
    /// What the mark beside a bar is, if there are marks.
    pub mark_legend: Option<String>,
    /// How to read the chart.
    pub reading: String,
    /// The same numbers.
    pub table: Table,
}

/// A right axis that shows the left one in other words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SecondAxis {
    /// Heading, with the unit.
    pub title: String,
    /// The left value v reads as this number over v.
    pub numerator: f64,
}

/// One bar.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// Below the bar.
    pub label: String,
    /// Below that, smaller.
    pub sublabel: String,
    /// Height; `None` where there is no figure.
    pub value: Option<f64>,
    /// Whisker.
    pub interval: Option<[f64; 2]>,
    /// A mark at another height, for comparison.
    pub mark: Option<f64>,
    /// The value as text.
    pub text: String,
}

/// A matrix in colours: groups of columns beside each other, one row per case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heatmap {
    /// Stable name, usable as an anchor.
    pub name: &'static str,
    /// What is shown.
    pub title: String,
    /// What a reader who cannot see the picture should know.
    pub description: String,
    /// Headings of the rows.
    pub rows: Vec<String>,
    /// Headings of the columns within a group.
    pub columns: Vec<String>,
    /// The groups.
    pub groups: Vec<HeatmapGroup>,
    /// What each colour means, from the lowest to the highest.
    pub legend: Vec<String>,
    /// Which family of colours.
    pub palette: Palette,
    /// How to read the chart.
    pub reading: String,
    /// The same numbers.
    pub table: Table,
}

/// The colours of a heatmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Palette {
    /// Goodput: more is darker.
    Goodput,
    /// Slowdown: more is warmer.
    Slowdown,
}

/// The columns of one activity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeatmapGroup {
    /// Heading.
    pub title: String,
    /// Row by row, column by column.
    pub tiles: Vec<Vec<Tile>>,
}

/// One field of a heatmap.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tile {
    /// Number of the colour, from 0; `None` where nothing was measured.
    pub step: Option<usize>,
    /// The value as text.
    pub text: String,
    /// True where the cell is flagged.
    pub flagged: bool,
}

impl Document {
    /// The section of this name.
    pub fn section(&self, name: &str) -> Option<&Part> {
        self.sections.iter().find(|part| part.name == name)
    }
}

impl Level {
    /// The number that the paper gives the level; `None` for an appendix.
    pub const fn number(self) -> Option<u8> {
        match self {
            Self::Headline => Some(1),
            Self::Applications => Some(2),
            Self::Cells => Some(3),
            Self::Abnormal => Some(4),
            Self::Appendix => None,
        }
    }
}

impl Block {
    /// Running text.
    pub fn paragraph(text: impl Into<String>) -> Self {
        Self::Paragraph { text: text.into() }
    }

    /// True for what a terminal cannot show.
    pub const fn is_picture(&self) -> bool {
        matches!(
            self,
            Self::Bars(_)
                | Self::Groups(_)
                | Self::Heatmap(_)
                | Self::Lines(_)
                | Self::Sequence(_)
                | Self::Stacks(_)
        )
    }

    /// Content that only some readers want.
    pub fn details(summary: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::Details { summary: summary.into(), blocks }
    }
}

impl Pair {
    /// A name and its value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

impl Column {
    /// A column of words.
    pub fn left(title: impl Into<String>) -> Self {
        Self { title: title.into(), align: Align::Left }
    }

    /// A column of numbers.
    pub fn right(title: impl Into<String>) -> Self {
        Self { title: title.into(), align: Align::Right }
    }
}
