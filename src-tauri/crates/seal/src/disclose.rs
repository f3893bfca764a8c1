//! Sensitive leaves: hashed everywhere, readable only where their disclosure survives (proof 5).
//!
//! Before hashing, a sensitive leaf stands in the document as `{"$plain": value}`. [`conceal`] replaces it by
//! `{"$sd": hex}` and hands out the [`Disclosure`], whose bytes are the canonical bytes of
//! `[salt_hex, json_pointer, value]`, so that `sha256sum` of its file shows the digest. Deleting the bytes erases
//! the value and leaves every hash valid. Modelled on RFC 9901, not conformant to it.

use std::fmt;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};
use serde_json::{Map, Value};

use crate::{
    Digest, Error,
    canon::{canonical_value, check, parse_canonical},
    encoding,
};

/// Name of the one member of a leaf that is still readable.
pub const PLAIN: &str = "$plain";

/// Name of the one member of a leaf that is concealed.
pub const CONCEALED: &str = "$sd";

/// What opens one concealed leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disclosure {
    /// SHA-256 of `bytes`; what stands in the document.
    pub digest: Digest,
    /// Canonical bytes of `[salt_hex, json_pointer, value]`.
    pub bytes: Vec<u8>,
}

/// Replaces every `{"$plain": v}` by `{"$sd": digest}`, in the order of the sorted names.
///
/// `base_pointer` is where `value` stands in the document that will be hashed (`""` for the whole). A leaf that is
/// already concealed passes, so that an erased value can be carried on. `salts` is called once per leaf.
///
/// # Errors
/// [`Error::Reserved`] when `$plain` or `$sd` stands in any other shape, or inside a plain value;
/// [`Error::Unsealable`] when the value has no canonical form; [`Error::Malformed`] for a bad `base_pointer`.
pub fn conceal(
    value: Value,
    base_pointer: &str,
    salts: &mut dyn FnMut() -> [u8; 16],
) -> Result<(Value, Vec<Disclosure>), Error> {
    check(&value, 0)?;
    let mut pointer = base(base_pointer)?;
    let mut disclosures = Vec::new();
    let value = walk(value, &mut pointer, &mut |leaf, pointer| match leaf {
        Leaf::Concealed(digest) => Ok(concealed(&digest)),
        Leaf::Plain(plain) => {
            let salt = Value::String(hex::encode(salts()));
            let bytes = canonical_value(&Value::Array(vec![salt, Value::String(pointer.to_owned()), plain]))?;
            let digest = Digest::of(&bytes);
            disclosures.push(Disclosure { digest, bytes });
            Ok(concealed(&digest))
        }
    })?;
    Ok((value, disclosures))
}

/// Puts `{"$plain": v}` back wherever `lookup` still has the disclosure; erased leaves stay `{"$sd": …}`.
///
/// # Errors
/// [`Error::Disclosure`] when the bytes do not hash to the digest or belong to another place;
/// [`Error::Reserved`] as in [`conceal`].
pub fn reveal(value: Value, lookup: &dyn Fn(&Digest) -> Option<Vec<u8>>) -> Result<Value, Error> {
    reveal_at(value, "", lookup)
}

/// [`reveal`] for a part of a document that stands at `base_pointer`.
///
/// # Errors
/// As [`reveal`].
pub fn reveal_at(
    value: Value,
    base_pointer: &str,
    lookup: &dyn Fn(&Digest) -> Option<Vec<u8>>,
) -> Result<Value, Error> {
    let mut pointer = base(base_pointer)?;
    walk(value, &mut pointer, &mut |leaf, pointer| match leaf {
        Leaf::Plain(plain) => Ok(single(PLAIN, plain)),
        Leaf::Concealed(digest) => match lookup(&digest) {
            None => Ok(concealed(&digest)),
            Some(bytes) => open(&digest, pointer, &bytes).map(|plain| single(PLAIN, plain)),
        },
    })
}

fn open(digest: &Digest, pointer: &str, bytes: &[u8]) -> Result<Value, Error> {
    let unfit = |reason: String| Error::Disclosure { digest: *digest, pointer: pointer.to_owned(), reason };
    let (found, place, plain) = verify_disclosure(bytes).map_err(|e| unfit(e.to_string()))?;
    if found != *digest {
        return Err(unfit(format!("its bytes hash to `{found}`")));
    }
    if place != pointer {
        return Err(unfit(format!("it was made for `{place}`")));
    }
    Ok(plain)
}

/// Reads a disclosure: its digest, the pointer it was made for, and the value.
///
/// # Errors
/// [`Error::Malformed`] or [`Error::NotCanonical`] when the bytes are not the canonical bytes of
/// `[salt_hex, json_pointer, value]`; [`Error::Reserved`] when the value carries `$plain` or `$sd`.
pub fn verify_disclosure(bytes: &[u8]) -> Result<(Digest, String, Value), Error> {
    let bad = |reason: &str| Error::malformed("disclosure", reason);
    let Value::Array(parts) = parse_canonical(bytes)? else {
        return Err(bad("it is not an array"));
    };
    let Ok([salt, pointer, value]) = <[Value; 3]>::try_from(parts) else {
        return Err(bad("it does not have the three parts salt, pointer, value"));
    };
    let (Value::String(salt), Value::String(pointer)) = (salt, pointer) else {
        return Err(bad("its salt and pointer are not both strings"));
    };
    encoding::hex_exact::<16>("disclosure", &salt)?;
    base(&pointer)?;
    refuse_reserved(&value, &mut pointer.clone())?;
    Ok((Digest::of(bytes), pointer, value))
}

/// The digits of every concealed leaf in the canonical bytes of a document, in their order. A leaf is spelled
/// `{"$sd":"…"}`, and nothing else can be: within a string the quotes would be escaped.
pub fn concealed_in(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    static LEAF: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"{\"$sd\":\""));
    LEAF.find_iter(bytes).filter_map(|at| bytes.get(at + LEAF.needle().len()..)?.get(..64))
}

/// What a reserved object says.
enum Leaf {
    Plain(Value),
    Concealed(Digest),
}

type OnLeaf<'a> = dyn FnMut(Leaf, &str) -> Result<Value, Error> + 'a;

fn walk(value: Value, pointer: &mut String, on_leaf: &mut OnLeaf<'_>) -> Result<Value, Error> {
    match value {
        Value::Object(members) if is_reserved(&members) => {
            let leaf = leaf(members, pointer)?;
            on_leaf(leaf, pointer)
        }
        Value::Object(members) => {
            // Sorted here, because the order of a map depends on a feature any crate of the build may switch on,
            // and the order decides which leaf gets which salt.
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            let mut walked = Map::new();
            for (name, member) in members {
                let member = step(pointer, &name, |pointer| walk(member, pointer, on_leaf))?;
                walked.insert(name, member);
            }
            Ok(Value::Object(walked))
        }
        Value::Array(items) => {
            let mut walked = Vec::with_capacity(items.len());
            for (index, item) in items.into_iter().enumerate() {
                walked.push(step(pointer, &index.to_string(), |pointer| walk(item, pointer, on_leaf))?);
            }
            Ok(Value::Array(walked))
        }
        other => Ok(other),
    }
}

/// Runs `inner` with one more token on the pointer.
fn step<T>(pointer: &mut String, token: &str, inner: impl FnOnce(&mut String) -> T) -> T {
    let length = pointer.len();
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
    let result = inner(pointer);
    pointer.truncate(length);
    result
}

fn is_reserved(members: &Map<String, Value>) -> bool {
    members.contains_key(PLAIN) || members.contains_key(CONCEALED)
}

fn leaf(mut members: Map<String, Value>, pointer: &mut String) -> Result<Leaf, Error> {
    let reserved = |reason| Error::Reserved { pointer: pointer.clone(), reason };
    if members.len() != 1 {
        return Err(reserved("other members stand beside them"));
    }
    if let Some(plain) = members.remove(PLAIN) {
        refuse_reserved(&plain, pointer)?;
        return Ok(Leaf::Plain(plain));
    }
    match members.remove(CONCEALED) {
        Some(Value::String(hex)) => match hex.parse() {
            Ok(digest) => Ok(Leaf::Concealed(digest)),
            Err(_) => Err(reserved("`$sd` is no digest")),
        },
        _ => Err(reserved("`$sd` is no digest")),
    }
}

fn refuse_reserved(value: &Value, pointer: &mut String) -> Result<(), Error> {
    match value {
        Value::Object(members) if is_reserved(members) => {
            Err(Error::Reserved { pointer: pointer.clone(), reason: "a plain value carries one of them" })
        }
        Value::Object(members) => members
            .iter()
            .try_for_each(|(name, member)| step(pointer, name, |pointer| refuse_reserved(member, pointer))),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
            step(pointer, &index.to_string(), |pointer| refuse_reserved(item, pointer))
        }),
        _ => Ok(()),
    }
}

/// A JSON pointer (RFC 6901): empty, or tokens that each begin with `/`, with `~` only in `~0` and `~1`.
fn base(pointer: &str) -> Result<String, Error> {
    let rooted = pointer.is_empty() || pointer.starts_with('/');
    let escaped = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if rooted && escaped {
        return Ok(pointer.to_owned());
    }
    Err(Error::malformed("json pointer", format!("`{pointer}` does not follow RFC 6901")))
}

fn single(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

fn concealed(digest: &Digest) -> Value {
    single(CONCEALED, Value::String(digest.to_string()))
}

/// A sensitive leaf in a typed document: readable, or erased with its digest left behind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sensitive<T> {
    /// Readable; in JSON `{"$plain": v}`.
    Shown(T),
    /// Concealed or erased; in JSON `{"$sd": hex}`.
    Erased(Digest),
}

impl<T> Sensitive<T> {
    /// The value, where it is readable.
    pub const fn shown(&self) -> Option<&T> {
        match self {
            Self::Shown(value) => Some(value),
            Self::Erased(_) => None,
        }
    }

    /// The value itself, where it is readable.
    pub fn into_shown(self) -> Option<T> {
        match self {
            Self::Shown(value) => Some(value),
            Self::Erased(_) => None,
        }
    }

    /// Whether the value is gone, or not for these eyes.
    pub const fn is_erased(&self) -> bool {
        matches!(self, Self::Erased(_))
    }

    /// The same with a borrowed value.
    pub const fn as_ref(&self) -> Sensitive<&T> {
        match self {
            Self::Shown(value) => Sensitive::Shown(value),
            Self::Erased(digest) => Sensitive::Erased(*digest),
        }
    }

    /// Applies `change` to a readable value; an erased one stays erased.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Sensitive<U> {
        match self {
            Self::Shown(value) => Sensitive::Shown(change(value)),
            Self::Erased(digest) => Sensitive::Erased(digest),
        }
    }
}

impl<T> From<T> for Sensitive<T> {
    fn from(value: T) -> Self {
        Self::Shown(value)
    }
}

impl<T: Serialize> Serialize for Sensitive<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        match self {
            Self::Shown(value) => map.serialize_entry(PLAIN, value)?,
            Self::Erased(digest) => map.serialize_entry(CONCEALED, digest)?,
        }
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Sensitive<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct One<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for One<T> {
            type Value = Sensitive<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the one member `$plain` or `$sd`")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let name: Option<String> = map.next_key()?;
                let read = match name.as_deref() {
                    Some(PLAIN) => Sensitive::Shown(map.next_value()?),
                    Some(CONCEALED) => Sensitive::Erased(map.next_value()?),
                    Some(other) => return Err(de::Error::unknown_field(other, &[PLAIN, CONCEALED])),
                    None => return Err(de::Error::invalid_length(0, &self)),
                };
                match map.next_key::<String>()? {
                    None => Ok(read),
                    Some(_) => Err(de::Error::invalid_length(2, &self)),
                }
            }
        }

        deserializer.deserialize_map(One(std::marker::PhantomData))
    }
}
