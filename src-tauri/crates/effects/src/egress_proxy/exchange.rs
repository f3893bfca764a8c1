//! One connection through the proxy, from its first line to its end.

use super::allow::NoWay;
use super::body::{Body, Framed, Framing};
use super::entrance::{self, Client};
use super::head::{self, Asked};
use super::places::NoPlace;
use super::request::{Broken, Counted, ask, pieces};
use super::swap::Swap;
use super::{Connection, LentSecret, Session, asks_again, client_hello, lock, tls};
use model::Digest;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a client may take to say what it wants.
const ASK: Duration = Duration::from_secs(30);
/// How long anybody may take in all to say the password, where one is asked for.
const SAY: Duration = Duration::from_secs(10);

/// Why a client is turned away: status and words.
type Refusal = (u16, String);

/// Serves one client; what it came to.
pub(super) fn run(session: &Arc<Session>, number: usize, client: &Client) -> Connection {
    let mut went = Connection::default();
    let done = serve(session, number, client, &mut went);
    if let Err((status, why)) = done {
        went.verdict = format!("refused: {why}");
        if went.host.is_empty() {
            "(no host)".clone_into(&mut went.host);
        }
        let mut client = client;
        // A client that is gone needs no answer.
        let _ = client.write_all(&super::answer(status, &why));
    }
    let _ = client.shutdown(Shutdown::Both);
    went
}

fn serve(
    session: &Arc<Session>,
    number: usize,
    client: &Client,
    went: &mut Connection,
) -> Result<(), Refusal> {
    went.is_stranger = session.asks_for.is_some();
    let _ = client.set_read_timeout(Some(ASK));
    let bytes = admitted(session, number, client);
    let _ = client.set_read_timeout(None);
    let bytes = bytes?;
    went.is_stranger = false;
    let asked = head::parse(&bytes).map_err(|why| (400, why.to_owned()))?;
    let (Asked::Tunnel { name, port } | Asked::Plain { name, port, .. }) = &asked;
    went.host = format!("{name}:{port}");
    if !session.allowed.names(name, *port) {
        return Err((403, format!("`{}` is not among the hosts this command may reach", went.host)));
    }
    let lent = lendable(session, &went.host, &bytes)?;
    match asked {
        Asked::Tunnel { name, port } => tunnel(session, number, (&name, port), lent, client, went),
        Asked::Plain { name, port, request } => {
            let server = dial(session, number, (&name, port), went)?;
            if session.lent.is_empty() {
                return pass(&request.to_bytes(), Some(request.body), client, &server, went);
            }
            let (mut inside, mut outside) = (client, &server);
            let done = ask(session, Swap::new(lent), request, &mut inside, &mut outside, went);
            match done {
                Ok(()) => Ok(()),
                Err(Broken::Cut(why)) => {
                    went.verdict = format!("allowed; {why}");
                    Ok(())
                }
                Err(Broken::Refused(status, why)) => Err((status, why)),
            }
        }
    }
}

/// What is said until a moment, in however many pieces it comes.
struct Until<'a> {
    client: &'a Client,
    by: Instant,
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.by.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "it took too long"));
        }
        self.client.set_read_timeout(Some(left))?;
        let mut client = self.client;
        client.read(buffer)
    }
}

/// The head of what is asked for.
fn head_of(reader: &mut impl Read) -> Result<Vec<u8>, Refusal> {
    head::read(reader).map_err(|e| (400, format!("nothing was asked for: {e}")))
}

/// The same of whoever has the password, where one is asked for.
fn admitted(session: &Session, number: usize, client: &Client) -> Result<Vec<u8>, Refusal> {
    let Some(password) = &session.asks_for else {
        let mut reader = client;
        return head_of(&mut reader);
    };
    let mut reader = Until { client, by: Instant::now() + SAY };
    let bytes = head_of(&mut reader)?;
    // By their digests, so that the time which it takes tells nothing.
    let is_it = |said: Option<&str>| {
        said.is_some_and(|said| Digest::of(said.as_bytes()) == Digest::of(password.as_bytes()))
    };
    let stranger =
        || -> Refusal { (407, "it did not say the password that the command was told".to_owned()) };
    let said = entrance::said(&bytes);
    if is_it(said) {
        return placed(session, number, bytes);
    }
    // Git asks for a tunnel without one first, and says it when it is asked to.
    if said.is_some() || !matches!(head::parse(&bytes), Ok(Asked::Tunnel { .. })) {
        return Err(stranger());
    }
    let mut answers = client;
    answers.write_all(&asks_again()).map_err(failed)?;
    let again = head_of(&mut reader)?;
    if is_it(entrance::said(&again)) { placed(session, number, again) } else { Err(stranger()) }
}

/// What the command asked for, once it has one of its places.
fn placed(session: &Session, number: usize, bytes: Vec<u8>) -> Result<Vec<u8>, Refusal> {
    let refusal = |why: &str| -> Refusal { (503, why.to_owned()) };
    match session.places.admits(number) {
        Ok(()) => Ok(bytes),
        Err(NoPlace::MadeRoom) => Err(refusal("it said the password after others had come in its place")),
        Err(NoPlace::Full) => Err(refusal("the command has as many connections as it may have at once")),
    }
}

/// A tunnel to one of the secrets' hosts ends here, and asks anew; every other one goes through, to the very name.
fn tunnel(
    session: &Arc<Session>,
    number: usize,
    (name, port): (&str, u16),
    lent: Vec<&LentSecret>,
    client: &Client,
    went: &mut Connection,
) -> Result<(), Refusal> {
    let server = dial(session, number, (name, port), went)?;
    let mut inside = client;
    inside.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").map_err(failed)?;
    let done = match &session.authority {
        _ if !lent.is_empty() && is_here(&server) && is_plain(client) => {
            plain_within(session, (name, port), Swap::new(lent), (client, &server), went)
        }
        Some(authority) if !lent.is_empty() => {
            tls::exchange(session, authority, (name, port), (client, &server), Swap::new(lent), went)
        }
        // Whoever names an address names whatever is there.
        _ if name.parse::<IpAddr>().is_ok() => return pass(&[], None, client, &server, went),
        _ => {
            let _ = client.set_read_timeout(Some(ASK));
            let hello = client_hello::to(name, &mut inside);
            let _ = client.set_read_timeout(None);
            hello.and_then(|hello| pass(&hello, None, client, &server, went).map_err(|(_, why)| why))
        }
    };
    // Nothing that is no TLS is told inside it.
    if let Err(why) = done {
        went.verdict = format!("refused: {why}");
    }
    Ok(())
}

/// A machine on whose way nobody listens in: this one.
fn is_here(server: &TcpStream) -> bool {
    server.peer_addr().is_ok_and(|at| at.ip().is_loopback())
}

/// Whether what comes first is no TLS; waits for it.
fn is_plain(client: &Client) -> bool {
    client.first_byte(ASK).is_some_and(|first| first.is_ascii_uppercase())
}

/// One request in a tunnel to a server of this machine that speaks no TLS, as programs ask it that tunnel everything.
fn plain_within(
    session: &Session,
    (name, port): (&str, u16),
    swap: Swap<'_>,
    (client, server): (&Client, &TcpStream),
    went: &mut Connection,
) -> Result<(), String> {
    let (mut inside, mut outside) = (client, server);
    let _ = client.set_read_timeout(Some(ASK));
    let bytes = head::read(&mut inside).map_err(|e| format!("nothing was asked for: {e}"));
    let _ = client.set_read_timeout(None);
    let request = head::within(&bytes?, name, port, 80);
    let asked = request.map_err(|why| Broken::Refused(400, why));
    match asked.and_then(|request| ask(session, swap, request, &mut inside, &mut outside, went)) {
        Ok(()) => Ok(()),
        Err(Broken::Cut(why)) => {
            went.verdict = format!("allowed; {why}");
            Ok(())
        }
        Err(Broken::Refused(status, why)) => {
            // A client that is gone needs no answer.
            let _ = inside.write_all(&super::answer(status, &why));
            if went.sent == 0 {
                return Err(why);
            }
            went.verdict = format!("allowed, and broken off: {why}");
            Ok(())
        }
    }
}

fn failed(e: io::Error) -> Refusal {
    (502, format!("the connection failed: {e}"))
}

/// The secrets whose values may go to this host. A sentinel on its way elsewhere is an accident or an attempt, and the
/// request is not made.
fn lendable<'s>(session: &'s Session, host: &str, head: &[u8]) -> Result<Vec<&'s LentSecret>, Refusal> {
    let (may, may_not): (Vec<&LentSecret>, Vec<&LentSecret>) =
        session.lent.iter().partition(|lent| lent.terms.hosts.iter().any(|known| known == host));
    let named =
        |lent: &&&LentSecret| head.windows(lent.sentinel.len()).any(|part| part == lent.sentinel.as_slice());
    match may_not.iter().find(named) {
        Some(lent) => Err((403, format!("`secret:{}` may not go to `{host}`", lent.handle))),
        None => Ok(may),
    }
}

/// Resolves once, checks the address, dials that address.
fn dial(
    session: &Session,
    number: usize,
    (name, port): (&str, u16),
    went: &mut Connection,
) -> Result<TcpStream, Refusal> {
    let at = match session.allowed.resolve(name, port) {
        Ok(at) => at,
        Err(NoWay::Unknown(why)) => return Err((502, why)),
        Err(NoWay::Closed { at, why }) => {
            went.address = at.to_string();
            return Err((
                403,
                format!("`{name}` is at an address that is {why}, and the address was not named"),
            ));
        }
    };
    went.address = at.ip().to_string();
    let server = TcpStream::connect_timeout(&at, CONNECT)
        .map_err(|e| (502, format!("`{name}` cannot be reached: {e}")))?;
    let second = server.try_clone().map_err(failed)?;
    if let Some((_, outside)) = lock(&session.open).get_mut(&number) {
        *outside = Some(second);
    }
    "allowed".clone_into(&mut went.verdict);
    Ok(server)
}

/// Copies both ways until both sides are done: first these bytes, then the client's body as far as it goes; without
/// framing, all that comes.
fn pass(
    first: &[u8],
    body: Option<Framing>,
    client: &Client,
    server: &TcpStream,
    went: &mut Connection,
) -> Result<(), Refusal> {
    std::thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let mut sink = Counted { inner: server, count: 0 };
            let mut source = client;
            let copied = sink.write_all(first).and_then(|()| match body {
                None => pieces(&mut source, |piece| sink.write_all(piece)),
                Some(framing) => {
                    let mut framed = Framed::new(&mut sink, body);
                    pieces(&mut Body::new(source, framing), |piece| framed.piece(piece))?;
                    framed.end()
                }
            });
            // A plain request waits for its answer; a tunnel says that nothing more comes.
            if body.is_none() || copied.is_err() {
                let _ = server.shutdown(Shutdown::Write);
            }
            sink.count
        });
        let mut sink = Counted { inner: client, count: 0 };
        let mut source = server;
        let _ = pieces(&mut source, |piece| sink.write_all(piece));
        // The answer is over; a client that still sends is not waited for.
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
        (went.sent, went.received) = (sending.join().unwrap_or(0), sink.count);
    });
    Ok(())
}
