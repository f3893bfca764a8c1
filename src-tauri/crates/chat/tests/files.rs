//! Files that came with messages, as each service gives them, and as none should; and what goes out with a file or is changed.

use crate::doubles::{Asked, Double, Said, adapter, json, said, words};
use chat::{Adapter, Attachment, Button, Fault, OutFile, Outgoing, Service};
use serde_json::json;

const CONTENTS: &str = "contents";
const OVER_HTTP: [Service; 4] = [Service::Telegram, Service::Matrix, Service::Slack, Service::Discord];

fn token_of(service: Service) -> &'static str {
    if service == Service::Slack { "xapp-SECRETtoken xoxb-SECRETtoken" } else { "123456:SECRETtoken" }
}

fn chat_of(service: Service) -> &'static str {
    match service {
        Service::Matrix => "!room:example.org",
        Service::Slack => "D024BE91L",
        Service::Mail => "kim@example.com,r1@x",
        _ => "50",
    }
}

fn of(service: Service, double: &Double) -> Box<dyn Adapter> {
    adapter(service, &double.url(), token_of(service), &[])
}

/// The handle by which each service is asked for its file.
fn file_of(service: Service, media_type: &str) -> Attachment {
    let handle = match service {
        Service::Matrix => "mxc://example.org/f1",
        Service::Discord => "50/61/2",
        _ => "F1",
    };
    Attachment {
        name: "a.txt".to_owned(),
        media_type: media_type.to_owned(),
        bytes: 8,
        handle: handle.to_owned(),
    }
}

/// A service that says where its file is, at this base, and gives it like this.
fn giving(base: Option<&'static str>, give: impl Fn() -> Said + Send + Sync + 'static) -> Double {
    Double::new(move |asked: &Asked| {
        let base = base.map_or_else(|| format!("http://{}", asked.headers["host"]), str::to_owned);
        match asked.path.as_str() {
            path if path.ends_with("/getFile") => {
                json(&json!({ "ok": true, "result": { "file_path": "documents/the.file" } }))
            }
            path if path.contains("files.info") => {
                json(&json!({ "ok": true, "file": { "url_private_download": format!("{base}/the.file") } }))
            }
            path if path.contains("/messages/61") => {
                json(&json!({ "attachments": [{ "id": "2", "url": format!("{base}/the.file") }] }))
            }
            path if path.ends_with("/the.file") || path.contains("/media/download/") => give(),
            _ => said(404, "{}"),
        }
    })
}

/// The answer with a header.
fn with(said: Said, name: &str, value: String) -> Said {
    Said { headers: vec![(name.to_owned(), value)], ..said }
}

#[test]
fn a_file_is_had_whole_or_not_at_all() {
    for service in OVER_HTTP {
        let file = file_of(service, "text/plain");
        let double = giving(None, || said(200, CONTENTS));
        assert_eq!(of(service, &double).fetch(&file, 100).unwrap(), CONTENTS.as_bytes(), "{service}");
        // It is longer than it was said to be, and longer than may be.
        let double = giving(None, || said(200, &"x".repeat(101)));
        let fault = of(service, &double).fetch(&file, 100).unwrap_err();
        assert!(matches!(fault, Fault::Refused { .. }), "{service}: {fault:?}");
        // It breaks off.
        let double = giving(None, || Said { missing: 9, ..said(200, CONTENTS) });
        let fault = of(service, &double).fetch(&file, 100).unwrap_err();
        assert!(matches!(fault, Fault::Away { .. }), "{service}: {fault:?}");
        for status in [403, 404, 410] {
            let double = giving(None, move || said(status, "gone"));
            let fault = of(service, &double).fetch(&file, 100).unwrap_err();
            assert!(matches!(fault, Fault::Refused { .. }), "{service} {status}: {fault:?}");
            assert!(!format!("{fault:?}").contains("SECRET"), "{service}: {fault:?}");
        }
    }
}

#[test]
fn no_file_is_fetched_from_elsewhere_and_no_page_is_one() {
    let elsewhere = Double::new(|_| said(200, CONTENTS));
    for service in OVER_HTTP {
        let file = file_of(service, "text/plain");
        let to = elsewhere.url();
        let double = giving(None, move || with(said(302, ""), "Location", format!("{to}/the.file")));
        let fault = of(service, &double).fetch(&file, 100).unwrap_err();
        assert!(matches!(fault, Fault::Refused { .. }), "{service}: {fault:?}");
        let page = || with(said(200, "<html>log in"), "Content-Type", "text/html; charset=utf-8".to_owned());
        let double = giving(None, page);
        let fault = of(service, &double).fetch(&file, 100).unwrap_err();
        assert!(fault.why().contains("a page instead of the file"), "{service}: {fault:?}");
        // One that was sent is a file as every other.
        let sent = file_of(service, "text/html");
        assert_eq!(of(service, &double).fetch(&sent, 100).unwrap(), b"<html>log in", "{service}");
    }
    assert_eq!(elsewhere.asked().len(), 0, "nobody was led elsewhere");
    // Those that name an address are not believed when it is that of another.
    for service in [Service::Slack, Service::Discord] {
        for base in
            ["https://evil.example", "https://files.slack.com.evil.example", "file:///etc", "//evil.example"]
        {
            let double = giving(Some(base), || said(200, CONTENTS));
            let fault = of(service, &double).fetch(&file_of(service, "text/plain"), 100).unwrap_err();
            assert!(matches!(fault, Fault::Refused { .. }), "{service} {base}: {fault:?}");
        }
    }
}

#[test]
fn what_a_service_can_do_is_what_its_adapter_does() {
    let double = Double::new(|_| said(404, "{}"));
    let known = OVER_HTTP.into_iter().chain([Service::Mail]);
    let plain = |service: &Service| !service.can_edit() && !service.has_buttons() && !service.takes_files();
    let others = Service::ALL.iter().filter(|one| !OVER_HTTP.contains(one) && **one != Service::Mail);
    assert!(others.copied().all(|one| plain(&one)), "one that can more is in the list");
    for service in known {
        let it = match service {
            Service::Mail => {
                let smtp = [("smtp", "smtp://127.0.0.1:9")];
                adapter(service, "imap://127.0.0.1:9", "SECRET pass", &smtp)
            }
            _ => of(service, &double),
        };
        let limits = it.limits();
        assert_eq!(
            (limits.edits, limits.buttons, limits.files),
            (service.can_edit(), service.has_buttons(), service.takes_files()),
            "{service}"
        );
    }
}

#[test]
fn a_line_is_changed_in_place_twice_in_the_same_words_and_loses_its_button() {
    for service in OVER_HTTP {
        let double = Double::new(move |asked: &Asked| match asked.path.as_str() {
            path if path.contains("joined_members") => json(&json!({ "joined": { "@a:x": {}, "@b:x": {} } })),
            _ => json(
                &json!({ "ok": true, "ts": "17", "event_id": "$e", "id": "17", "result": { "message_id": 17 } }),
            ),
        });
        let mut it = of(service, &double);
        let stop = Button { label: "Stop".to_owned(), data: "ABCDEFGHABCDEFGH".to_owned() };
        let buttons: Vec<Button> = Some(stop).filter(|_| it.limits().buttons).into_iter().collect();
        let first = it.send(&Outgoing { buttons, ..words(chat_of(service), "Working: x") }).unwrap();
        let asked = double.asked().pop().unwrap().text();
        assert_eq!(asked.contains("ABCDEFGHABCDEFGH"), it.limits().buttons, "{service}");
        let over = Outgoing { edit_of: Some(first), ..words(chat_of(service), "Done in 2 min: x") };
        it.send(&over).unwrap();
        let once = double.asked().pop().unwrap();
        it.send(&over).unwrap();
        let twice = double.asked().pop().unwrap();
        assert_eq!(
            (&once.method, &once.path, &once.body),
            (&twice.method, &twice.path, &twice.body),
            "{service}"
        );
        assert!(once.text().contains("Done in 2 min") && !once.text().contains("ABCDEFGH"), "{service}");
    }
}

#[test]
fn a_text_that_is_cut_goes_with_the_whole_of_it_as_a_file() {
    // As the kernel cuts it: what every service takes beside a file.
    let text = format!("{}… The whole text is in the file.", "w\u{f6}rter ".repeat(110));
    for service in OVER_HTTP {
        let double = Double::new(|asked: &Asked| {
            let at = format!("http://{}", asked.headers["host"]);
            match asked.path.as_str() {
                path if path.contains("joined_members") => json(&json!({ "joined": {} })),
                path if path.contains("getUploadURLExternal") => {
                    json(&json!({ "ok": true, "upload_url": format!("{at}/up"), "file_id": "F1" }))
                }
                _ => json(&json!({
                    "ok": true, "content_uri": "mxc://example.org/f", "event_id": "$e", "id": "17", "result": { "message_id": 17 },
                })),
            }
        });
        let bytes = "the whole text ".repeat(400).into_bytes();
        let file = OutFile {
            name: "message.md".to_owned(),
            media_type: "text/markdown".to_owned(),
            bytes: bytes.clone(),
        };
        let out = Outgoing { file: Some(file), ..words(chat_of(service), &text) };
        let sent = of(service, &double).send(&out);
        assert!(sent.is_ok(), "{service}: {sent:?}");
        let whole = double
            .asked()
            .iter()
            .any(|asked| asked.body.windows(bytes.len()).any(|part| part == bytes.as_slice()));
        assert!(whole, "{service}");
    }
}
