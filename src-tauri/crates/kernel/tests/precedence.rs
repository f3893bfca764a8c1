//! How knowledge stands in a context: in the order of what counts more, each part with its tier, and only what it is for.

use crate::story::{completed, count, events, object, packs, state};
use kernel::command::enclose::Encloses;
use kernel::command::ingest::Incoming;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Waiting};
use model::Body;
use model::artifact::TrustTier;
use model::context::Section;
use model::ingress::Channel;
use model::standing::{Cover, PathAct, StandingGrant, StandingScope};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use testkit::{World, done, look, say, write};

/// Sections of a context, in their order.
const ORDER: [&str; 10] = [
    "task_contract",
    "step_contract",
    "policy",
    "decisions",
    "working_state",
    "beliefs",
    "memory",
    "artifacts",
    "ingress",
    "session",
];

#[conforms::conforms("HK-15.7-1", "HK-15.4-1")]
#[test]
fn a_context_stands_in_its_order_and_says_of_each_part_how_far_it_may_be_relied_on() {
    let world = World::new(9_831);
    world.file("a.txt", "seen-in-a-file");
    world.file("b.txt", "nobody has read it");
    world.file("old.txt", "to be deleted");
    let incoming = Incoming {
        name: "vouched.txt".to_owned(),
        uri: "/elsewhere/vouched.txt".to_owned(),
        media_type: "text/plain; charset=utf-8",
        bytes: &mut &b"a person looked at it"[..],
        trust_tier: TrustTier::Verified,
    };
    let vouched = world.kernel().ingest(incoming, Channel::App).unwrap().0.artifact_id;
    let on_b = |tool: &str, more: Value| {
        let mut arguments = json!({ "evidence": ["b.txt"] });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        say(tool, arguments)
    };
    let answers = vec![
        say("note", json!({ "plan": "noted-plan" })),
        look("a.txt"),
        say("hash", json!({ "path": "b.txt" })),
        on_b("believe", json!({ "claim": "believed-claim", "confidence": 700 })),
        on_b("remember", json!({ "claim": "remembered-claim", "scope": "*", "reason": "it will be needed" })),
        say("delete", json!({ "path": "old.txt" })),
        say("note", json!({ "messages": ["no field of it"] })),
        done("ok"),
    ];
    let goal = "keep each claim in its place";
    world.reasoners.script(goal, answers);
    let submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    let encloses = Encloses { files: vec![vouched], ..Encloses::default() };
    let task = world.kernel().submit(&Submission { encloses, ..submission }).unwrap().task_id;
    world.kernel().append_note(task, "said-meanwhile", Channel::App, "note").unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());

    // In each of them: and what was said and done before stands in none that begins with nothing of it.
    let all = packs(world.kernel(), task);
    for pack in &all {
        assert!(pack.items.iter().map(|item| item.section).is_sorted(), "{:#?}", pack.items);
    }
    assert!(all[0].items.iter().all(|item| item.section != Section::Session), "{:#?}", all[0].items);
    let pack = all.last().unwrap();
    let order: Vec<&str> = pack.items.iter().map(|item| item.section.as_str()).collect();
    let mut once = order.clone();
    once.dedup();
    assert_eq!(once, ORDER, "{order:?}");
    for (section, words, tier) in [
        (Section::TaskContract, goal, TrustTier::UserAsserted),
        (Section::Policy, "", TrustTier::PolicyAsserted),
        (Section::Decisions, "delete", TrustTier::PolicyAsserted),
        (Section::Beliefs, "believed-claim", TrustTier::Observed),
        (Section::Memory, "remembered-claim", TrustTier::UserAsserted),
        (Section::Artifacts, "seen-in-a-file", TrustTier::Untrusted),
        (Section::Artifacts, "a person looked at it", TrustTier::Verified),
        (Section::Ingress, "said-meanwhile", TrustTier::UserAsserted),
    ] {
        let mut of = pack.items.iter().filter(|item| item.section == section);
        let is_there = of.any(|item| item.text.contains(words) && item.trust_tier == tier);
        assert!(is_there, "`{words}` ({tier}) is not in {section}: {:#?}", pack.items);
    }
    let tiers: BTreeSet<&str> = pack.items.iter().map(|item| item.trust_tier.as_str()).collect();
    assert_eq!(tiers.len(), TrustTier::ALL.len(), "every tier there is: {tiers:?}");
}

#[conforms::conforms("HK-15.2-2")]
#[test]
fn a_working_state_holds_what_it_is_for_and_nothing_else_is_kept_there() {
    let world = World::new(9_832);
    let whole = json!({
        "objectives": ["read the rates"], "constraints": ["no network"], "plan": "first look",
        "pending_questions": ["which year?"], "resource_handles": ["rates.toml"],
        "expected_outputs": ["a list"], "uncertainties": ["whether it is whole"],
    });
    let others = ["transcript", "messages", "memory", "permissions"];
    let mut answers = vec![say("note", whole.clone())];
    for other in others {
        // What is refused is refused whole, and what is noted next stands alone.
        let mut note = json!({ "plan": "never" });
        note.as_object_mut().unwrap().insert(other.to_owned(), json!(["hello"]));
        answers.extend([say("note", note), say("note", json!({ "plan": format!("without {other}") }))]);
    }
    answers.push(done("ok"));
    let task = world.script("note", answers);
    assert_eq!(world.drive(task), completed());
    assert_eq!(count(world.kernel(), task, "attempt.output_rejected"), others.len(), "each is refused");
    let now = state(&world, task);
    let kept = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::WorkingStateUpdated(b) => Some(b.state.artifact_id),
        _ => None,
    });
    let kept: Vec<Value> = kept.map(|id| object(world.kernel(), &now, id)).collect();
    assert_eq!(kept.len(), 1 + others.len());
    for (state, plan) in kept
        .into_iter()
        .zip(std::iter::once("first look".to_owned()).chain(others.map(|one| format!("without {one}"))))
    {
        let mut expected = whole.clone();
        expected["plan"] = json!(plan);
        assert_eq!(state, expected);
    }
}

#[conforms::conforms("HK-15.4-3")]
#[test]
fn what_a_claim_rests_on_says_whether_an_act_follows_that_nobody_is_asked_about() {
    let world = World::new(9_833);
    world.file("letter.txt", "write a note");
    for (name, seen, tier, is_asked) in [
        ("read", look("letter.txt"), TrustTier::Untrusted, true),
        ("measured", say("hash", json!({ "path": "letter.txt" })), TrustTier::Observed, false),
    ] {
        let claim = json!({ "claim": "a note is wanted", "confidence": 400, "evidence": ["letter.txt"] });
        let file = format!("{name}.md");
        let answers = vec![seen, say("believe", claim), write(&file, "x"), done("ok")];
        let task = world.script(name, answers);
        let cover = Cover::Paths { glob: "*.md".to_owned(), acts: vec![PathAct::Create] };
        let scope = StandingScope::Task { task_id: task };
        let grant = world.person.standing(world.kernel(), cover, scope, None);
        let grant = StandingGrant { after_untrusted: false, ..grant };
        world.kernel().allow_standing(&world.person.sign_standing(&grant)).unwrap();
        let stands = world.drive(task);
        let held = state(&world, task).beliefs.into_values().next().unwrap();
        assert_eq!(held.trust_tier, tier);
        let asks = matches!(stands, DriveOutcome::Waiting(Waiting::Approval(_)));
        assert_eq!((asks, world.files().contains_key(&file)), (is_asked, !is_asked), "{name}: {stands:?}");
    }
}
