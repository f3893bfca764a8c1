//! Words for the store and the ways into it.

crate::names! {
    /// What a key signs; no key serves two purposes (proof.md 3).
    pub enum KeyPurpose ("key purpose") {
        /// Checkpoints.
        Log = "log",
        /// Receipts and statements.
        Receipt = "receipt",
        /// `SHA256SUMS` of a bundle.
        Manifest = "manifest",
        /// A person's decisions.
        Approval = "approval",
    }
}

crate::names! {
    /// Where keys and secret values are kept.
    pub enum VaultKind ("vault") {
        /// The operating system's keychain; on Linux the Secret Service.
        Keychain = "keychain",
        /// A file under a passphrase.
        File = "file",
        /// Nothing durable; tests only.
        Memory = "memory",
    }
}

crate::names! {
    /// What a project is told by.
    pub enum ProjectSource ("project source") {
        /// The address of a git remote.
        Remote = "remote",
        /// The folder itself.
        Folder = "folder",
    }
}

crate::names! {
    /// The surface a message came through.
    pub enum Channel ("source channel") {
        /// The command line.
        Cli = "cli",
        /// The desktop app.
        App = "app",
        /// The run API.
        RunApi = "run_api",
        /// MCP.
        Mcp = "mcp",
        /// A webhook.
        Webhook = "webhook",
        /// The scheduler.
        Scheduler = "scheduler",
        /// The kernel itself.
        System = "system",
        /// An editor that speaks the Agent Client Protocol.
        Acp = "acp",
        /// A chat, through a gateway.
        Chat = "chat",
        /// Another machine of the same person, in their mesh.
        Mesh = "mesh",
    }
}

crate::names! {
    /// What an event is about.
    pub enum EntityType ("entity type") {
        /// The store as a whole.
        Store = "store",
        /// A signing key.
        Key = "key",
        /// A host process.
        Host = "host",
        /// The gate.
        Gate = "gate",
        /// A checkpoint.
        Checkpoint = "checkpoint",
        /// A principal.
        Principal = "principal",
        /// A workspace or its lease.
        Workspace = "workspace",
        /// A conversation.
        Conversation = "conversation",
        /// An ingress record.
        Ingress = "ingress",
        /// A task.
        Task = "task",
        /// A step.
        Step = "step",
        /// An attempt.
        Attempt = "attempt",
        /// An artifact.
        Artifact = "artifact",
        /// A working state.
        WorkingState = "working_state",
        /// A belief.
        Belief = "belief",
        /// A memory record.
        Memory = "memory",
        /// A decision.
        Decision = "decision",
        /// An approval.
        Approval = "approval",
        /// A clarification.
        Clarification = "clarification",
        /// A witness.
        Witness = "witness",
        /// A policy result.
        PolicyResult = "policy_result",
        /// An action request.
        ActionRequest = "action_request",
        /// A grant.
        Grant = "grant",
        /// A receipt.
        Receipt = "receipt",
        /// A secret, by its handle.
        Secret = "secret",
        /// A server of tools, by its name.
        ToolServer = "tool_server",
        /// A skill, by its digest.
        Skill = "skill",
        /// A schedule, by its name.
        Schedule = "schedule",
        /// A skin, by its digest.
        Skin = "skin",
        /// A gateway, by its name.
        Gateway = "gateway",
        /// Who this instance is.
        Identity = "identity",
        /// An anchor of the log, by its number.
        Anchor = "anchor",
        /// The mesh of one's own machines.
        Mesh = "mesh",
        /// A trial of a change of Hermit itself.
        Successor = "successor",
        /// Training: a dataset, a run, or a recall.
        Training = "training",
    }
}

crate::names! {
    /// The nine kinds of actor (HK-8.11).
    pub enum PrincipalType ("principal type") {
        /// A person.
        User = "user",
        /// A person or rule that oversees.
        Supervisor = "supervisor",
        /// A model that proposes.
        Agent = "agent",
        /// A background service.
        Service = "service",
        /// The scheduler.
        Scheduler = "scheduler",
        /// An inbound webhook.
        Webhook = "webhook",
        /// The policy engine.
        PolicyEngine = "policy_engine",
        /// An executor of effects.
        Executor = "executor",
        /// The kernel itself.
        System = "system",
    }
}

crate::names! {
    /// Which tree a checkpoint is about.
    pub enum CheckpointKind ("checkpoint kind") {
        /// The events of one task.
        Task = "task",
        /// The entries of the gate.
        Gate = "gate",
        /// The notes of tasks and gate.
        Global = "global",
    }
}

crate::names! {
    /// Roles of a process at a store.
    pub enum HostRole ("role of a process") {
        /// It holds the store.
        Owner = "owner",
        /// It only reads.
        Reader = "reader",
    }
}

crate::names! {
    /// States of a signing key.
    pub enum KeyStatus ("key status") {
        /// It signs.
        InForce = "in_force",
        /// Another key followed it.
        Followed = "followed",
        /// A person revoked it.
        Revoked = "revoked",
    }
}

crate::names! {
    /// How a store stands to a signed head that somebody kept.
    pub enum HeadStanding ("standing to a head") {
        /// The head signs for the beginning of what is here.
        Consistent = "consistent",
        /// The store is older than the head, set back, or a copy.
        Older = "older",
        /// The head signs for another history.
        Forked = "forked",
        /// The head is none of this log.
        Unusable = "unusable",
    }
}

crate::names! {
    /// Kinds of tools in the one list of them.
    pub enum ToolKind ("kind of a tool") {
        /// Hermit does it itself.
        BuiltIn = "built_in",
        /// A typed list of proposals, which a run follows instead of a model.
        Playbook = "playbook",
        /// A registered server does it.
        Server = "server",
        /// A folder of instructions that a model reads when it chooses it.
        Skill = "skill",
    }
}

crate::names! {
    /// Where a skill was found, the place whose skills come first when names are the same.
    pub enum SkillPlace ("place of a skill") {
        /// `.hermit/skills` of the folder.
        ProjectHermit = "project_hermit",
        /// `.agents/skills` of the folder.
        ProjectAgents = "project_agents",
        /// `.claude/skills` of the folder.
        ProjectClaude = "project_claude",
        /// `skills` beside the store.
        OwnHermit = "own_hermit",
        /// `.agents/skills` of the person.
        OwnAgents = "own_agents",
        /// `.claude/skills` of the person.
        OwnClaude = "own_claude",
    }
}

impl SkillPlace {
    /// The folder of these skills, as a person names it. That of a project is told from the project on.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::ProjectHermit => ".hermit/skills",
            Self::ProjectAgents => ".agents/skills",
            Self::ProjectClaude => ".claude/skills",
            Self::OwnHermit => "skills beside the store",
            Self::OwnAgents => "~/.agents/skills",
            Self::OwnClaude => "~/.claude/skills",
        }
    }
}

crate::names! {
    /// How a skill stands.
    pub enum SkillState ("state of a skill") {
        /// A person trusts these bytes: models are told of it.
        Trusted = "trusted",
        /// Nobody trusts these bytes: no model is told of it.
        Untrusted = "untrusted",
        /// Other bytes of this name were trusted; these are not.
        Changed = "changed",
        /// Trusted, and another of the same name comes first.
        Shadowed = "shadowed",
        /// It cannot be used as it is.
        Broken = "broken",
    }
}

crate::names! {
    /// How a playbook that was drafted from what recurs stands.
    pub enum PlaybookState ("state of a playbook") {
        /// Drafted; it has no effect until a person adopts it.
        Draft = "draft",
        /// A person adopted it.
        Adopted = "adopted",
        /// A person turned it off.
        Off = "off",
        /// A person said no to its card.
        Rejected = "rejected",
        /// What it rests on was undone or erased.
        Withdrawn = "withdrawn",
    }
}

crate::names! {
    /// What came of a drafted playbook on a recorded task.
    pub enum PlaybookTrialOutcome ("outcome of a playbook's trial") {
        /// It left what the task had left.
        Same = "same",
        /// It left something else.
        Differs = "differs",
        /// It could not be tried: the record is not kept any more.
        NotTried = "not_tried",
    }
}

crate::names! {
    /// States of the log-in at a server of tools.
    pub enum LoginState ("state of a log-in") {
        /// A person allowed it and has not begun.
        Allowed = "allowed",
        /// A person is waited for, in their browser.
        Waiting = "waiting",
        /// Calls are signed with its token.
        LoggedIn = "logged_in",
        /// Its token is renewed no more.
        Refused = "refused",
        /// There is none.
        LoggedOut = "logged_out",
    }
}

crate::names! {
    /// States of a registered server of tools.
    pub enum ToolServerState ("state of a tool server") {
        /// Its tools may be called.
        Ready = "ready",
        /// It says something else of a tool than when it was registered.
        Changed = "changed",
        /// A person disabled it.
        Disabled = "disabled",
        /// Its registration cannot be read.
        Unreadable = "unreadable",
    }
}

crate::names! {
    /// How the weights of a model in the box stand.
    pub enum BoxState ("state of a model in the box") {
        /// They are not here, or not whole.
        Absent = "absent",
        /// They come.
        Fetching = "fetching",
        /// All of them are here, and their digest is looked at.
        Checking = "checking",
        /// They are here.
        Here = "here",
    }
}

crate::names! {
    /// How a skin stands.
    pub enum SkinState ("state of a skin") {
        /// It comes with Hermit.
        BuiltIn = "built_in",
        /// A person trusts exactly these bytes.
        Trusted = "trusted",
        /// Nobody trusts these bytes, or nobody does any more: no conversation has it.
        Untrusted = "untrusted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_place_of_skills_is_told_as_a_folder() {
        let told: BTreeSet<&str> = SkillPlace::ALL.iter().map(|place| place.folder()).collect();
        assert_eq!(told.len(), SkillPlace::ALL.len(), "{told:?}");
        assert!(told.iter().all(|folder| folder.contains("skills") && !folder.contains('_')), "{told:?}");
    }
}
