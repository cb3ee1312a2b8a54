//! What is particular to the layers of PVM; what they share with other libraries is in `processes`.

use std::sync::MutexGuard;

use btu_core::app::kernel::Kernel;
use btu_core::app::kernel::Outcome;

use super::launches::Scripted;
use super::processes::launched_with;
use super::processes::libraries;
use super::processes::take;
use super::*;

/// The kernels of these tests.
pub(super) fn scripted(name: &str) -> Option<&'static dyn Kernel> {
    match name {
        "leaves-early" => Some(&LEAVES_EARLY),
        "out-of-order" => Some(&OUT_OF_ORDER),
        "wrong-length" => Some(&WRONG_LENGTH),
        _ => None,
    }
}

static OUT_OF_ORDER: Scripted = Scripted(|ranks| {
    const LENGTHS: [usize; 8] = [0, 1, 15, 4080, 4096, 4097, 70_000, 1 << 20];
    let (me, other) = (ranks.rank(), 1 - ranks.rank());
    for (tag, length) in (0..).zip(LENGTHS) {
        ranks.send(other, tag, &payload(me, tag, length))?;
    }
    for (tag, length) in (0..).zip(LENGTHS).collect::<Vec<_>>().into_iter().rev() {
        take(ranks, other, tag, length)?;
    }
    Ok(Outcome::default())
});

/// What it sent before is still received; the next receive fails at once, long before the cap.
static LEAVES_EARLY: Scripted = Scripted(|ranks| {
    let (last, me) = (ranks.size() - 1, ranks.rank());
    if me == last {
        ranks.send(0, 1, &payload(me, 1, 300_000))?;
        return Ok(Outcome::default());
    }
    if me == 0 {
        take(ranks, last, 1, 300_000)?;
    }
    let told = ranks.receive(last, 2, &mut [0_u8; 8]).unwrap_err();
    assert_eq!(told, LayerError::Gone { peer: last, cause: "it ended".to_owned() });
    Ok(Outcome::default())
});

static WRONG_LENGTH: Scripted = Scripted(|ranks| {
    if ranks.rank() == 1 {
        ranks.send(0, 1, &[0_u8; 5])?;
        return Ok(Outcome::default());
    }
    let told = ranks.receive(1, 1, &mut [0_u8; 8]).unwrap_err();
    let (got_bytes, wanted_bytes) = (5, 8);
    assert_eq!(told, LayerError::Length { from: 1, tag: 1, got_bytes, wanted_bytes });
    Ok(Outcome::default())
});

/// The layers of PVM that are here.
fn layers() -> (Vec<&'static dyn MessageLayer>, MutexGuard<'static, ()>) {
    let (all, turn) = libraries();
    (all.into_iter().filter(|layer| layer.name().starts_with("pvm")).collect(), turn)
}

/// Every rank comes to its end over each layer, with each way to wait.
fn assert_all_well(kernel: &str, ranks: usize) {
    let (layers, _turn) = layers();
    for layer in layers {
        for wait in layer.waits() {
            let launched = launched_with(kernel, layer, *wait, ranks, Nanos::from_secs(60));
            let is_well = launched.ranks.iter().all(|rank| rank.outcome.is_some());
            assert!(is_well, "{}, {wait}: {launched:?}", layer.name());
        }
    }
}

#[test]
fn m3_messages_of_pvm_come_whole_with_tags_in_any_order() {
    assert_all_well("out-of-order", 2);
}

#[test]
fn what_a_task_of_pvm_sent_before_its_end_is_received_and_its_end_is_told() {
    assert_all_well("leaves-early", 3);
}

#[test]
fn a_message_of_pvm_of_another_length_is_an_error() {
    assert_all_well("wrong-length", 2);
}
