//! What a surface asks a store with, whoever holds it.

use crate::drives::Ended;
use crate::local::Watch;
use crate::{Home, Local, Unlock};
use kernel::{Standing, Waiting};
use std::sync::mpsc::Receiver;
use std::time::Duration;
use wire::{Access, Code, Command, Error};

/// What a command needs of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// To read it.
    Read,
    /// To change it, in this process or through the one that owns it.
    Write,
}

/// A way to a store.
pub enum Session {
    /// In this process.
    Local(Box<Local>),
    /// Through the process that owns it.
    Attached(gateway::Client),
}

/// How a task stands with the process that drives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// It is at work.
    AtWork,
    /// It waits for a person, another task, or has ended; the store says which.
    AtRest,
    /// Its receipts wait for locked keys.
    KeyLocked,
    /// Hermit is halted.
    Halted,
    /// Driving it broke off.
    Broke(Error),
}

impl Session {
    /// Opens a way to the store that a command needs. A new owner does not yet go on with interrupted tasks.
    ///
    /// # Errors
    /// [`Code::Held`] when another process owns the store and cannot be reached; what the store says.
    pub fn open(home: &Home, need: Need, unlock: &Unlock) -> Result<Self, Error> {
        if need == Need::Read {
            return Ok(Self::Local(Box::new(Local::reading(home.clone()).map_err(crate::Error::to_wire)?)));
        }
        match Local::owning(home.clone(), unlock) {
            Ok(local) => Ok(Self::Local(Box::new(local))),
            Err(crate::Error::Kernel(kernel::Error::Ledger(ledger::Error::Held {
                pid, address, ..
            }))) => Self::attach(home, pid, address),
            Err(error) => Err(error.to_wire()),
        }
    }

    fn attach(home: &Home, pid: u32, address: Option<String>) -> Result<Self, Error> {
        let held = |why: &str| {
            Error::new(Code::Held, format!("the store is in use by process {pid}{why}"))
                .hint("wait until it ends, or end it: nothing is lost, and what it did is kept")
                .details(serde_json::json!({ "pid": pid }))
        };
        let Some(address) = address else { return Err(held("")) };
        gateway::Client::attach(&address, home.dir())
            .map(Self::Attached)
            .map_err(|e| held(&format!(", which does not answer: {e}")))
    }

    /// Whether this process owns the store.
    pub fn is_owner(&self) -> bool {
        matches!(self, Self::Local(local) if api::Host::kernel(&**local).is_ok())
    }

    /// The store in this process, when it is.
    pub fn local(&self) -> Option<&Local> {
        match self {
            Self::Local(local) => Some(local),
            Self::Attached(_) => None,
        }
    }

    /// Runs a command.
    ///
    /// # Errors
    /// What the command says.
    pub fn call<C: Command>(&self, command: &C) -> Result<C::Answer, Error> {
        match self {
            Self::Local(local) => {
                let params = serde_json::to_value(command).map_err(api::failed)?;
                serde_json::from_value(api::call(&**local, C::NAME, params)?).map_err(api::failed)
            }
            Self::Attached(_) if C::ACCESS == Access::owner => Err(Error::new(
                Code::Forbidden,
                format!("`{}` runs only in the process that owns the store", C::NAME),
            )
            .hint("end that process first")),
            Self::Attached(client) => client.call(command),
        }
    }

    /// Listens to what happens, where something can.
    pub fn listen(&self) -> Option<Receiver<wire::Notice>> {
        match self {
            Self::Local(local) => api::Host::listen(&**local),
            Self::Attached(_) => None,
        }
    }

    /// Tells whoever watches of long work in this process.
    pub fn watch(&self, watch: Watch) {
        if let Self::Local(local) = self {
            local.watch(watch);
        }
    }

    /// Waits a moment for the task to come to rest; how it stands, as far as the process that drives it can say.
    pub fn stands(&self, task: &str, patience: Duration) -> Stands {
        let Self::Local(local) = self else {
            std::thread::sleep(patience);
            return Stands::AtRest;
        };
        let Ok(task) = task.parse() else { return Stands::AtRest };
        match local.wait(task, patience) {
            None => Stands::AtWork,
            Some(Ended::Stands(Standing::KeyLocked)) => Stands::KeyLocked,
            Some(Ended::Stands(Standing::Halted)) => Stands::Halted,
            Some(Ended::Stands(
                Standing::Waiting(Waiting::Dependency) | Standing::Waiting(_) | Standing::Ended { .. },
            )) => Stands::AtRest,
            Some(Ended::Failed(error)) => Stands::Broke(error),
        }
    }

    /// Lets go of the store.
    pub fn close(&self) {
        if let Self::Local(local) = self {
            local.close();
        }
    }
}
