//! Beliefs of a task, as its agent holds, revises and takes them back, and as time ends them (HK-8.6, HK-15.3).

use super::evidence::evidence_refs;
use crate::Error;
use crate::command::memory::DAY_MS;
use crate::kernel::Kernel;
use crate::tx::Tx;
use iteration::Proposal;
use knowledge::Refusal;
use knowledge::belief::{self, Claim, Holding};
use model::knowledge::Belief;
use model::{BeliefId, Body};

/// Letters of a claim in a question.
const ASKED_CHARS: usize = 300;

/// A contradiction that a person has to look at before the task goes on (HK-15.4-5).
pub(super) struct Review {
    /// What they are asked.
    pub(super) question: String,
    /// What they can answer, beside words of their own.
    pub(super) choices: Vec<String>,
}

impl Review {
    fn of(new: &Belief, other: &Belief) -> Self {
        let said = |belief: &Belief| {
            let claim = belief.claim.shown().map(String::as_str).unwrap_or("(erased)");
            acts::visible(&claim.chars().take(ASKED_CHARS).collect::<String>())
        };
        let (new_claim, old_claim) = (said(new), said(other));
        let question = format!(
            "Two claims contradict each other, and how far each can be trusted does not settle it: \"{old_claim}\" ({}) and \
             \"{new_claim}\" ({}). Which of them holds?",
            other.trust_tier, new.trust_tier
        );
        Self { question, choices: vec![old_claim, new_claim, "Neither of them".to_owned()] }
    }
}

/// What is recorded of a belief, and what a person is asked about it.
#[derive(Default)]
struct Believed {
    bodies: Vec<Body>,
    review: Option<Review>,
}

impl From<Vec<Body>> for Believed {
    fn from(bodies: Vec<Body>) -> Self {
        Self { bodies, review: None }
    }
}

impl Kernel {
    /// Takes in what an agent says of a belief, and what a person has to look at for it; else why not, in words for the agent.
    pub(super) fn take_in_belief(
        &self,
        tx: &mut Tx<'_>,
        said: &Proposal,
    ) -> Result<Result<Option<Review>, String>, Error> {
        let believed = match said {
            Proposal::Retract { belief, reason } => held(tx, belief)
                .and_then(|belief| belief::revoke(&belief, reason).map_err(reason_of))
                .map(|body| vec![body].into()),
            Proposal::Believe { .. } => self.believed(tx, said)?,
            _ => Ok(Believed::default()),
        };
        let Believed { bodies, review } = match believed {
            Ok(believed) => believed,
            Err(why) => return Ok(Err(why)),
        };
        for body in bodies {
            self.push_belief(tx, body)?;
        }
        Ok(Ok(review))
    }

    /// A change of a belief, and the end of the memory that came from it.
    pub(crate) fn push_belief(&self, tx: &mut Tx<'_>, body: Body) -> Result<(), Error> {
        let over = match &body {
            Body::BeliefRevoked(b) => Some((b.belief_id, "the belief that it comes from was taken back")),
            Body::BeliefSuperseded(b) => {
                Some((b.belief_id, "another took the place of the belief that it comes from"))
            }
            Body::BeliefExpired(b) => Some((b.belief_id, "the belief that it comes from is too old")),
            _ => None,
        };
        tx.push(body);
        match over {
            Some((belief, why)) => self.end_memories_of(tx, belief, why),
            None => Ok(()),
        }
    }

    /// What a belief that is held now comes to: one event, or two where it is about another.
    fn believed(&self, tx: &Tx<'_>, said: &Proposal) -> Result<Result<Believed, String>, Error> {
        let Proposal::Believe { claim, scope, confidence, evidence, revises, supersedes, contradicts, days } =
            said
        else {
            return Ok(Ok(Believed::default()));
        };
        let evidence = match evidence_refs(self, tx, evidence)? {
            Ok(evidence) => evidence,
            Err(unfit) => return Ok(Err(unfit.0)),
        };
        if [revises, supersedes, contradicts].into_iter().flatten().count() > 1 {
            let why = "name one belief that it is about: the one that it revises, supersedes or contradicts";
            return Ok(Err(why.to_owned()));
        }
        if let Some(old) = revises {
            let revise = |old: Belief| belief::revise(&old, *confidence, &evidence, claim).map_err(reason_of);
            return Ok(held(tx, old).and_then(revise).map(|body| vec![body].into()));
        }
        let claim = Claim {
            claim: claim.clone(),
            scope: scope.clone(),
            confidence: *confidence,
            evidence,
            expires_at: days.map(|days| tx.now().plus_ms(i64::from(days).saturating_mul(DAY_MS))),
        };
        let all: Vec<Belief> = tx.beliefs.values().cloned().collect();
        let asserted = belief::assert(&claim, &self.holding(tx), &all).map_err(reason_of);
        Ok(asserted.and_then(|body| {
            let Body::BeliefAsserted(new) = &body else { return Ok(vec![body].into()) };
            let mut review = None;
            let also = match (supersedes, contradicts) {
                (Some(old), _) => Some(belief::supersede(&held(tx, old)?, &new.belief).map_err(reason_of)?),
                (None, Some(other)) => {
                    let (other, note) = (held(tx, other)?, "the agent found otherwise");
                    let found = belief::contradict(&new.belief, &other, note).map_err(reason_of)?;
                    review = found.needs_review.then(|| Review::of(&new.belief, &other));
                    Some(found.body)
                }
                (None, None) => None,
            };
            Ok(Believed { bodies: std::iter::once(body).chain(also).collect(), review })
        }))
    }

    /// Whoever is at this transaction, as the holder of a new belief.
    pub(crate) fn holding(&self, tx: &Tx<'_>) -> Holding {
        Holding {
            belief_id: BeliefId::fresh(&*self.ports.clock, &*self.ports.entropy),
            task_id: tx.task.task_id,
            step_id: tx.step().map(|s| s.step_id),
            attempt_id: tx.current,
            asserted_by: tx.actor().actor_id,
            now: tx.now(),
        }
    }

    /// Ends the beliefs of a task whose time has run out.
    pub(super) fn expire_beliefs(&self, tx: &mut Tx<'_>) -> Result<(), Error> {
        for body in belief::expire(tx.beliefs.values(), tx.now()) {
            self.push_belief(tx, body)?;
        }
        Ok(())
    }
}

fn reason_of(refusal: Refusal) -> String {
    refusal.reason
}

/// The belief of that identifier, else the one that is held and claims just this: an agent is not told identifiers of
/// what it may not plan by.
fn held(tx: &Tx<'_>, named: &str) -> Result<Belief, String> {
    let by_id = named.trim().parse().ok().and_then(|id: BeliefId| tx.beliefs.get(&id));
    let claims = |belief: &&Belief| {
        belief::is_live(belief) && belief.claim.shown().is_some_and(|claim| claim == named.trim())
    };
    let found = by_id.or_else(|| tx.beliefs.values().rev().find(claims));
    found.cloned().ok_or_else(|| format!("no belief of this task claims `{named}`"))
}
