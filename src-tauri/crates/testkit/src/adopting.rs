//! What adopted changes of Hermit reach outside a store, as a test sets it.

use kernel::ports::Adopting;
use model::Digest;
use model::adoption::AdoptedProgram;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Settings and programs of a test; none of it outlives it.
#[derive(Debug)]
pub struct TestAdopting {
    /// The program that judges.
    pub evaluator: Digest,
    /// How long a constitutional change waits.
    pub wait: Duration,
    /// The newest format of a store that is opened.
    pub store_format: u32,
    /// The standard model.
    pub model: Mutex<Option<String>>,
    /// Programs that were kept, in order.
    pub kept: Mutex<Vec<AdoptedProgram>>,
    /// Why the next program cannot be kept.
    pub fails: Mutex<Option<String>>,
}

impl Default for TestAdopting {
    fn default() -> Self {
        Self {
            evaluator: Digest::of(b"the program that judges"),
            wait: Duration::from_secs(24 * 3600),
            store_format: 3,
            model: Mutex::default(),
            kept: Mutex::default(),
            fails: Mutex::default(),
        }
    }
}

impl Adopting for TestAdopting {
    fn evaluator(&self) -> Result<Digest, String> {
        Ok(self.evaluator)
    }

    fn constitutional_wait(&self) -> Duration {
        self.wait
    }

    fn standard_model(&self) -> Result<Option<String>, String> {
        Ok(self.model.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn check_model(&self, address: &str, _: Option<Digest>) -> Result<(), String> {
        match address.split_once(':') {
            Some(_) => Ok(()),
            None => Err(format!("`{address}` is no address of a model")),
        }
    }

    fn store_format(&self) -> u32 {
        self.store_format
    }

    fn keep_program(&self, _: &str, program: &AdoptedProgram) -> Result<(), String> {
        if let Some(why) = self.fails.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(why);
        }
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(program.clone());
        Ok(())
    }
}
