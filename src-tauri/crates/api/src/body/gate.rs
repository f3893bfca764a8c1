//! The reference monitor: its state, its halt, its evidence.

use super::proof::said;
use crate::convert::opt_text;
use crate::files::{absolute, make};
use crate::{Host, Wire as _};
use ledger::Reader;
use model::audit::KernelState;
use std::io::Write;
use wire::Error;
use wire::gate::{Boot, Export, Exported, GateState, Halt, State, Verified, Verify};

/// The variant in force (KS-5): this version has one.
const VARIANT: &str = "strict";
/// Entries read at once.
const STRIDE: usize = 1_000;

pub(crate) fn state(host: &dyn Host, _: State) -> Result<GateState, Error> {
    let reader = host.reader()?;
    let now = host.query()?.gate().wire()?;
    let head = reader.gate_head().wire()?;
    let entries = reader.entries_written().wire()?;
    let halted = now.as_ref().is_some_and(|gate| gate.halted);
    // Whoever only reads is told by the log.
    let logged = || if halted { KernelState::Halted } else { KernelState::Idle };
    let at = host.kernel().map_or_else(|_| logged(), kernel::Kernel::gate_state);
    Ok(GateState {
        state: at.to_string(),
        halted,
        reason: now.as_ref().and_then(|gate| opt_text(gate.reason.as_ref())),
        session: now.as_ref().map(|gate| gate.session.clone()).unwrap_or_default(),
        since: now.map(|gate| gate.at.0),
        entries,
        head: head.to_string(),
    })
}

pub(crate) fn halt(host: &dyn Host, p: Halt) -> Result<GateState, Error> {
    let kernel = host.kernel()?;
    let halted = kernel.halt(p.reason.as_deref().unwrap_or("halted by a person"));
    match halted {
        Err(kernel::Error::HaltUnrecorded(_)) if host.make_room() => kernel.record_halt().wire()?,
        halted => halted.wire()?,
    }
    state(host, State {})
}

pub(crate) fn boot(host: &dyn Host, p: Boot) -> Result<GateState, Error> {
    let kernel = host.kernel()?;
    let signed = super::task_control::signed(kernel, p.signed.as_ref())?;
    kernel.boot_signed(signed.as_ref()).wire()?;
    host.drive_all()?;
    state(host, State {})
}

pub(crate) fn export(host: &dyn Host, p: Export) -> Result<Exported, Error> {
    let path = absolute("path", &p.path)?;
    let reader = host.reader()?;
    let log_id = reader.log_id().to_owned();
    let (byte_size, (entries, root)) = make(&path, |out: &mut dyn Write| {
        proof::evidence::export(Entries::of(reader.clone()), &log_id, VARIANT, host.now(), out).wire()
    })?;
    Ok(Exported { path: p.path, entries, root: root.to_string(), byte_size })
}

/// All entries of the gate, a stride at a time.
struct Entries {
    reader: Reader,
    next: u64,
    ready: std::vec::IntoIter<Vec<u8>>,
}

impl Entries {
    fn of(reader: Reader) -> Self {
        Self { reader, next: 1, ready: Vec::new().into_iter() }
    }
}

impl Iterator for Entries {
    type Item = Result<Vec<u8>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(bytes) = self.ready.next() {
            return Some(Ok(bytes));
        }
        match self.reader.gate_entries(self.next, STRIDE) {
            Err(e) => Some(Err(e.to_string())),
            Ok(entries) => {
                self.next = entries.last()?.0.saturating_add(1);
                self.ready = entries.into_iter().map(|(_, bytes)| bytes).collect::<Vec<_>>().into_iter();
                self.ready.next().map(Ok)
            }
        }
    }
}

pub(crate) fn verify(_: &dyn Host, p: Verify) -> Result<Verified, Error> {
    let root = p.root.as_deref().map(str::parse::<model::Digest>).transpose().wire()?;
    let report = proof::evidence::verify(&absolute("path", &p.path)?, root).wire()?;
    let (verdict, reason) = said(&report.verdict);
    let root = report.task_root.map(|root| root.to_string()).or(p.root);
    Ok(Verified { verdict, reason, entries: report.counts.gate_entries, root })
}
