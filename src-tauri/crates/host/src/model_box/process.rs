//! The sidecar of one model: started behind walls when it is asked, shared by all tasks one after the other, ended when
//! nobody asks it for a while.

use crate::chance::SystemClock;
use effects::{Digests, Lone, Pipes, Sandbox, ServerSessions};
use model::Clock as _;
use reasoning::model_box::protocol::{Ask, Because, Failure, PROTOCOL, SAID_BYTES_MAX, Said};
use reasoning::model_box::{self, Heard};
use reasoning::{HttpReply, ModelHttpError};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

/// How often somebody who waits is asked whether they still do.
const TICK: Duration = Duration::from_millis(200);
/// How often sidecars that nobody asks are looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How long weights may take to load.
const LOADING: Duration = Duration::from_secs(10 * 60);
/// How long a sidecar that is called off may take to say that it heard.
const CALLED_OFF: Duration = Duration::from_secs(5);
/// How long one that closed its streams may take to end.
const ENDING: Duration = Duration::from_millis(500);

/// A model and how it is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) program: PathBuf,
    pub(super) sha256: String,
    pub(super) weights: PathBuf,
    /// Bytes of the weights, and when they were written: other ones are read before they are loaded.
    pub(super) bytes: u64,
    pub(super) written: Option<SystemTime>,
    /// Bytes of memory that it may fill, the weights among them.
    pub(super) memory: u64,
    pub(super) context: u32,
    pub(super) idle: Duration,
}

/// Whoever asks: hears pieces, and says whether it still listens.
pub(super) type Listener<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

/// All sidecars of a host, by the digest of their weights.
pub(super) struct Pool {
    slots: Mutex<BTreeMap<String, Arc<Slot>>>,
    sessions: ServerSessions,
    digests: Arc<Digests>,
    /// Bytes of memory that are free, where it is known.
    free: fn() -> Option<u64>,
}

impl Default for Pool {
    fn default() -> Self {
        Self { slots: Mutex::default(), sessions: ServerSessions::default(), digests: Arc::default(), free }
    }
}

#[derive(Default)]
struct Slot {
    state: Mutex<State>,
    turn: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<u64>,
    next: u64,
    is_taken: bool,
    /// Bytes of weights of the one that is asked.
    busy: u64,
    running: Option<Running>,
}

struct Running {
    lone: Lone,
    stdin: ChildStdin,
    lines: Receiver<Result<Said, String>>,
    loaded: Load,
    /// Tokens that it has room for.
    room: u32,
    next: u64,
    used: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// Asks a model, when it is this one's turn.
    pub(super) fn ask(
        self: &Arc<Self>,
        walls: &Sandbox,
        load: &Load,
        request: &[u8],
        timeout: Duration,
        on_chunk: Listener<'_>,
    ) -> Result<HttpReply, ModelHttpError> {
        let slot = Arc::clone(lock(&self.slots).entry(load.sha256.clone()).or_default());
        let turn = Turn::wait(&slot, on_chunk)?;
        lock(&slot.state).busy = load.bytes;
        let kept = lock(&slot.state).running.take();
        // One that is loaded otherwise is ended before another takes memory.
        let kept = kept.filter(|running| running.loaded == *load);
        let kept = kept.and_then(|mut running| running.lone.over().is_none().then_some(running));
        let mut running = match kept {
            Some(running) => running,
            None => {
                if let Some(refused) = self.damaged(load, on_chunk)? {
                    return Ok(refused);
                }
                self.make_room(load);
                match Running::start(walls, &self.sessions, load, on_chunk)? {
                    Ok(running) => running,
                    Err(refused) => return Ok(refused),
                }
            }
        };
        let (answer, goes_on) = running.answer(request, timeout, on_chunk);
        if goes_on {
            running.used = Instant::now();
            lock(&slot.state).running = Some(running);
            self.watch(&slot, load);
        } else {
            // It gives its memory back before the next one starts another.
            drop(running);
        }
        drop(turn);
        answer
    }

    /// A refusal when the weights are not those that they are called by. They are read where anything that the system says
    /// of them has changed.
    fn damaged(&self, load: &Load, on_chunk: Listener<'_>) -> Result<Option<HttpReply>, ModelHttpError> {
        let (tell, found) = sync_channel(1);
        let (digests, path) = (Arc::clone(&self.digests), load.weights.clone());
        std::thread::Builder::new()
            .name("weights".to_owned())
            .spawn(move || tell.send(digests.of(&path, SystemClock.now())).is_ok())
            .map_err(|e| ModelHttpError::Unreachable(e.to_string()))?;
        loop {
            match found.recv_timeout(TICK) {
                Ok(Some(digest)) if digest.to_string() == load.sha256 => return Ok(None),
                Ok(Some(digest)) => {
                    let why = format!(
                        "the weights are damaged: their SHA-256 is {digest}, and {} is right",
                        load.sha256
                    );
                    return Ok(Some(HttpReply { status: 404, ..model_box::refused(Failure::Weights, &why) }));
                }
                Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                    let why = "the weights cannot be read";
                    return Ok(Some(HttpReply { status: 404, ..model_box::refused(Failure::Weights, why) }));
                }
                Err(RecvTimeoutError::Timeout) if !on_chunk(&[]) => return Err(ModelHttpError::Stopped),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Ends sidecars of other weights that nobody asks, first the one that was asked longest ago, until there is room for
    /// one more; all of them where it is not known how much memory is free.
    fn make_room(&self, load: &Load) {
        loop {
            let all = lock(&self.slots);
            let others = all.iter().filter(|(sha256, _)| **sha256 != load.sha256);
            let others: Vec<Arc<Slot>> = others.map(|(_, slot)| Arc::clone(slot)).collect();
            drop(all);
            let (mut held, mut idle) = (0_u64, None::<(Instant, Arc<Slot>)>);
            for slot in others {
                let state = lock(&slot.state);
                // The system counts weights that are mapped as free.
                let bytes = state.running.as_ref().map_or(state.busy, |running| running.loaded.bytes);
                held = held.saturating_add(bytes);
                let used = state.running.as_ref().filter(|_| !state.is_taken).map(|running| running.used);
                drop(state);
                if let Some(used) = used.filter(|used| idle.as_ref().is_none_or(|(oldest, _)| used < oldest))
                {
                    idle = Some((used, slot));
                }
            }
            if (self.free)().is_some_and(|free| free.saturating_sub(held) >= load.memory) {
                return;
            }
            let Some((used, slot)) = idle else { return };
            let ended = lock(&slot.state).running.take_if(|running| running.used <= used);
            tracing::info!(was_there = ended.is_some(), "a model in the box gives way to another");
        }
    }

    /// Ends a sidecar that nobody has asked for a while.
    fn watch(self: &Arc<Self>, slot: &Arc<Slot>, load: &Load) {
        let (pool, slot, idle) = (Arc::downgrade(self), Arc::downgrade(slot), load.idle);
        let thread = std::thread::Builder::new().name("model box".to_owned());
        // Each answer begins a watch, and the one of the newest answer ends the sidecar; without a thread it stays until
        // this process ends.
        if let Err(error) = thread.spawn(move || watch(&pool, &slot, idle)) {
            tracing::warn!(%error, "the model in the box is not ended when it is idle");
        }
    }
}

fn watch(pool: &Weak<Pool>, slot: &Weak<Slot>, idle: Duration) {
    let begun = Instant::now();
    loop {
        std::thread::sleep(LOOK.min(idle));
        let (Some(_pool), Some(slot)) = (pool.upgrade(), slot.upgrade()) else { return };
        let mut state = lock(&slot.state);
        // Somebody has it, or had it since: the watch that they begin is the one that counts.
        if state.running.as_ref().is_none_or(|running| running.used > begun) {
            return;
        }
        let over =
            state.running.take_if(|running| running.used.elapsed() >= idle || running.lone.over().is_some());
        drop(state);
        if over.is_some() {
            tracing::info!("the model in the box is idle, and ended");
            return;
        }
    }
}

/// The right to ask a sidecar; the next one has it when this is dropped.
struct Turn<'a>(&'a Slot);

impl<'a> Turn<'a> {
    fn wait(slot: &'a Slot, on_chunk: Listener<'_>) -> Result<Self, ModelHttpError> {
        let mut state = lock(&slot.state);
        let ticket = state.next;
        state.next += 1;
        state.waiting.push_back(ticket);
        while state.is_taken || state.waiting.front() != Some(&ticket) {
            state = slot.turn.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            drop(state);
            let goes_on = on_chunk(&[]);
            state = lock(&slot.state);
            if !goes_on {
                state.waiting.retain(|waiting| *waiting != ticket);
                slot.turn.notify_all();
                return Err(ModelHttpError::Stopped);
            }
        }
        state.waiting.pop_front();
        state.is_taken = true;
        Ok(Self(slot))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        (state.is_taken, state.busy) = (false, 0);
        drop(state);
        self.0.turn.notify_all();
    }
}

impl Running {
    /// Starts it and waits until its weights are there. What it refuses is an answer as a server's.
    fn start(
        walls: &Sandbox,
        sessions: &ServerSessions,
        load: &Load,
        on_chunk: Listener<'_>,
    ) -> Result<Result<Self, HttpReply>, ModelHttpError> {
        let reads = [load.weights.clone()];
        let mut lone = Lone::start(walls, sessions, &load.program, &reads, load.memory)
            .map_err(ModelHttpError::Unreachable)?;
        let none = || ModelHttpError::Unreachable("the model in the box has no standard streams".to_owned());
        let Pipes { stdin, stdout, folder: _ } = lone.pipes().ok_or_else(none)?;
        let (send, lines) = sync_channel(64);
        std::thread::Builder::new()
            .name("model box lines".to_owned())
            .spawn(move || hear(stdout, &send))
            .map_err(|e| ModelHttpError::Unreachable(e.to_string()))?;
        let (loaded, used) = (load.clone(), Instant::now());
        let mut running = Self { lone, stdin, lines, loaded, room: load.context, next: 0, used };
        // Half of them: more wait for each other as soon as anything else is at work, and then nobody gets anywhere.
        let threads = std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2));
        let ask: Ask<()> = Ask::Load {
            protocol: PROTOCOL,
            path: load.weights.to_string_lossy().into_owned(),
            context: load.context,
            threads: u32::try_from(threads).unwrap_or(1),
        };
        let mut line = serde_json::to_vec(&ask).map_err(|e| ModelHttpError::Denied(e.to_string()))?;
        line.push(b'\n');
        running.write(&line)?;
        let until = Instant::now() + LOADING;
        loop {
            match running.next(until, LOADING, on_chunk)? {
                Said::Loaded { protocol, .. } if protocol != PROTOCOL => return Ok(Err(other_protocol())),
                Said::Loaded { context, parameters, ms, .. } => {
                    tracing::info!(context, parameters, ms, "the model in the box is loaded");
                    running.room = context;
                    return Ok(Ok(running));
                }
                // One of another protocol does not understand what it is asked.
                Said::Failed { kind: Failure::Request, .. } => return Ok(Err(other_protocol())),
                Said::Failed { kind, why, .. } => return Ok(Err(model_box::refused(kind, &why))),
                _ => {}
            }
        }
    }

    fn write(&mut self, line: &[u8]) -> Result<(), ModelHttpError> {
        let written = self.stdin.write_all(line).and_then(|()| self.stdin.flush());
        written.map_err(|e| ModelHttpError::Cut(self.over(&format!("it takes no line ({e})"))))
    }

    /// Why it is over; its streams may be closed a moment before it has ended.
    fn over(&mut self, otherwise: &str) -> String {
        let until = Instant::now() + ENDING;
        let why = loop {
            match self.lone.over() {
                Some(why) => break why,
                None if Instant::now() > until => break otherwise.to_owned(),
                None => std::thread::sleep(ENDING / 50),
            }
        };
        format!("the model in the box did not go on: {why}")
    }

    /// The next line, while somebody waits for it.
    fn next(
        &mut self,
        until: Instant,
        timeout: Duration,
        on_chunk: Listener<'_>,
    ) -> Result<Said, ModelHttpError> {
        let gone = |why: &str| ModelHttpError::Cut(format!("the model in the box did not go on: {why}"));
        loop {
            let heard = self.lines.recv_timeout(TICK);
            // Its bounds hold while it says something, too.
            if Instant::now() > until {
                return Err(ModelHttpError::TimedOut(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)));
            }
            if let Some(why) = self.lone.too_large() {
                return Err(gone(&why));
            }
            match heard {
                Ok(Ok(said)) => return Ok(said),
                Ok(Err(why)) => return Err(gone(&why)),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ModelHttpError::Cut(self.over("it closed its output")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(why) = self.lone.over() {
                // What it said before it ended still counts.
                if let Ok(Ok(said)) = self.lines.try_recv() {
                    return Ok(said);
                }
                return Err(gone(&why));
            }
            if !on_chunk(&[]) {
                return Err(ModelHttpError::Stopped);
            }
        }
    }

    /// Asks it, and whether it can be asked again afterwards.
    fn answer(
        &mut self,
        request: &[u8],
        timeout: Duration,
        on_chunk: Listener<'_>,
    ) -> (Result<HttpReply, ModelHttpError>, bool) {
        let id = self.next;
        self.next += 1;
        let Some(line) = model_box::generate(id, request) else {
            let why =
                format!("the request is too long for the model in the box, with its {} tokens", self.room);
            return (Ok(self.too_long(&why)), true);
        };
        if let Err(error) = self.write(&line) {
            return (Err(error), false);
        }
        let until = Instant::now() + timeout;
        loop {
            let said = match self.next(until, timeout, on_chunk) {
                Ok(said) => said,
                Err(error @ (ModelHttpError::Stopped | ModelHttpError::TimedOut(_))) => {
                    return (Err(error), self.call_off(id));
                }
                Err(error) => return (Err(error), false),
            };
            if let Said::End { took, .. } = &said {
                let speed = u64::from(took.tokens_out) * 1000 / took.answer_ms.max(1);
                tracing::info!(?took, tokens_per_second = speed, "the model in the box has answered");
            }
            if let Said::Failed { id: Some(of), kind: Failure::TooLong, why } = &said
                && *of == id
            {
                return (Ok(self.too_long(why)), true);
            }
            match model_box::heard(id, &said) {
                Heard::Nothing if on_chunk(&[]) => {}
                Heard::Piece(bytes) if on_chunk(&bytes) => {}
                Heard::Nothing | Heard::Piece(_) => return (Err(ModelHttpError::Stopped), self.call_off(id)),
                Heard::Last(bytes) => {
                    let heard = on_chunk(&bytes);
                    let reply = HttpReply { status: 200, ..HttpReply::default() };
                    return (if heard { Ok(reply) } else { Err(ModelHttpError::Stopped) }, true);
                }
                Heard::Refused(reply) => return (Ok(reply), true),
                Heard::Stopped => return (Err(ModelHttpError::Stopped), true),
            }
        }
    }

    /// What it has room for, and whether it could have more.
    fn too_long(&self, why: &str) -> HttpReply {
        model_box::too_long(why, self.room, self.room >= self.loaded.context)
    }

    /// Calls an answer off; whether it was heard.
    fn call_off(&mut self, id: u64) -> bool {
        let line = format!("{{\"cancel\":{{\"id\":{id}}}}}\n");
        if self.write(line.as_bytes()).is_err() {
            return false;
        }
        let until = Instant::now() + CALLED_OFF;
        while let Ok(said) = self.next(until, CALLED_OFF, &mut |_| true) {
            match said {
                Said::End {
                    id: of, because: Because::Cancelled | Because::Ended | Because::Length, ..
                }
                | Said::Failed { id: Some(of), .. }
                    if of == id =>
                {
                    return true;
                }
                _ => {}
            }
        }
        false
    }
}

/// The refusal of a sidecar that was built for another Hermit.
fn other_protocol() -> HttpReply {
    let why = "the program of the model in the box is of another version than this Hermit";
    HttpReply { status: 501, ..model_box::refused(Failure::Engine, why) }
}

/// Reads its lines for as long as it lives. One that is too long, or is none of the protocol, is the last.
fn hear(stdout: ChildStdout, tell: &SyncSender<Result<Said, String>>) {
    let mut from = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let most = SAID_BYTES_MAX as u64 + 1;
        let said = match from.by_ref().take(most).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if line.len() > SAID_BYTES_MAX => {
                Err(format!("it wrote a line of over {SAID_BYTES_MAX} bytes"))
            }
            Ok(_) => {
                serde_json::from_slice(&line).map_err(|e| format!("it wrote what is no line of it ({e})"))
            }
            Err(error) => Err(error.to_string()),
        };
        let last = said.is_err();
        if tell.send(said).is_err() || last {
            return;
        }
    }
}

/// Bytes of memory that programs can still take.
fn free() -> Option<u64> {
    let all = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = all.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib.saturating_mul(1024))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
