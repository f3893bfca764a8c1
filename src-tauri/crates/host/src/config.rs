//! `config.json`: the few settings that a store's owner may set. Unknown names are refused, so that a slip is seen.

use crate::anchor_settings::AnchorSettings;
use crate::mesh_settings::MeshSettings;
use crate::telemetry::TelemetrySettings;
use crate::{Error, Home};
use kernel::command::adopting::CONSTITUTIONAL_WAIT_MIN;
use model::limits::{PARALLEL_READS, PARALLEL_READS_MOST};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Its name in the store's folder.
pub const FILE: &str = "config.json";

/// Settings. What is absent takes the standard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// `error`, `warn`, `info` (the standard), `debug`, `trace`, or `off`. `HERMIT_LOG` goes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_level: Option<String>,
    /// PEM file of the authorities that servers are checked against, instead of those that come with Hermit.
    /// `HERMIT_CA_FILE` goes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// Who proposes when a task names nobody, such as `openai:http://127.0.0.1:8080/v1#qwen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_model: Option<String>,
    /// Handle of the secret for `default_model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_secret: Option<String>,
    /// The embedding model by which memory is found by meaning, such as `openai:http://127.0.0.1:8080/v1#minilm`: one at a
    /// server of this machine. Memory is found by words when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding_model: Option<String>,
    /// Servers of models that have a key: every call to one takes it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<Provider>,
    /// Tokens that prompt and answer of a model may have together, where nothing is set for the model itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u32>,
    /// US dollars that models may cost in a day; no bound when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily_ceiling: Option<String>,
    /// Seconds that the model in the box stays in memory when nobody asks it; 300 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub box_idle_s: Option<u64>,
    /// Where the weights of models in the box come from by name, in place of `https://huggingface.co`, such as a mirror
    /// that has the same paths. Their digests are those of the catalogue, wherever they come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_mirror: Option<String>,
    /// What is set for single models.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelSettings>,
    /// A second file for the newest signed head, best on another disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin_file: Option<PathBuf>,
    /// A git repository that keeps the newest signed head as a note under `refs/notes/hermit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin_git: Option<PathBuf>,
    /// Bytes of content in files from which on `hermit doctor` asks for room; 10 GiB when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_quota_bytes: Option<u64>,
    /// Whether the terminal's bell rings when a person is waited for; it does when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bell: Option<bool>,
    /// Whether Hermit reads tasks that ended, when nothing was written in the store for two minutes, and proposes what to
    /// remember of them; it does when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub historian: Option<bool>,
    /// Reads of one answer of a model that run at the same time, from 1 to 64; 10 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_reads: Option<usize>,
    /// Clocks elsewhere that heads of the log are anchored at; none when absent.
    #[serde(skip_serializing_if = "AnchorSettings::is_empty")]
    pub anchors: AnchorSettings,
    /// What this machine is in the mesh of its person's machines; it is off when absent.
    #[serde(skip_serializing_if = "MeshSettings::is_empty")]
    pub mesh: MeshSettings,
    /// Where telemetry goes, without contents; it is off when absent.
    #[serde(skip_serializing_if = "TelemetrySettings::is_empty")]
    pub telemetry: TelemetrySettings,
    /// Seconds that a change of what keeps Hermit in check waits after its verdict before it can be adopted; a day when absent, and an
    /// hour at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constitutional_wait_s: Option<u64>,
    /// The trial whose model `default_model` is; Hermit writes it down itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopted_model: Option<String>,
    /// Folders whose work no model learns from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub private_folders: Vec<PathBuf>,
    /// Further folders that commands may read behind their walls, such as a toolchain's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readable: Vec<PathBuf>,
}

/// A server of models and the key for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// Its base URL, as it stands in a model's address.
    pub url: String,
    /// Handle of the secret.
    pub secret: String,
}

/// What is set for one model; what is absent is asked of its server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Its address, such as `openai:http://127.0.0.1:8080/v1#qwen`.
    pub address: String,
    /// Tokens that prompt and answer may have together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// Tokens of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u32>,
    /// `own` for the model's own, or a number from 0 to 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<String>,
    /// How tools are offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<reasoning::ToolMode>,
    /// Whether all tools are offered; to a small model only a few are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all_tools: Option<bool>,
    /// Whether it is shown pictures; it is not when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sees: Option<bool>,
    /// US dollars for a million tokens that it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_in: Option<String>,
    /// US dollars for a million tokens that it writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_out: Option<String>,
    /// Parameters that its server has refused; Hermit writes them down itself.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub without: BTreeSet<String>,
}

impl ModelSettings {
    /// The temperature in thousandths, when one is set: none inside for the model's own.
    ///
    /// # Errors
    /// In words, when it is neither.
    pub fn temperature_milli(&self) -> Result<Option<Option<u32>>, String> {
        let Some(text) = self.temperature.as_deref() else { return Ok(None) };
        if text == "own" {
            return Ok(Some(None));
        }
        let number = text.parse::<f64>().ok().filter(|number| (0.0..=2.0).contains(number));
        let number =
            number.ok_or_else(|| format!("`{text}` is no temperature; it is `own`, or from 0 to 2"))?;
        Ok(Some(Some((number * 1000.0).round() as u32)))
    }
}

/// The address that settings of a model are kept under.
fn known_by(address: &str) -> &str {
    match address.split_once(reasoning::model_box::PIN) {
        Some((name, _)) if name.starts_with(reasoning::model_box::URL) => name,
        _ => address,
    }
}

impl Config {
    /// What is set for a model. A model in the box is known by its name, whichever weights it has.
    pub fn model(&self, address: &str) -> Option<&ModelSettings> {
        let address = known_by(address);
        self.models.iter().find(|one| one.address == address)
    }

    /// Takes what is set for a model in place of what was; an entry that sets nothing is left out.
    pub fn set_model(&mut self, mut settings: ModelSettings) {
        settings.address = known_by(&settings.address).to_owned();
        self.models.retain(|one| known_by(&one.address) != settings.address);
        let nothing = ModelSettings { address: settings.address.clone(), ..ModelSettings::default() };
        if settings != nothing {
            self.models.push(settings);
        }
    }

    /// Bytes of content in files from which on a person is told to make room.
    #[must_use]
    pub fn content_quota(&self) -> u64 {
        self.content_quota_bytes.unwrap_or(model::limits::CONTENT_BYTES_QUOTA)
    }

    /// The settings of a store; the standard ones when there is no file.
    ///
    /// # Errors
    /// [`Error::Config`] when the file is not JSON of this shape.
    pub fn load(home: &Home) -> Result<Self, Error> {
        let path = home.path(FILE);
        let bytes = match std::fs::read(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            other => other.map_err(|e| Error::io("read", &path, &e))?,
        };
        let config: Self = serde_json::from_slice(&bytes)
            .map_err(|e| Error::Config { path: path.display().to_string(), why: e.to_string() })?;
        match config.wrong() {
            None => Ok(config),
            Some(why) => Err(Error::Config { path: path.display().to_string(), why }),
        }
    }

    /// What no setting can be, in words.
    fn wrong(&self) -> Option<String> {
        match self.log_level.as_deref() {
            None | Some("off" | "error" | "warn" | "info" | "debug" | "trace") => {}
            Some(other) => {
                return Some(format!(
                    "`log_level` is `{other}`; it is one of off, error, warn, info, debug, trace"
                ));
            }
        }
        if let Err(why) = self.anchors.check() {
            return Some(format!("`anchors`: {why}"));
        }
        if let Err(why) = self.mesh.check() {
            return Some(format!("`mesh`: {why}"));
        }
        if let Err(why) = self.telemetry.check() {
            return Some(format!("`telemetry`: {why}"));
        }
        if self.constitutional_wait_s.is_some_and(|wait| wait < CONSTITUTIONAL_WAIT_MIN.as_secs()) {
            let least = CONSTITUTIONAL_WAIT_MIN.as_secs();
            return Some(format!("`constitutional_wait_s` is {least} at least, which is an hour"));
        }
        let at_once = self.parallel_reads.filter(|at_once| !(1..=PARALLEL_READS_MOST).contains(at_once))?;
        Some(format!("`parallel_reads` is {at_once}; it is a number from 1 to {PARALLEL_READS_MOST}"))
    }

    /// Reads of one answer that run at the same time.
    #[must_use]
    pub fn parallel_reads(&self) -> usize {
        self.parallel_reads.unwrap_or(PARALLEL_READS)
    }

    /// The settings to work with: the standard ones, and a word in the log, where the file cannot be used. What stands
    /// in it may stop new work; it must not stop a halt, a look, or what is under way.
    pub fn in_force(home: &Home) -> Self {
        Self::load(home).unwrap_or_else(|error| {
            tracing::warn!(%error, "the standard settings are in force");
            Self::default()
        })
    }

    /// Handle of the key for a server, when it has one.
    pub fn secret_for(&self, url: &str) -> Option<String> {
        self.providers.iter().find(|provider| provider.url == url).map(|provider| provider.secret.clone())
    }

    /// Changes the settings that are there now; nobody else in this process changes them meanwhile.
    ///
    /// # Errors
    /// As [`Self::load`] and [`Self::save`], and what the change itself says; nothing is kept then.
    pub fn change<T>(home: &Home, with: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        static CHANGES: Mutex<()> = Mutex::new(());
        let _alone = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut config = Self::load(home)?;
        let came = with(&mut config)?;
        config.save(home)?;
        Ok(came)
    }

    /// Keeps these settings, whole or not at all.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn save(&self, home: &Home) -> Result<(), Error> {
        let path = home.path(FILE);
        let text = serde_json::to_vec_pretty(self)
            .map_err(|e| Error::Config { path: path.display().to_string(), why: e.to_string() })?;
        disk::replace(&path, &text).map_err(|e| Error::io("write", &path, &e))
    }

    /// The authorities' file in force.
    pub fn authorities(&self) -> Option<PathBuf> {
        std::env::var_os("HERMIT_CA_FILE")
            .map(PathBuf::from)
            .filter(|p| !p.as_os_str().is_empty())
            .or_else(|| self.ca_file.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_under_weights_of_a_model_in_the_box_is_set_for_its_name() {
        let pinned = format!("box:tiny@sha256:{}", "a".repeat(64));
        let mut config = Config::default();
        let set = |address: &str, context| ModelSettings {
            address: address.to_owned(),
            context: Some(context),
            ..ModelSettings::default()
        };
        config.set_model(set(&pinned, 4_096));
        for address in ["box:tiny", &pinned] {
            assert_eq!(config.model(address).and_then(|own| own.context), Some(4_096), "{address}");
        }
        config.set_model(set("box:tiny", 2_048));
        assert_eq!(
            (config.models.len(), config.model(&pinned).and_then(|own| own.context)),
            (1, Some(2_048))
        );
    }
}
