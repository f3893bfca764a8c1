//! JSON values held against JSON Schemas.

use jsonschema::PatternOptions;
use serde_json::Value;

/// Letters of what is wrong that are told.
const TOLD: usize = 600;

/// Whether a JSON value fits a JSON Schema. A schema that refers to another document fits nothing.
pub(crate) fn fits(schema: &str, value: &str) -> Result<(), String> {
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|e| format!("it is no JSON: {e}"));
    let (schema, value) = (json(schema)?, json(value)?);
    // The engine without backtracking: a pattern of a stranger cannot take for ever.
    let built = jsonschema::options().with_pattern_options(PatternOptions::regex()).build(&schema);
    let validator = built.map_err(|e| cut(format!("its schema cannot be used: {e}")))?;
    validator.validate(&value).map_err(|e| {
        let at = e.instance_path().to_string();
        cut(if at.is_empty() { e.to_string() } else { format!("at `{at}`: {e}") })
    })
}

fn cut(text: String) -> String {
    match text.char_indices().nth(TOLD) {
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

    #[test]
    fn a_schema_that_is_none_or_leads_elsewhere_fits_nothing() {
        assert!(fits("{", "{}").is_err());
        assert!(fits(r#"{ "type": "no type" }"#, "{}").is_err());
        for elsewhere in ["https://example.org/schema.json", "file:///etc/passwd"] {
            assert!(fits(&format!(r#"{{ "$ref": "{elsewhere}" }}"#), "{}").is_err(), "{elsewhere}");
        }
    }
}
