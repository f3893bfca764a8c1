//! JSON whose numbers are read as they are written.
//!
//! The library reads some numbers of more than 15 digits as a neighbour of the nearest one, since it is faster so. What a model
//! wrote is read and written several times until it is played again, and must not move with each.

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Map, Value};
use std::fmt;

/// Reads JSON bytes: each number with a fraction or an exponent becomes the nearest one that there is.
///
/// # Errors
/// As `serde_json::from_slice`.
pub fn read(bytes: &[u8]) -> Result<Value, Error> {
    let mut written = Written { rest: bytes };
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Exact(&mut written).deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The same of a type that owns what it holds.
///
/// # Errors
/// As `serde_json::from_slice`.
pub fn read_as<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_value(read(bytes)?)
}

/// The numbers of a JSON text as they are written, in order.
struct Written<'b> {
    rest: &'b [u8],
}

impl<'b> Iterator for Written<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        loop {
            let begins = |byte: &u8| matches!(byte, b'"' | b'-' | b'0'..=b'9');
            let from = self.rest.get(self.rest.iter().position(begins)?..)?;
            if let Some(quoted) = from.strip_prefix(b"\"") {
                self.rest = behind_text(quoted);
                continue;
            }
            let is_of_it = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
            let end = from.iter().position(|byte| !is_of_it(byte)).unwrap_or(from.len());
            self.rest = from.get(end..)?;
            return from.get(..end);
        }
    }
}

/// What stands behind a text whose opening quotation mark is gone.
fn behind_text(quoted: &[u8]) -> &[u8] {
    let mut is_escaped = false;
    let end = quoted.iter().position(|byte| {
        let ends = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        ends
    });
    end.and_then(|at| quoted.get(at.saturating_add(1)..)).unwrap_or_default()
}

/// Builds a value, and takes one number of the text for each that it comes to.
struct Exact<'w, 'b>(&'w mut Written<'b>);

impl<'de> DeserializeSeed<'de> for Exact<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Exact<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, read: bool) -> Result<Value, E> {
        Ok(Value::Bool(read))
    }

    fn visit_u64<E>(self, read: u64) -> Result<Value, E> {
        self.0.next();
        Ok(read.into())
    }

    fn visit_i64<E>(self, read: i64) -> Result<Value, E> {
        self.0.next();
        Ok(read.into())
    }

    fn visit_f64<E>(self, read: f64) -> Result<Value, E> {
        let written = self.0.next().and_then(|bytes| std::str::from_utf8(bytes).ok()?.parse::<f64>().ok());
        Ok(written.filter(|number| number.is_finite()).unwrap_or(read).into())
    }

    fn visit_str<E>(self, read: &str) -> Result<Value, E> {
        Ok(Value::String(read.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut reader: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = reader.next_element_seed(Exact(&mut *self.0))? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut reader: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = reader.next_key::<String>()? {
            let member = reader.next_value_seed(Exact(&mut *self.0))?;
            members.insert(name, member);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_is_written_wherever_it_stands() {
        let all = r#"{"z":51.248178375505404,"a\"1":["2.5\\",-93.31137037688033,{"b":7,"c":"x\\\"9"},36.573994842753436],
            "m":-1.5e-3,"n":null,"o":true,"p":-0.0,"big":97.45365320034685E10}"#;
        let value = read(all.as_bytes()).unwrap();
        assert_eq!(value["z"].to_string(), "51.248178375505404");
        let list = &value["a\"1"];
        assert!(list[0] == "2.5\\" && list[2]["b"] == 7 && list[2]["c"] == "x\\\"9", "{list}");
        assert_eq!(list[1].to_string(), "-93.31137037688033");
        assert_eq!(list[3].as_f64(), Some(36.573_994_842_753_436));
        assert_eq!(
            (value["m"].as_f64(), value["big"].as_f64()),
            (Some(-1.5e-3), Some(97.453_653_200_346_85e10))
        );
        assert!(value["n"].is_null() && value["o"] == true);
        assert!(value["p"].as_f64().unwrap().is_sign_negative());
    }

    #[test]
    fn all_else_is_read_as_the_library_reads_it() {
        for text in
            ["0", "-7", "18446744073709551615", "\"1\\u0031\"", "[]", "{\"a\":{}, \"a\":1}", " [1 , 2 ] "]
        {
            assert_eq!(
                read(text.as_bytes()).unwrap(),
                serde_json::from_str::<Value>(text).unwrap(),
                "{text}"
            );
        }
        for bad in ["", "1 2", "{", "[1,]", "nul", "1e999", "\"\n\"", "01"] {
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert!(read(deep.as_bytes()).is_err(), "nesting is bounded as before");
        assert_eq!(read_as::<Vec<u8>>(b"[1,2]").unwrap(), [1, 2]);
    }
}
