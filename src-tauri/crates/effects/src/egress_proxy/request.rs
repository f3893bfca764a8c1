//! One request and its answer: with values on the way out, and none on the way back.
//!
//! An answer is given on as far as no secret of the command stands in it, in any encoding that the redactor knows. There it
//! ends: what a server would say behind it could be the rest in another form.

use super::body::{Body, Framed, Framing};
use super::head::{self, Answer, Request};
use super::swap::Swap;
use super::{Connection, Session};
use redact::{Redactor, Stream};
use std::io::{self, Read, Write};
use std::sync::Arc;
use zeroize::Zeroizing;

/// Answers before the answer that are passed over.
const INTERIM_MAX: usize = 8;

/// Why an exchange did not end as HTTP has it.
pub(super) enum Broken {
    /// Nothing was given back yet: status and words.
    Refused(u16, String),
    /// What the client has is no whole answer.
    Cut(String),
}

/// Sends a request with its values, and brings the answer back as far as it holds none.
pub(super) fn ask(
    session: &Session,
    mut swap: Swap<'_>,
    request: Request,
    client: &mut (impl Read + Write),
    server: &mut (impl Read + Write),
    went: &mut Connection,
) -> Result<(), Broken> {
    let (method, body) = (request.method.clone(), request.body);
    let as_asked = request.to_bytes();
    let head = swap.head(request.whole()).map_err(|why| Broken::Refused(403, why))?;
    let host = went.host.clone();
    let failed = |e: io::Error| Broken::Refused(502, format!("`{host}` did not answer: {e}"));
    let mut sink = Counted { inner: &mut *server, count: 0 };
    let mut record = Record { room: session.sent.room(), bytes: Vec::new(), total: 0 };
    let sent = send(&head, body, &mut swap, client, &mut sink, &mut record);
    session.sent.request(&host, &as_asked, &record.bytes, record.total);
    // What left is on record also where it broke off.
    went.sent = sink.count;
    sent.map_err(failed)?;
    let redactor = &session.redactor;
    let answer =
        answer(server, &method, redactor).map_err(failed)?.map_err(|why| Broken::Refused(502, why))?;
    let mut sink = Counted { inner: client, count: 0 };
    let given = give(&answer, server, &mut sink, redactor);
    went.received = sink.count;
    match given {
        Ok(None) => Ok(()),
        Ok(Some(handle)) => {
            Err(Broken::Cut(format!("the answer shows `secret:{handle}` and was cut off there")))
        }
        Err(error) => Err(Broken::Cut(format!("the answer broke off: {error}"))),
    }
}

/// The beginning of a body, as its command sent it.
struct Record {
    room: usize,
    bytes: Vec<u8>,
    /// How many bytes there were of it.
    total: u64,
}

impl Record {
    fn take(&mut self, piece: &[u8]) {
        self.total = self.total.saturating_add(piece.len() as u64);
        let room = self.room.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
    }
}

fn send(
    head: &[u8],
    framing: Framing,
    swap: &mut Swap<'_>,
    client: &mut impl Read,
    sink: &mut impl Write,
    record: &mut Record,
) -> io::Result<()> {
    sink.write_all(head)?;
    let mut framed = Framed::new(sink, Some(framing));
    pieces(&mut Body::new(client, framing), |piece| {
        record.take(piece);
        framed.piece(&swap.push(piece))
    })?;
    framed.piece(&swap.end())?;
    framed.end()
}

/// The head of the answer; in words, why nothing of it can be given on.
fn answer(server: &mut impl Read, method: &str, redactor: &Redactor) -> io::Result<Result<Answer, String>> {
    for _ in 0..INTERIM_MAX {
        let bytes = head::read(server)?;
        if let Some(handle) = redactor.holds(&bytes).into_iter().next() {
            return Ok(Err(format!(
                "the head of the answer shows `secret:{handle}`, and nothing of it is given on"
            )));
        }
        match head::answered(&bytes, method) {
            Ok(answer) if matches!(answer.status, 100 | 102..=199) => {}
            Ok(answer) => {
                return Ok(match answer.veiled() {
                    Some(why) => Err(format!("the answer cannot be looked through for secrets: {why}")),
                    None => Ok(answer),
                });
            }
            Err(why) => return Ok(Err(format!("the answer cannot be read: {why}"))),
        }
    }
    Ok(Err("the answer cannot be read: it does not come".to_owned()))
}

/// Gives an answer on; whose value it showed, where it was cut off.
fn give(
    answer: &Answer,
    server: &mut impl Read,
    sink: &mut impl Write,
    redactor: &Arc<Redactor>,
) -> io::Result<Option<String>> {
    sink.write_all(&answer.to_bytes())?;
    let mut framed = Framed::new(&mut *sink, answer.body);
    let (mut stream, mut shown) = (Stream::new(Arc::clone(redactor)), None);
    let mut look = |framed: &mut Framed<_>, looked: Result<Vec<u8>, (Vec<u8>, String)>| match looked {
        Ok(clear) => framed.piece(&clear),
        Err((clear, handle)) => {
            shown = Some(handle);
            framed.piece(&clear)?;
            Err(io::ErrorKind::Other.into())
        }
    };
    let mut passed = |piece: &[u8]| look(&mut framed, stream.until(piece));
    let came = match answer.body {
        Some(framing) => pieces(&mut Body::new(server, framing), &mut passed),
        None => pieces(&mut ToEnd(server), &mut passed),
    };
    let came = came.and_then(|()| look(&mut framed, stream.until_end()));
    match (shown, came) {
        (Some(handle), _) => Ok(Some(handle)),
        (None, came) => came.and_then(|()| framed.end()).map(|()| None),
    }
}

/// Hands over all that comes, piece by piece.
pub(super) fn pieces(
    source: &mut impl Read,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = Zeroizing::new(vec![0_u8; 16 * 1024]);
    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => take(buffer.get(..n).unwrap_or_default())?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

/// What ends with its connection, which may end without the farewell of TLS.
struct ToEnd<R>(R);

impl<R: Read> Read for ToEnd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
            came => came,
        }
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
