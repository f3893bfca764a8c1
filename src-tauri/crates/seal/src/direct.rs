//! The canonical bytes of anything serde can serialise, written as it tells of itself, with no value in between.
//!
//! It refuses what the gate of [`crate::ijson`] refuses, and tests hold one against the other. Members come in the order
//! of a declaration and stand in the order of their names, so those of one object are put in order once all are written.

use std::borrow::Cow;
use std::io::Write as _;
use std::ops::Range;

use serde::ser::{self, Serialize};

use crate::{
    Error,
    canon::{beyond, deeper, float, integer_fits},
    ijson::{self, integers, refuse_private},
    write::{ROOM, order, string},
};

/// Writes canonical bytes.
pub(crate) fn to_bytes<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut to = Vec::with_capacity(ROOM);
    value.serialize(Direct { to: &mut to, depth: 0 })?;
    Ok(to)
}

struct Direct<'t> {
    to: &'t mut Vec<u8>,
    depth: usize,
}

impl<'t> Direct<'t> {
    fn word(self, text: &str) -> Result<(), Error> {
        self.to.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn integer(self, number: i128) -> Result<(), Error> {
        if !integer_fits(number) {
            return Err(Error::Unsealable { reason: beyond(number) });
        }
        let number = i64::try_from(number).map_err(|_| Error::Unsealable { reason: beyond(number) })?;
        // Writing to a vector never fails.
        drop(write!(self.to, "{number}"));
        Ok(())
    }

    /// What stands one level deeper.
    fn inside(self) -> Result<Self, Error> {
        deeper(self.depth)?;
        Ok(Self { depth: self.depth + 1, ..self })
    }

    /// The one member of a variant that holds something.
    fn of_variant(self, variant: Option<&'static str>) -> Result<Self, Error> {
        let Some(name) = variant else { return Ok(self) };
        let inner = self.inside()?;
        inner.to.push(b'{');
        string(name, inner.to);
        inner.to.push(b':');
        Ok(inner)
    }

    fn items(self, variant: Option<&'static str>) -> Result<Items<'t>, Error> {
        let inner = self.of_variant(variant)?.inside()?;
        inner.to.push(b'[');
        Ok(Items { begun: inner.to.len(), inner, variant })
    }

    fn members(self, variant: Option<&'static str>) -> Result<Members<'t>, Error> {
        let inner = self.of_variant(variant)?.inside()?;
        inner.to.push(b'{');
        let (begun, members) = (inner.to.len(), Vec::new());
        Ok(Members { inner, begun, members, in_order: true, name: None, variant })
    }
}

/// The end of a list or an object, and of the variant around it.
fn close(to: &mut Vec<u8>, bracket: u8, variant: Option<&'static str>) {
    to.push(bracket);
    if variant.is_some() {
        to.push(b'}');
    }
}

impl<'t> ser::Serializer for Direct<'t> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'t>;
    type SerializeTuple = Items<'t>;
    type SerializeTupleStruct = Items<'t>;
    type SerializeTupleVariant = Items<'t>;
    type SerializeMap = Members<'t>;
    type SerializeStruct = Members<'t>;
    type SerializeStructVariant = Members<'t>;

    integers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    );

    fn serialize_bool(self, v: bool) -> Result<(), Error> {
        self.word(if v { "true" } else { "false" })
    }
    fn serialize_f32(self, v: f32) -> Result<(), Error> {
        Err(Error::Unsealable { reason: float(v) })
    }
    fn serialize_f64(self, v: f64) -> Result<(), Error> {
        Err(Error::Unsealable { reason: float(v) })
    }
    fn serialize_char(self, v: char) -> Result<(), Error> {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, v: &str) -> Result<(), Error> {
        string(v, self.to);
        Ok(())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<(), Error> {
        let mut items = self.items(None)?;
        v.iter().try_for_each(|byte| items.push(byte))?;
        items.done()
    }
    fn serialize_none(self) -> Result<(), Error> {
        self.word("null")
    }
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<(), Error> {
        v.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Error> {
        self.word("null")
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.word("null")
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, v: &T) -> Result<(), Error> {
        refuse_private(name)?;
        v.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        v: &T,
    ) -> Result<(), Error> {
        let Self { to, depth } = self.of_variant(Some(variant))?;
        v.serialize(Direct { to: &mut *to, depth })?;
        to.push(b'}');
        Ok(())
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'t>, Error> {
        self.items(None)
    }
    fn serialize_tuple(self, _: usize) -> Result<Items<'t>, Error> {
        self.items(None)
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'t>, Error> {
        self.items(None)
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'t>, Error> {
        self.items(Some(variant))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Members<'t>, Error> {
        self.members(None)
    }
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'t>, Error> {
        refuse_private(name)?;
        self.members(None)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'t>, Error> {
        self.members(Some(variant))
    }
}

struct Items<'t> {
    inner: Direct<'t>,
    /// Where the first of them stands.
    begun: usize,
    variant: Option<&'static str>,
}

impl Items<'_> {
    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
        let Direct { to, depth } = &mut self.inner;
        if to.len() > self.begun {
            to.push(b',');
        }
        item.serialize(Direct { to, depth: *depth })
    }

    fn done(self) -> Result<(), Error> {
        close(self.inner.to, b']', self.variant);
        Ok(())
    }
}

macro_rules! items {
    ($($access:ident :: $push:ident),*) => {$(
        impl ser::$access for Items<'_> {
            type Ok = ();
            type Error = Error;
            fn $push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Error> {
                self.push(item)
            }
            fn end(self) -> Result<(), Error> {
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

/// The members of an object so far: their names, and where each stands, name and all.
struct Members<'t> {
    inner: Direct<'t>,
    begun: usize,
    members: Vec<(Cow<'static, str>, Range<usize>)>,
    /// Whether each name so far stands behind the one before it.
    in_order: bool,
    name: Option<String>,
    variant: Option<&'static str>,
}

fn twice(name: &str) -> Error {
    Error::Unsealable { reason: format!("the name `{name}` comes twice") }
}

impl Members<'_> {
    fn insert<T: Serialize + ?Sized>(&mut self, name: Cow<'static, str>, member: &T) -> Result<(), Error> {
        let Direct { to, depth } = &mut self.inner;
        if let Some((before, _)) = self.members.last() {
            self.in_order &= order(before, &name).is_lt();
            to.push(b',');
        }
        let start = to.len();
        string(&name, to);
        to.push(b':');
        member.serialize(Direct { to, depth: *depth })?;
        self.members.push((name, start..to.len()));
        Ok(())
    }

    /// Puts the members in the order of their names.
    fn arrange(&mut self) -> Result<(), Error> {
        self.members.sort_unstable_by(|(a, _), (b, _)| order(a, b));
        let pairs = self.members.iter().zip(self.members.iter().skip(1));
        if let Some(((name, _), _)) = pairs.into_iter().find(|((a, _), (b, _))| a == b) {
            return Err(twice(name));
        }
        let told = self.inner.to.split_off(self.begun);
        for (n, (_, at)) in self.members.iter().enumerate() {
            if n > 0 {
                self.inner.to.push(b',');
            }
            let member = told.get(at.start - self.begun..at.end - self.begun);
            self.inner.to.extend_from_slice(member.unwrap_or_default());
        }
        Ok(())
    }

    fn done(mut self) -> Result<(), Error> {
        if !self.in_order {
            self.arrange()?;
        }
        close(self.inner.to, b'}', self.variant);
        Ok(())
    }
}

impl ser::SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.name = Some(ijson::member_name(ijson::to_value(key)?)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, member: &T) -> Result<(), Error> {
        let name = self.name.take();
        let name = name.ok_or_else(ijson::nameless)?;
        self.insert(Cow::Owned(name), member)
    }

    fn end(self) -> Result<(), Error> {
        self.done()
    }
}

macro_rules! members {
    ($($access:ident),*) => {$(
        impl ser::$access for Members<'_> {
            type Ok = ();
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, v: &T) -> Result<(), Error> {
                self.insert(Cow::Borrowed(name), v)
            }
            fn end(self) -> Result<(), Error> {
                self.done()
            }
        }
    )*};
}
members!(SerializeStruct, SerializeStructVariant);

#[cfg(test)]
mod tests {
    use super::to_bytes;
    use crate::{canon::DEPTH_MAX, ijson, write::write};
    use proptest::prelude::*;
    use serde::{Serialize, Serializer, ser::SerializeMap};
    use serde_json::{Value, json};
    use std::collections::{BTreeMap, HashMap};

    /// By way of a value.
    fn general<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, String> {
        ijson::to_value(value).map(|value| write(&value)).map_err(|e| e.to_string())
    }

    fn agree<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, String> {
        let direct = to_bytes(value).map_err(|e| e.to_string());
        assert_eq!(direct, general(value));
        direct
    }

    #[derive(Serialize, Clone)]
    enum Shape {
        Unit,
        New(u8),
        Tuple(u8, Option<bool>),
        Named { z: i64, a: Vec<Shape> },
    }

    #[derive(Serialize)]
    struct Pair(char, &'static str);

    #[derive(Serialize)]
    struct One(Box<Shape>);

    #[derive(Serialize)]
    struct Nothing;

    #[derive(Serialize)]
    struct All {
        zeta: Shape,
        alpha: Pair,
        #[serde(flatten)]
        flat: BTreeMap<String, i32>,
        map: BTreeMap<u64, One>,
        nothing: (Nothing, (), Option<u8>),
        ints: (i8, i16, i32, i64, i128, u8, u16, u32, u64, u128),
        empty: (Vec<u8>, BTreeMap<String, u8>),
        beta: Value,
    }

    #[test]
    fn every_shape_has_the_bytes_that_its_value_has() {
        let named = Shape::Named { z: -1, a: vec![Shape::Unit, Shape::New(7), Shape::Tuple(1, None)] };
        let all = All {
            zeta: named.clone(),
            alpha: Pair('\u{1f600}', "\"\\\n\u{1}"),
            flat: [("b".to_owned(), 2), ("aa".to_owned(), 1), ("z\u{e9}".to_owned(), 3)].into(),
            map: [(10, One(Box::new(named))), (9, One(Box::new(Shape::New(0))))].into(),
            nothing: (Nothing, (), None),
            ints: (-1, 2, -3, 4, -5, 6, 7, 8, 9, 10),
            empty: (vec![], BTreeMap::new()),
            beta: json!({ "b": [], "a": {}, "\u{ff61}": 1, "\u{1f600}": 2 }),
        };
        let bytes = agree(&all).unwrap();
        assert_eq!(bytes, serde_json_canonicalizer::to_vec(&all).unwrap());
    }

    /// Bytes, as serde has them.
    struct Raw(&'static [u8]);

    impl Serialize for Raw {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            to.serialize_bytes(self.0)
        }
    }

    /// Members in any order, some of them more than once.
    struct Told(Vec<(&'static str, Value)>);

    impl Serialize for Told {
        fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            let mut map = to.serialize_map(None)?;
            self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
            map.end()
        }
    }

    #[test]
    fn what_one_refuses_the_other_refuses_with_the_same_words() {
        assert_eq!(agree(&Raw(b"\0\xff")).unwrap(), b"[0,255]");
        for (name, value) in [("a", json!(1.5)), ("a", json!([9_007_199_254_740_992_i64]))] {
            assert!(agree(&Told(vec![(name, value)])).is_err());
        }
        assert!(agree(&f32::NAN).is_err() && agree(&u128::MAX).is_err() && agree(&i128::MIN).is_err());
        let names = |names: &[&'static str]| Told(names.iter().map(|name| (*name, json!(name))).collect());
        for repeated in [&["a", "a"][..], &["b", "a", "b"], &["a", "b", "a"]] {
            assert!(agree(&names(repeated)).unwrap_err().contains("comes twice"));
        }
        assert_eq!(agree(&names(&["b", "", "a"])).unwrap(), br#"{"":"","a":"a","b":"b"}"#);
        assert!(agree(&BTreeMap::from([(vec![1], 1)])).unwrap_err().contains("must be a string"));
        let raw = serde_json::value::Number::from(1);
        assert!(agree(&raw).is_ok());
    }

    #[test]
    fn both_go_as_deep_and_no_deeper() {
        let deep = |n: usize, wrap: fn(Value) -> Value| (0..n).fold(Value::Null, |inner, _| wrap(inner));
        for n in [DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1] {
            for wrap in [|inner| json!([inner]), |inner| json!({ "a": inner })] as [fn(Value) -> Value; 2] {
                assert_eq!(agree(&deep(n, wrap)).is_ok(), n <= DEPTH_MAX, "{n}");
            }
            let named = (0..n).fold(Shape::Unit, |inner, _| Shape::Named { z: 0, a: vec![inner] });
            assert_eq!(to_bytes(&named).is_ok(), general(&named).is_ok(), "{n}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-9_007_199_254_740_993_i64..=9_007_199_254_740_993).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[a-c\\\\\"\n\r\u{0}-\u{1f}]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let name = "[a-z\u{e9}\u{ff61}\u{fffd}\u{1f600}\n]{0,3}";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(name, inner, 0..6).prop_map(|m| json!(m)),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_value_has_the_same_bytes_either_way(value in value()) {
            prop_assert_eq!(to_bytes(&value).map_err(|e| e.to_string()), general(&value));
        }

        #[test]
        fn members_in_any_order_have_the_same_bytes_either_way(
            members in prop::collection::hash_map("[a-c\u{e9}\u{ff61}\u{1f600}]{0,3}", any::<i32>(), 0..9),
        ) {
            let members: HashMap<String, i32> = members;
            prop_assert_eq!(to_bytes(&members).map_err(|e| e.to_string()), general(&members));
        }
    }
}
