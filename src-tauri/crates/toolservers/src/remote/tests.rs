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
    for (status, word) in [(302, "not followed"), (401, "signs in"), (404, "404"), (405, "405")] {
        let refused = refused(&Reply { status, ..reply("text/html", "") }).unwrap_or_default();
        assert!(refused.contains(word), "{status}: {refused}");
    }
    assert_eq!(refused(&reply("application/json", "{}")), None);
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
