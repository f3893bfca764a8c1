//! What the store's own stream (the system task's events) says: principals, keys, workspaces, conversations, halt.

use crate::Error;
use crate::adoption_registry::AdoptionRegistry;
use crate::anchor_registry::AnchorRegistry;
use crate::command::historian::History;
use crate::command::standing::StandingRecord;
use crate::command::state_roots::RootedState;
use crate::gateway_registry::GatewayRegistry;
use crate::identity_registry::IdentityRegistry;
use crate::logins::Logins;
use crate::mesh_registry::MeshRegistry;
use crate::passkey_registry::PasskeyRegistry;
use crate::playbook_registry::PlaybookRegistry;
use crate::push_registry::PushRegistry;
use crate::schedule_registry::ScheduleRegistry;
use crate::skill_registry::SkillRegistry;
use crate::skin_registry::SkinRegistry;
use crate::tool_registry::ToolRegistry;
use crate::training_registry::TrainingRegistry;
use crate::trial_registry::TrialRegistry;
use model::artifact::ArtifactRef;
use model::body::{Body, KeyPurpose, ProjectSource};
use model::principal::{Principal, PrincipalType};
use model::secret::SecretTerms;
use model::{ConversationId, GrantId, PrincipalId, TaskId, WorkspaceId};
use seal::{Digest, PublicKey};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The label of the service that does Hermit's own work in the background; the other service stands for programs.
pub(crate) const BACKGROUND: &str = "background";

/// A conversation and the task that owns its inbox (reconciliation C37).
#[derive(Debug, Clone)]
pub struct Conversation {
    /// Its identifier.
    pub conversation_id: ConversationId,
    /// The task that owns events that precede any task.
    pub inbox_task_id: TaskId,
}

/// The store as its own events say.
#[derive(Debug, Clone, Default)]
pub struct StoreState {
    /// The name in every checkpoint's origin.
    pub store_id: String,
    /// The reserved system task.
    pub system_task_id: Option<TaskId>,
    /// The system task's last sequence number.
    pub seq: u64,
    /// Known principals.
    pub principals: BTreeMap<PrincipalId, Principal>,
    /// Public keys in force by purpose.
    pub keys: BTreeMap<KeyPurpose, (Digest, PublicKey)>,
    /// Folders by identifier; `None` when the path was erased.
    pub workspaces: BTreeMap<WorkspaceId, Option<String>>,
    /// The project of each folder.
    pub projects: BTreeMap<WorkspaceId, (Digest, ProjectSource)>,
    /// Conversations, in order of opening.
    pub conversations: Vec<Conversation>,
    /// Standing grants that were ever given.
    pub standing: BTreeMap<GrantId, StandingRecord>,
    /// Passkeys that were ever enrolled.
    pub passkeys: PasskeyRegistry,
    /// Browsers that are told by a push service.
    pub pushes: PushRegistry,
    /// Secrets by handle, with where each may go.
    pub secrets: BTreeMap<String, SecretTerms>,
    /// Servers of tools.
    pub tools: ToolRegistry,
    /// Log-ins at servers of tools.
    pub logins: Logins,
    /// Skills that a person trusts.
    pub skills: SkillRegistry,
    /// A person's own rules of policy, once they have said some.
    pub rules: Option<ArtifactRef>,
    /// SOUL.md, and the chain of this instance.
    pub identity: IdentityRegistry,
    /// Playbooks that were adopted.
    pub playbooks: PlaybookRegistry,
    /// Schedules. What became of their slots stands in streams of their own, which [`ScheduleRegistry::read_slots`] reads.
    pub schedules: Arc<ScheduleRegistry>,
    /// Skins that a person trusts, and those that conversations have.
    pub skins: SkinRegistry,
    /// Gateways, and who is paired there. What came in and goes out stands in streams of their own, which
    /// [`GatewayRegistry::read_traffic`] reads.
    pub gateways: Arc<GatewayRegistry>,
    /// Anchors of the log.
    pub anchors: Arc<AnchorRegistry>,
    /// This machine in the mesh.
    pub mesh: Arc<MeshRegistry>,
    /// Trials of changes of Hermit itself.
    pub trials: Arc<TrialRegistry>,
    /// Changes of Hermit that were adopted, and what a person signed for them.
    pub adoptions: AdoptionRegistry,
    /// Datasets, and what was trained with them.
    pub training: Arc<TrainingRegistry>,
    /// How far the historian has read, and what it marked.
    pub history: History,
    /// The newest roots of conversations and memory.
    pub rooted: RootedState,
    /// Whether a halt is in force.
    pub halted: Option<String>,
}

impl StoreState {
    /// Folds one event of the system task.
    pub fn apply(&mut self, task_seq: u64, body: &Body) {
        self.seq = task_seq;
        match body {
            Body::StoreInitialised(b) => {
                self.store_id.clone_from(&b.store_id);
                self.system_task_id = Some(b.system_task_id);
            }
            Body::PrincipalRegistered(b) => {
                self.principals.insert(b.principal.principal_id, b.principal.clone());
            }
            Body::KeyRegistered(b) => {
                self.keys.insert(b.purpose, (b.keyid, b.public_key));
            }
            Body::KeyRotated(b) => {
                self.keys.insert(b.purpose, (b.new_keyid, b.public_key));
            }
            Body::WorkspaceRegistered(b) => {
                self.workspaces.insert(b.workspace_id, b.root_path.shown().cloned());
            }
            Body::ProjectKnown(b) => {
                self.projects.insert(b.workspace_id, (b.project_hash, b.source));
            }
            Body::ConversationOpened(b) => self
                .conversations
                .push(Conversation { conversation_id: b.conversation_id, inbox_task_id: b.inbox_task_id }),
            Body::SecretRegistered(b) => {
                self.secrets.insert(b.handle.clone(), SecretTerms::at(&b.hosts));
            }
            Body::SecretPlaced(b) => {
                if let Some(terms) = self.secrets.get_mut(&b.handle) {
                    terms.also_in.clone_from(&b.also_in);
                }
            }
            Body::SecretRemoved(b) => {
                self.secrets.remove(&b.handle);
            }
            Body::GateHalted(b) => {
                self.halted = Some(b.reason.shown().cloned().unwrap_or_else(|| "(erased)".to_owned()));
            }
            Body::GateBooted(_) => self.halted = None,
            Body::StandingAllowed(b) => {
                self.standing.insert(b.grant_id, StandingRecord::of(b));
            }
            Body::StandingRevoked(b) => {
                if let Some(record) = self.standing.get_mut(&b.grant_id) {
                    record.revoked = Some(b.reason.shown().cloned().unwrap_or_else(|| "(erased)".to_owned()));
                }
            }
            Body::PasskeyEnrolled(_)
            | Body::PasskeyUsed(_)
            | Body::PasskeySignedIn(_)
            | Body::PasskeyRevoked(_) => self.passkeys.apply(body),
            Body::PushSubscribed(_) | Body::PushEnded(_) => self.pushes.apply(body),
            Body::PolicyRulesChanged(b) => self.rules = Some(b.rules.clone()),
            Body::ToolLoginAllowed(_) | Body::ToolLoggedIn(_) | Body::ToolLoggedOut(_) => {
                self.logins.apply(body)
            }
            Body::SkillTrusted(_) | Body::SkillUntrusted(_) => self.skills.apply(body),
            Body::PlaybookAdopted(_) | Body::PlaybookTurnedOff(_) => self.playbooks.apply(body),
            Body::ScheduleKept(_)
            | Body::SchedulePaused(_)
            | Body::ScheduleResumed(_)
            | Body::ScheduleRemoved(_) => Arc::make_mut(&mut self.schedules).apply(body),
            Body::SkinTrusted(_) | Body::SkinUntrusted(_) | Body::SkinChosen(_) => self.skins.apply(body),
            Body::HistoryRead(b) => self.history.apply(b),
            Body::StateRooted(b) => self.rooted.apply(task_seq, b),
            other if GatewayRegistry::is_of_store(other) => Arc::make_mut(&mut self.gateways).apply(other),
            other => self.apply_further(other),
        }
    }

    /// Each registry takes what is its own.
    fn apply_further(&mut self, body: &Body) {
        if let Body::IdentityLinked(b) = body {
            Arc::make_mut(&mut self.anchors).add_link(b.number, b.link_sha256);
        }
        if AnchorRegistry::is_of_anchors(body) {
            Arc::make_mut(&mut self.anchors).apply(body);
        }
        if MeshRegistry::is_of_mesh(body) {
            Arc::make_mut(&mut self.mesh).apply(body);
        }
        if TrialRegistry::is_of_trials(body) {
            Arc::make_mut(&mut self.trials).apply(body);
        }
        self.adoptions.apply(body);
        if self.training.is_about(body) {
            Arc::make_mut(&mut self.training).apply(body);
        }
        self.identity.apply(body);
        self.tools.apply(body);
    }

    /// The reserved system task.
    ///
    /// # Errors
    /// [`Error::Broken`] in a store that has no first event.
    pub fn system_task(&self) -> Result<TaskId, Error> {
        self.system_task_id.ok_or_else(|| Error::Broken("the store has no system task".to_owned()))
    }

    /// Whether a principal of a kind is registered, with this label or without any.
    pub(crate) fn knows(&self, kind: PrincipalType, label: Option<&str>) -> bool {
        self.labelled(kind, label).is_some()
    }

    /// The first principal of a kind with this label, or without one.
    pub(crate) fn labelled(&self, kind: PrincipalType, label: Option<&str>) -> Option<PrincipalId> {
        let of_kind = self.principals.values().filter(|p| p.principal_type == kind);
        of_kind.filter(|p| p.labels.first().map(String::as_str) == label).map(|p| p.principal_id).next()
    }

    /// The service that does Hermit's own work in the background, or the one that stands for programs.
    ///
    /// # Errors
    /// [`Error::Broken`] when it was never registered.
    pub(crate) fn service(&self, is_own: bool) -> Result<PrincipalId, Error> {
        self.labelled(PrincipalType::Service, is_own.then_some(BACKGROUND))
            .ok_or_else(|| Error::Broken("no service principal is registered".to_owned()))
    }

    /// The first principal of a kind.
    ///
    /// # Errors
    /// [`Error::Broken`] when the kind was never registered.
    pub fn principal(&self, kind: PrincipalType) -> Result<PrincipalId, Error> {
        self.principals
            .values()
            .find(|p| p.principal_type == kind)
            .map(|p| p.principal_id)
            .ok_or_else(|| Error::Broken(format!("no {kind} principal is registered")))
    }
}
