//! What is read of one recorded task. Every byte is counted before it is read: a task of whatever size costs a trial no more than that.

use ::successor::limits::{TASK_BYTES_MAX, TASK_EVENT_BYTES_MAX};
use kernel::Kernel;
use model::Digest;
use serde::de::DeserializeOwned;
use std::fmt;
use std::io::Read as _;

/// Why a task cannot be played again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unplayable {
    /// More stands on record of it than is read of one task. `what`: of what there is more; `most`: bytes.
    TooLarge { what: &'static str, most: u64 },
    /// Anything else, in words.
    Other(String),
}

impl fmt::Display for Unplayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { what, most } => {
                write!(f, "{what} more than {most} bytes, and no more is read of one task")
            }
            Self::Other(why) => f.write_str(why),
        }
    }
}

impl From<String> for Unplayable {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl From<&str> for Unplayable {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}

/// Reads what is stored of one task, and counts it.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Bytes of stored content.
    content: u64,
    /// Bytes of events.
    events: u64,
}

impl Reads {
    /// All bytes of stored content.
    pub(super) fn bytes(&mut self, kernel: &Kernel, digest: &Digest) -> Result<Vec<u8>, Unplayable> {
        let mut content = kernel.artifacts().content(digest).map_err(|e| e.to_string())?;
        let size = content.byte_size();
        self.content = counted(self.content, size, TASK_BYTES_MAX, "what it saw and did has")?;
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        content.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }

    /// A stored object.
    pub(super) fn object<T: DeserializeOwned>(
        &mut self,
        kernel: &Kernel,
        digest: &Digest,
    ) -> Result<T, Unplayable> {
        let bytes = self.bytes(kernel, digest)?;
        serde_json::from_slice(&bytes)
            .map_err(|e| Unplayable::Other(format!("a stored object cannot be read: {e}")))
    }

    /// Counts an event that came with a page of the log, before what stands in it is read.
    pub(super) fn event(&mut self, bytes: &[u8]) -> Result<(), Unplayable> {
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.events = counted(self.events, size, TASK_EVENT_BYTES_MAX, "its events have")?;
        Ok(())
    }
}

/// So many bytes more.
fn counted(until_now: u64, more: u64, most: u64, what: &'static str) -> Result<u64, Unplayable> {
    match until_now.saturating_add(more) {
        bytes if bytes > most => Err(Unplayable::TooLarge { what, most }),
        bytes => Ok(bytes),
    }
}

/// A stored object of which nothing is counted: a clone reads its own store, and a host the contract of a task that was drawn.
pub(super) fn object<T: DeserializeOwned>(kernel: &Kernel, digest: &Digest) -> Result<T, String> {
    let bytes = kernel.artifacts().read(digest).map_err(|e| e.to_string())?;
    serde_json::from_slice(&bytes).map_err(|e| format!("a stored object cannot be read: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::World;

    #[test]
    fn what_would_be_one_byte_too_much_is_not_read_and_says_so() {
        let world = World::new(1);
        let kernel = world.kernel();
        let put = |bytes: usize, of: u8| kernel.artifacts().put_file(&vec![of; bytes]).unwrap();
        let most = usize::try_from(TASK_BYTES_MAX).unwrap();
        let (all_but_one, one, two) = (put(most - 1, b'a'), put(1, b'b'), put(2, b'c'));
        let mut reads = Reads::default();
        assert_eq!(reads.bytes(kernel, &all_but_one).map(|bytes| bytes.len()), Ok(most - 1));
        let large = Unplayable::TooLarge { what: "what it saw and did has", most: TASK_BYTES_MAX };
        assert_eq!(reads.bytes(kernel, &two), Err(large.clone()));
        assert_eq!(
            large.to_string(),
            format!(
                "what it saw and did has more than {TASK_BYTES_MAX} bytes, and no more is read of one task"
            )
        );
        // What was not read is not counted.
        assert_eq!(reads.bytes(kernel, &one), Ok(b"b".to_vec()));
        assert_eq!(reads.bytes(kernel, &one), Err(large));
        // What is not there is no matter of size.
        assert!(matches!(reads.bytes(kernel, &Digest::ZERO), Err(Unplayable::Other(_))));
    }

    #[test]
    fn events_are_counted_for_themselves() {
        let mut reads = Reads::default();
        let most = usize::try_from(TASK_EVENT_BYTES_MAX).unwrap();
        assert_eq!(reads.event(&vec![b' '; most]), Ok(()));
        let why = reads.event(b" ").expect_err("it is one byte too much").to_string();
        assert!(why.starts_with(&format!("its events have more than {TASK_EVENT_BYTES_MAX} bytes")), "{why}");
    }
}
