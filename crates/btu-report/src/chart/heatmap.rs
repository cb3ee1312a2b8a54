//! A matrix in colours: one block per activity, rows of cases, columns of application classes.
//! Every field also holds its figure, so that no one needs to tell colours apart.

use super::WIDTH;
use super::coordinate;
use super::svg::Anchor;
use super::svg::Svg;
use crate::document::Heatmap;
use crate::document::HeatmapGroup;
use crate::document::Palette;
use crate::document::Tile;

/// The chart as an SVG element.
pub(crate) fn heatmap(map: &Heatmap, caption: &str) -> String {
    let frame = Frame::of(map);
    let mut svg = Svg::new(map.name, frame.height(), &map.title, &map.description);
    svg.text("heading", [0.0, 26.0], Anchor::Start, &map.title);
    for (place, group) in map.groups.iter().enumerate() {
        draw_group(&mut svg, map, group, &frame, place);
    }
    legend(&mut svg, map, frame.height() - 66.0);
    svg.text("caption", [0.0, frame.height() - 10.0], Anchor::Start, caption);
    svg.finish()
}

const NAMES: f64 = 96.0;
const GAP: f64 = 26.0;
const ROW: f64 = 32.0;
const HEAD: f64 = 62.0;
const TOP: f64 = 34.0;
const FOOT: f64 = 92.0;

/// How the blocks stand beside and below each other.
struct Frame {
    per_line: usize,
    lines: usize,
    tile: f64,
    block: f64,
    block_height: f64,
}

impl Frame {
    fn of(map: &Heatmap) -> Self {
        let per_line = if map.groups.len() == 3 { 3 } else { map.groups.len().clamp(1, 2) };
        let gaps = coordinate(per_line - 1) * GAP;
        let block = (WIDTH - NAMES - gaps) / coordinate(per_line);
        Self {
            per_line,
            lines: map.groups.len().div_ceil(per_line),
            tile: (block / coordinate(map.columns.len().max(1))).min(120.0),
            block,
            block_height: HEAD + ROW * coordinate(map.rows.len()),
        }
    }

    fn height(&self) -> f64 {
        TOP + coordinate(self.lines) * self.block_height + FOOT
    }

    /// Top left corner of the fields of a block.
    fn corner(&self, place: usize) -> [f64; 2] {
        let (line, column) = (place / self.per_line, place % self.per_line);
        let left = NAMES + coordinate(column) * (self.block + GAP);
        [left, TOP + coordinate(line) * self.block_height + HEAD]
    }
}

fn draw_group(svg: &mut Svg, map: &Heatmap, group: &HeatmapGroup, frame: &Frame, place: usize) {
    let [left, top] = frame.corner(place);
    svg.text("group", [left, top - 27.0], Anchor::Start, &group.title);
    for (column, name) in map.columns.iter().enumerate() {
        let x = left + (coordinate(column) + 0.5) * frame.tile;
        svg.text("tick", [x, top - 8.0], Anchor::Middle, name);
    }
    for (row, tiles) in group.tiles.iter().enumerate() {
        let y = top + coordinate(row) * ROW;
        if place.is_multiple_of(frame.per_line) {
            let name = map.rows.get(row).map_or("", String::as_str);
            svg.text("tick", [left - 10.0, y + 20.5], Anchor::End, name);
        }
        for (column, tile) in tiles.iter().enumerate() {
            draw_tile(svg, map, tile, [left + coordinate(column) * frame.tile, y], frame.tile);
        }
    }
}

fn draw_tile(svg: &mut Svg, map: &Heatmap, tile: &Tile, [x, y]: [f64; 2], width: f64) {
    let class = class(map.palette, tile.step);
    svg.tile(&class, [x + 1.0, y + 1.0], [width - 2.0, ROW - 2.0], &tile.text);
    if tile.flagged {
        let (right, top) = (x + width - 1.0, y + 1.0);
        let corner = [[right - 9.0, top], [right, top], [right, top + 9.0]];
        svg.polygon(&format!("flag {class}"), &corner);
    }
}

/// The colours in a row, each with what it means.
fn legend(svg: &mut Svg, map: &Heatmap, top: f64) {
    let width = WIDTH / coordinate(map.legend.len().max(1));
    for (step, text) in map.legend.iter().enumerate() {
        let class = class(map.palette, Some(step));
        svg.tile(&class, [coordinate(step) * width, top], [width - 2.0, 26.0], text);
    }
}

/// `g` or `s` with the number of the step.
fn class(palette: Palette, step: Option<usize>) -> String {
    let palette = match palette {
        Palette::Goodput => 'g',
        Palette::Slowdown => 's',
    };
    step.map_or_else(|| "t none".to_owned(), |step| format!("t {palette}{step}"))
}
