//! The published schemas of documents (JSON Schema, 2020-12), generated from their types. The program needs none of it: the
//! files in `docs/schema` are what is published, and tests hold them against this.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Map;
use serde_json::Value;

use super::ResultDocument;
use super::app::AppDocument;
use super::file::FileDocument;
use super::mesh::MeshDocument;
use super::pingpong::PingPongDocument;
use super::traffic::TrafficDocument;
use super::version::REASON;

/// Of `result.json`.
pub fn result_schema() -> Value {
    plain::<ResultDocument>()
}

/// Of a ping-pong's `result.json`.
pub fn pingpong_schema() -> Value {
    explained::<PingPongDocument>()
}

/// Of the `result.json` of parallel applications.
pub fn app_schema() -> Value {
    explained::<AppDocument>()
}

/// Of a file service's `result.json`.
pub fn file_schema() -> Value {
    explained::<FileDocument>()
}

/// Of a mesh's `result.json`.
pub fn mesh_schema() -> Value {
    explained::<MeshDocument>()
}

/// Of a traffic measurement's `result.json`.
pub fn traffic_schema() -> Value {
    explained::<TrafficDocument>()
}

/// With an optional text `KEY_reason` beside every key that may be null.
fn explained<T: JsonSchema>() -> Value {
    let mut told = plain::<T>();
    explain(&mut told);
    told
}

fn plain<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>().to_value()
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

    use super::super::silence::Reasons;
    use super::super::silence::to_json;
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
