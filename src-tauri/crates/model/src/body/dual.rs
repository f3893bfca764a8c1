//! The event of dual control, which stands behind the others in the registry (mesh.md 4). It is in the stream of its task.

/// Hands a list of bodies on to a macro, with this behind it.
macro_rules! with_dual {
    ($then:ident $($before:tt)*) => { $then! {
        $($before)*

        /// A person said yes where two different keys have to; what was signed is the artifact. Nothing is allowed by it yet.
        ApprovalSigned ("approval.signed", 1, Approval, |b| b.approval_id) {
            approval_id: ApprovalId, decided_by: PrincipalId, surface: Surface, scope: ApprovalScope,
            envelope: ArtifactRef, keyid: Digest; since passkey: ArtifactRef
        }
    } };
}
