//! Extracts of captures: a report tells the same with them, and whatever does not fit is passed over.

use std::fs;
use std::path::Path;
use std::path::PathBuf;

use btu_core::capture::Interface;
use btu_core::capture::LinkType;
use btu_core::capture::PcapNg;
use btu_core::journal::Journal;
use btu_core::journal::Record;
use btu_core::journal::codec;
use btu_core::manifest::hash;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::RunAgain;
use btu_core::run::analysis::SecondRun;
use btu_core::sample::CaptureSample;
use btu_core::sample::Series;
use btu_core::tcp::Detail;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_report::Captures;
use btu_report::FORMATS;
use btu_report::OpenMode;
use btu_report::Opened;
use btu_report::ResultFiles;
use btu_report::Stored as _;
use btu_report::StoredRun;
use btu_report::open;
use btu_report::verify;
use tempfile::TempDir;

use crate::dice::Dice;
use crate::dice::mutated;
use crate::explain;
use crate::fixture;

/// A result in a directory, whose two cells were run again: the capture of the second ends early.
struct Stored {
    directory: TempDir,
    journal: Journal,
}

impl Stored {
    fn new() -> Self {
        let stored = Self { directory: TempDir::new().unwrap(), journal: journal() };
        fs::create_dir(stored.path("captures")).unwrap();
        for (sample, packets) in stored.journal.captures().into_iter().zip(both()) {
            fs::write(stored.capture(sample), packets).unwrap();
        }
        stored.write(&stored.journal);
        stored
    }

    fn write(&self, journal: &Journal) {
        let samples: String =
            journal.records.iter().map(|record| codec::line(record).unwrap()).collect();
        let hosts = serde_json::to_string(&journal.hosts).unwrap();
        let files = [("plan.toml", journal.plan.to_toml()), ("hosts.json", hosts)];
        for (name, text) in files.into_iter().chain([("samples.jsonl", samples)]) {
            fs::write(self.path(name), text).unwrap();
        }
        fs::write(self.path("events.jsonl"), "").unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn capture(&self, sample: &CaptureSample) -> PathBuf {
        self.path(&sample.file.as_ref().unwrap().path)
    }

    fn extract(&self, number: usize) -> PathBuf {
        let capture = self.capture(self.journal.captures()[number]);
        PathBuf::from(format!("{}.extract", capture.display()))
    }

    /// Its files as the verbs read them.
    fn read(&self) -> StoredRun {
        let files = ResultFiles::read(self.directory.path()).unwrap();
        StoredRun::open(&files, OpenMode::Strict).unwrap()
    }

    fn keep_extracts(&self) {
        let extracts = self.read().extracts();
        let names: Vec<PathBuf> = extracts.iter().map(|(name, _)| self.path(name)).collect();
        assert_eq!(names, [self.extract(0), self.extract(1)]);
        for (path, (_, content)) in names.iter().zip(extracts) {
            fs::write(path, content).unwrap();
        }
    }

    fn opened(&self) -> Opened {
        open(self.directory.path(), OpenMode::Strict).unwrap()
    }

    fn recalled(&self) -> Vec<bool> {
        let runs = self.opened().analyse(Captures::Extracted).second_runs;
        runs.iter().map(SecondRun::is_recalled).collect()
    }
}

/// Both captures.
fn both() -> [Vec<u8>; 2] {
    let whole = packets(u64::MAX);
    [whole, packets(8_160_000)]
}

fn packets(until_micros: u64) -> Vec<u8> {
    let mut file = PcapNg::new("");
    file.interface(&Interface::new("test-active", LinkType::Raw));
    let all = explain::packets();
    let early = all.iter().filter(|packet| packet.0 < until_micros);
    early.for_each(|packet| file.packet(&explain::record(packet)));
    if until_micros < u64::MAX {
        file.full(0, Nanos::from_micros(until_micros), 0, 777);
    }
    file.finish()
}

fn journal() -> Journal {
    let mut journal = fixture::tiny_journal();
    for (cell, packets) in journal.plan.cells().into_iter().zip(both()) {
        let mut record = fixture::second_run(cell, [5001, 5002]);
        let Record::Capture(sample) = &mut record else { panic!("a second run") };
        let file = sample.file.as_mut().unwrap();
        (file.bytes, file.blake3) = (u64::try_from(packets.len()).unwrap(), hash(&packets));
        let first = &mut sample.run.comm.as_mut().unwrap().connections[0];
        first.sender.options.mss_bytes = Some(1000);
        first.sender.series = Some(Series {
            t_ns: vec![10_000_000, 10_000_000, 10_000_000],
            cwnd_segments: vec![10, 10, -5],
            ..Series::default()
        });
        journal.records.push(record);
    }
    journal
}

/// A report in every format, and what else is made of a result.
fn everything(run: &StoredRun) -> Vec<Vec<u8>> {
    let formats = FORMATS.iter().map(|format| run.render(format.name()).unwrap());
    let figures = serde_json::to_vec(&run.figures().unwrap()).unwrap();
    formats.chain([figures, run.brief().into_bytes()]).collect()
}

#[test]
fn a_report_tells_the_same_by_extracts_as_by_packets_in_every_format() {
    let stored = Stored::new();
    assert_eq!(stored.recalled(), [false, false]);
    let by_packets = everything(&stored.read());
    let page = String::from_utf8(by_packets[2].clone()).unwrap();
    for word in
        ["kB of congestion window", "its memory was full after", "id=\"sequence-3\"", "pause 1"]
    {
        assert!(page.contains(word), "{word}");
    }
    stored.keep_extracts();
    assert_eq!(stored.recalled(), [true, true]);
    // Nothing of the packets is looked at: others of the same length change nothing.
    for sample in stored.journal.captures() {
        let zeros = vec![0; fs::read(stored.capture(sample)).unwrap().len()];
        fs::write(stored.capture(sample), zeros).unwrap();
    }
    let run = stored.read();
    assert!(everything(&run) == by_packets);
    assert_eq!(run.extracts(), [], "nothing is new");
    // Whoever asks for the packets hears of it.
    let followed = stored.opened().analyse(Captures::Followed).second_runs;
    assert!(followed.iter().all(|run| run.no_packets.contains("its BLAKE3 differs")));
}

/// What is read back where no extract may be used: everything was followed.
fn assert_followed(stored: &Stored, numbers: &[usize], what: &str) {
    let opened = stored.opened();
    let of = |captures| opened.analyse(captures).second_runs;
    let (found, followed) = (of(Captures::Extracted), of(Captures::Followed));
    for number in numbers {
        assert!(!found[*number].is_recalled(), "{what}");
        assert_eq!(found[*number], followed[*number], "{what}");
    }
}

#[test]
fn a_damaged_extract_is_passed_over() {
    let stored = Stored::new();
    stored.keep_extracts();
    let path = stored.extract(0);
    let whole = fs::read(&path).unwrap();
    let sample = stored.journal.captures()[0];
    let again = RunAgain::of(&stored.journal);
    assert!(again.recalled(sample, &whole).is_some());
    for cut in (0..whole.len()).step_by(101) {
        assert!(again.recalled(sample, &whole[..cut]).is_none(), "{cut}");
    }
    let mut dice = Dice::new(23);
    for _ in 0..2_000 {
        let damaged = mutated(&whole, &mut dice);
        assert!(damaged == whole || again.recalled(sample, &damaged).is_none());
    }
    for damaged in [&whole[..0], &whole[..whole.len() - 1], b"\n\n", b"{}"] {
        fs::write(&path, damaged).unwrap();
        assert_followed(&stored, &[0], "damaged");
        assert_eq!(stored.recalled(), [false, true]);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_followed(&stored, &[0], "a folder");
}

#[test]
fn an_extract_of_something_else_is_passed_over() {
    let stored = Stored::new();
    stored.keep_extracts();
    let [first, second] = [0, 1].map(|number| fs::read(stored.extract(number)).unwrap());
    fs::write(stored.extract(0), &second).unwrap();
    fs::write(stored.extract(1), &first).unwrap();
    assert_followed(&stored, &[0, 1], "of the other capture");
    fs::write(stored.extract(0), resummed(&first, "\"analysis\":\"", "\"analysis\":\"0")).unwrap();
    fs::write(stored.extract(1), resummed(&second, "\"given\":\"", "\"given\":\"0")).unwrap();
    assert_followed(&stored, &[0, 1], "of another program, and of other samples");
    fs::write(stored.extract(0), resummed(&first, "\"analysis\":\"", "\"analysis\":\"")).unwrap();
    assert_eq!(stored.recalled(), [true, false]);
}

/// The same extract with another text in it, and the sum of that.
fn resummed(extract: &[u8], from: &str, to: &str) -> Vec<u8> {
    let rest = &extract[extract.iter().position(|byte| *byte == b'\n').unwrap() + 1..];
    let at = rest.windows(from.len()).position(|place| place == from.as_bytes()).unwrap();
    let changed = [&rest[..at], to.as_bytes(), &rest[at + from.len()..]].concat();
    [hash(&changed).as_bytes(), b"\n", &changed].concat()
}

#[test]
fn an_extract_is_of_the_lines_of_the_journal_that_it_was_made_beside() {
    let stored = Stored::new();
    stored.keep_extracts();
    let change = |change: &dyn Fn(&mut Record)| {
        let mut journal = stored.journal.clone();
        journal.records.iter_mut().for_each(change);
        stored.write(&journal);
        stored.recalled()
    };
    assert_eq!(change(&|_| {}), [true, true]);
    let second_run = |record: &mut Record| {
        let Record::Capture(sample) = record else { return };
        sample.run.comm.as_mut().unwrap().connections[0].sender.cpu_ns = Some(Nanos::new(1));
    };
    assert_eq!(change(&second_run), [false, false]);
    assert_followed(&stored, &[0, 1], "another second run");
    let of_the_score = |record: &mut Record| {
        let Record::Cell(sample) = record else { return };
        if !sample.cell.activity.is_none() {
            sample.comm.as_mut().unwrap().bytes = Bytes::new(12_345_678);
        }
    };
    assert_eq!(change(&of_the_score), [false, true], "the scored runs of the same cell");
    assert_followed(&stored, &[0], "other scored runs");
}

#[test]
fn a_capture_that_is_gone_or_of_another_size_is_told_with_an_extract_as_without() {
    let stored = Stored::new();
    stored.keep_extracts();
    let captures = stored.journal.captures();
    fs::remove_file(stored.capture(captures[0])).unwrap();
    fs::write(stored.capture(captures[1]), b"something else").unwrap();
    let with = everything(&stored.read());
    for number in [0, 1] {
        fs::remove_file(stored.extract(number)).unwrap();
    }
    assert!(with == everything(&stored.read()));
    let runs = stored.read().analysis.second_runs;
    assert!(runs[0].no_packets.ends_with("is gone"), "{}", runs[0].no_packets);
    assert!(runs[1].no_packets.contains("is not the file that was written"));
    assert_eq!(stored.read().extracts(), [], "there is nothing to keep");
}

/// Another one may be drawn in more detail where captures beside it are gone.
#[test]
fn an_extract_that_holds_less_than_is_drawn_is_passed_over() {
    let stored = Stored::new();
    let again = RunAgain::of(&stored.journal);
    let run = &stored.opened().analyse(Captures::Followed).second_runs[0];
    let thinned = |stretches: u32| vec![Detail::Thinned { stretches }; run.connections.len()];
    let sample = stored.journal.captures()[0];
    let fine = again.extract(sample, run, &thinned(500)).unwrap();
    let kept = again.recalled(sample, &fine).unwrap();
    assert_eq!(kept.details()[0], Detail::Thinned { stretches: 500 });
    let chart = |run: &SecondRun, stretches| {
        let one = &run.connections[0];
        let chart = &one.connection.as_ref().unwrap().chart;
        chart.data(&one.congestion, Detail::Thinned { stretches })
    };
    for stretches in [500, 250, 125] {
        assert_eq!(chart(&kept, stretches), chart(run, stretches), "{stretches}");
    }
    assert_ne!(chart(run, 500), chart(run, 125));
    fs::write(stored.extract(0), &fine).unwrap();
    assert_followed(&stored, &[0], "a page shows all of it");
}

#[test]
fn a_pipe_in_place_of_an_extract_is_not_waited_for() {
    let stored = Stored::new();
    stored.keep_extracts();
    fs::remove_file(stored.extract(0)).unwrap();
    let made = std::process::Command::new("mkfifo").arg(stored.extract(0)).status();
    assert!(made.unwrap().success());
    assert_followed(&stored, &[0], "a pipe");
}

/// What a verification finds of extracts: violations and notes.
fn verified(directory: &Path) -> [Vec<String>; 2] {
    let found = verify(&ResultFiles::read(directory).unwrap(), &|_| None);
    let of = |text: &String| text.contains("extract");
    let violations = found.violations.iter().map(|one| format!("{}: {}", one.place, one.detail));
    [violations.filter(of).collect(), found.notes.iter().filter(|note| of(note)).cloned().collect()]
}

#[test]
fn a_verification_follows_the_packets_beside_each_extract() {
    let stored = Stored::new();
    stored.keep_extracts();
    let directory = stored.directory.path();
    assert_eq!(verified(directory), [Vec::<String>::new(), Vec::new()]);
    let Analysis { mut second_runs, .. } = stored.opened().analyse(Captures::Followed);
    let run = &mut second_runs[0];
    "it was the weather".clone_into(&mut run.connections[0].diagnoses[0].sentence);
    let sample = stored.journal.captures()[0];
    let forged = RunAgain::of(&stored.journal).extract(sample, run, &run.details()).unwrap();
    fs::write(stored.extract(0), forged).unwrap();
    fs::write(stored.extract(1), "torn").unwrap();
    let text = String::from_utf8(stored.read().render("text").unwrap()).unwrap();
    assert!(text.contains("it was the weather"), "it would be believed");
    let [violations, notes] = verified(directory);
    let name =
        |number| stored.extract(number).strip_prefix(directory).unwrap().display().to_string();
    assert_eq!(violations, [format!("{}: does not say what its packets say", name(0))]);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("1 extract not used, and not verified"), "{notes:?}");
}

/// Names of applications are the user's own: what is not plain stands in files' names as in addresses.
#[test]
fn packets_of_an_application_of_any_name_are_verified() {
    let mut stored = Stored::new();
    let path = "captures/SEND-web%202%2E0-none.pcapng".to_owned();
    let captures = stored.journal.records.iter_mut().filter_map(|record| match record {
        Record::Capture(sample) => sample.file.as_mut(),
        _ => None,
    });
    captures.take(1).for_each(|file| file.path.clone_from(&path));
    stored.write(&stored.journal);
    let mut packets = packets(u64::MAX);
    *packets.last_mut().unwrap() ^= 1;
    fs::write(stored.path(&path), packets).unwrap();
    let found = verify(&ResultFiles::read(stored.directory.path()).unwrap(), &|_| None);
    assert!(found.violations.iter().any(|one| one.place == path), "{:?}", found.violations);
}
