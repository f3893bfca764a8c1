//! What a host may be made to say, and whom a tunnel may reach: nothing that a command was not given.

use crate::reaching::{
    Duplex, VALUE, Vault, in_tls, listening, reach, request, server, tls_server, world, world_that_believes,
    world_with,
};
use acts::Action;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conforms::conforms;
use model::RelPath;
use model::receipt::ResultCode;
use model::secret::SecretPlace;
use std::sync::mpsc;
use std::time::Duration;

/// What a host that keeps a value may be made to say, by path; each answer ends with a mark.
fn gossip(stream: &mut dyn Duplex, send: &mpsc::Sender<String>) -> bool {
    let said = String::from_utf8_lossy(&request(stream)).into_owned();
    let path = said.split(' ').nth(1).unwrap_or_default();
    let json = VALUE.replace('-', "\\u002d");
    let body = match path {
        "/hex" => VALUE.bytes().map(|b| format!("{b:02x}")).collect(),
        "/base64" => STANDARD.encode(format!("me:{VALUE}")),
        "/percent" => VALUE.bytes().map(|b| format!("%{b:02X}")).collect(),
        "/json" => format!("{{\"half\":\"{}\",\"all\":\"{json}\"}}", VALUE.get(..20).unwrap()),
        "/lines" => {
            VALUE.as_bytes().chunks(4).map(|p| String::from_utf8_lossy(p).into_owned() + "\n").collect()
        }
        "/range" if said.contains("ange:") => VALUE.get(..16).unwrap().to_owned(),
        "/range" | "/chunks" | "/close" | "/gzip" | "/part" => VALUE.to_owned(),
        _ => String::new(),
    } + " END";
    let fields = match path {
        "/head" => format!("X-Key: {VALUE}\r\nContent-Length: 4"),
        "/gzip" => format!("Content-Encoding: gzip\r\nContent-Length: {}", body.len()),
        "/close" => "X: y".to_owned(),
        "/chunks" => "Transfer-Encoding: chunked".to_owned(),
        _ => format!("Content-Length: {}", body.len()),
    };
    let body = match path {
        "/chunks" => {
            let chunks = body.as_bytes().chunks(3);
            chunks.map(|p| format!("{:x}\r\n{}\r\n", p.len(), String::from_utf8_lossy(p))).collect::<String>()
                + "0\r\n\r\n"
        }
        _ => body,
    };
    let status = if path == "/part" { "206 Partial Content" } else { "200 OK" };
    let _ = write!(stream, "HTTP/1.1 {status}\r\n{fields}\r\n\r\n{body}");
    said.is_empty() || send.send(said).is_ok()
}

#[conforms("HK-17.3-1")]
#[test]
fn whatever_form_a_host_gives_a_value_back_in_the_command_does_not_get_it() {
    let (port, heard, certificate) = in_tls(gossip);
    let (plain_port, plainly) = listening(|mut stream, send| gossip(&mut stream, send));
    let secure = format!("127.0.0.1:{port}");
    let plain = format!("127.0.0.1:{plain_port}");
    for (scheme, host, heard) in [("https", &secure, &heard), ("http", &plain, &plainly)] {
        let world = world_that_believes(host.clone(), vec![certificate.clone()]);
        let paths = "hex base64 percent json lines range chunks close gzip part head";
        let script = format!(
            "for path in {paths}; do echo \"[$path]\"; curl -sS -i -u me:$HERMIT_SECRET_API -r 0-15 \
             {scheme}://{host}/$path 2>&1; echo; done; curl -sS -X TRACE -H \"X: $HERMIT_SECRET_API\" {scheme}://{host}/ 2>&1; \
             curl -sS {scheme}://{host}/$HERMIT_SECRET_API 2>&1; curl -sS -u me:$HERMIT_SECRET_API {scheme}://{host}/none"
        );
        let (outcome, said) = reach(&world, &script, std::slice::from_ref(host), &["api"]);
        let stdout = said["stdout"].as_str().unwrap();
        let told = outcome.observed.join("\n");
        assert_eq!(
            stdout.matches("END").count(),
            1,
            "{scheme}: only the answer without a value is whole: {stdout}"
        );
        for (form, half) in [
            ("plain", VALUE.get(16..).unwrap().to_owned()),
            ("base64", STANDARD.encode(format!("me:{VALUE}"))),
        ] {
            assert!(!stdout.contains(&half), "{scheme}, {form}: {stdout}");
        }
        assert!(
            stdout.contains("answered with themselves") && stdout.contains("not in an address"),
            "{stdout}"
        );
        assert!(told.matches("the answer shows `secret:api`").count() >= 8, "{told}");
        let all: Vec<String> = heard.try_iter().collect();
        assert_eq!(all.len(), 12, "neither TRACE nor an address with a value was sent: {all:?}");
        assert!(all.iter().all(|one| !one.to_lowercase().contains("range:")), "{all:?}");
        assert!(all[0].contains(&STANDARD.encode(format!("me:{VALUE}"))), "{all:?}");
    }
}

#[test]
fn a_value_goes_into_an_address_where_its_terms_say_so() {
    let (port, heard) = server();
    let host = format!("127.0.0.1:{port}");
    let world = world_with(Vault(host.clone(), Vec::new(), vec![SecretPlace::Url]));
    let script = format!("curl -sS http://{host}/thanks/bot$HERMIT_SECRET_API/me -d $HERMIT_SECRET_API");
    let (_, said) = reach(&world, &script, std::slice::from_ref(&host), &["api"]);
    assert!(said["stdout"].as_str().unwrap().contains("fine, thanks"), "{said}");
    let sent = heard.recv_timeout(Duration::from_secs(300)).unwrap();
    assert!(sent.starts_with(&format!("POST /thanks/bot{VALUE}/me HTTP/1.1")), "{sent}");
    assert!(sent.contains("\r\n\r\nhermit-api-"), "{sent}");
}

#[test]
fn a_tunnel_to_a_name_carries_tls_for_that_name_and_nothing_else() {
    let (port, heard, _) = tls_server();
    let host = format!("localhost:{port}");
    let world = world(String::new());
    let client = format!("openssl s_client -quiet -proxy 127.0.0.1:3128 -connect {host}");
    let ask = "printf 'GET /thanks HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'";
    let raw = format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT {host} HTTP/1.1\\r\\n\\r\\nGET / HTTP/1.1\\r\\nHost: evil.net\\r\\n\\r\\n' >&3; cat <&3"
    );
    for (script, why) in [
        (
            format!("{ask} | {client} -servername tenant.example 2>&1"),
            "TLS inside it asks for `tenant.example`",
        ),
        (format!("{ask} | {client} -noservername 2>&1"), "does not say whom it asks for"),
        (raw, "carries TLS or SSH, and nothing else"),
    ] {
        let (outcome, said) = reach(&world, &script, std::slice::from_ref(&host), &[]);
        let told = outcome.observed.join("\n");
        assert!(told.contains("refused") && told.contains(why), "{why}: {told} {said}");
        assert!(heard.try_recv().is_err(), "{why}: somebody heard it");
    }
    let script = format!("{ask} | {client} -servername localhost 2>&1");
    let (outcome, said) = reach(&world, &script, std::slice::from_ref(&host), &[]);
    assert!(said["stdout"].as_str().unwrap().contains("thanks"), "{said} {outcome:?}");
    assert!(heard.recv_timeout(Duration::from_secs(60)).unwrap().starts_with("GET /thanks"));
}

#[test]
fn a_grant_without_a_host_or_a_secret_does_not_become_one_with_it() {
    let (port, heard) = server();
    let host = format!("127.0.0.1:{port}");
    let world = world(host.clone());
    let action = |hosts: Vec<String>, secrets: Vec<String>| {
        Action::Command(acts::Command {
            argv: vec!["true".to_owned()],
            cwd: RelPath::ROOT,
            network: true,
            timeout_ms: 20_000,
            hosts,
            secrets,
        })
    };
    for (asked, lacks) in [
        (action(vec![host.clone()], Vec::new()), "host"),
        (action(vec![host], vec!["api".to_owned()]), "secret"),
    ] {
        let request = world.request(asked);
        let mut grant = world.grant(&request);
        match lacks {
            "host" => grant.network_scope = vec!["example.org:443".to_owned()],
            _ => grant.secret_scope.clear(),
        }
        if let Ok(authorization) = governance::authorize(&grant, &request, 0, crate::support::NOW) {
            let outcome = world.executors.perform(authorization, &request, &|| false, &mut |_| {});
            assert_eq!(outcome.result_code, ResultCode::Failed, "{outcome:?}");
            assert!(outcome.error.unwrap().contains("the grant does not name"));
        }
    }
    assert!(heard.try_recv().is_err());
}

#[conforms(part = "HK-17.3-3")]
#[test]
fn a_server_of_this_machine_is_asked_without_tls_in_a_tunnel_and_hears_the_value_of_its_key() {
    let (port, heard) = server();
    let host = format!("127.0.0.1:{port}");
    let world = world(host.clone());
    let ask = "curl -sS -p -x http://127.0.0.1:3128 -H \"X: $HERMIT_SECRET_API\"";
    let (outcome, said) =
        reach(&world, &format!("{ask} http://{host}/a"), std::slice::from_ref(&host), &["api"]);
    // It says everything again that it hears, and is cut off where that is the value.
    assert!(outcome.observed.join("\n").contains("the answer shows `secret:api`"), "{outcome:?}");
    let sent = heard.recv_timeout(Duration::from_secs(300)).unwrap();
    assert!(sent.starts_with("GET /a HTTP/1.1\r\n") && sent.contains(&format!("X: {VALUE}")), "{sent}");
    assert!(!format!("{said} {:?}", outcome.observed).contains(VALUE), "{said}");
    let elsewhere = format!("{ask} -H 'Host: evil.net' http://{host}/");
    let (outcome, said) = reach(&world, &elsewhere, std::slice::from_ref(&host), &["api"]);
    let told = outcome.observed.join("\n");
    assert!(told.contains("refused") && told.contains("is asked for in it"), "{told} {said}");
    assert!(heard.try_recv().is_err(), "somebody heard it");
}
