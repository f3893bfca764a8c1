//! Adopting a change of the source that edits, moves or removes tests: a person looks at each of these first, and their yes is about
//! exactly what they saw.

use crate::adopting::{adopt, built, by, judged, patch, review, yes};
use crate::story::card;
use kernel::command::adopting::AskedAdoption;
use model::Digest;
use serde_json::{Value, json};
use testkit::World;

#[conforms::conforms(part = "HV-7-1")]
#[test]
fn a_change_that_edits_tests_is_put_to_a_person_once_they_have_looked_at_each() {
    const FILES: [&str; 2] = ["src-tauri/crates/lineage/src/lib.rs", "src-tauri/crates/lineage/tests/all.rs"];
    let world = World::new(6_812);
    let file = |name: &str| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-one\n+two\n");
    let diff = FILES.map(file).concat();
    let change = patch(&json!({ "kind": "code", "source": Digest::of(b"s").to_string(), "diff": diff }));
    let both = [review("ada", FILES[0]), review("bob", FILES[0])];
    let reason = |rule: &str| json!({ "rule": rule, "says": "it edits a test" });
    let run = |parent: &Value| json!({ "suite": "npm test", "passed": 12, "failed": [], "edited": [FILES[1]], "parent": parent });
    let as_before = json!({ "passed": 12, "failed": [], "not_run": [] });
    let with = |rules: &[&str], tests: &Value| {
        let reasons: Vec<Value> = rules.iter().map(|rule| reason(rule)).collect();
        let otherwise =
            json!({ "outcome": "inconclusive", "reasons": reasons, "tests": tests, "built": built(3) });
        judged(&world, &change, &otherwise)
    };
    let trial = with(&["edits_tests", "told_by_the_change"], &run(&as_before));
    let asks = |trial: &str, looked: &[Digest], although_same: bool| {
        let asked = AskedAdoption { although_same, looked, ..adopt(trial, &both, &[]) };
        world.kernel().propose_adoption(&asked, by()).map_err(|e| e.to_string())
    };
    let refused = |trial: &str, looked: &[Digest], although_same: bool, says: &str| {
        let why = asks(trial, looked, although_same).expect_err(says);
        assert!(why.contains(says), "{says}: {why}");
    };
    let [edited]: [_; 1] = successor::edited_tests(&diff, &[]).unwrap().try_into().unwrap();
    assert_eq!(edited.file, FILES[1]);
    refused(&trial, &[], true, &format!("--looked {}", edited.sha256));
    // What was looked at is this difference, and no other.
    let other = successor::edited_tests(&diff.replace("+two", "+three"), &[]).unwrap();
    refused(&trial, &[other[0].sha256], true, "nobody has looked");
    refused(&trial, &[edited.sha256], false, "--although-same");
    // Whatever else keeps a verdict open is not answered by a look.
    let looked = [edited.sha256];
    let open: [&[&str]; 3] = [&["edits_tests", "edits_the_build"], &["edits_the_build"], &[]];
    for rules in open {
        refused(&with(rules, &run(&as_before)), &looked, true, "its verdict is `inconclusive`");
    }
    refused(&with(&["edits_tests"], &run(&Value::Null)), &looked, true, "as they were before");
    // Nor is a look in the place of a run: none of these tests could be put back, or nothing ran at all.
    for nothing in [
        json!({ "passed": 12, "failed": [], "not_run": [FILES[1]] }),
        json!({ "passed": 0, "failed": [], "not_run": [] }),
    ] {
        let rules = ["edits_tests", "parents_tests_not_run"];
        refused(&with(&rules, &run(&nothing)), &looked, true, "as they were before");
    }
    let fails = json!({ "passed": 11, "failed": ["it_adds_up"], "not_run": [] });
    refused(&with(&["edits_tests"], &run(&fails)), &looked, true, "tests did not pass");
    // The card shows the difference, and the yes is about exactly that.
    let task = asks(&trial, &looked, true).unwrap().task_id;
    let approval = world.drive_to_approval(task);
    let shown = card(&world, task);
    let digest = edited.sha256.to_string();
    for says in [digest.as_str(), "    | +++ b/src-tauri/crates/lineage/tests/all.rs", "nothing that counts"]
    {
        assert!(shown.contains(says), "{says}: {shown}");
    }
    yes(&world, (task, approval));
    let registry = world.kernel().adoption_registry();
    let adopted = world.kernel().adopted_change(registry.in_force(None).unwrap()).unwrap();
    assert_eq!(adopted.edited_tests, [edited]);
}
