//! What a host is to others: where it is reached, and the run stream that it keeps for them.

use super::Local;
use crate::mirroring::Mirroring;
use kernel::Kernel;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};

impl Local {
    /// Keeps the run stream from now on. Where it cannot be had everything else works, and the log says why.
    pub(super) fn mirror(&self, kernel: &Arc<Kernel>) {
        let mut mirroring = self.mirroring.lock().unwrap_or_else(PoisonError::into_inner);
        if mirroring.is_some() {
            return;
        }
        match Mirroring::begin(Arc::clone(kernel)) {
            Ok(begun) => {
                self.notices.feed(Some(begun.feed()));
                *mirroring = Some(Arc::new(begun));
            }
            Err(error) => tracing::warn!(%error, "there is no run stream"),
        }
    }

    /// Where others attach, while they can.
    pub fn address(&self) -> Option<SocketAddr> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(gateway::Server::address)
    }

    /// A link for a browser, which works once; none when nobody is served.
    pub fn link(&self) -> Option<String> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|server| server.link().url)
    }

    /// Writes what the run stream still lacks, and closes it.
    pub(super) fn end_stream(&self) {
        self.notices.feed(None);
        let mirroring = self.mirroring.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mirroring) = mirroring {
            mirroring.end();
        }
    }
}
