//! Questions of servers of tools to a model, while a tool is at work: off until a person allows them for one server, within
//! the bounds of that and of the task, without tools and without anything of the task. Each is on record before the model is
//! asked, with what it was given or why it got nothing.

use crate::Error;
use crate::decide::{Spending, overspent};
use crate::kernel::{Cell, Kernel};
use crate::state::{TaskState, Unended};
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::Action;
use effects::{NO_ANSWER, Over, Sampled, Sampling};
use model::artifact::{ArtifactKind, TrustTier};
use model::body::{BudgetReserved, BudgetSettled, SamplingEnded, SamplingRequested};
use model::fault::Point;
use model::limits::SAMPLING_REFUSED_MAX;
use model::principal::PrincipalType;
use model::proposal::Usage;
use model::sampling::SamplingTerms;
use model::task::Proposer;
use model::{ActionRequestId, Sensitive};
use reasoning::{Question, Reasoner, Reply};
use std::cell::{self, RefCell};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a model is told before anything that a server says.
const FIRST: &str = "A program asks you something while it works for a person. You have no tools and can do nothing but answer \
                     in words. What follows are that program's own words, and no word of the person.";

/// Whose server is at work, and how much it may ask.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) server: String,
    /// What of it is at work, as the server names it.
    pub(super) tool: String,
    terms: Option<SamplingTerms>,
}

impl Asker {
    /// The server of a call.
    pub(super) fn of(action: &Action) -> Option<Self> {
        let Action::Call(call) = action else { return None };
        Some(Self { server: call.server.clone(), tool: call.name.clone(), terms: call.sampling })
    }
}

/// A question that may be asked.
struct Ready {
    reasoner: Arc<dyn Reasoner>,
    request: Vec<u8>,
    number: u32,
    /// What is set aside for it, which counts where nobody says what it used.
    reserve: Usage,
    /// Milliseconds that the task has left.
    left_ms: u64,
}

/// Why no model is asked.
struct Refusal {
    why: String,
    /// Whether the server may hear it: words of the host and of a provider name places and secrets.
    is_told: bool,
}

impl Refusal {
    const fn told(why: String) -> Self {
        Self { why, is_told: true }
    }

    /// It is on record, and the server hears that there is no answer: what a person spends is not its business.
    const fn own(why: String) -> Self {
        Self { why, is_told: false }
    }

    fn to_server(&self) -> &str {
        if self.is_told { &self.why } else { NO_ANSWER }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { why: error.to_string(), is_told: false }
    }
}

/// Why a model is not waited for any more.
enum Halt {
    /// The task was stopped, or the host is.
    Stopped,
    /// The tool is not waited for any more, for this reason.
    Over(String),
    /// The task has no more time.
    Late,
}

/// What came of a question.
struct Asked {
    came: Result<Reply, reasoning::Error>,
    halt: Option<Halt>,
    /// Some of an answer came.
    flowed: bool,
    wall_ms: i64,
}

impl Asked {
    /// What it used; what was set aside, where nobody knows.
    fn used(&self, reserve: Usage) -> Usage {
        use reasoning::Error as E;
        match &self.came {
            Ok(reply) if reply.answer.usage.tokens_in.saturating_add(reply.answer.usage.tokens_out) > 0 => {
                reply.answer.usage
            }
            Ok(_) | Err(E::Cancelled | E::Garbage { .. } | E::TooLong { .. }) => reserve,
            Err(_) if self.flowed => reserve,
            Err(_) => Usage::default(),
        }
    }

    /// Why it came to nothing, if it did, for the record.
    fn error(&self) -> Option<String> {
        let error = self.came.as_ref().err()?;
        Some(match &self.halt {
            Some(Halt::Over(why)) => why.clone(),
            Some(Halt::Late) => "the task has no more time for it".to_owned(),
            Some(Halt::Stopped) | None => error.to_string(),
        })
    }
}

impl Kernel {
    /// Has a model asked what a server wants to know, for as long as its tool is waited for.
    pub(super) fn sampled_by_server(
        &self,
        cell: &Cell,
        (act, asker): (ActionRequestId, Option<&Asker>),
        (sampling, over): (&Sampling, Over<'_>),
    ) {
        let Some(asker) = asker else {
            return sampling
                .comes_to(Sampled::Stop("no server is at work that could ask a model".to_owned()));
        };
        let came = self.sample(cell, act, asker, (sampling, over));
        sampling.comes_to(came.unwrap_or_else(|error| {
            tracing::warn!(%act, %error, "a question of a server to a model is not on record");
            Sampled::Stop("what it asked a model could not be put on record".to_owned())
        }));
    }

    fn sample(
        &self,
        cell: &Cell,
        act: ActionRequestId,
        asker: &Asker,
        (sampling, over): (&Sampling, Over<'_>),
    ) -> Result<Sampled, Error> {
        let ready = {
            let state = self.lock_task(cell)?;
            self.ready_to_sample(&state, act, asker, sampling)
        };
        let ready = match ready {
            Ok(ready) => ready,
            Err(why) => return self.refuse_sample(cell, act, asker, &why),
        };
        self.begin_sample(cell, act, asker, &ready)?;
        let asked = self.ask_for_server(cell, &ready, over);
        self.end_sample(cell, (act, asker), &ready, &asked)
    }

    /// Asks, until the tool is not waited for any more or the task has no more time.
    fn ask_for_server(&self, cell: &Cell, ready: &Ready, over: Over<'_>) -> Asked {
        let clock = &self.ports.clock;
        let (begun, flowed, halt) = (clock.monotonic_ms(), cell::Cell::new(false), RefCell::new(None));
        let elapsed = || clock.monotonic_ms().saturating_sub(begun);
        let stopped = || {
            let mut halt = halt.borrow_mut();
            if halt.is_none() {
                *halt = match cell.stop.load(Ordering::SeqCst) || self.winding.load(Ordering::SeqCst) {
                    true => Some(Halt::Stopped),
                    false => over.why().map(Halt::Over),
                };
            }
            if halt.is_none() && elapsed() >= ready.left_ms {
                *halt = Some(Halt::Late);
            }
            halt.is_some()
        };
        let came = ready.reasoner.answer(&ready.request, &mut |_| flowed.set(true), &stopped);
        let wall_ms = i64::try_from(elapsed()).unwrap_or(i64::MAX);
        Asked { came, halt: halt.into_inner(), flowed: flowed.get(), wall_ms }
    }

    fn end_sample(
        &self,
        cell: &Cell,
        (act, asker): (ActionRequestId, &Asker),
        ready: &Ready,
        asked: &Asked,
    ) -> Result<Sampled, Error> {
        let (usage, error) = (asked.used(ready.reserve), asked.error());
        let said = asked.came.as_ref().ok().map(|reply| &reply.answer);
        let text = said.map(|said| self.ports.redactor.now().text(&said.text).rest.into_owned());
        let mut tx = self.begin_tx(cell, Point::EffectProgress, PrincipalType::Executor)?;
        let new = NewArtifact::audit(ArtifactKind::ModelAnswer).trust(TrustTier::Untrusted);
        let answer = text.as_ref().map(|text| tx.artifact(text.as_bytes(), new)).transpose()?;
        tx.push(BudgetSettled {
            about_task_id: tx.task.task_id,
            tokens: usage.tokens_in.saturating_add(usage.tokens_out),
            cost_micros: usage.cost_micros,
            wall_ms: asked.wall_ms,
        });
        tx.push(SamplingEnded {
            action_request_id: act,
            server: asker.server.clone(),
            number: ready.number,
            answer,
            error: error.map(Sensitive::from),
            tokens_in: usage.tokens_in,
            tokens_out: usage.tokens_out,
            cost_micros: usage.cost_micros,
        });
        tx.commit()?;
        Ok(match (text, said, &asked.halt) {
            (Some(text), Some(said), _) => {
                Sampled::Answered { text, model: ready.reasoner.descriptor().model, cut: said.is_cut() }
            }
            (_, _, Some(Halt::Over(why))) => Sampled::Stop(why.clone()),
            _ => Sampled::NoAnswer,
        })
    }

    /// How much a server may ask now: as much as when it was called, and no more than a person allows by now.
    fn terms_now(&self, asker: &Asker) -> Result<SamplingTerms, Refusal> {
        let terms = asker.terms.ok_or_else(|| {
            let say =
                "a person has not allowed this server to ask a model; they may with `hermit tools sampling`";
            Refusal::told(say.to_owned())
        })?;
        let known = self.tool_registry();
        let record = known.0.get(&asker.server).filter(|record| record.disabled.is_none());
        let now = record.and_then(|record| record.sampling).ok_or_else(|| {
            Refusal::told("a person does not allow this server to ask a model any more".to_owned())
        })?;
        Ok(SamplingTerms {
            calls: terms.calls.min(now.calls),
            tokens: terms.tokens.min(now.tokens),
            task_tokens: terms.task_tokens.min(now.task_tokens),
        })
    }

    /// The question as it is asked, where it may be; else why not.
    fn ready_to_sample(
        &self,
        state: &TaskState,
        act: ActionRequestId,
        asker: &Asker,
        sampling: &Sampling,
    ) -> Result<Ready, Refusal> {
        if let Some(why) = &sampling.malformed {
            return Err(Refusal::told(why.clone()));
        }
        let terms = self.terms_now(asker)?;
        let number = state.sampled.get(&act).map_or(0, |so_far| so_far.asked).saturating_add(1);
        if number > terms.calls {
            let say = format!("it may ask a model {} times in one call, and has", terms.calls);
            return Err(Refusal::told(say));
        }
        if self.proposer(state)? != Proposer::Model {
            let say =
                "no model is set for this task; a task that a model leads (`hermit run --model`) has one";
            return Err(Refusal::told(say.to_owned()));
        }
        let contract = self.contract(state)?;
        let reasoner = self.reasoner(state, &contract)?;
        let descriptor = reasoner.descriptor();
        let redactor = self.ports.redactor.now();
        let clean = |text: &str| redactor.text(text).rest.into_owned();
        let system = sampling
            .system
            .as_deref()
            .map_or_else(|| FIRST.to_owned(), |own| format!("{FIRST}\n\n{}", clean(own)));
        let turns: Vec<(bool, String)> =
            sampling.turns.iter().map(|(is_model, text)| (*is_model, clean(text))).collect();
        let words = turns.iter().map(|(_, text)| u64::from(knowledge::count_tokens(text))).sum::<u64>();
        let asks = words.saturating_add(u64::from(knowledge::count_tokens(&system)));
        let of_task = state.sampled.values().filter(|so_far| so_far.server == asker.server);
        let spent: u64 = of_task.map(|so_far| so_far.tokens).sum();
        let room = terms.tokens.min(terms.task_tokens.saturating_sub(spent)).saturating_sub(asks);
        if room == 0 {
            return Err(Refusal::told(format!(
                "it may use {} tokens in one question and {} in one task; {spent} are used, and this one has {asks}",
                terms.tokens, terms.task_tokens
            )));
        }
        let answer_tokens = u64::from(sampling.answer_tokens.min(descriptor.answers())).min(room);
        let tokens = asks.saturating_add(answer_tokens);
        let left_ms = state.budget(&contract).wall_ms_max.saturating_sub(state.wall_ms);
        let cost_micros = descriptor.price(asks, answer_tokens);
        let spending = Spending {
            tokens: state.tokens_spent.saturating_add(tokens),
            cost_micros: if cost_micros == 0 { 0 } else { state.cost_spent.saturating_add(cost_micros) },
            wall_ms: state.wall_ms,
            iterations: None,
        };
        if overspent(&state.budget(&contract), spending).is_some() || left_ms <= 0 {
            return Err(Refusal::told("the task has no more tokens, money or time for it".to_owned()));
        }
        self.within_day(state.task.task_id, cost_micros)?.map_err(Refusal::own)?;
        let reserve = Usage { tokens_in: asks, tokens_out: answer_tokens, cost_micros, ..Usage::default() };
        let answer_tokens = u32::try_from(answer_tokens).unwrap_or(u32::MAX);
        let question = Question { system: &system, turns: &turns, answer_tokens };
        let request = reasoner.encode_question(&question);
        let request = request.map_err(|error| Refusal { why: error.to_string(), is_told: false })?;
        Ok(Ready { reasoner, request, number, reserve, left_ms: left_ms.unsigned_abs() })
    }

    fn begin_sample(
        &self,
        cell: &Cell,
        act: ActionRequestId,
        asker: &Asker,
        ready: &Ready,
    ) -> Result<(), Error> {
        let descriptor = ready.reasoner.descriptor();
        let mut tx = self.begin_tx(cell, Point::EffectProgress, PrincipalType::Executor)?;
        close_sampled(&mut tx);
        let new = NewArtifact::audit(ArtifactKind::ModelRequest).trust(TrustTier::Untrusted);
        let request = tx.artifact(&ready.request, new)?;
        let Usage { tokens_in, tokens_out, cost_micros, .. } = ready.reserve;
        let (about_task_id, tokens) = (tx.task.task_id, tokens_in.saturating_add(tokens_out));
        tx.push(BudgetReserved { about_task_id, tokens, cost_micros });
        tx.push(SamplingRequested {
            action_request_id: act,
            server: asker.server.clone(),
            number: ready.number,
            request,
            provider: descriptor.provider.to_string(),
            model: descriptor.model,
            remote: descriptor.remote,
            tokens,
        });
        tx.commit()?;
        self.promise_kept(about_task_id);
        Ok(())
    }

    /// It gets nothing, which is on record; one that goes on asking all the same is stopped.
    fn refuse_sample(
        &self,
        cell: &Cell,
        act: ActionRequestId,
        asker: &Asker,
        refusal: &Refusal,
    ) -> Result<Sampled, Error> {
        let mut tx = self.begin_tx(cell, Point::EffectProgress, PrincipalType::Executor)?;
        close_sampled(&mut tx);
        let so_far = tx.sampled.get(&act);
        let refused = so_far.map_or(0, |so_far| so_far.refused).saturating_add(1);
        let number = so_far.map_or(0, |so_far| so_far.asked).saturating_add(refused);
        tx.push(SamplingEnded {
            action_request_id: act,
            server: asker.server.clone(),
            number,
            answer: None,
            error: Some(Sensitive::from(refusal.why.clone())),
            tokens_in: 0,
            tokens_out: 0,
            cost_micros: 0,
        });
        tx.commit()?;
        if refused < SAMPLING_REFUSED_MAX {
            return Ok(Sampled::Refused(refusal.to_server().to_owned()));
        }
        let why = refusal.to_server();
        Ok(Sampled::Stop(format!(
            "it went on asking for a model after it was refused {refused} times: {why}"
        )))
    }
}

/// Closes every question to a model whose end nobody wrote down: what was set aside for it counts as used.
pub(super) fn close_sampled(tx: &mut Tx<'_>) {
    let open =
        tx.sampled.iter().filter_map(|(act, so_far)| Some((*act, so_far.server.clone(), so_far.open?)));
    let open: Vec<_> = open.collect();
    for (action_request_id, server, Unended { number, tokens, cost_micros }) in open {
        let about_task_id = tx.task.task_id;
        tx.push(BudgetSettled { about_task_id, tokens, cost_micros, wall_ms: 0 });
        let say = "interrupted; what was set aside for it counts as used";
        tx.push(SamplingEnded {
            action_request_id,
            server,
            number,
            answer: None,
            error: Some(Sensitive::from(say.to_owned())),
            tokens_in: tokens,
            tokens_out: 0,
            cost_micros,
        });
    }
}

/// What a server asked a model during an act, in words for its receipt.
pub(super) fn in_words(state: &TaskState, act: ActionRequestId) -> Option<String> {
    let so_far = state.sampled.get(&act)?;
    let mut words = format!(
        "the server asked the model of the task {}: {} tokens",
        if so_far.asked == 1 { "once".to_owned() } else { format!("{} times", so_far.asked) },
        so_far.tokens
    );
    if so_far.cost_micros > 0 {
        words.push_str(&format!(", {} micro-units of money", so_far.cost_micros));
    }
    if so_far.unanswered > 0 {
        words.push_str(&format!("; {} got no answer: {}", so_far.unanswered, so_far.why_none));
    }
    if so_far.refused > 0 {
        words.push_str(&format!("; {} more were refused: {}", so_far.refused, so_far.why));
    }
    Some(words)
}
