//! What is shown on Linux alone: a person at a terminal, which a pseudo-terminal stands for; walls, signals and other users; a disk
//! that is full, and a sync that fails; a shell or Python that plays a model, a service manager, or somebody who owns the machine.

use crate::bench::{APPROVAL, Bench, Ran, program};
use std::process::{Command, Stdio};
use testkit::pty::Pty;

mod always;
mod anchors;
mod boxed;
mod cards;
mod collecting;
mod completing;
mod copies;
mod cramped;
mod exchanged;
mod foreign;
mod forgetting;
mod gateways;
mod hosts;
mod human_only;
mod logging;
mod making;
mod models;
mod passphrases;
mod pins;
mod screen;
mod secrets;
mod security_keys;
mod service;
mod serving;
mod terminal;
mod troubles;

impl Bench {
    /// Runs a command of the test's own in this place.
    pub fn finish_in(&self, mut command: Command) -> Ran {
        command.current_dir(self.path("")).stdin(Stdio::null());
        self.finish(command, &[])
    }

    /// Runs on a terminal, with open keys.
    pub fn terminal(&self, arguments: &[&str]) -> Pty {
        let (home, vault) = (self.home(), self.path("vault"));
        let environment =
            [("HERMIT_HOME", home.to_str().unwrap()), ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())];
        Pty::spawn(program(), arguments, &environment)
    }

    /// Runs on a terminal that says how many columns and rows it has, with open keys.
    pub fn screen(&self, arguments: &[&str], size: (u16, u16)) -> Pty {
        let (home, vault) = (self.home(), self.path("vault"));
        let environment =
            [("HERMIT_HOME", home.to_str().unwrap()), ("HERMIT_PASSPHRASE_FILE", vault.to_str().unwrap())];
        Pty::sized(program(), arguments, &environment, size)
    }
}

/// Says yes as a person does: reads, types the word, the second word, the passphrase.
fn allow(terminal: &mut Pty) {
    terminal.expect("Approve?").send("y\r");
    terminal.expect("Approval passphrase: ").send(&format!("{APPROVAL}\r"));
}
