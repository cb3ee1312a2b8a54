//! The CPU activity of maly1996, 4.2: complex arithmetic, then memory that is allocated, filled with
//! its results, and freed.

use std::hint::black_box;

use btu_sys::memory::Buffer;
use btu_sys::memory::Pages;

use super::Activity;
use super::Prepared;
use super::Setup;
use super::Worker;
use crate::error::EngineError;

/// The activity `cpu`.
#[derive(Debug)]
pub struct Cpu;

/// As many workers as the plan wants.
#[derive(Clone, Copy, Debug)]
struct Loops {
    threads: usize,
}

/// One endless loop: part 1 computes, part 2 moves memory.
#[derive(Debug)]
struct Loop {
    results: Vec<u8>,
    round: u32,
}

impl Activity for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn about(&self) -> &'static str {
        "complex arithmetic, then allocating, filling and freeing memory, on every CPU"
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Prepared>, EngineError> {
        let asked = setup.cpu_threads.and_then(|threads| usize::try_from(threads).ok());
        let threads = match asked {
            Some(threads) => threads.max(1),
            None => setup.place.cpus()?.len(),
        };
        Ok(Box::new(Loops { threads }))
    }
}

impl Prepared for Loops {
    fn unit(&self) -> String {
        format!("{POINTS} points x {TURNS} complex turns, {CHUNKS} chunks of {CHUNK} B filled")
    }

    fn workers(&self) -> Result<Vec<Box<dyn Worker>>, EngineError> {
        let worker = |_| -> Box<dyn Worker> { Box::new(Loop { results: Vec::new(), round: 0 }) };
        Ok((0..self.threads).map(worker).collect())
    }
}

impl Worker for Loop {
    fn begin(&mut self) -> Result<(), EngineError> {
        self.results = vec![0; POINTS * POINT_BYTES];
        Ok(())
    }

    fn step(&mut self) -> Result<f64, EngineError> {
        self.round = self.round.wrapping_add(1);
        compute(&mut self.results, self.round);
        for _ in 0..CHUNKS {
            fill_a_chunk(&self.results)?;
        }
        Ok(1.0)
    }
}

/// Part 1: z -> z^2 + c from a grid of starting points; c lies where every orbit stays bounded.
fn compute(results: &mut [u8], round: u32) {
    let c = (-0.1 - 1e-4 * f64::from(round % 1000), 0.05);
    for (index, result) in (0_u32..).zip(results.chunks_exact_mut(POINT_BYTES)) {
        let mut z = (f64::from(index % 64) / 256.0, f64::from(index / 64) / 256.0);
        for _ in 0..TURNS {
            z = (z.0 * z.0 - z.1 * z.1 + c.0, 2.0 * z.0 * z.1 + c.1);
        }
        result[..8].copy_from_slice(&z.0.to_le_bytes());
        result[8..].copy_from_slice(&z.1.to_le_bytes());
    }
    black_box(&mut *results);
}

/// Part 2: fresh pages from the kernel, filled with copies of the results, and given back.
fn fill_a_chunk(results: &[u8]) -> Result<(), EngineError> {
    let mut chunk = Buffer::new(CHUNK, 0, Pages::OnTouch)?;
    for part in chunk.chunks_mut(results.len()) {
        part.copy_from_slice(&results[..part.len()]);
    }
    black_box(&mut *chunk);
    Ok(())
}

/// 64 KiB of results: more than the first-level cache.
const POINTS: usize = 4096;
const POINT_BYTES: usize = 16;
/// About half of a unit's time on a machine of 2020.
const TURNS: u32 = 24;
const CHUNK: usize = 256 << 10;
const CHUNKS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_orbit_stays_bounded_and_depends_on_its_start() {
        let mut results = vec![0; POINTS * POINT_BYTES];
        for round in [0, 1, 999] {
            compute(&mut results, round);
            let values =
                results.chunks_exact(8).map(|raw| f64::from_le_bytes(raw.try_into().unwrap()));
            let values: Vec<f64> = values.collect();
            assert!(values.iter().all(|value| value.is_finite() && value.abs() < 2.0));
            assert_ne!(values[0].to_bits(), values[200].to_bits());
        }
    }
}
