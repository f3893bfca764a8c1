//! Dual control: where two different keys have to say yes, both have, to the same packet, one after the other.

use super::Check;
use crate::container::Stop;
use crate::facts::{DecisionFact, OfTwo};
use crate::layout::Named;
use model::receipt::Receipt;
use seal::Digest;

impl Check<'_> {
    /// Holds every yes by which an act was allowed against how many keys had to say so.
    pub(super) fn dual_control(&mut self) -> Result<(), Stop> {
        let allows = |fact: &DecisionFact| {
            fact.granted.as_ref().is_some_and(|granted| granted.of_two != Some(OfTwo::First))
        };
        let facts = self.facts.decisions.iter().filter(|(_, fact)| allows(fact));
        let facts: Vec<(Digest, DecisionFact)> =
            facts.map(|(digest, fact)| (*digest, fact.clone())).collect();
        for (digest, fact) in facts {
            self.allowed(&Named::Artifact(digest).path(), &fact)?;
        }
        Ok(())
    }

    fn allowed(&mut self, place: &str, fact: &DecisionFact) -> Result<(), Stop> {
        let asked = self.facts.packets.get(&fact.approval_id).copied();
        let told = asked.map(|_| self.facts.for_two.contains(&fact.approval_id));
        let packet = asked.or_else(|| self.objects.answered.get(&fact.seq).copied());
        let shown = self.packet(packet.as_ref())?.map(|packet| packet.needs_two);
        if told.is_some() && shown.is_some() && told != shown {
            return Err(Stop::at(
                place,
                "its packet says otherwise than the log how many keys have to say yes",
            ));
        }
        let of_two = fact.granted.as_ref().and_then(|granted| granted.of_two);
        match (shown.or(told), of_two) {
            (Some(true), None) => Err(Stop::at(place, "one key says yes where two different keys have to")),
            (Some(false), Some(_)) => Err(Stop::at(place, "two keys say yes where one has to")),
            (_, Some(OfTwo::After(first))) => self.follows(place, fact, first),
            _ => Ok(()),
        }
    }

    /// Whether a yes follows that of another key to the same question.
    fn follows(&mut self, place: &str, fact: &DecisionFact, first: Digest) -> Result<(), Stop> {
        let Some(before) = self.facts.decisions.get(&first) else {
            // Of a span, the first may stand before it.
            let is_all = self.predicate.as_ref().is_some_and(|p| p.is_whole() || p.receipt_id.is_some());
            if is_all {
                return Err(Stop::at(place, "the first of the two yeses is not in the log"));
            }
            self.not_shown(format!("the first of the two yeses on {}", fact.approval_id));
            return Ok(());
        };
        let key = |fact: &DecisionFact| fact.granted.as_ref().map(|granted| granted.keyid);
        let is_first = before.granted.as_ref().is_some_and(|granted| granted.of_two == Some(OfTwo::First));
        if !is_first || before.approval_id != fact.approval_id || before.seq >= fact.seq {
            return Err(Stop::at(place, "what it follows is not the first of the two yeses"));
        }
        if key(before) == key(fact) {
            return Err(Stop::at(place, "the same key says yes twice where two different keys have to"));
        }
        let by_passkey =
            |fact: &DecisionFact| fact.granted.as_ref().is_some_and(|granted| granted.enrolment.is_some());
        if !by_passkey(before) && !by_passkey(fact) {
            return Err(Stop::at(place, "the approval key says yes twice, and there is one at a time"));
        }
        let answered = |fact: &DecisionFact| self.objects.answered.get(&fact.seq);
        match (answered(before), answered(fact)) {
            (Some(one), Some(other)) if one != other => {
                Err(Stop::at(place, "the two yeses are to different packets"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a receipt names the yeses that its act needed, as the log tells them.
    pub(super) fn receipt_of_two(&mut self, place: &str, receipt: &Receipt) -> Result<(), Stop> {
        let authorized = &receipt.authorized;
        let (first, decision) =
            (authorized.first_decision_sha256, authorized.approval_decision_sha256.value());
        let shown = self.packet(authorized.approval_packet_sha256.value())?.map(|packet| packet.needs_two);
        let judged = self.policy(authorized.policy_result_sha256.value())?.is_some_and(|read| read.needs_two);
        let told = receipt.approval_ref.value().is_some_and(|id| self.facts.for_two.contains(id));
        let was_granted = authorized.capability_grant_sha256.value().is_some();
        let has_both = first.is_some() && decision.is_some();
        if was_granted && (told || judged || shown == Some(true)) && !has_both {
            return Err(Stop::at(place, "it names one yes where two different keys have to say yes"));
        }
        if first.is_some() && shown == Some(false) {
            return Err(Stop::at(place, "it names two yeses where one key has to say yes"));
        }
        let fact = decision.and_then(|digest| self.facts.decisions.get(digest));
        let granted = fact.and_then(|fact| fact.granted.as_ref());
        if granted.is_some_and(|granted| granted.of_two != first.map(OfTwo::After)) {
            return Err(Stop::at(place, "it names another first yes than the log does"));
        }
        let asked = receipt.approval_ref.value();
        if fact.is_some_and(|fact| asked.is_some_and(|asked| *asked != fact.approval_id)) {
            return Err(Stop::at(place, "its decision answers another question"));
        }
        Ok(())
    }
}
