//! Adopting a playbook that was drafted from what recurs: its card shows every word of it, on how many of the recorded tasks it
//! gives the same result, each of these tasks with its receipts, and the narrowest standing grant (memory.md 5).

use crate::call::quoted;
use crate::skill::{Told, in_text};
use crate::{Line, LineKind, visible};
use model::Digest;
use model::artifact::TrustTier;
use model::playbook::{AdoptPlaybook, PlaybookTrial, PlaybookTrialOutcome};
use model::skill::{check_skill_name, invisible_in};

impl Told for AdoptPlaybook {
    fn check(&self) -> Result<(), String> {
        let draft = &self.draft;
        check_skill_name(&draft.name)?;
        if draft.trials.is_empty() {
            return Err("a draft names the tasks that it was made from".to_owned());
        }
        match Digest::of(draft.text.as_bytes()) == draft.sha256 {
            true => Ok(()),
            false => Err("the digest is not that of the playbook's text".to_owned()),
        }
    }

    fn title(&self) -> String {
        let name = visible(&self.draft.name);
        match &self.was {
            None => format!("adopt the drafted playbook \"{name}\""),
            Some(_) => format!("adopt version {} of the playbook \"{name}\"", self.version),
        }
    }

    fn lines(&self) -> Vec<Line> {
        let draft = &self.draft;
        let name = visible(&draft.name);
        let (same, all) = draft.same();
        let mut lines = vec![
            Line {
                kind: LineKind::Destructive,
                text: format!("let `hermit run --playbook {name}` do these steps from now on, in any folder"),
            },
            fact("it gives no authority: each of its acts is judged, and asked about, as before"),
            Line::effect(format!("same result on {same} of {all} recorded tasks")),
        ];
        lines.extend(draft.trials.iter().flat_map(tried));
        lines.push(fact(&format!(
            "drafted from tasks of the project {}; lowest trust of what it was made of: {}",
            visible(&draft.project.name),
            draft.trust_tier
        )));
        if draft.trust_tier == TrustTier::Untrusted {
            let text = "a model had read untrusted content when it did these tasks: read every line below"
                .to_owned();
            lines.push(Line { kind: LineKind::Risk, text });
        }
        lines.push(fact(&format!(
            "the narrowest standing grant under which it would not ask: {}; this grants nothing",
            draft.narrowest
        )));
        lines.push(fact(&format!("sha256 of its text: {}", draft.sha256)));
        let hidden = invisible_in(&draft.text);
        if hidden > 0 {
            let text =
                format!("its text holds {hidden} invisible characters; below they are written as \\u{{...}}");
            lines.push(Line { kind: LineKind::Destructive, text });
        }
        if let Some(was) = &self.was {
            lines.push(Line::effect("what differs from the version before:".to_owned()));
            lines.extend(in_text(was, &draft.text));
        }
        lines.push(fact("its text, word for word:"));
        lines.extend(quoted(&draft.text).map(|text| Line { kind: LineKind::Quoted, text }));
        lines
    }
}

/// A task on which it was tried, with what shows what was done there.
fn tried(trial: &PlaybookTrial) -> Vec<Line> {
    let came = match trial.outcome {
        PlaybookTrialOutcome::Same => "the same result",
        PlaybookTrialOutcome::Differs => "ANOTHER result",
        PlaybookTrialOutcome::NotTried => "cannot be tried",
    };
    let why = trial.why.as_ref().map_or(String::new(), |why| format!(": {}", visible(why)));
    let receipts: Vec<String> = trial.receipts.iter().map(ToString::to_string).collect();
    let values: Vec<String> =
        trial.parameters.iter().map(|(name, value)| format!("{name}={}", visible(value))).collect();
    let with = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
    vec![Line::effect(format!("{came} on {}{with}{why} ({})", trial.task_id, receipts.join(", ")))]
}

fn fact(text: &str) -> Line {
    Line { kind: LineKind::Fact, text: text.to_owned() }
}
