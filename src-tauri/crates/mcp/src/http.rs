//! A conversation whose messages come one by one, as over HTTP, instead of over standard input and output.

use crate::server::Server;
use crate::{Hermit, Options};
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::sync::oneshot;

/// Bytes between client and server that nobody has read yet.
const BETWEEN: usize = 64 * 1024;

type Waiting = Arc<Mutex<BTreeMap<u64, oneshot::Sender<Value>>>>;

/// What goes to the server, and the last number that was given to a request.
type To = Arc<tokio::sync::Mutex<(DuplexStream, u64)>>;

/// One conversation of one client. Dropped, it is over.
pub struct Conversation {
    to: To,
    waiting: Waiting,
}

impl Conversation {
    /// Begins on the runtime of whoever calls this.
    pub fn begin(hermit: Arc<dyn Hermit>, options: Options) -> Self {
        let (to, from_client) = duplex(BETWEEN);
        let (to_client, from) = duplex(BETWEEN);
        let waiting = Waiting::default();
        let server = Server::new(hermit, options);
        let served = server.clone();
        tokio::spawn(async move {
            // One that never greets, or greets wrongly, is over.
            if let Ok(running) = served.serve((from_client, to_client)).await {
                let _ = running.waiting().await;
            }
        });
        tokio::spawn(hear(from, Arc::clone(&waiting), server));
        Self { to: Arc::new(tokio::sync::Mutex::new((to, 0))), waiting }
    }

    /// One message of the client, and what is answered; none for what wants no answer, or when the conversation is over.
    /// No progress is told: a call that waits for a person answers so within seconds.
    pub async fn say(&self, mut message: Value) -> Option<Value> {
        let id = message.get("id").cloned().filter(|id| !id.is_null() && message.get("method").is_some());
        if let Some(meta) = message.pointer_mut("/params/_meta").and_then(Value::as_object_mut) {
            meta.remove("progressToken");
        }
        // To its end, also when whoever asks hangs up in the middle: half a line would spoil the next one.
        let sent = tokio::spawn(send(Arc::clone(&self.to), Arc::clone(&self.waiting), message, id.is_some()));
        let mut answer = sent.await.ok()??.await.ok()?;
        renamed(&mut answer, id?);
        Some(answer)
    }
}

/// Sends a message; where its answer comes, when it wants one.
async fn send(
    to: To,
    waiting: Waiting,
    mut message: Value,
    wants_answer: bool,
) -> Option<oneshot::Receiver<Value>> {
    let mut to = to.lock().await;
    let answered = wants_answer.then(|| {
        to.1 = to.1.wrapping_add(1);
        let (send, answered) = oneshot::channel();
        waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(to.1, send);
        renamed(&mut message, json!(to.1));
        answered
    });
    to.0.write_all(format!("{message}\n").as_bytes()).await.ok()?;
    answered
}

/// Gives a message another identifier: those of clients are their own, and two clients may use the same.
fn renamed(message: &mut Value, id: Value) {
    if let Some(fields) = message.as_object_mut() {
        fields.insert("id".to_owned(), id);
    }
}

/// Hands each answer to whoever waits for it: what nobody heard was not received. What the server says besides goes to
/// nobody: there is no stream for it.
async fn hear(from: DuplexStream, waiting: Waiting, server: Server) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let id = message.get("id").and_then(Value::as_u64).filter(|_| message.get("method").is_none());
        let waits = id.and_then(|id| waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
        if let Some(waits) = waits
            && let Err(message) = waits.send(message)
            && let Some(key) = message.pointer("/result/structuredContent/key").and_then(Value::as_str)
        {
            server.was_not_received(key);
        }
    }
    waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
}
