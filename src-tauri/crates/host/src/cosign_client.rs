//! Asking witnesses to cosign the newest head, and which of them are asked for: `witness.policy` in the store's folder,
//! in the form of c2sp.org/tlog-policy.

use crate::{Error, Home, Local, Outbound};
use ledger::{CheckpointKind, Reader};
use reasoning::port::{Head, ModelHttp as _};
use seal::cosignature::{AddCheckpoint, Policy, WitnessKey, add_lines};
use seal::note::Note;

const POLICY_FILE: &str = "witness.policy";
/// A witness that does not answer within this time is left out.
const PATIENCE_MS: u64 = 5_000;
/// Bytes of an answer: a few lines.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// What a witness said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Its name in the policy.
    pub name: String,
    /// When it cosigned, in seconds since 1970, or why it did not.
    pub outcome: Result<u64, String>,
}

/// The witnesses of a store; none when nobody named any.
///
/// # Errors
/// [`Error::Config`] when the file cannot be used.
pub fn policy(home: &Home) -> Result<Option<Policy>, Error> {
    let path = home.path(POLICY_FILE);
    match std::fs::read_to_string(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io("read", &path, &e)),
        Ok(text) => Policy::parse(&text)
            .map(Some)
            .map_err(|e| Error::Config { path: path.display().to_string(), why: e.to_string() }),
    }
}

/// Adds a witness, or gives a known one another address; `quorum` of all of them are asked for, all when it is not said.
///
/// # Errors
/// [`Error::Config`], [`Error::Io`].
pub fn add_witness(home: &Home, key: &WitnessKey, url: &str, quorum: Option<usize>) -> Result<Policy, Error> {
    let mut witnesses = policy(home)?.unwrap_or_default().witnesses;
    witnesses.retain(|(_, known, _)| known.key() != key.key());
    witnesses.push((key.name().to_owned(), key.clone(), Some(url.trim_end_matches('/').to_owned())));
    let threshold = quorum.unwrap_or(witnesses.len());
    let made = Policy::of(witnesses, threshold);
    let path = home.path(POLICY_FILE);
    let text = made.to_text("");
    Policy::parse(&text)
        .map_err(|e| Error::Config { path: path.display().to_string(), why: e.to_string() })?;
    disk::replace(&path, text.as_bytes()).map_err(|e| Error::io("write", &path, &e))?;
    Ok(made)
}

impl Local {
    /// Shows the newest head to every witness of the policy, and keeps what they sign as events.
    ///
    /// # Errors
    /// When the store or the policy cannot be read; what a single witness did not do is in its answer.
    pub fn ask_witnesses(&self) -> Result<Vec<Asked>, Error> {
        let kernel = self.owned_kernel()?;
        let Some(policy) = policy(self.home())? else { return Ok(Vec::new()) };
        let of = |e: ledger::Error| Error::Kernel(e.into());
        let newest = kernel.reader().last_checkpoint(CheckpointKind::Global, None).map_err(of)?;
        let Some(newest) = newest else { return Ok(Vec::new()) };
        let before = kernel.cosignatures()?;
        let mut asked = Vec::new();
        for (name, key, url) in &policy.witnesses {
            let spelled = key.to_string();
            let of_key = || before.iter().filter(|c| c.witness == spelled && c.origin == newest.origin);
            if of_key().any(|c| (c.size, c.root) == (newest.size, newest.root)) {
                continue;
            }
            let last = of_key().map(|c| c.size).max().unwrap_or(0);
            let Some(url) = url else { continue };
            let outcome = self.ask(kernel.reader(), key, url, &newest, last);
            let outcome = match outcome {
                Ok((line, time)) => {
                    kernel.keep_cosignature(&newest.origin, newest.size, newest.root, &spelled, &line)?;
                    Ok(time)
                }
                Err(why) => Err(why),
            };
            asked.push(Asked { name: name.clone(), outcome });
        }
        Ok(asked)
    }

    /// One witness: from the size it was at last, or from the one it says it is at.
    fn ask(
        &self,
        reader: &Reader,
        key: &WitnessKey,
        url: &str,
        newest: &ledger::Checkpoint,
        last: u64,
    ) -> Result<(String, u64), String> {
        let mut old_size = last;
        // Once as we believe it stands, and once as it says it does.
        for _ in 0..2 {
            let proof = reader.global_consistency(old_size, newest.size).map_err(|e| e.to_string())?;
            let request = AddCheckpoint { old_size, proof, note: newest.note.clone() };
            let (status, body) = self.post(&format!("{url}/add-checkpoint"), &request.to_bytes())?;
            match status {
                200 => return cosigned(key, &newest.note, &body),
                409 => {
                    let size: u64 = body.trim().parse().map_err(|_| "it answers with no size".to_owned())?;
                    if size > newest.size {
                        return Err(format!(
                            "it has seen {size} notes of this log, and {} are here: this store is older",
                            newest.size
                        ));
                    }
                    if size == old_size {
                        return Err(format!(
                            "it has seen another history of {size} notes: this log was rewritten"
                        ));
                    }
                    old_size = size;
                }
                404 => {
                    return Err(
                        "it does not know this log; give it the log's key (`hermit keys list`)".to_owned()
                    );
                }
                422 => return Err("it has seen another history: this log was rewritten".to_owned()),
                other => return Err(format!("it says {other}: {}", body.trim())),
            }
        }
        Err("it changed its mind about what it saw".to_owned())
    }

    fn post(&self, url: &str, body: &[u8]) -> Result<(u16, String), String> {
        let outbound = Outbound::new(self.config(), self.keys().secrets(), self.secrets().clone());
        let mut answer = Vec::new();
        let reply = outbound.post(url, &Head::default(), body, PATIENCE_MS, &mut |piece| {
            answer.extend_from_slice(piece);
            answer.len() <= ANSWER_BYTES_MAX
        });
        let reply = reply.map_err(|e| e.to_string())?;
        answer.extend_from_slice(&reply.body);
        Ok((reply.status, String::from_utf8_lossy(&answer).into_owned()))
    }
}

/// The line by this witness in an answer; lines of keys nobody named are ignored.
fn cosigned(key: &WitnessKey, note: &[u8], body: &str) -> Result<(String, u64), String> {
    for line in body.lines().filter(|line| !line.is_empty()) {
        let Ok(both) = add_lines(note, &[line.to_owned()]) else { continue };
        let both = Note::parse(&both).map_err(|e| e.to_string())?;
        if let Some(time) = key.cosigned(&both).map_err(|e| e.to_string())? {
            return Ok((line.to_owned(), time));
        }
    }
    Err("it did not sign with the key that was named".to_owned())
}
