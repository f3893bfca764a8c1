//! What a person at an attached terminal decides: signed here with the approval key, carried out by the process that
//! holds the store.

use crate::approval_signing::sign_decision;
use crate::{Error, Session};
use api::Host as _;
use kernel::command::adopting::constitution_subject;
use kernel::command::person::{Matter, mesh_subject};
use kernel::command::{halt::boot_subject, resolve::settle_subject};
use model::TaskId;
use model::receipt::ResultCode;
use seal::Digest;
use wire::gate::{Boot, GateState};
use wire::gateways::Gateway;
use wire::schedules::Schedule;
use wire::task::{Done, Settle, Show};

impl Session {
    /// Lets Hermit work again, by the word of whoever knows the approval passphrase.
    ///
    /// # Errors
    /// [`wire::Code::KeyLocked`] for a wrong passphrase; what the host says.
    pub fn boot_by(&self, passphrase: &[u8]) -> Result<GateState, wire::Error> {
        let subject = boot_subject(&self.reading()?.reader()?).map_err(api::of_kernel)?;
        self.call(&Boot { signed: Some(self.signed(Matter::Boot, subject, passphrase)?) })
    }

    /// Settles an outcome that nobody knows, likewise.
    ///
    /// # Errors
    /// As [`Self::boot_by`].
    pub fn settle_by(&self, found: Settle, passphrase: &[u8]) -> Result<Done, wire::Error> {
        let shown = self.call(&Show { task: found.task.clone() })?;
        let wrong = |why: String| wire::Error::new(wire::Code::Usage, why);
        let task: TaskId = shown.row.task_id.parse().map_err(|e: model::Error| wrong(e.to_string()))?;
        let result = found.result.parse::<ResultCode>().map_err(|e| wrong(e.to_string()))?;
        let subject = settle_subject(task, result, &found.note);
        self.call(&Settle { signed: Some(self.signed(Matter::Settle, subject, passphrase)?), ..found })
    }

    /// Resumes a schedule that is paused, likewise.
    ///
    /// # Errors
    /// As [`Self::boot_by`]; [`wire::Code::NotFound`] without it.
    pub fn resume_schedule_by(&self, name: String, passphrase: &[u8]) -> Result<Schedule, wire::Error> {
        let state = api::store_state(&self.reading()?.reader()?)?;
        let record = state.schedules.standing(&name).ok_or_else(|| api::not_found("schedule", &name))?;
        let signed = self.signed(Matter::Resume, record.resume_subject(), passphrase)?;
        self.call(&wire::schedules::Resume { name, signed: Some(signed) })
    }

    /// Resumes a gateway that is paused, likewise.
    ///
    /// # Errors
    /// As [`Self::resume_schedule_by`].
    pub fn resume_gateway_by(&self, name: String, passphrase: &[u8]) -> Result<Gateway, wire::Error> {
        let state = api::store_state(&self.reading()?.reader()?)?;
        let record = state.gateways.standing(&name).ok_or_else(|| api::not_found("gateway", &name))?;
        let signed = self.signed(Matter::Resume, record.resume_subject(), passphrase)?;
        self.call(&wire::gateways::Resume { name, signed: Some(signed) })
    }

    /// Gives a command of the mesh that a person gives, likewise: `with` puts what was signed for it into it.
    ///
    /// # Errors
    /// As [`Self::boot_by`].
    pub fn mesh_by<C: wire::Command>(
        &self,
        command: C,
        with: impl FnOnce(C, wire::PersonSigned) -> C,
        passphrase: &[u8],
    ) -> Result<C::Answer, wire::Error> {
        let params = serde_json::to_value(&command).map_err(api::failed)?;
        let subject = mesh_subject(C::NAME, &params).map_err(api::of_kernel)?;
        let signed = self.signed(Matter::Mesh, subject, passphrase)?;
        self.call(&with(command, signed))
    }

    /// Parts that keep Hermit in check and that the change of a trial touches; none where the trial is not there, which whoever adopts
    /// it is told.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn rooms_of(&self, trial: &str) -> Result<Vec<String>, wire::Error> {
        Ok(self.tried(trial)?.map(|(rooms, ..)| rooms).unwrap_or_default())
    }

    /// Signs, with the passphrase, that the change of a trial may touch one of them.
    ///
    /// # Errors
    /// As [`Self::boot_by`]; [`wire::Code::NotFound`] without a trial that was judged.
    pub fn sign_room(
        &self,
        trial: &str,
        room: &str,
        passphrase: &[u8],
    ) -> Result<wire::PersonSigned, wire::Error> {
        let tried = self.tried(trial)?.ok_or_else(|| api::not_found("judged trial", trial))?;
        let (_, patch, verdict) = tried;
        self.signed(Matter::Successor, constitution_subject(trial, patch, verdict, room), passphrase)
    }

    /// The parts that the change of a judged trial touches, its digest, and that of its verdict.
    fn tried(&self, trial: &str) -> Result<Option<(Vec<String>, Digest, Digest)>, wire::Error> {
        let reading = self.reading()?;
        let state = api::store_state(&reading.reader()?)?;
        let Some(found) = state.trials.get(trial) else { return Ok(None) };
        let Some(verdict) = found.verdict.as_ref().map(|at| at.sha256) else { return Ok(None) };
        let bytes = reading.artifacts()?.read(&found.patch.sha256).map_err(api::failed)?;
        let patch = ::successor::Patch::read(&bytes).map_err(api::failed)?;
        Ok(Some((::successor::constitutional(&patch), found.patch.sha256, verdict)))
    }

    fn signed(
        &self,
        matter: Matter,
        subject: seal::Digest,
        passphrase: &[u8],
    ) -> Result<wire::PersonSigned, wire::Error> {
        let reading = self.reading()?;
        let log_id = reading.reader()?.log_id().to_owned();
        let signed =
            sign_decision(reading.home(), &log_id, matter, subject, passphrase).map_err(Error::to_wire)?;
        let text = String::from_utf8(signed.text).map_err(api::failed)?;
        Ok(wire::PersonSigned { text, signature: signed.signature.to_string() })
    }
}
