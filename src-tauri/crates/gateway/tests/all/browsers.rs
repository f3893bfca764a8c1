//! Browsers: links, sessions, pages.

use crate::home::Home;
use crate::{Got, Open, open, open_with};
use gateway::POLICY;
use serde_json::json;
use wire::{Access, COMMANDS};

/// What carries a session.
pub const SESSION: &str = "x-hermit-session";

/// Opens a link as the page does.
pub fn session(open: &Open, token: &str) -> Got {
    let body = json!({ "token": token }).to_string();
    let origin = open.origin();
    open.ask(
        "POST",
        "/api/session",
        &[("origin", &origin), ("sec-fetch-site", "same-origin")],
        body.as_bytes(),
    )
}

/// The session that a link opened. It is told to the page and set nowhere.
pub fn carried(got: &Got) -> String {
    assert!(got.header("set-cookie").is_none(), "a cookie would go to every server of this machine");
    got.json()["session"].as_str().expect("a session").to_owned()
}

#[test]
fn a_link_opens_one_session_and_then_nothing() {
    let open = open(90);
    let link = open.server.link();
    assert_eq!(link.url, format!("{}/#token={}", open.origin(), link.token));
    let got = session(&open, &link.token);
    assert_eq!((got.status, &got.json()["kind"]), (200, &json!("browser")), "{}", got.json());
    let own = carried(&got);
    let again = session(&open, &link.token);
    assert_eq!((again.status, &again.json()["code"]), (401, &json!("unauthorised")));
    assert!(again.json()["session"].is_null());
    let who = open.ask("GET", "/api/session", &[(SESSION, &own)], b"");
    assert_eq!((who.status, &who.json()["kind"]), (200, &json!("browser")));
    let origin = open.origin();
    let headers = [(SESSION, own.as_str()), ("origin", origin.as_str())];
    assert_eq!(open.raw("/api/host.status", &headers, b"{}").0, 200);
    // Whatever a browser sends by itself opens nothing.
    for cookie in [format!("hermit={own}"), format!("{SESSION}={own}"), own.clone()] {
        let headers = [("cookie", cookie.as_str()), ("origin", origin.as_str())];
        assert_eq!(open.raw("/api/host.status", &headers, b"{}").0, 401, "{cookie}");
    }
    let ended = open.ask("DELETE", "/api/session", &headers, b"");
    assert_eq!(ended.status, 204);
    assert_eq!(open.raw("/api/host.status", &headers, b"{}").0, 401, "the session has ended");
}

#[test]
fn a_link_lapses_and_a_session_without_use_ends() {
    let open = open(91);
    let link = open.server.link();
    open.home.world.clock.advance(10 * 60 * 1000);
    assert_eq!(session(&open, &link.token).status, 401, "ten minutes are over");
    let own = carried(&session(&open, &open.server.link().token));
    for _ in 0..3 {
        open.home.world.clock.advance(11 * 3600 * 1000);
        let got = open.ask("GET", "/api/session", &[(SESSION, &own)], b"");
        assert_eq!(got.status, 200, "each use prolongs it");
    }
    open.home.world.clock.advance(12 * 3600 * 1000);
    assert_eq!(open.ask("GET", "/api/session", &[(SESSION, &own)], b"").status, 401);
}

#[test]
fn a_session_is_used_by_no_other_origin_and_breeds_no_links() {
    let open = open(92);
    let own = carried(&session(&open, &open.server.link().token));
    let (origin, before) = (open.origin(), open.home.must("ledger.stats", json!({})));
    // A form of another page sends no JSON header and no origin of ours; a page on another port is the same site.
    for headers in [
        vec![],
        vec![("origin", "http://127.0.0.1:1")],
        vec![("origin", "null")],
        vec![("origin", origin.as_str()), ("sec-fetch-site", "same-site")],
        vec![("origin", origin.as_str()), ("sec-fetch-site", "cross-site")],
    ] {
        let mut all = vec![(SESSION, own.as_str())];
        all.extend(&headers);
        let (status, answer) = open.raw("/api/gate.halt", &all, b"{}");
        assert_eq!((status, &answer["code"]), (403, &json!("forbidden")), "{headers:?}");
    }
    let got = open.ask("GET", "/api/notices", &[(SESSION, &own), ("sec-fetch-site", "same-site")], b"");
    assert_eq!(got.status, 403);
    let body = json!({ "token": open.server.link().token }).to_string();
    let foreign = open.ask("POST", "/api/session", &[("sec-fetch-site", "cross-site")], body.as_bytes());
    assert_eq!(foreign.status, 403, "another page opens no session");
    assert_eq!(before, open.home.must("ledger.stats", json!({})));
    let headers = [(SESSION, own.as_str()), ("origin", origin.as_str())];
    assert_eq!(open.raw("/api/session/link", &headers, b"{}").0, 403);
    let token = open.bearer();
    let (status, link) = open.raw("/api/session/link", &[("authorization", &token)], b"");
    assert_eq!(status, 200);
    assert_eq!(session(&open, link["token"].as_str().expect("a token")).status, 200);
}

#[test]
fn a_wrong_token_beside_a_good_session_is_still_wrong() {
    let open = open(93);
    let own = carried(&session(&open, &open.server.link().token));
    let wrong = format!("Bearer {}", "0".repeat(64));
    let got = open.ask("GET", "/api/session", &[(SESSION, &own), ("authorization", &wrong)], b"");
    assert_eq!(got.status, 401);
    for wrong in ["abc", "x", ""] {
        assert_eq!(open.ask("GET", "/api/session", &[(SESSION, wrong)], b"").status, 401, "{wrong}");
    }
}

#[test]
fn a_session_can_do_what_a_program_can_and_grant_as_little() {
    let open = open(94);
    let (_, approval) = open.home.with_a_question("delete held");
    let own = carried(&session(&open, &open.server.link().token));
    let origin = open.origin();
    let headers = [(SESSION, own.as_str()), ("origin", origin.as_str())];
    for info in COMMANDS.iter().filter(|info| info.access == Access::owner) {
        assert_eq!(open.raw(&format!("/api/{}", info.name), &headers, b"{}").0, 403, "{}", info.name);
    }
    for choice in ["once", "standing"] {
        let body = json!({ "approval": approval, "choice": choice }).to_string();
        assert_ne!(open.raw("/api/approvals.decide", &headers, body.as_bytes()).0, 200);
    }
    let shown = open.home.must("approvals.show", json!({ "approval": approval }));
    assert_eq!(shown["row"]["status"], "pending");
}

#[test]
fn the_built_ui_is_served_under_a_policy_that_runs_nothing_else() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(dir.path().join("assets")).expect("a folder");
    for (name, text) in
        [("index.html", "<!doctype html>hermit"), ("assets/app-1a2b.js", "1"), ("icon.svg", "<svg/>")]
    {
        std::fs::write(dir.path().join(name), text).expect("a file");
    }
    let secret = dir.path().parent().expect("a parent").join(format!("secret-{}.txt", std::process::id()));
    std::fs::write(&secret, "not for anybody").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, dir.path().join("linked.txt")).expect("a link");
    let open = open_with(Home::new(95), Some(dir.path().to_owned()));
    for (path, media, lasting) in [
        ("/", "text/html; charset=utf-8", false),
        ("/tasks/task_1", "text/html; charset=utf-8", false),
        ("/assets/app-1a2b.js", "text/javascript; charset=utf-8", true),
        ("/icon.svg", "image/svg+xml", false),
    ] {
        let got = open.ask("GET", path, &[], b"");
        assert_eq!((got.status, got.header("content-type")), (200, Some(media)), "{path}");
        assert_eq!(got.header("content-security-policy"), Some(POLICY));
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(got.header("cache-control").is_some_and(|c| c.contains("immutable")), lasting, "{path}");
    }
    // A worker that another program left at this port takes itself away, wherever it was said to be.
    for path in ["/old-worker.js", "/", "/api/notices", "/v1/worker.js"] {
        let got = open.ask("GET", path, &[("service-worker", "script")], b"");
        assert_eq!((got.status, got.header("content-type")), (200, Some("text/javascript; charset=utf-8")));
        assert!(String::from_utf8_lossy(&got.body).contains("self.registration.unregister()"), "{path}");
    }
    assert_eq!(open.ask("GET", "/sw.js", &[("service-worker", "script")], b"").status, 404, "ours is a file");
    assert!(POLICY.contains("connect-src 'self'") && !POLICY.contains("unsafe"), "{POLICY}");
    let name = secret.file_name().expect("a name").to_str().expect("UTF-8");
    for path in [
        "/assets/none.js".to_owned(),
        "/linked.txt".to_owned(),
        format!("/../{name}"),
        format!("/%2e%2e/{name}"),
        format!("/assets/../../{name}"),
        format!("/..%2f{name}"),
    ] {
        let got = open.ask("GET", &path, &[], b"");
        assert_eq!(got.status, 404, "{path}");
    }
    std::fs::remove_file(&secret).expect("removed");
    assert_eq!(open.ask("GET", "/", &[("host", "evil.example")], b"").status, 403);
    assert_eq!(open.ask("POST", "/", &[], b"{}").status, 405);
    assert_eq!(open.ask("GET", "/api/nothing/here", &[], b"").status, 401, "no page stands in for the api");
}

#[test]
fn without_a_built_ui_the_page_says_how_to_build_it() {
    let open = open(96);
    let got = open.ask("GET", "/", &[], b"");
    let text = String::from_utf8(got.body).expect("text");
    assert_eq!(got.status, 404);
    assert!(text.contains("npm run ui:build") && text.contains("HERMIT_UI_DIR"), "{text}");
}

#[test]
fn a_listener_is_greeted_and_told_what_happens() {
    let open = open(97);
    let heard = open.client().listen().expect("listening");
    let (task_id, text) = ("task_1".to_owned(), "hel\nlo".to_owned());
    let told = wire::Notice::Delta { task_id, asking: 7, from: 3, text };
    open.home.tell(&told);
    assert_eq!(heard.recv_timeout(std::time::Duration::from_secs(60)).expect("a notice"), told);
}
