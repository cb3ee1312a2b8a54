//! What rates between hosts have in common: a level, an effect of whoever sends, one of whoever receives, and a rest.
//!
//! The model stands in logarithms, `ln g(i, j) = m + tx(i) + rx(j) + e(i, j)`, and is fitted by Tukey's median polish
//! (Exploratory Data Analysis, 1977): a few cells that are far off move no effect.

use crate::stats::median;

/// A figure for each direction of each pair that was measured, by sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    hosts: usize,
    cells: Vec<Option<f64>>,
}

/// The model of a grid: effects have the median 0, and are differences of logarithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// What is usual, as a logarithm.
    pub level: f64,
    /// Of each host where it sends; `None` where it was measured with nobody.
    pub tx: Vec<Option<f64>>,
    /// Of each host where it receives.
    pub rx: Vec<Option<f64>>,
    /// What is left of each cell.
    pub rest: Grid,
}

impl Grid {
    /// Of so many hosts, with nothing measured.
    pub fn new(hosts: usize) -> Self {
        Self { hosts, cells: vec![None; hosts * hosts] }
    }

    /// How many hosts it has.
    pub fn hosts(&self) -> usize {
        self.hosts
    }

    /// The figure from one host to another.
    pub fn get(&self, from: usize, to: usize) -> Option<f64> {
        self.cells[from * self.hosts + to]
    }

    /// Keeps a figure; what a host has with itself counts nowhere.
    pub fn set(&mut self, from: usize, to: usize, figure: Option<f64>) {
        self.cells[from * self.hosts + to] = figure.filter(|_| from != to);
    }

    /// Every figure with its sender and receiver.
    pub fn figures(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let at = |index: usize| (index / self.hosts, index % self.hosts);
        let cells = self.cells.iter().enumerate();
        cells.filter_map(move |(index, cell)| cell.map(|it| (at(index).0, at(index).1, it)))
    }

    /// Of one sender, by receivers.
    pub fn sent_by(&self, from: usize) -> Vec<f64> {
        (0..self.hosts).filter_map(|to| self.get(from, to)).collect()
    }

    /// Of one receiver, by senders.
    pub fn received_by(&self, to: usize) -> Vec<f64> {
        (0..self.hosts).filter_map(|from| self.get(from, to)).collect()
    }

    /// The same with each figure through this function.
    fn map(&self, change: impl Fn(usize, usize, f64) -> f64) -> Self {
        let mut changed = Self::new(self.hosts);
        for (from, to, figure) in self.figures() {
            changed.set(from, to, Some(change(from, to, figure)));
        }
        changed
    }
}

/// Fits the model to rates; `None` where nothing was measured. Rates of zero have no logarithm and are left out.
pub fn polish(rates: &Grid) -> Option<Effects> {
    let mut logs = Grid::new(rates.hosts());
    for (from, to, rate) in rates.figures() {
        logs.set(from, to, (rate > 0.0).then(|| rate.ln()));
    }
    let all: Vec<f64> = logs.figures().map(|(.., log)| log).collect();
    let mut level = median(&all)?;
    let mut rest = logs.map(|_, _, log| log - level);
    let (mut tx, mut rx) = (vec![None; rates.hosts()], vec![None; rates.hosts()]);
    for _ in 0..SWEEPS {
        let of_senders = medians(rates.hosts(), |host| rest.sent_by(host));
        rest = rest.map(|from, _, left| left - of_senders[from].unwrap_or(0.0));
        let of_receivers = medians(rates.hosts(), |host| rest.received_by(host));
        rest = rest.map(|_, to, left| left - of_receivers[to].unwrap_or(0.0));
        level += taken_up(&mut tx, &of_senders) + taken_up(&mut rx, &of_receivers);
        let moved = of_senders.iter().chain(&of_receivers).flatten();
        if moved.fold(0.0, |most: f64, by| most.max(by.abs())) < STILL {
            break;
        }
    }
    Some(Effects { level, tx, rx, rest })
}

fn medians(hosts: usize, figures: impl Fn(usize) -> Vec<f64>) -> Vec<Option<f64>> {
    (0..hosts).map(|host| median(&figures(host))).collect()
}

/// Adds to effects what a sweep found, and returns their median, which belongs to the level.
fn taken_up(effects: &mut [Option<f64>], found: &[Option<f64>]) -> f64 {
    for (effect, found) in effects.iter_mut().zip(found) {
        *effect = found.map(|found| effect.unwrap_or(0.0) + found);
    }
    let known: Vec<f64> = effects.iter().flatten().copied().collect();
    let middle = median(&known).unwrap_or(0.0);
    effects.iter_mut().flatten().for_each(|effect| *effect -= middle);
    middle
}

/// More change nothing that a rule looks at.
const SWEEPS: usize = 10;

/// A sweep that moves no effect by more than this, in logarithms, is the last.
const STILL: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    /// Rates by the model, without a rest.
    fn exact(tx: &[f64], rx: &[f64]) -> Grid {
        let mut grid = Grid::new(tx.len());
        for (from, sends) in tx.iter().enumerate() {
            for (to, receives) in rx.iter().enumerate() {
                grid.set(from, to, Some(1000.0 * (sends + receives).exp()));
            }
        }
        grid
    }

    #[test]
    fn what_the_model_made_is_found_again() {
        let (tx, rx) = ([0.0, -0.2, 0.0, 0.1, 0.0], [0.05, 0.0, 0.0, 0.0, -0.3]);
        let found = polish(&exact(&tx, &rx)).unwrap();
        let is_near = |found: &[Option<f64>], made: &[f64]| {
            found.iter().zip(made).all(|(found, made)| (found.unwrap() - made).abs() < 1e-6)
        };
        assert!(is_near(&found.tx, &tx), "{:?}", found.tx);
        assert!(is_near(&found.rx, &rx), "{:?}", found.rx);
        assert!((found.level - 1000_f64.ln()).abs() < 1e-6);
        assert!(found.rest.figures().all(|(.., left)| left.abs() < 1e-6));
    }

    #[test]
    fn one_slow_cell_moves_no_effect_and_stands_in_the_rest() {
        let mut rates = exact(&[0.0; 6], &[0.0; 6]);
        rates.set(2, 4, Some(500.0));
        let found = polish(&rates).unwrap();
        assert!(found.tx.iter().chain(&found.rx).all(|effect| effect.unwrap().abs() < 1e-9));
        assert!((found.rest.get(2, 4).unwrap() - 0.5_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn a_host_that_was_measured_with_nobody_has_no_effect() {
        let mut rates = Grid::new(3);
        rates.set(0, 1, Some(10.0));
        rates.set(1, 0, Some(10.0));
        rates.set(1, 1, Some(99.0));
        rates.set(2, 0, Some(0.0));
        let found = polish(&rates).unwrap();
        assert_eq!((found.tx[2], found.rx[2]), (None, None));
        assert_eq!(found.rest.get(1, 1), None);
        assert_eq!(polish(&Grid::new(3)), None);
    }
}
