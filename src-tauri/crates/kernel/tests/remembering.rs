//! Memory as a project has it: what a context is told of it, what replaces and ends it, and what a person says themselves.

use crate::objects::{recorded, says};
use crate::story::{completed, events, packs, shows, state};
use kernel::Error;
use kernel::command::memory::Memorandum;
use kernel::command::submit::Reasoning;
use model::artifact::TrustTier;
use model::context::{ContextPack, Section};
use model::ingress::Channel;
use model::knowledge::MemoryStatus::{Active, Expired, Invalidated, Revoked};
use model::knowledge::{InvalidationPolicy, MemoryRetention, MemoryStatus, MemoryType};
use model::proposal::Answer;
use model::receipt::{ReceiptClass, ResultCode};
use model::{Body, MemoryId, TaskId, WorkspaceId};
use projections::query::Ask;
use projections::rows::MemoryRow;
use serde_json::{Value, json};
use testkit::{World, done, look, say};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

fn remember(claim: &str, more: Value) -> Answer {
    let mut arguments =
        json!({ "claim": claim, "scope": "project", "reason": "it will be needed", "evidence": ["a.txt"] });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    say("remember", arguments)
}

fn row(world: &World, claim: &str) -> MemoryRow {
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    let found = rows.into_iter().find(|row| row.claim.shown().is_some_and(|said| said == claim));
    found.unwrap_or_else(|| panic!("no memory `{claim}`"))
}

/// A task in this folder.
fn script_in(world: &World, workspace_id: WorkspaceId, goal: &str, answers: Vec<Answer>) -> TaskId {
    world.reasoners.script(goal, answers);
    let submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    let submission = kernel::command::submit::Submission { workspace_id, ..submission };
    world.kernel().submit(&submission).unwrap().task_id
}

/// A task of another conversation, once the process that remembered has ended.
fn in_another_session(world: &mut World, goal: &str) -> TaskId {
    world.reopen();
    let talk = world.kernel().open_conversation("Another talk", None).unwrap();
    world.reasoners.script(goal, vec![done("ok")]);
    let submission = world.submission(goal, Reasoning::Scripted { name: goal.to_owned() });
    let conversation_id = Some(talk);
    let submission = kernel::command::submit::Submission { conversation_id, ..submission };
    let task = world.kernel().submit(&submission).unwrap().task_id;
    assert_eq!(state(world, task).task.conversation_id, talk);
    task
}

/// What the first pack of a task holds of memory.
fn markers(world: &World, task: TaskId) -> Vec<String> {
    let pack = packs(world.kernel(), task).remove(0);
    pack.items.into_iter().filter(|item| item.section == Section::Memory).map(|item| item.text).collect()
}

/// What else the store holds is not in it: no file, belief or note of a task that is over, and no memory of another matter.
fn holds_nothing_of_others(pack: &ContextPack) {
    for other in ["the logo is blue", "their tax is nineteen"] {
        assert!(!shows(pack, other), "`{other}`: {:#?}", pack.items);
    }
    let of_others = [Section::Artifacts, Section::Beliefs, Section::Decisions, Section::WorkingState];
    assert!(pack.items.iter().all(|item| !of_others.contains(&item.section)), "{:#?}", pack.items);
}

#[conforms::conforms("HK-15.6-1", "HV-3.4-1", "HV-3.4-3", part = "HV-3.4-2", part = "HV-3.4-6")]
#[test]
fn a_context_is_told_what_is_about_its_goal_and_its_project_and_of_nothing_else() {
    let mut world = World::new(3_301);
    world.file("a.txt", "rates");
    let all = vec![
        look("a.txt"),
        remember("tax rates live in rates.toml", json!({ "kind": "decision" })),
        remember("the logo is blue", json!({ "kind": "architecture" })),
        remember("answers are short", json!({ "kind": "preference" })),
        remember("taxes are never rounded", json!({ "scope": "*", "kind": "pattern" })),
        remember("taxes are paid in May", json!({ "kind": "correction", "scope": "other/part" })),
        done("learnt"),
    ];
    assert_eq!(world.drive_allowing(world.script("learn", all)).0, completed());
    let elsewhere = world.folder.path().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::write(elsewhere.join("a.txt"), "rates").unwrap();
    let other = world.kernel().workspace(&elsewhere.canonicalize().unwrap()).unwrap();
    let there = vec![look("a.txt"), remember("their tax is nineteen", json!({})), done("learnt")];
    assert_eq!(world.drive_allowing(script_in(&world, other, "learn there", there)).0, completed());

    let next = in_another_session(&mut world, "Update the tax rate of Malta");
    assert_eq!(world.drive(next), completed());
    let told = markers(&world, next);
    let task = row(&world, "the logo is blue").task_id;
    assert_eq!(told.len(), 4, "{told:#?}");
    holds_nothing_of_others(&packs(world.kernel(), next)[0]);
    let ever = format!(
        "[MEMORY MARKER] Preference: answers are short Holds for: this project. Source: {task} (user_asserted)."
    );
    assert!(told[..2].contains(&ever), "what every context holds comes first: {told:#?}");
    assert!(
        told[..2].iter().any(|one| one.contains("Correction: taxes are paid in May Holds for: other/part."))
    );
    assert!(told[2].contains("Decision: tax rates live in rates.toml"), "the best match: {told:#?}");
    assert!(told[3].contains("Pattern: taxes are never rounded Holds for: everywhere."), "{told:#?}");
    let compiled: Vec<Vec<MemoryId>> = events(world.kernel(), next)
        .into_iter()
        .filter_map(|(_, body)| match body {
            Body::ContextCompiled(b) => Some(b.memories.unwrap_or_default()),
            _ => None,
        })
        .collect();
    let held = |claim: &str| row(&world, claim).memory_id;
    let of_pack = ["tax rates live in rates.toml", "taxes are never rounded"].map(held);
    assert_eq!(compiled[0][2..], of_pack, "it is on record which were sent");
    assert!(compiled[0].contains(&held("answers are short")));
    assert_eq!(row(&world, "tax rates live in rates.toml").uses, 1);
    assert_eq!(row(&world, "the logo is blue").uses, 0);
    assert!(row(&world, "answers are short").last_used_at.is_some());
    // In another project, only what holds there or everywhere.
    let over_there = script_in(&world, other, "Update the tax rate there", vec![done("ok")]);
    assert_eq!(world.drive(over_there), completed());
    let told = markers(&world, over_there).join("\n");
    assert!(told.contains("their tax is nineteen") && told.contains("taxes are never rounded"), "{told}");
    assert!(!told.contains("rates.toml") && !told.contains("answers are short"), "{told}");
    // HV-3.4-2: each field of a project's memory is in its row.
    let of = row(&world, "tax rates live in rates.toml");
    let workspace = state(&world, task).task.workspace_hint.unwrap();
    assert_eq!(of.project_hash, Some(world.kernel().store_state().projects[&workspace].0));
    assert_eq!((of.memory_type, of.task_id, of.expires_at), (Some(MemoryType::Decision), task, None));
    assert!(of.created_at.0 > 0);
    let kinds =
        [("the logo is blue", MemoryType::Architecture), ("taxes are never rounded", MemoryType::Pattern)];
    for (claim, kind) in [kinds[0], kinds[1], ("taxes are paid in May", MemoryType::Correction)] {
        assert_eq!(row(&world, claim).memory_type, Some(kind));
    }
    assert_eq!(row(&world, "taxes are never rounded").project_hash, None);
}

#[conforms::conforms("HK-8.7-4", part = "HK-6.1-3", part = "HK-8.7-3", part = "HK-15.5-2")]
#[test]
fn memory_is_replaced_taken_back_found_wrong_runs_out_and_ends_with_what_it_came_from() {
    let world = World::new(3_302);
    world.file("a.txt", "text");
    let belief = json!({ "claim": "the port is 80", "confidence": 800, "evidence": ["a.txt"] });
    let first = world.script("learn", vec![look("a.txt"), say("believe", belief), done("learnt")]);
    assert_eq!(world.drive(first), completed());
    // The same task goes on in a second attempt, which has the belief.
    let learn = |goal: &str, more: Vec<Answer>| {
        let answers = [vec![look("a.txt")], more, vec![done("learnt")]].concat();
        let task = world.script(goal, answers);
        assert_eq!(world.drive_allowing(task).0, completed());
        task
    };
    learn(
        "learn more",
        vec![
            remember("builds take an hour", json!({})),
            remember("staging is down", json!({ "days": 2 })),
            remember("the token is in the drawer", json!({})),
            remember("the logo is red", json!({})),
            remember("nobody replaces this", json!({ "replaces": "never said" })),
        ],
    );
    let hour = row(&world, "builds take an hour");
    learn("learn anew", vec![remember("builds take a minute", json!({ "replaces": "builds take an hour" }))]);
    let minute = row(&world, "builds take a minute");
    assert_eq!((minute.supersedes, minute.status), (Some(hour.memory_id), Active));
    let hour = row(&world, "builds take an hour");
    assert_eq!((hour.status, hour.superseded_by), (Invalidated, Some(minute.memory_id)));
    world
        .kernel()
        .revoke_memory(row(&world, "the token is in the drawer").memory_id, "it is private")
        .unwrap();
    world.kernel().invalidate_memory(row(&world, "the logo is red").memory_id, "it is blue").unwrap();
    let again = world.kernel().revoke_memory(row(&world, "the logo is red").memory_id, "twice");
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    let staging = row(&world, "staging is down");
    assert_eq!(staging.expires_at, Some(staging.created_at.plus_ms(2 * DAY_MS)));
    assert_eq!(staging.status, Active);
    // Its time runs out: no context is told of it, and whoever works next records its end.
    world.clock.advance(2 * DAY_MS);
    let later = learn("look after staging", vec![]);
    assert!(markers(&world, later).is_empty());
    assert_eq!(row(&world, "staging is down").status, Expired);
    world.clock.advance(-3 * DAY_MS);
    let earlier = learn("look after staging again", vec![]);
    assert!(markers(&world, earlier).is_empty(), "a clock that is set back brings nothing back");
    let said = |claim: &str| row(&world, claim).status;
    assert_eq!(
        ["builds take a minute", "builds take an hour", "the token is in the drawer", "staging is down"]
            .map(said),
        [Active, Invalidated, Revoked, Expired],
        "each of the states comes about, and each record stays"
    );
    assert_eq!(MemoryStatus::ALL.len(), 4);
    assert_eq!(row(&world, "the logo is red").end_reason.unwrap().shown().unwrap(), "it is blue");
    // What it says of itself is on record.
    let task = minute.task_id;
    let [record] = &recorded(&world, task, "memory.promoted", "record")[..] else { panic!("one record") };
    says(record, &["retention_class", "invalidation_policy", "supersedes", "project_hash"]);
    let [dated] = &recorded(&world, staging.task_id, "memory.promoted", "record")[1..2] else {
        panic!("one")
    };
    assert_eq!(
        (&dated["retention_class"], &dated["invalidation_policy"]),
        (&json!("dated"), &json!("expiry"))
    );
}

#[conforms::conforms("HK-8.7-3", "HK-15.5-2")]
#[test]
fn memory_that_came_from_a_belief_ends_with_it() {
    let world = World::new(3_303);
    world.file("a.txt", "text");
    let belief = json!({ "claim": "the port is 80", "confidence": 800, "evidence": ["a.txt"] });
    let task = world.script(
        "learn",
        vec![look("a.txt"), say("believe", belief), say("ask", json!({ "question": "go on?" })), done("ok")],
    );
    let kernel::DriveOutcome::Waiting(kernel::Waiting::Answer(question)) = world.drive(task) else {
        panic!("it asks")
    };
    let held = state(&world, task).beliefs.into_values().next().unwrap().belief_id;
    world.reasoners.script(
        "learn",
        vec![
            remember("the port is not known", json!({})),
            remember(
                "the port is 80",
                json!({ "belief_id": held, "kind": "architecture", "replaces": "the port is not known" }),
            ),
            done("ok"),
        ],
    );
    world.kernel().answer(task, question, "yes", Channel::App).unwrap();
    assert_eq!(world.drive_allowing(task).0, completed());
    let known = row(&world, "the port is 80");
    assert_eq!((known.from_belief, known.invalidation), (Some(held), Some(InvalidationPolicy::Source)));
    assert_eq!(known.retention, Some(MemoryRetention::Kept));
    // Where it comes from, what it replaces, of what kind it is, for how long it is kept and what ends it is on record.
    let promoted = recorded(&world, task, "memory.promoted", "record");
    let of_belief = ["promoted_from_belief_id", "supersedes", "structured_assertion", "evidence_refs"];
    says(&promoted[1], &of_belief);
    says(&promoted[1], &["retention_class", "invalidation_policy"]);
    assert!(known.ended_at.is_none());
    world.kernel().revoke_belief(task, held, "it is 81").unwrap();
    let ended = row(&world, "the port is 80");
    assert_eq!(ended.status, Invalidated);
    assert!(ended.ended_at.is_some(), "when it was found wrong is on record");
    assert!(ended.end_reason.unwrap().shown().unwrap().contains("was taken back"));
}

/// Nobody is asked about a megabyte, whichever part of it is long, and what is remembered beside it stays.
#[test]
fn a_memory_of_a_megabyte_is_refused_before_anybody_is_asked_and_nothing_is_lost() {
    let world = World::new(3_309);
    world.file("a.txt", "text");
    // With all around it, an answer of a model has at most a megabyte.
    let long = "x".repeat(model::limits::MODEL_ANSWER_BYTES_MAX - 1_024);
    let short = "the logo is blue";
    let task = world.script(
        "remember much",
        vec![
            look("a.txt"),
            remember(short, json!({})),
            remember(&long, json!({})),
            remember("it is big", json!({ "reason": long })),
            remember("the logo is red", json!({ "kind": "decision" })),
            done("kept what fits"),
        ],
    );
    assert_eq!(world.drive_allowing(task).0, completed());
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    let mut kept: Vec<&str> = rows.iter().filter_map(|row| row.claim.shown()).map(String::as_str).collect();
    kept.sort_unstable();
    assert_eq!(kept, ["the logo is blue", "the logo is red"]);
    let all = events(world.kernel(), task);
    let told = all.iter().filter_map(|(_, body)| match body {
        Body::IterationCompleted(b) => b.record.error.as_ref().and_then(|error| error.shown().cloned()),
        _ => None,
    });
    assert_eq!(
        told.filter(|why| why.contains("keep a long text as a file")).count(),
        2,
        "the model is told why"
    );
    let asked = all.iter().filter(|(_, body)| matches!(body, Body::ApprovalRequested(_))).count();
    assert!(asked <= 2, "a person is asked about what fits alone: {asked}");
    // A person's own words are held to the same.
    let root = world.folder.path().canonicalize().unwrap();
    let by = (Channel::Cli, "long".to_owned());
    let refused = world.kernel().propose_memory(said(&"x".repeat(1 << 20)), &root, by).unwrap_err();
    assert!(matches!(&refused, Error::Input(why) if why.contains("1048576 bytes")), "{refused}");
}

fn said(claim: &str) -> Memorandum {
    Memorandum {
        claim: claim.to_owned(),
        scope: String::new(),
        everywhere: false,
        reason: "I say so".to_owned(),
        memory_type: Some(MemoryType::Correction),
        pinned: false,
        days: None,
        replaces: None,
    }
}

#[test]
fn a_person_says_what_is_to_be_remembered_and_is_asked_as_for_every_act() {
    let world = World::new(3_304);
    let root = world.folder.path().canonicalize().unwrap();
    let ask = |memorandum: Memorandum, key: &str| {
        world.kernel().propose_memory(memorandum, &root, (Channel::Cli, key.to_owned()))
    };
    let task = ask(said("invoices are numbered by year"), "one").unwrap().task_id;
    let approval = world.drive_to_approval(task);
    assert!(
        world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows.is_empty(),
        "not before the yes"
    );
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    let first = row(&world, "invoices are numbered by year");
    assert_eq!((first.trust_tier, first.status), (TrustTier::UserAsserted, Active));
    let [evidence] = &first.evidence[..] else { panic!("their words are its evidence") };
    assert_eq!(state(&world, task).digest_of(evidence.artifact_id), Some(evidence.excerpt_hash));
    let receipts = state(&world, task).receipts;
    let done = receipts.iter().find(|r| r.receipt_class == ReceiptClass::MemoryPromotion).unwrap();
    assert_eq!(done.result_code, ResultCode::Succeeded);
    // What takes its place is asked about, too; a no leaves everything as it was.
    let by = Memorandum { replaces: Some(first.memory_id), ..said("invoices are numbered by client") };
    let refused = ask(by.clone(), "two").unwrap().task_id;
    let approval = world.drive_to_approval(refused);
    world.person.deny(world.kernel(), refused, approval, "no").unwrap();
    world.drive(refused);
    assert_eq!(row(&world, "invoices are numbered by year").status, Active);
    let task = ask(by, "three").unwrap().task_id;
    assert_eq!(world.drive_allowing(task).0, completed());
    assert_eq!(row(&world, "invoices are numbered by year").status, Invalidated);
    // What cannot be is refused before anybody is asked.
    let wrong = |memorandum: Memorandum| ask(memorandum, "wrong").unwrap_err().to_string();
    assert!(wrong(said("  ")).contains("nothing to remember"));
    assert!(wrong(said(&"x".repeat(5_000))).contains("keep a long text as a file"));
    assert!(wrong(Memorandum { days: Some(0), ..said("x") }).contains("1 to 36500"));
    assert!(wrong(Memorandum { days: Some(1), pinned: true, ..said("x") }).contains("no date"));
    assert!(
        wrong(Memorandum { replaces: Some(first.memory_id), ..said("x") }).contains("invalidated already")
    );
    let held = row(&world, "invoices are numbered by client").memory_id;
    let elsewhere = Memorandum { replaces: Some(held), everywhere: true, ..said("x") };
    assert!(wrong(elsewhere).contains("holds in one project"), "nobody loses what is replaced elsewhere");
}

#[test]
fn what_is_pinned_is_told_whatever_was_remembered_since() {
    let world = World::new(3_309);
    world.file("a.txt", "rates");
    let root = world.folder.path().canonicalize().unwrap();
    let pinned = Memorandum { pinned: true, ..said("the ledger is never deleted") };
    let task =
        world.kernel().propose_memory(pinned, &root, (Channel::Cli, "pin".to_owned())).unwrap().task_id;
    assert_eq!(world.drive_allowing(task).0, completed());
    for part in 0..5 {
        let mut more: Vec<Answer> = vec![look("a.txt")];
        let corrections = (0..14).map(|n| {
            let claim = format!("correction {part} {n} is a long sentence that is remembered for ever, with words and more words");
            remember(&claim, json!({ "kind": "correction" }))
        });
        more.extend(corrections);
        more.push(done("learnt"));
        assert_eq!(world.drive_allowing(world.script(&format!("more {part}"), more)).0, completed());
    }
    let next = world.script("Something else", vec![done("ok")]);
    assert_eq!(world.drive(next), completed());
    let told = markers(&world, next);
    assert!(told[0].contains("the ledger is never deleted"), "{told:#?}");
    assert!(told.len() < 71, "not all found room");
}

#[test]
fn a_claim_about_a_file_that_was_read_is_trusted_no_more_than_what_was_read_there() {
    let world = World::new(3_310);
    world.file("a.txt", "the deploy key is in backup.pem");
    world.file("b.txt", "only its digest is known");
    let hash = |path: &str| say("hash", json!({ "path": path }));
    let believe = |claim: &str, path: &str| {
        say("believe", json!({ "claim": claim, "confidence": 400, "evidence": [path] }))
    };
    let task = world.script(
        "launder",
        vec![
            look("a.txt"),
            hash("a.txt"),
            hash("b.txt"),
            believe("what the file says", "a.txt"),
            believe("what its digest is", "b.txt"),
            done("ok"),
        ],
    );
    assert_eq!(world.drive(task), completed());
    let beliefs = state(&world, task).beliefs;
    let tier = |claim: &str| {
        beliefs
            .values()
            .find(|belief| belief.claim.shown().is_some_and(|said| said == claim))
            .unwrap()
            .trust_tier
    };
    assert_eq!(tier("what the file says"), TrustTier::Untrusted);
    assert_eq!(tier("what its digest is"), TrustTier::Observed);
}
