//! A proxy at a port, as a command behind a profile comes to it and as everybody else of the machine does.

use super::*;
use crate::egress_proxy::{NoSecrets, Outlet};
use std::sync::mpsc::{Receiver, channel};

/// How long anything of a test may take.
const LONG: Duration = Duration::from_secs(30);

/// A server of this machine that hears what it is asked until nothing more comes, answers and hangs up. A request is one head.
fn server(answers: &'static str, ends: &'static [u8]) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (send, heard) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            stream.set_read_timeout(Some(LONG)).unwrap();
            let (mut asked, mut byte) = (Vec::new(), [0]);
            while !asked.ends_with(ends) && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                asked.extend_from_slice(&byte);
            }
            stream.write_all(answers.as_bytes()).unwrap();
            send.send(String::from_utf8_lossy(&asked).into_owned()).unwrap();
        }
    });
    (port, heard)
}

/// The proxy of one command that may reach this port of the machine, and what the command is told of it.
struct World {
    _folder: tempfile::TempDir,
    outlet: Outlet,
    at: u16,
    password: String,
}

impl World {
    fn reaching(port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let hosts = [format!("127.0.0.1:{port}")];
        let outlet = Outlet::open((folder.path(), Meets::AtPort), &hosts, &[], &NoSecrets, "salt").unwrap();
        let way = outlet.way_out();
        let told = way.told.iter().find(|(name, _)| name == "HTTPS_PROXY").unwrap();
        let told = told.1.to_str().unwrap();
        let (user, at) = told.strip_prefix("http://").unwrap().split_once('@').unwrap();
        assert_eq!(at, format!("127.0.0.1:{}", way.port.unwrap()));
        assert!(way.socket.is_none() && way.roots.is_none());
        let password = STANDARD.encode(user);
        Self { _folder: folder, outlet, at: way.port.unwrap(), password }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.at)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// What is answered to this, with these words between the first line and the end of the head.
    fn asked(&self, first: &str, more: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(format!("{first}\r\n{more}\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// What is on record once there were so many connections: a client sees the end of its own before it is written down.
    fn told(self, many: usize) -> Vec<String> {
        let by = std::time::Instant::now() + LONG;
        let mut told = Vec::new();
        while told.len() < many && std::time::Instant::now() < by {
            let none = "network: it made no connection";
            told.extend(self.outlet.told().into_iter().filter(|line| line != none));
            std::thread::sleep(Duration::from_millis(5));
        }
        told.extend(self.outlet.close().into_iter().filter(|line| !line.ends_with("made no connection")));
        told
    }

    fn says(&self) -> String {
        format!("Proxy-Authorization: Basic {}\r\n", self.password)
    }
}

/// One answer up to the end of its head.
fn head_of(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.extend_from_slice(&byte);
    }
    String::from_utf8(head).unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

#[test]
fn the_command_that_was_told_the_password_is_served_and_the_server_never_sees_it() {
    let (port, heard) = server(OK, b"\r\n\r\n");
    let world = World::reaching(port);
    let answer = world.asked(&format!("GET http://127.0.0.1:{port}/a HTTP/1.1"), &world.says());
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("hi"), "{answer}");
    let asked = heard.recv_timeout(LONG).unwrap();
    assert!(asked.starts_with("GET /a HTTP/1.1\r\n") && !asked.contains(&world.password), "{asked}");
    let told = world.told(1);
    assert!(told.len() == 1 && told[0].contains(": allowed, "), "{told:?}");
}

/// A port is reached by every program of the machine, also by commands of other grants.
#[test]
fn who_does_not_say_the_password_reaches_nobody_and_is_on_record() {
    let (port, heard) = server(OK, b"\r\n\r\n");
    let world = World::reaching(port);
    let other = STANDARD.encode(format!("{USER}:{}", "0".repeat(2 * PASSWORD_BYTES)));
    let bearer = format!("Proxy-Authorization: Bearer {}\r\n", world.password);
    let first = format!("GET http://127.0.0.1:{port}/a HTTP/1.1");
    let tries = [
        String::new(),
        "Proxy-Authorization: Basic\r\n".to_owned(),
        format!("Proxy-Authorization: Basic {other}\r\n"),
        bearer,
        // Two readers could take either.
        format!("{}Proxy-Authorization: Basic {other}\r\n", world.says()),
    ];
    for more in &tries {
        let answer = world.asked(&first, more);
        assert!(answer.starts_with("HTTP/1.1 407 ") && answer.contains("Basic realm="), "{more}: {answer}");
    }
    let wrong = world.asked(&format!("CONNECT 127.0.0.1:{port} HTTP/1.1"), &tries[2]);
    assert!(wrong.starts_with("HTTP/1.1 407 "), "{wrong}");
    assert!(heard.try_recv().is_err(), "the server was asked");
    let told = world.told(tries.len() + 1);
    assert_eq!(told.len(), tries.len() + 1, "{told:?}");
    assert!(told.iter().all(|line| line.contains("refused: it did not say the password")), "{told:?}");
}

/// Git and others ask without one first, to learn which is wanted, and go on over the same connection.
#[test]
fn a_tunnel_may_be_asked_for_once_more_with_the_password() {
    let (port, heard) = server("pong", b"ping");
    let world = World::reaching(port);
    let mut stream = world.connect();
    let connect = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n");
    stream.write_all(format!("{connect}\r\n").as_bytes()).unwrap();
    let asks = head_of(&mut stream);
    assert!(asks.starts_with("HTTP/1.1 407 ") && asks.contains("Content-Length: 0"), "{asks}");
    stream.write_all(format!("{connect}{}\r\n", world.says()).as_bytes()).unwrap();
    let answer = head_of(&mut stream);
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    stream.write_all(b"ping").unwrap();
    let mut pong = String::new();
    stream.read_to_string(&mut pong).unwrap();
    assert_eq!((pong.as_str(), heard.recv_timeout(LONG).unwrap().as_str()), ("pong", "ping"));
    let told = world.told(1);
    assert!(told.len() == 1 && told[0].contains(": allowed, 4 bytes sent, 4 received"), "{told:?}");
}

#[test]
fn nothing_is_served_once_the_command_has_ended_and_no_two_have_one_password() {
    let (port, _heard) = server(OK, b"\r\n\r\n");
    let (one, other) = (World::reaching(port), World::reaching(port));
    assert!(one.password != other.password && one.at != other.at);
    let by = std::time::Instant::now() + LONG;
    let at = one.at;
    drop(one.outlet);
    // Whoever waited is woken and goes.
    while TcpStream::connect((Ipv4Addr::LOCALHOST, at)).is_ok() {
        assert!(std::time::Instant::now() < by, "the port is still open");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whoever of the machine opens connections and says nothing takes no place of the command's, and does not hold its own for long.
#[test]
fn programs_that_say_nothing_hold_no_place_of_the_command() {
    let (port, heard) = server(OK, b"\r\n\r\n");
    let world = World::reaching(port);
    let mut silent: Vec<TcpStream> = (0..100).map(|_| world.connect()).collect();
    // Their number is bounded, and the oldest makes room: it is hung up on, while it still waits to be heard.
    let mut nothing = [0; 256];
    let first = silent.remove(0);
    let ended = (&first).read(&mut nothing);
    assert!(
        ended.is_ok_and(|read| read == 0 || nothing.starts_with(b"HTTP/1.1 400")),
        "it still holds a place"
    );
    let answer = world.asked(&format!("GET http://127.0.0.1:{port}/a HTTP/1.1"), &world.says());
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("hi"), "{answer}");
    assert!(heard.recv_timeout(LONG).unwrap().starts_with("GET /a "));
    drop(silent);
    let (by, mut told) = (std::time::Instant::now() + LONG, Vec::<String>::new());
    while !told.iter().any(|line| line.contains(": allowed, ")) {
        assert!(std::time::Instant::now() < by, "what was allowed is not on record: {told:?}");
        std::thread::sleep(Duration::from_millis(5));
        told.extend(world.outlet.told());
    }
}

/// Whoever says a letter now and then is not heard for longer than anybody.
#[test]
fn who_says_the_password_too_slowly_is_hung_up_on() {
    let (port, _heard) = server(OK, b"\r\n\r\n");
    let world = World::reaching(port);
    let mut slow = world.connect();
    let begun = std::time::Instant::now();
    let mut said = slow.try_clone().unwrap();
    let drips = std::thread::spawn(move || {
        // Each letter comes long before the time of one read is over.
        while begun.elapsed() < 2 * LONG && said.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let mut answer = [0; 12];
    let ended = slow.read(&mut answer);
    assert!(begun.elapsed() < LONG, "it was heard for {:?}", begun.elapsed());
    assert!(ended.is_err() || answer.starts_with(b"HTTP/1.1 400") || ended.is_ok_and(|read| read == 0));
    drop(world);
    drop(slow);
    drips.join().unwrap();
}

/// A profile that names `localhost` opens the port at both addresses: nobody else may have the other.
#[test]
fn the_same_port_of_the_other_address_is_taken_as_well() {
    let (ours, other) = loopback().unwrap();
    if other.is_some() {
        let port = ours.local_addr().unwrap().port();
        assert!(TcpListener::bind((Ipv6Addr::LOCALHOST, port)).is_err());
    }
}
