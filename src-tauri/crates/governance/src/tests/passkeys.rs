//! Where a passkey can be used.

use crate::approval::rp_id_of;

#[test]
fn a_passkey_is_for_the_name_in_its_origin_by_https_or_on_this_machine() {
    for (origin, host) in [
        ("http://localhost:7717", "localhost"),
        ("http://localhost", "localhost"),
        ("http://hermit.localhost:1", "hermit.localhost"),
        ("https://desk.example.org", "desk.example.org"),
        ("https://desk.example.org:8443", "desk.example.org"),
        ("https://desk", "desk"),
        ("https://7.example", "7.example"),
        ("hermit:security-key", "hermit:security-key"),
    ] {
        assert_eq!(rp_id_of(origin), Ok(host), "{origin}");
    }
    let long = format!("https://{}.example", "a".repeat(400));
    for origin in [
        "http://127.0.0.1:7717",
        "https://192.168.1.2",
        "https://[::1]:7717",
        "http://desk.example.org",
        "http://localhost.example.org",
        "ftp://localhost",
        "localhost:7717",
        "https://",
        "https://a..b",
        "https://a.b.",
        "https://a.b/",
        "https://user@a.b",
        "https://A.b",
        "https://a.b:08443",
        "https://a.b:70000",
        "https://a.b:",
        "null",
        "",
        "hermit:security-key:1",
        "hermit:mesh",
        "hermit:mesh:1",
        "https://hermit:mesh",
        "hermit:",
        "hermit://security-key",
        "http://hermit:security-key",
        long.as_str(),
    ] {
        let refused = rp_id_of(origin).map_err(|refusal| refusal.code);
        assert_eq!(refused, Err("passkey_origin"), "{origin}");
    }
}
