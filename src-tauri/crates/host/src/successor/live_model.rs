//! A model, asked by the process that runs a trial in the place of a clone, which has no network: within the tokens of the trial's budget,
//! on this machine alone, and with requests that this process has written itself. It is another one than the recorded tasks had, or the
//! one that words are tried on.

use super::confined::EVIDENCE_BYTES_MAX;
use super::model_pipe::{ASKS, Ask, LINE_BYTES_MAX, Told};
use super::recording::{answer_of, coded};
use crate::{Config, Home};
use ::successor::RecordedAnswer;
use kernel::command::submit::Reasoning;
use kernel::ports::ReasonerSource;
use model::Digest;
use model::context::ContextPack;
use model::limits::MODEL_WAIT_MS_MAX;
use model::proposal::{Answer, ToolSpec, Usage};
use model::task::ModelChoice;
use reasoning::{Address, Descriptor, Error, Input, Reasoner, Reply};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wire::task::Reasoner as Asked;

/// How long a server on this machine may take to be reached at all.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a token where a server tells no tokens, or none yet.
const BYTES_OF_A_TOKEN: u64 = 4;

/// A model on this machine that can be asked now, as a person names it.
///
/// # Errors
/// In words, what stands in the way: it is no model, it is on another machine, its file is another one, or nobody answers there.
pub(super) fn reached(
    home: &Home,
    reasoners: &dyn ReasonerSource,
    address: &str,
    sha256: Option<Digest>,
) -> Result<Arc<dyn Reasoner>, String> {
    let parsed: Address = address.parse().map_err(|e: Error| e.to_string())?;
    if parsed.leaves_this_machine() {
        return Err(format!(
            "the model `{address}` is on another machine, and your past work would leave this one for it: try a model on this machine"
        ));
    }
    let config = Config::load(home).map_err(|e| e.to_string())?;
    crate::programs::check_model(address, sha256, &config)?;
    let asked = Asked::Address { address: address.to_owned() };
    let chosen = crate::reasoners::chosen(&asked, &config, home).map_err(|e| e.message)?;
    let Reasoning::Openai { api, base_url, model, secret } = chosen else {
        return Err(format!("`{address}` names no model that could be asked"));
    };
    if let (None, Some((host, port))) = (parsed.in_box(), parsed.host()) {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let mut places = (bare, port).to_socket_addrs().map_err(|e| format!("`{host}`: {e}"))?;
        if !places.any(|at| TcpStream::connect_timeout(&at, PATIENCE).is_ok()) {
            return Err(format!(
                "the model `{address}` cannot be reached: nobody answers at {host}:{port}; start its server and try again"
            ));
        }
    }
    reasoners.reasoner(&ModelChoice::Openai { api, base_url, model, secret }, None)
}

/// Tokens that stand around the words of one item of a context, at most.
const FENCE_TOKENS_MAX: u32 = 48;

/// What a model was asked for a task of the case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spent {
    /// Tokens of the contexts that it was asked with, as Hermit counts them, and of its answers.
    pub(super) tokens: u64,
    /// Answers.
    pub(super) turns: u32,
}

/// What a model was asked in a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SpentInAll {
    /// By the place of the task in the case.
    pub(super) tasks: Vec<Spent>,
    /// Tokens read and written: as its server counts them, and no fewer than those of contexts and answers.
    pub(super) tokens: u64,
    /// Whether these are more than the budget has.
    pub(super) over: bool,
}

/// A request that was written for a clone.
#[derive(Clone)]
struct Written {
    request: Vec<u8>,
    /// The context that it was written for.
    pack: ContextPack,
    /// Tokens of that context, by its words.
    tokens: u64,
}

/// How far a trial has asked its model.
#[derive(Default)]
struct Progress {
    /// The request that was written last.
    written: Option<Written>,
    spent: SpentInAll,
    failed: Option<String>,
}

/// A model that is asked for a clone.
pub struct LiveModel {
    address: String,
    reasoner: Arc<dyn Reasoner>,
    tokens_max: u64,
    /// Whether those are all that there are, also where it is asked once more.
    in_all: bool,
    progress: Mutex<Progress>,
    /// Whether the clone has ended: then nobody waits for an answer.
    ended: AtomicBool,
}

impl LiveModel {
    /// `tokens_max`: what it may read and write together in the trial; `tasks`: how many tasks the case has.
    pub(super) fn new(address: &str, reasoner: Arc<dyn Reasoner>, tokens_max: u64, tasks: usize) -> Self {
        let spent = SpentInAll { tasks: vec![Spent::default(); tasks], ..SpentInAll::default() };
        let progress = Mutex::new(Progress { spent, ..Progress::default() });
        let (address, ended) = (address.to_owned(), AtomicBool::new(false));
        Self { address, reasoner, tokens_max, in_all: false, progress, ended }
    }

    /// The same for a task, whose budget has no more tokens than these.
    pub(super) fn in_all(self) -> Self {
        Self { in_all: true, ..self }
    }

    /// The same, asked nothing yet.
    pub(super) fn anew(&self) -> Self {
        let (tasks, spent) = {
            let progress = self.progress();
            (progress.spent.tasks.len(), if self.in_all { progress.spent.tokens } else { 0 })
        };
        let left = self.tokens_max.saturating_sub(spent);
        Self { in_all: self.in_all, ..Self::new(&self.address, Arc::clone(&self.reasoner), left, tasks) }
    }

    /// What the clone knows of it. Pictures stand in no recording, and nothing in a clone has a price.
    pub(super) fn descriptor(&self) -> Descriptor {
        let own = self.reasoner.descriptor();
        Descriptor { remote: false, sees: false, cost_in_micros: 0, cost_out_micros: 0, ..own }
    }

    /// How often it has answered until now.
    pub(super) fn answers(&self) -> u32 {
        self.progress().spent.tasks.iter().fold(0, |sum, task| task.turns.saturating_add(sum))
    }

    /// The clone has ended.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    /// What it was asked.
    ///
    /// # Errors
    /// In words, where it could not be asked to the end of the trial: then nothing was tried.
    pub(super) fn spent(&self) -> Result<SpentInAll, String> {
        let progress = self.progress();
        match &progress.failed {
            Some(why) => Err(format!("the model `{}` could not be asked to the end: {why}", self.address)),
            None => Ok(progress.spent.clone()),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a clone its input and answers what it asks, until it writes something else: that is its evidence, to the bound, and
    /// whether there was more.
    pub(super) fn converse(
        &self,
        input: &[u8],
        mut stdin: ChildStdin,
        stdout: ChildStdout,
    ) -> (Vec<u8>, bool) {
        let mut heard = BufReader::new(stdout);
        let mut told = input.to_vec();
        loop {
            told.push(b'\n');
            // One that does not read it has ended, and what it wrote before is all there is.
            let is_read = stdin.write_all(&told).and_then(|()| stdin.flush()).is_ok();
            let mut line = Vec::new();
            let came = heard.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            let Some(ask) = line.strip_prefix(ASKS).filter(|_| is_read && came.is_ok()) else {
                drop(stdin);
                return rest(line, heard);
            };
            told = serde_json::to_vec(&self.told(ask)).unwrap_or_default();
        }
    }

    fn told(&self, ask: &[u8]) -> Told {
        match serde_json::from_slice(ask) {
            Ok(Ask::Write { pack, tools }) => self.written(*pack, &tools),
            Ok(Ask::Answer { task, request_sha256 }) => self.answered(task, &request_sha256),
            Err(error) => Told::No(format!("this asks for nothing: {error}")),
        }
    }

    fn written(&self, pack: ContextPack, tools: &[ToolSpec]) -> Told {
        match self.reasoner.encode(&pack, tools) {
            Ok(request) => {
                let text = coded(&request);
                let tokens = tokens_of(&pack);
                self.progress().written = Some(Written { request, pack, tokens });
                Told::Request(text)
            }
            Err(error) => self.failed(&error),
        }
    }

    /// It is asked no more, and the trial fails.
    fn failed(&self, error: &Error) -> Told {
        let why = error.to_string();
        self.progress().failed.get_or_insert_with(|| why.clone());
        Told::No(why)
    }

    fn answered(&self, task: usize, request_sha256: &Digest) -> Told {
        let written = match self.may_ask(task, request_sha256) {
            Ok(written) => written,
            Err(why) => return Told::No(why),
        };
        let input = Input {
            request: &written.request,
            pack: &written.pack,
            observed: &[],
            iteration: written.pack.iteration,
            wait_ms_max: MODEL_WAIT_MS_MAX,
        };
        match self.reasoner.propose(&input, &mut |_| {}, &|| self.ended.load(Ordering::SeqCst)) {
            Ok(Reply { raw, answer }) => {
                self.count(task, &written, answer.usage, (wrote(&answer), of_bytes(raw.len())));
                Told::Answer(answer)
            }
            Err(Error::Parameter { name, why }) => Told::Without { name, why },
            Err(Error::TooLong { bytes_max }) => {
                let tokens = of_bytes(bytes_max);
                self.count(task, &written, Usage::default(), (tokens, tokens));
                Told::TooLong
            }
            Err(Error::Cancelled) => Told::No("the clone has ended".to_owned()),
            Err(error) => self.failed(&error),
        }
    }

    /// The request that is asked for, where it is the one that was written last and the budget has room for it.
    fn may_ask(&self, task: usize, request_sha256: &Digest) -> Result<Written, String> {
        let mut progress = self.progress();
        if task >= progress.spent.tasks.len() {
            return Err("the case has no such task".to_owned());
        }
        let written = progress.written.clone().filter(|one| Digest::of(&one.request) == *request_sha256);
        let written = written.ok_or("a clone sends no request that was not written for it")?;
        // Its server has not counted it yet.
        let tokens = progress.spent.tokens.saturating_add(of_bytes(written.request.len()));
        if progress.spent.over || tokens > self.tokens_max {
            progress.spent.over = true;
            return Err(format!("the budget of {} tokens is used up", self.tokens_max));
        }
        Ok(written)
    }

    /// Counts an answer: `wrote`, the tokens that it has at least, and `sent`, those that all bytes of its server come to. What a server
    /// says counts as far as it says more than there is, for else it would save tokens by its word alone; where it says nothing, what was
    /// sent and what came count whole.
    fn count(&self, task: usize, written: &Written, usage: Usage, (wrote, sent): (u64, u64)) {
        let read = match usage.tokens_in {
            0 => of_bytes(written.request.len()),
            told => told.max(written.tokens),
        };
        let came = if usage.tokens_out > 0 { wrote } else { wrote.max(sent) };
        let mut progress = self.progress();
        let spent = &mut progress.spent;
        spent.tokens = spent.tokens.saturating_add(read).saturating_add(came);
        spent.over |= spent.tokens > self.tokens_max;
        if let Some(one) = spent.tasks.get_mut(task) {
            one.tokens = one.tokens.saturating_add(written.tokens).saturating_add(wrote);
            one.turns = one.turns.saturating_add(1);
        }
    }
}

/// Tokens of a context, counted over its words. What a clone says of it is believed as far as fences around these may cost.
fn tokens_of(pack: &ContextPack) -> u64 {
    let words = kernel::pack_tokens(pack);
    let items = u32::try_from(pack.items.len()).unwrap_or(u32::MAX);
    u64::from(pack.tokens.clamp(words, words.saturating_add(items.saturating_mul(FENCE_TOKENS_MAX))))
}

/// Tokens that so many bytes come to.
fn of_bytes(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_OF_A_TOKEN)
}

/// Tokens of an answer: as many as its server says, and no fewer than its words come to.
fn wrote(answer: &Answer) -> u64 {
    let calls =
        answer.calls.iter().map(|call| call.name.len().saturating_add(call.arguments.to_string().len()));
    let bytes = calls.fold(answer.text.len().saturating_add(answer.reasoning.len()), usize::saturating_add);
    of_bytes(bytes).max(answer.usage.tokens_out)
}

/// Tokens of a task that was played on recorded answers, as they are counted where a model is asked: so that both can be compared.
pub(super) fn counted_alike(tokens: u64, recorded: &[RecordedAnswer]) -> u64 {
    let answers = recorded.iter().filter_map(|one| answer_of(&one.answer).ok());
    answers.fold(tokens, |tokens, answer| {
        tokens.saturating_sub(answer.usage.tokens_out).saturating_add(wrote(&answer))
    })
}

/// All that a clone writes after this, to the bound, and whether there was more.
fn rest(mut begun: Vec<u8>, mut heard: BufReader<ChildStdout>) -> (Vec<u8>, bool) {
    let bytes = |len: usize| u64::try_from(len).unwrap_or(u64::MAX);
    let left = (EVIDENCE_BYTES_MAX + 1).saturating_sub(bytes(begun.len()));
    if let Err(error) = heard.by_ref().take(left).read_to_end(&mut begun) {
        tracing::debug!(%error, "a clone's output broke off");
    }
    let more = bytes(begun.len()) > EVIDENCE_BYTES_MAX;
    (begun, more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::artifact::TrustTier;
    use model::context::{ContextItem, Section};
    use model::{ArtifactId, AttemptId, TaskId};
    use reasoning::Scripted;
    use uuid::Uuid;

    fn pack(tokens: u32) -> ContextPack {
        ContextPack {
            task_id: TaskId::new(Uuid::from_u128(1)),
            attempt_id: AttemptId::new(Uuid::from_u128(2)),
            iteration: 1,
            tokens_max: 1_000,
            tokens,
            items: Vec::new(),
            omissions: Vec::new(),
            inputs: Vec::<ArtifactId>::new(),
            input_sha256: Digest::ZERO,
            meaning: None,
        }
    }

    fn model(reasoner: Scripted, tokens_max: u64) -> LiveModel {
        LiveModel::new("openai:http://127.0.0.1:1/v1#one", Arc::new(reasoner), tokens_max, 1)
    }

    /// Has a request written; its digest.
    fn written(model: &LiveModel, tokens: u32) -> Digest {
        written_for(model, pack(tokens))
    }

    fn written_for(model: &LiveModel, pack: ContextPack) -> Digest {
        let ask = serde_json::to_vec(&Ask::Write { pack: Box::new(pack), tools: Vec::new() }).unwrap();
        let Told::Request(text) = model.told(&ask) else { panic!("it is written") };
        Digest::of(&super::super::recording::decoded(&text).unwrap())
    }

    fn asks(model: &LiveModel, task: usize, request_sha256: Digest) -> Told {
        model.told(&serde_json::to_vec(&Ask::Answer { task, request_sha256 }).unwrap())
    }

    fn three() -> Scripted {
        Scripted::new(vec![Scripted::text("one"), Scripted::text("two"), Scripted::text("three")])
    }

    #[test]
    fn a_clone_has_only_what_was_written_for_it_asked() {
        let model = model(three(), 1_000_000);
        let request = written(&model, 10);
        assert!(matches!(asks(&model, 0, Digest::ZERO), Told::No(_)), "bytes of its own");
        assert!(matches!(asks(&model, 1, request), Told::No(_)), "a task that is not in the case");
        assert!(matches!(model.told(b"{}"), Told::No(_)));
        assert_eq!(model.spent().unwrap().tokens, 0, "nothing was sent");
        assert!(matches!(asks(&model, 0, request), Told::Answer(answer) if answer.text == "one"));
        let spent = model.spent().unwrap();
        let [task] = spent.tasks.as_slice() else { panic!("one task") };
        assert!(task.turns == 1 && task.tokens > 0 && spent.tokens > 0 && !spent.over, "{spent:?}");
    }

    #[test]
    fn one_that_is_asked_once_more_for_a_task_has_what_is_left_of_its_tokens() {
        let spent = |model: &LiveModel| {
            let request = written(model, 10);
            assert!(matches!(asks(model, 0, request), Told::Answer(_)));
            model.spent().unwrap().tokens
        };
        let person = model(three(), 1_000_000);
        assert!(spent(&person) > 0);
        assert_eq!(person.anew().tokens_max, 1_000_000);
        let of_task = model(three(), 1_000_000).in_all();
        let tokens = spent(&of_task);
        let again = of_task.anew();
        assert_eq!((again.tokens_max, again.spent().unwrap().tokens), (1_000_000 - tokens, 0));
    }

    #[test]
    fn a_budget_that_is_used_up_asks_nothing_more() {
        let model = model(three(), 1);
        let request = written(&model, 10);
        assert!(matches!(asks(&model, 0, request), Told::No(why) if why.contains("1 tokens")));
        let spent = model.spent().unwrap();
        assert!(spent.over && spent.tokens == 0, "{spent:?}");
    }

    #[test]
    fn what_a_clone_says_that_its_context_costs_is_counted_again() {
        let large = || {
            let mut large = pack(1);
            large.items.push(ContextItem {
                section: Section::Artifacts,
                source: "art_1".to_owned(),
                title: "a page".to_owned(),
                text: "word ".repeat(400),
                trust_tier: TrustTier::Untrusted,
                tokens: 1,
                cut: false,
                act: None,
                found_by: None,
                pictures: Vec::new(),
                number: None,
            });
            large
        };
        let ample = model(three(), 1_000_000);
        let request = written_for(&ample, large());
        assert!(matches!(asks(&ample, 0, request), Told::Answer(_)));
        let spent = ample.spent().unwrap();
        assert!(spent.tasks.first().unwrap().tokens >= 400, "{spent:?}");
        // More than its words and what stands around them is not believed either.
        let boasts = model(three(), 1_000_000);
        let request = written_for(&boasts, ContextPack { tokens: 900_000, ..large() });
        assert!(matches!(asks(&boasts, 0, request), Told::Answer(_)));
        let spent = boasts.spent().unwrap();
        assert!((400..2_000).contains(&spent.tasks.first().unwrap().tokens), "{spent:?}");
        // Nor is it asked where only what the clone says would leave room.
        let short = model(three(), 100);
        let request = written_for(&short, large());
        assert!(matches!(asks(&short, 0, request), Told::No(_)));
        assert!(short.spent().unwrap().over);
    }

    /// A server says that it read and wrote next to nothing: by that alone nothing is saved, and no more is asked of it.
    #[test]
    fn a_server_saves_no_tokens_by_its_word_alone() {
        let usage = |tokens| Usage { tokens_in: tokens, tokens_out: tokens, ..Usage::default() };
        let says = |tokens| Answer { usage: usage(tokens), ..Scripted::text(&"word ".repeat(400)) };
        let asked = |answer: Answer, tokens_max| {
            let model = model(Scripted::new(vec![answer.clone(), answer]), tokens_max);
            for _ in 0..2 {
                let request = written(&model, 10);
                asks(&model, 0, request);
            }
            model.spent().unwrap()
        };
        let tokens = |of: &SpentInAll| of.tasks.first().unwrap().tokens;
        let (lies, tells) = (asked(says(1), 1_000_000), asked(says(500), 1_000_000));
        assert_eq!(tokens(&lies), tokens(&tells), "{lies:?} {tells:?}");
        assert!(tokens(&lies) >= 1_000 && lies.tokens >= 1_000 && !lies.over, "{lies:?}");
        assert!(tokens(&asked(says(900), 1_000_000)) >= 1_800, "what it says beside is believed");
        let short = asked(says(1), 550);
        assert!(short.over && short.tasks.first().unwrap().turns == 1, "{short:?}");
        // The same answers out of a recording count the same.
        let recorded = |tokens| RecordedAnswer {
            request_sha256: Digest::ZERO,
            answer: serde_json::to_value(says(tokens)).unwrap(),
            tokens: 0,
        };
        assert_eq!(counted_alike(10 + 1, &[recorded(1)]), 10 + 500);
        assert_eq!(counted_alike(10 + 900, &[recorded(900)]), 10 + 900);
    }

    #[test]
    fn a_model_that_falls_silent_fails_the_trial_with_words() {
        let model = model(Scripted::new(Vec::new()), 1_000_000);
        let request = written(&model, 10);
        assert!(matches!(asks(&model, 0, request), Told::No(_)));
        let why = model.spent().unwrap_err();
        assert!(why.contains("127.0.0.1:1/v1#one` could not be asked to the end"), "{why}");
    }
}
