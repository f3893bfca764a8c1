//! Pipes for which a runtime cannot wait: a thread reads or writes each, and whoever waits in the runtime is woken by it.
//!
//! What is between the two is bounded, so that a server which is not listened to waits at its pipe, as it does elsewhere. A thread
//! that waits at a pipe ends when the server does.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that are between a thread and the runtime at most.
const BYTES_MAX: usize = 64 * 1024;

/// What is between a thread and the runtime.
#[derive(Default)]
struct Between {
    bytes: Vec<u8>,
    /// The thread writes what it took.
    is_busy: bool,
    /// The thread has ended.
    is_over: bool,
    /// Why it did, where it could not go on; told once.
    failed: Option<Error>,
    /// Nobody in the runtime takes or gives any more.
    is_left: bool,
    /// Who waits in the runtime.
    waits: Option<Waker>,
}

#[derive(Default)]
struct Lane {
    between: Mutex<Between>,
    /// The thread waits for this.
    turn: Condvar,
}

impl Lane {
    fn lock(&self) -> MutexGuard<'_, Between> {
        self.between.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits in the thread until it is its turn, or nobody is there for whom it could be.
    fn until(&self, is_its_turn: impl Fn(&Between) -> bool) -> MutexGuard<'_, Between> {
        let waits = |between: &mut Between| !between.is_left && !is_its_turn(between);
        self.turn.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread has ended. What it could not write counts as on its way until then, so that nobody takes it for written.
    fn end(&self, failed: Option<Error>) {
        let mut between = self.lock();
        between.is_over = true;
        between.is_busy = false;
        between.failed = failed;
        wake(between);
    }

    /// The runtime has left.
    fn leave(&self) {
        self.lock().is_left = true;
        self.turn.notify_all();
    }

    fn begin(self: &Arc<Self>, work: impl FnOnce(&Self) -> Option<Error> + Send + 'static) -> Result<()> {
        let lane = Arc::clone(self);
        let work = move || {
            let failed = work(&lane);
            lane.end(failed);
        };
        thread::Builder::new().name("server pipe".to_owned()).spawn(work).map(drop)
    }
}

/// Lets go, and wakes whoever waits in the runtime.
fn wake(mut between: MutexGuard<'_, Between>) {
    let waits = between.waits.take();
    drop(between);
    if let Some(waits) = waits {
        waits.wake();
    }
}

/// What a server writes.
pub(crate) struct Reader(Arc<Lane>);

impl Reader {
    pub(crate) fn of(pipe: impl Read + Send + 'static) -> Result<Self> {
        let lane = Arc::new(Lane::default());
        lane.begin(move |lane| read_all(pipe, lane))?;
        Ok(Self(lane))
    }
}

fn read_all(mut pipe: impl Read, lane: &Lane) -> Option<Error> {
    let mut piece = vec![0; BYTES_MAX];
    loop {
        let read = match pipe.read(&mut piece) {
            Ok(0) => return None,
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Some(error),
        };
        let mut between = lane.until(|between| between.bytes.is_empty());
        if between.is_left {
            return None;
        }
        between.bytes.extend_from_slice(piece.get(..read).unwrap_or_default());
        wake(between);
    }
}

impl AsyncRead for Reader {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let mut between = self.0.lock();
        if !between.bytes.is_empty() {
            let most = between.bytes.len().min(to.remaining());
            to.put_slice(between.bytes.get(..most).unwrap_or_default());
            between.bytes.drain(..most);
            drop(between);
            self.0.turn.notify_all();
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = between.failed.take() {
            return Poll::Ready(Err(error));
        }
        if between.is_over {
            return Poll::Ready(Ok(()));
        }
        between.waits = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// What a server reads.
pub(crate) struct Writer(Arc<Lane>);

impl Writer {
    pub(crate) fn of(pipe: impl Write + Send + 'static) -> Result<Self> {
        let lane = Arc::new(Lane::default());
        lane.begin(move |lane| write_all(pipe, lane))?;
        Ok(Self(lane))
    }

    /// Whether all that was given is written; where it is not, who asks is woken.
    fn poll_written(&self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let mut between = self.0.lock();
        if let Some(error) = between.failed.take() {
            return Poll::Ready(Err(error));
        }
        if between.bytes.is_empty() && !between.is_busy {
            return Poll::Ready(Ok(()));
        }
        if between.is_over {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        between.waits = Some(context.waker().clone());
        Poll::Pending
    }
}

/// Writes until nobody gives anything any more; then the pipe is closed, which the server sees.
fn write_all(mut pipe: impl Write, lane: &Lane) -> Option<Error> {
    loop {
        let mut between = lane.until(|between| !between.bytes.is_empty());
        let piece = std::mem::take(&mut between.bytes);
        if piece.is_empty() {
            return None;
        }
        between.is_busy = true;
        drop(between);
        if let Err(error) = pipe.write_all(&piece).and_then(|()| pipe.flush()) {
            return Some(error);
        }
        let mut between = lane.lock();
        between.is_busy = false;
        wake(between);
    }
}

impl AsyncWrite for Writer {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<Result<usize>> {
        match self.poll_written(context) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
            Poll::Pending => return Poll::Pending,
        }
        let mut between = self.0.lock();
        if between.is_over || between.is_left {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        let most = from.len().min(BYTES_MAX);
        between.bytes.extend_from_slice(from.get(..most).unwrap_or_default());
        drop(between);
        self.0.turn.notify_all();
        Poll::Ready(Ok(most))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        self.poll_written(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let written = self.poll_written(context);
        if written.is_ready() {
            self.0.leave();
        }
        written
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::io::{PipeReader, pipe};
    use std::sync::mpsc::channel;
    use std::time::Duration;
    use tokio::runtime::{Builder, Runtime};

    /// More than a slow machine takes for anything here.
    const GENEROUS: Duration = Duration::from_secs(60);

    fn runtime() -> Runtime {
        Builder::new_current_thread().build().unwrap()
    }

    /// What comes next, at most so many bytes; nothing at the end.
    async fn next(reader: &mut Reader, most: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; most];
        let mut to = ReadBuf::new(&mut bytes);
        poll_fn(|context| Pin::new(&mut *reader).poll_read(context, &mut to)).await?;
        Ok(to.filled().to_vec())
    }

    async fn give(writer: &mut Writer, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let written = poll_fn(|context| Pin::new(&mut *writer).poll_write(context, bytes)).await?;
            bytes = &bytes[written..];
        }
        poll_fn(|context| Pin::new(&mut *writer).poll_flush(context)).await
    }

    /// All that is written to a pipe, by a thread of its own.
    fn heard(mut from: PipeReader) -> std::sync::mpsc::Receiver<Vec<u8>> {
        let (send, heard) = channel();
        thread::spawn(move || {
            let mut all = Vec::new();
            from.read_to_end(&mut all).unwrap();
            send.send(all)
        });
        heard
    }

    #[test]
    fn what_comes_by_a_pipe_is_read_in_order_and_its_end_is_seen() {
        let (from, mut to) = pipe().unwrap();
        let all: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let sent = all.clone();
        thread::spawn(move || to.write_all(&sent));
        let mut reader = Reader::of(from).unwrap();
        let read = runtime().block_on(async {
            let mut read = Vec::new();
            loop {
                let piece = next(&mut reader, 1000).await.unwrap();
                if piece.is_empty() {
                    return read;
                }
                read.extend(piece);
            }
        });
        assert!(read == all, "{} bytes of {}", read.len(), all.len());
    }

    /// What is not read waits in the pipe: nothing else bounds what a server could fill the memory with.
    #[test]
    fn what_nobody_reads_waits_at_the_server() {
        let (from, mut to) = pipe().unwrap();
        let (send, written) = channel();
        thread::spawn(move || {
            // Far more than a pipe and the two pieces between it and whoever reads.
            for _ in 0..64 {
                if to.write_all(&[7; BYTES_MAX]).is_err() || send.send(()).is_err() {
                    return;
                }
            }
        });
        let mut reader = Reader::of(from).unwrap();
        let first = runtime().block_on(next(&mut reader, 10)).unwrap();
        assert_eq!(first, [7; 10]);
        // Not all of it can be taken however long one waits; a moment shows it.
        let taken = std::iter::from_fn(|| written.recv_timeout(Duration::from_millis(200)).ok()).count();
        assert!(taken < 32, "{taken} pieces were taken, and nobody has read one");
        drop(reader);
    }

    #[test]
    fn what_is_given_is_written_in_order_and_the_pipe_is_closed_when_the_writer_goes() {
        let (from, to) = pipe().unwrap();
        let heard = heard(from);
        let all: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut writer = Writer::of(to).unwrap();
        runtime().block_on(give(&mut writer, &all)).unwrap();
        drop(writer);
        assert!(heard.recv_timeout(GENEROUS).unwrap() == all);
    }

    #[test]
    fn a_shutdown_writes_what_was_given_and_closes_the_pipe() {
        let (from, to) = pipe().unwrap();
        let heard = heard(from);
        let mut writer = Writer::of(to).unwrap();
        runtime().block_on(async {
            give(&mut writer, b"last").await.unwrap();
            poll_fn(|context| Pin::new(&mut writer).poll_shutdown(context)).await.unwrap();
            assert!(give(&mut writer, b"more").await.is_err(), "nothing is taken behind the end");
        });
        assert_eq!(heard.recv_timeout(GENEROUS).unwrap(), b"last");
    }

    #[test]
    fn a_server_that_reads_no_more_is_told_to_whoever_writes() {
        let (from, to) = pipe().unwrap();
        drop(from);
        let mut writer = Writer::of(to).unwrap();
        let told = runtime().block_on(give(&mut writer, b"nobody is there"));
        assert_eq!(told.unwrap_err().kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn what_a_pipe_failed_with_is_told_behind_what_came_before() {
        struct Breaks(bool);
        impl Read for Breaks {
            fn read(&mut self, to: &mut [u8]) -> Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(Error::other("it broke"));
                }
                to[..3].copy_from_slice(b"one");
                Ok(3)
            }
        }
        let mut reader = Reader::of(Breaks(false)).unwrap();
        runtime().block_on(async {
            assert_eq!(next(&mut reader, 10).await.unwrap(), b"one");
            assert_eq!(next(&mut reader, 10).await.unwrap_err().to_string(), "it broke");
            assert_eq!(next(&mut reader, 10).await.unwrap(), b"", "it is told once, and then it is over");
        });
    }
}
