//! What policy allows only in a lesser form: asked as a request of its own, dispatched like any, and told by a receipt.

use crate::story::{completed, count, die, events, object, packs, rebuilt, shows, state};
use acts::{Action, ActionRequest};
use conforms::conforms;
use kernel::DriveOutcome;
use kernel::command::submit::{Reasoning, Submission};
use model::artifact::ArtifactKind;
use model::fault::Point;
use model::policy::{PolicyResult, Profile, Verdict};
use model::proposal::Answer;
use model::receipt::{Receipt, ResultCode};
use model::{Body, Digest, TaskId};
use serde_json::json;
use testkit::{Edge, Server, World, change, done, fetch, look, say, write};

fn give(world: &World, profile: Profile, rule: Option<&str>, says: Vec<Answer>) -> TaskId {
    world.reasoners.script("try", [says, vec![done("tried")]].concat());
    let submission = world.submission("try", Reasoning::Scripted { name: "try".to_owned() });
    let constraints = rule.map(|rule| format!("rule: {rule}")).into_iter().collect();
    world.kernel().submit(&Submission { profile, constraints, ..submission }).unwrap().task_id
}

/// The receipts of a task's acts, with everything they say in words.
fn receipts(world: &World, task: TaskId) -> Vec<(Receipt, String)> {
    let issued = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::ReceiptIssued(b) if b.action_request_id.is_some() => Some(b.receipt_id),
        _ => None,
    });
    let whole = |id| {
        let receipt = world.kernel().receipt(id).unwrap().1;
        let mut said: Vec<String> = receipt.observed.iter().map(|s| s.shown().unwrap().clone()).collect();
        said.push(receipt.result_summary.shown().unwrap().clone());
        (receipt, said.join("\n"))
    };
    issued.map(whole).collect()
}

/// What was asked and what was done instead, as their requests stand; checks that both are bound to each other, and that
/// the one receipt tells of both and of the rule.
#[track_caller]
fn lessened(world: &World, task: TaskId, mode: &str, rule: &str) -> (ActionRequest, ActionRequest, Receipt) {
    let state = state(world, task);
    let log = events(world.kernel(), task);
    let [turned] = <[_; 1]>::try_from(
        log.iter()
            .filter_map(|(_, body)| match body {
                Body::ActionDowngraded(b) => Some(b.clone()),
                _ => None,
            })
            .collect::<Vec<_>>(),
    )
    .unwrap_or_else(|all| panic!("{} downgrades", all.len()));
    assert_eq!((turned.mode.as_str(), turned.rules.as_slice()), (mode, [rule.to_owned()].as_slice()));
    let request = |id| {
        let at = log.iter().find_map(|(_, body)| match body {
            Body::ActionRequested(b) if b.action_request_id == id => Some(b.request.clone()),
            _ => None,
        });
        let at = at.expect("it is on record");
        (object::<ActionRequest>(world.kernel(), &state, at.artifact_id), at.sha256)
    };
    let (asked, sha256) = request(turned.action_request_id);
    let (instead, instead_sha256) = request(turned.instead);
    let named = instead.instead_of.clone().expect("it says what it stands in for");
    assert_eq!((named.action_request_id, named.request_sha256), (asked.action_request_id, sha256));
    assert_eq!((named.mode.as_str(), named.rules.as_slice()), (mode, [rule.to_owned()].as_slice()));
    // Policy was asked about each by its own digest, and only one was dispatched.
    let verdict = |of: Digest| {
        let results = state.artifacts.values().filter(|a| a.kind == ArtifactKind::PolicyResult);
        let all = results.map(|a| object::<PolicyResult>(world.kernel(), &state, a.artifact_id));
        all.filter(|p| p.action_request_sha256 == of).map(|p| p.verdict).next_back()
    };
    assert_eq!(verdict(sha256), Some(Verdict::Downgrade));
    assert!(matches!(verdict(instead_sha256), Some(Verdict::Allow | Verdict::RequireApproval)));
    let dispatched = |id| {
        log.iter().any(|(_, body)| matches!(body, Body::EffectDispatched(b) if b.action_request_id == id))
    };
    assert!(!dispatched(asked.action_request_id) && dispatched(instead.action_request_id));
    let mut told = receipts(world, task);
    told.retain(|(receipt, _)| {
        receipt.action_request_ref.value().is_some_and(|request| request.sha256 == instead_sha256)
    });
    let [(receipt, said)] = <[_; 1]>::try_from(told).unwrap_or_else(|all| panic!("{all:#?}"));
    for words in [&sha256.to_string(), rule, &format!("`{mode}`"), &named.asked, "done instead"] {
        assert!(said.contains(words), "`{words}` is not in {said}");
    }
    assert!(
        receipt.output_refs.iter().any(|output| output.sha256 == named.draft_sha256),
        "the draft is in it"
    );
    (asked, instead, receipt)
}

/// The text that was kept of what was asked.
fn draft(world: &World, instead: &ActionRequest) -> String {
    let digest = instead.instead_of.as_ref().unwrap().draft_sha256;
    String::from_utf8(world.kernel().artifacts().read(&digest).unwrap()).unwrap()
}

#[conforms("HK-11.4-1", "HK-11.4-2")]
#[test]
fn a_change_that_may_only_be_looked_at_is_looked_at_and_kept_as_a_draft() {
    let mut world = World::new(1201);
    world.file("a.txt", "one\nkept\n");
    world.file("b.txt", "bye\n");
    let items = json!([
        { "op": "write", "path": "a.txt", "content": "two\nkept\n" },
        { "op": "write", "path": "sub/new.txt", "content": "made\n" },
        { "op": "delete", "path": "b.txt" },
    ]);
    let says = vec![look("a.txt"), look("b.txt"), change(items)];
    let task = give(&world, Profile::ReadonlyAnalysis, None, says);
    let before = world.files();
    assert_eq!(world.drive(task), completed(), "nobody is asked");
    assert_eq!(world.files(), before, "nothing changed");
    let (_, instead, receipt) = lessened(&world, task, "readonly", "readonly_analysis.look_instead");
    assert!(
        matches!(&instead.action, Action::Observe(acts::Observe { items }) if items.len() == 3),
        "{instead:?}"
    );
    assert_eq!(receipt.result_code, ResultCode::Succeeded);
    assert_eq!(receipt.rollback.method, "none");
    let last = packs(world.kernel(), task).pop().unwrap();
    for words in ["-one", "+two", "create sub/new.txt", "+made", "delete b.txt", "-bye", "downgraded"] {
        assert!(shows(&last, words), "the proposer is told `{words}`");
    }
    assert!(shows(&last, &Digest::of(b"bye\n").to_string()), "and what was found there");
    let (views, fresh) = rebuilt(&mut world);
    assert_eq!(views, fresh);
}

#[conforms("HK-11.4-2")]
#[test]
fn what_would_be_sent_where_only_reading_is_allowed_is_fetched_instead_and_a_person_sees_both() {
    let world = World::new(1202);
    let server = Server::agreeing();
    let post = fetch("POST", &server.url("/orders?n=1"), Some("one kettle"));
    let task = give(&world, Profile::NetworkReadAllowed, None, vec![post]);
    let approval = world.drive_to_approval(task);
    let state = state(&world, task);
    let packet = object(world.kernel(), &state, state.approvals[&approval].approval.approval_packet_ref);
    let card = governance::approval::card(&packet);
    let shown: Vec<&str> = card.lines.iter().map(|line| line.text.as_str()).collect();
    for words in ["INSTEAD of what was asked", "POST", "network_read_only.read_instead", "fetch with GET"] {
        assert!(shown.iter().any(|line| line.contains(words)), "`{words}` is not in {shown:#?}");
    }
    assert!(server.heard().is_empty());
    world.person.allow(world.kernel(), task, approval).unwrap();
    assert_eq!(world.drive(task), completed());
    let [heard] = <[_; 1]>::try_from(server.heard()).unwrap();
    assert_eq!((heard.line.as_str(), heard.body.as_str()), ("GET /orders?n=1", ""));
    let (_, instead, receipt) = lessened(&world, task, "readonly", "network_read_only.read_instead");
    assert!(matches!(&instead.action, Action::Fetch(fetch) if !fetch.method.changes()));
    assert_eq!(receipt.action_class.as_str(), "network_read");
    assert!(draft(&world, &instead).ends_with("\n\none kettle"));
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "well received"));
}

#[conforms("HK-11.4-2")]
#[test]
fn what_would_be_published_is_kept_as_a_draft_and_goes_nowhere() {
    let rule = Some("draft Net(host:*)");
    let cases = [
        (Profile::ReadonlyAnalysis, None, "readonly_analysis.draft_instead"),
        (Profile::ExternalPublishGated, rule, "task.l1"),
        (Profile::LocalEditAllowed, rule, "task.l1"),
    ];
    for (seed, (profile, rule, by)) in (1210..).zip(cases) {
        let world = World::new(seed);
        let server = Server::agreeing();
        let post = fetch("POST", &server.url("/posts"), Some("the whole text"));
        let task = give(&world, profile, rule, vec![post]);
        assert_eq!(world.drive(task), completed(), "{profile}: nobody is asked");
        assert!(server.heard().is_empty(), "{profile}");
        let (asked, instead, receipt) = lessened(&world, task, "draft", by);
        assert_eq!(asked.action_class.as_str(), "network_write");
        assert!(matches!(&instead.action, Action::Observe(acts::Observe { items }) if items.is_empty()));
        assert_eq!(draft(&world, &instead), format!("POST {}\n\nthe whole text", server.url("/posts")));
        assert_eq!(receipt.result_code, ResultCode::Succeeded);
    }
}

#[test]
fn a_commit_under_a_profile_that_only_looks_is_a_draft_of_its_message_and_files() {
    let world = World::new(1220);
    world.file("a.txt", "text");
    world.file(".git/HEAD", "ref: refs/heads/main\n");
    world.file(".git/refs/heads/main", &format!("{}\n", "a".repeat(40)));
    let before = world.files();
    let commit = say("commit", json!({ "paths": ["a.txt"], "message": "what\n\nand why" }));
    let task = give(&world, Profile::ReadonlyAnalysis, None, vec![commit]);
    assert_eq!(world.drive(task), completed());
    assert_eq!(world.files(), before);
    let (_, instead, _) = lessened(&world, task, "draft", "readonly_analysis.draft_instead");
    let draft = draft(&world, &instead);
    for words in ["commit on \"refs/heads/main\"", "\"a.txt\"", "| and why"] {
        assert!(draft.contains(words), "`{words}` is not in {draft}");
    }
}

#[test]
fn a_rule_of_a_person_turns_an_edit_into_a_look_or_a_draft() {
    for (seed, (verb, mode)) in (1230..).zip([("look", "readonly"), ("draft", "draft")]) {
        let world = World::new(seed);
        let rule = format!("{verb} FileEdit(docs/**)");
        let says = vec![write("docs/a.md", "mine"), write("b.md", "mine")];
        let task = give(&world, Profile::LocalEditAllowed, Some(&rule), says);
        let (standing, allowed) = world.drive_allowing(task);
        assert_eq!((standing, allowed), (completed(), 1), "asked about the other file, as ever");
        assert!(!world.files().contains_key("docs/a.md") && world.files().contains_key("b.md"));
        let (_, instead, _) = lessened(&world, task, mode, "task.l1");
        assert!(draft(&world, &instead).contains("+mine"));
    }
}

#[test]
fn a_lesser_form_that_policy_denies_too_or_that_there_is_none_of_is_a_no() {
    let world = World::new(1240);
    let server = Server::agreeing();
    // Nothing is fetched under this profile either.
    let post = fetch("POST", &server.url("/orders"), Some("x"));
    let task = give(&world, Profile::LocalEditAllowed, Some("look Net(host:*)"), vec![post]);
    assert!(matches!(world.drive(task), DriveOutcome::Ended { .. }));
    assert!(server.heard().is_empty());
    for event in ["action.downgraded", "effect.dispatched", "approval.requested", "receipt.issued"] {
        assert_eq!(count(world.kernel(), task, event), 0, "{event}");
    }
    assert!(shows(packs(world.kernel(), task).last().unwrap(), "not allowed by policy"));
}

#[conforms("HK-19.2-1")]
#[test]
fn a_host_that_dies_between_the_no_and_the_lesser_form_goes_on_with_the_lesser_form_once() {
    let deaths = [
        (Point::ActionJudge, Edge::After),
        (Point::EffectDispatch, Edge::Before),
        (Point::EffectObserve, Edge::After),
    ];
    for (seed, (point, edge)) in (1250..).zip(deaths) {
        let mut world = World::new(seed);
        let server = Server::agreeing();
        let post = fetch("POST", &server.url("/posts"), Some("text"));
        let task = give(&world, Profile::ReadonlyAnalysis, None, vec![post]);
        die(&mut world, task, point, edge);
        assert_eq!(world.drive(task), completed(), "{point} {edge:?}");
        lessened(&world, task, "draft", "readonly_analysis.draft_instead");
        assert!(server.heard().is_empty());
    }
}
