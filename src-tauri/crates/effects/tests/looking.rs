//! Looking: lists, reads, searches, digests, and what they refuse.

use crate::support::{self, World, file_bits, rel};
use acts::Action;
use effects::{READ_BYTES_MAX, SEARCH_MATCHES_MAX, Workspace};
use model::action::ReadItem;
use model::receipt::ResultCode;
use model::witness::Found;
use model::{Digest, RelPath, ResourceId};
use serde_json::Value;

pub fn look(world: &World, items: Vec<ReadItem>) -> (ResultCode, Vec<Value>) {
    let request = world.request(Action::Observe(acts::Observe { items }));
    let outcome = world.perform(&request);
    let value: Value = serde_json::from_slice(&outcome.outputs[0].bytes).unwrap();
    (outcome.result_code, value["results"].as_array().unwrap().clone())
}

pub fn list(world: &World, path: &str, recursive: bool) -> Value {
    let (code, results) = look(world, vec![ReadItem::List { path: rel(path), recursive }]);
    assert_eq!(code, ResultCode::Succeeded);
    results[0].clone()
}

pub fn paths(value: &Value, field: &str) -> Vec<String> {
    value[field].as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_recursive_list_names_everything() {
    let world = World::new();
    world.put("a/b/c.txt", "c");
    world.put(".hidden", "h");
    let found = list(&world, "", true);
    assert_eq!(paths(&found, "entries"), [".hidden", "a", "a/b", "a/b/c.txt"]);
    assert_eq!(found["cut"], false);
    assert_eq!(paths(&list(&world, "", false), "entries"), [".hidden", "a"]);
}

#[test]
fn a_path_too_long_for_the_system_is_reported_not_skipped() {
    let world = World::new();
    let deep = "d".repeat(200);
    // Deeper than any single path may be: made step by step, as other programs make them.
    let mut at = cap_std::fs::Dir::open_ambient_dir(&world.root, cap_std::ambient_authority()).unwrap();
    for _ in 0..22 {
        at.create_dir(&deep).unwrap();
        at = at.open_dir(&deep).unwrap();
    }
    let found = list(&world, "", true);
    assert_eq!(found["unreadable"].as_array().unwrap().len(), 1, "{}", found["unreadable"]);
    assert_eq!(found["entries"].as_array().unwrap().len(), 20);
}

#[test]
fn text_is_text_other_bytes_are_base64_and_a_long_file_is_cut_and_says_so() {
    let world = World::new();
    world.put("t", "grüße\n");
    world.put("b", [0u8, 159, 146, 150]);
    let long = vec![b'x'; usize::try_from(READ_BYTES_MAX).unwrap() + 3];
    world.put("l", &long);
    let items = ["t", "b", "l"].map(|path| ReadItem::Read { path: rel(path) });
    let (code, results) = look(&world, items.to_vec());
    assert_eq!(code, ResultCode::Succeeded);
    assert_eq!(results[0]["text"], "grüße\n");
    assert_eq!(results[1]["base64"], "AJ+Slg==");
    assert_eq!(results[2]["cut"], true);
    assert_eq!(results[2]["sha256"], Digest::of(&long).to_string());
    assert_eq!(results[2]["text"].as_str().unwrap().len() as u64, READ_BYTES_MAX);
}

#[test]
fn a_search_finds_lines_by_glob_says_what_was_binary_and_where_it_stopped() {
    let world = World::new();
    world.put("a/one.rs", "fn main() {}\n// needle\n");
    world.put("two.txt", "needle\r\n");
    world.put("bin", b"needle\0needle");
    world.put("many.log", "needle\n".repeat(SEARCH_MATCHES_MAX + 5));
    let search = |glob: Option<&str>| ReadItem::Search {
        path: RelPath::ROOT,
        pattern: "need.e$".to_owned(),
        glob: glob.map(str::to_owned),
    };
    let (_, results) = look(&world, vec![search(Some("*.rs")), search(Some("two.*")), search(None)]);
    assert_eq!(
        results[0]["matches"],
        serde_json::json!([{"path": "a/one.rs", "line": 2, "text": "// needle"}])
    );
    assert_eq!(results[1]["matches"][0]["text"], "needle");
    assert_eq!(results[2]["binary"], serde_json::json!(["bin"]));
    assert_eq!(results[2]["cut"], true);
    assert_eq!(results[2]["matches"].as_array().unwrap().len(), SEARCH_MATCHES_MAX);
    let (code, results) =
        look(&world, vec![ReadItem::Search { path: RelPath::ROOT, pattern: "(".to_owned(), glob: None }]);
    assert_eq!(code, ResultCode::Failed);
    assert!(results[0]["error"].as_str().unwrap().contains("no regular expression"));
}

#[test]
fn a_search_shows_no_line_of_a_secret_and_does_not_tell_whether_one_matches() {
    let body: Vec<String> = (0_u8..9).map(|n| Digest::of(&[n]).to_string()).collect();
    let named =
        format!("-----BEGIN EC PRIVATE KEY-----\n{}\n-----END EC PRIVATE KEY-----\n", body[..4].join("\n"));
    let unnamed =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", body[4..].join("\n"));
    let mut world = World::new();
    let redactor = redact::Shared::default();
    let value = zeroize::Zeroizing::new(named.clone().into_bytes());
    redactor.put(redact::Redactor::new([("pem".to_owned(), value)]).unwrap());
    world.executors = world.executors.with_redactor(redactor);
    world.put("named", format!("one\n{named}two\n"));
    world.put("unnamed", format!("three\n{unnamed}\nfour;\nTOKEN=ghp_{}\n", "a1B2c3".repeat(6)));
    let search =
        |pattern: &str| ReadItem::Search { path: RelPath::ROOT, pattern: pattern.to_owned(), glob: None };
    let (_, results) =
        look(&world, vec![search("."), search("^[0-9a-f]{8}"), search("a1B2"), search("pem|key")]);
    let all = serde_json::to_string(&results).unwrap();
    assert!(
        body.iter().all(|line| !all.contains(line.get(..20).unwrap())) && !all.contains("a1B2c3"),
        "{all}"
    );
    let lines = |at: usize| results[at]["matches"].as_array().unwrap().len();
    assert_eq!((lines(0), lines(1), lines(2)), (8 + 10, 0, 0), "{all}");
    assert!(
        lines(3) >= 9 && all.contains("[secret:pem]") && all.contains("[redacted: private key]"),
        "{all}"
    );
    let four = &results[0]["matches"].as_array().unwrap()[16];
    assert_eq!((four["line"].as_u64(), four["text"].as_str()), (Some(9), Some("four;")), "{all}");
}

#[test]
fn digests_of_a_folder_are_those_of_its_files_in_order() {
    let world = World::new();
    for n in 0..40 {
        world.put(&format!("f/{n:02}"), format!("{n}"));
    }
    let (_, results) = look(&world, vec![ReadItem::Hash { path: rel("f") }]);
    let entries = results[0]["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 40);
    for (n, entry) in entries.iter().enumerate() {
        assert_eq!(entry["path"], format!("f/{n:02}"));
        assert_eq!(entry["sha256"], Digest::of(n.to_string().as_bytes()).to_string());
    }
}

#[test]
fn hermits_own_store_inside_the_workspace_is_out_of_reach() {
    let world = World::new();
    world.put("own/ledger.db", "secret");
    world.put("theirs", "t");
    let workspace = Workspace::open(&world.root, world.id).unwrap().without(&world.at("own"));
    let executors = effects::Executors::new(
        workspace,
        world.shelf.clone(),
        world.traps.clone(),
        std::sync::Arc::new(support::StillClock),
        effects::Spool::new(world.store.join("spool")),
        effects::Sandbox::none("none".to_owned()),
    );
    let request = world.request(Action::Observe(acts::Observe {
        items: vec![
            ReadItem::Read { path: rel("own/ledger.db") },
            ReadItem::List { path: RelPath::ROOT, recursive: true },
            // Some disks take these for the same folder.
            ReadItem::Read { path: rel("OWN/ledger.db") },
            ReadItem::Read { path: rel("o\u{200c}wn/ledger.db") },
        ],
    }));
    let outcome = executors.perform(world.authorize(&request), &request, &|| false, &mut |_| {});
    let value: Value = serde_json::from_slice(&outcome.outputs[0].bytes).unwrap();
    for hidden in [0, 2, 3] {
        assert!(value["results"][hidden]["error"].as_str().unwrap().contains("out of reach"), "{value}");
    }
    assert_eq!(paths(&value["results"][1], "entries"), ["theirs"]);
    assert_eq!(paths(&value["results"][1], "unreadable"), ["own"]);
    assert!(!String::from_utf8_lossy(&outcome.outputs[0].bytes).contains("secret"));
}

#[conforms::conforms("HK-8.12-5", "HK-6.2-2", "HK-25.2-6", "HK-27-9")]
#[test]
fn what_the_grant_does_not_name_is_not_read_and_another_request_is_not_performed() {
    let world = World::new();
    world.put("yes/a", "a");
    world.put("no/b", "b");
    let request =
        world.request(Action::Observe(acts::Observe { items: vec![ReadItem::Read { path: rel("yes/a") }] }));
    let other =
        world.request(Action::Observe(acts::Observe { items: vec![ReadItem::Read { path: rel("no/b") }] }));
    let outcome = world.executors.perform(world.authorize(&request), &other, &|| false, &mut |_| {});
    assert_eq!(outcome.result_code, ResultCode::Failed);
    assert!(outcome.outputs.is_empty());
    // The same request with one item more is another request.
    let mut wider = request.clone();
    wider.action = Action::Observe(acts::Observe {
        items: vec![ReadItem::Read { path: rel("yes/a") }, ReadItem::Read { path: rel("no/b") }],
    });
    let outcome = world.executors.perform(world.authorize(&request), &wider, &|| false, &mut |_| {});
    assert!(outcome.outputs.is_empty());
    // A request whose items reach further than the resources it names: the item is refused, not the whole.
    let mut sly = wider.clone();
    sly.target_resources = vec![world.file(&rel("yes/a"))];
    let outcome = world.perform(&sly);
    assert_eq!(outcome.result_code, ResultCode::Partial);
    let value: Value = serde_json::from_slice(&outcome.outputs[0].bytes).unwrap();
    assert!(value["results"][1]["error"].as_str().unwrap().contains("outside this grant"));
}

#[test]
fn observing_is_in_the_order_asked_and_never_fails() {
    let world = World::new();
    world.put("a", "a");
    std::fs::create_dir(world.at("d")).unwrap();
    let foreign =
        ResourceId::File(model::WorkspaceId::fresh(&support::StillClock, &*world.entropy), rel("a"));
    let asked = vec![
        world.file(&rel("none")),
        world.file(&rel("d")),
        world.file(&rel("a")),
        world.file(&rel("a/below")),
        foreign,
        ResourceId::Host("example.org".to_owned(), 443),
    ];
    let found = world.executors.observe(&asked);
    assert_eq!(found.iter().map(|f| f.resource.clone()).collect::<Vec<_>>(), asked);
    assert_eq!(found[0].state, Found::Absent);
    assert!(matches!(found[1].state, Found::Folder { .. }), "{:?}", found[1].state);
    let mode = file_bits::seen(0o644);
    assert_eq!(found[2].state, Found::File { sha256: Digest::of(b"a"), byte_size: 1, mode });
    assert_eq!(found[3].state, Found::Absent);
    assert!(matches!(found[4].state, Found::Unreadable { .. }));
    assert!(matches!(found[5].state, Found::Unreadable { .. }));
}

#[test]
fn hands_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<effects::Executors>();
}
