//! Signing a skin: with the approval key, which nobody but the person can open, and which is let go at once.

use crate::Home;
use crate::keys::APPROVAL_FILE;
use keychain::ApprovalKey;
use model::skin::SkinFile;
use wire::{Code, Error};

/// The signed file of a skin, in its canonical bytes.
///
/// # Errors
/// [`Code::Usage`] when it can be none; what the key says, among it a wrong passphrase.
pub fn sign_skin(home: &Home, file: &[u8], passphrase: &[u8]) -> Result<Vec<u8>, Error> {
    let usage = |why: String| Error::new(Code::Usage, why);
    // A signature that does not hold any more gives way to the new one.
    let draft = unsigned(file).map_err(usage)?;
    let signer = ApprovalKey::open(&home.path(APPROVAL_FILE), passphrase)
        .map_err(|e| crate::Error::from(e).to_wire())?;
    let signed = draft.skin.signed_by(&signer).map_err(usage)?;
    signed.to_bytes().map_err(usage)
}

/// The skin in a file, whoever signed it.
fn unsigned(file: &[u8]) -> Result<SkinFile, String> {
    match serde_json::from_slice::<SkinFile>(file) {
        Ok(read) if read.signed.is_some() => {
            let draft = SkinFile { signed: None, ..read };
            SkinFile::read(&draft.to_bytes()?)
        }
        _ => SkinFile::read(file),
    }
}
