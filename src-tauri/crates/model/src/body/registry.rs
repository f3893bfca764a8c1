//! What the list of events becomes: a type for each body, the sum of them, and the way from text to it and back.

macro_rules! bodies {
    ($($(#[$meta:meta])* $name:ident ($text:literal, $version:literal, $entity:ident, |$b:ident| $id:expr) {
        $($field:ident : $ty:ty),* $(,)? $(; since $($later:ident : $kind:ty),+)?
    })+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $name {
                $(pub $field: $ty,)*
                // Of a body that older stores have without it.
                $($(#[serde(default, skip_serializing_if = "Option::is_none")] pub $later: Option<$kind>,)+)?
            }

            impl From<$name> for Body { fn from(body: $name) -> Self { Self::$name(body) } }
        )+

        /// What happened. One variant per registered event type.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(clippy::large_enum_variant, reason = "bodies are built once and written; none is kept in bulk")]
        pub enum Body { $($(#[$meta])* $name($name),)+ }

        /// Every registered event type with its current version, in the order of the registry.
        pub const REGISTRY: &[(&str, u32)] = &[$(($text, $version)),+];

        impl Body {
            /// The dotted type.
            pub const fn event_type(&self) -> &'static str { match self { $(Self::$name(_) => $text,)+ } }

            /// The version of the body's shape.
            pub const fn version(&self) -> u32 { match self { $(Self::$name(_) => $version,)+ } }

            /// What the event is about.
            pub fn entity(&self) -> (EntityType, String) {
                match self { $(Self::$name($b) => (EntityType::$entity, $id.to_string()),)+ }
            }

            /// The body as JSON, sensitive leaves still plain.
            ///
            /// # Errors
            /// When a value has no JSON form.
            pub fn to_value(&self) -> Result<Value, serde_json::Error> {
                match self { $(Self::$name(b) => serde_json::to_value(b),)+ }
            }

            /// The typed body of a stored payload, read of a [`Value`] or of its text.
            ///
            /// # Errors
            /// [`Error::UnknownEvent`] or [`Error::Malformed`].
            pub fn read<'de>(
                event_type: &str, version: u32, payload: impl Deserializer<'de, Error = serde_json::Error>,
            ) -> Result<Self, Error> {
                match (event_type, version) {
                    $(($text, $version) => $name::deserialize(payload)
                        .map(Self::$name)
                        .map_err(|e| Error::Malformed { what: $text, why: e.to_string() }),)+
                    _ => Err(Error::UnknownEvent { event_type: event_type.to_owned(), version }),
                }
            }
        }
    };
}
