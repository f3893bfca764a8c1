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

/// What a request is answered with that its client has given up: "request cancelled" of the language server protocol, which
/// is of the same family and has a word for it.
const CANCELLED: i64 = -32_800;

/// A request that is not answered yet.
struct Asked {
    /// What its client calls it.
    id: Value,
    answer: oneshot::Sender<Value>,
}

type Waiting = Arc<Mutex<BTreeMap<u64, Asked>>>;

/// What goes to the server, and the last number that was given to a request.
type To = Arc<tokio::sync::Mutex<(DuplexStream, u64)>>;

/// One conversation of one client. Dropped, it is over.
pub struct Conversation {
    to: To,
    waiting: Waiting,
    server: Server,
}

impl Conversation {
    /// Begins on the runtime of whoever calls this.
    pub fn begin(hermit: Arc<dyn Hermit>, options: Options) -> Self {
        let (to, from_client) = duplex(BETWEEN);
        let (to_client, from) = duplex(BETWEEN);
        let waiting = Waiting::default();
        let server = Server::carried(hermit, options);
        let served = server.clone();
        tokio::spawn(async move {
            // One that never greets, or greets wrongly, is over.
            if let Ok(running) = served.serve((from_client, to_client)).await {
                let _ = running.waiting().await;
            }
        });
        tokio::spawn(hear(from, Arc::clone(&waiting), server.clone()));
        Self { to: Arc::new(tokio::sync::Mutex::new((to, 0))), waiting, server }
    }

    /// One message of the client, and what is answered; none for what wants no answer, or when the conversation is over.
    /// No progress is told: a call that waits for a person answers so within seconds.
    pub async fn say(&self, mut message: Value) -> Option<Value> {
        let id = message.get("id").cloned().filter(|id| !id.is_null() && message.get("method").is_some());
        if let Some(meta) = message.pointer_mut("/params/_meta").and_then(Value::as_object_mut) {
            meta.remove("progressToken");
        }
        if message.get("method").and_then(Value::as_str) == Some("notifications/cancelled") {
            self.give_up(&mut message)?;
        }
        // To its end, also when whoever asks hangs up in the middle: half a line would spoil the next one.
        let sent = tokio::spawn(send(Arc::clone(&self.to), Arc::clone(&self.waiting), message, id.clone()));
        let mut answer = sent.await.ok()??.await.ok()?;
        renamed(&mut answer, id?);
        Some(answer)
    }

    /// Names in a cancellation the request as the server knows it, and answers whoever waits for that: the server does not.
    /// None for one that nobody waits for: what it says is about no other.
    fn give_up(&self, message: &mut Value) -> Option<()> {
        let named = message.pointer_mut("/params/requestId")?;
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let number = waiting.iter().rev().find(|(_, asked)| asked.id == *named).map(|(number, _)| *number);
        let Some(number) = number else {
            self.server.is_given_up(named);
            return None;
        };
        let asked = waiting.remove(&number)?;
        drop(waiting);
        *named = json!(number);
        let error = json!({ "code": CANCELLED, "message": "the request was cancelled by its client" });
        // Who has hung up meanwhile hears nothing, and wanted nothing.
        let _ = asked.answer.send(json!({ "jsonrpc": "2.0", "id": number, "error": error }));
        Some(())
    }
}

/// Sends a message; where its answer comes, when it wants one.
async fn send(
    to: To,
    waiting: Waiting,
    mut message: Value,
    id: Option<Value>,
) -> Option<oneshot::Receiver<Value>> {
    let mut to = to.lock().await;
    let answered = id.map(|id| {
        to.1 = to.1.wrapping_add(1);
        let (answer, answered) = oneshot::channel();
        waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(to.1, Asked { id, answer });
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
        let Some(id) = id else { continue };
        let asked = waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        // Of a call that was given up nobody waits for the answer.
        if let Some(asked) = asked {
            server.hand_over(message, asked.id, asked.answer);
        }
    }
    waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Duration;
    use tokio::time::timeout;
    use wire::Error;

    /// An answer that does not come stops nothing else than its test.
    const LIMIT: Duration = Duration::from_secs(300);

    /// A store in which a call takes until it is let go, and is done then.
    struct Slow {
        begun: Mutex<Sender<Value>>,
        go: Mutex<Receiver<()>>,
    }

    impl Hermit for Slow {
        fn ask(&self, name: &str, params: Value) -> Result<Value, Box<Error>> {
            Ok(match name {
                "agent.tools" => json!({ "tools": [
                    { "name": "write", "description": "", "parameters": { "type": "object" } }] }),
                "agent.open" => json!({
                    "task_id": "task_1", "workspace": "/w", "profile": "local_edit_allowed", "again": false }),
                "agent.call" => {
                    self.begun.lock().unwrap().send(params).unwrap();
                    self.go.lock().unwrap().recv().unwrap();
                    called("done")
                }
                "agent.stop" => called("done"),
                other => panic!("{other} is not asked for"),
            })
        }
    }

    fn called(status: &str) -> Value {
        json!({ "status": status, "key": "key-1", "text": ["written"], "said": [], "is_error": false, "summary": "write",
            "receipt_id": null, "approval_id": null, "clarification_id": null })
    }

    fn greeting(id: u64) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } } })
    }

    fn cancelled(id: u64) -> Value {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
    }

    fn call(id: u64) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "write", "arguments": {} } })
    }

    #[test]
    fn a_call_that_is_cancelled_is_that_call_and_made_again_it_is_still_the_same() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let (begun, at_work) = channel();
        // Dropped before the runtime, which waits for the calls that wait for this.
        let (go, wait) = channel();
        let hermit = Slow { begun: Mutex::new(begun), go: Mutex::new(wait) };
        let options = Options::of_a_test();
        let story = async {
            let talk = Arc::new(Conversation::begin(Arc::new(hermit), options));
            assert!(talk.say(greeting(40)).await.is_some());
            talk.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
            let begin = |id| {
                let talk = Arc::clone(&talk);
                tokio::spawn(async move { talk.say(call(id)).await })
            };
            let params = |wait: &Receiver<Value>| wait.recv_timeout(Duration::from_secs(20)).unwrap();
            // The client's numbers are its own: 2 is what the server would call this call.
            let first = begin(41);
            assert_eq!(params(&at_work)["seen"], json!([]));
            assert_eq!(talk.say(cancelled(2)).await, None, "that is none of its requests");
            assert_eq!(talk.say(cancelled(41)).await, None);
            let answer = first.await.unwrap().expect("the conversation goes on");
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&json!(41), &json!(CANCELLED)),
                "{answer}"
            );
            // It was done all the same, and nobody has heard of it.
            go.send(()).unwrap();
            let again = begin(42);
            assert_eq!(params(&at_work)["seen"], json!([]), "what nobody heard was not received");
            go.send(()).unwrap();
            let answer = again.await.unwrap().expect("an answer");
            assert_eq!(answer["result"]["structuredContent"]["key"], json!("key-1"), "{answer}");
            // Who gives a request up reads no answer to it, also not one that was on its way.
            assert_eq!(talk.say(cancelled(42)).await, None);
            let again = begin(43);
            assert_eq!(params(&at_work)["seen"], json!([]), "it was given up as its answer came");
            go.send(()).unwrap();
            again.await.unwrap().expect("an answer");
            let next = begin(44);
            assert_eq!(
                params(&at_work)["seen"],
                json!(["key-1"]),
                "what was heard is told with the next call"
            );
            go.send(()).unwrap();
            next.await.unwrap().expect("an answer");
        };
        runtime.block_on(async { timeout(LIMIT, story).await.expect("in a minute") });
    }

    #[test]
    fn an_answer_that_nobody_waits_for_was_not_received() {
        let (begun, _at_work) = channel();
        let (_go, wait) = channel();
        let hermit = Arc::new(Slow { begun: Mutex::new(begun), go: Mutex::new(wait) });
        let server = Server::carried(hermit, Options::of_a_test());
        let answer = |status: &str| json!({ "id": 2, "result": { "structuredContent": called(status) } });
        let (to, asked) = oneshot::channel();
        drop(asked);
        server.hand_over(answer("done"), json!(1), to);
        let (to, _asked) = oneshot::channel();
        server.hand_over(answer("working"), json!(2), to);
        assert!(server.known().seen.is_empty(), "nobody listens to the one, and the other goes on");
        let (to, _asked) = oneshot::channel();
        server.hand_over(answer("refused"), json!("three"), to);
        let seen: Vec<Value> = server.known().seen.iter().map(|seen| seen.request.clone()).collect();
        assert_eq!(seen, [json!("three")]);
    }

    #[tokio::test]
    async fn over_standard_streams_an_answer_counts_until_its_request_is_given_up() {
        timeout(LIMIT, answered_and_given_up()).await.expect("in a minute");
    }

    async fn answered_and_given_up() {
        let (begun, _at_work) = channel();
        let (go, wait) = channel();
        let hermit = Arc::new(Slow { begun: Mutex::new(begun), go: Mutex::new(wait) });
        let server = Server::new(hermit, Options::of_a_test());
        let ((mut to, from_client), (to_client, from)) = (duplex(BETWEEN), duplex(BETWEEN));
        let served = server.clone();
        tokio::spawn(async move {
            let running = served.serve((from_client, to_client)).await.expect("it greets");
            running.waiting().await
        });
        let mut lines = BufReader::new(from).lines();
        to.write_all(format!("{}\n", greeting(1)).as_bytes()).await.unwrap();
        lines.next_line().await.unwrap().expect("a greeting");
        for message in [json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }), call(7)] {
            to.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
        go.send(()).unwrap();
        lines.next_line().await.unwrap().expect("an answer");
        let seen = || server.known().seen.iter().map(|seen| seen.request.clone()).collect::<Vec<_>>();
        assert_eq!(seen(), [json!(7)]);
        to.write_all(format!("{}\n", cancelled(7)).as_bytes()).await.unwrap();
        for _ in 0..4_000 {
            if seen().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(seen().is_empty(), "its client reads no answer to what it gave up");
    }
}
