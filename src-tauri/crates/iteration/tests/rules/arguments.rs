//! Every tool's arguments: its schema, its parser and its samples agree.

use crate::*;
use iteration::{ProposedChange, tools};
use model::RelPath;
use model::action::ReadItem;
use proptest::prelude::*;
use std::collections::BTreeSet;

#[conforms::conforms("RX-8-5")]
#[test]
fn every_tool_has_a_sample_and_takes_what_its_schema_says_and_nothing_else() {
    let offered: Vec<String> = tools().into_iter().map(|t| t.name).collect();
    let sampled: Vec<&str> = samples().into_iter().map(|(name, _)| name).collect();
    assert_eq!(offered, sampled);
    for (spec, (tool, arguments)) in tools().iter().zip(samples()) {
        one(tool, arguments.clone()).unwrap_or_else(|e| panic!("{tool}: {e}"));
        let schema = &spec.parameters;
        assert_eq!(schema["additionalProperties"], json!(false), "{tool}");
        let properties: BTreeSet<&String> =
            schema["properties"].as_object().expect("properties").keys().collect();
        assert_eq!(properties, arguments.as_object().expect("an object").keys().collect(), "{tool}");
        let required: BTreeSet<&str> =
            schema["required"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        for name in properties {
            let mut lacking = arguments.clone();
            lacking.as_object_mut().expect("an object").remove(name);
            let without = one(tool, lacking);
            assert_eq!(
                without.is_err(),
                required.contains(name.as_str()),
                "{tool} without {name}: {without:?}"
            );
            if let Err(e) = without {
                assert!(e.to_string().contains(name.as_str()), "{e} names `{name}`");
                assert!(e.to_string().contains(&format!("`{tool}` takes")), "{e} says what it takes");
            }
            let mut odd = arguments.clone();
            odd[name] = json!({ "not": "that" });
            assert!(one(tool, odd).is_err(), "{tool}: `{name}` of a wrong type");
        }
        let mut more = arguments.clone();
        more["surprise"] = json!(1);
        let refused = one(tool, more).expect_err("unknown arguments are refused").to_string();
        assert!(refused.contains("surprise"), "{refused}");
    }
}

#[test]
fn an_unknown_tool_is_refused_with_the_names_of_those_that_exist() {
    let refused = one("shell", json!({ "cmd": "rm -rf /" })).expect_err("unknown").to_string();
    assert!(
        refused.contains("no tool `shell`") && refused.contains("command") && refused.contains("done"),
        "{refused}"
    );
}

#[test]
fn paths_outside_the_workspace_are_refused_in_words() {
    for path in ["/etc/passwd", "../x", "a/../../x", "a/../b", "a//b", "..", "a\0b", "./../x", "/"] {
        for (tool, arguments) in [
            ("read", json!({ "path": path })),
            ("delete", json!({ "path": path })),
            ("write", json!({ "path": path, "content": "" })),
            ("move", json!({ "from": "a", "to": path })),
            ("list", json!({ "path": path })),
            ("command", json!({ "argv": ["ls"], "cwd": path })),
            ("change", json!({ "items": [{ "op": "delete", "path": path }] })),
        ] {
            let refused = one(tool, arguments).expect_err(path).to_string();
            assert!(refused.contains("relative") || refused.contains("workspace"), "{refused}");
        }
    }
}

#[test]
fn a_path_is_taken_as_listed_or_as_a_person_would_write_it() {
    let read = |path: &str| match one("read", json!({ "path": path })) {
        Ok(Proposal::Observe(items)) => match items.as_slice() {
            [ReadItem::Read { path }] => path.as_bytes().to_vec(),
            other => panic!("{other:?}"),
        },
        other => panic!("{path}: {other:?}"),
    };
    for (written, meant) in [
        ("a b.txt", b"a b.txt".as_slice()),
        ("a%20b.txt", b"a b.txt"),
        ("100%.txt", b"100%.txt"),
        ("100%25.txt", b"100%.txt"),
        ("%FF", b"\xff"),
        ("./src/./a".strip_suffix("/./a").expect("a prefix"), b"src"),
        ("src/", b"src"),
        ("././a", b"a"),
        ("größe.txt", "größe.txt".as_bytes()),
    ] {
        assert_eq!(read(written), meant, "{written}");
    }
    for root in ["", ".", "./"] {
        let Ok(Proposal::Observe(items)) = one("list", json!({ "path": root })) else { panic!("{root}") };
        assert_eq!(items, [ReadItem::List { path: RelPath::ROOT, recursive: false }]);
        assert!(one("delete", json!({ "path": root })).is_err(), "the workspace itself is no file");
    }
}

#[test]
fn numbers_and_lists_have_their_bounds() {
    for (tool, arguments) in [
        ("believe", json!({ "claim": "c", "confidence": 1001, "evidence": [] })),
        ("believe", json!({ "claim": " ", "confidence": 1, "evidence": [] })),
        ("command", json!({ "argv": [] })),
        ("command", json!({ "argv": [""] })),
        ("command", json!({ "argv": ["ls\0"] })),
        ("command", json!({ "argv": ["ls"], "timeout_ms": 0 })),
        ("command", json!({ "argv": ["ls"], "timeout_ms": 600_001 })),
        ("command", json!({ "argv": "ls -l" })),
        ("fetch", json!({ "method": "GET", "url": "https://example.org/", "body": "b" })),
        ("fetch", json!({ "method": "GET", "url": "file:///etc/passwd" })),
        ("try_change", json!({ "patch": "{}", "about": "" })),
        ("try_change", json!({ "patch": "{}", "about": "it asks less", "wall_seconds": 3601 })),
        ("fetch", json!({ "method": "PUT", "url": "https://example.org/", "if_match": "\"mine\"" })),
        ("fetch", json!({ "method": "GET", "url": "https://example.org/", "timeout_ms": 120_001 })),
        ("command", json!({ "argv": ["ls"], "hosts": ["a.example.org:443"] })),
        ("command", json!({ "argv": ["ls"], "network": true, "hosts": ["a.example.org"] })),
        ("command", json!({ "argv": ["ls"], "network": true, "hosts": ["A b:443"] })),
        ("change", json!({ "items": [] })),
        ("change", json!({ "items": [{ "op": "chmod", "path": "a" }] })),
        ("change", json!({ "items": [{ "op": "delete", "path": "a", "force": true }] })),
        ("search", json!({ "pattern": "" })),
        ("ask", json!({ "question": "  " })),
        ("read", json!(["a"])),
        ("read", json!("not json")),
    ] {
        assert!(one(tool, arguments.clone()).is_err(), "{tool} {arguments}");
    }
}

#[test]
fn arguments_handed_over_as_text_or_left_out_are_taken() {
    assert_eq!(one("read", json!("{\"path\": \"a\"}")), one("read", json!({ "path": "a" })));
    assert_eq!(one("list", Value::Null), one("list", json!({})));
}

#[test]
fn neighbouring_reads_and_changes_become_one_request_and_order_is_kept() {
    let read = |path: &str| ("read", json!({ "path": path }));
    let write = |path: &str| ("write", json!({ "path": path, "content": "x" }));
    let asked = [read("a"), read("b"), write("a"), ("delete", json!({ "path": "b" })), read("c"), write("c")];
    let proposals = parse(&calls(&asked)).expect("well formed");
    let shape: Vec<(&str, usize)> = proposals
        .iter()
        .map(|p| match p {
            Proposal::Observe(items) => ("observe", items.len()),
            Proposal::Change(items) => ("change", items.len()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shape, [("observe", 2), ("change", 2), ("observe", 1), ("change", 1)]);
    let Proposal::Change(items) = &proposals[1] else { panic!("a change") };
    assert!(matches!(items[1], ProposedChange::Delete { .. }));
    let many: Vec<_> = (0..23).map(|n| read(&n.to_string())).collect();
    let sizes: Vec<usize> = parse(&calls(&many))
        .expect("well formed")
        .iter()
        .map(|p| match p {
            Proposal::Observe(items) => items.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sizes, [10, 10, 3], "at most ten reads are one request");
}

proptest! {
    #[test]
    fn a_path_never_leaves_the_workspace_and_nothing_panics(path in ".{0,30}", tool in 0..15_usize) {
        let (name, mut arguments) = samples().remove(tool);
        for key in ["path", "from", "to", "cwd"] {
            if arguments.get(key).is_some_and(Value::is_string) {
                arguments[key] = json!(path);
            }
        }
        let paths: Vec<RelPath> = match one(name, arguments) {
            Ok(Proposal::Observe(items)) => items.into_iter().map(|i| match i {
                ReadItem::List { path, .. } | ReadItem::Read { path } | ReadItem::Hash { path }
                | ReadItem::Search { path, .. } | ReadItem::Lines { path, .. } | ReadItem::HashFolder { path } => path,
            }).collect(),
            Ok(Proposal::Change(items)) => items.into_iter().flat_map(|i| match i {
                ProposedChange::Write { path, .. } | ProposedChange::Delete { path } => vec![path],
                ProposedChange::Edit { path, .. } => vec![path],
                ProposedChange::Move { from, to } => vec![from, to],
            }).collect(),
            Ok(Proposal::Act(acts::Action::Command(command))) => vec![command.cwd],
            _ => Vec::new(),
        };
        for path in paths {
            prop_assert!(!path.as_bytes().starts_with(b"/"));
            prop_assert!(path.as_bytes().split(|b| *b == b'/').all(|part| part != b".." && part != b"."));
        }
    }
}
