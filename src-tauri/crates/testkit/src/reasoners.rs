//! Reasoners of a test world: real playbooks and transcripts, and scripts by name.

use kernel::ports::ReasonerSource;
use model::proposal::Answer;
use model::task::ModelChoice;
use reasoning::{Playbook, Reasoner, Scripted};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

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
            other => Err(format!("a test world has no {other:?}")),
        }
    }
}
