//! What is read of an answer over HTTP.

use super::*;

fn reply(kind: &str, body: &str) -> Reply {
    let headers = vec![("content-type".to_owned(), kind.to_owned())];
    Reply { status: 200, headers, body: body.as_bytes().to_vec(), left_out: None }
}

#[test]
fn a_stream_is_read_event_by_event_and_what_is_not_whole_is_nothing() {
    let stream = "event: message\r\nid: 1\r\ndata: {\"id\":\r\ndata:  1}\r\n\r\n: alive\n\ndata: {\"id\":2}\n\ndata: {\"id\":3}";
    assert_eq!(
        messages(&reply("text/event-stream; charset=utf-8", stream)),
        [json!({"id": 1}), json!({"id": 2})]
    );
    assert_eq!(messages(&reply("application/json", "{\"id\":1}")), [json!({"id": 1})]);
    assert!(messages(&reply("text/html", "<p>")).is_empty());
}

#[test]
fn a_name_of_a_conversation_cannot_end_a_header() {
    let named = |session: &str| {
        let mut reply = reply("application/json", "");
        reply.headers.push(("mcp-session-id".to_owned(), session.to_owned()));
        session_of(&reply)
    };
    assert_eq!(named("abc"), Ok(Some("abc".to_owned())));
    for wrong in ["", "a b", "a\r\nb", &"x".repeat(300)] {
        assert!(named(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn a_status_that_leads_elsewhere_or_wants_a_key_is_a_refusal_in_words() {
    let url = "https://far.example/mcp".parse().expect("an address");
    let refused = |reply: &Reply| refused(reply, "far", &url);
    for (status, word) in [
        (302, "not followed"),
        (401, "`hermit tools login far --url https://far.example/mcp`"),
        (404, "404"),
        (405, "405"),
    ] {
        let refused = refused(&Reply { status, ..reply("text/html", "") }).unwrap_or_default();
        assert!(refused.contains(word), "{status}: {refused}");
    }
    assert_eq!(refused(&reply("application/json", "{}")), None);
}

#[test]
fn a_token_that_allows_too_little_is_told_with_what_it_lacks_and_what_to_type() {
    let url = "https://far.example/mcp".parse().expect("an address");
    let told = |challenge: &str| {
        let headers = vec![("www-authenticate".to_owned(), challenge.to_owned())];
        refused(&Reply { status: 403, headers, ..reply("text/html", "") }, "far", &url).unwrap_or_default()
    };
    let more = told(r#"Bearer error="insufficient_scope", scope="notes:write notes:read""#);
    assert!(more.contains(r#"--scope "notes:write notes:read"`"#), "{more}");
    for other in
        [r#"Bearer scope="notes:write""#, "Bearer error=\"insufficient_scope\", scope=\"`rm`\u{1b}\""]
    {
        assert!(!told(other).contains("--scope"), "{other}");
    }
}

#[test]
fn only_an_error_that_names_the_request_is_the_servers_own_refusal() {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "prompts/list" });
    let own = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no such method"}}"#;
    assert!(is_own_word(&message, &reply("application/json", own)));
    assert!(is_own_word(&message, &Reply { status: 404, ..reply("application/json", own) }));
    for other in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no such session"}}"#,
        r#"{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"no such method"}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        "not found",
    ] {
        let reply = Reply { status: 404, ..reply("application/json", other) };
        assert!(!is_own_word(&message, &reply), "{other}");
    }
}
