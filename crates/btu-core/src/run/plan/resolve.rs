//! From an edition, a preset and what the user asked for to a legal plan.

use super::ActivityPlan;
use super::Amount;
use super::Captured;
use super::Edition;
use super::PassRule;
use super::Plan;
use super::PlanError;
use super::SocketPlan;
use super::TestbedClass;
use super::Work;
use super::bounds;
use super::bounds::Purpose;
use super::calls::calls;
use super::calls::placement;
use super::class;
use super::error::Source;
use super::matrix::Matrix;
use super::raw::RawActivity;
use super::raw::RawCapture;
use super::raw::RawEdition;
use super::raw::RawMatrix;
use super::raw::RawPasses;
use super::raw::RawPlan;
use super::raw::RawPreset;
use super::raw::RawSockets;
use super::raw::RawTime;
use super::select::Selection;
use super::text::Reader;
use crate::run::cell::ActivityName;

/// What the user asked for; `None` leaves the edition's own.
#[derive(Clone, Debug, Default)]
pub struct Choices<'c> {
    /// `--edition`.
    pub edition: Option<&'c str>,
    /// `--official`.
    pub official: bool,
    /// `--cases`.
    pub cases: Option<&'c [String]>,
    /// `--applications`.
    pub applications: Option<&'c [String]>,
    /// `--activities`.
    pub activities: Option<&'c [String]>,
    /// `--capture`.
    pub captured: Option<Captured>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--testbed-class`.
    pub testbed_class: Option<TestbedClass>,
    /// True where the black boxes are other hosts.
    pub real_hosts: bool,
    /// `--plan`: the file's name and its text.
    pub plan: Option<(&'c str, &'c str)>,
}

/// The names that only the engine knows.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary<'v> {
    /// Host activities of this build.
    pub activities: &'v [&'v str],
}

impl Plan {
    /// The plan of these choices. `fresh_seed` is used where nothing else names a seed.
    ///
    /// # Errors
    /// The first value that is not legal, with its place and the legal values.
    #[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
    pub fn resolve(
        choices: &Choices<'_>,
        words: &Vocabulary<'_>,
        fresh_seed: u64,
    ) -> Result<Self, PlanError> {
        let plan = Self::resolve_for(Purpose::Run, choices, words, fresh_seed)?;
        plan.ends(choices.plan.map_or("plan", |(name, _)| name))
    }

    /// The same, with the bounds of this purpose.
    #[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
    pub(super) fn resolve_for(
        purpose: Purpose,
        choices: &Choices<'_>,
        words: &Vocabulary<'_>,
        fresh_seed: u64,
    ) -> Result<Self, PlanError> {
        let (name, text) = choices.plan.unwrap_or(("plan", ""));
        let source = Source { name, text };
        let mut own: RawPlan = toml::from_str(text).map_err(|error| source.syntax(&error))?;
        if choices.plan.is_some() && says_nothing(text) {
            return Err(PlanError::Empty { place: name.to_owned() });
        }
        class::decide(choices, &mut own, &source)?;
        let edition = edition(choices, &own, &source)?;
        let base: RawEdition = parse_edition(&edition)?;
        let (preset_name, preset) = preset(choices, &own, &base, &edition, &source)?;
        let untouched = RawPlan {
            matrix: own.matrix.clone(),
            testbed_class: own.testbed_class.clone(),
            ..RawPlan::default()
        };
        let reader = Reader { source, words, purpose };
        let own_seed = own.seed;
        let mut plan = assemble(own, &base, &preset, &edition, &reader)?;
        let unchanged = assemble(untouched, &base, &preset, &edition, &reader)?;
        plan.seed = choices.seed.or(own_seed).unwrap_or(fresh_seed);
        let changed = !plan.same_settings(&unchanged);
        plan.captured = choices.captured.unwrap_or(plan.captured);
        let whole = reader.matrix(&RawMatrix::default(), &base.matrix)?;
        plan.restrict(choices, words, &whole)?;
        plan.partial = Some(!plan.matrix().holds(&whole));
        let larger = !whole.holds(&plan.matrix());
        plan.preset = if changed || larger { "custom".to_owned() } else { preset_name };
        Ok(plan)
    }

    fn matrix(&self) -> Matrix {
        let (cases, applications) = (self.cases.clone(), self.applications.clone());
        Matrix { cases, applications, activities: self.activities.clone() }
    }

    /// True where everything that figures depend on is equal, but the matrix, the seed and the names.
    fn same_settings(&self, other: &Self) -> bool {
        let (seed, preset, captured) = (other.seed, other.preset.clone(), other.captured);
        let alike = Self { preset, seed, captured, ..self.clone() };
        alike == *other
    }

    /// Keeps only the parts of the matrix that the command line names. `whole` is the edition's.
    fn restrict(
        &mut self,
        choices: &Choices<'_>,
        words: &Vocabulary<'_>,
        whole: &Matrix,
    ) -> Result<(), PlanError> {
        let plan = choices.plan.map_or("the edition", |(name, _)| name);
        let among = |option| Selection { option, plan };
        if let Some(names) = choices.cases {
            self.cases = among("--cases").of(names, &self.cases, &whole.cases, |c| c.name())?;
        }
        if let Some(names) = choices.applications {
            let (own, whole) = (&self.applications, &whole.applications);
            self.applications = among("--applications").of(names, own, whole, |a| &a.name)?;
        }
        if let Some(names) = choices.activities {
            let legal: Vec<ActivityName> =
                words.activities.iter().copied().map(ActivityName::new).collect();
            let option = among("--activities");
            self.activities = option.of(names, &legal, &legal, ActivityName::as_str)?;
        }
        Ok(())
    }
}

/// True of a file without any value: whoever names a plan wants another than the edition's.
fn says_nothing(text: &str) -> bool {
    fn is_empty(table: &toml::Table) -> bool {
        table.values().all(|value| value.as_table().is_some_and(is_empty))
    }
    text.parse::<toml::Table>().is_ok_and(|table| is_empty(&table))
}

/// The edition that the choices name, or the default one.
fn edition(
    choices: &Choices<'_>,
    own: &RawPlan,
    source: &Source<'_>,
) -> Result<Edition, PlanError> {
    let named = own.edition.as_ref();
    if let (Some(option), Some(file)) = (choices.edition, named)
        && option != file.get_ref()
    {
        let place = source.place(file.span());
        return Err(PlanError::Contradiction(format!(
            "--edition {option} contradicts {place}: edition = \"{}\"; leave one of them out",
            file.get_ref()
        )));
    }
    let name = choices.edition.or(named.map(|n| n.get_ref().as_str())).unwrap_or("btu-26");
    let place = match named {
        Some(text) => source.place(text.span()),
        None => "command line".to_owned(),
    };
    let found = Edition::named(name).ok_or_else(|| PlanError::Illegal {
        place,
        key: "edition".to_owned(),
        value: format!("\"{name}\""),
        cause: format!("unknown edition; write {}", edition_names()),
    })?;
    same_hash(&found, own, source)?;
    Ok(found)
}

/// A plan made for other figures under the same name must not run in silence.
fn same_hash(edition: &Edition, own: &RawPlan, source: &Source<'_>) -> Result<(), PlanError> {
    match &own.edition_hash {
        Some(hash) if *hash.get_ref() != edition.hash() => Err(PlanError::Illegal {
            place: source.place(hash.span()),
            key: "edition_hash".to_owned(),
            value: format!("\"{}\"", hash.get_ref()),
            cause: format!("this program's {} is {}", edition.name, edition.hash()),
        }),
        _ => Ok(()),
    }
}

/// The file of an edition.
#[inline] // Compiled by whoever calls it: docs/decisions/0031-release-profile.md.
pub(super) fn parse_edition(edition: &Edition) -> Result<RawEdition, PlanError> {
    let file = format!("editions/{}.toml", edition.name);
    let source = Source { name: &file, text: edition.text };
    let raw: RawEdition = toml::from_str(edition.text).map_err(|error| source.syntax(&error))?;
    debug_assert_eq!(raw.name.get_ref(), edition.name);
    Ok(raw)
}

/// Name and values of the preset: `--official`, the plan's, or the edition's default.
fn preset(
    choices: &Choices<'_>,
    own: &RawPlan,
    base: &RawEdition,
    edition: &Edition,
    source: &Source<'_>,
) -> Result<(String, RawPreset), PlanError> {
    let name = if choices.official {
        let Some(official) = edition.official_preset else {
            return Err(PlanError::Contradiction(format!(
                "--official: edition {} has one preset, {}; leave --official out",
                edition.name, edition.default_preset
            )));
        };
        official
    } else {
        match own.preset.as_ref().map(|p| p.get_ref().as_str()) {
            None | Some("custom") => edition.default_preset,
            Some(named) => named,
        }
    };
    let values = base.preset.get(name).cloned().ok_or_else(|| PlanError::Illegal {
        place: own.preset.as_ref().map_or(source.name.to_owned(), |p| source.place(p.span())),
        key: "preset".to_owned(),
        value: format!("\"{name}\""),
        cause: format!("unknown preset; write {}", preset_names(base)),
    })?;
    Ok((name.to_owned(), values))
}

/// Lays the user's values over the preset's over the edition's, and reads them.
pub(super) fn assemble(
    own: RawPlan,
    base: &RawEdition,
    preset: &RawPreset,
    edition: &Edition,
    reader: &Reader<'_>,
) -> Result<Plan, PlanError> {
    let time = amount_or(own.time, &preset.time.clone().or(&base.time));
    let link = own.link.or(&base.link);
    let testbed_class = reader.testbed_class(own.testbed_class.as_ref())?;
    let mut sockets = own.sockets.clone().or(&base.sockets);
    if !testbed_class.is_local() {
        // The routes of real hosts are their own: what they have is recorded, not set.
        sockets.congestion = own.sockets.congestion;
    }
    let comm = own.comm.or(&base.comm);
    let activity = own.activity.or(&preset.activity.clone().or(&base.activity));
    let passes = own.passes.or(&preset.passes);
    let Matrix { cases, applications, activities } = reader.matrix(&own.matrix, &base.matrix)?;
    Ok(Plan {
        edition: edition.name.to_owned(),
        edition_hash: edition.hash(),
        preset: String::new(),
        testbed_class,
        seed: own.seed.unwrap_or(0),
        cases,
        applications,
        activities,
        partial: None,
        amount: amount(&time, reader)?,
        work: work(&time, reader)?,
        lead_in: reader.time("time.lead_in", &time.lead_in, &bounds::LEAD_IN)?,
        alone_window: reader.time("time.alone", &time.alone, &bounds::ALONE)?,
        passes: pass_rule(&passes, reader)?,
        repeat_allowance: reader.time(
            "time.repeat_allowance",
            &time.repeat_allowance,
            &bounds::ALLOWANCE,
        )?,
        link: reader.link(&link)?,
        placement: placement(&comm.placement, testbed_class, reader)?,
        comm: calls(&comm, &sockets, reader)?,
        sockets: socket_plan(&sockets, reader)?,
        activity: activity_plan(&activity, reader)?,
        captured: captured(&own.capture, reader)?,
    })
}

/// A window of the user's replaces an amount of the edition, and the other way round.
fn amount_or(own: RawTime, base: &RawTime) -> RawTime {
    let mut base = base.clone();
    if own.window.is_some() || own.amount.is_some() {
        (base.window, base.amount) = (None, None);
    }
    own.or(&base)
}

fn amount(time: &RawTime, reader: &Reader<'_>) -> Result<Amount, PlanError> {
    match (&time.window, &time.amount) {
        (Some(_), None) => {
            reader.time("time.window", &time.window, &bounds::WINDOW).map(Amount::Window)
        }
        (None, Some(_)) => {
            reader.size("time.amount", &time.amount, &bounds::AMOUNT).map(Amount::Fixed)
        }
        (Some(_), Some(amount)) => Err(reader.illegal(
            "time.amount",
            amount,
            "window is given, too; leave one of them out",
        )),
        (None, None) => Err(reader.missing("time.window", "write window = \"60ms\"")),
    }
}

fn work(time: &RawTime, reader: &Reader<'_>) -> Result<Work, PlanError> {
    let Some(text) = &time.work else {
        return Err(reader.missing("time.work", "write work = \"steady\""));
    };
    match text.get_ref().as_str() {
        "calibrated" => Ok(Work::Calibrated),
        "steady" => Ok(Work::Steady),
        _ => Err(reader.illegal("time.work", text, "write \"steady\" or \"calibrated\"")),
    }
}

fn pass_rule(passes: &RawPasses, reader: &Reader<'_>) -> Result<PassRule, PlanError> {
    let min = reader.passes("passes.min", passes.min.as_ref())?;
    let max = reader.passes("passes.max", passes.max.as_ref())?;
    if max < min {
        let text = format!("passes: min = {min} is more than max = {max}");
        return Err(PlanError::Contradiction(format!("{}: {text}", reader.source.name)));
    }
    Ok(PassRule {
        min,
        max,
        budget: reader.time("passes.budget", &passes.budget, &bounds::BUDGET)?,
        half_width: reader.share("passes.half_width", passes.half_width.as_ref())?,
    })
}

fn activity_plan(activity: &RawActivity, reader: &Reader<'_>) -> Result<ActivityPlan, PlanError> {
    let (threads, transfer) = ("activity.cpu_threads", "activity.ftp_transfer");
    Ok(ActivityPlan {
        cpu_threads: reader.threads(threads, &activity.cpu_threads)?,
        io_file: reader.size("activity.io_file", &activity.io_file, &bounds::FILE)?,
        ftp_transfer: reader.size(transfer, &activity.ftp_transfer, &bounds::FILE)?,
    })
}

fn socket_plan(sockets: &RawSockets, reader: &Reader<'_>) -> Result<SocketPlan, PlanError> {
    let size = |key: &str, text, legal| reader.within_or_none(key, text, "size", legal);
    let RawSockets { congestion, black_box_buffer: buffer, black_box_window_clamp: clamp } =
        sockets;
    Ok(SocketPlan {
        congestion: reader.word("sockets.congestion", congestion.as_ref())?,
        black_box_buffer: size("sockets.black_box_buffer", buffer, &bounds::BUFFER)?,
        black_box_window_clamp: size("sockets.black_box_window_clamp", clamp, &bounds::CLAMP)?,
    })
}

fn captured(capture: &RawCapture, reader: &Reader<'_>) -> Result<Captured, PlanError> {
    let Some(text) = &capture.cells else { return Ok(Captured::default()) };
    let read = text.get_ref().parse::<Captured>();
    read.map_err(|cause| reader.illegal("capture.cells", text, &cause.to_string()))
}

fn edition_names() -> String {
    super::EDITIONS.iter().map(|e| e.name).collect::<Vec<_>>().join(" or ")
}

fn preset_names(base: &RawEdition) -> String {
    base.preset.keys().cloned().collect::<Vec<_>>().join(" or ")
}
