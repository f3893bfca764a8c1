//! One look at what a relay keeps, for whoever waits for an event of somebody. Nothing is signed, and nobody is told who asks.

use super::wrap;
use crate::{Fault, clean};
use serde_json::{Value, json};
use socket::{Heard, Socket};
use std::time::{Duration, Instant};
use ureq::tls::Certificate;
use url::Url;

/// Events of one look: a relay is asked for so many, and no more are read.
pub const LOOK_EVENTS_MAX: usize = 200;
/// How long a relay may take to answer.
const ANSWER: Duration = Duration::from_secs(10);
/// How long one listens before one asks whether somebody still waits.
const LISTENS: Duration = Duration::from_millis(250);
/// Messages of a relay that are read within a look.
const SAID_MAX: usize = 2 * LOOK_EVENTS_MAX;
/// The subscription.
const LOOK: &str = "look";

/// Events that a relay keeps and that fit a filter of NIP-01, the newest of them, each with an id and a signature that hold. `is_over`:
/// nobody waits for it any more.
///
/// # Errors
/// [`Fault::Away`] where the relay does not answer; [`Fault::Refused`] where it declines, or this is no address of a relay.
pub fn events_at(
    relay: &str,
    filter: &Value,
    authorities: &[Certificate<'static>],
    is_over: &dyn Fn() -> bool,
) -> Result<Vec<Value>, Fault> {
    let url = Url::parse(relay).map_err(|_| Fault::refused("this is no address of a relay"))?;
    let mut socket = Socket::open(&url, authorities)?;
    let until = Instant::now() + ANSWER;
    if !socket.write(&json!(["REQ", LOOK, filter])) {
        return Err(Fault::away("the relay hung up"));
    }
    let (mut found, mut said) = (Vec::new(), 0_usize);
    while Instant::now() < until && said < SAID_MAX && !is_over() {
        let message = match socket.read(until.min(Instant::now() + LISTENS)) {
            Heard::Json(message) => message,
            Heard::Nothing => continue,
            Heard::End(_) => return Err(Fault::away("the relay hung up")),
        };
        said = said.saturating_add(1);
        let text = |at: usize| message.get(at).and_then(Value::as_str).unwrap_or_default();
        if text(1) != LOOK {
            continue;
        }
        match text(0) {
            "EVENT" if found.len() < LOOK_EVENTS_MAX => found.extend(message.get(2).and_then(wrap::held)),
            "EOSE" => {
                socket.write(&json!(["CLOSE", LOOK]));
                return Ok(found);
            }
            "CLOSED" => return Err(Fault::refused(clean::said(text(2), &[]))),
            _ => {}
        }
    }
    Err(Fault::away("the relay does not answer in time"))
}
