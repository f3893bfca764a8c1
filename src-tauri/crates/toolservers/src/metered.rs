//! A stream that ends with an error when more has come through it than was allowed since it was last allowed anything.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};

/// How many bytes may still come.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    left: AtomicUsize,
    spent: AtomicBool,
}

impl Allowance {
    /// So many bytes may come from now on.
    pub(crate) fn renew(&self, bytes: usize) {
        self.left.store(bytes, Ordering::SeqCst);
    }

    /// Whether more came.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.load(Ordering::SeqCst)
    }
}

/// A reader with an allowance.
pub(crate) struct Metered<R> {
    inner: R,
    allowance: Arc<Allowance>,
}

impl<R> Metered<R> {
    pub(crate) const fn new(inner: R, allowance: Arc<Allowance>) -> Self {
        Self { inner, allowance }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = polled {
            let came = buffer.filled().len().saturating_sub(before);
            match self.allowance.left.load(Ordering::SeqCst).checked_sub(came) {
                Some(left) => self.allowance.left.store(left, Ordering::SeqCst),
                None => {
                    self.allowance.spent.store(true, Ordering::SeqCst);
                    buffer.set_filled(before);
                    return Poll::Ready(Err(io::Error::other("more came than is read")));
                }
            }
        }
        polled
    }
}
