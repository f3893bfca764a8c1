//! Adopting a playbook that was drafted from what recurs: its card shows every word of it, on how many of the recorded tasks it
//! gives the same result, each of these tasks, and the narrowest standing grant; receipts stand among its details (memory.md 5).

use crate::call::quoted;
use crate::skill::{Told, in_text};
use crate::{Line, LineKind, short, visible};
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
            visible(&draft.narrowest)
        )));
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

    fn details(&self) -> Vec<String> {
        let mut details = vec![format!("sha256 of its text: {}", self.draft.sha256)];
        details.extend(self.draft.trials.iter().map(|trial| {
            let receipts: Vec<String> = trial.receipts.iter().map(ToString::to_string).collect();
            match receipts.is_empty() {
                true => format!("tried on `{}`", trial.task_id),
                false => format!("tried on `{}`, with receipts {}", trial.task_id, receipts.join(", ")),
            }
        }));
        details
    }
}

/// A task on which it was tried.
fn tried(trial: &PlaybookTrial) -> Vec<Line> {
    let came = match trial.outcome {
        PlaybookTrialOutcome::Same => "the same result",
        PlaybookTrialOutcome::Differs => "ANOTHER result",
        PlaybookTrialOutcome::NotTried => "cannot be tried",
    };
    let why = trial.why.as_ref().map_or(String::new(), |why| format!(": {}", visible(why)));
    let values: Vec<String> =
        trial.parameters.iter().map(|(name, value)| format!("{name}={}", visible(value))).collect();
    let with = if values.is_empty() { String::new() } else { format!(" with {}", values.join(", ")) };
    vec![Line::effect(format!("{came} on task {}{with}{why}", short(&trial.task_id)))]
}

fn fact(text: &str) -> Line {
    Line { kind: LineKind::Fact, text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::artifact::ArtifactRef;
    use model::knowledge::Project;
    use model::playbook::PlaybookDraft;

    #[test]
    fn no_line_of_a_card_is_broken_or_turned_around_by_the_name_of_a_folder() {
        let text = "playbook: 1\n".to_owned();
        let sha256 = Digest::of(text.as_bytes());
        let draft = PlaybookDraft {
            name: "write-1-files-0a1b2c3d".to_owned(),
            text,
            sha256,
            shape_sha256: sha256,
            project: Project { hash: sha256, name: "parts".to_owned() },
            trust_tier: TrustTier::Observed,
            trials: Vec::new(),
            narrowest: "write files below `a\nit grants all\u{202e}`, in one project".to_owned(),
        };
        let artifact_id = "art_00000000000000000000000000000001".parse().expect("an id");
        let one = AdoptPlaybook { draft, at: ArtifactRef { artifact_id, sha256 }, version: 1, was: None };
        let lines: Vec<String> = one.lines().into_iter().map(|line| line.text).collect();
        assert!(lines.iter().any(|line| line.contains("it grants all")), "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains(['\n', '\u{202e}'])), "{lines:?}");
    }
}
