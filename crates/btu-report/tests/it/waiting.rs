//! Delay over the load of random arrivals: what a line without a network makes of them is what theory says.

use std::time::Duration;

use btu_core::traffic::plan::Group;
use btu_core::traffic::plan::Study;
use btu_core::traffic::sample::Journal;
use btu_core::traffic::sample::Line;
use btu_core::traffic::sending::burst::Block;
use btu_core::units::Bytes;
use btu_core::units::Nanos;

use crate::dice::Dice;
use crate::traffic::MU;
use crate::traffic::carried;
use crate::traffic::journal;
use crate::traffic::rendered;

const SEGMENT: u16 = 1448;
/// What the line needs for a segment.
const SERVICE_S: f64 = 1448.0 * 8.0 / MU;
const TIME: Nanos = Nanos::from_secs(300);
const LOADS: [f64; 4] = [0.3, 0.5, 0.7, 1.5];

/// Blocks of a segment at random times, at a share of the rate of the line.
fn poisson(share: f64, seed: u64) -> Vec<Block> {
    let (mut dice, mut due_s, mut blocks) = (Dice::new(seed), 0.0, Vec::new());
    while due_s < TIME.seconds() {
        let due = Duration::from_secs_f64(due_s).as_nanos().try_into().unwrap();
        blocks.push(Block { due: Nanos::new(due), size: Bytes::new(SEGMENT.into()) });
        let chance =
            f64::from(u32::try_from(dice.below(1 << 31)).unwrap() + 1) / f64::from(1_u32 << 31);
        due_s -= SERVICE_S / share * chance.ln();
    }
    blocks
}

/// A sheet with a full stream, whose bursts are more than the line carries, and random arrivals.
fn sheet() -> Journal {
    let mut journal = journal(Study::Qos, &[20, 80, 80, 80, 80]);
    for (cell, load) in journal.plan.cells.iter_mut().zip([None].into_iter().chain(LOADS.map(Some)))
    {
        cell.group = if load.is_some() { Group::Load } else { Group::Capacity };
        cell.x = load.unwrap_or(1.0);
        cell.label = load.map_or("full stream".to_owned(), |share| format!("{share} mu"));
    }
    for line in &mut journal.lines {
        let Line::TrafficRun(run) = line else { continue };
        // The first cell is the full stream.
        let Some(at) = run.cell.checked_sub(2) else { continue };
        let load = LOADS[usize::try_from(at).unwrap()];
        let seed = u64::from(10 * run.cell + run.pass);
        run.clusters[0].flows[0] = carried(&poisson(load, seed), TIME);
    }
    journal
}

/// `13.6 ms` and `13.6 ms (13.1 ms to 14.2 ms)`, in milliseconds.
fn millis(cell: &str) -> f64 {
    let (number, unit) = cell.split_once(' ').unwrap();
    assert!(unit.starts_with("ms"), "{cell}");
    number.parse().unwrap()
}

/// S is 6.8 ms: at loads of 0.3, 0.5 and 0.7 a block waits for 1.5, 3.4 and 8.0 ms.
#[test]
fn random_arrivals_wait_as_the_dotted_line_says() {
    let page = rendered("html", &sheet());
    let figure = page.split("<figure id=\"waiting\">").nth(1).expect("a figure");
    let figure = figure.split("</figure>").next().unwrap();
    let rows = LOADS[..3].iter().map(|share| {
        let row = figure.split(&format!("({share} mu)")).nth(1).unwrap();
        let cells = row.split("</tr>").next().unwrap().split("<td>").skip(1);
        let told = |cell: &str| millis(cell.split("</td>").next().unwrap());
        <[f64; 2]>::try_from(cells.map(told).collect::<Vec<_>>()).unwrap()
    });
    for ([measured, theory], rho) in rows.zip(LOADS) {
        let wanted = 1e3 * SERVICE_S * (1.0 + rho / (2.0 * (1.0 - rho)));
        assert!((theory / wanted - 1.0).abs() < 0.02, "{rho}: {theory} ms, {wanted} ms");
        assert!((measured / wanted - 1.0).abs() < 0.05, "{rho}: {measured} ms, {wanted} ms");
    }
    assert!(!figure.contains("(1.5 mu)"), "more than a line carries has no mean delay");
}

/// Bursts at constant periods wait for nobody below the knee: M/D/1 says nothing of them.
#[test]
fn what_comes_at_constant_periods_is_not_held_against_random_arrivals() {
    let page = rendered("html", &journal(Study::Sweep, &[50, 70, 80, 120]));
    assert!(page.contains("<figure id=\"delay\">") && !page.contains("<figure id=\"waiting\">"));
}
