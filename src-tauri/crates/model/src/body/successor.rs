//! The events of trials of a change of Hermit, which stand behind the others in the registry (successor.md). All of them are in the
//! store's own stream.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_successor {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A change of Hermit is tried: its exact bytes are the artifact. What clones of it may use up stands here in full.
        /// `left_out`: tasks that were drawn and are not played, as they are too large.
        SuccessorBegan ("successor.began", 1, Successor, |b| b.trial_id) {
            trial_id: String, kind: PatchKind, patch: ArtifactRef, about: Text, tasks: Vec<TaskId>, seed: u64, wall_ms: u64,
            cpu_ms: u64, memory_bytes: u64, disk_bytes: u64, processes: u32, tokens: u64, began_at: UnixMs;
            since group: String, proposed_by: ActionRequestId, left_out: Vec<TaskId>
        }
        /// A trial came to a verdict. `signature`: by the key of the log, over the exact bytes of the verdict, which are the artifact;
        /// `keyid`: which key that was.
        SuccessorJudged ("successor.judged", 1, Successor, |b| b.trial_id) {
            trial_id: String, outcome: VerdictOutcome, verdict: ArtifactRef, evidence: Vec<ArtifactRef>, signature: String,
            keyid: Digest, judged_at: UnixMs,
        }
        /// A trial ended without a verdict. `failed`: it could not be made; otherwise a person stopped it, or its host ended.
        SuccessorStopped ("successor.stopped", 1, Successor, |b| b.trial_id) {
            trial_id: String, failed: bool, why: Text, stopped_at: UnixMs,
        }
        /// A person adopted the change of a trial. `previous`: what it took the place of.
        SuccessorAdopted ("successor.adopted", 1, Successor, |b| b.trial_id) {
            trial_id: String, kind: PatchKind, patch_sha256: Digest, previous: Option<ArtifactRef>, action_request_id: ActionRequestId,
            adopted_at: UnixMs,
        }
        /// What was before an adopted change is at work again.
        SuccessorReturned ("successor.returned", 1, Successor, |b| b.trial_id) { trial_id: String, why: Text, returned_at: UnixMs }
    } };
}
