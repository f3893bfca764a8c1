//! The thread that keeps the run stream beside the ledger. It hears what the kernel tells after each commit, reads the
//! events themselves from the ledger, and never makes the kernel wait.

use crate::chance::SystemClock;
use crate::logs::OrLogged as _;
use crate::run_stream::{Piece, RunStreamWriter, Trouble};
use crate::{Error, OsEntropy};
use kernel::Kernel;
use kernel::ports::Notice;
use ledger::Reader;
use model::{ActionRequestId, Clock as _, TaskId, UnixMs};
use runstream::{Thoughts, Watch, Writer};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the kernel told and the stream does not hold yet. Beyond it deltas are lost, and events are read again.
const BEHIND_MAX: usize = 16_384;
/// Words taken at once, so that many small ones are one write.
const AT_ONCE_MAX: usize = 512;
/// Bytes of deltas joined into one.
const DELTA_BYTES_MAX: usize = 16 * 1024;
/// How long somebody waits for one run to be caught up; the stream is then a little behind.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the thread sleeps when nothing happens.
const IDLE: Duration = Duration::from_secs(60);

enum Word {
    Event {
        task: TaskId,
        seq: u64,
        erases: bool,
    },
    Delta {
        task: TaskId,
        piece: Piece,
        at: UnixMs,
    },
    Reasoning {
        task: TaskId,
        piece: Piece,
        at: UnixMs,
    },
    Progress {
        task: TaskId,
        what: &'static str,
        done: u64,
        total: u64,
        at: UnixMs,
    },
    Output {
        task: TaskId,
        act: ActionRequestId,
        stream: &'static str,
        text: String,
        at: UnixMs,
    },
    /// What was committed by then: the words told before it stand before this one, and those of later commits do not.
    CatchUp {
        task: TaskId,
        up_to: u64,
        done: SyncSender<()>,
    },
    End,
}

/// Where the kernel's notices go in.
#[derive(Clone)]
pub struct Feed {
    send: SyncSender<Word>,
    lost: Arc<AtomicBool>,
}

impl Feed {
    /// Takes a notice; never blocks.
    pub fn take(&self, notice: &Notice) {
        let at = SystemClock.now();
        let word = match notice {
            Notice::Event { task_id, task_seq, event_type } => {
                let erases = event_type == "disclosure.erased";
                Word::Event { task: *task_id, seq: *task_seq, erases }
            }
            Notice::Delta { task_id, asking, from, text } => {
                let piece = Piece { asking: *asking, from: *from, text: text.clone() };
                Word::Delta { task: *task_id, piece, at }
            }
            Notice::Reasoning { task_id, asking, from, text } => {
                let piece = Piece { asking: *asking, from: *from, text: text.clone() };
                Word::Reasoning { task: *task_id, piece, at }
            }
            Notice::Progress { task_id, what, done, total } => {
                Word::Progress { task: *task_id, what, done: *done, total: *total, at }
            }
            Notice::Output { task_id, act, stream, text } => {
                Word::Output { task: *task_id, act: *act, stream, text: text.clone(), at }
            }
        };
        if let Err(TrySendError::Full(Word::Event { .. })) = self.send.try_send(word) {
            self.lost.store(true, Ordering::SeqCst);
        }
    }
}

/// The run stream of a store that this process owns.
pub struct RunStream {
    feed: Feed,
    reader: Reader,
    live: Arc<Mutex<(Watch, Thoughts)>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl RunStream {
    /// Opens the journal, sets a damaged one aside, and begins to keep it up.
    ///
    /// # Errors
    /// [`Error::Journal`] when it cannot be had; everything but the run stream works without.
    pub fn begin(kernel: Arc<Kernel>) -> Result<Self, Error> {
        let stream_writer = RunStreamWriter::new(Arc::clone(&kernel), open(&kernel)?);
        let live = Arc::new(Mutex::new(stream_writer.live()));
        let (send, receive) = sync_channel(BEHIND_MAX);
        let lost = Arc::new(AtomicBool::new(false));
        let reader = kernel.reader().clone();
        let keeper = Keeper {
            kernel,
            stream_writer,
            receive,
            lost: Arc::clone(&lost),
            live: Arc::clone(&live),
            backlog: VecDeque::new(),
        };
        let spawned = std::thread::Builder::new().name("journal".to_owned()).spawn(move || keeper.run());
        let thread = spawned.map_err(|e| Error::Io {
            act: "start",
            path: "the journal's thread".to_owned(),
            why: e.to_string(),
        })?;
        Ok(Self { feed: Feed { send, lost }, reader, live, thread: Mutex::new(Some(thread)) })
    }

    /// Where notices go in.
    pub fn feed(&self) -> Feed {
        self.feed.clone()
    }

    /// What wakes whoever has caught up, and what was reasoned in the runs of this host.
    pub fn live(&self) -> (Watch, Thoughts) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until everything that is committed of a task stands in its stream, or for a while.
    pub fn catch_up(&self, task: TaskId) {
        let (done, heard) = sync_channel(1);
        let head = self.reader.task_head(task).or_logged("the end of a run cannot be read").flatten();
        let up_to = head.map_or(0, |(seq, _)| seq);
        if self.feed.send.send(Word::CatchUp { task, up_to, done }).is_ok() {
            let _ = heard.recv_timeout(PATIENCE);
        }
    }

    /// Writes what was told so far, and closes the journal.
    pub fn end(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && self.feed.send.send(Word::End).is_ok()
        {
            let _ = thread.join();
        }
    }
}

/// The journal for writing. It is never truth: a damaged one is set aside, and the next one is told from the ledger.
fn open(kernel: &Kernel) -> Result<Writer, Error> {
    match Writer::open(kernel.dir(), &OsEntropy) {
        Err(runstream::Error::Damaged { why }) => {
            let aside = runstream::set_aside(kernel.dir())?;
            tracing::warn!(%why, ?aside, "the run stream was damaged; it is told again from the ledger");
            Ok(Writer::open(kernel.dir(), &OsEntropy)?)
        }
        other => Ok(other?),
    }
}

struct Keeper {
    kernel: Arc<Kernel>,
    stream_writer: RunStreamWriter,
    receive: Receiver<Word>,
    lost: Arc<AtomicBool>,
    live: Arc<Mutex<(Watch, Thoughts)>>,
    /// Tasks that may lack something, told when nothing else is to be told.
    backlog: VecDeque<TaskId>,
}

impl Keeper {
    fn run(mut self) {
        self.look_back();
        loop {
            let patience = if self.backlog.is_empty() { IDLE } else { Duration::ZERO };
            let first = match self.receive.recv_timeout(patience) {
                Ok(word) => Some(word),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let Some(first) = first else {
                if let Some(task) = self.backlog.pop_front() {
                    let done = self.stream_writer.catch_up(task);
                    self.heard(done);
                }
                continue;
            };
            let more = self.receive.try_iter().take(AT_ONCE_MAX);
            let words = joined(std::iter::once(first).chain(more));
            for word in words {
                if matches!(word, Word::End) {
                    return;
                }
                let done = self.tell(word);
                self.heard(done);
            }
            if self.lost.swap(false, Ordering::SeqCst) {
                self.look_back();
            }
        }
    }

    /// Everything may lack something: after a start, and when more happened than could be told.
    fn look_back(&mut self) {
        let done = self.stream_writer.heed().and_then(|()| self.stream_writer.compact(SystemClock.now()));
        self.heard(done);
        match self.stream_writer.tasks() {
            Ok(tasks) => self.backlog = tasks.into(),
            Err(error) => self.heard(Err(error)),
        }
    }

    fn tell(&mut self, word: Word) -> Result<(), Trouble> {
        match word {
            Word::Event { task, seq, erases } => {
                self.stream_writer.advance(task, seq)?;
                if erases { self.stream_writer.heed() } else { Ok(()) }
            }
            Word::Delta { task, piece, at } => self.stream_writer.delta(task, &piece, at),
            Word::Reasoning { task, piece, at } => self.stream_writer.reasoning(task, &piece, at),
            Word::Progress { task, what, done, total, at } => {
                self.stream_writer.progress(task, what, done, total, at)
            }
            Word::Output { task, act, stream, text, at } => {
                self.stream_writer.output(task, act, stream, &text, at)
            }
            Word::CatchUp { task, up_to, done } => {
                let told = self.stream_writer.advance(task, up_to);
                // Whoever asked may have gone.
                let _ = done.try_send(());
                told
            }
            Word::End => Ok(()),
        }
    }

    /// Trouble is told to the log; a damaged journal is made anew.
    fn heard(&mut self, done: Result<(), Trouble>) {
        let Err(trouble) = done else { return };
        tracing::warn!(%trouble, "the run stream lacks something");
        if !matches!(trouble, Trouble::Journal(runstream::Error::Damaged { .. })) {
            return;
        }
        let aside = runstream::set_aside(self.kernel.dir());
        match (aside, open(&self.kernel)) {
            (Ok(_), Ok(writer)) => {
                self.stream_writer = RunStreamWriter::new(Arc::clone(&self.kernel), writer);
                *self.live.lock().unwrap_or_else(PoisonError::into_inner) = self.stream_writer.live();
                let tasks = self.stream_writer.tasks().or_logged("the tasks to tell again cannot be listed");
                self.backlog = tasks.unwrap_or_default().into();
            }
            (aside, opened) => {
                let opened = opened.err().map(|error| error.to_string());
                tracing::error!(?aside, ?opened, "the run stream cannot be made anew");
            }
        }
    }
}

/// Words that follow each other and are about the same thing, as one.
fn joined(words: impl Iterator<Item = Word>) -> Vec<Word> {
    let mut all: Vec<Word> = Vec::new();
    for word in words {
        match (all.last_mut(), word) {
            (Some(Word::Event { task, seq, erases }), Word::Event { task: t, seq: s, erases: e })
                if *task == t =>
            {
                *seq = (*seq).max(s);
                *erases |= e;
            }
            (Some(Word::Delta { task, piece, .. }), Word::Delta { task: t, piece: more, at })
                if *task == t =>
            {
                let rest = piece.join(more, DELTA_BYTES_MAX);
                all.extend(rest.map(|piece| Word::Delta { task: t, piece, at }));
            }
            (Some(Word::Reasoning { task, piece, .. }), Word::Reasoning { task: t, piece: more, at })
                if *task == t =>
            {
                let rest = piece.join(more, DELTA_BYTES_MAX);
                all.extend(rest.map(|piece| Word::Reasoning { task: t, piece, at }));
            }
            (
                Some(Word::Output { task, act, stream, text, .. }),
                Word::Output { task: t, act: a, stream: s, text: more, .. },
            ) if (*task, *act, *stream) == (t, a, s) && text.len() + more.len() <= DELTA_BYTES_MAX => {
                text.push_str(&more);
            }
            (_, word) => all.push(word),
        }
    }
    all
}
