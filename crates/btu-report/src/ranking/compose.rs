//! The ranking for people: table 1 of the paper, figures 2 and 3 of all hosts, and what they rest on.

use btu_core::words::several;

use super::ClassFigures;
use super::CorrelationResult;
use super::PriceResult;
use super::RankedHost;
use super::Ranking;
use crate::chart::MOST_SERIES;
use crate::document::BarGroup;
use crate::document::Block;
use crate::document::Column;
use crate::document::Document;
use crate::document::GroupBar;
use crate::document::GroupedBars;
use crate::document::Level;
use crate::document::Pair;
use crate::document::Part;
use crate::document::SecondAxis;
use crate::document::Table;
use crate::number;
use crate::section::DISTURBED;

/// The ranking before it has a form.
pub fn compose_ranking(ranking: &Ranking) -> Document {
    let part = |name, title, level, blocks| Part { name, title, level, blocks };
    let sections = vec![
        part("ranking", title(ranking), Level::Headline, headline(ranking)),
        part("applications", "Application classes", Level::Applications, charts(ranking)),
        part("predictors", "What predicts BTU", Level::Applications, predictors(ranking)),
        part("hosts", "Hosts", Level::Appendix, hosts(ranking)),
    ];
    let document = Document {
        title: title(ranking).to_owned(),
        caption: caption(ranking),
        sections: sections.into_iter().filter(|part| !part.blocks.is_empty()).collect(),
    };
    document.cleaned()
}

const fn title(ranking: &Ranking) -> &'static str {
    if ranking.unranked_shown { "NOT A RANKING" } else { "BTU ranking" }
}

/// What a picture must say of itself when it is cut out.
fn caption(ranking: &Ranking) -> String {
    let field = |name: &str| ranking.setting.iter().find(|field| field.name == name);
    let fields = ["edition", "preset", "testbed class"].into_iter().filter_map(field);
    let told: Vec<String> = fields.map(|field| format!("{} {}", field.name, field.value)).collect();
    told.join(" | ")
}

fn headline(ranking: &Ranking) -> Vec<Block> {
    let mut blocks = Vec::new();
    if ranking.unranked_shown {
        blocks.push(Block::paragraph(
            "NOT A RANKING: results marked ! may not be ranked; the reasons stand below.",
        ));
    }
    if !ranking.hosts.is_empty() {
        blocks.push(Block::Table(table(ranking)));
        blocks.push(Block::paragraph(legend(ranking)));
        blocks.extend(doubted(ranking).map(Block::paragraph));
    }
    blocks.extend(apart(ranking));
    blocks
}

/// Table 1 of the paper.
//= maly1996#5 table 1
fn table(ranking: &Ranking) -> Table {
    let marks = mark_names(ranking);
    let mut columns = vec![
        Column::right("rank"),
        Column::left("machine"),
        Column::right("BTU Mb/s"),
        Column::right("penalty %"),
        Column::right("passes"),
    ];
    columns.extend(marks.iter().map(|name| Column::right(name.as_str())));
    columns.extend([Column::right("price"), Column::left("trust")]);
    let row = |host: &RankedHost| {
        let mut row = vec![
            host.rank.clone().unwrap_or_default(),
            marked(host),
            within(host.btu_mbps, host.btu_ci95_mbps, number::figure),
            within(host.penalty_percent, host.penalty_ci95_percent, number::percent),
            passes(host),
        ];
        row.extend(marks.iter().map(|name| mark(host, name)));
        row.push(host.price.as_ref().map_or_else(|| number::NONE.to_owned(), price));
        row.push(host.trust.clone());
        row
    };
    let rows = ranking.hosts.iter().map(row).collect();
    Table { title: String::new(), columns, rows, summary_rows: 0 }
}

/// `2.87 [2.80, 2.94]`, where there is an interval.
fn within(value: Option<f64>, interval: Option<[f64; 2]>, form: fn(f64) -> String) -> String {
    let figure = value.map_or_else(|| number::NONE.to_owned(), form);
    let interval = interval
        .map_or_else(String::new, |ends| format!(" {}", number::interval(Some(ends), form)));
    format!("{figure}{interval}")
}

/// A result that was only published has none.
fn passes(host: &RankedHost) -> String {
    if host.passes == 0 { number::NONE.to_owned() } else { host.passes.to_string() }
}

fn marked(host: &RankedHost) -> String {
    let unranked = if host.not_rankable_reasons.is_empty() { "" } else { " !" };
    let doubt = if host.is_disturbed { " ?" } else { "" };
    format!("{}{unranked}{doubt}", host.name)
}

/// What the question mark at a host means, where one of them has it.
fn doubted(ranking: &Ranking) -> Option<String> {
    let disturbed = ranking.hosts.iter().filter(|host| host.is_disturbed);
    let names: Vec<&str> = disturbed.map(|host| host.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Marked ?: {DISTURBED}: {}. What disturbed the measurement is in its figures, and so in its place.",
            names.join(", ")
        )
    })
}

fn mark_names(ranking: &Ranking) -> Vec<String> {
    let marks = ranking.hosts.iter().flat_map(|host| &host.marks);
    let mut names: Vec<String> = marks.map(|mark| mark.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

fn mark(host: &RankedHost, name: &str) -> String {
    let found = host.marks.iter().find(|mark| mark.name == name);
    found.map_or_else(|| number::NONE.to_owned(), |mark| number::tick(mark.value))
}

/// `15,195 USD`
fn price(price: &PriceResult) -> String {
    let decimals = if price.amount.fract() == 0.0 { 0 } else { 2 };
    let text = number::fixed(price.amount, decimals);
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped}{rest} {}", price.currency)
}

/// How to read the ranks.
fn legend(ranking: &Ranking) -> String {
    let mut text =
        "A rank such as 1-3 is shared: these hosts cannot be told apart by their passes \
                    (Welch on logs, Holm over all pairs, at least 2 %). In brackets: 95 % intervals. \
                    Price and marks do not enter the order."
            .to_owned();
    if ranking.hosts.iter().any(|host| host.rank.as_ref().is_some_and(|rank| rank.ends_with('*'))) {
        text += " A star: fewer than 3 passes, so the figures alone decide.";
    }
    text
}

/// Who is left out, and why.
fn apart(ranking: &Ranking) -> Vec<Block> {
    let shown = ranking.hosts.iter().filter(|host| !host.not_rankable_reasons.is_empty());
    let all: Vec<&RankedHost> = ranking.not_ranked.iter().chain(shown).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let item = |host: &&RankedHost| {
        let btu = number::figure_or_none(host.btu_mbps);
        let reasons = match &host.not_rankable_reasons[..] {
            [] => "it has no score".to_owned(),
            reasons => reasons.join("; "),
        };
        format!("{}, BTU {btu} Mb/s: {reasons}", host.name)
    };
    let heading = if ranking.unranked_shown { "May not be ranked:" } else { "Not ranked:" };
    vec![Block::paragraph(heading), Block::List { items: all.iter().map(item).collect() }]
}

/// Figures 2 and 3 of the paper, all hosts side by side.
fn charts(ranking: &Ranking) -> Vec<Block> {
    let Some(first) = ranking.hosts.first() else { return Vec::new() };
    if first.applications.is_empty() {
        return Vec::new();
    }
    let shown = &ranking.hosts[..ranking.hosts.len().min(MOST_SERIES)];
    let left_out = match ranking.hosts.len() - shown.len() {
        0 => String::new(),
        1 => " One host more stands in the table alone.".to_owned(),
        more => format!(" {more} hosts more stand in the table alone."),
    };
    let score = GroupedBars {
        name: "btu-by-application",
        title: "Bits to the user, by application class and host".to_owned(),
        description: described("BTU in Mb/s", shown, SCORE),
        axis: "BTU, Mb/s".to_owned(),
        second_axis: Some(SecondAxis { title: "seconds for 32 Mb".to_owned(), numerator: 32.0 }),
        series: shown.iter().map(|host| host.name.clone()).collect(),
        groups: groups(shown, SCORE),
        reading: format!(
            "One group per application class, one bar per host, in the order of the ranking; the \
             line on a bar is its 95 % interval. The right axis says how long the class needs for \
             32 Mb, the amount of the 1996 benchmark (its Figure 2).{left_out}"
        ),
        table: figures("BTU Mb/s", ranking, SCORE),
    };
    let penalty = GroupedBars {
        name: "penalty-by-application",
        title: "Penalty on the host's own work, by application class and host".to_owned(),
        description: described("Penalty in percent", shown, PENALTY),
        axis: "penalty, %".to_owned(),
        second_axis: None,
        series: shown.iter().map(|host| host.name.clone()).collect(),
        groups: groups(shown, PENALTY),
        reading: format!(
            "How much longer the host's own work takes while messages of this size flow (Figure 3 \
             of the 1996 benchmark). Low is good.{left_out}"
        ),
        table: figures("penalty %", ranking, PENALTY),
    };
    vec![Block::Groups(score), Block::Groups(penalty)]
}

/// Which of the two figures of a class.
#[derive(Clone, Copy)]
struct Of {
    bar: fn(&ClassFigures) -> GroupBar,
    text: fn(f64) -> String,
}

const SCORE: Of = Of {
    bar: |class| GroupBar { value: class.btu_mbps, interval: class.btu_ci95_mbps },
    text: number::figure,
};
const PENALTY: Of = Of {
    bar: |class| GroupBar { value: class.penalty_percent, interval: class.penalty_ci95_percent },
    text: number::percent,
};

fn groups(hosts: &[RankedHost], of: Of) -> Vec<BarGroup> {
    let classes = hosts.first().map(|host| host.applications.as_slice()).unwrap_or_default();
    let group = |class: &ClassFigures| BarGroup {
        label: class.name.clone(),
        sublabel: format!("{} B", class.message_bytes),
        bars: hosts.iter().map(|host| bar(host, &class.name, of)).collect(),
    };
    classes.iter().map(group).collect()
}

fn bar(host: &RankedHost, class: &str, of: Of) -> GroupBar {
    let found = host.applications.iter().find(|one| one.name == class);
    found.map(of.bar).unwrap_or_default()
}

fn cell(host: &RankedHost, class: &str, of: Of) -> String {
    bar(host, class, of).value.map_or_else(|| number::NONE.to_owned(), of.text)
}

/// The chart for somebody who cannot see it.
fn described(what: &str, hosts: &[RankedHost], of: Of) -> String {
    let host = |host: &RankedHost| {
        let classes = host.applications.iter();
        let told: Vec<String> =
            classes.map(|one| format!("{} {}", one.name, cell(host, &one.name, of))).collect();
        format!("{}: {}", host.name, told.join(", "))
    };
    format!("{what}. {}.", hosts.iter().map(host).collect::<Vec<_>>().join("; "))
}

/// One row per host, one column per class.
fn figures(title: &str, ranking: &Ranking, of: Of) -> Table {
    let classes = ranking.hosts.first().map(|host| host.applications.as_slice());
    let classes = classes.unwrap_or_default();
    let mut columns = vec![Column::left(format!("machine, {title}"))];
    columns.extend(classes.iter().map(|one| Column::right(one.name.as_str())));
    let row = |host: &RankedHost| {
        let cells = classes.iter().map(|class| cell(host, &class.name, of));
        std::iter::once(marked(host)).chain(cells).collect()
    };
    let rows = ranking.hosts.iter().map(row).collect();
    Table { title: String::new(), columns, rows, summary_rows: 0 }
}

fn predictors(ranking: &Ranking) -> Vec<Block> {
    let any = ranking.hosts.iter().any(|host| host.price.is_some() || !host.marks.is_empty());
    if !any {
        return Vec::new();
    }
    let unavailable = |reason: &Option<String>| {
        format!("not available: {}", reason.as_deref().unwrap_or("not computed"))
    };
    let item = |one: &CorrelationResult| {
        let name = format!("BTU and {}", one.with);
        let Some(rho) = one.rho.map(signed) else {
            return Pair::new(name, unavailable(&one.rho_reason));
        };
        let interval = one.rho_ci95.map_or_else(
            || unavailable(&one.rho_ci95_reason),
            |[low, high]| format!("[{}, {}]", signed(low), signed(high)),
        );
        let p = one.p.map_or_else(|| unavailable(&one.p_reason), |p| number::fixed(p, 3));
        Pair::new(
            name,
            format!("Spearman rho {rho} over {} hosts; 95 % interval {interval}; p {p}", one.n),
        )
    };
    let rows = ranking.correlations.iter().map(item).collect();
    let reading = "rho is 1 where a figure orders the hosts as BTU does, -1 where it orders them the \
                   other way round, 0 where it says nothing; p is the share of orders (all, or \
                   20000 drawn ones) whose rho is at least as far from 0.";
    vec![Block::Facts { rows }, Block::paragraph(reading)]
}

fn signed(value: f64) -> String {
    number::fixed(value, 2)
}

fn hosts(ranking: &Ranking) -> Vec<Block> {
    let row = |host: &RankedHost| {
        let passes = several(host.passes, "pass");
        let reason = host.btu_reason.clone().filter(|_| host.btu_ci95_mbps.is_none());
        let mut parts = vec![host.host.clone(), reason.unwrap_or(passes), host.trust.clone()];
        let date = host.price.as_ref().and_then(|price| price.date.as_ref());
        parts.extend(date.map(|date| format!("price of {date}")));
        let source =
            |mark: &super::MarkResult| Some(format!("{} by {}", mark.name, mark.source.as_ref()?));
        parts.extend(host.marks.iter().filter_map(source));
        parts.retain(|part| !part.is_empty());
        Pair::new(host.name.as_str(), parts.join("; "))
    };
    let all = ranking.hosts.iter().chain(&ranking.not_ranked);
    let setting = ranking.setting.iter().map(|field| Pair::new(&field.name, &field.value));
    let mut blocks = vec![Block::Facts { rows: all.map(row).collect() }];
    if !ranking.setting.is_empty() {
        blocks.push(Block::details(
            "Common to all of them",
            vec![Block::Facts { rows: setting.collect() }],
        ));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hosts: Vec<RankedHost>) -> Ranking {
        Ranking {
            schema_version: "1.0.0",
            unranked_shown: false,
            setting: Vec::new(),
            hosts,
            not_ranked: Vec::new(),
            correlations: Vec::new(),
        }
    }

    #[test]
    fn a_host_whose_figures_something_else_may_have_made_has_a_mark_and_its_meaning() {
        let named = |name: &str| RankedHost { name: name.to_owned(), ..RankedHost::default() };
        let disturbed = RankedHost { is_disturbed: true, ..named("b") };
        let ranking = of(vec![named("a"), disturbed]);
        let machines: Vec<String> = table(&ranking).rows.iter().map(|row| row[1].clone()).collect();
        assert_eq!(machines, ["a", "b ?"]);
        assert!(doubted(&ranking).unwrap().starts_with("Marked ?: DISTURBED: b. "));
        assert_eq!(doubted(&of(vec![named("a")])), None);
    }

    #[test]
    fn a_row_has_the_intervals_of_its_figures_its_passes_and_who_stands_for_it() {
        let host = RankedHost {
            name: "a".to_owned(),
            btu_mbps: Some(2.87),
            btu_ci95_mbps: Some([2.8, 2.94]),
            penalty_percent: Some(20.0),
            penalty_ci95_percent: Some([18.0, 22.0]),
            passes: 5,
            trust: "unsigned".to_owned(),
            ..RankedHost::default()
        };
        let ranking = of(vec![host]);
        let row = ["", "a", "2.87 [2.80, 2.94]", "20.0 [18.0, 22.0]", "5", "-", "unsigned"];
        assert_eq!(table(&ranking).rows, [row.map(ToOwned::to_owned)]);
    }
}
