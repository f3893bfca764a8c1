//! Messages of programs: whoever brings one shows no token and gains none, and what is not signed is told nothing. What becomes of one
//! that is signed is shown where a host has adapters: `journeys::webhook`.

use crate::elsewhere::{NAME, reached};
use crate::hooks::SECRET;
use crate::{Got, Open, open};
use api::Host as _;
use seal::webhook::sign;

impl Open {
    fn message(&self, gateway: &str, more: &[(&str, &str)], body: &[u8]) -> Got {
        let at = (self.home.now().0 / 1000).to_string();
        let signature = sign(SECRET.as_bytes(), "msg_1", &at, body);
        let signed = [
            ("webhook-id", "msg_1"),
            ("webhook-timestamp", at.as_str()),
            ("webhook-signature", signature.as_str()),
        ];
        let headers: Vec<(&str, &str)> = signed.into_iter().chain(more.iter().copied()).collect();
        self.ask("POST", &format!("/v1/messages/{gateway}"), &headers, body)
    }
}

#[test]
fn what_is_refused_is_refused_in_the_same_words_and_the_path_opens_nothing_beside_it() {
    let open = open(330);
    let body = b"{\"sender\":\"kim\",\"text\":\"hello\"}".as_slice();
    let bearer = open.bearer();
    let refused = [
        open.message("family", &[], body),
        open.message("De%2Fploy", &[], body),
        open.message("family", &[("authorization", &bearer)], body),
        open.ask("POST", "/v1/messages/family", &[], body),
        open.ask("POST", "/v1/messages/family", &[("webhook-id", "msg_1")], body),
    ];
    for (at, got) in refused.iter().enumerate() {
        assert_eq!((got.status, &got.body), (403, &refused[0].body), "{at}: {}", got.json());
        assert!(got.header("set-cookie").is_none());
    }
    assert_eq!(open.ask("GET", "/v1/messages/family", &[], &[]).status, 405);
    for foreign in
        [("host", "chat.example.org"), ("origin", "http://example.org"), ("sec-fetch-site", "cross-site")]
    {
        assert_eq!(open.message("family", &[foreign], body).status, 403, "{foreign:?}");
    }
    assert_eq!(open.message("family", &[], &vec![b'x'; 128 * 1024 + 1]).status, 413);
}

#[test]
fn of_more_than_some_that_are_refused_nothing_is_told_and_none_comes_by_the_name_for_other_devices() {
    let open = reached(331);
    assert_eq!(open.message("family", &[("host", NAME)], b"{}").status, 403);
    let statuses: Vec<u16> =
        (0..640).map(|_| open.ask("POST", "/v1/messages/nobody", &[], b"x").status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 403).count(), 600);
    assert_eq!((statuses[0], statuses[639]), (403, 429));
    assert_eq!(open.message("family", &[], b"{}").status, 429, "nobody who may has signed it");
    assert_eq!(
        open.ask("POST", "/v1/hooks/nobody", &[], b"x").status,
        403,
        "hooks are counted by themselves"
    );
    open.home.world.clock.advance(60_000);
    assert_eq!(open.message("family", &[], b"{}").status, 403);
}
