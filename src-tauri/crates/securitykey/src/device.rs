//! What carries reports to a key and back.

use std::io;
use std::time::Duration;

/// Bytes of a report.
pub const REPORT: usize = 64;

/// A way to one security key: reports of 64 bytes, in order.
pub trait Device: Send {
    /// Sends a report.
    ///
    /// # Errors
    /// When the key is gone.
    fn write(&mut self, report: &[u8; REPORT]) -> io::Result<()>;

    /// The next report, when one comes within this time.
    ///
    /// # Errors
    /// When the key is gone.
    fn read(&mut self, patience: Duration) -> io::Result<Option<[u8; REPORT]>>;
}
