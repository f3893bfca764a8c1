//! Anchors by the program: nothing is set by itself, a card says what goes where, and what comes of it can be checked by anybody.

use crate::bench::{APPROVAL, Bench, text};
use std::sync::Arc;
use testkit::pty::Pty;
use testkit::{AuthorityMood, CalendarMood, TestCalendar, TestChain, time_authority};

/// Says yes to what leaves the machine.
fn allow(terminal: &mut Pty) {
    terminal.expect("Approve?").send("y\r");
    terminal.expect("High risk. Type `high`").send("high\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
}

#[conforms::conforms(part = "HV-3.6-3")]
#[test]
fn a_head_is_anchored_by_an_authority_at_once_and_by_a_calendar_when_a_block_holds_it() {
    let bench = Bench::new();
    let chain = Arc::new(TestChain::default());
    let calendar = TestCalendar::begin(&chain);
    let url = calendar.server.url("");
    let mut set = vec!["anchor", "clocks", "set", "--calendar", &url, "--depth", "3"];
    // There is no `openssl` on every machine.
    let authority = time_authority(AuthorityMood::Signs);
    let address = authority.as_ref().map(|server| server.url("/tsr"));
    if let Some(address) = &address {
        set.extend(["--authority", address]);
    }
    bench.run(&set).ends_with(0);
    let mut terminal = bench.terminal(&["anchor", "now"]);
    for _ in 0..=usize::from(authority.is_some()) {
        allow(&mut terminal);
    }
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("SEND 32 bytes"), "{shown}");
    assert!(calendar.server.heard().iter().all(|heard| heard.bytes.len() == 32));
    let anchor = bench.run(&["anchor", "show", "1", "--json"]).ends_with(0).json();
    let state = |anchor: &serde_json::Value, clock: &str| {
        let all = anchor["clocks"].as_array().unwrap();
        all.iter().find(|one| one["clock"] == clock).map(|one| text(&one["state"]))
    };
    assert_eq!(state(&anchor, "opentimestamps").as_deref(), Some("pending"));
    if authority.is_some() {
        assert_eq!(state(&anchor, "rfc3161").as_deref(), Some("anchored"));
        assert!(anchor["not_after"].is_i64(), "{anchor}");
    }
    calendar.becomes(CalendarMood::Confirms);
    let mut terminal = bench.terminal(&["anchor", "complete"]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let anchor = bench.run(&["anchor", "show", "1", "--json"]).ends_with(0).json();
    assert_eq!(state(&anchor, "opentimestamps").as_deref(), Some("pending"), "by the calendar's word alone");
    let headers = bench.path("headers.txt");
    std::fs::write(&headers, chain.headers_file(2)).unwrap();
    bench.run(&["anchor", "clocks", "set", "--headers-file", headers.to_str().unwrap()]).ends_with(0);
    let mut terminal = bench.terminal(&["anchor", "complete", "1"]);
    allow(&mut terminal);
    let (code, shown) = terminal.end();
    assert_eq!(code, 0, "{shown}");
    let anchor = bench.run(&["anchor", "show", "1", "--json"]).ends_with(0).json();
    assert_eq!(state(&anchor, "opentimestamps").as_deref(), Some("anchored"), "{anchor}");
    let block = anchor["clocks"].as_array().unwrap().iter().find(|one| one["clock"] == "opentimestamps");
    assert_eq!(block.unwrap()["depth"], 3);
    bench.run(&["ledger", "verify"]).ends_with(0);
}
