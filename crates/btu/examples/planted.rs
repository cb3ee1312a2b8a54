//! Plants causes in real traffic and counts how often the diagnosis names them, blind.
//!
//! ```text
//! planted [--trials N] [--only PART-OF-NAME] [--seed N] [--keep FOLDER | --again FOLDER]
//! ```
//!
//! `--keep` leaves packets and evidence of each trial in a folder; `--again` plants nothing and asks
//! about what was kept there.
//!
//! First is the diagnosis that weighs most (share of the time by confidence) of all that are named, those
//! of CPU time included. So other programs would plant causes of their own: a trial beside which they took
//! CPU time, by the rule that has the conductor repeat a run, is made again, and left out where the machine
//! finds no rest.
//!
//! Prints a table: how often the planted cause was named first, how often it was named at all, and
//! what was named first instead; the same for two causes at once, of which the stronger is to be named
//! first; then false alarms on healthy traffic. Ends with 1 where a cause was named first in fewer than
//! 19 of 20 trials, more than 1 of 100 healthy runs was called abnormal, or more than 1 of 10 trials had to
//! be left out.
#![forbid(unsafe_code)]
#![expect(clippy::expect_used, reason = "a trial that cannot be made ends the program")]

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use btu_sys::namespace;
use btu_sys::namespace::IdMap;

use planted::Bed;
use planted::CAUSES;
use planted::HEALTHY;
use planted::PAIRS;
use planted::Plant;
use planted::Trial;

#[path = "../tests/planted/mod.rs"]
mod planted;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let options = Options::read()?;
    if !namespace::is_privileged() {
        namespace::enter_user_namespace(IdMap::Root)?;
    }
    let source = Source::of(&options);
    let chosen = |plants: &'static [Plant]| {
        plants.iter().filter(|plant| plant.name.contains(&options.only)).collect::<Vec<_>>()
    };
    if [CAUSES, PAIRS, HEALTHY].into_iter().all(|plants| chosen(plants).is_empty()) {
        return Err(format!("--only {}: no name of a plant holds that", options.only).into());
    }
    heading();
    let mut outcome = Outcome::default();
    for plant in chosen(CAUSES).into_iter().chain(chosen(PAIRS)) {
        let tally = Tally::of(&source, plant, &options);
        outcome.left_out += tally.left_out();
        outcome.missed += u32::from(tally.first * 20 < tally.trials * 19);
        tally.print(plant);
    }
    for plant in chosen(HEALTHY) {
        let tally = Tally::of(&source, plant, &options);
        outcome.left_out += tally.left_out();
        outcome.healthy += tally.trials;
        outcome.alarms += tally.trials - tally.first;
        tally.print(plant);
    }
    outcome.print();
    let plants = [CAUSES, PAIRS, HEALTHY].into_iter().flat_map(chosen).count();
    let asked = u64::from(options.trials) * u64::try_from(plants)?;
    Ok(ExitCode::from(u8::from(!outcome.is_good(asked))))
}

/// What all plants together came to.
#[derive(Default)]
struct Outcome {
    /// Causes that were named first too seldom.
    missed: u32,
    healthy: u32,
    /// Healthy runs that were called abnormal.
    alarms: u32,
    /// Trials in which other programs took part each time.
    left_out: u32,
}

impl Outcome {
    fn is_good(&self, asked: u64) -> bool {
        let rested = u64::from(self.left_out) * 10 <= asked;
        self.missed == 0 && self.alarms * 100 <= self.healthy.max(100) && rested
    }

    #[expect(clippy::print_stdout, reason = "the result of this program")]
    fn print(&self) {
        let Self { missed, healthy, alarms, left_out } = self;
        println!(
            "{missed} causes below 19 of 20; {alarms} of {healthy} healthy runs called abnormal; {left_out} \
             trials left out, beside which other programs used the machine"
        );
    }
}

struct Options {
    trials: u32,
    only: String,
    seed: u64,
    keep: Option<PathBuf>,
    again: Option<PathBuf>,
}

impl Options {
    fn read() -> Result<Self, Box<dyn std::error::Error>> {
        let mut options =
            Self { trials: 20, only: String::new(), seed: 1, keep: None, again: None };
        let mut args = std::env::args().skip(1);
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| format!("{name}: missing value"))?;
            match name.as_str() {
                "--trials" => options.trials = value.parse()?,
                "--only" => options.only = value,
                "--seed" => options.seed = value.parse()?,
                "--keep" => options.keep = Some(value.into()),
                "--again" => options.again = Some(value.into()),
                _ => return Err(format!("{name}: unknown option").into()),
            }
        }
        Ok(options)
    }
}

/// Where trials come from.
enum Source {
    /// Packets that are sent now.
    Bed(Box<Bed>),
    /// What an earlier run kept.
    Folder(PathBuf),
}

impl Source {
    fn of(options: &Options) -> Self {
        options.again.clone().map_or_else(|| Self::Bed(Box::new(Bed::new())), Self::Folder)
    }

    fn trial(&self, plant: &Plant, number: u32, options: &Options) -> Trial {
        match self {
            Self::Bed(bed) => calm(bed, plant, options.seed + u64::from(number)),
            Self::Folder(folder) => kept(folder, plant, number).expect("a trial that was kept"),
        }
    }
}

/// A trial beside which nobody else used the machine, or the last one of several.
fn calm(bed: &Bed, plant: &Plant, seed: u64) -> Trial {
    let mut trial = bed.trial(plant, seed);
    for _ in 1..MOST_TRIES {
        if trial.disturbance().is_none() {
            break;
        }
        thread::sleep(REST);
        trial = bed.trial(plant, seed);
    }
    trial
}

const MOST_TRIES: u32 = 5;
const REST: Duration = Duration::from_secs(1);

/// What was named in the trials of one plant.
#[derive(Default)]
struct Tally {
    asked: u32,
    /// Those that count.
    trials: u32,
    first: u32,
    named: u32,
    instead: BTreeMap<String, u32>,
}

impl Tally {
    fn of(source: &Source, plant: &Plant, options: &Options) -> Self {
        let mut tally = Self { asked: options.trials, ..Self::default() };
        for number in 0..options.trials {
            let trial = source.trial(plant, number, options);
            if let Some(folder) = &options.keep {
                keep(folder, plant, number, &trial).expect("a folder to write to");
            }
            if trial.disturbance().is_none() {
                tally.add(plant, &trial.diagnoses());
            }
        }
        tally
    }

    fn left_out(&self) -> u32 {
        self.asked - self.trials
    }

    fn add(&mut self, plant: &Plant, names: &[String]) {
        self.trials += 1;
        let first = names.first().map_or("nothing", String::as_str);
        let is_right = plant.is_named_by(names.first());
        self.first += u32::from(is_right);
        self.named += u32::from(names.iter().any(|name| plant.is_named_by(Some(name))));
        if !is_right {
            *self.instead.entry(first.to_owned()).or_default() += 1;
        }
    }

    #[expect(clippy::print_stdout, reason = "the result of this program")]
    fn print(&self, plant: &Plant) {
        let instead: Vec<String> =
            self.instead.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let (first, named, trials) = (self.first, self.named, self.trials);
        println!("{:<24} {first:>3} {named:>5} of {trials:<4} {}", plant.name, instead.join(", "));
    }
}

/// Leaves the packets of a trial and what else was known of it.
fn keep(folder: &Path, plant: &Plant, number: u32, trial: &Trial) -> std::io::Result<()> {
    let [packets, sample] = files(folder, plant, number);
    std::fs::create_dir_all(folder)?;
    std::fs::write(packets, &trial.pcapng)?;
    std::fs::write(sample, serde_json::to_vec_pretty(&trial.sample)?)
}

/// A trial that was kept.
fn kept(folder: &Path, plant: &Plant, number: u32) -> std::io::Result<Trial> {
    let [packets, sample] = files(folder, plant, number);
    let sample = serde_json::from_slice(&std::fs::read(sample)?)?;
    Ok(Trial { sample, pcapng: std::fs::read(packets)? })
}

fn files(folder: &Path, plant: &Plant, number: u32) -> [PathBuf; 2] {
    let name = plant.name.replace([' ', ',', '\''], "-");
    ["pcapng", "json"].map(|kind| folder.join(format!("{name}-{number}.{kind}")))
}

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn heading() {
    println!("{:<24} first named          named first instead", "planted cause");
}
