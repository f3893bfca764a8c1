//! Addresses and requests to servers: one spelling each, and nothing that two readers read differently.

use model::limits;
use model::web::{Fetch, Method, WebUrl};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn an_address_has_one_spelling() {
    for (given, kept) in [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://example.org", ""),
        ("https://Example.ORG:443/A?b=%20c", "https://example.org/A?b=%20c"),
        ("http://example.org.:8080?q", "http://example.org:8080/?q"),
        ("http://127.0.0.1:80/", "http://127.0.0.1/"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("https://a_b.example/~me/(x);y,z", "https://a_b.example/~me/(x);y,z"),
    ] {
        let read = given.parse::<WebUrl>().map(|url| url.to_string()).unwrap_or_default();
        assert_eq!(read, kept, "{given}");
    }
    for wrong in [
        "",
        "ftp://example.org/",
        "//example.org/",
        "http://",
        "http:///x",
        "http://user@example.org/",
        "http://example.org@evil.net/",
        "http://example.org/#part",
        "http://example.org/a b",
        "http://example.org/\u{e4}",
        "http://ex\u{e4}mple.org/",
        "http://example.org:/",
        "http://example.org:0/",
        "http://example.org:65536/",
        "http://example.org:+80/",
        "http://a..b/",
        "http://[::1/",
        "http://::1/",
        "http://[example.org]/",
        "http://[::1]x/",
        "http://example.org\\@evil.net/",
        "http://exa%6dple.org/",
        "http://example.org/\r\nHost: evil",
        "http://example.org:80:80/",
    ] {
        assert!(wrong.parse::<WebUrl>().is_err(), "{wrong:?}");
    }
}

#[test]
fn an_address_in_numbers_is_told_from_a_name() {
    for text in
        ["http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://[fe80::1]/", "http://localhost/"]
    {
        assert!(text.parse::<WebUrl>().unwrap().is_address(), "{text}");
    }
    for text in ["http://example.org/", "http://1and1.example/", "http://localhost.example/"] {
        assert!(!text.parse::<WebUrl>().unwrap().is_address(), "{text}");
    }
}

fn fetch(more: serde_json::Value) -> Result<Fetch, String> {
    let mut all = json!({ "method": "POST", "url": "https://example.org/" });
    for (name, value) in more.as_object().unwrap() {
        all[name] = value.clone();
    }
    let fetch: Fetch = serde_json::from_value(all).map_err(|e| e.to_string())?;
    fetch.check().map(|()| fetch)
}

#[test]
fn a_request_that_could_be_read_in_two_ways_or_holds_a_credential_is_none() {
    assert!(
        fetch(json!({ "body": "text", "headers": [{ "name": "Accept", "value": "a/b; q=0.5" }] })).is_ok()
    );
    let secret =
        fetch(json!({ "headers": [{ "name": "Authorization", "value": "Bearer ", "secret": "api" }] }));
    assert_eq!(secret.unwrap().secrets(), ["api"]);
    let header = |name: &str, value: &str| json!({ "headers": [{ "name": name, "value": value }] });
    for wrong in [
        header("Authorization", "Bearer abc"),
        header("X-Api-Key", "abc"),
        header("Cookie", "a=b"),
        header("x-auth-token", "abc"),
        header("Host", "evil.net"),
        header("Content-Length", "3"),
        header("transfer-encoding", "chunked"),
        header("Proxy-Authorization", "x"),
        header("If-Match", "\"v\""),
        header("Idempotency-Key", "mine"),
        header("", "x"),
        header("A B", "x"),
        header("A", "x\r\nB: y"),
        header("A", "x\u{0}"),
        header("A", " x"),
        header("A", "\u{e4}"),
        json!({ "headers": [{ "name": "A", "value": "1" }, { "name": "a", "value": "2" }] }),
        json!({ "headers": [{ "name": "A", "secret": " " }] }),
        json!({ "method": "GET", "body": "x" }),
        json!({ "method": "DELETE", "body": "x" }),
        json!({ "if_match": "\"v\"" }),
        json!({ "timeout_ms": 0 }),
        json!({ "timeout_ms": limits::FETCH_MS_MAX + 1 }),
        json!({ "follow": true }),
        json!({ "method": "TRACE" }),
        json!({ "body": "x".repeat(limits::FETCH_BODY_BYTES_MAX + 1) }),
        json!({ "method": "PUT", "if_match": "\"v\"\r\nX: y" }),
    ] {
        assert!(fetch(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn what_may_change_something_is_what_the_standard_does_not_call_safe() {
    let safe: Vec<_> = Method::ALL.iter().filter(|m| !m.changes()).map(|m| m.as_str()).collect();
    assert_eq!(safe, ["GET", "HEAD"]);
    assert!(Method::ALL.iter().all(|m| m.changes() || !(m.carries() || m.replaces())));
}

proptest! {
    #[test]
    fn an_address_that_was_read_is_read_again_as_itself(text in "(http|https)://[a-zA-Z0-9.:\\[\\]@-]{1,20}[/?#]?[ -~]{0,12}") {
        if let Ok(url) = text.parse::<WebUrl>() {
            let again: WebUrl = url.to_string().parse().unwrap();
            prop_assert_eq!(&again, &url);
            prop_assert_eq!(again.to_string(), url.to_string());
        }
    }
}
