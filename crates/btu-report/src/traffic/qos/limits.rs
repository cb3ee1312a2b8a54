//! What sessions of each class had to bear, and whether somebody has set that otherwise.

use btu_core::traffic::analysis::Carried;
use btu_core::traffic::class;
use btu_core::traffic::class::Class;
use btu_core::traffic::class::ClassLimits;

use super::super::Seen;
use super::super::span;
use crate::document::Block;
use crate::document::Pair;
use crate::number;

pub(super) fn compose(seen: &Seen<'_>) -> Vec<Block> {
    let classes = seen.analysis.classes.iter();
    let known = classes.filter_map(|carried| Some((carried, class::by_name(&carried.class)?)));
    let known: Vec<(&Carried, &Class)> = known.collect();
    let row = |(carried, class): &(&Carried, &Class)| {
        let (limits, source) = (words(&carried.limits), class.source);
        let told = if carried.limits == class.limits {
            format!("{}; {limits} ({source})", class.about)
        } else {
            let usual = words(&class.limits);
            format!(
                "{}; {limits}, set for this sheet in the place of {usual} ({source})",
                class.about
            )
        };
        Pair::new(class.name, told)
    };
    let rows: Vec<Pair> = known.iter().map(row).collect();
    let edited: Vec<&str> = known
        .iter()
        .filter(|(carried, class)| carried.limits != class.limits)
        .map(|(_, class)| class.name)
        .collect();
    let mut blocks = vec![Block::Facts { rows }];
    if !edited.is_empty() {
        blocks.push(Block::paragraph(format!(
            "Limits were set for this sheet ({}): its sessions are not those of sheets with the usual limits.",
            edited.join(", ")
        )));
    }
    blocks
}

fn words(limits: &ClassLimits) -> String {
    let texts = [
        limits.delay_p99_s.map(|most| format!("p99 <= {}", span(Some(most)))),
        limits.pdv_p99_s.map(|most| format!("PDV <= {}", span(Some(most)))),
        limits.loss.map(|most| format!("loss <= {} %", number::tick(most * 100.0))),
        limits.slowdown.map(|most| format!("p99 <= {} times the least", number::tick(most))),
        limits.carried.map(|least| format!("carried >= {} %", number::tick(least * 100.0))),
        limits.share.map(|least| format!(">= {} of mu/N", number::tick(least))),
    ];
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    if texts.is_empty() { "no limit".to_owned() } else { texts.join(", ") }
}
