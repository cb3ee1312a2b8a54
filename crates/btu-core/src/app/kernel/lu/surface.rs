//! The integral of the pressure over the faces of a box, the last of the figures that are verified.

use std::ops::Range;

use super::SURFACE;
use super::piece::Piece;
use super::piece::Side;
use crate::app::endpoint::LayerError;
use crate::app::kernel::flow;
use crate::app::kernel::flow::HALO;
use crate::app::ranks::Ranks;

/// 0.25 h^2 times the sum over all cells of the six faces, and over the four corners of each.
///
/// A cell belongs to the rank of its first corner, which asks the ranks behind it for the others.
pub(super) fn integral(
    piece: &Piece,
    u: &[[f64; 5]],
    ranks: &mut Ranks<'_>,
) -> Result<f64, LayerError> {
    let mut sum = 0.0;
    for normal in [2, 1, 0] {
        let mut pair = [pair_sum(normal, piece, u, ranks)?];
        ranks.all_reduce(&mut pair)?;
        sum += pair[0];
    }
    let per_spacing = piece.block.mesh.per_spacing();
    Ok(0.25 * sum / (per_spacing * per_spacing))
}

/// The points of the box along an axis of so many points: NPB 3.4.2, `domain.f90`, where they count from 1.
fn box_edge(axis: usize, points: usize) -> Range<usize> {
    [1..points - 1, 1..points - 2, 2..points - 1][axis].clone()
}

/// What this rank has of the two faces across an axis.
fn pair_sum(
    normal: usize,
    piece: &Piece,
    u: &[[f64; 5]],
    ranks: &mut Ranks<'_>,
) -> Result<f64, LayerError> {
    let edge = box_edge(normal, piece.block.mesh.points());
    let cuts = [edge.start, edge.end - 1].map(|cut| piece.part_of(normal, cut..cut + 1));
    let mine = cuts.into_iter().flatten();
    let mut faces: Vec<_> = mine.map(|cut| Face::cut(normal, cut, piece, u)).collect();
    match normal {
        // Here the corner where four ranks meet is asked for, too: it comes along x, with the border along y.
        2 => {
            share(&mut faces, 1, Span::Own, piece, ranks)?;
            share(&mut faces, 0, Span::Bordered, piece, ranks)?;
        }
        _ => {
            for face in &mut faces {
                share(std::slice::from_mut(face), 1 - normal, Span::Own, piece, ranks)?;
            }
        }
    }
    Ok(faces.iter().map(|face| face.sum(piece)).sum())
}

/// The pressure on the points that a rank has of a face, with a border of one point.
#[derive(Debug)]
struct Face {
    /// The axes along it, the one that runs fastest first.
    along: [usize; 2],
    extent: [usize; 2],
    values: Vec<f64>,
}

/// How much of a line of points is passed.
#[derive(Clone, Copy, Debug)]
enum Span {
    Bordered,
    Own,
}

impl Face {
    /// The points at `cut` on the axis `normal`.
    fn cut(normal: usize, cut: usize, piece: &Piece, u: &[[f64; 5]]) -> Self {
        let along = [[1, 2], [0, 2], [0, 1]][normal];
        let extent = along.map(|axis| piece.block.size(axis));
        let mut face = Self { along, extent, values: Vec::new() };
        face.values.resize((extent[0] + 2) * (extent[1] + 2), 0.0);
        for b in 1..=extent[1] {
            for a in 1..=extent[0] {
                let mut point = [cut; 3];
                (point[along[0]], point[along[1]]) = (a + HALO - 1, b + HALO - 1);
                let place = face.at(a, b);
                face.values[place] = flow::pressure(&u[piece.at(point)]);
            }
        }
        face
    }

    /// Where a point lies; the border is at 0.
    const fn at(&self, a: usize, b: usize) -> usize {
        a + b * (self.extent[0] + 2)
    }

    /// Where the points at `index` on `axis` lie.
    fn line(
        &self,
        axis: usize,
        index: fn(usize) -> usize,
        span: Span,
    ) -> impl Iterator<Item = usize> + use<> {
        let across = usize::from(self.along[1] == axis);
        let (index, other) = (index(self.extent[across]), self.extent[1 - across]);
        let others = match span {
            Span::Bordered => 0..other + 2,
            Span::Own => 1..other + 1,
        };
        let strides = [1, self.extent[0] + 2];
        others.map(move |other| index * strides[across] + other * strides[1 - across])
    }

    /// The sums of the four corners of the cells of this rank.
    fn sum(&self, piece: &Piece) -> f64 {
        let [first, second] = self.along.map(|axis| {
            let edge = box_edge(axis, piece.block.mesh.points());
            piece.part_of(axis, edge.start..edge.end - 1)
        });
        let corners = |a: usize, b: usize| {
            let [low, high] = [b + 1 - HALO, b + 2 - HALO].map(|b| self.at(a + 1 - HALO, b));
            self.values[low] + self.values[low + 1] + self.values[high] + self.values[high + 1]
        };
        second.flat_map(|b| first.clone().map(move |a| (a, b))).map(|(a, b)| corners(a, b)).sum()
    }
}

/// Passes the first points on an axis to the rank before, and takes those of the rank behind as the border: one message
/// for all of these faces.
fn share(
    faces: &mut [Face],
    axis: usize,
    span: Span,
    piece: &Piece,
    ranks: &mut Ranks<'_>,
) -> Result<(), LayerError> {
    if let Some(to) = piece.neighbour(axis, Side::Before) {
        let of = |face: &Face| face.line(axis, |_| 1, span).map(|at| face.values[at]).collect();
        let values: Vec<Vec<f64>> = faces.iter().map(of).collect();
        ranks.send(to, SURFACE, &values.concat())?;
    }
    if let Some(from) = piece.neighbour(axis, Side::Behind) {
        let border = |face: &Face| face.line(axis, |extent| extent + 1, span);
        let length = faces.iter().map(|face| border(face).count()).sum();
        let mut values = vec![0.0; length];
        ranks.receive(from, SURFACE, &mut values)?;
        let mut values = values.into_iter();
        for face in faces {
            let places = border(face);
            places.zip(&mut values).for_each(|(place, value)| face.values[place] = value);
        }
    }
    Ok(())
}
