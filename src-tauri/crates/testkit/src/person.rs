//! A person of the test kit's own, with a key of its own, visible as such in every receipt.

use kernel::Kernel;
use kernel::command::approve::Answered;
use model::approval::{Choice, Surface};
use model::principal::PrincipalType;
use model::standing::{Cover, GivenAt, STANDING_FORMAT, StandingGrant, StandingScope};
use model::{ApprovalId, GrantId, TaskId};
use seal::{PublicKey, SeedSigner, Signer};

/// Signs decisions.
pub struct Person(SeedSigner);

impl Person {
    /// A person from a seed byte.
    pub fn new(seed: u8) -> Self {
        Self(SeedSigner::from_seed([seed; 32]))
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        self.0.public()
    }

    /// The key.
    pub fn signer(&self) -> &SeedSigner {
        &self.0
    }

    /// The signed envelope of an answer to the packet as it is stored now.
    pub fn sign(
        &self,
        kernel: &Kernel,
        task_id: TaskId,
        approval_id: ApprovalId,
        choice: Choice,
        feedback: Option<&str>,
    ) -> Vec<u8> {
        let state = kernel.task(task_id).expect("the task exists");
        let approval = &state.approvals.get(&approval_id).expect("the approval exists").approval;
        let packet = kernel.artifacts().read(&approval.approval_packet_sha256).expect("the packet is stored");
        let who = kernel.store_state().principal(PrincipalType::User).expect("a person is registered");
        let now = kernel.ports().clock.now();
        let feedback = feedback.map(str::to_owned);
        let decision = governance::approval::answer(&packet, choice, Surface::Test, who, now, feedback);
        governance::approval::sign(&decision.expect("a packet"), &self.0).expect("signed")
    }

    /// Says yes, once.
    pub fn allow(
        &self,
        kernel: &Kernel,
        task_id: TaskId,
        approval_id: ApprovalId,
    ) -> Result<Answered, kernel::Error> {
        let envelope = self.sign(kernel, task_id, approval_id, Choice::Once, None);
        kernel.decide_approval(task_id, approval_id, &envelope)
    }

    /// A standing grant for fifty uses within a week, given at a question or by itself; not signed yet.
    pub fn standing(
        &self,
        kernel: &Kernel,
        cover: Cover,
        scope: StandingScope,
        at: Option<(TaskId, ApprovalId)>,
    ) -> StandingGrant {
        let now = kernel.ports().clock.now();
        let given_at = at.map(|(task_id, approval_id)| {
            let state = kernel.task(task_id).expect("the task exists");
            let approval = &state.approvals.get(&approval_id).expect("the approval exists").approval;
            GivenAt { approval_id, packet_sha256: approval.approval_packet_sha256 }
        });
        StandingGrant {
            format: STANDING_FORMAT.to_owned(),
            log_id: kernel.reader().log_id().to_owned(),
            grant_id: GrantId::fresh(&*kernel.ports().clock, &*kernel.ports().entropy),
            cover,
            scope,
            after_untrusted: true,
            issued_at: now,
            expires_at: now.plus_ms(7 * 24 * 3600 * 1000),
            max_uses: 50,
            given_at,
            override_reason: None,
            surface: Surface::Test,
            decided_by: kernel.store_state().principal(PrincipalType::User).expect("a person is registered"),
        }
    }

    /// Its signed envelope.
    pub fn sign_standing(&self, grant: &StandingGrant) -> Vec<u8> {
        governance::standing::sign(grant, &self.0).expect("signed")
    }

    /// Says no.
    pub fn deny(
        &self,
        kernel: &Kernel,
        task_id: TaskId,
        approval_id: ApprovalId,
        feedback: &str,
    ) -> Result<Answered, kernel::Error> {
        let envelope = self.sign(kernel, task_id, approval_id, Choice::Deny, Some(feedback));
        kernel.decide_approval(task_id, approval_id, &envelope)
    }
}
