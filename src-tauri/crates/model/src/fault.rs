//! Durable boundaries by name, so that a test can stop the world at each of them (recovery.md 3).
//!
//! The list lists itself: [`Point::ALL`]. Production passes [`NoFaults`].

crate::names! {
    /// A durable boundary: before it nothing of it is on disk, after it all of it is.
    pub enum Point ("crash point") {
        /// The store's first commit.
        StoreInit = "store.init",
        /// A host takes its epoch.
        HostStart = "host.start",
        /// A host lets go.
        HostStop = "host.stop",
        /// A key is made known.
        KeyRegister = "key.register",
        /// A principal is made known.
        PrincipalRegister = "principal.register",
        /// A workspace is made known.
        WorkspaceRegister = "workspace.register",
        /// A message is recorded.
        IngressReceive = "ingress.receive",
        /// A message is bound and its task created.
        IngressBind = "ingress.bind",
        /// A task becomes running.
        TaskStart = "task.start",
        /// A task is asked to pause.
        TaskPause = "task.pause",
        /// A paused task becomes ready.
        TaskResume = "task.resume",
        /// A task is cancelled.
        TaskCancel = "task.cancel",
        /// A task ends.
        TaskEnd = "task.end",
        /// An attempt is created and leased.
        AttemptLease = "attempt.lease",
        /// An attempt is superseded or retried.
        AttemptSupersede = "attempt.supersede",
        /// A lease is renewed.
        LeaseRenew = "lease.renew",
        /// A context pack and the exact model request are stored, the budget reserved.
        ContextCompile = "context.compile",
        /// A model's answer is stored.
        ModelRespond = "model.respond",
        /// A model's failure is stored.
        ModelFail = "model.fail",
        /// A malformed answer is rejected.
        OutputReject = "output.reject",
        /// A turn of the loop is complete.
        IterationComplete = "iteration.complete",
        /// A request is normalised and judged.
        ActionJudge = "action.judge",
        /// A command is about to be tried in a staged view.
        TrialStart = "trial.start",
        /// A person is asked.
        ApprovalRequest = "approval.request",
        /// A person's yes is stored.
        ApprovalGrant = "approval.grant",
        /// A person's no is stored.
        ApprovalDeny = "approval.deny",
        /// An approval lapses or is withdrawn.
        ApprovalLapse = "approval.lapse",
        /// A witness drifted; policy is entered again.
        WitnessDrift = "witness.drift",
        /// Witness, grant and dispatch are stored, the grant consumed.
        EffectDispatch = "effect.dispatch",
        /// One item of a change set is prepared in a temporary file.
        ItemWriteTemp = "item.write_temp",
        /// The temporary file is synced.
        ItemSync = "item.sync",
        /// The file takes its place.
        ItemRename = "item.rename",
        /// The folder is synced.
        ItemSyncFolder = "item.sync_folder",
        /// A file is removed.
        ItemDelete = "item.delete",
        /// A file is moved.
        ItemMove = "item.move",
        /// A command is started.
        CommandSpawn = "command.spawn",
        /// The copy-on-write view of a staged command is laid.
        StageLay = "stage.lay",
        /// A staged command runs in its view.
        StageRun = "stage.run",
        /// What a staged command changed is told, and its bytes are laid aside.
        StageDiff = "stage.diff",
        /// A command's transcript is complete.
        CommandTranscript = "command.transcript",
        /// A request to a server is written down and about to be sent.
        CallSend = "call.send",
        /// What a server answered is written down.
        CallAnswer = "call.answer",
        /// How far an act has come is recorded while it is under way.
        EffectProgress = "effect.progress",
        /// Outcome and receipt are stored.
        EffectObserve = "effect.observe",
        /// An outcome stays unknown.
        EffectUncertain = "effect.uncertain",
        /// An unknown outcome is settled.
        EffectResolve = "effect.resolve",
        /// A recovered receipt is issued.
        ReceiptIssue = "receipt.issue",
        /// A rollback is planned.
        RollbackPlan = "rollback.plan",
        /// A question is put.
        ClarificationAsk = "clarification.ask",
        /// A question is answered.
        ClarificationAnswer = "clarification.answer",
        /// A working state, belief, memory record or summary changes.
        KnowledgeChange = "knowledge.change",
        /// An artifact's temporary file is written.
        ArtifactWriteTemp = "artifact.write_temp",
        /// An artifact's temporary file is synced.
        ArtifactSync = "artifact.sync",
        /// An artifact takes its place.
        ArtifactRename = "artifact.rename",
        /// An artifact's folder is synced.
        ArtifactSyncFolder = "artifact.sync_folder",
        /// Files are taken in.
        ArtifactIngest = "artifact.ingest",
        /// Content that nothing leads to is let go.
        ArtifactCollect = "artifact.collect",
        /// A checkpoint is signed.
        CheckpointSign = "checkpoint.sign",
        /// A pin moves.
        PinMove = "pin.move",
        /// The gate is halted.
        GateHalt = "gate.halt",
        /// The gate is booted.
        GateBoot = "gate.boot",
        /// A decision of policy or person is recorded by itself.
        DecisionRecord = "decision.record",
        /// A proof is written.
        ProofExport = "proof.export",
        /// A backup is written.
        BackupWrite = "backup.write",
        /// A seed for new keys is laid into the vault: the first one, or the next beside the present one.
        KeyStage = "key.stage",
        /// The log records that keys followed others.
        KeyRotate = "key.rotate",
        /// A seed that was laid becomes the one in force; the first approval key is written.
        KeyPromote = "key.promote",
        /// The file that names the keys names the new ones.
        KeyMark = "key.mark",
        /// A key is revoked.
        KeyRevoke = "key.revoke",
        /// Slots of a schedule that came due are settled.
        ScheduleSettle = "schedule.settle",
        /// The task of a slot that fires is on record.
        ScheduleFire = "schedule.fire",
        /// Disclosures are erased.
        DisclosureErase = "disclosure.erase",
        /// A broken chain is anchored anew.
        ChainReanchor = "chain.reanchor",
        /// A store that was put back from a copy says so.
        StoreRestore = "store.restore",
        /// A store that is behind its pin is accepted.
        PinAccept = "pin.accept",
        /// A witness's signature is kept.
        CheckpointCosign = "checkpoint.cosign",
        /// A witness remembers the head it is about to sign.
        WitnessRemember = "witness.remember",
        /// An anchor is asked for, or what a clock answered is put on record.
        AnchorRecord = "anchor.record",
        /// What a node of the mesh believes from now on is put on record.
        MeshRecord = "mesh.record",
        /// A trial of a change of Hermit begins, ends, or is adopted.
        TrialRecord = "trial.record",
        /// An update of Hermit: its program is installed, the ledger is copied, and the record names both, in this order.
        UpdateApply = "update.apply",
    }
}

/// Where a test may stop the world. Each returns an error to inject one, or does not return at all.
pub trait Faults: Send + Sync {
    /// Just before the boundary.
    ///
    /// # Errors
    /// The error to inject.
    fn before(&self, point: Point) -> std::io::Result<()>;

    /// Just after the boundary.
    ///
    /// # Errors
    /// The error to inject.
    fn after(&self, point: Point) -> std::io::Result<()>;
}

/// Production: nothing is injected.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFaults;

impl Faults for NoFaults {
    fn before(&self, _: Point) -> std::io::Result<()> {
        Ok(())
    }

    fn after(&self, _: Point) -> std::io::Result<()> {
        Ok(())
    }
}
