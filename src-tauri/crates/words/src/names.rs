//! How a closed list is declared (reconciliation C36).

/// The text is none of the names of a closed list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind}; it is one of {allowed}")]
pub struct UnknownName {
    /// What was given.
    pub text: String,
    /// The list's noun.
    pub kind: &'static str,
    /// The names it may have.
    pub allowed: String,
}

/// Declares an enum whose variants have one stored name each.
#[macro_export]
macro_rules! names {
    ($(#[$meta:meta])* $vis:vis enum $name:ident ($kind:literal) { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        $vis enum $name { $($(#[$vmeta])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Every value, in the order of the list.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The stored name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.pad(self.as_str()) }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownName;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err($crate::UnknownName {
                        text: text.to_owned(),
                        kind: $kind,
                        allowed: [$($text),+].join(", "),
                    }),
                }
            }
        }
    };
}
