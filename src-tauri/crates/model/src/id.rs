//! Typed identifiers: UUIDv7 inside, a prefix outside. The registry at the end is append-only.

use crate::Error;
use crate::chance::{Clock, Entropy};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// A UUIDv7 from the clock and the entropy passed in.
pub fn fresh_uuid(clock: &dyn Clock, entropy: &dyn Entropy) -> Uuid {
    let mut random = [0u8; 10];
    entropy.fill(&mut random);
    let millis = u64::try_from(clock.now().0).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident = $prefix:literal, $kind:literal;)+) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// The text before the underscore.
            pub const PREFIX: &'static str = $prefix;

            /// Wraps a UUID.
            pub const fn new(uuid: Uuid) -> Self { Self(uuid) }

            /// A new identifier from time and chance.
            pub fn fresh(clock: &dyn Clock, entropy: &dyn Entropy) -> Self { Self(fresh_uuid(clock, entropy)) }

            /// The UUID inside.
            pub const fn uuid(self) -> Uuid { self.0 }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!($prefix, "_"))?;
                f.write_str(self.0.as_simple().encode_lower(&mut Uuid::encode_buffer()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { fmt::Display::fmt(self, f) }
        }

        impl FromStr for $name {
            type Err = Error;
            fn from_str(text: &str) -> Result<Self, Error> {
                let fail = || Error::Id { text: text.to_owned(), kind: $kind, prefix: $prefix };
                let hex = text.strip_prefix(concat!($prefix, "_")).ok_or_else(fail)?;
                let plain = hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
                if !plain { return Err(fail()); }
                Uuid::parse_str(hex).map(Self).map_err(|_| fail())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+ };
}

ids! {
    /// A durable unit of work (HK-8.1).
    TaskId = "task", "task";
    /// A logical recoverable unit within a task (HK-8.2).
    StepId = "step", "step";
    /// One concrete execution of a step (HK-8.3).
    AttemptId = "att", "attempt";
    /// One immutable event (HK-8.4).
    EventId = "evt", "event";
    /// A container of work product, observation or evidence (HK-8.5).
    ArtifactId = "art", "artifact";
    /// A provisional truth (HK-8.6).
    BeliefId = "blf", "belief";
    /// Durable knowledge (HK-8.7).
    MemoryId = "mem", "memory record";
    /// A recorded judgment (HK-8.8).
    DecisionId = "dec", "decision";
    /// A pause that waits for a person (HK-8.9).
    ApprovalId = "apr", "approval";
    /// A durable proof of an important action (HK-8.10).
    ReceiptId = "rcp", "receipt";
    /// An attributable actor (HK-8.11).
    PrincipalId = "prn", "principal";
    /// A scoped authority record (HK-8.12).
    GrantId = "grt", "grant";
    /// One inbound free-form message (HK-8.1.2).
    IngressId = "ing", "ingress record";
    /// A question put to a person (reconciliation C25).
    ClarificationId = "clr", "clarification";
    /// A conversation container (HK-13.6).
    ConversationId = "cnv", "conversation";
    /// A workspace lease (HK-17.1).
    LeaseId = "lse", "lease";
    /// A workspace, stable for one root folder in one store.
    WorkspaceId = "wsp", "workspace";
    /// A typed execution proposal (HK-11.3).
    ActionRequestId = "act", "action request";
    /// A result of policy (HK-16.5).
    PolicyResultId = "pol", "policy result";
    /// A captured precondition (HK-16.8).
    WitnessId = "wit", "witness";
    /// One request to the gate (KS-4.4).
    RequestId = "req", "gate request";
}
