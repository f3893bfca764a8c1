//! The model in the box: loads one file of weights, and answers requests of the OpenAI-compatible chat API over its standard
//! streams, one JSON line each way. It opens no port, and nothing but the weights.
//!
//! It ends with its input, so that it outlives whoever started it by nothing.

mod engine;
#[allow(dead_code, reason = "a part of it is for the other side")]
#[path = "../../crates/reasoning/src/model_box/protocol.rs"]
mod protocol;
mod request;
mod text;

use engine::Engine;
use protocol::{ASKED_BYTES_MAX, Ask, Failure, PROTOCOL, Said};
use request::Request;
use std::collections::BTreeSet;
use std::io::{BufRead as _, Read as _, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Answers that are called off.
#[derive(Clone, Default)]
pub struct Cancelled(Arc<Mutex<BTreeSet<u64>>>);

impl Cancelled {
    fn add(&self, id: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
    }

    /// Whether an answer is.
    pub fn has(&self, id: u64) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }
}

/// One line; when nobody reads it, there is nobody to work for.
pub fn say(said: &Said) {
    let line = serde_json::to_string(said).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Something did not work.
pub fn failed(id: Option<u64>, kind: Failure, why: impl Into<String>) {
    say(&Said::Failed { id, kind, why: why.into() });
}

/// Hears lines for as long as there are any, also while an answer is written, and ends the process with them.
fn hear(tell: &Sender<Ask<Request>>, cancelled: &Cancelled) -> ! {
    let mut from = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        match from.by_ref().take(ASKED_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => std::process::exit(0),
            Ok(_) if line.len() > ASKED_BYTES_MAX => {
                failed(None, Failure::Request, format!("a line is longer than {ASKED_BYTES_MAX} bytes"));
                std::process::exit(1);
            }
            Ok(_) => {}
        }
        match serde_json::from_slice(&line) {
            Ok(Ask::Cancel { id }) => cancelled.add(id),
            Ok(ask) => drop(tell.send(ask)),
            Err(error) => failed(None, Failure::Request, format!("a line is none of the protocol: {error}")),
        }
    }
}

fn main() {
    let (tell, asked) = channel();
    let cancelled = Cancelled::default();
    let heard = cancelled.clone();
    std::thread::spawn(move || hear(&tell, &heard));
    serve(&asked, &cancelled);
}

fn serve(asked: &Receiver<Ask<Request>>, cancelled: &Cancelled) {
    while let Ok(ask) = asked.recv() {
        match ask {
            Ask::Load { protocol, .. } if protocol != PROTOCOL => failed(
                None,
                Failure::Request,
                format!(
                    "this program speaks protocol {PROTOCOL}, and is asked in {protocol}: build it again"
                ),
            ),
            Ask::Load { path, context, threads, .. } => {
                return engine::load(&path, context, threads, &mut |engine| work(engine, asked, cancelled));
            }
            Ask::Generate { id, .. } => failed(Some(id), Failure::Request, "no weights are loaded"),
            Ask::Cancel { .. } => {}
        }
    }
}

fn work(engine: &mut Engine<'_>, asked: &Receiver<Ask<Request>>, cancelled: &Cancelled) {
    while let Ok(ask) = asked.recv() {
        match ask {
            Ask::Generate { id, request } => {
                let answer = std::panic::AssertUnwindSafe(|| engine.answer(id, &request, cancelled));
                match std::panic::catch_unwind(answer) {
                    Ok(Ok(())) => {}
                    Ok(Err((kind, why))) => failed(Some(id), kind, why),
                    Err(_) => failed(Some(id), Failure::Engine, "the engine gave this request up"),
                }
            }
            Ask::Load { .. } => failed(None, Failure::Request, "weights are loaded once"),
            Ask::Cancel { .. } => {}
        }
    }
}
