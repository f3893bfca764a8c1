//! Gateways by the program: what is missing is named.

use crate::bench::Bench;

#[test]
fn what_a_service_needs_is_named_where_nobody_can_be_asked_and_nothing_is_kept() {
    let bench = Bench::new();
    let server = bench.run(&["gateway", "add", "matrix"]).ends_with(2);
    assert!(server.err.contains("--address"), "{}", server.err);
    let smtp = ["gateway", "add", "mail", "--user", "hermit@example.org", "--address", "imap.example.org"];
    let sending = bench.run(&smtp).ends_with(2);
    assert!(sending.err.contains("--setting smtp=VALUE"), "{}", sending.err);
    let confirms = [&smtp[..], &["--setting", "smtp=smtp.example.org"]].concat();
    let confirms = bench.run(&confirms).ends_with(2);
    assert!(confirms.err.contains("--setting authserv_id=VALUE"), "{}", confirms.err);
    let token = bench.run(&["gateway", "add", "telegram"]).ends_with(2);
    assert!(token.err.contains("no value was given"), "{}", token.err);
    bench.run(&["gateway", "add", "pigeon"]).ends_with(2);
    bench.run(&["gateway", "add", "telegram", "--setting", "smtp"]).ends_with(2);
    let secrets = bench.run(&["secret", "list", "--json"]).ends_with(0).json();
    assert_eq!(secrets["secrets"].as_array().unwrap().len(), 0);
    let listed = bench.run(&["gateway", "list"]).ends_with(0);
    assert!(listed.out.contains("nobody can approve"), "{}", listed.out);
    bench.run(&["gateway", "show", "family"]).ends_with(1);
}
