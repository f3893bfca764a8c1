//! A model that was made here, taken among those in the box.

use super::files::{Files, Kept};
use crate::{Error, Home};
use reasoning::model_box;
use std::fs::File;
use std::path::Path;
use wire::Code;

/// Whether weights can have this name.
///
/// # Errors
/// [`Error::Said`] with what a name may be.
pub(crate) fn may_be_named(name: &str) -> Result<(), Error> {
    if model_box::is_name(name) {
        return Ok(());
    }
    let message = format!("`{name}` is no name of a model in the box");
    Err(Error::Said(wire::Error::new(Code::Usage, message).hint("use a-z, 0-9, `-`, `_` and `.`")))
}

/// Whether a file that was made here can be taken among the models in the box: its bytes.
///
/// # Errors
/// [`Error::Said`] for another digest, and a name that other weights have; [`Error::Io`].
pub(crate) fn may_take_in(home: &Home, kept: &Kept, made: &Path) -> Result<u64, Error> {
    may_be_named(&kept.name)?;
    Files::of(home).may_name(&kept.name, &kept.sha256)?;
    let read = File::open(made).and_then(disk::digest);
    let (found, bytes) = read.map_err(|e| Error::io("read", made, &e))?;
    if found.to_string() != kept.sha256 {
        let message = format!("`{}` has other bytes than were said: its SHA-256 is {found}", made.display());
        return Err(Error::Said(wire::Error::new(Code::Damaged, message).hint("export it again")));
    }
    Ok(bytes)
}

/// Takes a file that was made here among the models in the box, once its digest is right.
///
/// # Errors
/// As [`may_take_in`].
pub(crate) fn take_in(home: &Home, kept: Kept, made: &Path) -> Result<Kept, Error> {
    let bytes = may_take_in(home, &kept, made)?;
    let files = Files::of(home);
    std::fs::create_dir_all(files.folder()).map_err(|e| Error::io("make", files.folder(), &e))?;
    let weights = files.weights(&kept.sha256);
    disk::rename(made, &weights).map_err(|e| Error::io("move", &weights, &e))?;
    let kept = Kept { bytes, ..kept };
    files.name(&kept)?;
    Ok(kept)
}

/// The digest of the weights that an address of a model in the box means.
pub(crate) fn weights_of(home: &Home, address: &str) -> Option<String> {
    let model = address.strip_prefix(model_box::URL)?;
    let (name, digest) = model_box::named(model).ok()?;
    Files::of(home).meant(name, digest).ok().map(|kept| kept.sha256)
}
