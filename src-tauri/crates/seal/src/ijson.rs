//! The gate before the canonicaliser: a serialiser into [`Value`] that refuses floats, large integers, repeated
//! names and raw text, where `serde_json` would round, write `null`, or let the last one win.

use std::fmt::Display;

use serde::ser::{self, Serialize};
use serde_json::{Map, Value};

use crate::{
    Error,
    canon::{beyond, deeper, float, integer_fits},
};

/// Serialises into a value that has a canonical form.
pub(crate) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, Error> {
    value.serialize(Gate { depth: 0 })
}

impl ser::Error for Error {
    fn custom<T: Display>(reason: T) -> Self {
        Self::Unsealable { reason: reason.to_string() }
    }
}

#[derive(Clone, Copy)]
struct Gate {
    depth: usize,
}

impl Gate {
    fn integer(self, number: i128) -> Result<Value, Error> {
        if !integer_fits(number) {
            return Err(Error::Unsealable { reason: beyond(number) });
        }
        i64::try_from(number).map(Value::from).map_err(|_| Error::Unsealable { reason: beyond(number) })
    }

    fn inside(self) -> Result<Self, Error> {
        deeper(self.depth)?;
        Ok(Self { depth: self.depth + 1 })
    }

    fn items(self, length: Option<usize>, variant: Option<&'static str>) -> Result<Items, Error> {
        let outer = if variant.is_some() { self.inside()? } else { self };
        let inner = outer.inside()?;
        // A length is a promise of the caller's, so it is never trusted with an allocation.
        Ok(Items { inner, items: Vec::with_capacity(length.unwrap_or(0).min(1024)), variant })
    }

    fn members(self, variant: Option<&'static str>) -> Result<Members, Error> {
        let outer = if variant.is_some() { self.inside()? } else { self };
        Ok(Members { inner: outer.inside()?, members: Map::new(), name: None, variant })
    }
}

/// Every integer, by `integer`, which refuses what the form has no room for.
macro_rules! integers {
    ($($method:ident: $of:ty),+) => {
        $(
            fn $method(self, v: $of) -> Result<Self::Ok, Error> {
                self.integer(v.into())
            }
        )+

        fn serialize_u128(self, v: u128) -> Result<Self::Ok, Error> {
            let number = i128::try_from(v).map_err(|_| Error::Unsealable { reason: beyond(v) })?;
            self.integer(number)
        }
    };
}
pub(crate) use integers;

impl ser::Serializer for Gate {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Items;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    fn serialize_bool(self, v: bool) -> Result<Value, Error> {
        Ok(Value::Bool(v))
    }
    integers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    );

    fn serialize_f32(self, v: f32) -> Result<Value, Error> {
        Err(Error::Unsealable { reason: float(v) })
    }
    fn serialize_f64(self, v: f64) -> Result<Value, Error> {
        Err(Error::Unsealable { reason: float(v) })
    }
    fn serialize_char(self, v: char) -> Result<Value, Error> {
        Ok(Value::String(v.to_string()))
    }
    fn serialize_str(self, v: &str) -> Result<Value, Error> {
        Ok(Value::String(v.to_owned()))
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<Value, Error> {
        self.inside()?;
        Ok(Value::Array(v.iter().map(|byte| Value::from(*byte)).collect()))
    }
    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<Value, Error> {
        v.serialize(self)
    }
    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, Error> {
        Ok(Value::Null)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value, Error> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        v: &T,
    ) -> Result<Value, Error> {
        refuse_private(name)?;
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        v: &T,
    ) -> Result<Value, Error> {
        Ok(wrap(Some(variant), v.serialize(self.inside()?)?))
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<Items, Error> {
        self.items(length, None)
    }
    fn serialize_tuple(self, length: usize) -> Result<Items, Error> {
        self.items(Some(length), None)
    }
    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<Items, Error> {
        self.items(Some(length), None)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Items, Error> {
        self.items(Some(length), Some(variant))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Members, Error> {
        self.members(None)
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members, Error> {
        refuse_private(name)?;
        self.members(None)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members, Error> {
        self.members(Some(variant))
    }
}

/// `serde_json` smuggles raw text and long numbers through struct names of its own; neither passes here.
pub(crate) fn refuse_private(name: &'static str) -> Result<(), Error> {
    if name.starts_with("$serde_json::private::") {
        return Err(Error::Unsealable { reason: "raw JSON text has not been read by the gate".to_owned() });
    }
    Ok(())
}

fn wrap(variant: Option<&'static str>, value: Value) -> Value {
    match variant {
        None => value,
        Some(name) => Value::Object(Map::from_iter([(name.to_owned(), value)])),
    }
}

struct Items {
    inner: Gate,
    items: Vec<Value>,
    variant: Option<&'static str>,
}

impl Items {
    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
        self.items.push(item.serialize(self.inner)?);
        Ok(())
    }

    fn done(self) -> Result<Value, Error> {
        Ok(wrap(self.variant, Value::Array(self.items)))
    }
}

macro_rules! items {
    ($($access:ident :: $push:ident),*) => {$(
        impl ser::$access for Items {
            type Ok = Value;
            type Error = Error;
            fn $push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
                self.push(item)
            }
            fn end(self) -> Result<Value, Error> {
                self.done()
            }
        }
    )*};
}
items!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

struct Members {
    inner: Gate,
    members: Map<String, Value>,
    name: Option<String>,
    variant: Option<&'static str>,
}

impl Members {
    fn insert<T: Serialize + ?Sized>(&mut self, name: String, member: &T) -> Result<(), Error> {
        if self.members.contains_key(&name) {
            return Err(Error::Unsealable { reason: format!("the name `{name}` comes twice") });
        }
        let member = member.serialize(self.inner)?;
        self.members.insert(name, member);
        Ok(())
    }

    fn done(self) -> Result<Value, Error> {
        Ok(wrap(self.variant, Value::Object(self.members)))
    }
}

/// The name of a member.
pub(crate) fn member_name(key: Value) -> Result<String, Error> {
    match key {
        Value::String(name) => Ok(name),
        // The same courtesy as `serde_json`: an integer key is its decimal text.
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(Error::Unsealable { reason: "the name of a member must be a string".to_owned() }),
    }
}

/// A member came without its name.
pub(crate) fn nameless() -> Error {
    Error::Unsealable { reason: "a member has no name".to_owned() }
}

impl ser::SerializeMap for Members {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.name = Some(member_name(key.serialize(self.inner)?)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, member: &T) -> Result<(), Error> {
        let name = self.name.take();
        let name = name.ok_or_else(nameless)?;
        self.insert(name, member)
    }

    fn end(self) -> Result<Value, Error> {
        self.done()
    }
}

macro_rules! members {
    ($($access:ident),*) => {$(
        impl ser::$access for Members {
            type Ok = Value;
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, v: &T) -> Result<(), Error> {
                self.insert(name.to_owned(), v)
            }
            fn end(self) -> Result<Value, Error> {
                self.done()
            }
        }
    )*};
}
members!(SerializeStruct, SerializeStructVariant);
