//! A reader of our own pages: tags with the names of their attributes, and texts between them.

/// One start or end tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// `p`, `/p`, `!DOCTYPE`.
    pub(crate) name: String,
    /// Attributes in order.
    pub(crate) attributes: Vec<String>,
}

/// The structure of a page: every tag, texts and attribute values left out.
pub(crate) fn tags(page: &str) -> Vec<Tag> {
    elements(page).into_iter().map(|(tag, _)| tag).collect()
}

/// Every tag with the values of its attributes.
pub(crate) fn elements(page: &str) -> Vec<(Tag, Vec<String>)> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = end_of_tag(rest);
        found.push(element(&rest[..end]));
        rest = &rest[end..];
    }
    found
}

/// Where the tag ends: at the first `>` outside of quotes.
fn end_of_tag(text: &str) -> usize {
    let mut quoted = false;
    for (place, character) in text.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '>' if !quoted => return place,
            _ => {}
        }
    }
    text.len()
}

fn element(inside: &str) -> (Tag, Vec<String>) {
    let mut parts = inside.splitn(2, char::is_whitespace);
    let name = parts.next().unwrap_or_default().trim_end_matches('/').to_owned();
    let mut rest = parts.next().unwrap_or_default();
    let (mut attributes, mut values) = (Vec::new(), Vec::new());
    while let Some((attribute, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"').unwrap_or((after, ""));
        attributes.push(attribute.trim().to_owned());
        values.push(value.to_owned());
        rest = after;
    }
    (Tag { name, attributes }, values)
}
