//! The real hands, in a test's folder.

use effects::{BeforeImage, Contents, Hands as Real, Outcome, Progress, Sandbox, Settled, Spool, Workspace};
use governance::Authorization;
use kernel::ports::{Hands, HandsSource};
use model::action::{ActionRequest, ChangeItem};
use model::fault::Faults;
use model::receipt::SandboxLevel;
use model::witness::{Fingerprint, StateWitness};
use model::{Clock, ResourceId, WorkspaceId};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens real hands; commands get the walls it was given.
pub struct RealHands {
    /// Where transcripts go.
    pub spool: PathBuf,
    /// Stops the world.
    pub faults: Arc<dyn Faults>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The walls.
    pub sandbox: Sandbox,
}

struct Adapter(Real);

impl HandsSource for RealHands {
    fn open(
        &self,
        root: &Path,
        workspace: WorkspaceId,
        contents: Arc<dyn Contents>,
    ) -> Result<Arc<dyn Hands>, String> {
        let workspace = Workspace::open(root, workspace).map_err(|e| e.to_string())?;
        let (faults, clock) = (Arc::clone(&self.faults), Arc::clone(&self.clock));
        let spool = Spool::new(self.spool.clone());
        Ok(Arc::new(Adapter(Real::new(workspace, contents, faults, clock, spool, self.sandbox.clone()))))
    }

    fn sandbox(&self) -> SandboxLevel {
        self.sandbox.level()
    }

    fn environment(&self, _: &Path) -> serde_json::Value {
        serde_json::json!({ "os": "test", "sandbox_level": self.sandbox.level().as_str() })
    }
}

impl Hands for Adapter {
    fn observe(&self, resources: &[ResourceId]) -> Vec<Fingerprint> {
        self.0.observe(resources)
    }

    fn before_images(&self, items: &[ChangeItem]) -> Result<Vec<BeforeImage>, String> {
        self.0.before_images(items).map_err(|e| e.to_string())
    }

    fn perform(
        &self,
        authorization: Authorization,
        request: &ActionRequest,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Outcome {
        self.0.perform(authorization, request, cancelled, progress)
    }

    fn settle(&self, request: &ActionRequest, before: &StateWitness) -> Settled {
        self.0.settle(request, before)
    }

    fn roll_forward(&self, authorization: Authorization, request: &ActionRequest, settled: &Settled) -> Outcome {
        self.0.roll_forward(authorization, request, settled)
    }
}
