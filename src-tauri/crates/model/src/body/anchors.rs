//! The events of anchors, which stand behind the others in the registry (mesh.md 3). All of them are in the store's own stream.

/// Hands a list of bodies on to a macro, with these behind it.
macro_rules! with_anchors {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A head of the log, or a link of the identity, is to be stamped by these clocks. Each stamp is an act of its own.
        /// `digest`: what the clocks are given; `subject` says what it is of.
        AnchorRequested ("anchor.requested", 1, Anchor, |b| b.number) {
            number: u64, digest: Digest, subject: AnchorSubject, clocks: Vec<AnchorClock>, requested_at: UnixMs,
        }
        /// A task asks a clock to stamp it, or how it stands: for the so-manyth time.
        AnchorAsked ("anchor.asked", 1, Anchor, |b| b.number) {
            number: u64, clock: AnchorClock, asked_by: TaskId, attempt: u32, asked_at: UnixMs,
        }
        /// A clock took it. `at`: who was asked, as `name:port`. The proof as far as there is one is the artifact.
        AnchorStamped ("anchor.stamped", 1, Anchor, |b| b.number) {
            number: u64, clock: AnchorClock, at: Vec<String>, proof: Option<ArtifactRef>, action_request_id: ActionRequestId,
            stamped_at: UnixMs,
        }
        /// Its time is proven: by an authority at `not_after`, or by a block at the depth that a person chose.
        AnchorCompleted ("anchor.completed", 1, Anchor, |b| b.number) {
            number: u64, clock: AnchorClock, proof: ArtifactRef, not_after: UnixMs, block: Option<BlockTime>, completed_at: UnixMs,
        }
        /// It was proven by a block that the chain does not hold any more.
        AnchorWithdrawn ("anchor.withdrawn", 1, Anchor, |b| b.number) {
            number: u64, clock: AnchorClock, block: BlockTime, withdrawn_at: UnixMs,
        }
        /// A clock refused it, or gave what proves nothing.
        AnchorFailed ("anchor.failed", 1, Anchor, |b| b.number) {
            number: u64, clock: AnchorClock, why: Text, failed_at: UnixMs,
        }
    } };
}
