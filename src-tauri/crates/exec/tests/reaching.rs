//! Commands with the network: through our proxy, to hosts that were named, and in no other way.
#![allow(clippy::disallowed_methods, reason = "the forge is git itself")]

use crate::support::World;
use acts::Action;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conforms::conforms;
use effects::{Outcome, Sandbox, Secrets};
use model::RelPath;
use model::receipt::ResultCode;
use model::secret::{SecretPlace, SecretTerms};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;
use zeroize::Zeroizing;

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");
pub const VALUE: &str = "v4lue-of-a-token-that-nobody-sees";

/// Hands out one token, for one host, and believes one authority.
pub struct Vault(pub String, pub Vec<Vec<u8>>, pub Vec<SecretPlace>);

impl Secrets for Vault {
    fn value(&self, handle: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        if handle == "api" { Ok(Zeroizing::new(VALUE.into())) } else { Err("there is none".to_owned()) }
    }

    fn terms(&self, _: &str) -> SecretTerms {
        SecretTerms { hosts: vec![self.0.clone()], also_in: self.2.clone() }
    }

    fn authorities(&self) -> Vec<Vec<u8>> {
        self.1.clone()
    }
}

pub fn walls() -> Sandbox {
    static WALLS: OnceLock<Sandbox> = OnceLock::new();
    WALLS.get_or_init(|| Sandbox::probe(Path::new(EXEC))).clone()
}

/// A server that answers every request with what it was sent, and tells the test.
pub fn server() -> (u16, mpsc::Receiver<String>) {
    listening(echo)
}

/// The same in TLS, with a certificate of its own for `127.0.0.1`, and that certificate.
pub fn tls_server() -> (u16, mpsc::Receiver<String>, Vec<u8>) {
    in_tls(|stream, send| echo(stream, send))
}

pub fn in_tls(
    serve: impl Fn(&mut dyn Duplex, &mpsc::Sender<String>) -> bool + Send + 'static,
) -> (u16, mpsc::Receiver<String>, Vec<u8>) {
    let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let der = own.cert.der().clone();
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![der.clone()], key).unwrap());
    let (port, heard) = listening(move |stream, send| {
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
        let goes_on = serve(&mut stream, send);
        stream.conn.send_close_notify();
        let _ = stream.flush();
        goes_on
    });
    (port, heard, der.to_vec())
}

pub trait Duplex: Read + Write {}
impl<S: Read + Write> Duplex for S {}

pub fn listening(
    serve: impl Fn(TcpStream, &mpsc::Sender<String>) -> bool + Send + 'static,
) -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || listener.incoming().flatten().all(|stream| serve(stream, &send)));
    (port, receive)
}

/// One request, answered with itself, or with thanks; whether anybody still listens. A client that says nothing is not
/// told of.
fn echo(mut stream: impl Read + Write, send: &mpsc::Sender<String>) -> bool {
    let bytes = request(&mut stream);
    let said = String::from_utf8_lossy(&bytes).into_owned();
    if said.contains(" /thanks") {
        let chunks = "6\r\nfine, \r\n6;x=y\r\nthanks\r\n0\r\nX-Trailer: z\r\n\r\n";
        let _ = write!(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        return send.send(said).is_ok();
    }
    let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{said}", said.len());
    bytes.is_empty() || send.send(said).is_ok()
}

pub fn request(stream: &mut (impl Read + ?Sized)) -> Vec<u8> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    while !whole(&bytes) && !bytes.starts_with(b"raw") {
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
            _ => break,
        }
    }
    bytes
}

/// A head and all of the body that it says there is.
fn whole(bytes: &[u8]) -> bool {
    let Some((head, body)) = parted(bytes) else { return false };
    match field(&head, "Transfer-Encoding") {
        Some(_) => body.ends_with(b"0\r\n\r\n"),
        None => body.len() >= field(&head, "Content-Length").map_or(0, |length| length.parse().unwrap()),
    }
}

fn parted(bytes: &[u8]) -> Option<(String, &[u8])> {
    let end = bytes.windows(4).position(|part| part == b"\r\n\r\n")?;
    Some((String::from_utf8_lossy(&bytes[..end]).into_owned(), &bytes[end + 4..]))
}

fn field<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let pairs = head.lines().filter_map(|line| line.split_once(": "));
    pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|part| part == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
    whole
}

/// Real git behind a password, over HTTP: what a push meets at any forge.
fn forge(root: &Path, stream: &mut dyn Duplex, send: &mpsc::Sender<String>) -> bool {
    let bytes = request(stream);
    let Some((head, body)) = parted(&bytes) else { return true };
    let said = format!("Basic {}", STANDARD.encode(format!("me:{VALUE}")));
    if field(&head, "Authorization") != Some(&said) {
        let ask = "WWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0";
        return write!(stream, "HTTP/1.1 401 Unauthorized\r\n{ask}\r\n\r\n").is_ok();
    }
    let chunked = field(&head, "Transfer-Encoding").is_some();
    let body = if chunked { unchunked(body) } else { body.to_vec() };
    let mut first = head.lines().next().unwrap().split(' ');
    let (method, target) = (first.next().unwrap(), first.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut backend = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "me")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("CONTENT_TYPE", field(&head, "Content-Type").unwrap_or_default())
        .env("HTTP_CONTENT_ENCODING", field(&head, "Content-Encoding").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    backend.stdin.take().unwrap().write_all(&body).unwrap();
    let answer = backend.wait_with_output().unwrap().stdout;
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").and_then(|()| stream.write_all(&answer));
    send.send(format!("{method} {target}{}", if chunked { " in chunks" } else { "" })).is_ok()
}

pub fn reach(world: &World, script: &str, hosts: &[String], secrets: &[&str]) -> (Outcome, Value) {
    let action = Action::Command(acts::Command {
        argv: ["bash", "-c", script].map(str::to_owned).to_vec(),
        cwd: RelPath::ROOT,
        network: true,
        timeout_ms: 20_000,
        hosts: hosts.to_vec(),
        secrets: secrets.iter().map(|s| (*s).to_owned()).collect(),
    });
    let outcome = world.perform(&world.request(action));
    let said = outcome.outputs.first().map_or(Value::Null, |o| serde_json::from_slice(&o.bytes).unwrap());
    (outcome, said)
}

pub fn world(may_go: String) -> World {
    world_that_believes(may_go, Vec::new())
}

pub fn world_that_believes(may_go: String, authorities: Vec<Vec<u8>>) -> World {
    world_with(Vault(may_go, authorities, Vec::new()))
}

pub fn world_with(vault: Vault) -> World {
    let mut world = World::with(walls());
    world.executors = world.executors.with_secrets(Arc::new(vault));
    world
}

/// Asks the proxy for an address and prints what comes back.
const ASK: &str = "ask() { exec 3<>/dev/tcp/127.0.0.1/3128; printf '%b' \"$1\" >&3; cat <&3; exec 3>&-; }; ";

#[test]
fn a_host_that_was_named_is_reached_and_each_connection_is_on_record() {
    let (port, heard) = server();
    let host = format!("127.0.0.1:{port}");
    let world = world(String::new());
    let script = format!(
        "{ASK} ask 'GET http://{host}/a?b HTTP/1.1\\r\\nHost: other\\r\\n\\r\\n'; echo; echo $http_proxy"
    );
    let (outcome, said) = reach(&world, &script, std::slice::from_ref(&host), &[]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?} {said}");
    let sent = heard.recv_timeout(Duration::from_secs(300)).unwrap();
    assert!(sent.starts_with("GET /a?b HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains(&format!("Host: {host}\r\n")) && !sent.contains("other"), "{sent}");
    assert!(said["stdout"].as_str().unwrap().contains("http://127.0.0.1:3128"), "{said}");
    let told = outcome.observed.join("\n");
    let line = format!("network: {host} at 127.0.0.1: allowed, {} bytes sent", sent.len());
    assert!(told.contains(&line), "{told}");
}

#[test]
fn a_tunnel_carries_bytes_as_they_are() {
    let (port, heard) = server();
    let host = format!("127.0.0.1:{port}");
    let world = world("127.0.0.1:1".to_owned());
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT {host} HTTP/1.1\\r\\n\\r\\n' >&3; \
         read -r line <&3; echo \"$line\"; printf 'raw %s' \"$HERMIT_SECRET_API\" >&3; cat <&3"
    );
    let (outcome, said) = reach(&world, &script, &[host], &["api"]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?} {said}");
    assert!(said["stdout"].as_str().unwrap().contains("200 Connection established"), "{said}");
    let sent = heard.recv_timeout(Duration::from_secs(300)).unwrap();
    assert!(
        sent.starts_with("raw hermit-api-") && !sent.contains(VALUE),
        "nobody opens what goes through: {sent}"
    );
}

/// Four clients that people use, each with its own way to find out whom to trust.
const CLIENTS: [(&str, &str); 4] = [
    (
        "curl",
        "curl -sS -H \"Authorization: Bearer $HERMIT_SECRET_API\" -d body=$HERMIT_SECRET_API https://HOST/a?b",
    ),
    (
        "python3",
        "python3 -c 'import os, urllib.request as u; k = os.environ[\"HERMIT_SECRET_API\"]; \
         print(u.urlopen(u.Request(\"https://HOST/a?b\", (\"body=\" + k).encode(), \
         {\"Authorization\": \"Bearer \" + k})).read().decode())'",
    ),
    (
        "openssl",
        "B=body=$HERMIT_SECRET_API; printf \"POST /a?b HTTP/1.1\\r\\nHost: HOST\\r\\nAuthorization: Bearer \
         $HERMIT_SECRET_API\\r\\nContent-Length: ${#B}\\r\\n\\r\\n$B\" | openssl s_client -quiet -verify_return_error \
         -verify_ip 127.0.0.1 -proxy 127.0.0.1:3128 -connect HOST",
    ),
    (
        "git",
        "git -c http.extraHeader=\"Authorization: Bearer $HERMIT_SECRET_API\" ls-remote https://HOST/a 2>&1 || true",
    ),
];

#[conforms("HK-17.3-1", "HK-17.3-3")]
#[test]
fn in_tls_too_the_secrets_own_host_sees_the_value_and_the_command_a_sentinel() {
    let (port, heard, certificate) = tls_server();
    let host = format!("127.0.0.1:{port}");
    let world = world_with(Vault(host.clone(), vec![certificate], vec![SecretPlace::Body]));
    for (client, script) in CLIENTS {
        let script = script.replace("HOST", &host);
        let thanked = script.replace("/a?b", "/thanks");
        if client != "git" {
            let (outcome, said) = reach(&world, &thanked, std::slice::from_ref(&host), &["api"]);
            assert!(
                said["stdout"].as_str().unwrap().contains("fine, thanks"),
                "{client}: {said} {outcome:?}"
            );
            assert_eq!(said["exit_code"], 0, "{client}: {said}");
            assert!(heard.recv_timeout(Duration::from_secs(60)).unwrap().contains(VALUE));
        }
        let (outcome, said) = reach(&world, &script, std::slice::from_ref(&host), &["api"]);
        let sent = heard.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("{client}: {said}"));
        assert!(sent.contains(&format!("Bearer {VALUE}")), "{client}: {sent}");
        assert!(sent.contains(&format!("Host: {host}\r\nConnection: close\r\n")), "{client}: {sent}");
        let told = outcome.observed.join("\n");
        assert!(told.contains(&format!("network: {host} at 127.0.0.1: allowed")), "{client}: {told}");
        let all = format!("{said} {told}");
        assert!(!all.contains(VALUE), "{client}: {all}");
        if client != "git" {
            assert!(sent.ends_with(&format!("body={VALUE}")), "{client}: {sent}");
            assert!(told.contains("the answer shows `secret:api` and was cut off there"), "{client}: {told}");
        }
    }
}

#[conforms("HK-17.3-1")]
#[test]
fn a_push_to_a_forge_carries_a_token_that_git_never_sees() {
    let root = tempfile::tempdir().unwrap();
    let bare = root.path().join("project.git");
    let git = |words: &[&str]| Command::new("git").args(words).output().unwrap();
    assert!(git(&["init", "-q", "--bare", "-b", "main", bare.to_str().unwrap()]).status.success());
    let served = root.path().to_owned();
    let (port, heard, certificate) = in_tls(move |stream, send| forge(&served, stream, send));
    let host = format!("127.0.0.1:{port}");
    let world = world_that_believes(host.clone(), vec![certificate]);
    // More than git sends in one piece, and nothing that it could make smaller.
    let noise: Vec<u8> = (0_u32..60_000)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).rotate_left(n % 32).to_le_bytes())
        .collect();
    world.put("noise", noise);
    let script = format!(
        "git config --global safe.directory '*'; git init -q -b main; git add noise; \
         git -c user.name=A -c user.email=a@example.org commit -q -m one; git rev-parse HEAD; \
         git -c http.postBuffer=65536 push -q https://me:$HERMIT_SECRET_API@{host}/project.git main 2>&1; echo ended $?"
    );
    let (outcome, said) = reach(&world, &script, std::slice::from_ref(&host), &["api"]);
    let stdout = said["stdout"].as_str().unwrap();
    assert!(stdout.ends_with("ended 0\n"), "{said} {:?}", outcome.observed);
    let there = git(&["--git-dir", bare.to_str().unwrap(), "rev-parse", "main"]).stdout;
    assert_eq!(String::from_utf8(there).unwrap().trim(), stdout.lines().next().unwrap());
    let asked: Vec<String> = heard.try_iter().collect();
    assert!(
        asked.iter().any(|one| one.starts_with("POST /project.git/git-receive-pack in chunks")),
        "{asked:?}"
    );
    let told = format!("{said} {:?}", outcome.observed);
    assert!(!told.contains(VALUE) && !told.contains(&STANDARD.encode(format!("me:{VALUE}"))), "{told}");
}

#[conforms("HK-17.3-3")]
#[test]
fn in_tls_no_value_goes_to_a_server_that_nobody_vouches_for_or_to_another_that_is_served_there() {
    let (port, heard, certificate) = tls_server();
    let host = format!("127.0.0.1:{port}");
    let ask = "curl -sS -H \"X: $HERMIT_SECRET_API\"";
    for (why, believed, script) in [
        ("did not answer", Vec::new(), format!("{ask} https://{host}/")),
        (
            "is asked for in it",
            vec![certificate.clone()],
            format!("{ask} -H 'Host: evil.net' https://{host}/"),
        ),
    ] {
        let world = world_that_believes(host.clone(), believed);
        let (outcome, said) = reach(&world, &script, std::slice::from_ref(&host), &["api"]);
        let told = outcome.observed.join("\n");
        assert!(told.contains("refused") && told.contains(why), "{why}: {told} {said}");
        assert!(heard.try_recv().is_err(), "{why}: somebody heard it");
    }
    // A body that is shorter than it says: what has left is told, and that it was broken off.
    let world = world_that_believes(host.clone(), vec![certificate.clone()]);
    let cut = format!(
        "printf 'POST / HTTP/1.1\\r\\nHost: {host}\\r\\nContent-Length: 9\\r\\n\\r\\nshort' | openssl s_client -quiet \
         -no_ign_eof -proxy 127.0.0.1:3128 -connect {host}; true"
    );
    let (outcome, said) = reach(&world, &cut, std::slice::from_ref(&host), &["api"]);
    let told = outcome.observed.join("\n");
    assert!(told.contains("allowed, and broken off") && told.contains(" bytes sent"), "{told} {said}");
    // Another command, without the secret, is not given anybody to trust, and trusts nobody here.
    let world = world_that_believes(host.clone(), vec![certificate]);
    let (_, said) =
        reach(&world, &format!("echo ${{SSL_CERT_FILE-none}}; curl -sS https://{host}/ 2>&1"), &[host], &[]);
    let stdout = said["stdout"].as_str().unwrap();
    assert!(stdout.starts_with("none\n") && stdout.contains("certificate"), "{said}");
}

#[conforms("HK-17.3-1", "HK-17.3-3")]
#[test]
fn a_command_holds_a_sentinel_and_only_the_secrets_own_host_sees_the_value() {
    let ((port, heard), (other, elsewhere)) = (server(), server());
    let (host, other) = (format!("127.0.0.1:{port}"), format!("127.0.0.1:{other}"));
    let world = world(host.clone());
    let body = "{\\\"k\\\":\\\"$HERMIT_SECRET_API\\\"}";
    let post = |host: &str| {
        format!(
            "ask \"POST http://{host}/ HTTP/1.1\\r\\nAuthorization: Bearer $HERMIT_SECRET_API\\r\\nContent-Length: 41\\r\\n\\r\\n{body}\"; echo; "
        )
    };
    let script = format!("{ASK} {} {} echo \"${{#HERMIT_SECRET_API}}\"", post(&host), post(&other));
    let (outcome, said) = reach(&world, &script, &[host.clone(), other.clone()], &["api"]);
    let sent = heard.recv_timeout(Duration::from_secs(300)).unwrap();
    assert!(sent.contains(&format!("Authorization: Bearer {VALUE}")), "{sent}");
    assert!(
        sent.ends_with("\"}") && sent.matches(VALUE).count() == 1,
        "in a body it stays a sentinel: {sent}"
    );
    let stdout = said["stdout"].as_str().unwrap();
    assert!(!stdout.contains(VALUE), "what the server echoes is cut off: {stdout}");
    assert!(
        stdout.contains("Authorization: Bearer") && stdout.contains(&VALUE.len().to_string()),
        "{stdout}"
    );
    assert!(elsewhere.try_recv().is_err(), "the other host has heard nothing");
    let told = outcome.observed.join("\n");
    assert!(told.contains(&format!("refused: `secret:api` may not go to `{other}`")), "{told}");
    assert!(!told.contains(VALUE));
}

#[conforms(part = "HK-8.12-5")]
#[test]
fn what_was_not_named_is_refused_and_so_is_what_is_not_public_by_another_name() {
    let (port, heard) = server();
    let world = world(String::new());
    for (hosts, asked, why) in [
        (vec!["example.org:443".to_owned()], format!("127.0.0.1:{port}"), "is not among the hosts"),
        (vec![format!("127.0.0.1:{}", port ^ 1)], format!("127.0.0.1:{port}"), "is not among the hosts"),
        (vec![format!("*:{port}")], format!("127.0.0.1:{port}"), "loopback"),
        (Vec::new(), format!("localhost:{port}"), "loopback"),
        (Vec::new(), "169.254.169.254:80".to_owned(), "metadata"),
        (Vec::new(), "10.0.0.1:80".to_owned(), "private"),
        (Vec::new(), format!("[::ffff:127.0.0.1]:{port}"), "loopback"),
    ] {
        for method in [format!("GET http://{asked}/"), format!("CONNECT {asked}")] {
            let script = format!("{ASK} ask '{method} HTTP/1.1\\r\\n\\r\\n'");
            let (outcome, said) = reach(&world, &script, &hosts, &[]);
            let told = outcome.observed.join("\n");
            assert!(told.contains("refused") && told.contains(why), "{hosts:?} {method}: {told}");
            assert!(said["stdout"].as_str().unwrap().contains("403"), "{said}");
        }
    }
    assert!(heard.try_recv().is_err(), "nobody was reached");
}

#[conforms(part = "HK-6.2-2")]
#[test]
fn there_is_no_other_way_out_than_the_proxy() {
    let (port, heard) = server();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let datagrams = udp.local_addr().unwrap().port();
    let world = world(String::new());
    let script = format!(
        "echo raw > /dev/tcp/127.0.0.1/{port} && echo OUT; echo raw > /dev/udp/127.0.0.1/{datagrams}; \
         echo raw > /dev/tcp/1.1.1.1/53 && echo OUT; \
         unshare -rn true && echo OUT; nsenter -t 1 -n true && echo OUT; \
         python3 - <<'P'\nimport socket\n\
for family, kind in [(socket.AF_INET, socket.SOCK_RAW), (socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_VSOCK, socket.SOCK_STREAM)]:\n\
    try:\n        socket.socket(family, kind); print('OUT')\n    except OSError: pass\n\
s = socket.socket(socket.AF_UNIX)\n\
for name in ['\\0/tmp/.X11-unix/X0', '/run/dbus/system_bus_socket', '/run/systemd/resolve/io.systemd.Resolve']:\n\
    try:\n        s.connect(name); print('OUT')\n    except OSError: pass\nP\n\
         echo ended"
    );
    let (outcome, said) = reach(&world, &script, &[format!("127.0.0.1:{port}")], &[]);
    let stdout = said["stdout"].as_str().unwrap();
    assert!(stdout.contains("ended") && !stdout.contains("OUT"), "{said}");
    assert!(heard.try_recv().is_err(), "somebody came through");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram came through");
    assert!(outcome.observed.join("\n").contains("made no connection"), "{:?}", outcome.observed);
}

#[test]
fn the_proxy_and_its_bridge_end_with_the_command() {
    let (port, _heard) = server();
    let host = format!("127.0.0.1:{port}");
    let world = world(String::new());
    let (outcome, said) =
        reach(&world, "jobs -l; ps -o comm= --ppid $$ 2> /dev/null; wait; echo done", &[host], &[]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{said}");
    let stdout = said["stdout"].as_str().unwrap();
    assert!(
        !stdout.contains("hermit-exec") && stdout.contains("done"),
        "it is no child of the command: {stdout}"
    );
    let alive = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let parent = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let mine = parent.contains(&format!("PPid:\t{}\n", std::process::id()));
        mine && String::from_utf8_lossy(&line).contains("--bridging")
    });
    assert!(!alive, "a bridge outlived its command");
}

#[test]
fn a_machine_that_cannot_hold_the_network_says_so_and_runs_nothing() {
    let world = World::with(Sandbox::probe_without_namespaces(Path::new(EXEC)));
    let (outcome, _) = reach(&world, "echo ran > ran", &["example.org:443".to_owned()], &[]);
    assert_eq!(outcome.result_code, ResultCode::Failed);
    assert!(outcome.error.unwrap().contains("bubblewrap"));
    assert!(!world.at("ran").exists());
}
