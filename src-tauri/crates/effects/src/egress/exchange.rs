//! One connection through the proxy, from its first line to its end.

use super::allow::NoWay;
use super::body::{Body, Framing};
use super::head::{self, Asked};
use super::swap::Swap;
use super::{Connection, Lent, Session, lock, tls};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a client may take to say what it wants.
const ASK: Duration = Duration::from_secs(30);

/// Why a client is turned away: status and words.
type Refusal = (u16, String);

/// Serves one client; what it came to.
pub(super) fn run(session: &Arc<Session>, number: usize, client: &UnixStream) -> Connection {
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
    client: &UnixStream,
    went: &mut Connection,
) -> Result<(), Refusal> {
    let _ = client.set_read_timeout(Some(ASK));
    let mut reader = client;
    let bytes = head::read(&mut reader).map_err(|e| (400, format!("nothing was asked for: {e}")))?;
    let _ = client.set_read_timeout(None);
    let asked = head::parse(&bytes).map_err(|why| (400, why.to_owned()))?;
    let (Asked::Tunnel { name, port } | Asked::Plain { name, port, .. }) = &asked;
    went.host = format!("{name}:{port}");
    if !session.allowed.names(name, *port) {
        return Err((403, format!("`{}` is not among the hosts this command may reach", went.host)));
    }
    let lent = lendable(session, &went.host, &bytes)?;
    let server = dial(session, name, *port, went)?;
    let failed = |e: io::Error| (502, format!("the connection failed: {e}"));
    let second = server.try_clone().map_err(failed)?;
    if let Some((_, outside)) = lock(&session.open).get_mut(&number) {
        *outside = Some(second);
    }
    "allowed".clone_into(&mut went.verdict);
    let pairs = |from: fn(&Lent) -> &Zeroizing<Vec<u8>>, to: fn(&Lent) -> &Zeroizing<Vec<u8>>| {
        Swap::new(lent.iter().map(|lent| (from(lent).clone(), to(lent).clone())).collect())
    };
    let (out, back) =
        (pairs(|lent| &lent.sentinel, |lent| &lent.value), pairs(|lent| &lent.value, |lent| &lent.sentinel));
    let pipe = match asked {
        Asked::Tunnel { name, port } => {
            let mut client = client;
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").map_err(failed)?;
            if let (Some(authority), false) = (&session.authority, lent.is_empty()) {
                let done = tls::exchange(authority, (&name, port), (client, &server), (out, back), went);
                // Nothing that is no TLS is told inside it.
                if let Err(why) = done {
                    went.verdict = format!("refused: {why}");
                }
                return Ok(());
            }
            Pipe {
                first: Zeroizing::default(),
                body: None,
                out: Swap::new(Vec::new()),
                back: Swap::new(Vec::new()),
            }
        }
        Asked::Plain { head, body, .. } => Pipe { first: out.in_basic(head), body: Some(body), out, back },
    };
    let (sent, received) = pipe.run(client, &server);
    (went.sent, went.received) = (sent, received);
    Ok(())
}

/// The secrets whose values may go to this host. A sentinel on its way elsewhere is an accident or an attempt, and the
/// request is not made.
fn lendable<'s>(session: &'s Session, host: &str, head: &[u8]) -> Result<Vec<&'s Lent>, Refusal> {
    let (may, may_not): (Vec<&Lent>, Vec<&Lent>) =
        session.lent.iter().partition(|lent| lent.hosts.iter().any(|known| known == host));
    let named =
        |lent: &&&Lent| head.windows(lent.sentinel.len()).any(|part| part == lent.sentinel.as_slice());
    match may_not.iter().find(named) {
        Some(lent) => Err((403, format!("`secret:{}` may not go to `{host}`", lent.handle))),
        None => Ok(may),
    }
}

/// Resolves once, checks the address, dials that address.
fn dial(session: &Session, name: &str, port: u16, went: &mut Connection) -> Result<TcpStream, Refusal> {
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
    TcpStream::connect_timeout(&at, CONNECT).map_err(|e| (502, format!("`{name}` cannot be reached: {e}")))
}

/// Both directions of a connection.
struct Pipe {
    first: Zeroizing<Vec<u8>>,
    /// Where the client's body ends; none: with all that comes.
    body: Option<Framing>,
    out: Swap,
    back: Swap,
}

impl Pipe {
    /// Copies until both sides are done; bytes sent and received.
    fn run(self, client: &UnixStream, server: &TcpStream) -> (u64, u64) {
        let Self { first, body, mut out, mut back } = self;
        std::thread::scope(|scope| {
            let sending = scope.spawn(move || {
                let mut sink = Counted { inner: server, count: 0 };
                let mut source = Body::new(client, body.unwrap_or(Framing::Length(u64::MAX)));
                let copied =
                    sink.write_all(&out.push(&first)).and_then(|()| copy(&mut source, &mut sink, &mut out));
                // A plain request waits for its answer; a tunnel says that nothing more comes.
                if body.is_none() || copied.is_err() {
                    let _ = server.shutdown(Shutdown::Write);
                }
                sink.count
            });
            let mut sink = Counted { inner: client, count: 0 };
            let mut source = server;
            let _ = copy(&mut source, &mut sink, &mut back);
            // The answer is over; a client that still sends is not waited for.
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
            (sending.join().unwrap_or(0), sink.count)
        })
    }
}

/// Counts what went, also where it broke off.
pub(super) struct Counted<W> {
    pub(super) inner: W,
    pub(super) count: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.count = self.count.saturating_add(n as u64);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Copies to the end, with what is swapped in its place.
pub(super) fn copy(source: &mut impl Read, sink: &mut impl Write, swap: &mut Swap) -> io::Result<()> {
    let mut buffer = Zeroizing::new(vec![0_u8; 16 * 1024]);
    loop {
        let n = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        sink.write_all(&swap.push(buffer.get(..n).unwrap_or_default()))?;
    }
    sink.write_all(&swap.end())
}
