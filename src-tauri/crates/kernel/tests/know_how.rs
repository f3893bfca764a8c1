//! The same answer to the same question, remembered and shown by three tasks, is drafted as a skill, written on a card, and
//! followed by nobody before its bytes are trusted (memory.md 5, 6).

use crate::history::asked_and_answered;
use crate::story::{completed, state};
use kernel::Error;
use kernel::command::dreamer::{SkillDraft, skill_drafts};
use model::TaskId;
use model::artifact::TrustTier;
use model::ingress::Channel;
use model::knowledge::Project;
use model::receipt::ReceiptClass;
use model::skill::SkillState;
use projections::query::Ask;
use serde_json::json;
use testkit::{World, done, look, say};

const QUESTION: &str = "Which port do the tests use?";
const ANSWER: &str = "the port 8081 of staging";

/// The drafts of the world's folder.
fn drafts(world: &World) -> Vec<SkillDraft> {
    let store = world.kernel().store_state();
    let hash = store.projects.values().next().expect("a project").0;
    let project = Project { hash, name: "work".to_owned() };
    skill_drafts(&store, world.kernel().reader(), &world.kernel().query().unwrap(), &project).unwrap()
}

/// Looks at what ended, and allows what is proposed.
fn reviewed(world: &World) {
    for _ in 0..5 {
        let looked = world.kernel().read_history(0).unwrap();
        if let Some(task) = looked.task_id {
            assert_eq!(world.drive_allowing(task).0, completed());
        }
    }
}

#[conforms::conforms(part = "HV-3.4-5")]
#[test]
fn an_answer_that_three_tasks_showed_is_a_skill_that_waits_for_two_yeses() {
    let world = World::new(9_601);
    let root = world.folder.path().canonicalize().unwrap();
    for (n, goal) in ["First", "Second", "Third"].into_iter().enumerate() {
        asked_and_answered(&world, goal, vec![], QUESTION, ANSWER);
        reviewed(&world);
        assert_eq!(drafts(&world).len(), usize::from(n == 2), "{n}: two are too few");
    }
    let [draft] = &drafts(&world)[..] else { panic!("one draft") };
    assert_eq!(draft.tasks.len(), 3);
    assert_ne!(draft.trust_tier, TrustTier::Verified, "it is trusted no more than what it was made of");
    for words in [QUESTION, ANSWER, &draft.memory_id.to_string(), &draft.tasks[0].to_string()] {
        assert!(draft.skill.text.contains(words), "`{words}`: {}", draft.skill.text);
    }
    let at = root.join(".agents/skills").join(&draft.skill.name).join("SKILL.md");
    assert!(!at.exists(), "it is without effect");
    assert!(matches!(
        world.kernel().propose_skill_draft("know-how-none", &root, (Channel::Cli, "x".to_owned())),
        Err(Error::NotFound { .. })
    ));
    // A card as for every change, with every line of it, and a receipt.
    let adopt =
        || world.kernel().propose_skill_draft(&draft.skill.name, &root, (Channel::Cli, "a".to_owned()));
    let task = adopt().unwrap().task_id;
    let waits = world.drive_to_approval(task);
    assert!(!at.exists(), "nothing before the yes");
    assert_eq!(adopt().unwrap().task_id, task, "who asks twice has asked once");
    world.person.allow(world.kernel(), task, waits).unwrap();
    assert_eq!(world.drive(task), completed());
    assert_eq!(std::fs::read_to_string(&at).unwrap(), draft.skill.text);
    assert!(state(&world, task).receipts.iter().any(|r| r.receipt_class != ReceiptClass::ApprovalResolution));
    // It lies there as any other: found, read without fault, and trusted by nobody yet.
    let found = world.kernel().ports().executors.skills().unwrap().book.find(Some(&root), None);
    let (all, _) = kernel::command::skills::standings(found, &world.kernel().skill_registry());
    let one = all.iter().find(|one| one.found.folder == draft.skill.name).expect("it is found");
    assert_eq!((one.state, &one.why), (SkillState::Untrusted, &None));
    let by = (Channel::Cli, "trust".to_owned());
    let trust = world.kernel().propose_skill(&draft.skill.name, None, Some(&root), by).unwrap().task_id;
    assert_eq!(world.drive_allowing(trust).0, completed());
    assert!(world.kernel().skill_registry().latest(&draft.skill.name).is_some());
}

#[test]
fn what_is_forgotten_makes_no_skill() {
    let world = World::new(9_602);
    for goal in ["First", "Second", "Third"] {
        asked_and_answered(&world, goal, vec![], QUESTION, ANSWER);
    }
    assert!(drafts(&world).is_empty(), "nothing is remembered yet");
    reviewed(&world);
    let [draft] = &drafts(&world)[..] else { panic!("one draft") };
    world.kernel().invalidate_memory(draft.memory_id, "no more").unwrap();
    assert!(drafts(&world).is_empty());
}

/// A task that remembers something of its project by itself.
fn remembered(world: &World, claim: &str, kind: &str) -> TaskId {
    world.file("a.txt", "text");
    let memory = json!({
        "claim": claim, "scope": "project", "reason": "it will be needed", "evidence": ["a.txt"], "kind": kind,
    });
    let task = world.script(claim, vec![look("a.txt"), say("remember", memory), done("learnt")]);
    assert_eq!(world.drive_allowing(task).0, completed());
    task
}

#[conforms::conforms("HV-3.4-5")]
#[test]
fn what_three_records_of_a_project_say_in_words_of_their_own_is_drafted_once_as_a_skill() {
    let world = World::new(9_603);
    let (first, second, third) = (
        "Run make clean before make test when fixtures fail",
        "When fixtures fail: make clean, then run make test",
        "Fixtures fail until you run make clean and make test",
    );
    let mut tasks = vec![remembered(&world, first, "pattern")];
    // What is about something else, and what was decided once in nearly these words, are no evidence of it.
    remembered(&world, "Run the linter before every commit", "pattern");
    remembered(&world, "Run make clean before make test as fixtures fail", "decision");
    tasks.push(remembered(&world, second, "pattern"));
    assert!(drafts(&world).is_empty(), "two are too few");
    tasks.push(remembered(&world, third, "pattern"));
    let [draft] = &drafts(&world)[..] else { panic!("one draft: {:?}", drafts(&world)) };
    tasks.sort_unstable();
    assert_eq!(draft.tasks, tasks);
    let rows = world.kernel().query().unwrap().memories(None, Ask::ALL).unwrap().rows;
    for claim in [first, second, third] {
        let row = rows.iter().find(|row| row.claim.shown().is_some_and(|said| said == claim)).unwrap();
        assert!(draft.skill.text.contains(claim), "`{claim}`: {}", draft.skill.text);
        assert!(draft.skill.text.contains(&row.memory_id.to_string()), "{}", draft.skill.text);
        assert!(draft.memory_id <= row.memory_id, "it is named after the oldest");
    }
    assert!(!draft.skill.text.contains("linter"), "{}", draft.skill.text);
    // One that is taken back is no evidence any more.
    let last = rows.iter().find(|row| row.claim.shown().is_some_and(|said| said == third)).unwrap();
    world.kernel().revoke_memory(last.memory_id, "it was said in jest").unwrap();
    assert!(drafts(&world).is_empty());
}
