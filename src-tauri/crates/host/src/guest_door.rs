//! Hermit's tools for a guest: what it asks for over the socket inside its walls goes the way of every other program's
//! agent, as a task of its own, and what it asked for is told in the receipt of its turn.

use crate::Local;
use effects::{GuestDoor, LocalListener, LocalStream, OpenDoor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::Shutdown;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use wire::{Caller, Error};

/// Connections of one guest at once: an agent and its helpers start one each.
const CONNECTIONS_MAX: usize = 8;

/// Serves guests of the store that this process holds, once it is known.
#[derive(Default)]
pub struct GuestDoors(OnceLock<Weak<Local>>);

impl GuestDoors {
    /// The process is this one; the first one stays.
    pub(crate) fn of(&self, local: &Arc<Local>) {
        self.0.get_or_init(|| Arc::downgrade(local));
    }
}

impl GuestDoor for GuestDoors {
    fn serve(&self, listener: LocalListener, root: &Path) -> Result<Option<Box<dyn OpenDoor>>, String> {
        let Some(local) = self.0.get().cloned() else { return Ok(None) };
        let Some(held) = local.upgrade() else { return Ok(None) };
        let asked = Arc::new(Asked { local: local.clone(), told: Mutex::default() });
        let open = Arc::new(Open { over: AtomicBool::new(false), streams: Mutex::default(), asked });
        let options = mcp::Options {
            workspace: root.to_str().ok_or("the name of the folder is not UTF-8")?.to_owned(),
            is_named: true,
            profile: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            proofs: held.home().dir().join("proofs"),
        };
        let serving = Arc::clone(&open);
        let thread = std::thread::Builder::new().name("guest".to_owned());
        thread
            .spawn(move || serve(&listener, &serving, &options))
            .map_err(|e| format!("no thread to serve them with: {e}"))?;
        Ok(Some(Box::new(Handle(open))))
    }
}

/// What a guest has asked for.
#[derive(Default)]
struct Told {
    tasks: Vec<String>,
    tools: BTreeMap<String, usize>,
    /// Why it could not be served, once.
    failed: Option<String>,
}

/// The store, as a program has it.
struct Asked {
    local: Weak<Local>,
    told: Mutex<Told>,
}

impl Asked {
    /// Says once in the receipt why something was not served.
    fn fails(&self, why: &str) {
        tracing::warn!(why, "a guest is not served");
        lock(&self.told).failed.get_or_insert_with(|| why.to_owned());
    }
}

impl mcp::Hermit for Asked {
    fn ask(&self, name: &str, params: Value) -> Result<Value, Box<Error>> {
        let local = self.local.upgrade().ok_or_else(|| Box::new(api::no_host()))?;
        let tool = params.get("tool").and_then(Value::as_str).map(str::to_owned);
        let answer = api::call_for(&*local, Caller::Program, name, params, &[]).map_err(Box::new)?;
        let mut told = lock(&self.told);
        match (name, tool, answer.get("task_id").and_then(Value::as_str)) {
            ("agent.call", Some(tool), _) => *told.tools.entry(tool).or_default() += 1,
            ("agent.open", _, Some(task)) if !told.tasks.iter().any(|known| known == task) => {
                told.tasks.push(task.to_owned());
            }
            _ => {}
        }
        drop(told);
        Ok(answer)
    }
}

struct Open {
    over: AtomicBool,
    streams: Mutex<Vec<LocalStream>>,
    asked: Arc<Asked>,
}

struct Handle(Arc<Open>);

impl OpenDoor for Handle {
    fn end(&self) -> Vec<String> {
        self.0.over.store(true, Ordering::SeqCst);
        for stream in lock(&self.0.streams).drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let told = std::mem::take(&mut *lock(&self.0.asked.told));
        let failed = told.failed.map(|why| format!("Hermit's own tools could not be served to it: {why}"));
        if told.tasks.is_empty() {
            return failed.into_iter().collect();
        }
        let tools: Vec<String> = told.tools.iter().map(|(tool, times)| format!("{tool} ({times})")).collect();
        let tools = if tools.is_empty() { "nothing that acts".to_owned() } else { tools.join(", ") };
        let asked = format!("it asked Hermit itself for {tools}, as the task {}", told.tasks.join(", "));
        std::iter::once(asked).chain(failed).collect()
    }
}

fn serve(listener: &LocalListener, open: &Arc<Open>, options: &mcp::Options) {
    for stream in listener.incoming() {
        if open.over.load(Ordering::SeqCst) {
            return;
        }
        let stream = stream.and_then(|stream| Ok((stream.try_clone()?, stream)));
        let (second, stream) = match stream {
            Ok(both) => both,
            // Nobody is served by a socket that fails; trying again at once would be for nothing.
            Err(error) => return open.asked.fails(&error.to_string()),
        };
        let mut streams = lock(&open.streams);
        if streams.len() >= CONNECTIONS_MAX {
            // Dropped: the guest sees a connection that ends.
            continue;
        }
        streams.push(second);
        drop(streams);
        let (asked, options) = (Arc::clone(&open.asked) as Arc<dyn mcp::Hermit>, options.clone());
        let thread = std::thread::Builder::new().name("guest's tools".to_owned());
        let served = thread.spawn(move || {
            if let Err(why) = crate::guest_stream::serve(asked, options, stream) {
                tracing::info!(why, "a guest's connection is over");
            }
        });
        if let Err(error) = served {
            tracing::warn!(%error, "a guest's connection was not taken");
            open.asked.fails(&error.to_string());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
