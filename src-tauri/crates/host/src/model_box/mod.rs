//! The model in the box, from the host's side: which weights are here, where its sidecar is, and the way to it beside the
//! way out to servers.

mod fetch;
mod fetches;
mod files;
mod header;
mod made;
mod part;
mod process;

pub use fetch::{Step, Wish, forget, get, kept};
pub(crate) use fetches::Fetches;
pub(crate) use files::Files;
pub use files::{Entry, Kept, catalogue};
pub(crate) use made::{may_be_named, may_take_in, take_in, weights_of};

use crate::executors::LocalExecutors;
use crate::model_http::Outbound;
use crate::{Config, Error, Home};
use process::{Load, Pool};
use reasoning::model_box::{self, protocol::Failure};
use reasoning::{Head, HttpReply, ModelHttp, ModelHttpError};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wire::Code;

/// The sidecar's name as a program.
const PROGRAM: &str = "hermit-model-box";
/// What a person is told where it is not there: README.md tells whoever builds Hermit how to add it.
const MISSING: &str = "this build of Hermit has no model of its own; use a model that runs on this machine, such as one of \
                       Ollama, or one by its address";
/// Names a sidecar, for tests and for whoever builds their own.
const VARIABLE: &str = "HERMIT_MODEL_BOX";
/// Where `cargo xtask model-box` puts it, in the user's cache.
const CACHED: &str = "model-box";
/// How long a sidecar that nobody asks is kept, in seconds.
const IDLE_S: u64 = 5 * 60;

/// Bytes beside the weights and the context: what is calculated.
const MEMORY_BESIDE: u64 = 3 << 30;
/// What is to be known where Hermit has no sandbox.
const NO_SANDBOX: &str = "this system has no sandbox for it: its program runs as any other of yours";

/// Where a package of the app has put the sidecar.
static SIDECAR: OnceLock<PathBuf> = OnceLock::new();

/// Names the sidecar for every store of this process, before the first one is opened. The first word stays.
pub fn sidecar_is_at(path: PathBuf) {
    let _ = SIDECAR.set(path);
}

/// The sidecar.
fn sidecar() -> Result<PathBuf, String> {
    program_of((PROGRAM, VARIABLE, CACHED), SIDECAR.get().cloned(), MISSING)
}

/// A program beside Hermit's own: as the variable names it, where a package has put it, beside the running program, or in this
/// folder of the user's cache, where `cargo xtask` puts it.
pub(crate) fn program_of(
    (program, variable, cached): (&str, &str, &str),
    packaged: Option<PathBuf>,
    missing: &str,
) -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(variable).filter(|named| !named.is_empty()).map(PathBuf::from) {
        let missing = format!("`{}`, which {variable} names, is no file", named.display());
        return std::path::absolute(&named).ok().filter(|path| path.is_file()).ok_or(missing);
    }
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let running = std::env::current_exe().unwrap_or_default();
    let beside = running.ancestors().skip(1).take(2).map(|folder| folder.join(&name));
    let cached = cache(cached).map(|cache| cache.join(&name));
    let found = packaged.into_iter().chain(beside).chain(cached).find(|path| path.is_file());
    found.ok_or_else(|| missing.to_owned())
}

/// Where `cargo xtask` puts programs.
fn cache(folder: &str) -> Option<PathBuf> {
    Some(crate::places::cache()?.join("hermit").join(folder))
}

/// The model that a person names, with its weights' digest, when it can be asked here.
///
/// # Errors
/// [`Error::Said`], with the command that gets what is missing.
pub(crate) fn pinned(home: &Home, name: &str, digest: Option<&str>) -> Result<String, Error> {
    let pinned = Files::of(home).pin(name, digest)?;
    sidecar().map(|_| pinned).map_err(|why| Error::Said(wire::Error::new(Code::NotFound, why)))
}

/// The models that are here, as a server of models would list them.
pub(crate) fn served(home: &Home) -> Option<wire::models::Server> {
    let files = Files::of(home);
    let model = |kept: Kept| wire::models::Model {
        address: format!("{}{}", model_box::URL, kept.name),
        id: kept.name,
        asked: None,
    };
    let models: Vec<_> = files.all().into_iter().map(model).collect();
    let server = wire::models::Server {
        name: "The model in the box".to_owned(),
        url: model_box::URL.to_owned(),
        models,
        trouble: trouble(sidecar().err(), effects::Sandbox::is_built_here()),
    };
    (!server.models.is_empty()).then_some(server)
}

/// What a person is told of the sidecar.
fn trouble(missing: Option<String>, has_sandbox: bool) -> Option<String> {
    missing.or_else(|| (!has_sandbox).then(|| NO_SANDBOX.to_owned()))
}

/// Bytes that a sidecar may fill.
fn memory(bytes: u64, says: &header::Header, context: u32) -> u64 {
    bytes.saturating_add(says.context_bytes(context)).saturating_add(MEMORY_BESIDE)
}

/// The way to the model in the box, and out to every other.
pub(crate) struct WithBox {
    out: Outbound,
    home: Home,
    /// Who has the walls; none where nothing is asked but what there is.
    executors: Option<Arc<LocalExecutors>>,
    pool: Arc<Pool>,
}

impl WithBox {
    pub(crate) fn new(out: Outbound, home: &Home, executors: Arc<LocalExecutors>) -> Self {
        Self { out, home: home.clone(), executors: Some(executors), pool: Arc::default() }
    }

    /// One that starts no sidecar.
    pub(crate) fn to_look(out: Outbound, home: &Home) -> Self {
        Self { out, home: home.clone(), executors: None, pool: Arc::default() }
    }

    /// What a server of these models would say of them.
    fn listed(&self) -> Value {
        let files = Files::of(&self.home);
        let entry = |kept: &Kept, id: &str| {
            let says = files.says(kept);
            let weights = says.billions.map(|billions| (billions * 1e9) as u64);
            json!({ "id": id, "owned_by": "hermit", "meta": { "n_ctx": files.context(kept), "n_params": weights } })
        };
        let all = files.all();
        let both = all.iter().flat_map(|kept| {
            [entry(kept, &kept.name), entry(kept, &model_box::pinned(&kept.name, &kept.sha256))]
        });
        json!({ "data": both.collect::<Vec<_>>() })
    }

    /// How the model of a request is loaded.
    fn load(&self, request: &[u8]) -> Result<Load, HttpReply> {
        let refused = |kind, why: &str| model_box::refused(kind, why);
        let body: Value =
            serde_json::from_slice(request).map_err(|e| refused(Failure::Request, &e.to_string()))?;
        let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
        let (name, digest) = model_box::named(model).map_err(|why| refused(Failure::Request, why))?;
        let files = Files::of(&self.home);
        let not_found = |why: String| HttpReply { status: 404, ..refused(Failure::Weights, &why) };
        let kept = files.meant(name, digest).map_err(|why| not_found(why.to_wire().message))?;
        let config = Config::in_force(&self.home);
        let set = config.model(&format!("{}{name}", model_box::URL)).and_then(|own| own.context);
        let context = set.or(config.context_tokens).unwrap_or_else(|| files.context(&kept));
        let program = sidecar().map_err(not_found)?;
        let weights = files.weights(&kept.sha256);
        let written = std::fs::metadata(&weights).and_then(|found| found.modified()).ok();
        let idle = Duration::from_secs(config.box_idle_s.unwrap_or(IDLE_S).max(1));
        let memory = memory(kept.bytes, &files.says(&kept), context);
        Ok(Load { program, sha256: kept.sha256, weights, bytes: kept.bytes, written, memory, context, idle })
    }
}

impl ModelHttp for WithBox {
    fn post(
        &self,
        url: &str,
        head: &Head<'_>,
        body: &[u8],
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        if !url.starts_with(model_box::URL) {
            return self.out.post(url, head, body, timeout_ms, on_chunk);
        }
        let denied = || ModelHttpError::Denied("this process starts no model".to_owned());
        let executors = self.executors.as_ref().ok_or_else(denied)?;
        match self.load(body) {
            Ok(load) => {
                let timeout = Duration::from_millis(timeout_ms);
                self.pool.ask(executors.walls(), &load, body, timeout, on_chunk)
            }
            Err(refused) => Ok(refused),
        }
    }

    fn get(
        &self,
        url: &str,
        head: &Head<'_>,
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        if !url.starts_with(model_box::URL) {
            return self.out.get(url, head, timeout_ms, on_chunk);
        }
        on_chunk(self.listed().to_string().as_bytes());
        Ok(HttpReply { status: 200, ..HttpReply::default() })
    }

    fn wait(&self, ms: u64, goes_on: &dyn Fn() -> bool) -> bool {
        self.out.wait(ms, goes_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_the_weights_and_the_context_that_is_asked_for() {
        let says = header::Header::of_tests();
        assert_eq!(memory(5, &says, 0), 5 + MEMORY_BESIDE);
        assert_eq!(memory(5, &says, 1_000) - memory(5, &says, 0), says.context_bytes(1_000));
        assert!(says.context_bytes(1_000) > 0);
    }

    #[test]
    fn where_there_is_no_sandbox_it_is_said() {
        assert_eq!(trouble(None, true), None);
        let told = trouble(Some(MISSING.to_owned()), true).unwrap();
        assert!(!told.contains("cargo") && told.contains("by its address"), "{told}");
        assert!(trouble(None, false).is_some_and(|why| why.contains("no sandbox")));
        assert_eq!(trouble(Some("missing".to_owned()), false).as_deref(), Some("missing"));
    }
}
