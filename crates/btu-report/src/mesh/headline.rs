//! Level 1: is a host slow, which, and what is usual.

use btu_core::journal::EventRecord;
use btu_core::mesh::analysis::Judged;
use btu_core::words::several;

use super::Mesh;
use super::words;
use crate::document::Badge;
use crate::document::Block;
use crate::document::Card;
use crate::document::Figure;
use crate::document::Pair;
use crate::document::Tone;
use crate::number;

pub(super) fn compose(mesh: &Mesh<'_>) -> Vec<Block> {
    vec![Block::Card(Card {
        figures: vec![confirmed(mesh), usual(mesh)],
        badges: badges(mesh),
        reasons: Vec::new(),
        sentence: sentence(mesh),
        facts: facts(mesh),
    })]
}

fn of_confirmed<'a>(mesh: &Mesh<'a>) -> impl Iterator<Item = &'a Judged> + use<'a> {
    mesh.analysis.judged.iter().filter(|one| one.is_confirmed())
}

fn confirmed(mesh: &Mesh<'_>) -> Figure {
    Figure {
        name: "Slow",
        value: of_confirmed(mesh).count().to_string(),
        unit: "",
        interval: format!("of {} suspected", mesh.analysis.suspected),
        meaning: "hosts, directions, racks and paths that were slow in the mesh and again beside good ones",
    }
}

fn usual(mesh: &Mesh<'_>) -> Figure {
    let level = mesh.analysis.effects.as_ref().map(|effects| effects.level.exp() / 1e6);
    let measured = mesh.analysis.rates.figures().count();
    Figure {
        name: "Usual",
        value: number::figure_or_none(level),
        unit: "Mb/s",
        interval: format!("median of {}", several(measured, "direction")),
        meaning: "what a pair has one way where nothing is slow: the level of the median polish",
    }
}

fn badges(mesh: &Mesh<'_>) -> Vec<Badge> {
    let watch = |word| Badge { word, tone: Tone::Watch };
    let analysis = mesh.analysis;
    let is_short = !analysis.missing.is_empty() || !analysis.failed.is_empty();
    [
        (!analysis.complete).then(|| watch("INCOMPLETE")),
        is_short.then(|| watch("HOSTS MISSING")),
        of_confirmed(mesh).next().is_some().then(|| watch("SLOW")),
        analysis.complete.then_some(Badge { word: "COMPLETE", tone: Tone::Good }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn sentence(mesh: &Mesh<'_>) -> String {
    let named: Vec<String> = of_confirmed(mesh)
        .map(|one| {
            let suspect = words::suspect(&mesh.journal.plan, one.suspicion.suspect);
            format!("{suspect} has {} of what is usual", number::ratio(one.suspicion.ratio))
        })
        .collect();
    let analysis = mesh.analysis;
    match named.as_slice() {
        [] if analysis.effects.is_none() => "No pair was measured.".to_owned(),
        [] if analysis.suspected > 0 => {
            "Nothing is confirmed; what is suspected stands below.".to_owned()
        }
        [] if !analysis.complete => "Nothing stands out so far.".to_owned(),
        [] => "Nothing stands out: every pair that was measured has what is usual.".to_owned(),
        named => format!("{}.", named.join("; ")),
    }
}

fn facts(mesh: &Mesh<'_>) -> Vec<Pair> {
    let (journal, plan) = (mesh.journal, &mesh.journal.plan);
    let from = EventRecord::started_at(&journal.events).unwrap_or("at an unknown time");
    let to = EventRecord::finished_at(&journal.events)
        .map_or_else(String::new, |at| format!(" to {at}"));
    let who = match plan.partners {
        Some(partners) => format!("each with {partners} others"),
        None => "all pairs".to_owned(),
    };
    let flows = several(plan.flows, "connection");
    let mut facts = vec![
        Pair::new("Hosts", plan.hosts.join(", ")),
        Pair::new("Measured", format!("{from}{to}; {who}, {} each way over {flows}", plan.time_ns)),
    ];
    facts.extend(journal.hosts.note.iter().map(|note| Pair::new("Note", note)));
    facts
}
