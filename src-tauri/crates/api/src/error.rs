//! Errors of other rooms as the one shape of the wire. Here, and nowhere else.

use serde_json::json;
use wire::{Code, Error};

/// This process only reads, and the command writes.
pub fn no_host() -> Error {
    Error::new(Code::NoHost, "this needs the process that holds the store, and this one only reads")
        .hint("start one with `hermit serve`, or let the command open the store itself")
}

/// There is no store.
pub fn no_store(dir: &str) -> Error {
    if let Some(what) = crate::files::broken_off(std::path::Path::new(dir)) {
        return Error::new(
            Code::NoStore,
            format!("`{dir}` holds a {what} that was broken off, and no store"),
        )
        .hint(format!("run `hermit {what}` again: it replaces what was begun there"));
    }
    Error::new(Code::NoStore, format!("there is no store in `{dir}`"))
        .hint("make one with `hermit start` or `hermit keys init`")
}

/// What was given cannot be used.
pub fn usage(message: impl Into<String>) -> Error {
    Error::new(Code::Usage, message)
}

/// Something went wrong that nobody branches on.
pub fn failed(message: impl ToString) -> Error {
    Error::new(Code::Failed, message.to_string())
}

/// Nothing of that name.
pub fn not_found(kind: &str, id: &str) -> Error {
    Error::new(Code::NotFound, format!("there is no {kind} `{id}` in this store"))
        .hint("list them to see what there is")
}

/// What a room said, as the wire says it.
pub trait Wire<T> {
    /// The same with the wire's error.
    ///
    /// # Errors
    /// The wire's error.
    fn wire(self) -> Result<T, Error>;
}

macro_rules! wired {
    ($($ty:ty => $convert:expr;)+) => { $(
        impl<T> Wire<T> for Result<T, $ty> {
            fn wire(self) -> Result<T, Error> { self.map_err($convert) }
        }
    )+ };
}

wired! {
    kernel::Error => of_kernel;
    ledger::Error => of_ledger;
    projections::Error => of_projections;
    artifacts::Error => of_artifacts;
    proof::Error => of_proof;
    model::Error => |e| usage(e.to_string());
    seal::Error => failed;
}

/// An error of the kernel.
pub fn of_kernel(error: kernel::Error) -> Error {
    use kernel::Error as E;
    let message = error.to_string();
    match error {
        E::Refused(refusal) => Error::new(Code::Refused, message).details(json!({ "code": refusal.code })),
        E::NotFound { kind, id } => not_found(kind, &id),
        E::Input(_) | E::Model(_) => Error::new(Code::Usage, message),
        E::Secret(_) => Error::new(Code::Refused, message).details(json!({ "code": "holds_secret" })),
        E::Conflict(_) => Error::new(Code::Conflict, message),
        E::Halted => Error::new(Code::Halted, "Hermit is halted and executes nothing")
            .hint("run `hermit boot` to let it work again"),
        E::KeyLocked(key) => Error::new(Code::KeyLocked, format!("the {key} key is locked or missing"))
            .hint("`hermit unlock` opens the keys of this store; where there are none, `hermit keys init` makes them")
            .details(json!({ "key": key })),
        E::Ledger(error) => of_ledger(error),
        E::Artifacts(error) => of_artifacts(error),
        E::Effects(_) | E::Reasoning(_) => Error::new(Code::Unavailable, message),
        E::HaltUnrecorded(why) if matches!(*why, E::Ledger(ledger::Error::ReadOnly { .. })) => {
            Error::new(Code::Failed, message)
                .hint("nothing executes now; end this process and run `hermit halt`, so that it outlasts it")
        }
        E::HaltUnrecorded(_) => Error::new(Code::Failed, message)
            .hint("nothing executes now; free some space and run `hermit halt` again, so that it outlasts this process"),
        E::Gate(_) | E::Seal(_) => Error::new(Code::Failed, message),
        E::Broken(_) => damaged(message),
        E::Severed { .. } => {
            Error::new(Code::Conflict, message).hint("`hermit ledger severed` shows what is left of it")
        }
    }
}

/// A chain that does not fit: it is read and not written until a person has looked.
fn damaged(message: String) -> Error {
    Error::new(Code::Damaged, message).hint(
        "everything can still be read; `hermit ledger verify` says where it is broken, and `hermit ledger reanchor` continues in spite of it",
    )
}

/// An error of the ledger.
pub fn of_ledger(error: ledger::Error) -> Error {
    use ledger::Error as E;
    let message = error.to_string();
    match error {
        E::Held { pid, since, address } => {
            Error::new(Code::Held, format!("the store is in use by process {pid}"))
                .hint("attach to it, or end it first")
                .details(json!({ "pid": pid, "since": since.0, "address": address }))
        }
        E::HeldElsewhere { since, path } => Error::new(Code::Held, message)
            .hint(format!("end Hermit there; if that machine is off for good, delete `{path}`"))
            .details(json!({ "since": since.0 })),
        E::Moved { .. } | E::Grown { .. } | E::GateMoved { .. } | E::Duplicate { .. } => {
            Error::new(Code::Conflict, message)
        }
        E::GrantSpent { .. } => Error::new(Code::Refused, message).details(json!({ "code": "grant_spent" })),
        E::NewerSchema { .. } => Error::new(Code::NewerVersion, message),
        E::Corrupt { .. } => damaged(message),
        E::Changed { own: true, .. } => Error::new(Code::Damaged, message)
            .hint("nothing was written and no yes was taken; put a backup of this store in its place, and find out who could write here. `hermit ledger reanchor` continues with it as it is, when you know why it changed")
            .details(json!({ "code": "changed" })),
        E::Changed { .. } => damaged(message).details(json!({ "code": "changed" })),
        E::NoStore { dir } => no_store(&dir),
        E::Full => Error::new(Code::DiskFull, message),
        E::Cancelled => Error::new(Code::Cancelled, message),
        E::Invalid { .. } => Error::new(Code::Usage, message),
        E::Io { .. } => Error::new(Code::Failed, message)
            .hint("see that the store's folder is yours and its disk is not full or read-only"),
        _ => Error::new(Code::Failed, message),
    }
}

/// An error of the views.
pub fn of_projections(error: projections::Error) -> Error {
    use projections::Error as E;
    let message = error.to_string();
    match error {
        E::Ledger(error) => of_ledger(error),
        E::Asked { .. } => Error::new(Code::Usage, message),
        E::Cancelled => Error::new(Code::Cancelled, message),
        E::Version { found, needed } if found > needed => Error::new(Code::NewerVersion, message),
        E::Row { .. } => Error::new(Code::Failed, message).hint("run `hermit ledger rebuild`"),
        E::Version { .. } | E::Event { .. } | E::Database(_) => Error::new(Code::Failed, message),
    }
}

/// Bytes that may be gone: none where they are no longer kept.
///
/// # Errors
/// Bytes that are there and cannot be read.
pub(crate) fn if_kept(read: Result<Vec<u8>, artifacts::Error>) -> Result<Option<Vec<u8>>, Error> {
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(artifacts::Error::Missing { .. }) => Ok(None),
        Err(error) => Err(of_artifacts(error)),
    }
}

/// An error of the content store.
pub fn of_artifacts(error: artifacts::Error) -> Error {
    use artifacts::Error as E;
    let message = error.to_string();
    match error {
        E::Missing { .. } => Error::new(Code::NotFound, message),
        E::Corrupt { .. } => Error::new(Code::Damaged, message),
        E::TooLarge { .. } => Error::new(Code::TooLarge, message),
        E::Full => Error::new(Code::DiskFull, message),
        E::Source { .. } => Error::new(Code::Usage, message),
        _ => Error::new(Code::Failed, message),
    }
}

/// An error of proofs.
pub fn of_proof(error: proof::Error) -> Error {
    use proof::Error as E;
    let message = error.to_string();
    match error {
        E::Unknown { what, id } => not_found(what, &id),
        E::Exists { .. } => Error::new(Code::Conflict, message),
        E::Trust { .. } | E::Redact { .. } | E::Since { .. } | E::Given { .. } => {
            Error::new(Code::Usage, message)
        }
        E::TooLarge { .. } => Error::new(Code::TooLarge, message),
        E::Inconsistent { .. } => Error::new(Code::Damaged, message),
        _ => Error::new(Code::Failed, message),
    }
}
