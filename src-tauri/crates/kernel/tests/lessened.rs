//! What policy allows only as a look: drafted, looked at, on record, and nothing changed.

use crate::story::{completed, count, events, object, packs, shows, state};
use conforms::conforms;
use kernel::command::submit::Reasoning;
use model::action::{Action, ActionRequest};
use model::artifact::ArtifactKind;
use model::policy::{PolicyResult, Profile, Verdict};
use model::{Body, Digest};
use serde_json::json;
use testkit::{World, change, done, look};

#[conforms("HK-11.4-1", "HK-11.4-2")]
#[test]
fn a_change_that_may_only_be_looked_at_comes_back_as_a_draft_and_as_what_is_there() {
    let world = World::new(1201);
    world.file("a.txt", "one\nkept\n");
    world.file("b.txt", "bye\n");
    let items = json!([
        { "op": "write", "path": "a.txt", "content": "two\nkept\n" },
        { "op": "write", "path": "sub/new.txt", "content": "made\n" },
        { "op": "delete", "path": "b.txt" },
    ]);
    world.reasoners.script("draft it", vec![look("a.txt"), look("b.txt"), change(items), done("drafted")]);
    let mut submission = world.submission("draft it", Reasoning::Scripted { name: "draft it".to_owned() });
    submission.profile = Profile::ReadonlyAnalysis;
    let task = world.kernel().submit(&submission).unwrap().task_id;
    let before = world.files();
    assert_eq!(world.drive(task), completed(), "nobody is asked");
    assert_eq!(world.files(), before, "nothing changed");
    assert_eq!(count(world.kernel(), task, "effect.dispatched"), 2, "the two looks, and nothing else");
    let last = packs(world.kernel(), task).pop().unwrap();
    for words in
        ["-one", "+two", "create sub/new.txt", "+made", "delete b.txt", "-bye", "nothing was changed"]
    {
        assert!(shows(&last, words), "the proposer is told `{words}`");
    }
    let state = state(&world, task);
    let asked = events(world.kernel(), task).into_iter().filter_map(|(_, body)| match body {
        Body::PolicyEvaluated(b) if b.verdict == Verdict::Downgrade => Some(b.action_request_id),
        _ => None,
    });
    let asked: Vec<_> = asked.collect();
    assert_eq!(asked.len(), 1);
    // The lesser form is a request of its own, which policy was asked about by its own digest.
    let of = |kind| state.artifacts.values().filter(move |a| a.kind == kind);
    let lesser: Vec<(Digest, ActionRequest)> = of(ArtifactKind::ActionRequest)
        .map(|a| (a.content_hash, object::<ActionRequest>(world.kernel(), &state, a.artifact_id)))
        .filter(|(_, request)| request.reason.contains(&asked[0].to_string()))
        .collect();
    let [(digest, request)] = lesser.as_slice() else { panic!("{lesser:?}") };
    assert!(matches!(&request.action, Action::Observe { items } if items.len() == 3), "{request:?}");
    let judged = of(ArtifactKind::PolicyResult)
        .map(|a| object::<PolicyResult>(world.kernel(), &state, a.artifact_id))
        .find(|policy| policy.action_request_sha256 == *digest)
        .expect("policy was asked about it");
    assert_eq!(judged.verdict, Verdict::Allow);
    assert_eq!(of(ArtifactKind::Diff).count(), 1, "the draft is kept");
}
