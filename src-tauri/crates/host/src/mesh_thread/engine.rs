//! The node of this machine, and the order in which everything of it is done: secrets into the keychain, facts and deliveries in one
//! commit, then bytes to the ways, then what a person may see. A commit that fails is followed by nothing, and the node, whose
//! memory is ahead of the record then, is made anew from what is on record.

use super::fault::Fault;
use super::inbox::DELIVERY_PAUSE_MS;
use super::keys::{MeshKeys, node_key};
use super::meeting::Meeting;
use super::network::{at_of, way_of};
use super::proof::NodeProof;
use super::reach::Reach;
use super::terms::Terms;
use super::ways::Ways;
use crate::logs::OrLogged as _;
use crate::mesh_settings::MeshSettings;
use crate::task_drivers::TaskDrivers;
use crate::trainer::Letterbox;
use kernel::Kernel;
use kernel::command::afar_looks::MachinesHeard;
use mesh::port::KeepSecret;
use mesh::sealed::NostrSealing;
use mesh::{Capabilities, Command, Fact, Happened, Node, State, Step, Telling, Way};
use model::{Entropy, UnixMs};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often what follows from time alone is looked at, in milliseconds.
pub(super) const MINUTE_MS: i64 = 60_000;
/// Commits that come within this time are looked at together, in milliseconds.
const TOGETHER_MS: i64 = 200;
/// How long it takes until the node is asked again for what was due and is due still, in milliseconds.
const DUE_STILL_MS: i64 = 250;
/// How long a node that could not go on is left alone, the first time, in milliseconds; each time it is twice as long.
const PAUSE_FIRST_MS: i64 = 1_000;
/// And at most.
const PAUSE_MOST_MS: i64 = MINUTE_MS;

/// Chance, as a node draws it.
pub(super) struct Drawn(pub(super) Arc<dyn Entropy>);

impl mesh::Chance for Drawn {
    fn fill(&mut self, buffer: &mut [u8]) {
        self.0.fill(buffer);
    }
}

/// What an engine is made of.
pub struct Parts<W> {
    /// The store.
    pub kernel: Arc<Kernel>,
    /// Whoever drives what goals of other machines begin.
    pub drives: Arc<TaskDrivers>,
    /// The keychain.
    pub keys: MeshKeys,
    /// The ways out.
    pub ways: W,
    /// Proves the node to whoever is reached directly.
    pub proof: Arc<NodeProof>,
    /// What is set.
    pub settings: MeshSettings,
    /// What is taken from other settings.
    pub terms: Box<dyn Terms>,
    /// Where it goes what machines say that learn together, where there is such a place.
    pub letterbox: Option<Letterbox>,
    /// Whether something was committed since this was looked at last.
    pub woken: Arc<AtomicBool>,
}

/// What this node told of itself last.
type Told = (Capabilities, u8, Vec<String>);

/// The node and all that it does.
pub struct Engine<W> {
    pub(super) parts: Parts<W>,
    pub(super) node: Option<Node<NostrSealing>>,
    pub(super) meeting: Option<Meeting>,
    /// Why there is no node.
    pub(super) still: Option<String>,
    /// Whether nothing is open, since nothing may go on.
    rests: bool,
    /// Erasures that the node was made after.
    erasures: u64,
    /// When it is made anew at the earliest, and how long it is left alone the next time.
    again: (UnixMs, i64),
    /// Secrets of a step that is not on record.
    unkept: Vec<KeepSecret>,
    wake_at: Option<UnixMs>,
    /// When what follows from time alone was looked at last.
    minute: UnixMs,
    has_news: bool,
    looked_at: UnixMs,
    /// When deliveries are done again, where some wait.
    pub(super) deliver_at: Option<UnixMs>,
    pub(super) told: Option<Told>,
    /// Whether the node was told last that everybody may see it, and which head of the log they see.
    pub(super) public: (bool, Option<String>),
    /// Ways that the node knows to be open.
    pub(super) up: BTreeSet<Way>,
    /// What was said of each way last.
    pub(super) says: BTreeMap<Way, String>,
    pub(super) direct: BTreeMap<String, String>,
    /// Why nothing listens.
    pub(super) deaf: Option<String>,
}

impl<W: Ways> Engine<W> {
    /// Nothing is open yet.
    pub fn new(parts: Parts<W>) -> Self {
        let now = parts.kernel.ports().clock.now();
        Self {
            parts,
            node: None,
            meeting: None,
            still: None,
            rests: false,
            erasures: 0,
            again: (now, PAUSE_FIRST_MS),
            unkept: Vec::new(),
            wake_at: None,
            minute: now,
            has_news: true,
            looked_at: now.plus_ms(-TOGETHER_MS),
            deliver_at: Some(now),
            told: None,
            public: (false, None),
            up: BTreeSet::new(),
            says: BTreeMap::new(),
            direct: BTreeMap::new(),
            deaf: None,
        }
    }

    pub(super) fn now(&self) -> UnixMs {
        self.parts.kernel.ports().clock.now()
    }

    pub(super) fn chance(&self) -> Drawn {
        Drawn(Arc::clone(&self.parts.kernel.ports().entropy))
    }

    /// Does everything that is due.
    pub fn go_on(&mut self) {
        let now = self.now();
        // A clock that was set back is waited for by nobody.
        let is_minute = now.0.abs_diff(self.minute.0) >= MINUTE_MS.unsigned_abs();
        self.has_news |= self.parts.woken.swap(false, Ordering::SeqCst) || is_minute;
        let slot = self.parts.kernel.next_mesh_slot();
        self.has_news |= slot.is_some_and(|at| at <= now && at > self.looked_at);
        if self.parts.kernel.halted().is_some() {
            self.rest("Hermit is halted");
            return;
        }
        if self.node.is_some() && self.parts.kernel.mesh_registry().erasures() != self.erasures {
            // What was erased is in no memory either, and is written to nobody.
            self.node = None;
            self.again.0 = now;
        }
        if self.node.is_none() && !(is_due(self.again.0, now, PAUSE_MOST_MS) && self.make().is_ok()) {
            return;
        }
        if is_minute {
            self.minute = now;
            self.each_minute();
            if self.node.is_none() {
                return;
            }
        }
        if is_minute || self.wake_at.is_some_and(|at| at <= now) {
            self.hears_of(Happened::Tick);
            // What is due at once even now could not be done.
            self.wake_at = self.wake_at.map(|at| at.max(now.plus_ms(DUE_STILL_MS)));
        }
        if self.has_news && is_due(self.looked_at.plus_ms(TOGETHER_MS), now, TOGETHER_MS) {
            (self.has_news, self.looked_at) = (false, now);
            self.look_for_news();
        }
        if self.deliver_at.is_some_and(|at| is_due(at, now, DELIVERY_PAUSE_MS)) {
            self.take_deliveries();
        }
        self.meet();
    }

    /// How long nothing is due, unless something comes.
    pub fn wait(&self) -> Duration {
        let now = self.now();
        let dues = match self.node {
            None => vec![Some(self.again.0)],
            Some(_) => {
                let minute = Some(self.minute.plus_ms(MINUTE_MS));
                let news = self.has_news.then(|| self.looked_at.plus_ms(TOGETHER_MS));
                let meeting = self.meeting.as_ref().map(|meeting| meeting.next);
                let slot = self.parts.kernel.next_mesh_slot().filter(|at| *at > self.looked_at);
                vec![self.wake_at, minute, news, self.deliver_at, meeting, slot]
            }
        };
        let due = dues.into_iter().flatten().min().unwrap_or(now);
        let ms = u64::try_from(due.0.saturating_sub(now.0)).unwrap_or(0);
        // What is due at once and cannot be done is no reason to turn without end.
        Duration::from_millis(ms.clamp(5, MINUTE_MS.unsigned_abs()))
    }

    /// Makes the node from what is on record, and has it go on.
    pub(super) fn make(&mut self) -> Result<(), Fault> {
        let made = self.make_node();
        if let Err(fault) = &made {
            self.still = Some(match fault {
                Fault::Still(why) => why.clone(),
                other => other.to_string(),
            });
            self.pause();
            return made;
        }
        self.still = None;
        self.rests = false;
        self.up.clear();
        (self.told, self.public) = (None, (false, None));
        self.listen();
        self.tell();
        self.connect();
        self.say_heard();
        self.deliver_at = Some(self.now());
        if self.node.is_some() { Ok(()) } else { Err(self.is_still()) }
    }

    fn make_node(&mut self) -> Result<(), Fault> {
        let still = |why: String| Fault::Still(why);
        if self.parts.kernel.halted().is_some() {
            return Err(still("Hermit is halted".to_owned()));
        }
        let registry = self.parts.kernel.mesh_registry();
        let me = registry.node().ok_or_else(|| still("this machine has not joined it".to_owned()))?;
        let key = node_key(&self.parts.kernel, Some(me)).map_err(|e| still(e.to_string()))?;
        let sealing = self.parts.keys.sealing(&key).map_err(still)?;
        self.parts.proof.is(Some(Arc::new(key.with_secret(NostrSealing::new)?)));
        let state = registry.state().cloned().unwrap_or_else(|| State::new(me));
        self.erasures = registry.erasures();
        let node = Node::new(sealing, state, self.now());
        let group = node.own_group();
        for one in std::mem::take(&mut self.unkept) {
            if group.as_ref().is_none_or(|group| group.secret.as_bytes() != &one.secret) {
                self.parts.keys.forget(&one.secret)?;
            }
        }
        self.node = Some(node);
        Ok(())
    }

    pub(super) fn is_still(&self) -> Fault {
        Fault::Still(self.still.clone().unwrap_or_else(|| "it is made anew".to_owned()))
    }

    /// The node, made now where a person waits for it.
    pub fn ready(&mut self) -> Result<(), Fault> {
        if self.node.is_some() { Ok(()) } else { self.make() }
    }

    /// Tells the kernel which machines were heard, for schedules that wait for one to fall silent.
    fn say_heard(&self) {
        let heard = self.node.as_ref().map(|node| MachinesHeard {
            now: self.now(),
            last: node.heard().map(|(node, at, is_heard)| (node, (at, is_heard))).collect(),
            quiet_ms: node.quiet_ms(),
        });
        self.parts.kernel.heard_machines(heard);
    }

    fn pause(&mut self) {
        let (_, pause) = self.again;
        self.again = (self.now().plus_ms(pause), pause.saturating_mul(2).min(PAUSE_MOST_MS));
    }

    /// Nothing is open, and nothing goes on, until it may.
    fn rest(&mut self, why: &str) {
        self.node = None;
        self.say_heard();
        self.still = Some(why.to_owned());
        self.again = (self.now().plus_ms(PAUSE_FIRST_MS), PAUSE_FIRST_MS);
        if std::mem::replace(&mut self.rests, true) {
            return;
        }
        self.parts.proof.is(None);
        self.parts.ways.keep(&Reach::default());
        self.parts.ways.admit(&BTreeSet::new());
        self.parts.ways.accept_guests(false);
        self.parts.ways.listen(None).or_logged("this machine still listens");
    }

    /// The node's memory is ahead of what is on record, or nobody knows what it is: it is made anew.
    pub fn broke(&mut self, why: String) {
        self.node = None;
        self.still = Some(why);
        self.pause();
    }

    /// Something happened to the node.
    ///
    /// # Errors
    /// [`Fault`]; nothing was written then.
    pub fn happens(&mut self, what: Happened) -> Result<(), Fault> {
        let (now, mut chance) = (self.now(), self.chance());
        let Some(node) = &mut self.node else { return Err(self.is_still()) };
        let step = node.handle(what, now, &mut chance)?;
        self.carry_out(step, None)
    }

    /// Takes in a file that was carried here, and answers how many messages of it were new.
    ///
    /// # Errors
    /// As [`Self::happens`]; for what is no such file.
    pub fn import(&mut self, file: Vec<u8>) -> Result<usize, Fault> {
        self.ready()?;
        let (now, mut chance) = (self.now(), self.chance());
        let Some(node) = &mut self.node else { return Err(self.is_still()) };
        let step = node.handle(Happened::Imported(file), now, &mut chance)?;
        let messages = mesh::carry::messages(&step.deliver);
        self.carry_out(step, None)?;
        Ok(messages)
    }

    /// As [`Self::happens`], where nobody waits for it: what was sent comes again once the node goes on.
    pub(super) fn hears_of(&mut self, what: Happened) {
        if let Err(fault) = self.happens(what) {
            tracing::debug!(%fault, "the mesh does not take something in now");
        }
    }

    /// Has the node say something, all of it in one commit. `settles`: what of the inbox it comes of; then nobody waits for it, and
    /// what may not be said is left out. Else nothing is said where one may not be.
    ///
    /// # Errors
    /// [`Fault`]; nothing was written then.
    pub fn say(
        &mut self,
        commands: Vec<Command>,
        settles: Option<u64>,
        is_strict: bool,
    ) -> Result<(), Fault> {
        self.ready()?;
        let (now, mut chance, mut whole) = (self.now(), self.chance(), Step::default());
        for command in commands {
            let Some(node) = &mut self.node else { return Err(self.is_still()) };
            match node.handle(Happened::Said(command), now, &mut chance) {
                Ok(step) => join(&mut whole, step),
                Err(error) if is_strict => {
                    if whole != Step::default() {
                        self.node = None;
                        self.make().or_logged("the mesh stands still");
                    }
                    return Err(error.into());
                }
                Err(error) => tracing::warn!(%error, "the mesh does not say something"),
            }
        }
        if whole.wake_at.is_none() {
            whole.wake_at = self.wake_at;
        }
        self.carry_out(whole, settles)
    }

    fn carry_out(&mut self, step: Step, settles: Option<u64>) -> Result<(), Fault> {
        if let Err(fault) = self.record(&step, settles) {
            tracing::warn!(error = %fault, "a step of the mesh is not on record; nothing of it was written");
            self.unkept.extend(step.keep);
            self.broke(fault.to_string());
            return Err(fault);
        }
        if !step.facts.is_empty() {
            // The record takes something again.
            self.again.1 = PAUSE_FIRST_MS;
        }
        self.wake_at = step.wake_at;
        let mends =
            |fact: &Fact| matches!(fact, Fact::Paired(_) | Fact::Moved { .. } | Fact::Withdrawn { .. });
        let is_other = step.facts.iter().any(mends);
        if !step.deliver.is_empty() {
            self.deliver_at = Some(self.now());
        }
        for (way, bytes) in step.write {
            if let Some(at) = at_of(&way) {
                // What finds no room is written again: its letter waits.
                self.parts.ways.write(&at, bytes);
            }
        }
        for telling in step.tell {
            let (way, says) = match telling {
                Telling::Refused { way, why } => (way, why),
                Telling::Unreadable { way, count } => {
                    (way, format!("{count} messages that nobody here can read"))
                }
            };
            self.says.insert(way, says);
        }
        if is_other {
            self.connect();
        }
        Ok(())
    }

    fn record(&self, step: &Step, settles: Option<u64>) -> Result<(), Fault> {
        self.parts.keys.keep(&step.keep)?;
        if !step.facts.is_empty() || !step.deliver.is_empty() || settles.is_some() {
            self.parts.kernel.record_mesh(&step.facts, &step.deliver, settles)?;
        }
        Ok(())
    }

    fn each_minute(&mut self) {
        let node = self.parts.kernel.mesh_registry().node();
        if let Err(why) = node_key(&self.parts.kernel, node) {
            self.rest(&why.to_string());
            return;
        }
        if self.deaf.is_some() {
            self.listen();
        }
        self.parts.kernel.look_at_folders_again();
        self.tell();
        self.connect();
        self.say_heard();
        let known: BTreeSet<Way> =
            self.parts.ways.stands().iter().filter_map(|(at, ..)| way_of(at)).collect();
        self.says.retain(|way, _| known.contains(way));
    }
}

/// Whether a time came. One that lies further ahead than it was ever set is no time: the clock was set back.
fn is_due(at: UnixMs, now: UnixMs, ahead_max: i64) -> bool {
    at <= now || at.0.saturating_sub(now.0) > ahead_max
}

fn join(whole: &mut Step, step: Step) {
    let Step { keep, facts, deliver, write, tell, wake_at } = step;
    whole.keep.extend(keep);
    whole.facts.extend(facts);
    whole.deliver.extend(deliver);
    whole.write.extend(write);
    whole.tell.extend(tell);
    whole.wake_at = wake_at;
}
