//! The score and the penalty: equations (5) to (11) of maly1996.
//!
//! Goodputs and slowdowns come in per cell; repeats of a cell are folded by their geometric mean
//! first. Every mean over cases, activities and applications is geometric, because only then is the
//! ratio of two hosts the same whatever the reference (maly1996, section 5, "Statistics").

mod classic;
mod table;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use crate::stats::geometric_mean;

pub use classic::Classic;
pub use table::ClassResult;
pub use table::TableError;
pub use table::TableScore;
pub use table::score_table;

/// One run of one cell, or one cell over its repeats: what the score takes from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The case `x`.
    pub case: String,
    /// The application y.
    pub application: String,
    /// The activity z; `none` for a baseline.
    pub activity: String,
    /// Which repeat of the cell, of a run its pass; a cell over its repeats has that of the first.
    pub repeat: u64,
    /// bits / seconds, Mb/s.
    pub goodput_mbps: f64,
    /// `z_COMM(x, y) / z_base`; `None` for baselines, and where it was not measured.
    pub slowdown: Option<f64>,
}

/// The figures of one application class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassScore {
    /// The class y.
    pub application: String,
    /// eq. 6, Mb/s; `None` without loaded cells.
    pub btu_mbps: Option<f64>,
    /// The same over the baselines, Mb/s.
    pub btu_idle_mbps: Option<f64>,
    /// `GM_z` of the slowdowns; `None` where none was measured.
    pub slowdown: Option<f64>,
    /// eq. 10.
    pub classic: Classic,
}

/// The figures of one host.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// One entry per application, in order of appearance.
    pub applications: Vec<ClassScore>,
    /// eq. 7, Mb/s; `None` without loaded cells.
    pub btu_mbps: Option<f64>,
    /// The same over the baselines, Mb/s.
    pub btu_idle_mbps: Option<f64>,
    /// `GM_y GM_z` of the slowdowns; [`penalty_percent`] makes the penalty of it.
    pub slowdown: Option<f64>,
    /// eq. 11.
    pub classic: Classic,
}

/// The score of runs; those of one cell are its repeats, and enter by their geometric mean.
pub fn score(runs: &[Figure]) -> Score {
    let cells = fold_repeats(runs);
    let names = distinct(cells.iter().map(|cell| cell.application.as_str()));
    let mut classes: BTreeMap<&str, Vec<&Figure>> = BTreeMap::new();
    for cell in &cells {
        classes.entry(&cell.application).or_default().push(cell);
    }
    let of = |name: &&str| Some(class_score(name, classes.get(name)?));
    let applications: Vec<ClassScore> = names.iter().filter_map(of).collect();
    let over = |figure: fn(&ClassScore) -> Option<f64>| mean_of(applications.iter().map(figure));
    Score {
        //= maly1996#5 eq. 7
        btu_mbps: over(|class| class.btu_mbps),
        btu_idle_mbps: over(|class| class.btu_idle_mbps),
        slowdown: over(|class| class.slowdown),
        //= maly1996#5 eq. 11
        classic: Classic::fold(applications.iter().map(|class| class.classic)),
        applications,
    }
}

/// How much longer the host's work takes: (slowdown - 1) x 100.
pub fn penalty_percent(slowdown: f64) -> f64 {
    (slowdown - 1.0) * 100.0
}

/// One figure per cell, by the geometric mean over its repeats, in order of appearance.
pub fn fold_repeats(runs: &[Figure]) -> Vec<Figure> {
    let mut places: BTreeMap<[&str; 3], usize> = BTreeMap::new();
    let mut cells: Vec<Vec<&Figure>> = Vec::new();
    for run in runs {
        let place = *places.entry(run.key()).or_insert(cells.len());
        if place == cells.len() {
            cells.push(Vec::new());
        }
        cells[place].push(run);
    }
    cells.iter().filter_map(|repeats| Some(repeats.first()?.with_means_of(repeats))).collect()
}

/// The score of each repeat, in their order. One in which a loaded cell lacks its slowdown, or its run, has none:
/// its mean would be over other activities than that of the others.
pub fn score_repeats(runs: &[Figure]) -> Vec<Score> {
    let mut repeats: BTreeMap<u64, Vec<Figure>> = BTreeMap::new();
    for run in runs {
        repeats.entry(run.repeat).or_default().push(run.clone());
    }
    let lacking = lacking_repeats(runs);
    let of = |(repeat, runs): (u64, Vec<Figure>)| {
        let lacks = lacking.contains(&repeat);
        score(&if lacks { runs.into_iter().map(Figure::without_slowdown).collect() } else { runs })
    };
    repeats.into_iter().map(of).collect()
}

/// The runs, of which the slowdowns count by whole repeats: where some repeats have that of every loaded
/// run, those of the others are taken out. Where every repeat lacks some, all that there is stays.
pub fn even_slowdowns(runs: Vec<Figure>) -> Vec<Figure> {
    let lacking = lacking_repeats(&runs);
    if !runs.iter().any(|run| run.is_loaded() && !lacking.contains(&run.repeat)) {
        return runs;
    }
    let even = |run: Figure| {
        if lacking.contains(&run.repeat) { run.without_slowdown() } else { run }
    };
    runs.into_iter().map(even).collect()
}

/// The repeats in which some loaded cell has no slowdown, whether its run is there or not.
fn lacking_repeats(runs: &[Figure]) -> BTreeSet<u64> {
    missing_slowdowns(runs).into_iter().map(|(repeat, _)| repeat).collect()
}

/// What the loaded cells of these runs would have to have in every repeat, and have not: repeat and cell, in their
/// order, that of the cells being that in which they appear.
fn missing_slowdowns(runs: &[Figure]) -> Vec<(u64, [&str; 3])> {
    let loaded = || runs.iter().filter(|run| run.is_loaded());
    let mut seen = BTreeSet::new();
    let cells: Vec<_> = loaded().map(Figure::key).filter(|cell| seen.insert(*cell)).collect();
    let repeats: BTreeSet<u64> = loaded().map(|run| run.repeat).collect();
    let with = loaded().filter(|run| run.slowdown.is_some());
    let known: BTreeSet<_> = with.map(|run| (run.repeat, run.key())).collect();
    let all = repeats.iter().flat_map(|repeat| cells.iter().map(move |cell| (*repeat, *cell)));
    all.filter(|one| !known.contains(one)).collect()
}

impl Figure {
    /// True where an activity ran beside COMM.
    pub fn is_loaded(&self) -> bool {
        self.activity != "none"
    }

    /// True for a loaded run whose slowdown nobody knows.
    pub fn lacks_slowdown(&self) -> bool {
        self.is_loaded() && self.slowdown.is_none()
    }

    fn without_slowdown(self) -> Self {
        Self { slowdown: None, ..self }
    }

    /// What makes two runs repeats of one cell.
    fn key(&self) -> [&str; 3] {
        [&self.case, &self.application, &self.activity]
    }

    fn with_means_of(&self, repeats: &[&Self]) -> Self {
        let goodputs = mean_of(repeats.iter().map(|run| Some(run.goodput_mbps)));
        Self {
            goodput_mbps: goodputs.unwrap_or(0.0),
            slowdown: mean_of(repeats.iter().map(|run| run.slowdown)),
            ..self.clone()
        }
    }
}

fn class_score(name: &str, cells: &[&Figure]) -> ClassScore {
    let activities = distinct(cells.iter().map(|cell| cell.activity.as_str()));
    let over_cases = |activity: &str, figure: fn(&Figure) -> Option<f64>| {
        mean_of(cells.iter().filter(|cell| cell.activity == activity).map(|cell| figure(cell)))
    };
    let loaded: Vec<&str> = activities.into_iter().filter(|name| *name != "none").collect();
    // As written: M / `GM_x` `COMM_z(x, y)`. With equal M that is the geometric mean of the goodputs, and M
    // differs between cells of a window.
    //= maly1996#5 eq. 5
    let btus = loaded.iter().map(|activity| over_cases(activity, |cell| Some(cell.goodput_mbps)));
    let slowdowns: Vec<f64> =
        loaded.iter().filter_map(|activity| over_cases(activity, |cell| cell.slowdown)).collect();
    ClassScore {
        application: name.to_owned(),
        //= maly1996#5 eq. 6
        btu_mbps: mean_of(btus),
        btu_idle_mbps: over_cases("none", |cell| Some(cell.goodput_mbps)),
        slowdown: geometric_mean(&slowdowns),
        classic: Classic::of_slowdowns(&slowdowns),
    }
}

/// The geometric mean of the figures that are there.
fn mean_of(figures: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    geometric_mean(&figures.flatten().collect::<Vec<f64>>())
}

/// The names in order of appearance, each once.
fn distinct<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = BTreeSet::new();
    names.filter(|name| seen.insert(*name)).collect()
}

#[cfg(test)]
mod tests;
