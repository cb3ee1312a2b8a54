//! What a test offers on its schedule: blocks for each way and part, or sizes over and over.

use anyhow::anyhow;
use btu_core::traffic::Call;
use btu_core::traffic::Direction;
use btu_core::traffic::Open;
use btu_core::traffic::Overrun;
use btu_core::traffic::Pattern;
use btu_core::traffic::Timeline;
use btu_core::traffic::sending::burst;
use btu_core::traffic::sending::burst::Discipline;
use btu_core::traffic::sending::burst::Limits;
use btu_core::units::Bytes;
use btu_core::units::Nanos;
use btu_engine::traffic::Offer;

use crate::exit::Failure;

/// What a test whose train this is offers within its duration, by direction and part.
pub(super) fn of(
    call: &Call,
    train: Box<dyn Open>,
    duration: Nanos,
) -> Result<Vec<(Direction, Offer)>, Failure> {
    let train = Timeline::new(train);
    let discipline = match call.pattern() {
        Pattern::Full => {
            let sizes: Vec<Bytes> = match size(call, "blocksize").filter(|_| fixed(call)) {
                Some(size) => vec![size],
                None => train.take(DRAWN_SIZES).map(|(_, arrival)| arrival.bytes).collect(),
            };
            return Ok(vec![(Direction::Forward, Offer::Endless(sizes.into()))]);
        }
        Pattern::Burst(Overrun::Interrupt) => Discipline::Interrupt,
        Pattern::Burst(Overrun::Miss) => Discipline::Miss,
        Pattern::Burstq | Pattern::Model(_) | Pattern::Sink => Discipline::Queue,
    };
    let limits = Limits {
        queue: size(call, "queue_limit"),
        block_time: call.optional("block_timeout").map(|time| time.mean_time()),
    };
    let parts = parts(train, duration).map_err(|cause| {
        let hint = "shorten the duration or lengthen the period";
        Failure::usage(anyhow!("{call}: {cause}")).hint(hint)
    })?;
    let offer =
        |blocks: Vec<burst::Block>| Offer::Train { blocks: blocks.into(), discipline, limits };
    Ok(parts.into_iter().map(|((direction, _), blocks)| (direction, offer(blocks))).collect())
}

/// A way of a train, and what is due on it.
type Part = ((Direction, u32), Vec<burst::Block>);

/// What is due within a time, by direction and part, in their order. A direction in which nothing falls due in this
/// time is there all the same, and so is a train of which nothing does.
fn parts(train: Timeline, duration: Nanos) -> Result<Vec<Part>, String> {
    let mut parts: Vec<Part> = Vec::new();
    let (mut within, mut beyond) = (0, 0);
    for (due, arrival) in train {
        let key = (arrival.direction, arrival.flow);
        let is_due = due < duration;
        *(if is_due { &mut within } else { &mut beyond }) += 1;
        if within > MOST_BLOCKS {
            return Err(format!("more than {MOST_BLOCKS} blocks in {duration}"));
        }
        let block = is_due.then_some(burst::Block { due, size: arrival.bytes });
        let found = match block {
            Some(_) => parts.iter_mut().find(|(known, _)| *known == key),
            None => parts.iter_mut().find(|((direction, _), _)| *direction == key.0),
        };
        match found {
            Some((_, blocks)) => blocks.extend(block),
            None => parts.push((key, block.into_iter().collect())),
        }
        if beyond == LOOK_BEYOND {
            break;
        }
    }
    if parts.is_empty() {
        parts.push(((Direction::Forward, 0), Vec::new()));
    }
    parts.sort_by_key(|(key, _)| *key);
    Ok(parts)
}

/// A size of a call that is a constant, or its mean.
pub(super) fn size(call: &Call, parameter: &str) -> Option<Bytes> {
    call.optional(parameter).map(|size| size.mean_bytes())
}

fn fixed(call: &Call) -> bool {
    call.optional("blocksize").is_some_and(|size| size.fixed().is_some())
}

/// Sizes of a full stream whose blocks differ, drawn once and used over and over.
pub(super) const DRAWN_SIZES: usize = 1024;
/// 64 bytes each are kept of every block.
pub(super) const MOST_BLOCKS: usize = 4_000_000;
/// Arrivals after the end that tell in which directions a train sends.
const LOOK_BEYOND: usize = 64;
