//! Conversations in a folder: what the first words begin, what a message says that it answers and quotes, and how what it
//! became is told again from the log.

use crate::story::{events, log, rebuilt, state};
use kernel::command::bind::About;
use kernel::command::enclose::Encloses;
use kernel::command::ingest::Incoming;
use kernel::command::ingress::Saying;
use kernel::command::submit::{Reasoning, Submission};
use kernel::{DriveOutcome, Error, Waiting};
use model::approval::ApprovalStatus;
use model::artifact::{ArtifactKind, TrustTier};
use model::fault::Point;
use model::ingress::{Channel, IngressRecord, IngressResolution, IngressStatus};
use model::task::{Priority, TaskStatus};
use model::{Body, ConversationId, IngressId, TaskId};
use projections::query::{Ask, TaskFilter};
use serde_json::json;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use testkit::{Edge, Mode, World, done, say, write};

pub fn record(world: &World, id: IngressId) -> IngressRecord {
    let found = log(world.kernel()).into_iter().find_map(|(_, body)| match body {
        Body::IngressReceived(b) if b.record.ingress_id == id => Some(b.record),
        _ => None,
    });
    found.expect("it is on record")
}

fn work(world: &World) -> Submission {
    world.reasoners.script("scripted", vec![done("1"), done("2"), done("3")]);
    world.submission("", Reasoning::Scripted { name: "scripted".to_owned() })
}

fn tasks_in(world: &World, conversation: ConversationId) -> Vec<TaskId> {
    let filter = TaskFilter { conversation: Some(conversation), ..TaskFilter::default() };
    let found = world.kernel().query().unwrap().tasks(&filter, Ask::ALL.oldest_first()).unwrap();
    found.rows.into_iter().map(|row| row.task_id).collect()
}

#[test]
fn the_first_words_in_a_folder_begin_its_work_and_the_next_are_about_it() {
    let mut world = World::new(3_501);
    let begins = work(&world);
    let there = world.kernel().open_conversation("the downloads", Some(begins.workspace_id)).unwrap();
    let row = world.kernel().query().unwrap().conversation(there).unwrap().unwrap();
    assert_eq!(row.workspace_id, Some(begins.workspace_id));
    let first = Saying {
        conversation_id: Some(there),
        begins: Some(&begins),
        ..Saying::of("sort them", Channel::App, "one")
    };
    let begun = world.kernel().say(&first).unwrap();
    assert_eq!(begun.resolution, IngressResolution::StartNewRoot);
    let task = begun.task_id.expect("a task");
    assert_eq!(tasks_in(&world, there), [task]);
    assert_eq!(state(&world, task).goal_text(), "sort them");
    world.reopen();
    assert_eq!(world.kernel().say(&first).unwrap().task_id, Some(task), "the same message is the same task");
    // Now something is there that words may be about: nothing begins by itself any more.
    let next = Saying { text: "by year", idempotency_key: "two", ..first.clone() };
    let bound = world.kernel().say(&next).unwrap();
    assert_eq!((bound.resolution, bound.task_id), (IngressResolution::AppendNote, Some(task)));
    assert_eq!(tasks_in(&world, there), [task]);
    // An identifier that stands in the first words goes before: they are about what they name.
    let elsewhere = world.kernel().open_conversation("another", Some(begins.workspace_id)).unwrap();
    let text = format!("tell {task} to hurry");
    let named = Saying { conversation_id: Some(elsewhere), text: &text, idempotency_key: "three", ..first };
    assert_eq!(world.kernel().say(&named).unwrap().task_id, Some(task));
    assert!(tasks_in(&world, elsewhere).is_empty());
}

#[test]
fn an_open_message_begins_work_with_the_words_and_the_trust_of_its_sender() {
    let world = World::new(3_502);
    let begins = work(&world);
    let there = world.kernel().open_conversation("the downloads", None).unwrap();
    let saying = Saying { conversation_id: Some(there), ..Saying::of("sort them", Channel::Webhook, "one") };
    let open = world.kernel().say(&saying).unwrap();
    assert_eq!(open.resolution, IngressResolution::PendingDisambiguation);
    let made = world.kernel().begin_with(open.ingress_id, begins.clone()).unwrap();
    let task = state(&world, made.task_id.expect("a task"));
    assert_eq!((task.goal_text(), task.task.conversation_id), ("sort them".to_owned(), there));
    assert_eq!(task.goal_tier(), TrustTier::Untrusted, "a person who binds it does not vouch for it");
    let again = world.kernel().begin_with(open.ingress_id, begins);
    assert!(matches!(again, Err(Error::Conflict(_))), "it is bound once");
}

#[test]
fn an_open_message_that_is_begun_by_one_key_at_the_same_time_begins_one_task() {
    let world = World::new(3_509);
    let begins = Submission { idempotency_key: "one page".to_owned(), ..work(&world) };
    let open = world.kernel().say(&Saying::of("sort them", Channel::Webhook, "one")).unwrap().ingress_id;
    let (kernel, ready) = (world.kernel(), std::sync::Barrier::new(4));
    let begun = std::thread::scope(|scope| {
        let one = || {
            ready.wait();
            kernel.begin_once(open, &begins).unwrap()
        };
        let all: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
        all.into_iter().map(|begun| begun.join().unwrap()).collect::<Vec<_>>()
    });
    let tasks: BTreeSet<TaskId> = begun.iter().map(|begun| begun.task_id).collect();
    assert_eq!((tasks.len(), begun.iter().filter(|begun| !begun.duplicate).count()), (1, 1), "{begun:?}");
    for other in [
        Submission { constraints: vec!["touch nothing".to_owned()], ..begins.clone() },
        Submission { fallbacks: vec![begins.reasoning.clone()], ..begins },
    ] {
        assert!(matches!(world.kernel().begin_once(open, &other), Err(Error::Conflict(_))), "other terms");
    }
}

#[conforms::conforms("HK-8.1.2-3")]
#[test]
fn a_message_has_on_record_what_it_answers_quotes_and_is_a_part_of_and_how_surely_it_was_bound() {
    let mut world = World::new(3_503);
    let asks = vec![say("ask", json!({ "question": "left or right?" })), done("ok"), done("ok")];
    let task = world.script("pick a side", asks);
    let DriveOutcome::Waiting(Waiting::Answer(question)) = world.drive(task) else { panic!("no question") };
    let earlier = world.kernel().say(&Saying {
        task: Some(task),
        reply_to: None,
        ..Saying::of("x", Channel::Webhook, "w")
    });
    let earlier = earlier.unwrap().ingress_id;
    let named = question.to_string();
    let incoming = Incoming {
        name: "map.txt".to_owned(),
        uri: "/elsewhere/map.txt".to_owned(),
        media_type: "text/plain",
        bytes: &mut &b"left is north"[..],
        trust_tier: TrustTier::Untrusted,
    };
    let (map, _) = world.kernel().ingest(incoming, Channel::App).unwrap();
    let quoting = Encloses { files: vec![map.artifact_id], ..Encloses::quoting(earlier) };
    let answer =
        Saying { reply_to: Some(&named), encloses: Some(&quoting), ..Saying::of("left", Channel::App, "a") };
    let answer = world.kernel().say(&answer).unwrap().ingress_id;
    let part = Saying { part_of: Some(task), ..Saying::of("and check it", Channel::App, "p") };
    let part = world.kernel().say(&part).unwrap();
    assert_eq!(part.resolution, IngressResolution::ForkChild);
    assert_eq!(state(&world, part.task_id.unwrap()).task.parent_task_id, Some(task));
    world.script("another side", vec![done("ok")]);
    let conversation = state(&world, task).task.conversation_id;
    world.kernel().turn_to(conversation, None).unwrap();
    let open = world.kernel().say(&Saying::of("another thing", Channel::App, "o")).unwrap().ingress_id;
    world.reopen();
    let said = record(&world, answer);
    assert_eq!((said.prompt_ref, said.reply_to_ref.clone()), (Some(question), Some(named.clone())));
    assert_eq!((said.quoted_message_ref, said.explicit_task_ref), (Some(earlier), Some(task)));
    assert!(said.actor.is_some() && said.chosen_task_id == Some(task));
    let named_with_it = log(world.kernel()).into_iter().any(|(_, body)| match body {
        Body::ArtifactCreated(b) => {
            said.referenced_artifact_refs.contains(&b.artifact.artifact_id)
                && b.artifact.content_hash == map.sha256
        }
        _ => false,
    });
    assert!(named_with_it, "the file that came with it: {said:?}");
    assert_eq!(record(&world, part.ingress_id).parent_task_id, Some(task));
    // The views are folded from the same events, and tell the same.
    let query = world.kernel().query().unwrap();
    let row = query.message(answer).unwrap().unwrap();
    assert_eq!(
        (row.prompt_ref, row.reply_to_ref, row.quoted_message_ref),
        (Some(question), Some(named), Some(earlier))
    );
    assert_eq!(query.message(part.ingress_id).unwrap().unwrap().parent_task_id, Some(task));
    let row = query.message(open).unwrap().unwrap();
    assert_eq!((row.confidence, row.margin, row.candidates.len()), (Some(500), Some(500), 2));
    assert!(row.rationale.is_some());
    let nowhere = IngressId::fresh(&*world.kernel().ports().clock, &*world.kernel().ports().entropy);
    let nowhere = Encloses::quoting(nowhere);
    let missing = Saying { encloses: Some(&nowhere), ..Saying::of("y", Channel::App, "y") };
    assert!(matches!(world.kernel().say(&missing), Err(Error::NotFound { .. })), "what is quoted is there");
}

#[conforms::conforms(
    "HK-8.1-6",
    "HK-8.1.1-1",
    "HK-8.1.1-3",
    "HK-8.1.1-4",
    "HK-8.1.1-5",
    "HK-8.1.1-6",
    "HK-8.1.1-7"
)]
#[test]
fn however_a_task_has_ended_words_to_it_are_a_new_task_that_follows_it() {
    let world = World::new(9_603);
    for ends in [TaskStatus::Completed, TaskStatus::Failed, TaskStatus::Cancelled] {
        let answers = vec![write(&format!("{ends}.txt"), "x"), done("over")];
        let first = world.script(ends.as_str(), answers);
        let asked = world.drive_to_approval(first);
        let open = Saying { task: Some(first), ..Saying::of("mind the gap", Channel::App, "") };
        let open = Saying { idempotency_key: &format!("open {ends}"), ..open };
        assert_eq!(world.kernel().say(&open).unwrap().task_id, Some(first), "{ends}: it is at work");
        world.reasoners.script(ends.as_str(), vec![write(&format!("{ends}.txt"), "y"), done("over")]);
        let again = world.drive_to_approval(first);
        assert_ne!(asked, again);
        if ends == TaskStatus::Completed {
            world.person.allow(world.kernel(), first, again).unwrap();
        } else if ends == TaskStatus::Failed {
            world.person.deny(world.kernel(), first, again, "no").unwrap();
        } else {
            world.kernel().cancel(first, "enough").unwrap();
        }
        world.drive(first);
        let before = events(world.kernel(), first).len();
        let late = Saying { idempotency_key: &format!("late {ends}"), ..open };
        let follower = world.kernel().say(&late).unwrap().task_id.expect("a task");
        assert_ne!(follower, first, "{ends}: it is never reopened");
        let new = state(&world, follower).task;
        assert_eq!(new.parent_task_id, None, "{ends}: to follow is not to descend");
        let anchor = new.continuation_anchor.expect("an anchor");
        assert_eq!((anchor.anchor_task_id, anchor.outcome_status), (first, ends));
        assert_eq!(anchor.anchor_kind, "completed_outcome");
        // Why this outcome is meant, how it ended, and what it left, each as it is.
        let bound = log(world.kernel()).into_iter().rev().find_map(|(_, body)| match body {
            Body::IngressBound(b) if b.chosen_task_id == Some(follower) => b.rationale.shown().cloned(),
            _ => None,
        });
        assert_eq!(anchor.selection_reason.shown().cloned(), bound, "{ends}");
        assert!(!anchor.outcome_summary.shown().unwrap().is_empty(), "{ends}");
        let left = state(&world, first).artifacts.into_values().filter(|a| a.kind == ArtifactKind::Answer);
        let left: Vec<_> = left.map(|a| a.artifact_id).collect();
        assert_eq!(anchor.source_artifact_refs, left, "{ends}");
        assert!(ends != TaskStatus::Completed || left.len() == 1, "its answer is named");
        // A part of one is its child, and follows nothing.
        let part = Saying { text: "a part", task: None, part_of: Some(follower), ..open };
        let part = Saying { idempotency_key: &format!("part {ends}"), ..part };
        let part = world.kernel().say(&part).unwrap().task_id.expect("a task");
        let part = state(&world, part).task;
        assert_eq!((part.parent_task_id, part.continuation_anchor), (Some(follower), None));
        assert_eq!((state(&world, first).task.status, events(world.kernel(), first).len()), (ends, before));
    }
}

#[conforms::conforms(part = "HK-8.1.3-2")]
#[test]
fn of_several_signs_what_a_message_is_about_the_plainer_one_counts() {
    let world = World::new(9_602);
    let [one, two, three] = ["Sort the letters", "Paint the logo blue", "Weigh the apples"]
        .map(|goal| world.script(goal, vec![done("ok")]));
    let here = state(&world, one).task.conversation_id;
    let earlier = Saying { task: Some(two), ..Saying::of("mind the edges", Channel::App, "earlier") };
    let quoting = Encloses::quoting(world.kernel().say(&earlier).unwrap().ingress_id);
    let answered = three.to_string();
    // In focus is another task each time.
    let about = |saying: Saying<'_>| {
        world.kernel().turn_to(here, Some(one)).unwrap();
        world.kernel().say(&saying).unwrap().task_id
    };
    let of = |text: &'static str| Saying::of(text, Channel::App, text);
    let signs = [
        about(Saying { task: Some(two), reply_to: Some(&answered), ..of("named outright") }),
        about(Saying { reply_to: Some(&answered), encloses: Some(&quoting), ..of("answered") }),
        about(Saying { encloses: Some(&quoting), ..of("weigh the apples again") }),
        about(of("and paint the logo darker blue")),
    ];
    assert_eq!(signs, [Some(two), Some(three), Some(two), Some(one)]);
    // None is in focus: those that words fit come first, and nobody guesses.
    world.kernel().turn_to(here, None).unwrap();
    let open = world.kernel().say(&of("a darker blue for the logo")).unwrap();
    assert_eq!((open.resolution, open.task_id), (IngressResolution::PendingDisambiguation, None));
    assert_eq!(open.candidates[0], two);
    // A part of a task goes before work of its own, and that before an open question.
    let begins = work(&world);
    let begins = |text: &'static str, title: &str| {
        let apart = world.kernel().open_conversation(title, None).unwrap();
        Saying { conversation_id: Some(apart), begins: Some(&begins), ..of(text) }
    };
    let part = Saying { conversation_id: None, part_of: Some(one), ..begins("only the first", "a part") };
    let root = begins("count them", "a root");
    let open = Saying { begins: None, ..begins("hello", "nothing") };
    let resolutions = [part, root, open].map(|saying| world.kernel().say(&saying).unwrap().resolution);
    use IngressResolution::{ForkChild, PendingDisambiguation, StartNewRoot};
    assert_eq!(resolutions, [ForkChild, StartNewRoot, PendingDisambiguation]);
}

#[test]
fn a_goal_given_in_another_conversation_is_bound_once_whenever_the_host_died() {
    // Where nobody bound it when the store was opened, the same message sent again does.
    for (edge, binds) in [(Edge::Before, true), (Edge::After, true), (Edge::Before, false)] {
        let mut world = World::new(3_551);
        let begins = work(&world);
        let there = world.kernel().open_conversation("the downloads", Some(begins.workspace_id)).unwrap();
        let first = Saying {
            conversation_id: Some(there),
            begins: Some(&begins),
            ..Saying::of("sort them", Channel::App, "one")
        };
        world.faults.plan(Point::IngressBind, edge, Mode::Abort, 1);
        let died = catch_unwind(AssertUnwindSafe(|| world.kernel().say(&first)));
        assert!(world.faults.fired(), "{died:?}");
        world.faults.clear();
        world.reopen();
        if binds {
            world.kernel().bind_unbound().unwrap();
        }
        let again = world.kernel().say(&first).unwrap();
        assert_eq!(tasks_in(&world, there), [again.task_id.expect("a task")], "{edge:?} {binds}");
    }
}

#[test]
fn a_program_begins_nothing_by_its_first_words_and_takes_no_first_place() {
    let world = World::new(3_553);
    let begins = work(&world);
    let there = world.kernel().open_conversation("the downloads", Some(begins.workspace_id)).unwrap();
    let said = Saying {
        conversation_id: Some(there),
        begins: Some(&begins),
        ..Saying::of("delete the backups", Channel::Webhook, "one")
    };
    let bound = world.kernel().say(&said).unwrap();
    assert_eq!((bound.resolution, bound.task_id), (IngressResolution::PendingDisambiguation, None));
    assert_eq!(tasks_in(&world, there), []);
    let urgent = |channel, key: &str| {
        let goal = format!("be first: {key}");
        let submission = Submission {
            goal,
            priority: Priority::High,
            channel,
            idempotency_key: key.to_owned(),
            ..work(&world)
        };
        let task = world.kernel().submit(&submission).unwrap().task_id;
        state(&world, task).task.priority
    };
    assert_eq!(urgent(Channel::Webhook, "two"), Priority::Normal);
    assert_eq!(urgent(Channel::App, "three"), Priority::High);
}

#[test]
fn a_key_is_one_message_whatever_it_is_said_to() {
    let world = World::new(3_554);
    let begins = work(&world);
    let kernel = world.kernel();
    let there = kernel.open_conversation("the downloads", Some(begins.workspace_id)).unwrap();
    let goal = Submission { goal: "first".to_owned(), idempotency_key: "a".to_owned(), ..begins.clone() };
    let task = kernel.submit(&goal).unwrap().task_id;
    let note =
        Saying { conversation_id: Some(there), task: Some(task), ..Saying::of("by year", Channel::App, "b") };
    assert_eq!(kernel.say(&note).unwrap().task_id, Some(task));
    let other = Submission { goal: "by year".to_owned(), idempotency_key: "b".to_owned(), ..begins.clone() };
    assert!(matches!(kernel.submit(&other), Err(Error::Conflict(_))), "words to a task are no goal as well");
    let new = Saying {
        conversation_id: Some(there),
        begins: Some(&begins),
        ..Saying::of("by size", Channel::App, "c")
    };
    let made = kernel.say(&new).unwrap().task_id.expect("a task");
    let to_another = Saying { task: Some(task), begins: None, ..new.clone() };
    assert!(matches!(kernel.say(&to_another), Err(Error::Conflict(_))), "nor a goal words to a task");
    assert_eq!(kernel.say(&new).unwrap().task_id, Some(made));
}

#[conforms::conforms("HK-8.1.3-1")]
#[test]
fn what_comes_in_is_bound_to_each_of_the_seven_outcomes() {
    let mut world = World::new(9_601);
    let task =
        world.script("Write it down", vec![write("a.txt", "one"), write("a.txt", "two"), done("written")]);
    let at = world.drive_to_approval(task);
    let mut seen = BTreeSet::new();
    // Words in reply to a card: they are its answer, and a yes in words allows nothing.
    let (card, other) = (at.to_string(), world.kernel().open_conversation("apart", None).unwrap());
    let reply = Saying { reply_to: Some(&card), ..Saying::of("yes, do it", Channel::App, "approval") };
    let said = world.kernel().say(&reply).unwrap();
    assert_eq!((said.resolution, said.task_id), (IngressResolution::Approval, Some(task)), "{said:?}");
    assert_eq!(world.kernel().say(&reply).unwrap().ingress_id, said.ingress_id, "once");
    seen.insert(said.resolution);
    let again = world.drive_to_approval(task);
    assert_ne!(again, at, "the card is asked anew with what was said");
    assert!(!world.path("a.txt").exists());
    let status = |at| state(&world, task).approvals[&at].approval.status;
    assert_ne!(status(at), ApprovalStatus::Granted);
    let late =
        world.kernel().say(&Saying { reply_to: Some(&card), ..Saying::of("and this", Channel::App, "late") });
    assert_eq!(late.unwrap().resolution, IngressResolution::AppendNote, "that card waits no more");
    // More input; a command; a part of it.
    let named = Saying { task: Some(task), ..Saying::of("shorter, please", Channel::App, "note") };
    seen.insert(world.kernel().say(&named).unwrap().resolution);
    let command = Saying::of("/pause", Channel::App, "control");
    let commanded = world.kernel().commanded(&command, Some(task), "it names a command").unwrap();
    assert_eq!(commanded.about, Some(task));
    world.reasoners.script("Write it down", vec![done("1"), done("2"), done("3")]);
    let part = Saying { part_of: Some(task), ..Saying::of("only the title", Channel::App, "part") };
    let part = world.kernel().say(&part).unwrap();
    assert_eq!(state(&world, part.task_id.unwrap()).task.parent_task_id, Some(task));
    seen.insert(part.resolution);
    // The first words of a conversation begin a task of its own.
    let begins = work(&world);
    let first = Saying {
        conversation_id: Some(other),
        begins: Some(&begins),
        ..Saying::of("Sort the letters", Channel::App, "root")
    };
    let root = world.kernel().say(&first).unwrap();
    assert_eq!(state(&world, root.task_id.unwrap()).task.parent_task_id, None);
    seen.insert(root.resolution);
    // Nobody can tell what it is about; then a person says that it is talk.
    let here = state(&world, task).task.conversation_id;
    let _another = world.script("Another matter", vec![done("it")]);
    world.kernel().turn_to(here, None).unwrap();
    let open = world.kernel().say(&Saying::of("and the others?", Channel::App, "open")).unwrap();
    seen.insert(open.resolution);
    let left = world.kernel().say(&Saying::of("and those?", Channel::App, "left")).unwrap();
    assert_eq!(left.resolution, IngressResolution::PendingDisambiguation);
    seen.insert(world.kernel().bind_message(open.ingress_id, About::Talk).unwrap().resolution);
    // All of it is on record, as the views tell it, also when they are folded anew.
    let query = world.kernel().query().unwrap();
    let mut told: BTreeSet<IngressResolution> = BTreeSet::new();
    for status in [IngressStatus::Bound, IngressStatus::PendingDisambiguation] {
        let rows = query.ingress_by_status(status, Ask::ALL).unwrap().rows;
        told.extend(rows.iter().map(|row| row.resolution));
    }
    drop(query);
    let all: BTreeSet<IngressResolution> = IngressResolution::ALL.iter().copied().collect();
    assert_eq!(told, all, "each of the outcomes");
    seen.insert(IngressResolution::Control);
    assert_eq!(seen, all);
    let (views, fresh) = rebuilt(&mut world);
    assert_eq!(views, fresh);
}

#[test]
fn conversations_are_listed_by_when_something_was_said_in_them_page_by_page() {
    let world = World::new(219);
    let mut opened: Vec<ConversationId> = (0..7)
        .map(|n| {
            world.clock.advance(1_000);
            world.kernel().open_conversation(&format!("talk {n}"), None).unwrap()
        })
        .collect();
    // The oldest but one is spoken in again, and all of this within one moment.
    for at in [1, 3] {
        let words = Saying {
            conversation_id: Some(opened[at]),
            ..Saying::of("more", Channel::App, ["a", "b", "c", "d"][at])
        };
        world.kernel().say(&words).unwrap();
    }
    let query = world.kernel().query().unwrap();
    let (mut listed, mut ask) = (Vec::new(), Ask { limit: 2, ..Ask::default() });
    loop {
        let page = query.conversations_by_use(ask).unwrap();
        assert!(page.rows.len() <= 2);
        listed.extend(page.rows.iter().map(|row| row.conversation_id));
        let Some(next) = page.next else { break };
        ask = ask.after(Some(next));
    }
    // The one in which everything is that names none.
    listed.retain(|one| opened.contains(one));
    assert_eq!(listed.len(), opened.len());
    opened.reverse();
    let (third, first) = (opened.remove(3), opened.remove(4));
    assert_eq!(listed[..2].iter().collect::<std::collections::BTreeSet<_>>(), [&first, &third].into());
    assert_eq!(listed[2..], opened, "and each stands there once");
}
