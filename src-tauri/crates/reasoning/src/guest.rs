//! The agent of another program, which works by itself in a staged view: what comes after each of its turns. It is run,
//! what its view shows is put to a person, and what they say of it is what it is asked next.

use crate::{Delta, Descriptor, Error, Input, Observed, Reasoner, Reply};
use model::context::{ContextPack, Section};
use model::guest::{GuestLaunch, GuestReport};
use model::proposal::{Answer, ToolCall, ToolSpec};
use model::task::Proposer;
use serde_json::{Value, json};

/// The call by which it is run.
pub const RUN: &str = "guest";
/// The call by which what its view shows is put to a person.
pub const CARRY_OVER: &str = "carry_over";
/// How an answer ends after which there is nothing to go on with.
pub const FAILED: &str = "guest_failed";
/// Tokens of the pack that is kept with each turn; it is sent to nobody.
const PACK_TOKENS: u32 = 24_000;

/// Who proposes: a guest, and whether it can go on with what it did before.
#[derive(Debug, Clone)]
pub struct Guest {
    name: String,
    can_go_on: bool,
}

impl Guest {
    /// The guest of a launch.
    pub fn new(launch: &GuestLaunch) -> Self {
        Self { name: launch.guest.clone(), can_go_on: launch.can_go_on() }
    }

    fn run(&self, prompt: String, goes_on: bool, heard: usize) -> Answer {
        let goes_on = goes_on && self.can_go_on;
        call(RUN, json!({ "prompt": prompt, "goes_on": goes_on, "heard": heard }))
    }

    /// What it is asked after a person has spoken.
    fn told(&self, asked: &Asked<'_>, words: &str, refused: bool) -> Answer {
        let heard = asked.said.len();
        let before = match refused {
            true => {
                "A person looked at what you changed and did not take it: the folder is as it was before your work. "
            }
            false => "",
        };
        if self.can_go_on && asked.last.is_some() {
            return self.run(format!("{before}They say: {words}"), true, heard);
        }
        let anew = match refused {
            true => format!("{}\n\nAn earlier try was not taken by a person, who says: {words}", asked.goal),
            false => format!("{}\n\n{words}", asked.goal),
        };
        self.run(anew, false, heard)
    }
}

/// What is asked of it, out of the pack and what was seen.
struct Asked<'a> {
    goal: &'a str,
    /// What a person has said since, in order.
    said: Vec<&'a str>,
    /// The last turn that it took.
    last: Option<GuestReport>,
    /// How much of that it was told.
    heard: usize,
}

impl<'a> Asked<'a> {
    fn of(input: &'a Input<'_>) -> Self {
        let of = |section| input.pack.items.iter().filter(move |item| item.section == section);
        let goal = of(Section::TaskContract).map(|item| item.text.as_str()).next().unwrap_or_default();
        let said = of(Section::Ingress).map(|item| item.text.as_str()).collect();
        let last = input.observed.iter().rev().find_map(report);
        let heard = last.as_ref().map_or(0, |report| usize::try_from(report.heard).unwrap_or(usize::MAX));
        Self { goal, said, last, heard }
    }

    /// What it was not told yet.
    fn news(&self) -> Option<String> {
        let news = self.said.get(self.heard..).unwrap_or(&[]);
        (!news.is_empty()).then(|| news.join("\n\n"))
    }
}

/// A turn that was taken, when this is one.
fn report(seen: &Observed) -> Option<GuestReport> {
    (seen.tool == RUN).then(|| serde_json::from_slice(&seen.bytes).ok()).flatten()
}

fn call(name: &str, arguments: Value) -> Answer {
    Answer {
        calls: vec![ToolCall { name: name.to_owned(), arguments }],
        finish_reason: "guest".to_owned(),
        ..Answer::default()
    }
}

fn done(summary: &str) -> Answer {
    call("done", json!({ "summary": summary }))
}

fn failed(why: &str) -> Answer {
    Answer { text: why.to_owned(), finish_reason: FAILED.to_owned(), ..Answer::default() }
}

impl Guest {
    fn next(&self, input: &Input<'_>) -> Answer {
        let asked = Asked::of(input);
        let Some(last) = input.observed.last() else {
            let prompt = std::iter::once(asked.goal).chain(asked.said.iter().copied());
            return self.run(prompt.collect::<Vec<_>>().join("\n\n"), false, asked.said.len());
        };
        let told: Value = serde_json::from_slice(&last.bytes).unwrap_or_default();
        let text = |name: &str| told.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let code = text("result_code").unwrap_or_default();
        let summary = text("summary").unwrap_or("what its last turn came to cannot be read");
        if let (Some(words), "denied") = (text("feedback"), code) {
            return self.told(&asked, words, last.tool == "change");
        }
        if let Some(news) = asked.news() {
            return self.told(&asked, &news, false);
        }
        match report(last) {
            Some(report) if report.interrupted => self.run(report.prompt, true, asked.said.len()),
            Some(report) if !report.items.is_empty() => {
                call(CARRY_OVER, json!({ "report": last.sha256.to_string() }))
            }
            Some(GuestReport { error: Some(_), .. }) => failed(summary),
            // What policy does not allow is not done, and no other words would change that.
            _ if told.get("rules").is_some() => failed(summary),
            _ => match (code, &asked.last) {
                ("succeeded", Some(report)) if last.tool == "change" && text("feedback").is_none() => {
                    done(&format!("{}; what it changed is in the folder.", report.summary))
                }
                ("succeeded" | "denied", _) => done(summary),
                _ => failed(summary),
            },
        }
    }
}

impl Reasoner for Guest {
    fn descriptor(&self) -> Descriptor {
        Descriptor::without_model(Proposer::Guest, self.name.clone(), PACK_TOKENS)
    }

    fn encode(&self, pack: &ContextPack, _tools: &[ToolSpec]) -> Result<Vec<u8>, Error> {
        crate::recorded::json(&json!({ "guest": self.name, "turn": pack.iteration }))
    }

    fn propose(
        &self,
        input: &Input<'_>,
        _on_delta: &mut dyn FnMut(Delta<'_>),
        _cancelled: &dyn Fn() -> bool,
    ) -> Result<Reply, Error> {
        let answer = self.next(input);
        Ok(Reply { raw: crate::recorded::json(&answer)?, answer })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::action::{ChangeItem, Prior};
    use model::context::ContextItem;
    use model::receipt::ResultCode;
    use model::{ArtifactId, Digest};

    fn pack(said: &[&str]) -> ContextPack {
        let item = |section, text: &str| ContextItem {
            section,
            source: String::new(),
            title: String::new(),
            text: text.to_owned(),
            trust_tier: model::artifact::TrustTier::Observed,
            tokens: 1,
            cut: false,
            act: None,
            found_by: None,
            pictures: Vec::new(),
            number: None,
        };
        let goal = std::iter::once(item(Section::TaskContract, "mend it"));
        ContextPack {
            task_id: "task_01a20000000070008000000000000001".parse().unwrap(),
            attempt_id: "att_01a20000000070008000000000000001".parse().unwrap(),
            iteration: 1,
            tokens_max: 100,
            tokens: 1,
            items: goal.chain(said.iter().map(|text| item(Section::Ingress, text))).collect(),
            omissions: Vec::new(),
            inputs: Vec::new(),
            input_sha256: Digest([0; 32]),
            meaning: None,
        }
    }

    fn seen(tool: &str, value: &impl serde::Serialize) -> Observed {
        let bytes = serde_json::to_vec(value).unwrap();
        let artifact_id: ArtifactId = "art_01a20000000070008000000000000001".parse().unwrap();
        Observed {
            artifact_id,
            tool: tool.to_owned(),
            about: String::new(),
            sha256: Digest::of(&bytes),
            bytes,
        }
    }

    fn turn(changed: bool, error: Option<&str>, heard: u32) -> GuestReport {
        let item = ChangeItem::Delete { path: "a".parse().unwrap(), prior: Prior::Sha256(Digest([1; 32])) };
        GuestReport {
            result_code: if error.is_some() { ResultCode::Failed } else { ResultCode::Succeeded },
            summary: "it worked".to_owned(),
            guest: "toy".to_owned(),
            version: None,
            prompt: "mend it".to_owned(),
            heard,
            exit_code: None,
            error: error.map(str::to_owned),
            interrupted: false,
            items: if changed { vec![item] } else { Vec::new() },
            left_out: Vec::new(),
            told: None,
            told_bytes: std::collections::BTreeMap::new(),
            helpers: Vec::new(),
        }
    }

    /// The call that follows: its name, and its arguments as text; of an answer without a call, how it ended.
    fn next(can_go_on: bool, said: &[&str], observed: &[Observed]) -> (String, String) {
        let guest = Guest { name: "toy".to_owned(), can_go_on };
        let (pack, request) = (pack(said), Vec::new());
        let input = Input { request: &request, pack: &pack, observed, iteration: 1, wait_ms_max: 0 };
        let answer = guest.next(&input);
        match answer.calls.as_slice() {
            [call] => (call.name.clone(), call.arguments.to_string()),
            _ => (answer.finish_reason, answer.text),
        }
    }

    #[test]
    fn it_is_run_with_the_goal_and_what_its_view_shows_is_carried_over() {
        let (call, with) = next(true, &["and test it"], &[]);
        assert_eq!(call, RUN);
        assert!(with.contains("mend it\\n\\nand test it") && with.contains("\"heard\":1"), "{with}");
        let turn = seen(RUN, &turn(true, None, 1));
        let (call, with) = next(true, &["and test it"], std::slice::from_ref(&turn));
        assert_eq!(call, CARRY_OVER);
        assert!(with.contains(&turn.sha256.to_string()), "{with}");
        // A turn that ended badly is still shown, where it changed something.
        assert_eq!(
            next(true, &[], &[seen(RUN, &super::tests::turn(true, Some("status 3"), 0))]).0,
            CARRY_OVER
        );
        assert_eq!(next(true, &[], &[seen(RUN, &super::tests::turn(false, Some("status 3"), 0))]).0, FAILED);
        assert_eq!(next(true, &[], &[seen(RUN, &super::tests::turn(false, None, 0))]).0, "done");
    }

    #[test]
    fn words_of_a_person_are_what_it_is_asked_next_and_a_bare_no_ends_it() {
        let worked = || seen(RUN, &turn(true, None, 0));
        let denied = |feedback: Option<&str>| {
            seen(
                "change",
                &json!({ "result_code": "denied", "summary": "a person denied this", "feedback": feedback }),
            )
        };
        let (call, with) = next(true, &[], &[worked(), denied(Some("shorter"))]);
        assert!(
            call == RUN && with.contains("\"goes_on\":true") && with.contains("They say: shorter"),
            "{with}"
        );
        let (call, with) = next(false, &[], &[worked(), denied(Some("shorter"))]);
        assert!(call == RUN && with.contains("\"goes_on\":false") && with.contains("mend it"), "{with}");
        assert_eq!(next(true, &[], &[worked(), denied(None)]).0, "done");
        // What was said while a card waited is news, and what it was told already is none.
        let (call, with) = next(true, &["use tabs"], &[worked()]);
        assert!(call == RUN && with.contains("use tabs"), "{with}");
        let (call, _) = next(true, &["use tabs"], &[seen(RUN, &turn(true, None, 1))]);
        assert_eq!(call, CARRY_OVER);
    }

    #[test]
    fn what_was_done_ends_it_what_was_not_fails_it_and_an_interrupted_turn_is_asked_about_again() {
        let worked = || seen(RUN, &turn(true, None, 0));
        let came = |code: &str| seen("change", &json!({ "result_code": code, "summary": "so it went" }));
        let (call, with) = next(true, &[], &[worked(), came("succeeded")]);
        assert!(call == "done" && with.contains("it worked"), "{with}");
        assert_eq!(
            next(true, &[], &[worked(), came("drifted")]),
            (FAILED.to_owned(), "so it went".to_owned())
        );
        let forbidden =
            json!({ "result_code": "denied", "summary": "not allowed by policy", "rules": ["a"] });
        assert_eq!(next(true, &[], &[seen(RUN, &forbidden)]).0, FAILED);
        // What cannot be read is said, and not passed over.
        let torn = Observed { bytes: b"{".to_vec(), ..seen(RUN, &turn(true, None, 0)) };
        let (how, words) = next(true, &[], &[torn]);
        assert!(how == FAILED && words.contains("cannot be read"), "{how}: {words}");
        let mut broken = turn(false, Some("Hermit was ended"), 0);
        broken.interrupted = true;
        let (call, with) = next(false, &[], &[seen(RUN, &broken)]);
        assert!(call == RUN && with.contains("mend it"), "{with}");
    }
}
