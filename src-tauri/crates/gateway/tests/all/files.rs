//! Files of pages: bytes that come in, and bytes that go out.

use crate::browsers::SESSION;
use crate::person::Page;
use crate::{Got, Open, open};
use serde_json::{Value, json};

fn send(open: &Open, page: &Page<'_>, name: &str, bytes: &[u8]) -> Got {
    let origin = open.origin();
    let headers = [(SESSION, page.session.as_str()), ("origin", origin.as_str())];
    open.ask("POST", &format!("/api/session/upload?name={name}"), &headers, bytes)
}

fn fetch(open: &Open, page: &Page<'_>, asked: &Value) -> Got {
    let origin = open.origin();
    let headers =
        [(SESSION, page.session.as_str()), ("origin", origin.as_str()), ("content-type", "application/json")];
    open.ask("POST", "/api/session/download", &headers, asked.to_string().as_bytes())
}

#[test]
fn a_page_downloads_a_proof_and_has_it_checked_by_its_bytes() {
    let open = open(320);
    let (task, _) = open.home.with_an_act("write a");
    let page = Page::of(&open);
    let asked =
        json!({ "command": "proof.export", "name": "proof.zip", "params": { "task": task.to_string() } });
    let got = fetch(&open, &page, &asked);
    assert_eq!((got.status, &got.body[..2]), (200, &b"PK"[..]), "{}", got.json());
    let told: Value = serde_json::from_str(got.header("x-hermit-answer").expect("told")).expect("JSON");
    assert_eq!(told["byte_size"], got.body.len(), "all of it");
    let sent = send(&open, &page, "proof.zip", &got.body);
    assert_eq!((sent.status, &sent.json()["byte_size"]), (200, &json!(got.body.len())));
    let upload = sent.json()["upload"].clone();
    let (status, report) = page.post("/api/proof.verify", &json!({ "path": upload }));
    assert_eq!(status, 200, "{report}");
    assert_eq!(report["task_id"], task.to_string());
    // It is this session's, and no other's; and a program has paths.
    let other = Page::of(&open);
    assert_eq!(other.post("/api/proof.verify", &json!({ "path": upload })).0, 403);
    assert_eq!(
        open.client().ask("proof.verify", &json!({ "path": upload })).expect_err("no path").code,
        wire::Code::Usage
    );
    open.home.world.clock.advance(10 * 60 * 1000);
    assert_eq!(page.post("/api/proof.verify", &json!({ "path": upload })).0, 403, "ten minutes are over");
}

#[test]
fn a_page_downloads_the_gates_evidence_and_a_backup_and_names_nothing_else() {
    let open = open(321);
    open.home.with_an_act("write a");
    let page = Page::of(&open);
    for (command, name) in [("gate.export", "gate.zip"), ("store.backup", "backup.zip")] {
        let got = fetch(&open, &page, &json!({ "command": command, "name": name }));
        assert_eq!(got.status, 200, "{command}: {}", got.json());
        assert!(got.body.len() > 200, "{command}");
    }
    for (asked, status) in [
        (json!({ "command": "task.list", "name": "x" }), 400),
        (json!({ "command": "store.restore", "name": "x", "params": { "from": "/etc" } }), 403),
        (json!({ "command": "gate.export", "name": "../x" }), 400),
        (json!({ "command": "gate.export", "name": "/tmp/x" }), 400),
        (json!({ "command": "gate.export", "name": "" }), 400),
        (json!({ "command": "gate.export", "name": "x", "to": "/tmp" }), 422),
    ] {
        assert_eq!(fetch(&open, &page, &asked).status, status, "{asked}");
    }
    let origin = open.origin();
    for path in ["/api/session/download", "/api/session/upload?name=x"] {
        let bearer = open.bearer();
        let by_program = [("authorization", bearer.as_str()), ("origin", origin.as_str())];
        assert_eq!(open.raw(path, &by_program, b"{}").0, 403, "{path}");
    }
}

#[test]
fn a_download_has_a_place_among_the_streams_and_gives_it_back() {
    let open = open(325);
    open.home.with_an_act("write a");
    let page = Page::of(&open);
    let asked = json!({ "command": "gate.export", "name": "gate.zip" });
    // More than there are places, one after another.
    for time in 0..24 {
        let got = fetch(&open, &page, &asked);
        assert_eq!(got.status, 200, "{time}: {}", got.json());
    }
    let open = self::open(326);
    let page = Page::of(&open);
    let held: Vec<_> = (0..16).map(|_| open.client().listen().expect("a place")).collect();
    let got = fetch(&open, &page, &asked);
    assert_eq!(got.status, 429, "{}", got.json());
    assert!(got.json()["message"].as_str().is_some_and(|says| says.contains("16 streams are open")));
    drop(held);
}

#[test]
fn a_file_that_a_page_sends_is_taken_in_and_handed_over() {
    let open = open(322);
    let page = Page::of(&open);
    let upload = send(&open, &page, "notes.md", b"# notes").json()["upload"].clone();
    let (status, taken) = page.post("/api/artifacts.ingest", &json!({ "path": upload }));
    assert_eq!((status, &taken["byte_size"]), (200, &json!(7)), "{taken}");
    let shown = open.home.must("artifacts.show", json!({ "artifact": taken["artifact_id"] }));
    assert_eq!((&shown["name"], &shown["trust"]), (&json!("notes.md"), &json!("untrusted")));
    let folder = open.home.world.folder.path();
    let begin = |files: Value| {
        let reasoner = json!({ "kind": "playbook", "name": "inventory" });
        page.post(
            "/api/task.submit",
            &json!({ "workspace": folder, "reasoner": reasoner, "attachments": files }),
        )
    };
    assert_eq!(begin(json!([upload, "/etc/hostname"])).0, 403);
    let (status, begun) = begin(json!([upload]));
    assert_eq!(status, 200, "{begun}");
    for name in ["", "..", "a/b", "a%00b"] {
        assert_eq!(send(&open, &page, name, b"x").status, 400, "{name}");
    }
}

#[test]
fn a_page_downloads_the_bytes_of_a_changed_file_under_its_name_and_no_other_bytes() {
    let open = open(324);
    let photo = [0xff_u8, 0xd8, 0x00, 0x80, b'<', b'b', b'>'];
    std::fs::write(open.home.world.folder.path().join("photo.jpg"), photo).expect("a photo");
    let answers = vec![testkit::say("delete", json!({ "path": "photo.jpg" })), testkit::done("deleted it")];
    let task = open.home.world.script("tidy up", answers);
    open.home.world.drive_allowing(task);
    let receipts = open.home.must("receipts.list", json!({ "task": task.to_string() }));
    let rows = receipts["rows"].as_array().expect("rows");
    let receipt = &rows.iter().find(|row| row["class"] == "tool_execution").expect("a receipt")["receipt_id"];
    let shown = open.home.must("changes.show", json!({ "of": receipt }));
    let before = &shown["files"][0]["before"];
    assert_eq!(
        (&before["missing"], &before["byte_size"]),
        (&json!("binary"), &json!(photo.len())),
        "{shown}"
    );
    let page = Page::of(&open);
    let asked = |sha256: &Value, name: &str| {
        let params = json!({ "of": receipt, "sha256": sha256 });
        fetch(&open, &page, &json!({ "command": "changes.export", "name": name, "params": params }))
    };
    let got = asked(&before["sha256"], "photo of \"us\" é.html");
    assert_eq!(
        (got.status, got.body.as_slice()),
        (200, &photo[..]),
        "{}",
        String::from_utf8_lossy(&got.body)
    );
    // It is saved under its name, and never shown, whatever its bytes look like.
    for (name, value) in [
        ("content-type", "application/octet-stream"),
        ("x-content-type-options", "nosniff"),
        ("content-disposition", "attachment; filename*=UTF-8''photo%20of%20%22us%22%20%C3%A9.html"),
    ] {
        assert_eq!(got.header(name), Some(value));
    }
    let other =
        open.home.must("artifacts.list", json!({ "task": task.to_string() }))["rows"][0]["sha256"].clone();
    assert_eq!(asked(&other, "x").status, 404, "kept bytes that this receipt does not show");
    assert_eq!(asked(&json!("x"), "x").status, 400);
    assert_eq!(
        page.post("/api/changes.export", &json!({ "of": receipt, "sha256": other, "path": "/tmp/x" })).0,
        403
    );
}
