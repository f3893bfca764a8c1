//! Every kind of identifier reads what it writes and nothing of another kind.

use model::*;
use proptest::prelude::*;
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// A kind: its prefix, and what it makes of a text.
type Kind = (&'static str, fn(&str) -> Option<String>, fn(u128) -> String, fn(&str) -> Option<String>);

fn read<T: FromStr + Display>(text: &str) -> Option<String> {
    text.parse::<T>().ok().map(|id| id.to_string())
}

fn read_json<T: serde::de::DeserializeOwned + serde::Serialize>(text: &str) -> Option<String> {
    let id: T = serde_json::from_value(serde_json::json!(text)).ok()?;
    Some(serde_json::to_value(&id).expect("it serialises").as_str()?.to_owned())
}

macro_rules! kinds {
    ($($name:ident),+ $(,)?) => {
        [$(($name::PREFIX, read::<$name>, |n| $name::new(uuid::Uuid::from_u128(n)).to_string(), read_json::<$name>)),+]
    };
}

const KINDS: [Kind; 21] = kinds![
    TaskId,
    StepId,
    AttemptId,
    EventId,
    ArtifactId,
    BeliefId,
    MemoryId,
    DecisionId,
    ApprovalId,
    ReceiptId,
    PrincipalId,
    GrantId,
    IngressId,
    ClarificationId,
    ConversationId,
    LeaseId,
    WorkspaceId,
    ActionRequestId,
    PolicyResultId,
    WitnessId,
    RequestId,
];

#[test]
fn the_registry_of_prefixes_is_as_it_was_and_each_is_one_kinds_own() {
    let prefixes: Vec<_> = KINDS.iter().map(|(prefix, ..)| *prefix).collect();
    let registered = [
        "task", "step", "att", "evt", "art", "blf", "mem", "dec", "apr", "rcp", "prn", "grt", "ing", "clr",
        "cnv", "lse", "wsp", "act", "pol", "wit", "req",
    ];
    assert_eq!(prefixes, registered);
    let source = include_str!("../../src/id.rs");
    let declared = source.lines().filter(|l| l.starts_with("    ") && l.contains("Id = \"")).count();
    assert_eq!(declared, KINDS.len(), "an identifier has no test here; add it to KINDS");
}

proptest! {
    #[test]
    fn every_kind_round_trips_and_refuses_every_other(n in any::<u128>()) {
        for (at, (prefix, parse, write, json)) in KINDS.iter().enumerate() {
            let text = write(n);
            prop_assert_eq!(&text, &format!("{prefix}_{n:032x}"));
            prop_assert_eq!(parse(&text), Some(text.clone()));
            prop_assert_eq!(json(&text), Some(text.clone()));
            for (other, (name, parse, _, json)) in KINDS.iter().enumerate() {
                prop_assert_eq!(parse(&text).is_some(), at == other, "{} as {}", text, name);
                prop_assert_eq!(json(&text).is_some(), at == other);
            }
        }
    }

    #[test]
    fn nothing_but_its_own_spelling_is_an_identifier(text in "(task|art|evt)?_?[0-9a-fA-F_ -]{0,40}") {
        for (_, parse, ..) in KINDS {
            if let Some(written) = parse(&text) {
                prop_assert_eq!(&written, &text);
            }
        }
    }
}

#[test]
fn near_misses_are_refused_with_words_that_say_what_is_expected() {
    let good = TaskId::new(uuid::Uuid::from_u128(7)).to_string();
    for bad in [
        String::new(),
        good.to_uppercase(),
        good.replace('_', "-"),
        good.replace("task_", ""),
        format!(" {good}"),
        format!("{good}0"),
        good.chars().take(36).collect(),
        "task_00000000-0000-0000-0000-000000000007".to_owned(),
        format!("task_{{{}}}", "0".repeat(30)),
        format!("task_{}", "é".repeat(16)),
    ] {
        let error = bad.parse::<TaskId>().expect_err(&bad).to_string();
        assert!(error.contains("task identifier") && error.contains("task_"), "{error}");
    }
}

struct Fixed;
impl Clock for Fixed {
    fn now(&self) -> UnixMs {
        UnixMs(1_700_000_000_123)
    }
}
impl Entropy for Fixed {
    fn fill(&self, buffer: &mut [u8]) {
        buffer.fill(0xab);
    }
}

#[test]
fn a_fresh_identifier_is_a_uuid_of_version_7_from_the_time_and_chance_passed_in() {
    let id = TaskId::fresh(&Fixed, &Fixed);
    assert_eq!(id, TaskId::fresh(&Fixed, &Fixed), "nothing else goes into it");
    assert_eq!(id.uuid().get_version_num(), 7);
    let (seconds, nanos) = id.uuid().get_timestamp().expect("a time").to_unix();
    assert_eq!((seconds, nanos / 1_000_000), (1_700_000_000, 123));
    fn shown<T: Debug + Display>(id: T) -> bool {
        format!("{id:?}") == id.to_string()
    }
    assert!(shown(id));
}
