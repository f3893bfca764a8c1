//! One WebSocket over which frames of text go both ways, for as long as the other side is there.

use crate::link::{Allowance, Link, Terms, dial_on};
use crate::shared::Shared;
use crate::wake::Handle;
use crate::{FRAME_BYTES_MAX, Fault, GUEST_FRAME_BYTES_MAX, host_of};
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};
use ureq::tls::Certificate;
use url::Url;

/// How long both sides may take to agree on a WebSocket.
pub(crate) const GREETING: Duration = Duration::from_secs(10);
/// Bytes that are read until then.
const GREETING_BYTES_MAX: u64 = 16 * 1024;
/// How long the other side may be silent before it is asked whether it is there, and how long it may take to answer.
const BEAT: Duration = Duration::from_secs(45);
const ANSWER: Duration = Duration::from_secs(30);
/// Frames that are written before it is looked at what came.
const IN_A_ROW: usize = 16;
/// Why a connection ended that this side ended.
const ENDED: &str = "it was ended here";

pub(crate) struct Talk {
    socket: WebSocket<Link>,
    allowance: Allowance,
    heard_at: Instant,
    asked_at: Option<Instant>,
    beat: Duration,
    answer: Duration,
}

/// What came of reading.
pub(crate) enum Heard {
    /// A frame of text.
    Text(Vec<u8>),
    /// A sign of life.
    Other,
    /// Nothing yet.
    Nothing,
    /// The end.
    End(&'static str),
}

fn config(bytes: usize) -> WebSocketConfig {
    let config = WebSocketConfig::default().read_buffer_size(16 * 1024);
    config.max_message_size(Some(bytes)).max_frame_size(Some(bytes))
}

/// Refuses what a page in a browser opens: a browser says of which page, and a program does not.
#[allow(clippy::result_large_err, reason = "the library says what is given back")]
fn without_pages(request: &Request, response: Response) -> Result<Response, ErrorResponse> {
    if !request.headers().contains_key("origin") {
        return Ok(response);
    }
    let mut refusal = ErrorResponse::new(None);
    *refusal.status_mut() = tungstenite::http::StatusCode::FORBIDDEN;
    Err(refusal)
}

/// Agrees on a WebSocket with whoever connected here, until a time.
pub(crate) fn greet(tcp: TcpStream, bytes: usize, until: Instant) -> Option<WebSocket<Link>> {
    let link = Link::over(tcp).ok()?;
    link.allowance().renew(GREETING_BYTES_MAX, until);
    tungstenite::accept_hdr_with_config(link, without_pages, Some(config(bytes))).ok()
}

impl Talk {
    /// Connects to an address.
    pub(crate) fn dial(
        url: &Url,
        authorities: &[Certificate<'static>],
        terms: &Terms<'_>,
        bytes: usize,
    ) -> Result<Self, Fault> {
        let link = dial_on(url, authorities, terms)?;
        link.allowance().renew(4 * GREETING_BYTES_MAX, Instant::now() + GREETING);
        let opened = tungstenite::client::client_with_config(url.as_str(), link, Some(config(bytes)));
        let (host, port) = host_of(url);
        let (socket, _) =
            opened.map_err(|_| Fault::new(format!("`{host}:{port}` does not open a WebSocket")))?;
        Ok(Self::over(socket))
    }

    /// Takes up a connection that came here, and that proved nothing yet.
    pub(crate) fn accept(tcp: TcpStream, until: Instant) -> Option<Self> {
        greet(tcp, GUEST_FRAME_BYTES_MAX, until).map(Self::over)
    }

    fn over(socket: WebSocket<Link>) -> Self {
        let allowance = socket.get_ref().allowance();
        Self { socket, allowance, heard_at: Instant::now(), asked_at: None, beat: BEAT, answer: ANSWER }
    }

    /// The connection below it.
    pub(crate) fn tcp(&self) -> &TcpStream {
        self.socket.get_ref().tcp()
    }

    /// Reads frames of full size from now on.
    pub(crate) fn trust(&mut self) {
        self.socket.set_config(|config| {
            *config = config.max_message_size(Some(FRAME_BYTES_MAX)).max_frame_size(Some(FRAME_BYTES_MAX));
        });
    }

    /// What is there to be read now.
    fn look(&mut self) -> Heard {
        self.allowance.look(2 * FRAME_BYTES_MAX as u64);
        match self.socket.read() {
            Ok(Message::Text(text)) => Heard::Text(text.as_str().as_bytes().to_vec()),
            Ok(Message::Close(_)) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => {
                Heard::End("it hung up")
            }
            Ok(_) => Heard::Other,
            Err(Error::Io(error)) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                Heard::Nothing
            }
            Err(Error::Io(_)) => Heard::End("the connection broke off"),
            Err(Error::Capacity(_)) => Heard::End("it sent a larger frame than is read"),
            Err(_) => Heard::End("it does not speak as a WebSocket does"),
        }
    }

    /// Writes a frame; whether it went out.
    pub(crate) fn write(&mut self, frame: Vec<u8>) -> bool {
        String::from_utf8(frame).is_ok_and(|text| self.socket.send(Message::text(text)).is_ok())
    }

    /// The next frame, until a time; nothing where none came.
    pub(crate) fn hear(&mut self, handle: &Handle, until: Instant) -> Heard {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if handle.is_over() {
                return Heard::End(ENDED);
            }
            if left.is_zero() {
                return Heard::Nothing;
            }
            match self.look() {
                Heard::Other => {}
                Heard::Nothing => handle.wait(self.tcp(), left),
                heard => return heard,
            }
        }
    }

    /// Gives on what comes and writes what waits, until the end; why it ended. Nothing more is read before what came is taken.
    pub(crate) fn speak(
        &mut self,
        shared: &Shared,
        handle: &Handle,
        until: Option<Instant>,
        mut take: impl FnMut(Vec<u8>) -> bool,
    ) -> &'static str {
        self.heard_at = Instant::now();
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if shared.is_over() || handle.is_over() || left.is_some_and(|left| left.is_zero()) {
                return ENDED;
            }
            for frame in std::iter::from_fn(|| handle.next()).take(IN_A_ROW) {
                if !self.write(frame) {
                    return "it does not take what is written to it";
                }
            }
            match self.look() {
                Heard::Text(frame) => {
                    if !take(frame) {
                        return ENDED;
                    }
                    self.is_there();
                }
                Heard::Other => self.is_there(),
                Heard::End(why) => return why,
                Heard::Nothing if !handle.is_empty() => {}
                Heard::Nothing => {
                    let Some(within) = self.patience() else { return "it does not answer" };
                    let within = left.map_or(within, |left| left.min(within));
                    handle.wait(self.tcp(), within);
                }
            }
        }
    }

    fn is_there(&mut self) {
        (self.heard_at, self.asked_at) = (Instant::now(), None);
    }

    /// How long it is waited for the other side, which is asked whether it is there when it was silent for long; none where it
    /// is gone.
    fn patience(&mut self) -> Option<Duration> {
        if let Some(asked_at) = self.asked_at {
            return self.answer.checked_sub(asked_at.elapsed()).filter(|left| !left.is_zero());
        }
        let left = self.beat.saturating_sub(self.heard_at.elapsed());
        if !left.is_zero() {
            return Some(left);
        }
        self.asked_at = Some(Instant::now());
        let is_asked = self.socket.send(Message::Ping(tungstenite::Bytes::new())).is_ok();
        is_asked.then_some(self.answer)
    }
}

#[cfg(test)]
mod tests;
