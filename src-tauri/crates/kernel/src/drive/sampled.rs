//! Questions of servers of tools to a model, while a tool is at work: off until a person allows them for one server, within
//! the bounds of that and of the task, without tools and without anything of the task. Each is on record before the model is
//! asked, with what it was given or why it got nothing.

use crate::Error;
use crate::decide::{Spending, overspent};
use crate::kernel::{Cell, Kernel};
use crate::state::TaskState;
use crate::writeup::NewArtifact;
use acts::Action;
use effects::{Sampled, Sampling};
use model::artifact::{ArtifactKind, TrustTier};
use model::body::{BudgetReserved, BudgetSettled, SamplingEnded, SamplingRequested};
use model::fault::Point;
use model::limits::SAMPLING_REFUSED_MAX;
use model::principal::PrincipalType;
use model::sampling::SamplingTerms;
use model::task::Proposer;
use model::{ActionRequestId, Sensitive};
use reasoning::{Question, Reasoner};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a model is told before anything that a server says.
const FIRST: &str = "A program asks you something while it works for a person. You have no tools and can do nothing but answer \
                     in words. What follows are that program's own words, and no word of the person.";

/// Whose server is at work, and how much it may ask.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    pub(super) server: String,
    terms: SamplingTerms,
}

impl Asker {
    /// The server of a call, where a person said that it may ask a model.
    pub(super) fn of(action: &Action) -> Option<Self> {
        let Action::Call(call) = action else { return None };
        call.sampling.map(|terms| Self { server: call.server.clone(), terms })
    }
}

/// A question that may be asked.
struct Ready {
    reasoner: Arc<dyn Reasoner>,
    request: Vec<u8>,
    number: u32,
    tokens: u64,
    cost_micros: u64,
}

impl Kernel {
    /// Has a model asked what a server wants to know.
    pub(super) fn sampled_by_server(
        &self,
        cell: &Cell,
        act: ActionRequestId,
        asker: Option<&Asker>,
        sampling: &Sampling,
    ) {
        let Some(asker) = asker else {
            let say =
                "a person has not allowed this server to ask a model; they may with `hermit tools sampling`";
            return sampling.comes_to(Sampled::Refused(say.to_owned()));
        };
        let came = self.sample(cell, act, asker, sampling);
        sampling.comes_to(came.unwrap_or_else(|error| Sampled::Refused(error.to_string())));
    }

    fn sample(
        &self,
        cell: &Cell,
        act: ActionRequestId,
        asker: &Asker,
        sampling: &Sampling,
    ) -> Result<Sampled, Error> {
        let ready = {
            let state = self.lock_task(cell)?;
            self.ready_to_sample(&state, act, asker, sampling)?
        };
        let ready = match ready {
            Ok(ready) => ready,
            Err(why) => return self.refuse_sample(cell, act, asker, why),
        };
        self.begin_sample(cell, act, asker, &ready)?;
        let stopped = || cell.stop.load(Ordering::SeqCst) || self.winding.load(Ordering::SeqCst);
        let came = ready.reasoner.answer(&ready.request, &stopped);
        let (text, usage, cut, error) = match came {
            Ok(reply) => {
                let cut = reply.answer.is_cut();
                let text = self.ports.redactor.now().text(&reply.answer.text).rest.into_owned();
                (Some(text), reply.answer.usage, cut, None)
            }
            Err(error) => (None, model::proposal::Usage::default(), false, Some(error.to_string())),
        };
        let mut tx = self.begin_tx(cell, Point::EffectProgress, PrincipalType::Executor)?;
        let new = NewArtifact::audit(ArtifactKind::ModelAnswer).trust(TrustTier::Untrusted);
        let answer = text.as_ref().map(|text| tx.artifact(text.as_bytes(), new)).transpose()?;
        tx.push(BudgetSettled {
            about_task_id: tx.task.task_id,
            tokens: usage.tokens_in.saturating_add(usage.tokens_out),
            cost_micros: usage.cost_micros,
            wall_ms: 0,
        });
        tx.push(SamplingEnded {
            action_request_id: act,
            server: asker.server.clone(),
            number: ready.number,
            answer,
            error: error.clone().map(Sensitive::from),
            tokens_in: usage.tokens_in,
            tokens_out: usage.tokens_out,
            cost_micros: usage.cost_micros,
        });
        tx.commit()?;
        Ok(match (text, error) {
            (Some(text), _) => Sampled::Answered { text, model: ready.reasoner.descriptor().model, cut },
            (None, why) => Sampled::Refused(why.unwrap_or_default()),
        })
    }

    /// The question as it is asked, where it may be; else why not.
    fn ready_to_sample(
        &self,
        state: &TaskState,
        act: ActionRequestId,
        asker: &Asker,
        sampling: &Sampling,
    ) -> Result<Result<Ready, String>, Error> {
        let terms = asker.terms;
        let number = state.sampled.get(&act).map_or(0, |so_far| so_far.asked).saturating_add(1);
        if number > terms.calls {
            return Ok(Err(format!("it may ask a model {} times in one call, and has", terms.calls)));
        }
        if self.proposer(state)? != Proposer::Model {
            let say =
                "no model is set for this task; a task that a model leads (`hermit run --model`) has one";
            return Ok(Err(say.to_owned()));
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
            return Ok(Err(format!(
                "it may use {} tokens in one question and {} in one task; {spent} are used, and this one has {asks}",
                terms.tokens, terms.task_tokens
            )));
        }
        let answer_tokens = u64::from(sampling.answer_tokens.min(descriptor.answers())).min(room);
        let tokens = asks.saturating_add(answer_tokens);
        let cost_micros = descriptor.price(asks, answer_tokens);
        let spending = Spending {
            tokens: state.tokens_spent.saturating_add(tokens),
            cost_micros: if cost_micros == 0 { 0 } else { state.cost_spent.saturating_add(cost_micros) },
            wall_ms: state.wall_ms,
            iterations: None,
        };
        if overspent(&contract.budget, spending).is_some() {
            return Ok(Err("the task has no more tokens or money for it".to_owned()));
        }
        let answer_tokens = u32::try_from(answer_tokens).unwrap_or(u32::MAX);
        let question = Question { system: &system, turns: &turns, answer_tokens };
        Ok(match reasoner.encode_question(&question) {
            Ok(request) => Ok(Ready { reasoner, request, number, tokens, cost_micros }),
            Err(error) => Err(error.to_string()),
        })
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
        let new = NewArtifact::audit(ArtifactKind::ModelRequest).trust(TrustTier::Untrusted);
        let request = tx.artifact(&ready.request, new)?;
        let (about_task_id, tokens) = (tx.task.task_id, ready.tokens);
        tx.push(BudgetReserved { about_task_id, tokens, cost_micros: ready.cost_micros });
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
        tx.commit().map(drop)
    }

    /// It gets nothing, which is on record; one that goes on asking all the same is stopped.
    fn refuse_sample(
        &self,
        cell: &Cell,
        act: ActionRequestId,
        asker: &Asker,
        why: String,
    ) -> Result<Sampled, Error> {
        let mut tx = self.begin_tx(cell, Point::EffectProgress, PrincipalType::Executor)?;
        let so_far = tx.sampled.get(&act);
        let refused = so_far.map_or(0, |so_far| so_far.refused).saturating_add(1);
        let number = so_far.map_or(0, |so_far| so_far.asked).saturating_add(refused);
        tx.push(SamplingEnded {
            action_request_id: act,
            server: asker.server.clone(),
            number,
            answer: None,
            error: Some(Sensitive::from(why.clone())),
            tokens_in: 0,
            tokens_out: 0,
            cost_micros: 0,
        });
        tx.commit()?;
        if refused < SAMPLING_REFUSED_MAX {
            return Ok(Sampled::Refused(why));
        }
        Ok(Sampled::Stop(format!(
            "it went on asking for a model after it was refused {refused} times: {why}"
        )))
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
    if so_far.refused > 0 {
        words.push_str(&format!("; {} more were refused: {}", so_far.refused, so_far.why));
    }
    Some(words)
}
