//! Why a figure is null: a document writes `KEY_reason` after each key that has no value, and its schema
//! names both. A key whose reason the document has by itself needs none here.

use std::io;
use std::io::Write;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Map;
use serde_json::Serializer;
use serde_json::Value;
use serde_json::ser::Formatter;
use serde_json::ser::PrettyFormatter;

use super::version::REASON;

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

/// JSON Schema (2020-12) of the document, with an optional text `KEY_reason` beside every key that may
/// be null.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let mut told = plain::<T>();
    explain(&mut told);
    told
}

fn plain<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
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

fn explain(node: &mut Value) {
    match node {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                add_reasons(properties);
            }
            fields.values_mut().for_each(explain);
        }
        Value::Array(items) => items.iter_mut().for_each(explain),
        _ => {}
    }
}

fn add_reasons(properties: &mut Map<String, Value>) {
    let may_be_silent =
        |(key, one): &(&String, &Value)| may_be_null(one) && !is_reason(key, properties);
    let silent: Vec<String> =
        properties.iter().filter(may_be_silent).map(|(key, _)| key.clone()).collect();
    for key in silent {
        let about = format!("Why `{key}` is null; absent where it is not.");
        let reason = serde_json::json!({"type": "string", "description": about});
        properties.insert(format!("{key}_reason"), reason);
    }
}

/// Whether a key says why another one of the same object is null: it is left out where that is not.
fn is_reason(key: &str, properties: &Map<String, Value>) -> bool {
    key.strip_suffix(REASON).is_some_and(|explained| properties.contains_key(explained))
}

/// Whether the schema of a value allows null.
fn may_be_null(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let listed = schema["type"].as_array().is_some_and(|kinds| kinds.iter().any(is_null));
    let either = schema["anyOf"].as_array();
    listed || either.is_some_and(|kinds| kinds.iter().any(|kind| is_null(&kind["type"])))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    /// Every key of `T` that may be null has one reason, and no other key has any: here, or beside it in the document.
    pub(in crate::result) fn check<T: JsonSchema>(reasons: &Reasons) {
        let told: BTreeSet<String> = reasons.iter().map(|(key, _)| (*key).to_owned()).collect();
        // Of two reasons only the first would ever be told.
        assert_eq!(told.len(), reasons.len(), "a key with two reasons");
        assert_eq!(told, silent_keys(&plain::<T>()));
    }

    /// Every key of a schema that may be null and has no reason beside it, in order and once.
    fn silent_keys(schema: &Value) -> BTreeSet<String> {
        let below = |items: &mut dyn Iterator<Item = &Value>| items.flat_map(silent_keys).collect();
        match schema {
            Value::Object(fields) => {
                let properties = fields.get("properties").and_then(Value::as_object);
                let has_none = |key: &str| {
                    let beside = |own: &Map<String, Value>| {
                        is_reason(key, own) || own.contains_key(&format!("{key}{REASON}"))
                    };
                    !properties.is_some_and(beside)
                };
                let own = properties.into_iter().flatten();
                let own = own.filter(|(key, one)| may_be_null(one) && has_none(key));
                let mut all: BTreeSet<String> = below(&mut fields.values());
                all.extend(own.map(|(key, _)| key.clone()));
                all
            }
            Value::Array(items) => below(&mut items.iter()),
            _ => BTreeSet::new(),
        }
    }

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

    #[test]
    fn a_schema_names_the_reason_of_what_may_be_null() {
        let mut told = json!({"properties": {
            "a": {"type": ["number", "null"]}, "b": {"anyOf": [{"type": "object"}, {"type": "null"}]},
            "c": {"type": "number"},
        }});
        assert_eq!(silent_keys(&told).into_iter().collect::<Vec<_>>(), ["a", "b"]);
        explain(&mut told);
        let keys: Vec<&String> = told["properties"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["a", "a_reason", "b", "b_reason", "c"]);
    }

    /// A sheet says of each line by itself why it has no value: nothing is said twice, and nothing of the reason.
    #[test]
    fn a_reason_of_the_document_itself_stands_alone() {
        let nullable = json!({"type": ["string", "null"]});
        let mut told = json!({"properties": {"a": nullable.clone(), "a_reason": nullable}});
        assert!(silent_keys(&told).is_empty());
        explain(&mut told);
        let about = "Why `a` is null; absent where it is not.";
        assert_eq!(told["properties"]["a_reason"], json!({"type": "string", "description": about}));
        assert_eq!(told["properties"].as_object().unwrap().len(), 2);
        let text = to_json(&json!({"a": null, "a_reason": "its own"}), &[]);
        assert_eq!(text.matches("a_reason").count(), 1, "{text}");
    }
}
