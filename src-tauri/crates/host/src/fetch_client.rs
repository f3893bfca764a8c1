//! The way out for one request of the executors: to exactly the address they have checked, once, and nowhere else.
//!
//! ureq speaks HTTP and TLS; its resolver is ours and knows one address, its redirects are off, and no proxy stands
//! between, because behind a proxy nobody knows which address is dialled.

use crate::Config;
use crate::model_http::certificates;
use effects::{Call, NoReply, Reply, Web};
use model::lasting;
use std::io::Read as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use ureq::http::{self, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, NextTimeout, Transport};
use zeroize::Zeroizing;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// How often whoever waits is asked whether it still does.
const TICK: Duration = Duration::from_millis(100);

/// Sends requests of executors.
#[derive(Debug, Clone)]
pub struct FetchClient {
    authorities: Option<PathBuf>,
    /// How long a connection may take to come about, TLS and all.
    connect: Duration,
}

impl FetchClient {
    /// A way out that believes the authorities which the owner set.
    pub fn new(config: &Config) -> Self {
        Self { authorities: config.authorities(), connect: CONNECT }
    }

    fn agent(&self, call: &Call<'_>, connected: &Arc<AtomicBool>) -> Result<ureq::Agent, NoReply> {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            // Where an answer leads is another request, which somebody has to allow.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_connect(Some(self.connect))
            .timeout_global(Some(call.timeout))
            .user_agent(concat!("hermit/", env!("CARGO_PKG_VERSION")));
        if let Some(path) = &self.authorities {
            let roots = certificates(path).map_err(|e| NoReply::NotSent(e.to_string()))?;
            config = config.tls_config(TlsConfig::builder().root_certs(RootCerts::from(roots)).build());
        }
        let connector = Marking(DefaultConnector::default(), Arc::clone(connected));
        Ok(ureq::Agent::with_parts(config.build(), connector, OneAddress(call.at)))
    }
}

/// Knows the one address that was checked.
#[derive(Debug)]
struct OneAddress(SocketAddr);

impl Resolver for OneAddress {
    fn resolve(
        &self,
        _: &Uri,
        _: &ureq::config::Config,
        _: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let mut all = self.empty();
        all.push(self.0);
        Ok(all)
    }
}

/// Remembers that a connection stands, TLS and all: before that, no byte of a request can have left.
#[derive(Debug)]
struct Marking(DefaultConnector, Arc<AtomicBool>);

impl Connector<()> for Marking {
    type Out = Box<dyn Transport>;

    fn connect(
        &self,
        details: &ConnectionDetails,
        chained: Option<()>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let transport = self.0.connect(details, chained)?;
        self.1.store(true, Ordering::SeqCst);
        Ok(transport)
    }
}

impl Web for FetchClient {
    fn call(&self, call: &Call<'_>, cancelled: &dyn Fn() -> bool) -> Result<Reply, NoReply> {
        self.stream(call, cancelled, &mut |_| {})
    }

    fn stream(
        &self,
        call: &Call<'_>,
        cancelled: &dyn Fn() -> bool,
        on_piece: &mut dyn FnMut(&[u8]),
    ) -> Result<Reply, NoReply> {
        let connected = Arc::new(AtomicBool::new(false));
        let agent = self.agent(call, &connected)?;
        let request = request(call).map_err(NoReply::NotSent)?;
        let body = Zeroizing::new(call.body.map(<[u8]>::to_vec).unwrap_or_default());
        let carries = call.method.carries();
        let bytes_max = call.bytes_max;
        let (send, receive) = sync_channel(1);
        // ureq waits without a word; a thread of its own lets whoever asked for this stop waiting.
        let talk = move || {
            let reply = match carries {
                true => agent.run(request.map(|()| body.as_slice())),
                false => agent.run(request),
            };
            // Nobody may be listening any more; then there is nobody to tell.
            let whole =
                reply.map(|reply| read(reply, bytes_max, &|piece| send.send(Came::Piece(piece)).is_ok()));
            let _ = send.send(Came::Whole(whole));
        };
        let spawned = std::thread::Builder::new().name("courier".to_owned()).spawn(talk);
        spawned.map_err(|e| NoReply::NotSent(e.to_string()))?;
        let gone = |why: String| match connected.load(Ordering::SeqCst) {
            true => NoReply::Lost(why),
            false => NoReply::NotSent(why),
        };
        let until = Instant::now() + call.timeout + self.connect;
        loop {
            let came = receive.recv_timeout(TICK);
            // Also while pieces keep coming. A connection may come about in this very moment: once it was to be made,
            // nobody knows.
            if !matches!(came, Ok(Came::Whole(_))) {
                if cancelled() {
                    return Err(NoReply::Lost("stopped while it was under way".to_owned()));
                }
                if Instant::now() > until {
                    return Err(NoReply::Lost(format!("no answer within {}", lasting(call.timeout))));
                }
            }
            match came {
                Ok(Came::Piece(piece)) => on_piece(&piece),
                Ok(Came::Whole(Ok(reply))) => return Ok(reply),
                Ok(Came::Whole(Err(error))) => return Err(gone(in_words(&error, call))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(NoReply::Lost("the exchange broke off".to_owned()));
                }
            }
        }
    }
}

/// What comes of an exchange, in order.
enum Came {
    Piece(Vec<u8>),
    Whole(Result<Reply, ureq::Error>),
}

fn request(call: &Call<'_>) -> Result<http::Request<()>, String> {
    let mut request = http::Request::builder().method(call.method.as_str()).uri(call.url.to_string());
    for (name, value) in call.headers {
        let mut value =
            http::HeaderValue::from_bytes(value).map_err(|e| format!("the header `{name}`: {e}"))?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    request.header("Accept-Encoding", "identity").body(()).map_err(|e| e.to_string())
}

/// Bytes of an answer that are told at once.
const PIECE: usize = 16 * 1024;

/// Reads an answer to its end, or as far as it may go on, or as somebody hears it.
fn read(mut reply: http::Response<ureq::Body>, bytes_max: u64, on_piece: &dyn Fn(Vec<u8>) -> bool) -> Reply {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers =
        reply.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
    let (mut body, mut left_out) = (Vec::new(), None);
    let mut stream = reply.body_mut().as_reader().take(bytes_max.saturating_add(1));
    let mut piece = vec![0; PIECE];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => {
                let came = piece.get(..n).unwrap_or_default();
                body.extend_from_slice(came);
                if !on_piece(came.to_vec()) {
                    break;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                left_out = Some(format!("the answer broke off: {error}"));
                break;
            }
        }
    }
    if body.len() as u64 > bytes_max {
        body.truncate(usize::try_from(bytes_max).unwrap_or(usize::MAX));
        left_out = Some(format!("only the first {bytes_max} bytes of the answer were read"));
    }
    Reply { status: reply.status().as_u16(), headers, body, left_out }
}

fn in_words(error: &ureq::Error, call: &Call<'_>) -> String {
    use ureq::Error as E;
    let server = call.url.server();
    match error {
        E::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            format!("`{server}` could not be reached within {}", lasting(CONNECT))
        }
        E::Timeout(_) => format!("no answer within {}", lasting(call.timeout)),
        other => format!("`{server}`: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::web::{Method, WebUrl};
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::sync::mpsc;

    /// A server that gives every client this answer; what it was sent.
    fn server(answer: &'static str) -> (SocketAddr, mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut bytes = vec![0; 64 * 1024];
                let mut heard = String::new();
                while !(heard.contains("\r\n\r\n") && (heard.starts_with("GET") || heard.ends_with("END"))) {
                    match stream.read(&mut bytes) {
                        Ok(n) if n > 0 => heard.push_str(&String::from_utf8_lossy(&bytes[..n])),
                        _ => break,
                    }
                }
                let _ = stream.write_all(answer.as_bytes());
                if send.send(heard).is_err() {
                    return;
                }
            }
        });
        (at, receive)
    }

    fn call(url: &str, at: SocketAddr, body: Option<&str>, bytes_max: u64) -> Result<Reply, NoReply> {
        call_within(CONNECT, url, at, body, bytes_max)
    }

    fn call_within(
        connect: Duration,
        url: &str,
        at: SocketAddr,
        body: Option<&str>,
        bytes_max: u64,
    ) -> Result<Reply, NoReply> {
        let url: WebUrl = url.parse().unwrap();
        let headers = [("X-Key".to_owned(), Zeroizing::new(b"value of a secret".to_vec()))];
        let call = Call {
            method: if body.is_some() { Method::Post } else { Method::Get },
            url: &url,
            at,
            headers: &headers,
            body: body.map(str::as_bytes),
            timeout: Duration::from_secs(20),
            bytes_max,
        };
        FetchClient { connect, ..FetchClient::new(&Config::default()) }.call(&call, &|| false)
    }

    #[test]
    fn the_address_that_was_checked_is_dialled_whatever_the_name_leads_to() {
        let (at, heard) = server("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 4\r\n\r\ntext");
        let reply =
            call(&format!("http://nobody.invalid:{}/a?b", at.port()), at, Some("the END"), 100).unwrap();
        assert_eq!((reply.status, reply.body.as_slice(), reply.left_out), (200, &b"text"[..], None));
        assert!(reply.headers.contains(&("etag".to_owned(), "\"v1\"".to_owned())));
        let sent = heard.recv_timeout(Duration::from_secs(20)).unwrap().to_ascii_lowercase();
        assert!(sent.starts_with("post /a?b http/1.1\r\n"), "{sent}");
        assert!(sent.contains(&format!("host: nobody.invalid:{}\r\n", at.port())), "{sent}");
        assert!(sent.contains("x-key: value of a secret\r\n") && sent.ends_with("\r\n\r\nthe end"), "{sent}");
        assert!(sent.contains("content-length: 7\r\n") && !sent.contains("expect"), "{sent}");
    }

    #[test]
    fn a_redirect_comes_back_and_a_long_answer_is_cut() {
        let (to, elsewhere) = server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        let answer =
            format!("HTTP/1.1 302 Found\r\nLocation: http://{to}/\r\nContent-Length: 10\r\n\r\n0123456789");
        let (at, _heard) = server(answer.leak());
        let reply = call(&format!("http://{at}/"), at, None, 4).unwrap();
        assert_eq!((reply.status, reply.body.as_slice()), (302, &b"0123"[..]));
        assert!(reply.left_out.is_some_and(|why| why.contains("first 4 bytes")));
        assert!(elsewhere.try_recv().is_err());
    }

    #[test]
    fn what_never_left_is_told_from_what_may_have_arrived() {
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let refused = call(&format!("http://{nobody}/"), nobody, Some("END"), 10);
        assert!(matches!(refused, Err(NoReply::NotSent(_))), "{refused:?}");
        let (at, heard) = server("");
        let lost = call(&format!("http://{at}/"), at, Some("END"), 10);
        assert!(matches!(lost, Err(NoReply::Lost(_))), "{lost:?}");
        assert!(heard.recv_timeout(Duration::from_secs(20)).is_ok());
        // No TLS comes about, so no request went out.
        let patience = Duration::from_millis(200);
        let clear = call_within(patience, &format!("https://{at}/"), at, Some("END"), 10);
        assert!(matches!(clear, Err(NoReply::NotSent(_))), "{clear:?}");
    }
}
