//! What an adopted change of Hermit reaches outside the store: settings, and programs.

use model::Digest;
use model::adoption::AdoptedProgram;
use std::time::Duration;

/// Settings of the standard model, and programs beside this one.
pub trait Adopting: Send + Sync {
    /// SHA-256 of the program that judges trials here.
    ///
    /// # Errors
    /// In words, when it cannot be read.
    fn evaluator(&self) -> Result<Digest, String>;

    /// How long a constitutional change waits after its verdict.
    fn constitutional_wait(&self) -> Duration;

    /// The standard model.
    ///
    /// # Errors
    /// In words, when the settings cannot be read.
    fn standard_model(&self) -> Result<Option<String>, String>;

    /// Whether a model can be the standard one; with a digest, whether its file is that one.
    ///
    /// # Errors
    /// In words, why not.
    fn check_model(&self, address: &str, sha256: Option<Digest>) -> Result<(), String>;

    /// The newest format of a store that this program opens.
    fn store_format(&self) -> u32;

    /// Keeps the program that a trial built beside this one, whole or not at all. It is not started by this.
    ///
    /// # Errors
    /// In words, when it is gone, another than was judged, or cannot be written.
    fn keep_program(&self, trial_id: &str, program: &AdoptedProgram) -> Result<(), String>;
}
