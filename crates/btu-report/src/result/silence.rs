//! Why a figure is null: a document writes `KEY_reason` after each key that has no value, and its schema
//! names both. A key whose reason the document has by itself needs none here.

use std::io;
use std::io::Write;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::Value;
use serde_json::ser::Formatter;
use serde_json::ser::PrettyFormatter;

/// The keys of a document that may be null, each with what is then the case.
pub(super) type Reasons = [(&'static str, &'static str)];

/// The document as its file: pretty JSON, a reason after each null, and a newline.
pub(super) fn to_json(document: &impl Serialize, reasons: &Reasons) -> String {
    let mut text = Vec::new();
    let formatter =
        Explained { pretty: PrettyFormatter::new(), reasons, key: None, told: None, in_key: false };
    let mut writer = Serializer::with_formatter(&mut text, formatter);
    if document.serialize(&mut writer).is_err() {
        return String::new();
    }
    text.push(b'\n');
    String::from_utf8(text).unwrap_or_default()
}

/// Pretty JSON that remembers the key it is at.
struct Explained<'a> {
    pretty: PrettyFormatter<'a>,
    reasons: &'a Reasons,
    /// The key whose value comes next; `None` inside a list.
    key: Option<String>,
    /// The key that was null, and why.
    told: Option<(String, &'static str)>,
    in_key: bool,
}

impl Explained<'_> {
    fn tell<W: ?Sized + Write>(&mut self, to: &mut W, key: &str, reason: &str) -> io::Result<()> {
        self.pretty.begin_object_key(to, false)?;
        write!(to, "\"{key}_reason\"")?;
        self.pretty.end_object_key(to)?;
        self.pretty.begin_object_value(to)?;
        write!(to, "{}", Value::from(reason))?;
        self.pretty.end_object_value(to)
    }
}

impl Formatter for Explained<'_> {
    fn write_null<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if let Some(key) = self.key.take() {
            let reason = self.reasons.iter().find(|(name, _)| *name == key);
            self.told = reason.map(|(_, reason)| (key, *reason));
        }
        to.write_all(b"null")
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        to: &mut W,
        part: &str,
    ) -> io::Result<()> {
        if self.in_key {
            self.key.get_or_insert_default().push_str(part);
        }
        to.write_all(part.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.key = None;
        self.pretty.begin_array(to)
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.pretty.end_array(to)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_array_value(to, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.pretty.end_array_value(to)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.pretty.begin_object(to)
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.pretty.end_object(to)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        (self.key, self.in_key) = (None, true);
        self.pretty.begin_object_key(to, first)
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.in_key = false;
        self.pretty.end_object_key(to)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(to)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(to)?;
        match self.told.take() {
            Some((key, reason)) => self.tell(to, &key, reason),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_null_of_a_key_is_followed_by_its_reason_and_nothing_else_changes() {
        let document = json!({
            "a": null, "b": [null, {"a": null, "c": "\"a\": null"}], "d": {"e": null}, "f": 1,
        });
        let text = to_json(&document, &[("a", "no \"a\""), ("f", "never")]);
        let read: Value = serde_json::from_str(&text).unwrap();
        let told = json!({
            "a": null, "a_reason": "no \"a\"",
            "b": [null, {"a": null, "a_reason": "no \"a\"", "c": "\"a\": null"}],
            "d": {"e": null}, "f": 1,
        });
        assert_eq!(read, told);
        let plain = serde_json::to_string_pretty(&document).unwrap();
        let left: Vec<&str> = text.lines().filter(|line| !line.contains("_reason")).collect();
        assert_eq!(left.join("\n"), plain);
    }
}
