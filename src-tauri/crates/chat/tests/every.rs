//! What holds of every adapter over HTTP, whatever its service.

use crate::doubles::{Double, LONG, SHORT, Said, adapter, json, said, words};
use chat::{Account, Fault, Outgoing, Service};
use serde_json::json;
use std::net::TcpListener;
use std::time::Instant;
use zeroize::Zeroizing;

const TOKEN: &str = "123456:SECRETtoken";

fn token_of(service: Service) -> &'static str {
    if service == Service::Slack { "xapp-SECRETtoken xoxb-SECRETtoken" } else { TOKEN }
}

const OVER_HTTP: [Service; 4] = [Service::Telegram, Service::Matrix, Service::Slack, Service::Discord];

fn chat_of(service: Service) -> &'static str {
    match service {
        Service::Matrix => "!room:example.org",
        Service::Slack => "D024BE91L",
        _ => "12",
    }
}

/// Each service in turn, at this address.
fn each(address: &str, look: impl Fn(Service, &mut dyn chat::Adapter)) {
    for service in OVER_HTTP {
        look(service, adapter(service, address, token_of(service), &[]).as_mut());
    }
}

#[test]
fn a_token_that_is_refused_is_told_apart_and_not_repeated() {
    let echo = OVER_HTTP.map(token_of).join(" and ");
    let body = json!({ "ok": false, "error": echo, "description": echo, "message": echo }).to_string();
    let double = Double::new(move |_| said(401, &body));
    each(&double.url(), |service, it| {
        let fault = it.who().unwrap_err();
        assert!(matches!(fault, Fault::Token { .. }), "{service}: {fault:?}");
        for token in token_of(service).split(' ') {
            assert!(!format!("{fault:?}").contains(token), "{service}: {fault:?}");
        }
    });
}

#[test]
fn a_service_that_is_not_there_is_away_and_nothing_was_sent() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    each(&format!("http://{nobody}"), |service, it| {
        for fault in [it.who().unwrap_err(), it.send(&words(chat_of(service), "hello")).unwrap_err()] {
            assert!(matches!(fault, Fault::Away { .. }), "{service}: {fault:?}");
            assert!(!format!("{fault:?}").contains("SECRET"), "{service}: {fault:?}");
        }
    });
}

#[test]
fn what_may_have_been_sent_is_told_from_what_was_not() {
    let answers: [fn() -> Said; 5] = [
        || said(0, ""),
        || Said { missing: 40, ..said(200, "{\"ok\":true,") },
        || said(200, "{\"ok\":tr"),
        || said(502, "<html>"),
        || said(200, &"[".repeat(500_000)),
    ];
    for answer in answers {
        // Matrix asks before who would read it, which sends nothing.
        let double = Double::new(move |asked| match asked.path.contains("joined_members") {
            true => json(&json!({ "joined": {} })),
            false => answer(),
        });
        each(&double.url(), |service, it| {
            let fault = it.send(&words(chat_of(service), "hello")).unwrap_err();
            assert!(matches!(fault, Fault::Unknown { .. }), "{service}: {fault:?}");
            // New words of a message are said again.
            let edit = Outgoing { edit_of: Some("12".to_owned()), ..words(chat_of(service), "hello") };
            let fault = it.send(&edit).unwrap_err();
            assert!(matches!(fault, Fault::Away { .. }), "{service}: {fault:?}");
            let fault = it.who().unwrap_err();
            assert!(matches!(fault, Fault::Away { .. }), "{service}: {fault:?}");
        });
    }
}

#[test]
fn a_service_that_asks_for_patience_is_given_it() {
    let body = json!({
        "ok": false, "error_code": 429, "description": "Too Many Requests", "parameters": { "retry_after": 7 },
        "errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 7000, "error": "ratelimited", "retry_after": 7.0,
    });
    let body = body.to_string();
    let double = Double::new(move |_| Said {
        headers: vec![("Retry-After".to_owned(), "7".to_owned())],
        ..said(429, &body)
    });
    each(&double.url(), |service, it| {
        let fault = it.send(&words(chat_of(service), "hello")).unwrap_err();
        let Fault::Away { retry_after, .. } = &fault else { panic!("{service}: {fault:?}") };
        assert_eq!(retry_after.unwrap().as_secs(), 7, "{service}");
    });
}

#[test]
fn no_redirect_is_followed() {
    let elsewhere = Double::new(|_| json(&json!({ "ok": true, "result": {} })));
    for status in [301, 302, 307, 308] {
        let to = elsewhere.url();
        let double = Double::new(move |_| Said {
            headers: vec![("Location".to_owned(), format!("{to}/there"))],
            ..said(status, "")
        });
        each(&double.url(), |service, it| {
            assert!(it.who().is_err() && it.send(&words(chat_of(service), "hello")).is_err(), "{service}");
        });
    }
    assert_eq!(elsewhere.asked().len(), 0, "the token went elsewhere");
}

#[test]
fn a_service_that_says_nothing_is_not_waited_for_longer_than_said() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let mut it = adapter(Service::Telegram, &address, TOKEN, &[]);
    let begun = Instant::now();
    assert!(matches!(it.poll("", SHORT), Err(Fault::Away { .. })));
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
}

#[test]
fn an_answer_that_is_too_large_is_not_read() {
    let double =
        Double::new(|_| said(200, &format!("{{\"ok\":true,\"x\":\"{}\"}}", "y".repeat(17 * 1024 * 1024))));
    each(&double.url(), |service, it| assert!(it.who().is_err(), "{service}"));
}

#[test]
fn a_token_goes_to_no_address_in_the_clear() {
    let open = |service, address: &str, token: &str| {
        let account = Account {
            service,
            address: address.to_owned(),
            user: String::new(),
            settings: Default::default(),
        };
        chat::open(&account, Zeroizing::new(token.to_owned())).map(|_| ())
    };
    for address in
        ["http://example.org", "https://kim:pw@example.org", "ftp://example.org", "https://e.org/?a", "x"]
    {
        for service in OVER_HTTP {
            let why = open(service, address, token_of(service)).unwrap_err();
            assert!(!why.contains("SECRET") && !why.contains("pw"), "{service}: {why}");
        }
    }
    for token in ["", "a b\r\nc", "héllo"] {
        assert!(
            OVER_HTTP.iter().all(|service| open(*service, "https://example.org", token).is_err()),
            "{token}"
        );
    }
}

#[test]
fn hosts_are_those_that_are_spoken_to() {
    let telegram = adapter(Service::Telegram, "", TOKEN, &[]);
    assert_eq!(telegram.hosts(), [("api.telegram.org".to_owned(), 443)]);
    let matrix = adapter(Service::Matrix, "https://matrix.example.org:8448", TOKEN, &[]);
    assert_eq!(matrix.hosts(), [("matrix.example.org".to_owned(), 8448)]);
    // A person is told of them by the one table.
    for service in OVER_HTTP {
        let told = service.words().unwrap().hosts;
        if !told.is_empty() {
            let hosts = adapter(service, "", token_of(service), &[]).hosts();
            let hosts: Vec<String> = hosts.into_iter().map(|(name, port)| format!("{name}:{port}")).collect();
            assert_eq!(hosts, told, "{service}");
        }
    }
}
