//! What only the process that holds the store knows: what it works on at this moment, and what it hears from elsewhere. A reading
//! command asks it for that over the gateway, with the store's token, and waits for seconds; where it does not answer, the store
//! tells what is kept.

use crate::Home;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use wire::{Access, Code, Command, Error};

/// A host that did not answer is not waited for again so soon: meanwhile the store tells what is kept.
const SILENT: Duration = Duration::from_secs(10);

/// Whether an answer reads as this version has it.
type Reads = fn(&Value) -> Result<(), serde_json::Error>;

/// Reads whose answer is not whole without the process that holds the store.
const ASKED: &[(&str, Reads)] = &[
    // Work on a task, and what a model of it writes.
    row::<wire::task::Show>(),
    row::<wire::task::List>(),
    // The state that the gate is in.
    row::<wire::gate::State>(),
    // How often a model of a trial has answered.
    row::<wire::successor::Show>(),
    row::<wire::successor::List>(),
    // What a change would write, where the bytes lie beside the folder.
    row::<wire::changes::Show>(),
    // Whether services and machines elsewhere answer, and log-ins that wait or are renewed no more.
    row::<wire::gateways::List>(),
    row::<wire::gateways::Show>(),
    row::<wire::mesh::Show>(),
    row::<wire::schedules::List>(),
    row::<wire::schedules::Show>(),
    row::<wire::tools::LoginList>(),
    // Keys that are open.
    row::<wire::keys::List>(),
    // Whether its keys are open, and what it finds of its own walls and settings.
    row::<wire::host::Doctor>(),
    // Weights that are on their way.
    row::<wire::models::InBox>(),
];

/// A read that the process that holds the store is asked for. One that changes something does not build.
const fn row<C: Command>() -> (&'static str, Reads) {
    assert!(matches!(C::ACCESS, Access::read), "nothing but reads are asked for");
    (C::NAME, reads::<C::Answer>)
}

fn reads<T: DeserializeOwned>(told: &Value) -> Result<(), serde_json::Error> {
    <T as serde::Deserialize>::deserialize(told).map(drop)
}

/// Whether the process that holds the store is asked for this.
pub(super) fn is_asked(name: &str) -> bool {
    ASKED.iter().any(|(one, _)| *one == name)
}

/// Whether its answer reads as this version has it.
pub(super) fn fits(name: &str, told: &Value) -> Result<(), serde_json::Error> {
    let of = ASKED.iter().find(|(one, _)| *one == name);
    of.map_or(Ok(()), |(_, reads)| reads(told))
}

/// Who told what a reading command asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToldBy {
    /// The process that holds the store, which knows what is under way.
    Owner,
    /// The store: no process holds it.
    Store,
    /// The store: a process holds it and did not answer.
    Silent,
}

/// A way to the process on this machine that holds the store; else who tells in its place.
pub(super) fn client(home: &Home) -> Result<gateway::Client, ToldBy> {
    let holder = match ledger::holder(home.dir()) {
        Ok(Some(holder)) => holder,
        Ok(None) => return Err(ToldBy::Store),
        Err(error) => {
            tracing::debug!(%error, "it cannot be told who holds the store");
            return Err(ToldBy::Silent);
        }
    };
    // The address of one on another machine leads to nobody, or to a stranger.
    let is_here = !holder.is_elsewhere();
    let address = holder.address.filter(|_| is_here).ok_or(ToldBy::Silent)?;
    gateway::Client::named(&address, home.dir()).map_err(|error| {
        tracing::debug!(%error, "the process that holds the store cannot be asked");
        ToldBy::Silent
    })
}

/// When a host did not answer last.
#[derive(Default)]
pub(super) struct Silence(Mutex<Option<Instant>>);

impl Silence {
    /// Asks the host, unless it did not answer a moment ago.
    pub(super) fn look(&self, ask: impl FnOnce() -> Result<Value, Error>) -> Result<Value, Error> {
        let since = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if since.is_some_and(|since| since.elapsed() < SILENT) {
            return Err(Error::new(Code::Unavailable, "the host did not answer a moment ago"));
        }
        let told = ask();
        let is_silent = told.as_ref().is_err_and(|error| error.code == Code::Unavailable);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = is_silent.then(Instant::now);
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_does_not_answer_is_asked_once_and_then_not_for_a_while() {
        let silence = Silence::default();
        let away = || Err(Error::new(Code::Unavailable, "nobody"));
        let here = || Ok(Value::Null);
        assert!(silence.look(here).is_ok());
        assert!(silence.look(|| Err(Error::new(Code::NotFound, "no such task"))).is_err());
        assert!(silence.look(here).is_ok(), "a no is an answer");
        assert!(silence.look(away).is_err());
        assert!(silence.look(here).is_err(), "it is not asked");
        *silence.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now().checked_sub(SILENT);
        assert!(silence.look(here).is_ok());
    }

    #[test]
    fn an_answer_of_another_version_is_told_from_one_of_this() {
        let state = serde_json::json!({
            "state": "IDLE", "halted": false, "reason": null, "session": "s", "since": 1, "entries": 1, "head": "h",
        });
        assert!(fits("gate.state", &state).is_ok());
        assert!(fits("gate.state", &serde_json::json!({ "halted": false })).is_err());
        assert!(is_asked("successor.show") && !is_asked("ledger.stats"));
    }
}
