//! Who proposes: a playbook, a server, a transcript.

use crate::model_sizes::{self, Known};
use crate::{Config, Home};
use kernel::command::submit::Reasoning;
use kernel::ports::ReasonerSource;
use model::task::{ModelApi, ModelChoice};
use reasoning::{
    Address, ModelHttp, ModelServer, Playbook, Reasoner, Recorded, Recorder, Transcript, recorded::Matching,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wire::task::Reasoner as Asked;
use wire::{Code, Error};

/// Makes reasoners for the kernel.
pub struct LocalReasoners {
    home: Home,
    egress: Arc<dyn ModelHttp>,
    known: Arc<Known>,
}

impl LocalReasoners {
    /// Reasoners that go out through `egress`, with the settings that are in force when each is made.
    pub fn new(home: Home, egress: Arc<dyn ModelHttp>) -> Self {
        Self { home, egress, known: Arc::default() }
    }

    /// A server of models, asked for what it can do as far as nobody has set it.
    fn server(&self, address: &Address, secret: Option<String>) -> Result<ModelServer, String> {
        let config = Config::load(&self.home).map_err(|e| e.to_string())?;
        let settings = model_sizes::settings(address, secret, &config, &self.known, &self.egress)?;
        let made =
            ModelServer::new(address, settings, Arc::clone(&self.egress)).map_err(|e| e.to_string())?;
        let (home, known, text) = (self.home.clone(), Arc::clone(&self.known), address.to_string());
        Ok(made.learning(Box::new(move |parameter| {
            known.refuse(&text, parameter);
            if let Err(error) = remember(&home, &text, parameter) {
                tracing::warn!(%error, parameter, "what a server refuses is not kept, and will be found out again");
            }
        })))
    }
}

/// Keeps for later runs that a model's server refuses a parameter.
fn remember(home: &Home, address: &str, parameter: &str) -> Result<(), crate::Error> {
    Config::change(home, |config| {
        let mut settings = config.model(address).cloned().unwrap_or_default();
        address.clone_into(&mut settings.address);
        settings.without.insert(parameter.to_owned());
        config.set_model(settings);
        Ok(())
    })
}

impl ReasonerSource for LocalReasoners {
    fn wind_down(&self) {
        self.known.leave();
    }

    fn reasoner(&self, choice: &ModelChoice, text: Option<&[u8]>) -> Result<Arc<dyn Reasoner>, String> {
        let text = || {
            String::from_utf8(text.unwrap_or_default().to_vec())
                .map_err(|_| "its text is not UTF-8".to_owned())
        };
        match choice {
            ModelChoice::Playbook { parameters, .. } => {
                let playbook = Playbook::parse(&text()?).map_err(|e| e.to_string())?;
                Ok(Arc::new(playbook.to_reasoner(parameters).map_err(|e| e.to_string())?))
            }
            ModelChoice::Openai { api, base_url, model, secret } => {
                let address = Address::Server { api: *api, url: base_url.clone(), model: model.clone() };
                recorded(self.server(&address, secret.clone())?)
            }
            ModelChoice::Recorded { .. } => {
                let transcript = Transcript::parse(&text()?).map_err(|e| e.to_string())?;
                // Another task has other identifiers in its requests: no transcript of a real model would ever fit.
                Ok(Arc::new(Recorded::new(transcript, Matching::ByTurn)))
            }
            ModelChoice::Scripted { name } => {
                Err(format!("script `{name}` exists in tests only; choose a playbook or a model"))
            }
            other => Err(format!("{other:?} needs no model")),
        }
    }
}

/// The reasoner, with a recorder around it when `HERMIT_RECORD` names a file: every exchange is added to it as a line
/// that `--model recorded:FILE` replays. What the model was told and said stands in it; keep it as you keep the notes.
fn recorded(inner: ModelServer) -> Result<Arc<dyn Reasoner>, String> {
    let Some(path) = std::env::var_os("HERMIT_RECORD").filter(|path| !path.is_empty()).map(PathBuf::from)
    else {
        return Ok(Arc::new(inner));
    };
    let failed = |e: &dyn std::fmt::Display| {
        format!("cannot record into `{}`, as HERMIT_RECORD asks: {e}", path.display())
    };
    let mut options = std::fs::File::options();
    let file = ledger::owner_only::open(options.append(true).create(true), &path).map_err(|e| failed(&e))?;
    let begun = file.metadata().map_err(|e| failed(&e))?.len() > 0;
    if begun {
        return Ok(Arc::new(Recorder::continuing(inner, Box::new(file))));
    }
    Ok(Arc::new(Recorder::new(inner, Box::new(file)).map_err(|e| failed(&e))?))
}

/// The reasoner a person names, checked before anything is recorded.
///
/// # Errors
/// [`Code::Usage`], [`Code::NotFound`], with what there is.
pub fn chosen(asked: &Asked, config: &Config, home: &Home) -> Result<Reasoning, Error> {
    match asked {
        Asked::Standard => match &config.default_model {
            Some(address) => addressed(address, config.default_secret.clone(), config, home),
            None => Err(Error::new(Code::Usage, "no model is named, and there is no default model").hint(
                "name one with `--model openai:http://127.0.0.1:8080/v1#NAME`, run `--playbook tidy`, or choose \
                 one of `hermit models list` with `hermit models use ADDRESS`",
            )),
        },
        Asked::Address { address } => addressed(address, None, config, home),
        Asked::Guest { .. } => crate::guests::chosen(asked, &std::collections::BTreeMap::new()),
        Asked::Playbook { name, text, parameters } => {
            let playbook = match text {
                Some(text) => Playbook::parse(text).map_err(|e| {
                    Error::new(Code::Usage, format!("playbook `{name}` cannot be used: {e}"))
                        .hint("correct the file; `hermit run --help` shows a playbook")
                })?,
                None => shipped(name)?,
            };
            // Wrong parameters are found out here, and not after a task was made.
            playbook.to_reasoner(parameters).map_err(|e| {
                Error::new(Code::Usage, e.to_string()).hint("give parameters as `--param name=value`")
            })?;
            Ok(Reasoning::Playbook {
                name: playbook.name().to_owned(),
                text: playbook.text().to_owned(),
                parameters: parameters.clone(),
            })
        }
    }
}

fn shipped(name: &str) -> Result<Playbook, Error> {
    let all = Playbook::shipped();
    let names: Vec<String> = all.iter().map(|p| format!("`{}`", p.name())).collect();
    all.into_iter().find(|p| p.name() == name).ok_or_else(|| {
        Error::new(Code::NotFound, format!("there is no playbook `{name}`"))
            .hint(format!(
                "Hermit comes with {}; or give the path of a file; `hermit playbooks drafts` lists those that you may adopt",
                names.join(", ")
            ))
    })
}

/// With the key that was named, else with the one that a person gave for that server.
fn addressed(text: &str, secret: Option<String>, config: &Config, home: &Home) -> Result<Reasoning, Error> {
    let address: Address = text.parse().map_err(|e: reasoning::Error| {
        Error::new(Code::Usage, e.to_string()).hint("`hermit models list` shows the addresses of models that run here; `hermit playbooks` shows playbooks")
    })?;
    // A task keeps to the weights that its model has now.
    if let Some((name, digest)) = address.in_box() {
        let model = crate::model_box::pinned(home, name, digest).map_err(crate::Error::to_wire)?;
        let base_url = reasoning::model_box::URL.to_owned();
        return Ok(Reasoning::Openai { api: ModelApi::standard(), base_url, model, secret: None });
    }
    match address {
        Address::Server { api, url, model } => {
            let secret = secret.or_else(|| config.secret_for(&url));
            Ok(Reasoning::Openai { api, base_url: url, model, secret })
        }
        Address::Playbook(name) => {
            let playbook = shipped(&name)?;
            let text = playbook.text().to_owned();
            Ok(Reasoning::Playbook { name, text, parameters: std::collections::BTreeMap::new() })
        }
        Address::Recorded(path) => {
            let text = std::fs::read_to_string(Path::new(&path)).map_err(|e| {
                Error::new(Code::NotFound, format!("cannot read the transcript `{path}`: {e}"))
            })?;
            Transcript::parse(&text).map_err(|e| Error::new(Code::Usage, e.to_string()))?;
            Ok(Reasoning::Recorded { text })
        }
        Address::Scripted => Err(Error::new(Code::Usage, "scripts exist in tests only")
            .hint("choose a playbook or a model; `hermit run --help` shows both")),
    }
}

/// The playbooks that come with Hermit and those that a person adopted, as the wire lists them.
pub fn playbooks(adopted: &[(u32, String)]) -> Vec<wire::playbooks::Playbook> {
    let shipped = Playbook::shipped();
    let own = adopted.iter().filter_map(|(version, text)| {
        let told = on_the_wire(&Playbook::parse(text).ok()?);
        Some(wire::playbooks::Playbook { version: Some(*version), ..told })
    });
    let all: Vec<_> = shipped.iter().map(on_the_wire).collect();
    all.into_iter().chain(own).collect()
}

/// Whether a playbook of this name comes with Hermit.
pub fn is_shipped(name: &str) -> bool {
    Playbook::shipped().iter().any(|one| one.name() == name)
}

/// What the text of a playbook is and takes.
///
/// # Errors
/// [`Code::Usage`], with the line that is wrong.
pub fn read_playbook(text: &str) -> Result<wire::playbooks::Playbook, Error> {
    let read = Playbook::parse(text);
    read.map(|playbook| on_the_wire(&playbook)).map_err(|e| {
        Error::new(Code::Usage, format!("this is no playbook that can be used: {e}"))
            .hint("correct the file and choose it again; `hermit run --help` shows a playbook")
    })
}

fn on_the_wire(playbook: &Playbook) -> wire::playbooks::Playbook {
    let parameter = |p: &reasoning::playbook::Parameter| wire::playbooks::Parameter {
        name: p.name.clone(),
        about: p.help.clone(),
        standard: Some(p.default.clone()),
    };
    wire::playbooks::Playbook {
        name: playbook.name().to_owned(),
        about: playbook.about().to_owned(),
        description: playbook.description().to_owned(),
        parameters: playbook.parameters().iter().map(parameter).collect(),
        version: None,
    }
}

/// Every advice that is given about a model's server, so that a test can try what it names.
pub fn advice(address: &str, model: &str) -> Vec<String> {
    reasoning::server::advice::every(address, model)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_playbook_of_ones_own_is_told_by_its_text_and_a_wrong_one_by_its_line() {
        let tidy = shipped("tidy").expect("it comes with Hermit");
        let own = tidy.text().replace("name: tidy", "name: my-own");
        let read = read_playbook(&own).expect("it can be used");
        assert_eq!((read.name.as_str(), read.parameters.len()), ("my-own", tidy.parameters().len()));
        assert_eq!(read.description, tidy.description());
        let wrong = read_playbook("playbook: 1\noops: 1\n").expect_err("no such key");
        assert_eq!(wrong.code, Code::Usage);
        assert!(wrong.message.contains("line 2") && wrong.message.contains("oops"), "{}", wrong.message);
        let long = read_playbook(&"#".repeat(model::limits::PLAYBOOK_BYTES_MAX + 1)).expect_err("too long");
        assert!(long.message.contains("longer than"), "{}", long.message);
    }
}
