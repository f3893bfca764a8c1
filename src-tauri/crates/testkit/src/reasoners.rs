//! Reasoners of a test world: real playbooks and transcripts, and scripts by name.

use kernel::ports::ReasonerSource;
use model::proposal::Answer;
use model::task::ModelChoice;
use reasoning::{Error, Playbook, Reasoner, Scripted};
use seal::Digest;
use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// What a [`Model`] does when a request reaches it for the first time.
#[derive(Debug, Clone)]
pub enum Say {
    /// Answers, and answers the same bytes the same way for ever.
    Answer(Answer),
    /// Is down, once.
    Down,
    /// Sends what is no answer, once.
    Garbage,
}

/// A model server that no crash of Hermit touches: the same request gets the same answer again, a new one the next
/// of its script, and [`Say::Down`] when the script has run out.
#[derive(Debug, Default)]
pub struct Model {
    script: VecDeque<Say>,
    said: BTreeMap<Digest, Answer>,
}

impl Model {
    /// With this script.
    pub fn new(script: Vec<Say>) -> Self {
        Self { script: script.into(), said: BTreeMap::new() }
    }

    /// As it was when it had been sent these requests for the first time, in this order.
    pub fn asked(mut self, requests: &[Digest]) -> Self {
        for request in requests {
            if let Some(Say::Answer(answer)) = self.script.pop_front() {
                self.said.insert(*request, answer);
            }
        }
        self
    }

    /// Says of every request that reaches it for the first time that it did.
    pub fn aloud(mut self, heard: impl Fn(Digest) + Send + Sync + 'static) -> Arc<dyn Reasoner> {
        Arc::new(Scripted::with(move |input| {
            let digest = Digest::of(input.request);
            if !self.said.contains_key(&digest) {
                heard(digest);
            }
            self.answer(input.request)
        }))
    }

    /// As a reasoner.
    pub fn reasoner(mut self) -> Arc<dyn Reasoner> {
        Arc::new(Scripted::with(move |input| self.answer(input.request)))
    }

    fn answer(&mut self, request: &[u8]) -> Result<Answer, Error> {
        let digest = Digest::of(request);
        if let Some(answer) = self.said.get(&digest) {
            return Ok(answer.clone());
        }
        match self.script.pop_front().unwrap_or(Say::Down) {
            Say::Answer(answer) => {
                self.said.insert(digest, answer.clone());
                Ok(answer)
            }
            Say::Down => Err(Error::Unavailable {
                why: "the script says it is down".to_owned(),
                advice: "wait".to_owned(),
            }),
            Say::Garbage => {
                Err(Error::Garbage { why: "the script says so".to_owned(), advice: "none".to_owned() })
            }
        }
    }
}

/// Finds them.
#[derive(Default)]
pub struct Reasoners(Mutex<BTreeMap<String, Arc<dyn Reasoner>>>);

impl Reasoners {
    /// Answers in order under a name.
    pub fn script(&self, name: &str, answers: Vec<Answer>) {
        self.put(name, Arc::new(Scripted::new(answers)));
    }

    /// Any reasoner under a name.
    pub fn put(&self, name: &str, reasoner: Arc<dyn Reasoner>) {
        self.0.lock().expect("no poison").insert(name.to_owned(), reasoner);
    }
}

impl ReasonerSource for Reasoners {
    fn reasoner(&self, choice: &ModelChoice, text: Option<&[u8]>) -> Result<Arc<dyn Reasoner>, String> {
        let text = || String::from_utf8(text.unwrap_or_default().to_vec()).map_err(|e| e.to_string());
        match choice {
            ModelChoice::Playbook { parameters, .. } => {
                let playbook = Playbook::parse(&text()?).map_err(|e| e.to_string())?;
                Ok(Arc::new(playbook.to_reasoner(parameters).map_err(|e| e.to_string())?))
            }
            ModelChoice::Scripted { name } => {
                let known = self.0.lock().expect("no poison");
                known.get(name).cloned().ok_or_else(|| format!("no script `{name}`"))
            }
            ModelChoice::Openai { model, .. } => {
                let known = self.0.lock().expect("no poison");
                known.get(model).cloned().ok_or_else(|| format!("no model `{model}`"))
            }
            other => Err(format!("a test world has no {other:?}")),
        }
    }
}
