//! Acts that last: while one is under way, what it reports is on record, at most so often and so many times.
//!
//! What is recorded settles nothing. An act that is interrupted is settled by looking, as any other; a checkpoint only
//! tells whoever proposes next from where a new act could go on.

use super::sampled::Asker;
use super::saying::Saying;
use crate::Error;
use crate::kernel::{Cell, Kernel};
use crate::ports::Notice;
use crate::writeup::NewArtifact;
use acts::Action;
use effects::{Outcome, Progress};
use model::artifact::{ArtifactClass, ArtifactKind, TrustTier};
use model::body::EffectProgressed;
use model::fault::Point;
use model::principal::PrincipalType;
use model::receipt::ResultCode;
use model::{ActionRequestId, Sensitive, TaskId, limits};

/// An act under way, or its trial, as far as it has told of itself.
pub(super) struct Lasting<'k> {
    kernel: &'k Kernel,
    cell: &'k Cell,
    task_id: TaskId,
    act: ActionRequestId,
    /// Milliseconds on the clock that nobody sets.
    began: u64,
    reported: u64,
    reports: u32,
    checkpoints: u32,
    printed: u64,
    items: Option<(u64, u64)>,
    /// What it prints is told as it comes, where it is what a guest says.
    aloud: Option<Saying<'k>>,
    /// What a tool of a server told last.
    told: String,
    /// Whose server is at work, if one is.
    asker: Option<Asker>,
    /// What is printed, as letters: a piece may end in the middle of one.
    letters: [Letters; 2],
    /// Bytes of what it printed or said that were told as they came.
    told_bytes: usize,
}

/// Bytes as they come, as whole letters.
#[derive(Default)]
struct Letters {
    begun: Vec<u8>,
}

impl Letters {
    /// What can be read of it by now; the beginning of a letter waits for its end.
    fn take(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            Ok(text) => text.len(),
            Err(error) => whole_letters(&self.begun, error),
        };
        let rest = self.begun.split_off(whole);
        String::from_utf8_lossy(&std::mem::replace(&mut self.begun, rest)).into_owned()
    }
}

/// How many of these bytes are whole letters, or none at all: all but an unfinished letter at their end.
fn whole_letters(bytes: &[u8], first: std::str::Utf8Error) -> usize {
    let mut error = first;
    let mut at = 0_usize;
    loop {
        at = at.saturating_add(error.valid_up_to());
        let Some(wrong) = error.error_len() else { return at };
        at = at.saturating_add(wrong);
        match std::str::from_utf8(bytes.get(at..).unwrap_or_default()) {
            Ok(_) => return bytes.len(),
            Err(next) => error = next,
        }
    }
}

impl<'k> Lasting<'k> {
    /// It begins now.
    pub(super) fn new(kernel: &'k Kernel, cell: &'k Cell, task_id: TaskId, act: ActionRequestId) -> Self {
        let began = kernel.ports.clock.monotonic_ms();
        let (reports, checkpoints, printed, items) = (0, 0, 0, None);
        let (reported, aloud, told) = (began, None, String::new());
        Self {
            kernel,
            cell,
            task_id,
            act,
            began,
            reported,
            reports,
            checkpoints,
            printed,
            items,
            aloud,
            told,
            asker: None,
            letters: Default::default(),
            told_bytes: 0,
        }
    }

    /// The same, of this act: what a guest prints is told as it comes, and a server may ask a model as a person said.
    pub(super) fn of(mut self, action: &Action) -> Self {
        let is_guest = matches!(action, Action::Guest(_));
        self.aloud = is_guest.then(|| Saying::begin(self.kernel, self.cell, self.task_id));
        self.asker = Asker::of(action);
        self
    }

    /// Takes what the executor tells. What cannot be recorded is lost, and the act goes on.
    pub(super) fn hear(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Items { done, of } => {
                self.items = Some((done as u64, of as u64));
                let (task_id, what) = (self.task_id, "changing files");
                let (done, total) = (done as u64, of as u64);
                self.kernel.ports.observer.notice(Notice::Progress { task_id, what, done, total });
            }
            Progress::Stdout(bytes) => self.prints(0, "stdout", bytes),
            Progress::Stderr(bytes) => self.prints(1, "stderr", bytes),
            Progress::AtWork => {}
            Progress::Told(words) => {
                let words = self.kernel.ports.redactor.now().text(words).rest.into_owned();
                self.tell("tool", format!("{words}\n"));
                self.told = words;
            }
            Progress::Asks(asking) => {
                let asker = self.asker.as_ref();
                return self.kernel.asked_by_server(self.cell, (self.act, asker), asking);
            }
            Progress::Samples(sampling, over) => {
                let asker = self.asker.as_ref();
                return self.kernel.sampled_by_server(self.cell, (self.act, asker), (sampling, over));
            }
            Progress::Checkpoint { note, bytes } => {
                if self.checkpoints < limits::CHECKPOINTS_MAX && bytes.len() <= limits::CHECKPOINT_BYTES_MAX {
                    self.checkpoints = self.checkpoints.saturating_add(1);
                    self.report(note, Some(bytes));
                }
                return;
            }
        }
        let now = self.kernel.ports.clock.monotonic_ms();
        if self.reports < limits::PROGRESS_REPORTS_MAX
            && now.saturating_sub(self.reported) >= limits::PROGRESS_MS_MIN
        {
            self.reports = self.reports.saturating_add(1);
            self.report(&self.in_words(), None);
        }
    }

    /// What it prints is told as it comes; what could be the beginning of a secret has waited before it comes here.
    fn prints(&mut self, at: usize, stream: &'static str, bytes: &[u8]) {
        self.printed = self.printed.saturating_add(bytes.len() as u64);
        let Some(letters) = self.letters.get_mut(at) else { return };
        let text = letters.take(bytes);
        if let Some(saying) = &self.aloud
            && !text.is_empty()
            && self.printed <= limits::COMMAND_OUTPUT_BYTES_MAX as u64
        {
            return saying.says(text);
        }
        self.tell(stream, text);
    }

    /// A piece of what it prints or says goes to whoever listens, as far as so much is told; all of it stands in its result.
    fn tell(&mut self, stream: &'static str, mut text: String) {
        let left = limits::OUTPUT_TOLD_BYTES_MAX.saturating_sub(self.told_bytes);
        if text.is_empty() || left == 0 {
            return;
        }
        if text.len() >= left {
            text.truncate(text.floor_char_boundary(left));
            text.push_str("\n[more was printed than is told here; its result holds the rest]\n");
            self.told_bytes = limits::OUTPUT_TOLD_BYTES_MAX;
        } else {
            self.told_bytes = self.told_bytes.saturating_add(text.len());
        }
        let (task_id, act) = (self.task_id, self.act);
        self.kernel.ports.observer.notice(Notice::Output { task_id, act, stream, text });
    }

    /// What it has come to, in words.
    fn in_words(&self) -> String {
        match (self.printed, self.items) {
            (0, Some((done, of))) => format!("{done} of {of} files"),
            (0, None) if !self.told.is_empty() => format!("the tool says: {}", self.told),
            (0, None) => "nothing printed yet".to_owned(),
            (printed, _) => format!("{} printed", size(printed)),
        }
    }

    fn report(&mut self, note: &str, checkpoint: Option<&[u8]>) {
        self.reported = self.kernel.ports.clock.monotonic_ms();
        if let Err(error) = self.record(note, checkpoint) {
            tracing::warn!(act = %self.act, %error, "how far an act has come is not on record");
        }
    }

    fn record(&self, note: &str, checkpoint: Option<&[u8]>) -> Result<(), Error> {
        let mut tx = self.kernel.begin_tx(self.cell, Point::EffectProgress, PrincipalType::Executor)?;
        let note: String =
            tx.redactor().text(note).rest.chars().take(limits::PROGRESS_NOTE_CHARS_MAX).collect();
        let checkpoint = checkpoint.map(|bytes| {
            let mut new = NewArtifact::audit(ArtifactKind::WorkingState)
                .class(ArtifactClass::Evidence)
                .trust(TrustTier::Untrusted);
            new.media_type = "application/octet-stream";
            new.alias = Some(format!("checkpoint: {note}"));
            tx.artifact(bytes, new)
        });
        let (done, total) = self.items.unzip();
        let elapsed = self.reported.saturating_sub(self.began);
        tx.push(EffectProgressed {
            action_request_id: self.act,
            sequence: self.reports.saturating_add(self.checkpoints),
            elapsed_ms: i64::try_from(elapsed).unwrap_or(limits::JSON_INTEGER_MAX),
            done,
            total,
            note: Sensitive::from(note),
            checkpoint: checkpoint.transpose()?,
        });
        tx.commit().map(drop)
    }
}

impl Kernel {
    /// Says in an outcome that is no success from where a new act could go on.
    pub(super) fn name_checkpoint(
        &self,
        cell: &Cell,
        act: ActionRequestId,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        if outcome.result_code == ResultCode::Succeeded {
            return Ok(());
        }
        let state = self.lock_task(cell)?;
        let act = state
            .attempt()
            .and_then(crate::state::AttemptState::act)
            .filter(|it| it.action_request_id == act);
        if let Some(at) = act.and_then(|act| act.checkpoint.as_ref()) {
            outcome.observed.push(format!(
                "its last checkpoint is `{}`: {}; a new act may go on from there",
                at.artifact.artifact_id, at.note
            ));
        }
        Ok(())
    }
}

/// A number of bytes, for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::Letters;

    #[test]
    fn a_letter_that_comes_in_two_pieces_is_told_once_and_whole_and_what_is_none_is_shown_as_such() {
        let mut letters = Letters::default();
        let bytes = "Grüße 🌿".as_bytes();
        let told: String = bytes.chunks(1).map(|one| letters.take(one)).collect();
        assert_eq!(told, "Grüße 🌿");
        assert_eq!(letters.take(b"a\xff\xfeb\xf0\x9f"), "a\u{fffd}\u{fffd}b", "the last is begun");
        assert_eq!(letters.take(b"x"), "\u{fffd}x");
    }
}
