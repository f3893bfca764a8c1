//! JSON values held against JSON Schemas, and tools whose schemas are none.

use jsonschema::{PatternOptions, ValidationError, Validator};
use model::limits::{SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};
use model::tool_server::{ServerTool, ToolManifest};
use serde_json::Value;
use std::collections::HashMap;

/// Letters of what is wrong that are told.
const TOLD: usize = 600;
/// Letters of what is wrong with a schema that are told: one card holds them for all tools of a server.
const TOLD_OF_SCHEMA: usize = 200;
/// Schemas of one server that are remembered.
const KNOWN_MAX: usize = 1_024;

/// Schemas of one server that were looked at, by their text, with what is wrong with each.
#[derive(Debug, Default)]
pub(crate) struct Schemas(HashMap<String, Option<String>>);

impl Schemas {
    /// The same without the tools whose schemas no call could be held against: they are left out, with why.
    ///
    /// # Errors
    /// In words, when a server offers tools and all are such.
    pub(crate) fn sift(&mut self, mut offers: ToolManifest) -> Result<ToolManifest, String> {
        if self.0.len() > KNOWN_MAX {
            self.0.clear();
        }
        let told = std::mem::take(&mut offers.tools);
        let all = told.len();
        for tool in told {
            match self.wrong_with(&tool) {
                None => offers.tools.push(tool),
                Some(why) => {
                    let name: String = tool.name.chars().take(64).collect();
                    offers.left_out.push(format!("its tool `{}`: {why}", name.escape_debug()));
                }
            }
        }
        match offers.left_out.last() {
            Some(last) if all > 0 && offers.tools.is_empty() => {
                Err(format!("none of its tools can be called; {last}"))
            }
            _ => Ok(offers),
        }
    }

    fn wrong_with(&mut self, tool: &ServerTool) -> Option<String> {
        let schemas = [("input", Some(&tool.input_schema)), ("output", tool.output_schema.as_ref())];
        schemas.into_iter().find_map(|(which, schema)| {
            let schema = schema?;
            let known = self.0.entry(schema.clone()).or_insert_with(|| wrong(schema).err());
            known.as_ref().map(|why| format!("its {which} schema is not valid: {why}"))
        })
    }
}

/// What is wrong with the schema of an object, if anything is.
fn wrong(schema: &str) -> Result<(), String> {
    if schema.len() > SCHEMA_BYTES_MAX {
        return Err(format!("it has {} bytes, more than {SCHEMA_BYTES_MAX}", schema.len()));
    }
    let schema: Value = serde_json::from_str(schema).map_err(|e| format!("it is no JSON: {e}"))?;
    if depth(&schema) > SCHEMA_DEPTH_MAX {
        return Err(format!("it is more than {SCHEMA_DEPTH_MAX} levels deep"));
    }
    match schema.get("type") {
        None => {}
        Some(kind) if kind == "object" => {}
        Some(kind) => {
            return Err(cut(
                format!("it is one of {kind}, and arguments and results are objects"),
                TOLD_OF_SCHEMA,
            ));
        }
    }
    built(&schema).map(|_| ()).map_err(|e| cut(e.to_string(), TOLD_OF_SCHEMA))
}

fn depth(value: &Value) -> usize {
    let inner = match value {
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Array(all) => all.iter().map(depth).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or(0)
}

/// The engine without backtracking: a pattern of a stranger cannot take for ever.
fn built(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options().with_pattern_options(PatternOptions::regex()).build(schema)
}

/// Whether a JSON value fits a JSON Schema. A schema that refers to another document fits nothing.
pub(crate) fn fits(schema: &str, value: &str) -> Result<(), String> {
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|e| format!("it is no JSON: {e}"));
    let (schema, value) = (json(schema)?, json(value)?);
    let validator = built(&schema).map_err(|e| cut(format!("its schema cannot be used: {e}"), TOLD))?;
    validator.validate(&value).map_err(|e| {
        let at = e.instance_path().to_string();
        cut(if at.is_empty() { e.to_string() } else { format!("at `{at}`: {e}") }, TOLD)
    })
}

fn cut(text: String, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        None => text,
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{ "type": "object", "required": ["path"], "additionalProperties": false,
        "properties": { "path": { "type": "string" }, "depth": { "type": "number", "maximum": 2.5 } } }"#;

    #[test]
    fn a_value_that_does_not_fit_is_told_where() {
        assert_eq!(fits(SCHEMA, r#"{ "path": "a", "depth": 1.5 }"#), Ok(()));
        let wrong = fits(SCHEMA, r#"{ "path": "a", "depth": 3 }"#).expect_err("it is too deep");
        assert!(wrong.contains("/depth"), "{wrong}");
        assert!(fits(SCHEMA, r#"{ "depth": 1 }"#).is_err());
        assert!(fits(SCHEMA, r#"{ "path": "a", "more": 1 }"#).is_err());
    }

    fn offers(schemas: &[(&str, Option<&str>)]) -> ToolManifest {
        let tool = |(at, (input, output)): (usize, &(&str, Option<&str>))| ServerTool {
            name: format!("tool{at}"),
            title: None,
            description: None,
            input_schema: (*input).to_owned(),
            output_schema: output.map(str::to_owned),
            hints: model::tool_server::ToolHints::default(),
        };
        ToolManifest { tools: schemas.iter().enumerate().map(tool).collect(), ..ToolManifest::default() }
    }

    #[test]
    fn a_tool_whose_schema_no_call_could_be_held_against_is_left_out_with_why() {
        let deep = format!("{}{{}}{}", r#"{"properties":{"a":"#.repeat(40), "}}".repeat(40));
        let large = format!(r#"{{"description":"{}"}}"#, "x".repeat(SCHEMA_BYTES_MAX));
        let told: Vec<(&str, Option<&str>)> = vec![
            (SCHEMA, Some(SCHEMA)),
            ("{}", None),
            (r#"{ "properties": { "a": { "type": "words" } } }"#, None),
            (r#"{ "type": "array" }"#, None),
            (&deep, None),
            (&large, None),
            (r#"{ "$ref": "https://example.org/schema.json" }"#, None),
            ("{}", Some(r#"{ "type": 7 }"#)),
        ];
        let mut schemas = Schemas::default();
        // Twice: what is remembered says the same.
        for _ in 0..2 {
            let kept = schemas.sift(offers(&told)).expect("some can be called");
            let names: Vec<&str> = kept.tools.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, ["tool0", "tool1"]);
            let why = [
                "tool2`: its input schema is not valid: ",
                "tool3`: its input schema is not valid: it is one of",
                "more than 64 levels deep",
                "more than 65536",
                "tool6`: its input schema is not valid: ",
                "tool7`: its output schema is not valid: ",
            ];
            assert_eq!(kept.left_out.len(), why.len(), "{:?}", kept.left_out);
            for (line, why) in kept.left_out.iter().zip(why) {
                assert!(line.contains(why), "{line}");
            }
        }
        let none = schemas.sift(offers(&told[2..])).expect_err("none can be called");
        assert!(
            none.starts_with("none of its tools can be called; its tool `tool5`: its output schema"),
            "{none}"
        );
    }

    #[test]
    fn a_schema_that_is_none_or_leads_elsewhere_fits_nothing() {
        assert!(fits("{", "{}").is_err());
        assert!(fits(r#"{ "type": "no type" }"#, "{}").is_err());
        for elsewhere in ["https://example.org/schema.json", "file:///etc/passwd"] {
            assert!(fits(&format!(r#"{{ "$ref": "{elsewhere}" }}"#), "{}").is_err(), "{elsewhere}");
        }
    }
}
