//! The exchange of borders between cells.

use std::ops::Range;

use super::block::HALO;
use super::multipartition::Multipartition;
use super::multipartition::Way;
use crate::app::endpoint::LayerError;
use crate::app::ranks::Ranks;

/// The space that messages of borders need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Borders {
    sent: Vec<[f64; 5]>,
    received: Vec<[f64; 5]>,
}

impl Borders {
    /// Fills the halos of all cells: one message each way along each axis, none for a single rank.
    pub(crate) fn exchange(
        &mut self,
        partition: &Multipartition,
        fields: &mut [Vec<[f64; 5]>],
        ranks: &mut Ranks<'_>,
    ) -> Result<(), LayerError> {
        if partition.slices() == 1 {
            return Ok(());
        }
        for axis in 0..3 {
            self.shift(partition, fields, ranks, axis, Way::Next)?;
            self.shift(partition, fields, ranks, axis, Way::Previous)?;
        }
        Ok(())
    }

    /// Sends the borders that lie this way, and receives those that come from the other.
    fn shift(
        &mut self,
        partition: &Multipartition,
        fields: &mut [Vec<[f64; 5]>],
        ranks: &mut Ranks<'_>,
        axis: usize,
        way: Way,
    ) -> Result<(), LayerError> {
        self.sent.clear();
        for (cell, row) in points(partition, axis, way, border) {
            self.sent.extend_from_slice(&fields[cell][row]);
        }
        let coming = points(partition, axis, way.back(), halo).map(|(_, row)| row.len()).sum();
        self.received.resize(coming, [0.0; 5]);
        let to = partition.neighbour(axis, way);
        let from = partition.neighbour(axis, way.back());
        ranks.exchange((to, &self.sent), (from, &mut self.received), tag(axis, way))?;
        let mut received = self.received.as_slice();
        for (cell, row) in points(partition, axis, way.back(), halo) {
            let (values, rest) = received.split_at(row.len());
            fields[cell][row].copy_from_slice(values);
            received = rest;
        }
        Ok(())
    }
}

/// Layers of all cells that have a neighbour this way, slice by slice: the cell, and a run of points.
fn points(
    partition: &Multipartition,
    axis: usize,
    way: Way,
    layers: fn(Range<usize>, Way) -> Range<usize>,
) -> impl Iterator<Item = (usize, Range<usize>)> {
    let slices = match way {
        Way::Next => 0..partition.slices() - 1,
        Way::Previous => 1..partition.slices(),
    };
    slices.map(move |slice| partition.cell(axis, slice)).flat_map(move |index| {
        let cell = &partition.cells[index];
        cell.layers(axis, layers(cell.own(axis), way)).map(move |row| (index, row))
    })
}

/// The outermost own points this way, of which a neighbour keeps a copy.
fn border(own: Range<usize>, way: Way) -> Range<usize> {
    match way {
        Way::Next => own.end - HALO..own.end,
        Way::Previous => own.start..own.start + HALO,
    }
}

/// The points of the neighbour this way, of which a cell keeps a copy.
fn halo(own: Range<usize>, way: Way) -> Range<usize> {
    match way {
        Way::Next => own.end..own.end + HALO,
        Way::Previous => own.start - HALO..own.start,
    }
}

/// With few ranks both neighbours along an axis are the same one.
fn tag(axis: usize, way: Way) -> u32 {
    2 * axis as u32 + u32::from(way == Way::Previous)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::kernel::flow::Block;
    use crate::app::kernel::flow::Mesh;
    use crate::app::testing;

    #[test]
    fn beside_its_faces_a_cell_has_the_points_of_its_neighbours_whose_sizes_may_differ() {
        let ends = testing::ranks(9, |_| ());
        std::thread::scope(|scope| {
            for mut end in ends {
                scope.spawn(move || exchanges(&mut Ranks::new(&mut end)).unwrap());
            }
        });
    }

    fn exchanges(ranks: &mut Ranks<'_>) -> Result<(), LayerError> {
        let partition = Multipartition::new(Mesh::new(14), ranks.rank(), ranks.size());
        let field = |cell: &Block| cell.field(|[x, y, z]| [x, y, z, 1, 1].map(|at| at as f64));
        let right: Vec<_> = partition.cells.iter().map(field).collect();
        let mut fields: Vec<_> = right.iter().map(|field| vec![[0.0; 5]; field.len()]).collect();
        for ((cell, field), right) in partition.cells.iter().zip(&mut fields).zip(&right) {
            cell.layers(0, cell.own(0)).flatten().for_each(|at| field[at] = right[at]);
        }
        Borders::default().exchange(&partition, &mut fields, ranks)?;
        for ((cell, field), right) in partition.cells.iter().zip(&fields).zip(&right) {
            for axis in 0..3 {
                let first = if cell.first(axis) == 0 { HALO } else { 0 };
                let behind = cell.first(axis) + cell.size(axis) < cell.mesh.points();
                let end = cell.own(axis).end + if behind { HALO } else { 0 };
                let mut points = cell.layers(axis, first..end).flatten();
                assert!(
                    points.all(|at| field[at].map(f64::to_bits) == right[at].map(f64::to_bits)),
                    "{cell:?}, axis {axis}"
                );
            }
        }
        Ok(())
    }
}
