//! From results to their ranking.

use btu_core::journal::Journal;
use btu_core::ranking::Correlation;
use btu_core::ranking::Mark;
use btu_core::ranking::Price;
use btu_core::ranking::Setting;
use btu_core::ranking::Standing;
use btu_core::ranking::correlation;
use btu_core::ranking::places;
use btu_core::run::analysis::Analysis;
use btu_core::run::analysis::ApplicationScore;

use super::ClassFigures;
use super::CorrelationResult;
use super::MarkResult;
use super::PriceResult;
use super::RankedHost;
use super::Ranking;
use super::SettingField;
use crate::result::host_line;
use crate::section::is_disturbed;

/// A result that wants to be ranked.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its row.
    pub host: RankedHost,
    /// The score of each complete pass, Mb/s.
    pub passes: Vec<f64>,
}

impl Candidate {
    /// The candidate that a result makes. `altered` says where it is not as it was measured.
    pub fn of(
        name: &str,
        journal: &Journal,
        analysis: &Analysis,
        trust: &str,
        altered: &[String],
    ) -> Self {
        let btu = &analysis.btu_mbps;
        let mut reasons: Vec<String> = altered.to_vec();
        reasons.extend(analysis.not_rankable_reasons.iter().cloned());
        let marks = journal.hosts.marks.iter().filter_map(|text| Mark::parse(text));
        let host = RankedHost {
            name: name.to_owned(),
            host: host_line(&journal.hosts),
            btu_mbps: btu.value,
            btu_ci95_mbps: btu.ci95,
            btu_reason: btu.reason.clone().or_else(|| btu.ci95_reason.clone()),
            penalty_percent: analysis.penalty_percent.value,
            penalty_ci95_percent: analysis.penalty_percent.ci95,
            passes: analysis.pass_btu_mbps.len(),
            marks: marks.map(mark).collect(),
            price: journal.hosts.price.as_deref().and_then(Price::parse).map(price),
            trust: trust.to_owned(),
            not_rankable_reasons: reasons,
            is_disturbed: is_disturbed(analysis),
            applications: analysis.applications.iter().map(class).collect(),
            ..RankedHost::default()
        };
        Self { host, passes: analysis.pass_btu_mbps.clone() }
    }

    /// True where nothing speaks against a rank.
    fn is_rankable(&self) -> bool {
        self.host.not_rankable_reasons.is_empty() && self.host.btu_mbps.is_some()
    }
}

/// The ranking of these results, all measured under one setting. With `show_unranked` those that may
/// not be ranked stand among the others.
pub fn ranking(
    candidates: Vec<Candidate>,
    setting: Option<&Setting>,
    show_unranked: bool,
) -> Ranking {
    let (mut shown, apart): (Vec<Candidate>, Vec<Candidate>) = candidates
        .into_iter()
        .partition(|one| one.host.btu_mbps.is_some() && (show_unranked || one.is_rankable()));
    shown.sort_by(|a, b| b.btu().total_cmp(&a.btu()));
    let unranked_shown = shown.iter().any(|one| !one.is_rankable());
    let standings: Vec<Standing> = shown
        .iter()
        .map(|one| Standing { btu_mbps: one.btu(), passes: one.passes.clone() })
        .collect();
    let hosts: Vec<RankedHost> = shown
        .into_iter()
        .zip(places(&standings))
        .map(|(one, place)| RankedHost {
            rank: Some(place.text()),
            rank_first: Some(place.first),
            rank_last: Some(place.last),
            ..one.host
        })
        .collect();
    Ranking {
        schema_version: "1.0.0",
        unranked_shown,
        setting: setting.iter().flat_map(|setting| fields(setting)).collect(),
        correlations: correlations(&hosts),
        hosts,
        not_ranked: apart.into_iter().map(|one| one.host).collect(),
    }
}

impl Candidate {
    fn btu(&self) -> f64 {
        self.host.btu_mbps.unwrap_or(0.0)
    }
}

fn fields(setting: &Setting) -> Vec<SettingField> {
    let fields = setting.fields();
    fields.map(|(name, value)| SettingField { name: name.into(), value: value.into() }).collect()
}

/// Of the score with the price, and with each mark that a host has.
fn correlations(hosts: &[RankedHost]) -> Vec<CorrelationResult> {
    let mut names: Vec<&str> =
        hosts.iter().flat_map(|host| &host.marks).map(|mark| mark.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let with_mark = |name: &&str| {
        let value = |host: &RankedHost| {
            let mark = host.marks.iter().find(|mark| mark.name == **name)?;
            Some((host.btu_mbps?, mark.value))
        };
        correlation(name, &hosts.iter().filter_map(value).collect::<Vec<_>>(), SEED)
    };
    let all = std::iter::once(with_price(hosts)).chain(names.iter().map(with_mark));
    all.map(Into::into).collect()
}

/// Prices of several currencies have no order.
fn with_price(hosts: &[RankedHost]) -> Correlation {
    let priced = || hosts.iter().filter_map(|host| Some((host.btu_mbps?, host.price.as_ref()?)));
    let pairs: Vec<(f64, f64)> = priced().map(|(btu, price)| (btu, price.amount)).collect();
    let mut currencies: Vec<&str> = priced().map(|(_, price)| price.currency.as_str()).collect();
    currencies.sort_unstable();
    currencies.dedup();
    if currencies.len() > 1 {
        let reason = format!("prices in {}", currencies.join(" and "));
        return Correlation::unavailable("price", pairs.len(), &reason);
    }
    correlation("price", &pairs, SEED)
}

fn mark(mark: Mark) -> MarkResult {
    MarkResult { name: mark.name, value: mark.value, source: mark.source }
}

fn price(price: Price) -> PriceResult {
    PriceResult { amount: price.amount, currency: price.currency, date: price.date }
}

fn class(score: &ApplicationScore) -> ClassFigures {
    ClassFigures {
        name: score.application.name.clone(),
        message_bytes: score.application.message_bytes.count(),
        btu_mbps: score.btu_mbps.value,
        btu_ci95_mbps: score.btu_mbps.ci95,
        penalty_percent: score.penalty_percent.value,
        penalty_ci95_percent: score.penalty_percent.ci95,
    }
}

impl From<Correlation> for CorrelationResult {
    fn from(found: Correlation) -> Self {
        Self {
            with: found.with,
            n: found.n,
            rho: found.rho,
            rho_reason: found.rho_reason,
            rho_ci95: found.ci95,
            rho_ci95_reason: found.ci95_reason,
            p: found.p,
            p_reason: found.p_reason,
        }
    }
}

/// The same results give the same p value, for ever.
const SEED: u64 = 1996;
