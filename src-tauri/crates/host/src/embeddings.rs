//! The embedding model that a person named: asked at a server of this machine, and the thread that has the vectors of
//! memory made when nothing else happens (memory.md 2).

use crate::logs::OrLogged as _;
use crate::notices::Notices;
use crate::{Config, Error, Home, Local, SystemClock};
use disk::Stamp;
use kernel::Kernel;
use kernel::ports::{Embedder, Unembedded};
use model::{Clock as _, UnixMs};
use projections::Vectors;
use reasoning::ModelHttp;
use reasoning::embedding::{EmbeddingError, EmbeddingModel};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use wire::Code;
use wire::models::Embeddings;

/// How long no memory changes before vectors are made.
const QUIET: Duration = Duration::from_secs(2);
/// Changes that are waited out at most: who writes for hours has vectors, too.
const CHANGES_MAX: usize = 50;
/// After how long a model that did not answer, or that may be another one, is asked again.
const AGAIN: Duration = Duration::from_secs(5 * 60);

/// Asks the model that is named in the settings.
pub struct LocalEmbedder {
    home: Home,
    egress: Arc<dyn ModelHttp>,
    last: Mutex<Named>,
}

/// What was named when the settings could last be read.
#[derive(Default)]
struct Named {
    model: Option<String>,
    /// Of which file it was read; none of one that may still be written to without its looking otherwise.
    of: Option<Stamp>,
    /// How often the settings were read.
    reads: u64,
}

/// A file that was changed within so many milliseconds is read again each time: two changes within one tick of its file
/// system's clock look alike.
const SETTLED_MS: i64 = 2_000;

/// The settings as they lie there; none where there are none, or where the system does not tell.
fn stamp(home: &Home) -> Option<Stamp> {
    disk::stamp(&std::fs::metadata(home.path(crate::config::FILE)).ok()?)
}

fn is_settled(stamp: &Stamp, now: UnixMs) -> bool {
    let changed = stamp.changed.0.saturating_mul(1_000).saturating_add(stamp.changed.1 / 1_000_000);
    now.0.saturating_sub(changed) >= SETTLED_MS
}

impl LocalEmbedder {
    /// Reads the settings when they were changed, so that what a person names counts at once: a turn asks several times.
    pub fn new(home: Home, egress: Arc<dyn ModelHttp>) -> Self {
        Self { home, egress, last: Mutex::default() }
    }
}

impl Embedder for LocalEmbedder {
    fn named(&self) -> Option<String> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = stamp(&self.home);
        if stamp.is_some() && last.of == stamp {
            return last.model.clone();
        }
        last.of = None;
        last.reads = last.reads.saturating_add(1);
        // Settings that cannot be read name none, and take none away.
        if let Ok(config) = Config::load(&self.home) {
            last.model = config.embedding_model;
            // One that was put in its place meanwhile has another stamp, and is read the next time.
            last.of = stamp.filter(|stamp| is_settled(stamp, SystemClock.now()));
        }
        last.model.clone()
    }

    fn embed(
        &self,
        model: &str,
        texts: &[&str],
        patience: Duration,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Vec<Vec<f32>>, Unembedded> {
        // The file may be anybody's: what it names is judged each time.
        let model = EmbeddingModel::at(model).map_err(Unembedded::Failed)?;
        model.embed(&*self.egress, texts, patience, goes_on).map_err(|error| match error {
            EmbeddingError::Refused { .. } => Unembedded::Refused(error.to_string()),
            EmbeddingError::Failed(why) => Unembedded::Failed(why),
        })
    }
}

/// The thread that has vectors made; dropped, it ends after the batch in hand.
pub struct VectorThread {
    notices: Arc<Notices>,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl VectorThread {
    /// Looks once, and from now on whenever memory has changed.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn begin(kernel: Arc<Kernel>, notices: Arc<Notices>) -> Result<Self, Error> {
        let (send, receive) = sync_channel(1);
        let closing = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&closing);
        let thread = std::thread::Builder::new().name("vectors".to_owned());
        let thread = thread.spawn(move || run(&kernel, &receive, &is_over));
        let thread = thread.map_err(|e| Error::io("start", Path::new("the thread of vectors"), &e))?;
        notices.tell_of_memories(Some(send));
        Ok(Self { notices, closing, thread: Some(thread) })
    }
}

impl Drop for VectorThread {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        self.notices.tell_of_memories(None);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn run(kernel: &Kernel, changed: &Receiver<()>, is_over: &AtomicBool) {
    loop {
        for _ in 0..CHANGES_MAX {
            match changed.recv_timeout(QUIET) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        let made = catch_unwind(AssertUnwindSafe(|| {
            kernel
                .make_vectors(usize::MAX, &|| !is_over.load(Ordering::SeqCst))
                .or_logged("no vectors of memory were made")
        }));
        match made {
            Ok(Some(made)) if made != kernel::VectorsMade::default() => {
                tracing::info!(?made, "vectors of memory were made");
            }
            Ok(_) => {}
            Err(_) => tracing::error!("making vectors of memory panicked; memory is found by words"),
        }
        if matches!(changed.recv_timeout(AGAIN), Err(RecvTimeoutError::Disconnected)) {
            return;
        }
    }
}

impl Local {
    /// Which embedding model is named, and how many records of memory have a vector.
    ///
    /// # Errors
    /// When settings or store cannot be read.
    pub(crate) fn embeddings_now(&self) -> Result<Embeddings, wire::Error> {
        let model = Config::load(self.home()).map_err(Error::to_wire)?.embedding_model;
        let memories = match self.home().has_store() {
            true => api::Host::query(self)?.count_memories().map_err(api::of_projections)?,
            false => 0,
        };
        let kept = Vectors::reading(self.home().dir());
        let of =
            kept.as_ref().and_then(|kept| kept.of().ok()).filter(|of| of.model == model && model.is_some());
        let count = kept.as_ref().filter(|_| of.is_some()).and_then(|kept| kept.count().ok());
        let trouble = of.and_then(|of| of.trouble);
        Ok(Embeddings { model, memories, with_vectors: count.unwrap_or_default(), trouble })
    }

    /// Names the embedding model, or none; what it answers now is told.
    ///
    /// # Errors
    /// [`Code::Usage`] for what is no model at a server of this machine.
    pub(crate) fn name_embeddings(&self, address: Option<&str>) -> Result<Embeddings, wire::Error> {
        let usage = |why: String| {
            wire::Error::new(Code::Usage, why)
                .hint("`hermit models list` shows the models of this machine; `off` names none")
        };
        let model = address.map(EmbeddingModel::at).transpose().map_err(usage)?;
        let model = model.map(|model| model.address());
        let set = Config::change(self.home(), |config| {
            config.embedding_model.clone_from(&model);
            Ok(())
        });
        set.map_err(Error::to_wire)?;
        // Whoever named it sees at once whether it answers; vectors are made beside the work. Beside another process that holds
        // the store, that one looks at its settings when it makes the next.
        if let Ok(kernel) = self.owned_kernel() {
            kernel.try_embeddings().map_err(api::of_kernel)?;
            self.notices.memories_changed();
        }
        self.embeddings_now()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

    use super::*;
    use reasoning::{Head, HttpReply, ModelHttpError};

    struct Nobody;

    impl ModelHttp for Nobody {
        fn post(
            &self,
            _: &str,
            _: &Head<'_>,
            _: &[u8],
            _: u64,
            _: &mut dyn FnMut(&[u8]) -> bool,
        ) -> Result<HttpReply, ModelHttpError> {
            Err(ModelHttpError::Unreachable("nobody".to_owned()))
        }
    }

    #[test]
    fn settings_are_read_when_they_change_and_not_with_each_look() {
        let dir = tempfile::TempDir::new().unwrap();
        let home = Home::find(Some(dir.path())).unwrap();
        let embedder = LocalEmbedder::new(home.clone(), Arc::new(Nobody));
        let reads = || embedder.last.lock().unwrap().reads;
        let name = |model: &str| {
            let text = format!("{{\"embedding_model\":\"openai:http://127.0.0.1:8080/v1#{model}\"}}");
            std::fs::write(home.path(crate::config::FILE), text).unwrap();
        };
        assert_eq!(embedder.named(), None);
        name("a");
        assert!(embedder.named().unwrap().ends_with("#a"));
        // Changed at once, in place, at the same length: it counts at once.
        name("b");
        assert!(embedder.named().unwrap().ends_with("#b"));
        std::thread::sleep(Duration::from_millis(SETTLED_MS.unsigned_abs() + 100));
        let before = reads();
        for _ in 0..50 {
            assert!(embedder.named().unwrap().ends_with("#b"));
        }
        assert_eq!(reads(), before + 1, "a turn reads them once at most");
        name("c");
        assert!(embedder.named().unwrap().ends_with("#c"));
        std::fs::write(home.path(crate::config::FILE), "this is no JSON").unwrap();
        assert!(embedder.named().unwrap().ends_with("#c"), "what cannot be read takes none away");
        std::fs::remove_file(home.path(crate::config::FILE)).unwrap();
        assert_eq!(embedder.named(), None);
    }
}
