//! How far the export has come, in a small file of the store's folder: the next host goes on from there, and the doctor reads it.

use crate::logs::OrLogged as _;
use crate::{Error, Home};
use serde::{Deserialize, Serialize};

/// Its name in the store's folder.
const FILE: &str = "telemetry.json";
/// Letters that are kept of what went wrong.
const WHY_MAX: usize = 200;

/// How far the export has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    /// The place in the log up to which tasks that ended were told.
    pub(super) through: u64,
    /// Spans that the collector took.
    pub(super) sent: u64,
    /// Requests that failed, whether or not they were repeated.
    pub(super) failures: u64,
    /// Spans that the collector refuses, which are not sent again.
    pub(super) refused: u64,
    /// What went wrong last, where nothing went well since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) failing: Option<String>,
    /// Tasks that ended behind this place in the log and by this time are never told: no collector may have been named then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) untold: Option<(u64, i64)>,
}

impl Record {
    /// The record of a store; none where nothing was exported yet. One that is damaged begins anew: nothing rests on it.
    pub(super) fn read(home: &Home) -> Option<Self> {
        let bytes = match std::fs::read(home.path(FILE)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            read => read.or_logged("how far the telemetry came cannot be read")?,
        };
        serde_json::from_slice(&bytes).or_logged("how far the telemetry came is damaged")
    }

    pub(super) fn save(&self, home: &Home) -> Result<(), Error> {
        let path = home.path(FILE);
        let failed = |e: std::io::Error| Error::io("write", &path, &e);
        let text = serde_json::to_vec(self).map_err(|e| failed(std::io::Error::other(e)))?;
        disk::replace(&path, &text).map_err(failed)
    }

    /// Forgets how far it came, so that what happens while it is off is never told.
    pub(super) fn forget(home: &Home) {
        let _ = std::fs::remove_file(home.path(FILE));
    }

    /// Tells no task that ended behind this place and by this time, in milliseconds; what was left out before stays so.
    pub(super) fn leave_out(&mut self, behind: u64, until: i64) {
        let (place, time) = self.untold.unwrap_or((behind, until));
        self.untold = Some((place.min(behind), time.max(until)));
    }

    /// Whether a task that ended there and then is left out.
    pub(super) fn leaves_out(&self, place: u64, at: i64) -> bool {
        self.untold.is_some_and(|(behind, until)| place > behind && at <= until)
    }

    /// A request failed.
    pub(super) fn fail(&mut self, why: &str) {
        self.failures = self.failures.saturating_add(1);
        self.failing = Some(why.chars().take(WHY_MAX).collect());
    }
}
