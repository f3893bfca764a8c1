//! The emergency stop, durable: nothing executes until a person boots (KS-3.8, recovery.md 1).

use super::person::{Matter, Signed};
use crate::Error;
use crate::gatepass::{self, GatePass};
use crate::kernel::{Kernel, lock};
use gate::{Gate, KernelState};
use model::body::{GateBooted, GateHalted};
use model::fault::Point;
use model::principal::PrincipalType;
use model::{RequestId, Sensitive};
use seal::Digest;
use std::sync::atomic::Ordering;

impl Kernel {
    /// Halts the gate for the rest of this session, and remembers it. Where the log cannot take it, such as on a full
    /// disk, nothing executes in this process all the same, and [`Kernel::record_halt`] tries to record it again.
    ///
    /// # Errors
    /// [`Error::Halted`] when it is halted already; what kept it from being recorded.
    pub fn halt(&self, reason: &str) -> Result<(), Error> {
        for cell in lock(&self.tasks).values() {
            cell.stop.store(true, Ordering::SeqCst);
        }
        let mut pass = GatePass::begin_to_halt(self)?;
        *lock(&self.halted_unrecorded) = Some(reason.to_owned());
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::GateHalt, actor, self.session.clone(), None)?;
        pass.halt(self, &mut w, "operator")?;
        w.push(GateHalted {
            session: self.session.clone(),
            reason: Sensitive::from(reason.to_owned()),
            by_person: true,
        });
        self.commit(w).map_err(|e| Error::HaltUnrecorded(Box::new(e)))?;
        pass.vacate();
        *lock(&self.halted_unrecorded) = None;
        Ok(())
    }

    /// Tries once more to record a halt that the log could not take.
    ///
    /// # Errors
    /// As [`Kernel::halt`].
    pub fn record_halt(&self) -> Result<(), Error> {
        let pending = lock(&self.halted_unrecorded).clone();
        pending.map_or(Ok(()), |reason| self.halt(&reason))
    }

    /// A person lets Hermit work again: a new gate session continues the same chain.
    ///
    /// # Errors
    /// [`Error::Conflict`] when nothing is halted.
    pub fn boot(&self) -> Result<(), Error> {
        self.boot_signed(None)
    }

    /// As [`Kernel::boot`], by what a person signed about [`boot_subject`]; it stands beside the boot.
    ///
    /// # Errors
    /// [`Error::Conflict`] when nothing is halted; [`Error::Refused`] when no person signed exactly that.
    pub fn boot_signed(&self, signed: Option<&Signed>) -> Result<(), Error> {
        if lock(&self.store).halted.is_none() {
            if lock(&self.halted_unrecorded).take().is_some() {
                return Ok(());
            }
            return Err(Error::Conflict("Hermit is not halted".to_owned()));
        }
        let subject = boot_subject(&self.reader)?;
        let decided = signed.map(|signed| self.decided(Matter::Boot, subject, signed)).transpose()?;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::GateBoot, actor, self.session.clone(), None)?;
        let mut guard = lock(&self.gate);
        // The session that was halted stays halted (KS-3.8-2): what works again is another one of the same host.
        let session = RequestId::fresh(&*self.ports.clock, &*self.ports.entropy).to_string();
        let gate = gatepass::boot(self, &mut w, &session)?;
        w.push(GateBooted { session });
        if let Some(decided) = decided {
            w.push(decided);
        }
        self.commit(w)?;
        *guard = Some(gate);
        Ok(())
    }

    /// The state that the gate is in; asking changes nothing (KS-5.2). A request goes through it within one commit, and whoever asks
    /// meanwhile is answered behind that: so it is idle, or it is halted.
    pub fn gate_state(&self) -> KernelState {
        let guard = lock(&self.gate);
        let is_unrecorded = lock(&self.halted_unrecorded).is_some();
        guard.as_ref().filter(|_| !is_unrecorded).map_or(KernelState::Halted, Gate::get_state)
    }

    /// Why nothing executes, when a halt is in force.
    pub fn halted(&self) -> Option<String> {
        let recorded = lock(&self.store).halted.clone();
        let unrecorded = lock(&self.halted_unrecorded).is_some();
        recorded
            .or_else(|| unrecorded.then(|| "a person halted it; the log could not take it yet".to_owned()))
    }
}

/// What the boot after a halt is about: the gate's chain as the halt left it, so that it is no boot after another.
///
/// # Errors
/// [`Error::Ledger`] when the chain cannot be read.
pub fn boot_subject(reader: &ledger::Reader) -> Result<Digest, Error> {
    Ok(Digest::of(format!("boot\n{}", reader.gate_head()?).as_bytes()))
}
