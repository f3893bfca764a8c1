//! What no window may do, tried from inside it.

use super::room::{DESK, MAIN, room, until};
use serde_json::{Value, json};

/// Asks of plugins that would reach a shell, files, the network or a process.
const REACHING: [&str; 16] = [
    "plugin:shell|execute",
    "plugin:shell|spawn",
    "plugin:shell|open",
    "plugin:fs|read_text_file",
    "plugin:fs|write_text_file",
    "plugin:fs|read_dir",
    "plugin:http|fetch",
    "plugin:process|exit",
    "plugin:opener|open_url",
    "plugin:opener|open_path",
    "plugin:opener|reveal_item_in_dir",
    "plugin:dialog|open",
    "plugin:autostart|enable",
    "plugin:deep-link|register",
    "plugin:window|create",
    "plugin:event|emit",
];

/// What only the approval window may ask.
const GRANTING: [&str; 14] = [
    "grant",
    "press",
    "shown",
    "subject",
    "make_keys",
    "unlock",
    "offers",
    "prepare_override",
    "allow_override",
    "keep_key",
    "security_keys",
    "grant_by_key",
    "key_wants_touch",
    "leave_key",
];

#[test]
fn no_window_reaches_a_shell_files_the_network_or_a_process_and_the_main_window_cannot_grant() {
    let Some(mut room) = room("no window reaches further") else { return };
    let app = room.app();
    until("the main window is there", || app.turn_to(MAIN));
    let refused = |command: &str, params: &Value| {
        let why = app.invoke(command, params).expect_err(command);
        assert!(why.contains("not allowed"), "{command}: {why}");
    };
    for command in REACHING {
        refused(command, &json!({ "program": "id", "path": "/etc/passwd", "url": "https://example.org" }));
    }
    let grant = json!({ "approval": "apr_1", "packetSha256": "00", "passphrase": "x", "down": true });
    for command in GRANTING {
        refused(command, &grant);
    }
    refused("approvals_decide", &json!({ "params": { "approval": "apr_1", "envelope": "e30=" } }));
    refused("grants_allow", &json!({ "params": { "envelope": "e30=" } }));
    refused("passkeys_enrol", &json!({ "params": { "envelope": "e30=", "name": "x" } }));
    refused("policy_allow_override", &json!({ "params": { "act": "act_1", "envelope": "e30=" } }));
    refused("keys_register", &json!({ "params": {} }));
    refused("no_such_thing", &json!({}));

    // What it may, it can.
    assert!(app.invoke("host_status", &json!({ "params": {} })).is_ok());
    let unknown = app.invoke("task_list", &json!({ "params": { "bogus": 1 } })).expect_err("refused by name");
    assert!(unknown.contains("unknown_field"), "{unknown}");

    // Nothing leads out of the app, and no page from elsewhere is loaded.
    let reached = app.run("try { const r = new XMLHttpRequest(); r.open('GET', 'http://127.0.0.1:9/', false); r.send(); return 'sent'; } catch (e) { return e.name; }");
    assert_ne!(reached.unwrap_or_default(), "sent");
    let evaluated = app.run("try { const s = document.createElement('script'); s.textContent = 'window.reached = 1'; document.head.append(s); return window.reached ?? null; } catch (e) { return null; }");
    assert_eq!(evaluated.unwrap_or_default(), Value::Null);
    let _ = app.run("location.href = 'http://127.0.0.1:9/'");
    assert!(app.turn_to(MAIN), "the window stays where it is");

    // The approval window grants, and does nothing else that the main window does.
    app.invoke("open_keys", &json!({})).expect("the main window may ask for it");
    until("the window for keys is there", || app.turn_to(DESK));
    for command in REACHING.iter().chain(&[
        "pick",
        "heed",
        "open_card",
        "autostart",
        "reveal",
        "save_place",
        "task_submit",
        "gate_halt",
    ]) {
        refused(command, &json!({ "params": {} }));
    }
    refused("approvals_decide", &json!({ "params": { "approval": "apr_1", "envelope": "e30=" } }));
    refused("grants_allow", &json!({ "params": { "envelope": "e30=" } }));
    refused("passkeys_enrol", &json!({ "params": { "envelope": "e30=", "name": "x" } }));
    refused("policy_allow_override", &json!({ "params": { "act": "act_1", "envelope": "e30=" } }));
    let allow_override = json!({ "act": "act_1", "words": "w", "passphrase": "x" });
    let unread = app.invoke("allow_override", &allow_override).expect_err("nothing was read");
    assert!(unread.contains("too short"), "{unread}");
    let early = app.invoke("grant", &grant).expect_err("nothing was shown");
    assert!(early.contains("too short"), "{early}");
    let by_key = json!({ "approval": "apr_1", "packetSha256": "00", "pin": "1234", "place": "/dev/hidraw0" });
    let early = app.invoke("grant_by_key", &by_key).expect_err("nothing was shown");
    assert!(early.contains("too short"), "{early}");
}
