//! Anchors (mesh.md 3): a head of the log, or a link of the identity, is given to clocks elsewhere, each by an act of a task of its
//! own, so that none waits for another. What each came to is put on record once its task is over; what is pending is asked about
//! again by the clock of the host, where a standing grant answers for that.
//!
//! A host that dies after an anchor was asked for makes the tasks that are missing; one that dies after a task was made and before
//! that is on record makes another, and the first ends without having asked anybody.

mod due;
mod settled;

use super::background::{BackgroundWork, Initiator};
use super::capability::Planned;
use super::enclose::Encloses;
use super::firing::OWN_KEYS;
use super::submit::{Reasoning, Submission, Submitted};
use crate::Error;
use crate::anchor_registry::{AnchorRecord, AnchorRegistry, ClockRecord};
use crate::kernel::{Kernel, lock};
use crate::writeup::{NewArtifact, Writeup};
use acts::{Anchor, Tool as _};
use ledger::CheckpointKind;
use model::anchor::{AnchorClock, AnchorState, AnchorSubject};
use model::artifact::{ArtifactKind, ArtifactRef};
use model::body::{AnchorAsked, AnchorRequested};
use model::fault::Point;
use model::ingress::Channel;
use model::policy::Profile;
use model::principal::PrincipalType;
use model::task::Priority;
use model::web::WebUrl;
use model::{Body, Digest, TaskId};
use std::sync::Arc;

/// The folder of tasks that ask clocks; nobody works in it.
const FOLDER: &str = "anchors";
/// How often an anchor is numbered anew where somebody was faster.
const TRIES: u32 = 8;
/// Hex digits of a byte.
const HEX: &[u8; 16] = b"0123456789abcdef";

/// Which clocks a person has set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnchorTerms {
    /// Addresses of time-stamp authorities, in the order in which they are asked.
    pub authorities: Vec<String>,
    /// Addresses of calendars.
    pub calendars: Vec<String>,
    /// The address of the person's own Bitcoin node.
    pub node: Option<String>,
    /// Blocks, the first among them, that must stand before a head counts as anchored.
    pub depth: u32,
    /// Hours between anchors that are made by themselves; 0 for none.
    pub every_hours: u32,
    /// What a transaction costs by now, in satoshi, where that was asked for.
    pub fee: Option<u64>,
}

impl AnchorTerms {
    /// Whether a clock can be asked.
    pub fn has(&self, clock: AnchorClock) -> bool {
        match clock {
            AnchorClock::Rfc3161 => !self.authorities.is_empty(),
            AnchorClock::OpenTimestamps => !self.calendars.is_empty(),
            AnchorClock::OpReturn => self.node.is_some(),
        }
    }

    /// The clocks that cost nothing.
    pub fn free(&self) -> Vec<AnchorClock> {
        let free = [AnchorClock::Rfc3161, AnchorClock::OpenTimestamps];
        free.into_iter().filter(|clock| self.has(*clock)).collect()
    }
}

/// What is to be anchored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToAnchor {
    /// The newest head of the log.
    Head,
    /// A link of the identity, by its number.
    Link(u64),
}

/// Who asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By<'a> {
    /// Whoever is at this channel, with a key that nobody else has.
    Sender(Channel, &'a str),
    /// The clock of the host.
    Itself,
}

impl Kernel {
    /// Every anchor that was ever asked for.
    pub fn anchor_registry(&self) -> Arc<AnchorRegistry> {
        Arc::clone(&lock(&self.store).anchors)
    }

    /// Signs the newest head, or takes a link of the identity, and makes a task for each clock that is to stamp it; all that are
    /// set and cost nothing where none is named. Nothing leaves the machine by it.
    ///
    /// # Errors
    /// [`Error::Input`] where a clock is not set; [`Error::KeyLocked`] without the log's key; [`Error::NotFound`] without the link.
    pub fn stamp_anchor(
        &self,
        terms: &AnchorTerms,
        (what, clocks): (ToAnchor, &[AnchorClock]),
        (channel, key): (Channel, &str),
    ) -> Result<(u64, Vec<Submitted>), Error> {
        let mut clocks = if clocks.is_empty() { terms.free() } else { clocks.to_vec() };
        clocks.sort_unstable();
        clocks.dedup();
        if clocks.is_empty() {
            return Err(Error::Input("no clock is set that costs nothing: set one first".to_owned()));
        }
        if let Some(clock) = clocks.iter().find(|clock| !terms.has(**clock)) {
            return Err(Error::Input(format!("the clock `{clock}` is not set: set where it is first")));
        }
        if clocks.contains(&AnchorClock::OpReturn) && terms.fee.is_none() {
            return Err(Error::Input(
                "what a transaction costs is not known: the node does not tell".to_owned(),
            ));
        }
        let _one = lock(&self.anchoring);
        let number = self.request_anchor(what, &clocks, key)?;
        let mut made = Vec::new();
        for (at, clock) in clocks.iter().enumerate() {
            let key = format!("anchor:{key}:{at}");
            made.push(self.ask(terms, (number, *clock), false, By::Sender(channel, &key))?);
        }
        Ok((number, made))
    }

    /// Makes a task for each clock that is to be asked how an anchor stands, or all that are pending.
    ///
    /// # Errors
    /// [`Error::NotFound`] without the anchor; [`Error::Conflict`] where there is nothing to ask about.
    pub fn complete_anchors(
        &self,
        terms: &AnchorTerms,
        number: Option<u64>,
        (channel, key): (Channel, &str),
    ) -> Result<Vec<Submitted>, Error> {
        let _one = lock(&self.anchoring);
        self.settle_anchors()?;
        let registry = self.anchor_registry();
        let records: Vec<&AnchorRecord> = match number {
            Some(number) => vec![registry.get(number).ok_or_else(|| missing(number))?],
            None => registry.all().collect(),
        };
        let (mut made, mut unfit) = (Vec::new(), None);
        for record in records {
            for (clock, one) in &record.clocks {
                // Where one is named, its block is looked for once more, and a transaction that nobody saw.
                let is_meant = number.is_some() || one.is_open();
                if one.is_asked || !is_meant || !can_be_asked(terms, *clock, one) {
                    continue;
                }
                let key = format!("anchor:{key}:{}", made.len());
                match self.ask(terms, (record.number, *clock), true, By::Sender(channel, &key)) {
                    Ok(asked) => made.push(asked),
                    // One that cannot be asked about keeps no other from it.
                    Err(Error::Input(why)) => unfit = unfit.or(Some(why)),
                    Err(error) => return Err(error),
                }
            }
        }
        match (made.is_empty(), unfit) {
            (false, _) => Ok(made),
            (true, Some(why)) => Err(Error::Input(why)),
            (true, None) => Err(Error::Conflict("no clock can be asked how an anchor stands".to_owned())),
        }
    }

    /// Numbers an anchor: the same key twice is the same one.
    fn request_anchor(&self, what: ToAnchor, clocks: &[AnchorClock], key: &str) -> Result<u64, Error> {
        let key = format!("anchor.requested:{key}");
        for _ in 0..TRIES {
            if let Some(stored) = self.reader.by_idempotency_key(&key)? {
                return match self.body_of(&stored.event()?)? {
                    Body::AnchorRequested(b) => Ok(b.number),
                    _ => Err(Error::Conflict(format!("the key `{key}` was used for another request"))),
                };
            }
            let (subject, digest, note) = self.subject_of(what)?;
            let (seen, number) = {
                let store = lock(&self.store);
                ((store.system_task()?, store.seq), store.anchors.next_number())
            };
            let mut w = self.anchor_writeup(number)?;
            w.batch.expect.push(seen);
            if let Some(note) = note {
                // The bundle of a proof needs it byte for byte.
                w.artifact(
                    &note,
                    NewArtifact::audit(ArtifactKind::ReceiptBundle).media("text/plain; charset=utf-8"),
                )?;
            }
            let requested_at = w.now;
            let clocks = clocks.to_vec();
            w.push_keyed(
                Some(key.clone()),
                AnchorRequested { number, digest, subject, clocks, requested_at },
            );
            match self.commit(w) {
                Ok(_) => return Ok(number),
                Err(Error::Ledger(ledger::Error::Moved { .. } | ledger::Error::Duplicate { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Conflict("the log grew all the time; ask again".to_owned()))
    }

    /// What is stamped: its digest, and the note of a head.
    fn subject_of(&self, what: ToAnchor) -> Result<(AnchorSubject, Digest, Option<Vec<u8>>), Error> {
        if let ToAnchor::Link(number) = what {
            let digest = self.anchor_registry().link(number);
            let digest = digest.ok_or_else(|| Error::NotFound { kind: "link", id: number.to_string() })?;
            return Ok((AnchorSubject::Link { number }, digest, None));
        }
        let made = self.checkpoint(&[])?;
        let head = made.into_iter().find(|one| one.kind == CheckpointKind::Global);
        let head = head.ok_or_else(|| Error::Broken("the log has no head".to_owned()))?;
        let note = seal::note::Note::parse(&head.note)?;
        let subject = AnchorSubject::Head {
            origin: head.origin,
            size: head.size,
            root: head.root,
            note_sha256: Digest::of(&head.note),
        };
        Ok((subject, Digest::of(note.text.as_bytes()), Some(head.note)))
    }

    /// Makes the task that asks a clock, and puts that on record.
    fn ask(
        &self,
        terms: &AnchorTerms,
        (number, clock): (u64, AnchorClock),
        completes: bool,
        by: By<'_>,
    ) -> Result<Submitted, Error> {
        let registry = self.anchor_registry();
        let record = registry.get(number).ok_or_else(|| missing(number))?;
        let one = record.clocks.get(&clock).ok_or_else(|| missing(number))?;
        let attempt = one.attempts.saturating_add(1);
        let asked = self.anchor_act(terms, record, clock, completes)?;
        let mut goal = asked.title();
        if let Some(first) = goal.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let planned = seal::canon::to_canonical(&Planned::Anchor { anchor: asked })?;
        let change = String::from_utf8(planned).map_err(|e| Error::Broken(e.to_string()))?;
        let (reasoning, profile) = (Reasoning::Tools { change }, Profile::ExternalPublishGated);
        let workspace_id = self.workspace(&self.made_folder(FOLDER)?)?;
        let submitted = match by {
            By::Sender(channel, key) => {
                let submission = Submission::of(goal, workspace_id, reasoning, channel, key.to_owned());
                self.submit(&Submission { profile, priority: Priority::High, ..submission })?
            }
            By::Itself => self.submit_background(
                Initiator::Service,
                BackgroundWork {
                    title: String::new(),
                    goal,
                    workspace_id,
                    reasoning,
                    profile,
                    conversation_id: None,
                    budget: None,
                    deadline_at: None,
                    encloses: Encloses::default(),
                    scheduled_by: None,
                    depends_on: Vec::new(),
                    // The nonce of the act is drawn anew, and so is the key: a task without record asks nobody.
                    idempotency_key: format!("{OWN_KEYS}anchor:{number}:{clock}:{attempt}:{}", self.drawn()),
                },
            )?,
        };
        let mut w = self.anchor_writeup(number)?;
        let asked_at = w.now;
        w.push_keyed(
            Some(format!("anchor.asked:{number}:{clock}:{attempt}")),
            AnchorAsked { number, clock, asked_by: submitted.task_id, attempt, asked_at },
        );
        self.commit(w)?;
        Ok(submitted)
    }

    /// The act that asks a clock.
    fn anchor_act(
        &self,
        terms: &AnchorTerms,
        record: &AnchorRecord,
        clock: AnchorClock,
        completes: bool,
    ) -> Result<Anchor, Error> {
        let one = record.clocks.get(&clock).ok_or_else(|| missing(record.number))?;
        let prior = one.proof.clone().filter(|_| completes && clock == AnchorClock::OpenTimestamps);
        let at = match (clock, &prior) {
            (AnchorClock::Rfc3161, _) => terms.authorities.clone(),
            (AnchorClock::OpenTimestamps, None) => terms.calendars.clone(),
            // One that is proven is looked for in the chain alone.
            (AnchorClock::OpenTimestamps, Some(_)) if one.state == AnchorState::Anchored => Vec::new(),
            (AnchorClock::OpenTimestamps, Some(prior)) => self.calendars_of(prior, terms)?,
            (AnchorClock::OpReturn, _) => Vec::new(),
        };
        let asked = Anchor {
            number: record.number,
            clock,
            digest: record.digest,
            subject: record.subject.clone(),
            completes,
            at,
            node: terms.node.clone().filter(|_| clock != AnchorClock::Rfc3161),
            nonce: self.drawn(),
            depth: terms.depth.max(1),
            prior,
            was: one.block.clone().filter(|_| completes && one.state == AnchorState::Anchored),
            fee_max: terms.fee.filter(|_| clock == AnchorClock::OpReturn && !completes),
        };
        asked.check().map_err(Error::Input)?;
        Ok(asked)
    }

    /// The calendars that a stamp waited for, as they named themselves in it, as far as a person has set them: a stamp may name
    /// any server.
    fn calendars_of(&self, prior: &ArtifactRef, terms: &AnchorTerms) -> Result<Vec<String>, Error> {
        let unread = |why: String| Error::Input(format!("the stamp so far cannot be read: {why}"));
        let bytes = self.artifacts.read(&prior.sha256).map_err(|e| unread(e.to_string()))?;
        let mut named = effects::calendars_of(&bytes).map_err(unread)?;
        let waits = named.join(", ");
        let set: Vec<Option<String>> = terms.calendars.iter().map(|uri| place_of(uri)).collect();
        named.retain(|uri| place_of(uri).is_some_and(|at| set.contains(&Some(at))));
        if named.is_empty() && terms.node.is_none() {
            let says = format!("this stamp waits for {waits}, and you have set none of them as a calendar");
            return Err(Error::Input(says));
        }
        Ok(named)
    }

    /// 16 bytes in hex that nobody has drawn before.
    fn drawn(&self) -> String {
        let mut random = [0_u8; 16];
        self.ports.entropy.fill(&mut random);
        let letter = |at: u8| HEX.get(usize::from(at)).map_or('0', |letter| char::from(*letter));
        random.into_iter().flat_map(|byte| [letter(byte >> 4), letter(byte & 15)]).collect()
    }

    fn anchor_writeup(&self, number: u64) -> Result<Writeup<'_>, Error> {
        let actor = self.actor(PrincipalType::System)?;
        self.store_writeup(Point::AnchorRecord, actor, format!("anchor:{number}"), None)
    }

    /// Why a clock is not asked after all, if it is not.
    pub(super) fn anchor_outdated(&self, asked: &Anchor, task: TaskId) -> Option<String> {
        // Whoever makes the task at this moment is about to put it on record.
        drop(lock(&self.anchoring));
        let registry = self.anchor_registry();
        let one = registry.get(asked.number).and_then(|record| record.clocks.get(&asked.clock));
        let is_own = one.is_some_and(|one| one.is_asked && one.asked_by == Some(task));
        (!is_own).then(|| "another task asks that clock by now, or none does".to_owned())
    }

    /// How such an act ended, in words.
    pub(crate) fn anchored_words(asked: &Anchor) -> String {
        match asked.completes {
            true => format!(
                "The clock was asked how anchor {0} stands; `hermit anchor show {0}` tells.",
                asked.number
            ),
            false => format!(
                "The clock has anchor {0}; `hermit anchor show {0}` tells how it stands.",
                asked.number
            ),
        }
    }
}

/// Where a calendar is, the same however its address is spelled.
fn place_of(uri: &str) -> Option<String> {
    let url: WebUrl = uri.parse().ok()?;
    Some(url.to_string().trim_end_matches('/').to_owned())
}

fn missing(number: u64) -> Error {
    Error::NotFound { kind: "anchor", id: number.to_string() }
}

/// Whether there is anything that a clock can be asked about an anchor. What is proven is looked for in the chain alone.
fn can_be_asked(terms: &AnchorTerms, clock: AnchorClock, one: &ClockRecord) -> bool {
    match clock {
        AnchorClock::Rfc3161 => false,
        AnchorClock::OpenTimestamps if one.state == AnchorState::Anchored => terms.node.is_some(),
        AnchorClock::OpenTimestamps => one.proof.is_some(),
        AnchorClock::OpReturn => one.attempts > 0 && terms.node.is_some(),
    }
}
