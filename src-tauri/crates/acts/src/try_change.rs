//! Trying a change of Hermit itself: clones in a sandbox play recorded work with it and without it, and a verdict comes of it
//! (successor.md, HV-3.2-5, HV-5-1). Nothing is changed by it; adopting is another act, which asks a person by itself.

use crate::call::quoted;
use crate::{ActionRequest, Counts, Line, LineKind, Tool, visible};
use model::action::{ActionClass, Reversibility};
use model::limits::{TRIAL_ABOUT_CHARS_MAX, TRIAL_PATCH_BYTES_MAX, TRIAL_SECONDS_MAX, TRIAL_TASKS_MAX};
use model::{ResourceId, WorkspaceId, lasting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::Duration;

/// Finished tasks that are drawn where nobody says how many.
const DRAWN: u32 = 3;
/// Seconds of a clone where nobody says how many.
const SECONDS: u64 = 300;

/// A change of Hermit is tried in the midst of a task. What is played is the task as far as it came, and finished ones beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TryChange {
    /// The change, as JSON.
    pub patch: String,
    /// What it is to do, in one line.
    pub about: String,
    /// How many finished tasks are drawn beside this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<u32>,
    /// How long each clone may take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_seconds: Option<u64>,
}

impl TryChange {
    /// How many finished tasks are drawn.
    pub fn drawn(&self) -> u32 {
        self.draw.unwrap_or(DRAWN)
    }

    /// How long each clone may take, in seconds.
    pub fn seconds(&self) -> u64 {
        self.wall_seconds.unwrap_or(SECONDS)
    }
}

impl Tool for TryChange {
    fn offered() -> Option<&'static str> {
        Some(include_str!("try_change.json"))
    }

    /// Programs run for it, in a sandbox and without the network.
    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::ExecuteCommand])
    }

    fn resources(&self, _: WorkspaceId) -> BTreeSet<ResourceId> {
        BTreeSet::from([ResourceId::Successor])
    }

    fn check(&self) -> Result<(), String> {
        if self.patch.len() > TRIAL_PATCH_BYTES_MAX {
            return Err(format!(
                "the change has {} bytes, and a task can have one of {TRIAL_PATCH_BYTES_MAX} bytes at most tried",
                self.patch.len()
            ));
        }
        let about = self.about.trim();
        if about.is_empty()
            || about.chars().any(char::is_control)
            || about.chars().count() > TRIAL_ABOUT_CHARS_MAX
        {
            return Err(format!(
                "`about` says in one line of {TRIAL_ABOUT_CHARS_MAX} characters at most what the change is to do"
            ));
        }
        if self.drawn() > TRIAL_TASKS_MAX {
            return Err(format!("`draw` is {TRIAL_TASKS_MAX} at most"));
        }
        match (1..=TRIAL_SECONDS_MAX).contains(&self.seconds()) {
            true => Ok(()),
            false => Err(format!("`wall_seconds` goes from 1 to {TRIAL_SECONDS_MAX}")),
        }
    }

    fn counts(&self) -> Counts {
        Counts { targets: 1, ..Counts::default() }
    }

    /// What there is of a clone ends with it.
    fn reversibility(&self) -> Reversibility {
        Reversibility::NoEffect
    }

    fn title(&self) -> String {
        format!("try a change of Hermit itself in a sandbox: \"{}\"", visible(self.about.trim()))
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        let fact = |text: &str| Line { kind: LineKind::Fact, text: text.to_owned() };
        let mut lines = vec![Line::effect(self.title()), Line::effect("the change, all of it:".to_owned())];
        lines.extend(quoted(&self.patch).map(Line::effect));
        let drawn = usize::try_from(self.drawn()).unwrap_or(usize::MAX);
        lines.push(Line::effect(format!(
            "copies of Hermit play this task as far as it came, and up to {}, with the change and without it",
            crate::count(drawn, "finished task")
        )));
        lines.push(Line::effect(format!(
            "each for at most {}, in a sandbox without the network; what was done then is told to them and not done again",
            lasting(Duration::from_secs(self.seconds()))
        )));
        lines.push(fact("nothing changes by it: the verdict goes to the model as untrusted content"));
        lines.push(fact("of other tasks the model is told identifiers, rules and counts alone"));
        lines.push(fact("whether the change is adopted, you are asked by itself"));
        lines
    }

    fn precondition(&self) -> String {
        "the change can be read, and a sandbox for copies of Hermit is there".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn called(arguments: Value) -> Result<TryChange, String> {
        let act = TryChange::from_call(arguments).map_err(|e| e.to_string())?;
        act.check().map(|()| act)
    }

    #[test]
    fn a_change_and_what_may_be_used_for_it_are_bounded() {
        let one = called(json!({ "patch": "{}", "about": "it asks less" })).unwrap();
        assert_eq!((one.drawn(), one.seconds()), (DRAWN, SECONDS));
        let large = "x".repeat(TRIAL_PATCH_BYTES_MAX + 1);
        for (wrong, says) in [
            (json!({ "patch": large, "about": "a" }), "bytes at most"),
            (json!({ "patch": "{}", "about": " " }), "in one line"),
            (json!({ "patch": "{}", "about": "a\nb" }), "in one line"),
            (json!({ "patch": "{}", "about": "a", "draw": TRIAL_TASKS_MAX + 1 }), "`draw`"),
            (json!({ "patch": "{}", "about": "a", "wall_seconds": 0 }), "`wall_seconds`"),
            (json!({ "patch": "{}", "about": "a", "adopt": true }), "unknown field"),
        ] {
            let why = called(wrong.clone()).unwrap_err();
            assert!(why.contains(says), "{wrong}: {why}");
        }
    }
}
