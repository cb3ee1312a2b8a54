//! A drawing, element by element; every text and attribute is escaped here and nowhere else.

use std::fmt::Write;

use super::WIDTH;
use crate::number;

/// An SVG under construction.
pub(super) struct Svg {
    out: String,
}

/// Where a text stands against its point.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    End,
    Middle,
    Start,
}

impl Svg {
    /// A drawing with a name and a description for those who cannot see it.
    pub(super) fn new(name: &str, height: f64, title: &str, description: &str) -> Self {
        let (name, width, height) =
            (svg_text(name), number::coordinate(WIDTH), number::coordinate(height));
        let mut out = String::new();
        let _ = write!(
            out,
            "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} \
             {height}\" role=\"img\" aria-labelledby=\"{name}-title {name}-desc\">\n\
             <title id=\"{name}-title\">{}</title>\n<desc id=\"{name}-desc\">{}</desc>\n",
            svg_text(title),
            svg_text(description)
        );
        Self { out }
    }

    /// Slanted lines as a fill: `url(#NAME)`.
    pub(super) fn hatch(&mut self, name: &str, class: &str) {
        let _ = writeln!(
            self.out,
            "<defs><pattern id=\"{0}\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect class=\"{1} ground\" width=\"7\" height=\"7\"/>\
             <rect class=\"{1} line\" width=\"3\" height=\"7\"/></pattern></defs>",
            svg_text(name),
            svg_text(class)
        );
    }

    /// A rectangle.
    pub(super) fn rect(&mut self, class: &str, corner: [f64; 2], size: [f64; 2]) {
        self.filled_rect(class, None, corner, size);
    }

    /// A rectangle with a pattern for its fill.
    pub(super) fn filled_rect(
        &mut self,
        class: &str,
        pattern: Option<&str>,
        corner: [f64; 2],
        size: [f64; 2],
    ) {
        let [x, y] = corner.map(number::coordinate);
        let [width, height] = size.map(number::coordinate);
        let fill =
            pattern.map_or_else(String::new, |name| format!(" fill=\"url(#{})\"", svg_text(name)));
        let class = svg_text(class);
        let _ = writeln!(
            self.out,
            "<rect class=\"{class}\"{fill} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }

    /// A field of a matrix with its figure; a whole matrix has hundreds, so this is short.
    pub(super) fn tile(&mut self, class: &str, corner: [f64; 2], size: [f64; 2], content: &str) {
        let at = [corner[0] + size[0] / 2.0, corner[1] + size[1] / 2.0 + 4.5];
        let [x, y] = corner.map(number::coordinate);
        let [width, height] = size.map(number::coordinate);
        let [text_x, text_y] = at.map(number::coordinate);
        let (class, content) = (svg_text(class), svg_text(content));
        let _ = writeln!(
            self.out,
            "<g class=\"{class}\"><path d=\"M{x} {y}h{width}v{height}h-{width}z\"/>\
             <text x=\"{text_x}\" y=\"{text_y}\">{content}</text></g>"
        );
    }

    /// A straight line.
    pub(super) fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        let [x1, y1] = from.map(number::coordinate);
        let [x2, y2] = to.map(number::coordinate);
        let class = svg_text(class);
        let _ = writeln!(
            self.out,
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        );
    }

    /// A closed figure with straight sides.
    pub(super) fn polygon(&mut self, class: &str, points: &[[f64; 2]]) {
        let points: Vec<String> =
            points.iter().map(|point| point.map(number::coordinate).join(",")).collect();
        let (class, points) = (svg_text(class), points.join(" "));
        let _ = writeln!(self.out, "<polygon class=\"{class}\" points=\"{points}\"/>");
    }

    /// Strokes, each through its points.
    pub(super) fn strokes(&mut self, class: &str, strokes: &[Vec<[f64; 2]>]) {
        let stroke = |points: &Vec<[f64; 2]>| {
            let places: Vec<String> =
                points.iter().map(|point| point.map(number::coordinate).join(" ")).collect();
            format!("M{}", places.join("L"))
        };
        let data: String = strokes.iter().filter(|points| !points.is_empty()).map(stroke).collect();
        let _ = writeln!(self.out, "<path class=\"{}\" d=\"{data}\"/>", svg_text(class));
    }

    /// Dots: strokes of no length with round ends.
    pub(super) fn dots(&mut self, class: &str, points: &[[f64; 2]]) {
        let dot = |point: &[f64; 2]| format!("M{}h0", point.map(number::coordinate).join(" "));
        let data: String = points.iter().map(dot).collect();
        let _ = writeln!(self.out, "<path class=\"{}\" d=\"{data}\"/>", svg_text(class));
    }

    /// A line of text.
    pub(super) fn text(&mut self, class: &str, at: [f64; 2], anchor: Anchor, content: &str) {
        self.put_text(class, at, anchor, "", content);
    }

    /// A line of text that reads upwards.
    pub(super) fn upright_text(&mut self, class: &str, at: [f64; 2], content: &str) {
        let [x, y] = at.map(number::coordinate);
        let turn = format!(" transform=\"rotate(-90 {x} {y})\"");
        self.put_text(class, at, Anchor::Middle, &turn, content);
    }

    fn put_text(&mut self, class: &str, at: [f64; 2], anchor: Anchor, turn: &str, content: &str) {
        let [x, y] = at.map(number::coordinate);
        let (class, content) = (svg_text(class), svg_text(content));
        let anchor = match anchor {
            Anchor::End => "end",
            Anchor::Middle => "middle",
            Anchor::Start => "start",
        };
        let _ = writeln!(
            self.out,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{turn}>{content}</text>"
        );
    }

    /// The whole drawing.
    pub(super) fn finish(self) -> String {
        self.out + "</svg>"
    }
}

/// A text as SVG may hold it, in an element or in a quoted attribute.
fn svg_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_leaves_its_element() {
        let mut svg = Svg::new("a\"b", 10.0, "</title><script>", "&");
        svg.text("c\"", [0.0, 1.25], Anchor::End, "'</svg>");
        let text = svg.finish();
        assert!(!text.contains("<script>") && !text.contains("a\"b") && text.ends_with("</svg>"));
        assert_eq!(text.matches("</svg>").count(), 1);
    }
}
