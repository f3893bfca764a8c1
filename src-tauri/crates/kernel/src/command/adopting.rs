//! Adopting a change of Hermit that was tried, and going back from one: asked as every change of what Hermit may do, with a card
//! that only a person answers (successor.md 5). What each kind changes stands in `adopting_pieces`.

use super::adopting_reviews::{
    about, changed_files, edits_of, looked_at, not_run_as_before, read_all, reviewed,
};
use super::person::{Matter, Signed};
use super::submit::Submitted;
use crate::adoption_registry::{AdoptedRecord, AdoptionRegistry};
use crate::kernel::{Kernel, lock};
use crate::ports::Adopting;
use crate::trial_registry::Trial;
use crate::writeup::{NewArtifact, Writeup};
use crate::{Error, redaction};
use ::successor::{Change, Patch, TestsRun, VERDICT_PAYLOAD_TYPE, Verdict, constitutional};
use acts::Register;
use governance::Refusal;
use model::adoption::{AdoptChange, AdoptedProgram, AdoptedReview, PatchKind, ReturnChange, VerdictOutcome};
use model::artifact::{ArtifactKind, ArtifactRef, TrustTier};
use model::body::{KeyPurpose, SuccessorAdopted, SuccessorReturned};
use model::fault::Point;
use model::ingress::Channel;
use model::principal::PrincipalType;
use model::{ActionRequestId, Digest, Sensitive};
use seal::{Signature, dsse};
use std::time::Duration;

/// A constitutional change waits as long at least, whatever is set.
pub const CONSTITUTIONAL_WAIT_MIN: Duration = Duration::from_secs(3600);
/// Why somebody goes back, in as many bytes at most.
const WHY_BYTES_MAX: usize = 4 * 1024;
/// Paths of the source that say what stands in a store, down to one more word: with another of these, this program might not open it
/// any more.
const OF_STORES: [&str; 5] = [
    "migrations/",
    "src-tauri/crates/acts/src/",
    "src-tauri/crates/ledger/src/",
    "src-tauri/crates/model/src/",
    "src-tauri/crates/words/src/",
];

/// What somebody asks who wants a change adopted.
#[derive(Debug, Clone, Copy)]
pub struct AskedAdoption<'a> {
    /// The trial that it was judged in.
    pub trial_id: &'a str,
    /// Reviews of a change of the source: JSON lines of [`model::adoption::ReviewRemark`].
    pub reviews: &'a [Vec<u8>],
    /// Whether it is wanted although nothing was found to be better.
    pub although_same: bool,
    /// What a person signed for each room that a constitutional change touches ([`constitution_subject`]).
    pub signed: &'a [Signed],
    /// Digests of the edits of tests at which the person has looked ([`model::adoption::EditedTest::sha256`]).
    pub looked: &'a [Digest],
}

/// What a person signs for one room that a constitutional change touches: this change, with this verdict.
pub fn constitution_subject(trial_id: &str, patch: Digest, verdict: Digest, room: &str) -> Digest {
    Digest::of(format!("successor\n{trial_id}\n{patch}\n{verdict}\n{room}").as_bytes())
}

impl Kernel {
    /// Makes the task that asks a person whether a change is adopted. Nothing is adopted by this.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the trial; [`Error::Conflict`] for a change that cannot be adopted as things stand;
    /// [`Error::Input`] for reviews that are none; [`Error::Refused`] without a person's word for each room of a constitutional
    /// change; [`Error::Secret`].
    pub fn propose_adoption(
        &self,
        asked: &AskedAdoption<'_>,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        let reviews = read_all(asked.reviews)?;
        let mut change = self.adoptable(asked.trial_id, Vec::new())?;
        looked_at(&change, asked.looked)?;
        if change.outcome != VerdictOutcome::Better && !asked.although_same {
            return Err(Error::Conflict(
                "nothing was found to be better with it; say `--although-same` where you want it still"
                    .to_owned(),
            ));
        }
        self.waited(&change).map_err(Error::Conflict)?;
        if let Some(diff) = &change.diff {
            about(&reviews, diff)?;
        }
        let decided = self.rooms_signed(&change, asked.signed)?;
        let actor = self.actor(PrincipalType::User)?;
        let correlation = format!("successor:{}", change.trial_id);
        let mut w = self.store_writeup(Point::TrialRecord, actor, correlation, None)?;
        for review in &reviews {
            redaction::exact(w.redactor(), review.bytes)?;
            let new = NewArtifact::audit(ArtifactKind::SuccessorEvidence).media("text/plain; charset=utf-8");
            let kept =
                w.artifact(review.bytes, new.trust(TrustTier::Untrusted).from([change.patch.artifact_id]))?;
            let remarks = u64::try_from(review.remarks.len()).unwrap_or(u64::MAX);
            change.reviews.push(AdoptedReview { by: review.by.clone(), remarks, review: kept });
        }
        reviewed(&change).map_err(Error::Input)?;
        let keeps = !reviews.is_empty() || !decided.is_empty();
        for one in decided {
            w.push_keyed(Some(format!("person:{}", one.decision_sha256)), one);
        }
        if keeps {
            self.commit(w)?;
        }
        let change = Register::Adopt { change: Box::new(change) };
        let workspace_id = self.workspace(&self.made_rules_folder()?)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Makes the task that asks a person whether what was before an adopted change is at work again: before the one that was
    /// adopted last, of one kind or of any. Nothing changes by this.
    ///
    /// # Errors
    /// [`Error::NotFound`] where nothing was adopted; [`Error::Conflict`] where all of it is already as it was before.
    pub fn propose_return(
        &self,
        kind: Option<PatchKind>,
        why: &str,
        (channel, idempotency_key): (Channel, String),
    ) -> Result<Submitted, Error> {
        if why.len() > WHY_BYTES_MAX {
            return Err(Error::Input(format!("a reason has {} KB at most", WHY_BYTES_MAX / 1024)));
        }
        redaction::exact(&self.ports.redactor.now(), why.as_bytes())?;
        let registry = self.adoption_registry();
        let none = || Error::NotFound {
            kind: "adopted change",
            id: kind.map_or_else(|| "any".to_owned(), |kind| kind.to_string()),
        };
        let record = registry.in_force(kind).ok_or_else(none)?;
        let change = self.return_of(record, why)?;
        let change = Register::Return { change: Box::new(change) };
        let workspace_id = self.workspace(&self.made_rules_folder()?)?;
        self.propose_change(&change, workspace_id, channel, idempotency_key)
    }

    /// Changes that were adopted, as the store's own events say.
    pub fn adoption_registry(&self) -> AdoptionRegistry {
        lock(&self.store).adoptions.clone()
    }

    /// An adopted change as it was put to a person, each piece with what was there before.
    ///
    /// # Errors
    /// When its record is gone or damaged.
    pub fn adopted_change(&self, record: &AdoptedRecord) -> Result<AdoptChange, Error> {
        let gone = || Error::Broken(format!("the adopted change {} left no record", record.trial_id));
        let at = record.change.as_ref().ok_or_else(gone)?;
        Ok(seal::canon::from_canonical(&self.artifacts.read(&at.sha256)?)?)
    }

    /// Records that an adopted program did not start, so that the one before it is at work again. Nobody is asked: it only narrows.
    ///
    /// # Errors
    /// [`Error::NotFound`] when that change is not at work.
    pub fn adoption_failed(&self, trial_id: &str, why: &str) -> Result<(), Error> {
        let registry = self.adoption_registry();
        let at_work = registry.of_trial(trial_id).filter(|one| one.returned.is_none());
        if at_work.is_none() {
            return Err(Error::NotFound { kind: "adopted change", id: trial_id.to_owned() });
        }
        let actor = self.actor(PrincipalType::System)?;
        let mut w = self.store_writeup(Point::TrialRecord, actor, format!("successor:{trial_id}"), None)?;
        let (trial_id, returned_at) = (trial_id.to_owned(), w.now);
        w.push(SuccessorReturned { trial_id, why: Sensitive::from(why.to_owned()), returned_at });
        self.commit(w)?;
        Ok(())
    }

    /// Why a person's yes would not be about the change as things stand, if it would not.
    pub(super) fn adopt_outdated(&self, change: &AdoptChange) -> Result<Option<String>, Error> {
        let now = match self.adoptable(&change.trial_id, change.reviews.clone()) {
            Ok(now) => now,
            Err(error @ (Error::Conflict(_) | Error::Input(_) | Error::NotFound { .. })) => {
                return Ok(Some(error.to_string()));
            }
            Err(error) => return Err(error),
        };
        if now != *change {
            return Ok(Some("what it changes is another by now; ask again".to_owned()));
        }
        let fits = self.waited(change).and_then(|()| reviewed(change)).and_then(|()| self.signed_for(change));
        Ok(fits.err())
    }

    /// The same of a way back.
    pub(super) fn return_outdated(&self, change: &ReturnChange) -> Result<Option<String>, Error> {
        let registry = self.adoption_registry();
        let Some(record) = registry.in_force(Some(change.kind)).filter(|one| one.trial_id == change.trial_id)
        else {
            return Ok(Some("another change is at work by now; look at it again".to_owned()));
        };
        match self.return_of(record, &change.why) {
            Ok(now) if now == *change => Ok(None),
            Ok(_) | Err(Error::Conflict(_)) => {
                Ok(Some("what it changes is another by now; ask again".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    /// Keeps what lies outside the store before anything is on record, where a change has such; in words, why it cannot.
    pub(super) fn before_adopting(&self, change: &Register) -> Result<(), String> {
        let Register::Adopt { change } = change else { return Ok(()) };
        let Some(program) = &change.program else { return Ok(()) };
        self.adopting().map_err(|e| e.to_string())?.keep_program(&change.trial_id, program)
    }

    /// The events of an adopted change.
    pub(super) fn push_adopted(
        &self,
        w: &mut Writeup<'_>,
        change: &AdoptChange,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        let sources = [change.patch.artifact_id, change.verdict.artifact_id];
        let reviews = change.reviews.iter().map(|one| one.review.artifact_id);
        let new = NewArtifact::audit(ArtifactKind::SuccessorPatch).from(sources.into_iter().chain(reviews));
        let record = w.object(change, new)?;
        self.push_pieces(w, (&change.pieces, change.patch.artifact_id), false, action_request_id)?;
        w.push(SuccessorAdopted {
            trial_id: change.trial_id.clone(),
            kind: change.kind,
            patch_sha256: change.patch.sha256,
            previous: Some(record),
            action_request_id,
            adopted_at: w.now,
        });
        Ok(())
    }

    /// The events of a way back.
    pub(super) fn push_returned(
        &self,
        w: &mut Writeup<'_>,
        change: &ReturnChange,
        action_request_id: ActionRequestId,
    ) -> Result<(), Error> {
        let trials = self.trial_registry();
        let patch = trials.get(&change.trial_id).map(|tried| tried.patch.artifact_id);
        let patch = patch.ok_or_else(|| Error::Broken("a way back from no trial".to_owned()))?;
        self.push_pieces(w, (&change.pieces, patch), true, action_request_id)?;
        w.push(SuccessorReturned {
            trial_id: change.trial_id.clone(),
            why: Sensitive::from(change.why.clone()),
            returned_at: w.now,
        });
        Ok(())
    }

    pub(super) fn adopting(&self) -> Result<&dyn Adopting, Error> {
        let none = || Error::Conflict("this program adopts no change of Hermit".to_owned());
        self.ports.executors.adopting().ok_or_else(none)
    }

    /// What a person would adopt, as things stand now: judged, signed, and neither void nor adopted already.
    fn adoptable(&self, trial_id: &str, reviews: Vec<AdoptedReview>) -> Result<AdoptChange, Error> {
        let adopting = self.adopting()?;
        let registry = self.adoption_registry();
        let unknown = || Error::NotFound { kind: "trial", id: trial_id.to_owned() };
        let trials = self.trial_registry();
        let tried = trials.get(trial_id).ok_or_else(unknown)?;
        match registry.of_trial(trial_id).map(|one| one.returned.is_none()) {
            None => {}
            Some(true) => return Err(conflict("it is adopted already")),
            Some(false) => return Err(conflict("it was adopted and taken back; try it again first")),
        }
        let (at, verdict) = self.held_verdict(tried)?;
        let evaluator = adopting.evaluator().map_err(Error::Conflict)?;
        if verdict.evaluator_sha256 != evaluator {
            return Err(conflict("another program judged it than this one; try it again"));
        }
        let patch = self.artifacts.read(&tried.patch.sha256)?;
        let patch = Patch::read(&patch).map_err(|e| Error::Conflict(e.to_string()))?;
        let (diff, program) = self.of_code(&patch, &verdict)?;
        let edited_tests = edits_of(&patch, &verdict)?;
        let mut rooms = constitutional(&patch);
        rooms.extend(verdict.constitutional.iter().cloned());
        rooms.sort_unstable();
        rooms.dedup();
        Ok(AdoptChange {
            trial_id: trial_id.to_owned(),
            kind: tried.kind,
            pieces: self.pieces_of(&patch, program.as_ref())?,
            patch: tried.patch.clone(),
            verdict: at,
            outcome: verdict.outcome,
            reasons: verdict.reasons.iter().map(|one| format!("{}: {}", one.rule, one.says)).collect(),
            tests: verdict.tests.as_ref().map(tests_in_words),
            says: patch.says,
            sources: patch.sources,
            constitutional: rooms,
            diff,
            program,
            reviews,
            edited_tests,
        })
    }

    /// The verdict of a trial, once its signature holds, it is about this change, and nothing makes it void.
    fn held_verdict(&self, tried: &Trial) -> Result<(ArtifactRef, Verdict), Error> {
        let (Some(at), Some((signature, keyid))) = (&tried.verdict, &tried.signature) else {
            return Err(conflict("this trial has no verdict"));
        };
        let bytes = self.artifacts.read(&at.sha256)?;
        let history = self.key_history()?;
        let of_log = history.records.iter().filter(|one| one.purpose == KeyPurpose::Log);
        let key = of_log.filter(|one| one.revoked.is_none()).find(|one| one.keyid == *keyid);
        let signature: Option<Signature> = signature.parse().ok();
        let signed = dsse::pae(VERDICT_PAYLOAD_TYPE, &bytes);
        let holds = key.zip(signature).is_some_and(|(key, by)| key.public_key.verify(&signed, &by).is_ok());
        if !holds {
            return Err(conflict("the signature on its verdict does not hold"));
        }
        let verdict = Verdict::read(&bytes).map_err(|e| Error::Conflict(e.to_string()))?;
        let is_about_it = verdict.trial_id == tried.trial_id
            && verdict.patch_sha256 == tried.patch.sha256
            && verdict.kind == tried.kind
            && Some(verdict.outcome) == tried.outcome;
        if !is_about_it {
            return Err(conflict("its verdict is about another change"));
        }
        if verdict.planted.is_empty() || verdict.planted.iter().any(|one| !one.refused) {
            return Err(conflict("its verdict is void: a change that was known to be bad was not refused"));
        }
        // Whether a person has looked at its tests is asked of whoever wants it adopted.
        if verdict.may_be_adopted() {
            return Ok((at.clone(), verdict));
        }
        if verdict.asks_for_a_look() {
            return Err(not_run_as_before());
        }
        let outcome = verdict.outcome;
        Err(Error::Conflict(format!("its verdict is `{outcome}`; only a change that is better is adopted")))
    }

    /// The changes of the source and the program that was built of them, once its tests passed; neither for any other change.
    fn of_code(
        &self,
        patch: &Patch,
        verdict: &Verdict,
    ) -> Result<(Option<String>, Option<AdoptedProgram>), Error> {
        let Change::Code { source, diff } = &patch.change else { return Ok((None, None)) };
        let tests = verdict.tests.as_ref().ok_or_else(|| conflict("its tests were not run"))?;
        let fails_as_it_was = tests.parent.as_ref().is_some_and(|parent| !parent.failed.is_empty());
        if !tests.failed.is_empty() || tests.passed == 0 || fails_as_it_was {
            return Err(conflict("its tests did not pass"));
        }
        if let Some(path) =
            changed_files(diff).into_iter().find(|path| OF_STORES.iter().any(|of| path.starts_with(of)))
        {
            return Err(Error::Conflict(format!(
                "it changes what is written into a store (`{path}`), so that this program might not open it any more"
            )));
        }
        let built = verdict.built.ok_or_else(|| conflict("no program was built of it"))?;
        let most = self.adopting()?.store_format();
        if built.store_format > most {
            return Err(Error::Conflict(format!(
                "it writes stores of format {}, and this program opens {most} at most",
                built.store_format
            )));
        }
        let program = AdoptedProgram {
            sha256: built.program_sha256,
            bytes: built.bytes,
            store_format: built.store_format,
            source: *source,
        };
        Ok((Some(diff.clone()), Some(program)))
    }

    /// Whether a constitutional change has waited since its verdict.
    fn waited(&self, change: &AdoptChange) -> Result<(), String> {
        if change.constitutional.is_empty() {
            return Ok(());
        }
        let trials = self.trial_registry();
        let judged_at = trials.get(&change.trial_id).and_then(|tried| tried.ended_at);
        let judged_at = judged_at.ok_or("this trial has no verdict")?;
        let wait = self.adopting().map_err(|e| e.to_string())?.constitutional_wait();
        let wait_ms = i64::try_from(wait.max(CONSTITUTIONAL_WAIT_MIN).as_millis()).unwrap_or(i64::MAX);
        let left = judged_at.plus_ms(wait_ms).0.saturating_sub(self.ports.clock.now().0);
        match left > 0 {
            true => Err(format!(
                "it changes what keeps Hermit in check ({}), and waits {} more minutes since its verdict",
                change.constitutional.join(", "),
                left.saturating_add(59_999) / 60_000
            )),
            false => Ok(()),
        }
    }

    /// What a person signed for each room of a constitutional change.
    fn rooms_signed(
        &self,
        change: &AdoptChange,
        signed: &[Signed],
    ) -> Result<Vec<model::body::PersonDecided>, Error> {
        let of_room = |room: &String| {
            let subject = subject(change, room);
            let found = signed.iter().find_map(|one| self.decided(Matter::Successor, subject, one).ok());
            found.ok_or_else(|| {
                Error::Refused(Refusal::new(
                    "not_a_persons_decision",
                    format!("it changes `{room}`: a person types the approval passphrase for that"),
                ))
            })
        };
        change.constitutional.iter().map(of_room).collect()
    }

    /// Whether what they signed is on record, by the approval key that is in force: what another signed is no person's word any more.
    fn signed_for(&self, change: &AdoptChange) -> Result<(), String> {
        if change.constitutional.is_empty() {
            return Ok(());
        }
        let (keyid, _) = self.approval_key().map_err(|e| e.to_string())?;
        let registry = self.adoption_registry();
        let lacks = |room: &&String| !registry.is_signed_for(subject(change, room), keyid);
        match change.constitutional.iter().find(lacks) {
            Some(room) => Err(format!("no person has signed for `{room}`")),
            None => Ok(()),
        }
    }

    /// What a person would go back from, as things stand now.
    fn return_of(&self, record: &AdoptedRecord, why: &str) -> Result<ReturnChange, Error> {
        let adopted = self.adopted_change(record)?;
        let pieces = self.pieces_back(&adopted)?;
        if pieces.is_empty() {
            return Err(conflict("all of it is already as it was before"));
        }
        Ok(ReturnChange {
            trial_id: record.trial_id.clone(),
            kind: record.kind,
            why: why.to_owned(),
            pieces,
            adopted_by: record.action_request_id,
        })
    }
}

fn subject(change: &AdoptChange, room: &str) -> Digest {
    constitution_subject(&change.trial_id, change.patch.sha256, change.verdict.sha256, room)
}

fn conflict(why: &str) -> Error {
    Error::Conflict(why.to_owned())
}

fn tests_in_words(run: &TestsRun) -> String {
    let edited = match run.edited.is_empty() {
        true => String::new(),
        false => format!("; the change itself edits or removes {}", run.edited.join(", ")),
    };
    let parent = run.parent.as_ref().map(|parent| {
        let (passed, failed) = (parent.passed, parent.failed.len());
        format!("; with these as they were before, {passed} passed and {failed} failed")
    });
    let parent = parent.unwrap_or_default();
    format!("{} of `{}` passed, {} failed{edited}{parent}", run.passed, run.suite, run.failed.len())
}

/// How adopting ended, in words.
pub(super) fn adopted_in_words(change: &AdoptChange) -> String {
    let from = match change.kind {
        PatchKind::Policy => "It holds for every task, from its next action on.",
        PatchKind::Words => "Models are told it from their next turn on.",
        PatchKind::Model => "It proposes in tasks that name nobody, from the next one on.",
        PatchKind::Code => "It is started when Hermit starts next.",
    };
    format!(
        "The change of trial {} is adopted. {from} `hermit successor back` returns from it.",
        change.trial_id
    )
}

/// How going back ended, in words.
pub(super) fn returned_in_words(change: &ReturnChange) -> String {
    let from = if change.kind == PatchKind::Code { ", from its next start on" } else { "" };
    format!("What was before the change of trial {} is at work again{from}.", change.trial_id)
}
