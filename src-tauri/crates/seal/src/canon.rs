//! One value, one byte string: RFC 8785 (JCS) behind an I-JSON gate.
//!
//! RFC 8785 alone would map 2^53+1 and 2^53 to the same bytes and has none for NaN; the gate in front of the writer lets
//! only integers within ±(2^53−1) through, and says decimals in strings. Noncharacters (U+FFFE and such)
//! are kept as they are: they have one spelling and cost no ambiguity.

use std::fmt;
use std::ops::Range;

use serde::{
    Serialize,
    de::{self, DeserializeOwned, DeserializeSeed},
};
use serde_json::{Map, Value};

use crate::{Error, direct, ijson, scan, write::write};

/// Name of the canonical form, as it stands in sealed documents under `canon`.
pub const CANON: &str = "jcs-ijson/1";

/// Largest integer that leaves or enters, 2^53−1; the smallest is its negative.
pub const INTEGER_MAX: i64 = (1 << 53) - 1;

/// How deep arrays and objects may nest; deeper text is refused before it can exhaust a stack.
pub const DEPTH_MAX: usize = 64;

/// The canonical bytes of anything serde can serialise.
///
/// # Errors
/// [`Error::Unsealable`] for a float (NaN too), an integer beyond ±(2^53−1), a name that comes twice, a map key
/// that is no string, or nesting beyond [`DEPTH_MAX`].
pub fn to_canonical<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    direct::to_bytes(value)
}

/// The canonical bytes of a JSON value.
///
/// # Errors
/// As [`to_canonical`].
pub fn canonical_value(value: &Value) -> Result<Vec<u8>, Error> {
    check(value, 0)?;
    Ok(write(value))
}

/// The JSON value of anything serde can serialise, having passed the gate: what would be sealed, as a value.
///
/// # Errors
/// As [`to_canonical`].
pub fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, Error> {
    ijson::to_value(value)
}

/// Reads JSON text, refusing whatever could be read in two ways.
///
/// # Errors
/// [`Error::Malformed`] for duplicate names at any depth, invalid UTF-8, lone surrogates, floats (`1.0`, `1e2`
/// and `-0` too), integers beyond ±(2^53−1), nesting beyond [`DEPTH_MAX`], a byte order mark, trailing bytes.
pub fn parse_strict(bytes: &[u8]) -> Result<Value, Error> {
    let text = std::str::from_utf8(bytes).map_err(|e| Error::malformed("json", e.to_string()))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0 }.deserialize(&mut reader).map_err(|e| refused(&e))?;
    reader.end().map_err(|e| refused(&e))?;
    Ok(value)
}

/// Reads JSON text that must be its own canonical form, byte for byte.
///
/// # Errors
/// As [`parse_strict`], and [`Error::NotCanonical`] with the first byte that differs.
pub fn parse_canonical(bytes: &[u8]) -> Result<Value, Error> {
    if scan::scan(bytes, &mut |_, _| {}).is_ok() {
        return serde_json::from_slice(bytes).map_err(|e| refused(&e));
    }
    explain(bytes)
}

/// Reads a typed document from bytes that must be its own canonical form.
///
/// # Errors
/// As [`parse_canonical`], and [`Error::Malformed`] when the value is not of this type.
pub fn from_canonical<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    check_canonical(bytes)?;
    serde_json::from_slice(bytes).map_err(|e| refused(&e))
}

/// Whether the bytes are canonical, without building a value. About as fast as hashing them.
///
/// # Errors
/// As [`parse_canonical`].
pub fn check_canonical(bytes: &[u8]) -> Result<(), Error> {
    scan::scan(bytes, &mut |_, _| {}).or_else(|_| explain(bytes).map(drop))
}

/// Checks that the bytes are a canonical object and finds where the values of the named top-level members stand,
/// without building a value. `names` are plain ASCII.
///
/// # Errors
/// As [`parse_canonical`], and [`Error::Malformed`] when the bytes are no object.
pub fn places<const N: usize>(bytes: &[u8], names: [&str; N]) -> Result<[Option<Range<usize>>; N], Error> {
    let mut found = [const { None }; N];
    let scanned = scan::scan(bytes, &mut |name, value| {
        for (wanted, place) in names.iter().zip(&mut found) {
            if wanted.as_bytes() == name {
                *place = Some(value.clone());
            }
        }
    });
    if scanned.is_err() {
        explain(bytes)?;
    }
    if bytes.first() != Some(&b'{') {
        return Err(Error::malformed("json", "it is not an object"));
    }
    Ok(found)
}

/// The values that [`places`] finds, each as it is spelled (`7`, `"text"`, `{"a":1}`).
///
/// # Errors
/// As [`places`].
pub fn members<'a, const N: usize>(
    bytes: &'a [u8],
    names: [&str; N],
) -> Result<[Option<&'a [u8]>; N], Error> {
    Ok(places(bytes, names)?.map(|place| bytes.get(place?)))
}

/// The slow way, which says where and why bytes are refused: read, write again, compare.
fn explain(bytes: &[u8]) -> Result<Value, Error> {
    let value = parse_strict(bytes)?;
    let canonical = write(&value);
    let at = canonical.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    if at == bytes.len() && at == canonical.len() {
        return Ok(value);
    }
    Err(Error::NotCanonical { at })
}

fn refused(error: &serde_json::Error) -> Error {
    Error::malformed("json", error.to_string())
}

/// Whether an integer may be sealed.
pub(crate) fn integer_fits(number: i128) -> bool {
    number.unsigned_abs() <= u128::from(INTEGER_MAX.unsigned_abs())
}

/// Walks a value and refuses what [`to_canonical`] would refuse.
pub(crate) fn check(value: &Value, depth: usize) -> Result<(), Error> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
        Value::Number(number) => {
            let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
            match integer {
                Some(integer) if integer_fits(integer) => Ok(()),
                Some(_) => Err(Error::Unsealable { reason: beyond(number) }),
                None => Err(Error::Unsealable { reason: float(number) }),
            }
        }
        Value::Array(items) => {
            deeper(depth)?;
            items.iter().try_for_each(|item| check(item, depth + 1))
        }
        Value::Object(members) => {
            deeper(depth)?;
            members.values().try_for_each(|member| check(member, depth + 1))
        }
    }
}

/// Refuses to open one more array or object at `depth`.
pub(crate) fn deeper(depth: usize) -> Result<(), Error> {
    if depth < DEPTH_MAX {
        return Ok(());
    }
    Err(Error::Unsealable { reason: too_deep() })
}

pub(crate) fn beyond(number: impl fmt::Display) -> String {
    format!("the integer {number} is beyond ±(2^53−1); write it as a decimal string")
}

pub(crate) fn float(number: impl fmt::Display) -> String {
    format!("the number {number} is not an integer; write it as a decimal string")
}

fn too_deep() -> String {
    format!("it nests deeper than {DEPTH_MAX} levels")
}

/// Builds a [`Value`] from a deserialiser and refuses instead of choosing.
struct Strict {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Strict {
    fn inner<E: de::Error>(&self) -> Result<usize, E> {
        deeper(self.depth).map_err(|_| E::custom(too_deep()))?;
        Ok(self.depth + 1)
    }
}

impl<'de> de::Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without floats")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Value, E> {
        if integer_fits(number.into()) { Ok(number.into()) } else { Err(E::custom(beyond(number))) }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        if integer_fits(number.into()) { Ok(number.into()) } else { Err(E::custom(beyond(number))) }
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Err(E::custom(float(number)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let depth = self.inner()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(Strict { depth })? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let depth = self.inner()?;
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            if members.contains_key(&name) {
                return Err(de::Error::custom(format!("the name `{name}` comes twice")));
            }
            let member = access.next_value_seed(Strict { depth })?;
            members.insert(name, member);
        }
        Ok(Value::Object(members))
    }
}
