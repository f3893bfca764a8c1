//! Hermit's tools inside the walls of a guest: a socket of its own, by which it asks for what its view does not give. Who
//! serves them is lent, as the protocol and the store are other rooms'.

use crate::system::local_sockets::{self, LocalListener};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the socket is inside.
pub(crate) const INSIDE: &str = "/run/hermit/mcp";
/// Where the socket is inside by which a guest's turn is called off.
pub(crate) const CORD_INSIDE: &str = "/run/hermit/cord";
/// How long a turn that was called off may take to end by itself.
const GRACE: Duration = Duration::from_secs(3);
/// What a guest starts to speak to it over standard input and output.
pub(crate) const COMMAND: &str = "/run/hermit/exec --mcp";

/// Whoever serves Hermit's tools to a guest.
pub trait GuestDoor: Send + Sync {
    /// Serves whoever connects, for a guest that works on a copy of this folder; none where there is nobody to serve them.
    ///
    /// # Errors
    /// In words, when they cannot be served now.
    fn serve(&self, listener: LocalListener, root: &Path) -> Result<Option<Box<dyn OpenDoor>>, String>;
}

/// Tools that are served to one guest.
pub trait OpenDoor {
    /// Ends every connection, before the next one is taken; what was asked for, in words for the receipt.
    fn end(&self) -> Vec<String>;
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoGuestDoor;

impl GuestDoor for NoGuestDoor {
    fn serve(&self, _: LocalListener, _: &Path) -> Result<Option<Box<dyn OpenDoor>>, String> {
        Ok(None)
    }
}

/// The socket of one guest, while it works.
pub(super) struct Door {
    open: Box<dyn OpenDoor>,
    /// A second way to the socket, short enough to connect to.
    folder: File,
}

impl Door {
    /// Opens one in `folder`, which is the guest's own.
    pub(super) fn open(
        by: &dyn GuestDoor,
        folder: &Path,
        root: &Path,
    ) -> io::Result<Result<Option<(Self, PathBuf)>, String>> {
        let opened = File::open(folder)?;
        let listener = local_sockets::bind(&opened, "mcp")?;
        let open = by.serve(listener, root);
        Ok(open.map(|open| open.map(|open| (Self { open, folder: opened }, folder.join("mcp")))))
    }

    /// What was asked for, in words.
    pub(super) fn close(self) -> Vec<String> {
        self.open.end()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // Once told already, it tells nothing more.
        drop(self.open.end());
        // Whoever waits for the next connection gets one, sees that it is over, and ends.
        drop(local_sockets::connect(&self.folder, "mcp"));
    }
}

/// Connections to a cord that are ended.
const CONNECTED_MAX: usize = 16;

/// What calls off the turn of a guest that is spoken to, before its program is ended.
pub(super) struct Cord {
    listener: LocalListener,
    pulled: Cell<Option<Instant>>,
}

impl Cord {
    /// Lays one in `folder`, which is the guest's own.
    pub(super) fn lay(folder: &Path) -> io::Result<(Self, PathBuf)> {
        let listener = local_sockets::bind(&File::open(folder)?, "cord")?;
        listener.set_nonblocking(true)?;
        Ok((Self { listener, pulled: Cell::new(None) }, folder.join("cord")))
    }

    /// Calls the turn off; whether it has had its time to end by itself.
    pub(super) fn pull(&self) -> bool {
        if self.pulled.get().is_none() {
            self.pulled.set(Some(Instant::now()));
            // Whoever holds the other end reads its end. The client was the first to connect; one who goes on connecting
            // keeps nobody here.
            for _ in 0..CONNECTED_MAX {
                let Ok((stream, _)) = self.listener.accept() else { break };
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        self.pulled.get().is_none_or(|since| since.elapsed() > GRACE)
    }
}
