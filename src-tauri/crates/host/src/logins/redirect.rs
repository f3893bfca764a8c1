//! The port of this machine to which a browser comes back from a log-in. It is open for one log-in, hears one path, and
//! whatever does not name that log-in is turned away and ends nothing.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use toolservers::login::Begun;

/// The path that is heard.
const PATH: &str = "/callback";
/// Bytes of a request that are read.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// How long one request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(2);
/// How often it is looked whether somebody came.
const TICK: Duration = Duration::from_millis(50);

/// The port, open.
pub(super) struct Redirect {
    listener: TcpListener,
    at: SocketAddr,
}

impl Redirect {
    pub(super) fn open() -> Result<Self, String> {
        let closed = |e: std::io::Error| format!("no port of this machine can be opened for the log-in: {e}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(closed)?;
        listener.set_nonblocking(true).map_err(closed)?;
        let at = listener.local_addr().map_err(closed)?;
        Ok(Self { listener, at })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}{PATH}", self.at)
    }

    /// Waits until the browser comes back with this log-in, and tells it what came of that.
    pub(super) fn wait(
        self,
        begun: Begun,
        within: Duration,
        stop: &AtomicBool,
        finish: impl FnOnce(Begun, &str) -> Result<(), String>,
    ) -> Result<(), String> {
        let by = Instant::now() + within;
        loop {
            if stop.load(Ordering::SeqCst) {
                return Err("it was cancelled".to_owned());
            }
            if Instant::now() > by {
                return Err(format!("nobody came back from the browser within {}", model::lasting(within)));
            }
            let Ok((mut stream, _)) = self.listener.accept() else {
                std::thread::park_timeout(TICK);
                continue;
            };
            let Some(target) = target(&mut stream, self.at) else {
                answer(&mut stream, 404, "This is not what is waited for here.");
                continue;
            };
            let callback = format!("http://{}{target}", self.at);
            // Somebody else's: a page that guesses, a log-in of before.
            if !begun.is_of(&callback) {
                answer(
                    &mut stream,
                    400,
                    "This does not belong to the log-in that is waited for. Nothing was done.",
                );
                continue;
            }
            let came = finish(begun, &callback);
            match &came {
                Ok(()) => answer(
                    &mut stream,
                    200,
                    "You are logged in. You can close this page and go back to Hermit.",
                ),
                Err(why) => answer(&mut stream, 400, &format!("You are not logged in: {why}.")),
            }
            return came;
        }
    }
}

/// Path and query of a request that a browser makes here, and nobody else's.
fn target(stream: &mut TcpStream, at: SocketAddr) -> Option<String> {
    stream.set_nonblocking(false).ok()?;
    stream.set_read_timeout(Some(ARRIVAL)).ok()?;
    stream.set_write_timeout(Some(ARRIVAL)).ok()?;
    let (mut head, mut piece) = (Vec::new(), [0; 2048]);
    let by = Instant::now() + ARRIVAL;
    while !head.windows(4).any(|part| part == b"\r\n\r\n") {
        let n = stream.read(&mut piece).ok().filter(|n| *n > 0)?;
        head.extend_from_slice(piece.get(..n)?);
        if head.len() > HEAD_BYTES_MAX || Instant::now() > by {
            return None;
        }
    }
    let head = String::from_utf8(head).ok()?;
    let mut lines = head.lines();
    let target = lines.next()?.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1")?.to_owned();
    let host = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_owned())
    })?;
    let path = target.split('?').next().unwrap_or_default();
    (host == at.to_string() && path == PATH && target.bytes().all(|b| b.is_ascii_graphic())).then_some(target)
}

/// A page with a sentence, which loads nothing and is kept nowhere.
fn answer(stream: &mut TcpStream, status: u16, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let body = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Hermit</title><p>{words}</p></html>"
    );
    let page = format!(
        "HTTP/1.1 {status} Told\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nContent-Security-Policy: default-src 'none'\r\nX-Content-Type-Options: nosniff\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    // Whoever has gone needs no answer.
    let _ = stream.write_all(page.as_bytes());
}
