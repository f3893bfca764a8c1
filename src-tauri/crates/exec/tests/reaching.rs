//! Commands with the network: through our proxy, to hosts that were named, and in no other way.

use crate::support::World;
use conforms::conforms;
use effects::{Outcome, Sandbox, Secrets};
use model::RelPath;
use model::action::Action;
use model::receipt::ResultCode;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::sync::{Arc, OnceLock, mpsc};
use zeroize::Zeroizing;

const EXEC: &str = env!("CARGO_BIN_EXE_hermit-exec");
const VALUE: &str = "v4lue-of-a-token-that-nobody-sees";

struct Vault(String);

impl Secrets for Vault {
    fn value(&self, handle: &str) -> Result<Zeroizing<Vec<u8>>, String> {
        if handle == "api" { Ok(Zeroizing::new(VALUE.into())) } else { Err("there is none".to_owned()) }
    }

    fn hosts(&self, _: &str) -> Vec<String> {
        vec![self.0.clone()]
    }
}

fn walls() -> Sandbox {
    static WALLS: OnceLock<Sandbox> = OnceLock::new();
    WALLS.get_or_init(|| Sandbox::probe(Path::new(EXEC))).clone()
}

/// A server that answers every request with what it was sent, and tells the test.
fn server() -> (u16, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
            while !String::from_utf8_lossy(&bytes).contains("\r\n\r\n") && !bytes.starts_with(b"raw") {
                match stream.read(&mut buffer) {
                    Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
                    _ => break,
                }
            }
            let said = String::from_utf8_lossy(&bytes).into_owned();
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{said}", said.len());
            if send.send(said).is_err() {
                return;
            }
        }
    });
    (port, receive)
}

fn reach(world: &World, script: &str, hosts: &[String], secrets: &[&str]) -> (Outcome, Value) {
    let action = Action::Command {
        argv: ["bash", "-c", script].map(str::to_owned).to_vec(),
        cwd: RelPath::ROOT,
        network: true,
        timeout_ms: 20_000,
        hosts: hosts.to_vec(),
        secrets: secrets.iter().map(|s| (*s).to_owned()).collect(),
    };
    let outcome = world.perform(&world.request(action));
    let said = outcome.outputs.first().map_or(Value::Null, |o| serde_json::from_slice(&o.bytes).unwrap());
    (outcome, said)
}

fn world(may_go: String) -> World {
    let mut world = World::with(walls());
    world.hands = world.hands.with_secrets(Arc::new(Vault(may_go)));
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
    let sent = heard.recv().unwrap();
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
    let world = world(host.clone());
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT {host} HTTP/1.1\\r\\n\\r\\n' >&3; \
         read -r line <&3; echo \"$line\"; printf 'raw %s' \"$HERMIT_SECRET_API\" >&3; cat <&3"
    );
    let (outcome, said) = reach(&world, &script, &[host], &["api"]);
    assert_eq!(outcome.result_code, ResultCode::Succeeded, "{outcome:?} {said}");
    assert!(said["stdout"].as_str().unwrap().contains("200 Connection established"), "{said}");
    let sent = heard.recv().unwrap();
    assert!(
        sent.starts_with("raw hermit-api-") && !sent.contains(VALUE),
        "nobody opens what goes through: {sent}"
    );
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
    let sent = heard.recv().unwrap();
    assert!(sent.contains(&format!("Authorization: Bearer {VALUE}")), "{sent}");
    let stdout = said["stdout"].as_str().unwrap();
    assert!(!stdout.contains(VALUE), "what the server echoes is a sentinel again: {stdout}");
    assert!(stdout.contains("Bearer hermit-api-") && stdout.contains(&VALUE.len().to_string()), "{stdout}");
    assert!(elsewhere.try_recv().is_err(), "the other host has heard nothing");
    let told = outcome.observed.join("\n");
    assert!(told.contains(&format!("refused: `secret:api` may not go to `{other}`")), "{told}");
    assert!(!told.contains(VALUE));
}

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

#[conforms("HK-6.2-2")]
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
fn a_grant_without_a_host_or_a_secret_does_not_become_one_with_it() {
    let (port, heard) = server();
    let host = format!("127.0.0.1:{port}");
    let world = world(host.clone());
    let action = |hosts: Vec<String>, secrets: Vec<String>| Action::Command {
        argv: vec!["true".to_owned()],
        cwd: RelPath::ROOT,
        network: true,
        timeout_ms: 20_000,
        hosts,
        secrets,
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
            let outcome = world.hands.perform(authorization, &request, &|| false, &mut |_| {});
            assert_eq!(outcome.result_code, ResultCode::Failed, "{outcome:?}");
            assert!(outcome.error.unwrap().contains("the grant does not name"));
        }
    }
    assert!(heard.try_recv().is_err());
}

#[test]
fn a_machine_that_cannot_hold_the_network_says_so_and_runs_nothing() {
    let world = World::with(Sandbox::probe_without_namespaces(Path::new(EXEC)));
    let (outcome, _) = reach(&world, "echo ran > ran", &["example.org:443".to_owned()], &[]);
    assert_eq!(outcome.result_code, ResultCode::Failed);
    assert!(outcome.error.unwrap().contains("bubblewrap"));
    assert!(!world.at("ran").exists());
}
