//! The emergency stop, durable: nothing executes until a person boots (KS-3.8, recovery.md 1).

use crate::Error;
use crate::gatepass::{self, Seat};
use crate::kernel::{Kernel, lock};
use model::Sensitive;
use model::body::{GateBooted, GateHalted};
use model::fault::Point;
use model::principal::PrincipalType;
use std::sync::atomic::Ordering;

impl Kernel {
    /// Halts the gate for the rest of this session, and remembers it.
    ///
    /// # Errors
    /// [`Error::Halted`] when it is halted already.
    pub fn halt(&self, reason: &str) -> Result<(), Error> {
        for cell in lock(&self.tasks).values() {
            cell.stop.store(true, Ordering::SeqCst);
        }
        let mut seat = Seat::take(self)?;
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::GateHalt, actor, self.session.clone(), None)?;
        seat.halt(&mut w, "operator")?;
        w.push(GateHalted {
            session: self.session.clone(),
            reason: Sensitive::from(reason.to_owned()),
            by_person: true,
        });
        self.commit(w, None)?;
        seat.vacate();
        Ok(())
    }

    /// A person lets Hermit work again: a new gate session continues the same chain.
    ///
    /// # Errors
    /// [`Error::Conflict`] when nothing is halted.
    pub fn boot(&self) -> Result<(), Error> {
        if lock(&self.store).halted.is_none() {
            return Err(Error::Conflict("Hermit is not halted".to_owned()));
        }
        let actor = self.actor(PrincipalType::User)?;
        let mut w = self.store_writeup(Point::GateBoot, actor, self.session.clone(), None)?;
        let mut guard = lock(&self.gate);
        let gate = gatepass::boot(self, &mut w)?;
        w.push(GateBooted { session: self.session.clone() });
        self.commit(w, None)?;
        *guard = Some(gate);
        Ok(())
    }

    /// Why nothing executes, when a halt is in force.
    pub fn halted(&self) -> Option<String> {
        lock(&self.store).halted.clone()
    }
}
