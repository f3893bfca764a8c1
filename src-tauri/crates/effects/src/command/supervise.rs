//! Listening to a command, and ending it for certain.

use super::capture::Capture;
use super::process_limits::{Bounds, ProcessUse};
use crate::system::process_group;
use crate::{Error, Progress};
use redact::Stream;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How often a running command's end, its time and a cancellation are looked at while it prints nothing.
const LOOK: Duration = Duration::from_millis(10);
/// How long the pipes of an ended command may stay open: longer means a survivor holds them.
const DRAIN: Duration = Duration::from_secs(2);

/// Ends the whole group, and with it the namespace where there is one, and waits for the first process.
pub(crate) fn end_all(child: &mut Child) {
    process_group::end(child);
    let _ = child.kill();
    let _ = child.wait();
}

enum Heard {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
}

/// Status, why it was ended before its own end, what it printed.
pub(crate) type End = (Option<ExitStatus>, Option<String>, Capture, Capture);

/// Hears what a command prints, into memory and transcript.
pub(crate) struct Listener {
    stdout: Capture,
    stderr: Capture,
    stdout_file: File,
    stderr_file: File,
    /// One for each of the two: what a value needs may lie in two pieces.
    streams: [Stream; 2],
}

impl Listener {
    pub(crate) fn new(folder: &Path, redactor: &redact::Shared) -> Result<Self, Error> {
        let create = |name: &str| {
            File::create_new(folder.join(name))
                .map_err(|source| Error::Spool { doing: "creating a transcript", source })
        };
        Ok(Self {
            stdout: Capture::default(),
            stderr: Capture::default(),
            stdout_file: create("stdout")?,
            stderr_file: create("stderr")?,
            streams: [Stream::new(redactor.now()), Stream::new(redactor.now())],
        })
    }

    /// Listens until the command has ended, by itself, by time or by cancellation.
    pub(crate) fn listen(
        mut self,
        child: &mut Child,
        timeout: Duration,
        bounds: Bounds,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<End, Error> {
        let mut crowd = ProcessUse::of(child.id(), bounds);
        let (send, heard) = sync_channel(64);
        if let Some(pipe) = child.stdout.take() {
            forward(pipe, send.clone(), Heard::Stdout);
        }
        if let Some(pipe) = child.stderr.take() {
            forward(pipe, send.clone(), Heard::Stderr);
        }
        drop(send);
        let ended_by = self.until_end(child, &heard, timeout, &mut crowd, cancelled, progress)?;
        let status = child.wait().ok();
        self.finish().map_err(|source| Error::Spool { doing: "writing a transcript", source })?;
        Ok((status, ended_by, self.stdout, self.stderr))
    }

    /// Hears everything until both pipes are closed; why it was ended before its own end, if it was.
    fn until_end(
        &mut self,
        child: &mut Child,
        heard: &Receiver<Heard>,
        timeout: Duration,
        crowd: &mut ProcessUse,
        cancelled: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Option<String>, Error> {
        let begin = Instant::now();
        let mut ended: Option<Instant> = None;
        let mut ended_by = None;
        loop {
            match heard.recv_timeout(LOOK) {
                Ok(piece) => {
                    let piece = self.clean(piece);
                    self.take(&piece)
                        .map_err(|source| Error::Spool { doing: "writing a transcript", source })?;
                    progress(match &piece {
                        Heard::Stdout(bytes) => Progress::Stdout(bytes),
                        Heard::Stderr(bytes) => Progress::Stderr(bytes),
                    });
                }
                Err(RecvTimeoutError::Timeout) => progress(Progress::AtWork),
                // Both pipes are closed; the command may still be at work without them.
                Err(RecvTimeoutError::Disconnected) if ended.is_some() => return Ok(ended_by),
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(1)),
            }
            if let Some(at) = ended {
                if at.elapsed() > DRAIN {
                    return Ok(ended_by);
                }
                continue;
            }
            if process_group::has_ended(child) {
                ended = Some(Instant::now());
                // Whoever it left behind in its group ends with it.
                end_all(child);
            } else if begin.elapsed() >= timeout || cancelled() {
                let by = if begin.elapsed() >= timeout {
                    format!("it ran longer than {} and was ended", model::lasting(timeout))
                } else {
                    "it was cancelled and ended".to_owned()
                };
                ended_by = Some(by);
                ended = Some(Instant::now());
                end_all(child);
            } else if let Some(by) = crowd.too_large() {
                ended_by = Some(by);
                ended = Some(Instant::now());
                end_all(child);
            }
        }
    }

    /// What may be kept and shown of a piece: what could be the beginning of a secret waits for the next one.
    fn clean(&mut self, piece: Heard) -> Heard {
        let [stdout, stderr] = &mut self.streams;
        match piece {
            Heard::Stdout(bytes) => Heard::Stdout(stdout.push(&bytes)),
            Heard::Stderr(bytes) => Heard::Stderr(stderr.push(&bytes)),
        }
    }

    fn take(&mut self, piece: &Heard) -> std::io::Result<()> {
        match piece {
            Heard::Stdout(bytes) => self.stdout_file.write_all(self.stdout.take(bytes)),
            Heard::Stderr(bytes) => self.stderr_file.write_all(self.stderr.take(bytes)),
        }
    }

    fn finish(&mut self) -> std::io::Result<()> {
        let [stdout, stderr] = self.streams.each_mut().map(Stream::end);
        self.take(&Heard::Stdout(stdout))?;
        self.take(&Heard::Stderr(stderr))?;
        self.stdout_file.write_all(&self.stdout.rest())?;
        self.stderr_file.write_all(&self.stderr.rest())?;
        for (file, capture) in [(&self.stdout_file, &self.stdout), (&self.stderr_file, &self.stderr)] {
            if capture.total() > 0 {
                file.sync_all()?;
            }
        }
        Ok(())
    }
}

fn forward(mut pipe: impl Read + Send + 'static, send: SyncSender<Heard>, as_heard: fn(Vec<u8>) -> Heard) {
    std::thread::spawn(move || {
        let mut buffer = vec![0u8; 64 * 1024];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => {
                    let bytes = buffer.get(..n).unwrap_or(&[]).to_vec();
                    if send.send(as_heard(bytes)).is_err() {
                        return;
                    }
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    });
}
