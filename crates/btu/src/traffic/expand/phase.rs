//! Where in its period a session of a constant period begins: equal sessions that all began at once would
//! send all their blocks at the same instants, which users who know nothing of each other do not.

use btu_core::traffic::Call;
use btu_core::traffic::Stream;
use btu_core::traffic::sending::burst::Block;
use btu_core::units::Nanos;
use btu_engine::traffic::Flow;
use btu_engine::traffic::Offer;

/// Delays a schedule of a constant period by a random part of it, and says by how much. What would fall due
/// at the end or after it is not due.
pub(super) fn draw(call: &Call, flow: &mut Flow, chance: &mut Stream) -> Option<Nanos> {
    let Offer::Train { blocks, .. } = &mut flow.offer else { return None };
    let phase = chance.part(period(call, blocks)?);
    let later = blocks.iter().map(|block| Block { due: block.due.saturating_add(phase), ..*block });
    *blocks = later.take_while(|block| block.due < flow.duration).collect();
    Some(phase)
}

/// The time between blocks that are not due together, where it is always the same. 24 frames a second are
/// periods of whole nanoseconds that differ by one.
fn period(call: &Call, blocks: &[Block]) -> Option<Nanos> {
    let said = call.optional("period");
    if said.as_ref().is_some_and(|period| period.fixed().is_none()) {
        return None;
    }
    let gaps = blocks.windows(2).map(|pair| pair[1].due.since(pair[0].due));
    let gaps: Vec<Nanos> = gaps.filter(|gap| *gap > Nanos::ZERO).collect();
    let (least, most) = (gaps.iter().min()?, gaps.iter().max()?);
    // One gap of a model may be any.
    let told = gaps.len() > 1 || said.is_some();
    (told && most.since(*least) <= ROUNDING).then_some(*most)
}

const ROUNDING: Nanos = Nanos::new(1);
