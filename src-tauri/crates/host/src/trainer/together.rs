//! A run that machines of the mesh learn together (decision 340): rounds in which each learns alone, says how far it came, and goes on
//! with what is counted. One machine leads; whatever dies goes on from what is kept.

mod saying;

use super::Wish;
use super::circle::{Circle, ROUNDS_AHEAD};
use super::plan::Together;
use super::process::Phase;
use super::work::{Ended, Work, bounded};
use mesh::NodeId;
use seal::PublicKey;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use training::Said;
use training::outer::{OuterHead, OuterSettings, PARCEL_BYTES_MAX, Parcel, ParcelHead, Sent};
use wire::training::TogetherRow;
use words::training::TrainingState;

/// How often it is looked whether something came.
const LOOK: Duration = Duration::from_millis(200);
/// How often, while it rests, whether it may go on.
const REST: Duration = Duration::from_secs(2);
/// After how long one that waits says again where it is, at the least: what it was told, or what it said, may have been let go of.
const ASKS_AGAIN: Duration = Duration::from_secs(600);

/// Why a machine goes on no more that does not lead.
const UNBELIEVED: &str = "the machine that leads is not believed any more";

/// What is counted in a round, as the program reads it.
#[derive(Debug, Serialize)]
struct Counted {
    round: u32,
    settings: OuterSettings,
    messages: Vec<Message>,
}

/// A message of it.
#[derive(Debug, Serialize)]
struct Message {
    peer: PublicKey,
    signature: seal::Signature,
    file: String,
}

/// The rounds of a run in hand.
struct Rounds<'w> {
    work: &'w Work,
    of: &'w Together,
    circle: Circle,
    /// Since when enough came for the round to end.
    enough: Option<Instant>,
    /// When each other was told last what it lacked, where this one leads.
    caught_up: BTreeMap<NodeId, Instant>,
    /// When this one last said where it is, or got on.
    asked: Instant,
    /// The round of what came from the machine that leads and is looked at only once this one is nearer to it, by its name.
    later: BTreeMap<String, u32>,
}

impl Work {
    /// Learns together with other machines, and is measured.
    pub(super) fn together(&self, of: &Together) -> Result<Ended, String> {
        let circle = Circle::open(&self.plan)?;
        let mut rounds = Rounds {
            work: self,
            of,
            circle,
            enough: None,
            caught_up: BTreeMap::new(),
            asked: Instant::now(),
            later: BTreeMap::new(),
        };
        let came = rounds.to_the_end();
        rounds.show();
        if !came? {
            return Ok(Ended { state: TrainingState::Stopped, words: None });
        }
        let mut ended = self.prove()?;
        if ended.state == TrainingState::Done {
            let says = rounds.told();
            let record = self.with.kernel.record_together(&says, "All rounds were learned", None);
            record.map_err(|error| error.to_string())?;
            ended.words = Some(ended.words.map_or_else(|| says.clone(), |words| format!("{words}. {says}")));
        }
        Ok(ended)
    }
}

impl Rounds<'_> {
    fn is_lead(&self) -> bool {
        self.of.lead.is_none()
    }

    fn is_stopped(&self) -> bool {
        self.work.told.wish() == Wish::Stop
    }

    /// Whether all rounds were learned; else it was stopped.
    fn to_the_end(&mut self) -> Result<bool, String> {
        self.begin()?;
        self.show();
        loop {
            self.take_in()?;
            let course = self.circle.course();
            if course.round >= self.of.terms.rounds {
                return Ok(true);
            }
            if self.is_stopped() {
                self.leave();
                return Ok(false);
            }
            if course.counted.is_some() {
                self.end_round()?;
            } else if !course.is_sent {
                if !self.rests() {
                    self.learn()?;
                }
            } else if self.is_lead() && self.is_over() {
                self.circle.course_mut().count();
                self.circle.keep()?;
            } else {
                self.asks_again()?;
                self.waits();
            }
            self.show();
        }
    }

    /// Says what is to be said at the beginning: the one that leads asks, the others take part.
    fn begin(&mut self) -> Result<(), String> {
        let of = self.of;
        let id = of.id;
        match of.lead {
            Some(lead) => {
                let round = self.circle.course().round;
                self.send(lead, &Parcel::of(ParcelHead::Joins { id, round }))?;
            }
            None if !self.circle.is_asked() => {
                let (name, terms) = (of.name.clone(), of.terms);
                let parcel = Parcel::of(ParcelHead::Invited { id, name, terms });
                for node in &of.asked {
                    self.send(*node, &parcel)?;
                }
                self.circle.asked();
            }
            None => {}
        }
        self.circle.keep()
    }

    /// One that waits for long says again where it is, and how far it came.
    fn asks_again(&mut self) -> Result<(), String> {
        let Some(lead) = self.of.lead else { return Ok(()) };
        let every = ASKS_AGAIN.max(Duration::from_secs(u64::from(self.of.terms.patience_s)));
        if self.asked.elapsed() < every {
            return Ok(());
        }
        self.asked = Instant::now();
        if !self.is_peer(lead) {
            return Err(UNBELIEVED.to_owned());
        }
        let (id, round) = (self.of.id, self.circle.course().round);
        let mut parcels = vec![Parcel::of(ParcelHead::Joins { id, round })];
        if let Some(bytes) = self.own() {
            parcels.push(self.signed(round, &bytes)?.1);
        }
        for parcel in parcels {
            if let Err(why) = self.send(lead, &parcel) {
                tracing::warn!(why, "the machine that leads is asked again later");
                break;
            }
        }
        self.circle.keep()
    }

    /// Whoever leads does not wait for one that stopped.
    fn leave(&mut self) {
        let Some(lead) = self.of.lead else { return };
        if let Err(why) = self.send(lead, &Parcel::of(ParcelHead::Leaves { id: self.of.id })) {
            tracing::debug!(why, "the machine that leads is not told that this one stops");
        }
    }

    /// Whether it does no round for now: its person paused it, or the machine is not as it has to be.
    fn rests(&self) -> bool {
        let paused = self.work.told.wish() == Wish::Pause;
        let waits = self.work.waits_for();
        if !paused && waits.is_none() {
            return false;
        }
        let mut live = self.work.told.live();
        live.state = if paused { TrainingState::Paused } else { TrainingState::Waiting };
        live.words = waits.filter(|_| !paused).map(str::to_owned);
        drop(live);
        std::thread::sleep(REST);
        true
    }

    fn waits(&self) {
        let course = self.circle.course();
        let words = match self.of.lead {
            Some(lead) => format!("it waits for what `{}` counts", self.name(lead)),
            None => format!(
                "it waits for other machines: {} sent something, and {} are needed",
                course.heard.len(),
                self.of.terms.settings.peers_min
            ),
        };
        let mut live = self.work.told.live();
        live.state = TrainingState::Waiting;
        live.words = Some(words);
        drop(live);
        std::thread::sleep(LOOK);
    }

    fn is_over(&mut self) -> bool {
        let (course, terms) = (self.circle.course(), &self.of.terms);
        let (here, least) = (self.circle.here().len().saturating_add(1), terms.settings.peers_min);
        if course.heard.len() < least {
            self.enough = None;
            return false;
        }
        let waited = self.enough.get_or_insert_with(Instant::now).elapsed().as_secs();
        course.is_over(here, least, waited, terms)
    }

    /// Looks at what came. What is of a later round waits for it.
    fn take_in(&mut self) -> Result<(), String> {
        let came = self.circle.came();
        self.later.retain(|name, _| came.binary_search(name).is_ok());
        let until = self.circle.course().round.saturating_add(ROUNDS_AHEAD);
        for name in came {
            if self.later.get(&name).is_some_and(|round| *round > until) {
                continue;
            }
            let Some((from, parcel)) = self.circle.one(&name) else { continue };
            let is_looked_at = match (&parcel.head, self.is_lead()) {
                (ParcelHead::Joins { round, .. }, true) => {
                    if self.circle.here_mut().insert(from) {
                        self.circle.keep()?;
                    }
                    self.catches_up(from, *round)?
                }
                (ParcelHead::Leaves { .. }, true) => {
                    self.circle.here_mut().remove(&from);
                    self.circle.keep()?;
                    true
                }
                (ParcelHead::Sent { round, sent, .. }, true) => {
                    self.hear(from, *round, sent, &parcel.body)?
                }
                (ParcelHead::Sent { round, .. }, false)
                    if (until.saturating_add(1)..self.of.terms.rounds).contains(round) =>
                {
                    self.later.insert(name.clone(), *round);
                    false
                }
                (ParcelHead::Sent { round, .. }, false) => {
                    self.circle.put_ahead(*round, &self.work.plan.spec.together(), &parcel.body, until)?;
                    true
                }
                (ParcelHead::Counted { round, all, .. }, false) => self.fix(*round, all)?,
                _ => true,
            };
            if is_looked_at {
                self.circle.looked_at(&name);
            }
        }
        Ok(())
    }

    /// What a machine sent in a round; whether that is over with.
    fn hear(&mut self, from: NodeId, round: u32, sent: &Sent, bytes: &[u8]) -> Result<bool, String> {
        let course = self.circle.course();
        // One that was told what is counted is ahead by a round of a leader that has not ended its own yet, and nobody by more.
        if round != course.round {
            return Ok(round.checked_sub(1) != Some(course.round));
        }
        let Some(own) = self.own() else { return Ok(false) };
        let registry = self.work.with.kernel.mesh_registry();
        let key = registry
            .state()
            .filter(|state| state.is_peer(from))
            .and_then(|state| state.log_key(from).copied());
        let Some(key) = key else { return Ok(true) };
        match self.circle.course_mut().hear(&own, &key, sent, bytes) {
            Ok(true) => {
                self.circle.put(bytes)?;
                self.circle.keep()?;
            }
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(machine = %registry.name_of(from), %error, "a round goes on without it")
            }
        }
        Ok(true)
    }

    /// What the machine that leads counts; whether that is over with.
    fn fix(&mut self, round: u32, all: &[Sent]) -> Result<bool, String> {
        let course = self.circle.course();
        if round < course.round {
            return Ok(true);
        }
        let is_here = all.iter().all(|sent| self.circle.message(&sent.sha256).is_some());
        if round > course.round || !is_here {
            return Ok(false);
        }
        self.circle.course_mut().fix(all).map_err(|error| error.to_string())?;
        self.asked = Instant::now();
        self.circle.keep()?;
        Ok(true)
    }

    /// This machine's own message of the round, where its program wrote it and it was sent.
    fn own(&self) -> Option<Vec<u8>> {
        let course = self.circle.course();
        let path = self.work.plan.message(course.round);
        let most = u64::try_from(PARCEL_BYTES_MAX).unwrap_or(u64::MAX);
        let bytes = course.is_sent.then(|| bounded(&path, most).ok()).flatten()?;
        OuterHead::of(&bytes).ok().filter(|head| head.round == course.round).map(|_| bytes)
    }

    /// Learns alone, and sends how far that came.
    fn learn(&mut self) -> Result<(), String> {
        let (terms, round) = (self.of.terms, self.circle.course().round);
        let mut written = None;
        let phase = Phase::Round { steps: terms.steps, percent: terms.percent };
        self.work.phase(phase, &mut |said| {
            if let Said::Round { round, .. } = said {
                written = Some(*round);
            }
        })?;
        if self.is_stopped() {
            return Ok(());
        }
        if written != Some(round) {
            return Err("the program that trains wrote nothing for this round".to_owned());
        }
        let path = self.work.plan.message(round);
        let most = training::outer::MESSAGE_BYTES_MAX;
        let bytes = bounded(&path, u64::try_from(most).unwrap_or(u64::MAX))?;
        let head = OuterHead::of(&bytes).map_err(|error| error.to_string())?;
        if head.round != round || head.run != self.work.plan.spec.together() {
            return Err("the program that trains wrote something for another run or round".to_owned());
        }
        let (sent, parcel) = self.signed(round, &bytes)?;
        // What is too large for the letters is refused at the machine that leads as well: the others could not have it.
        parcel.to_bytes().map_err(|error| error.to_string())?;
        self.circle.put(&bytes)?;
        match self.of.lead {
            Some(lead) => self.send(lead, &parcel)?,
            None => {
                let course = self.circle.course_mut();
                course.hear(&bytes, &sent.peer, &sent, &bytes).map_err(|error| error.to_string())?;
            }
        }
        self.circle.course_mut().is_sent = true;
        self.asked = Instant::now();
        self.circle.keep()
    }

    /// What this machine says of a round that it learned.
    fn signed(&self, round: u32, bytes: &[u8]) -> Result<(Sent, Parcel), String> {
        let signed = self.work.with.kernel.sign_round(bytes);
        let (peer, signature) = signed.map_err(|error| error.to_string())?;
        let sent = Sent { peer, signature, sha256: seal::Digest::of(bytes) };
        Ok((sent, Parcel { head: ParcelHead::Sent { id: self.of.id, round, sent }, body: bytes.to_vec() }))
    }

    /// Ends the round with what is counted: the one that leads tells the others, and each lets its program do it.
    fn end_round(&mut self) -> Result<(), String> {
        let round = self.circle.course().round;
        let all = self.circle.course().counted.clone().unwrap_or_default();
        if self.is_lead() {
            for node in self.circle.here().clone() {
                self.tell(node, round, &all)?;
            }
            self.circle.keep()?;
        }
        self.lend(round, &all)?;
        self.work.phase(Phase::Count, &mut |_| {})?;
        if self.is_stopped() {
            return Ok(());
        }
        self.circle.course_mut().end();
        self.enough = None;
        self.circle.keep()?;
        if !self.is_lead() {
            // Whoever comes later asks the machine that leads.
            all.iter().for_each(|sent| self.circle.forget(&sent.sha256));
            self.circle.forget_before(self.circle.course().round);
        }
        let mut live = self.work.told.live();
        live.words = None;
        Ok(())
    }

    /// Hands the program what is counted.
    fn lend(&self, round: u32, all: &[Sent]) -> Result<(), String> {
        let plan = &self.work.plan;
        let folder = plan.counted_folder().map_err(|error| error.to_string())?;
        let mut messages = Vec::with_capacity(all.len());
        for sent in all {
            let bytes = self.circle.message(&sent.sha256).ok_or_else(|| {
                "a message that is counted is not here any more; stop it, and go on with it again".to_owned()
            })?;
            let path = folder.join(format!("{}.bin", sent.sha256));
            disk::replace(&path, &bytes).map_err(|error| error.to_string())?;
            let file = path.to_string_lossy().into_owned();
            messages.push(Message { peer: sent.peer, signature: sent.signature, file });
        }
        let counted = Counted { round, settings: self.of.terms.settings, messages };
        let text = serde_json::to_vec(&counted).map_err(|error| error.to_string())?;
        disk::replace(&plan.counted(), &text).map_err(|error| error.to_string())
    }

    fn name(&self, node: NodeId) -> String {
        self.work.with.kernel.mesh_registry().name_of(node)
    }

    /// What it came to, in words.
    fn told(&self) -> String {
        let course = self.circle.course();
        let machines = course.past.iter().map(Vec::len).max().unwrap_or_default();
        format!(
            "The run `{}` was learned in {} rounds by up to {machines} machines; this one sent {} bytes, and plain averaging would \
             have sent {}",
            self.of.name, course.round, course.sent_bytes, course.plain_bytes
        )
    }

    /// Shows how it stands.
    fn show(&self) {
        let course = self.circle.course();
        let counted = course.past.last().map_or(0, Vec::len);
        let here = self.circle.here().iter().copied().chain(self.of.lead);
        let row = TogetherRow {
            name: self.of.name.clone(),
            lead: self.of.lead.map(|lead| self.name(lead)),
            machines: here.map(|node| self.name(node)).collect(),
            round: course.round,
            rounds: self.of.terms.rounds,
            counted: u32::try_from(counted).unwrap_or(u32::MAX),
            sent_bytes: course.sent_bytes,
            plain_bytes: course.plain_bytes,
        };
        self.work.told.live().together = Some(row);
    }
}
