//! A stream that ends with an error when more has come through it than was allowed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};

/// A reader with so many bytes left. `spent` says afterwards that it ran out.
pub(crate) struct Metered<R> {
    inner: R,
    left: usize,
    spent: Arc<AtomicBool>,
}

impl<R> Metered<R> {
    pub(crate) fn new(inner: R, left: usize) -> (Self, Arc<AtomicBool>) {
        let spent = Arc::new(AtomicBool::new(false));
        (Self { inner, left, spent: Arc::clone(&spent) }, spent)
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
            match self.left.checked_sub(came) {
                Some(left) => self.left = left,
                None => {
                    self.spent.store(true, Ordering::SeqCst);
                    buffer.set_filled(before);
                    return Poll::Ready(Err(io::Error::other("more came than is read")));
                }
            }
        }
        polled
    }
}
