//! Public keys in force. Secret halves never come here.

use crate::convert::{text, word};
use crate::{Host, Wire as _, fold, usage};
use kernel::keyring::KeyRecord;
use model::body::KeyPurpose;
use seal::note::VerifierKey;
use seal::{PublicKey, sshsig};
use wire::Error;
use wire::keys::{Key, Keys, List, Register};
use words::store::KeyStatus;

pub(crate) fn list(host: &dyn Host, p: List) -> Result<Keys, Error> {
    let reader = host.reader()?;
    let history = fold::key_history(&reader)?;
    let open = host.open_keys();
    let shown = |record: &&KeyRecord| p.all || record.until.is_none();
    let mut records: Vec<&KeyRecord> = history.records.iter().filter(shown).collect();
    // Those in force first, each purpose in its fixed order; then what they followed, the latest first.
    records.sort_by_key(|r| (r.until.is_some(), std::cmp::Reverse(r.until), r.purpose));
    Ok(Keys {
        keys: records.into_iter().map(|record| key(record, open.as_deref(), reader.log_id())).collect(),
    })
}

fn key(record: &KeyRecord, open: Option<&[KeyPurpose]>, log_id: &str) -> Key {
    let status = match (&record.revoked, record.until) {
        (Some(_), _) => KeyStatus::Revoked,
        (None, Some(_)) => KeyStatus::Followed,
        (None, None) => KeyStatus::InForce,
    };
    let origin = format!("hermit.local/{log_id}");
    let vkey =
        VerifierKey::new(&origin, record.public_key).ok().filter(|_| record.purpose == KeyPurpose::Log);
    Key {
        purpose: record.purpose,
        keyid: record.keyid.to_string(),
        pem: record.public_key.to_pem(),
        ssh_fingerprint: sshsig::fingerprint(&record.public_key),
        open: open.map(|open| record.until.is_none() && open.contains(&record.purpose)),
        status,
        since: record.since.0,
        until: record.until.map(|at| at.0),
        revoked_at: record.revoked.as_ref().map(|(at, _)| at.0),
        revoked_because: record.revoked.as_ref().map(|(_, why)| text(why)),
        vkey: vkey.map(|key| key.to_string()),
    }
}

pub(crate) fn register(host: &dyn Host, p: Register) -> Result<Keys, Error> {
    let kernel = host.kernel()?;
    let read = |key: &wire::keys::NewKey| -> Result<(KeyPurpose, PublicKey), Error> {
        let public = PublicKey::from_pem(&key.pem);
        Ok((
            word(&key.purpose)?,
            public.map_err(|e| usage(format!("the {} key cannot be read: {e}", key.purpose)))?,
        ))
    };
    let keys = p.keys.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    kernel.register_keys(&keys, &p.kept_in).wire()?;
    list(host, List::default())
}
