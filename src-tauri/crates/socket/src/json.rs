//! A WebSocket over which JSON is spoken. It is read for a time, and tells text from its end.

use crate::Fault;
use crate::link::{Allowance, Link, dial};
use serde_json::Value;
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};
use ureq::tls::Certificate;
use url::Url;

/// Bytes of one message.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long a connection may take to come about, once the server is reached.
const GREETING: Duration = Duration::from_secs(10);

/// A connection to a service.
pub struct Socket {
    socket: WebSocket<Link>,
    allowance: Allowance,
    host: (String, u16),
}

/// What came of reading.
pub enum Heard {
    /// A message.
    Json(Value),
    /// Nothing, for as long as was waited.
    Nothing,
    /// The end, with its code where there is one.
    End(Option<u16>),
}

impl Socket {
    /// Connects to an address as it is written.
    ///
    /// # Errors
    /// As [`Self::open`], and where it is no address of a WebSocket.
    pub fn at(address: &str, authorities: &[Certificate<'static>]) -> Result<Self, Fault> {
        let url =
            Url::parse(address).ok().filter(|url| matches!(url.scheme(), "wss" | "ws") && url.has_host());
        Self::open(
            &url.ok_or_else(|| Fault::new("it has no address such as `wss://relay.example`"))?,
            authorities,
        )
    }

    /// Connects to an address.
    ///
    /// # Errors
    /// When nobody there opens a WebSocket.
    pub fn open(url: &Url, authorities: &[Certificate<'static>]) -> Result<Self, Fault> {
        let link = dial(url, authorities)?;
        let allowance = link.allowance();
        allowance.renew(64 * 1024, Instant::now() + GREETING);
        let config = WebSocketConfig::default()
            .read_buffer_size(16 * 1024)
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        // What went wrong would be told with the address, which may hold a ticket.
        let (socket, _) = tungstenite::client::client_with_config(url.as_str(), link, Some(config))
            .map_err(|_| Fault::new("the service does not open its socket"))?;
        Ok(Self { socket, allowance, host: crate::host_of(url) })
    }

    /// The host that it leads to, with its port.
    pub fn host(&self) -> (String, u16) {
        self.host.clone()
    }

    /// The next message, within a time. What is no JSON is an end: nobody knows what it was.
    pub fn read(&mut self, until: Instant) -> Heard {
        loop {
            if Instant::now() >= until {
                return Heard::Nothing;
            }
            self.allowance.renew(2 * MESSAGE_BYTES_MAX as u64, until);
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    return serde_json::from_str(text.as_str()).map_or(Heard::End(None), Heard::Json);
                }
                Ok(Message::Close(frame)) => return Heard::End(frame.map(|frame| frame.code.into())),
                Ok(_) => {}
                Err(Error::Io(error))
                    if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) =>
                {
                    return Heard::Nothing;
                }
                Err(_) => return Heard::End(None),
            }
        }
    }

    /// Sends a message; whether it went out.
    pub fn write(&mut self, message: &Value) -> bool {
        self.socket.send(Message::text(message.to_string())).is_ok()
    }
}
