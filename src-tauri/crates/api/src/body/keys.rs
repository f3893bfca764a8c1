//! Public keys in force. Secret halves never come here.

use crate::convert::word;
use crate::{Host, Wire as _, fold, usage};
use model::body::KeyPurpose;
use seal::{PublicKey, sshsig};
use wire::Error;
use wire::keys::{Key, Keys, List, Register};

pub(crate) fn list(host: &dyn Host, _: List) -> Result<Keys, Error> {
    let store = fold::store_state(&host.reader()?)?;
    let open = host.open_keys();
    let keys = store.keys.iter().map(|(purpose, (keyid, key))| Key {
        purpose: purpose.to_string(),
        keyid: keyid.to_string(),
        pem: key.to_pem(),
        ssh_fingerprint: sshsig::fingerprint(key),
        open: open.as_ref().map(|open| open.contains(purpose)),
    });
    Ok(Keys { keys: keys.collect() })
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
    list(host, List {})
}
