//! What is run in a staged view: a command, or a server of tools for one call.

use super::door::{Cord, Door};
use super::{Once, Unstaged};
use crate::command::run::{Asked, spawn, transcript, words};
use crate::command::spool::{self, Mark};
use crate::command::view::View;
use crate::egress_proxy::Outlet;
use crate::server::staged::{self, NoAnswer};
use crate::{Error, Executors, Output, Progress, STAGE_TRIES_MAX, STAGE_VIEW_BYTES_MAX};
use acts::{Action, Call};
use model::action::StageMethod;
use model::artifact::ArtifactKind;
use model::limits::GUEST_BYTES_MAX;
use model::reach::Reach;
use model::{Digest, RelPath};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};

/// What is run, with what it must not see.
#[allow(clippy::large_enum_variant, reason = "made once for each staged run")]
pub(super) enum Work<'a> {
    Command { asked: Asked<'a>, reach: Reach },
    Call { call: &'a Call, hidden: Vec<RelPath>, root: RelPath },
    Guest { asked: Asked<'a>, hidden: Vec<RelPath>, home: &'a Path, lend: Lend<'a>, went: &'a RefCell<Went> },
}

/// What went out of a guest's view while it worked, and what it printed. It is known however its turn ended.
#[derive(Default)]
pub(super) struct Went {
    /// What went through its ways out, in words.
    pub(super) through: Vec<String>,
    /// What it sent where it signs in, artifact `guest.sent`.
    pub(super) sent: Option<Output>,
    /// What it printed, where it came to an end of its own or was ended.
    pub(super) transcript: Option<Output>,
    /// Where it saw the folder; none where it did not begin.
    pub(super) saw: Option<PathBuf>,
}

/// Adds to the view of a guest, whose folder of the spool is given.
pub(super) type Lend<'a> = &'a dyn Fn(&mut View, &Path) -> Result<Lent, Error>;

/// What a guest is lent while it works.
#[derive(Default)]
pub(super) struct Lent {
    /// Its way out.
    pub(super) outlet: Option<Outlet>,
    /// Its way to Hermit's tools.
    pub(super) door: Option<Door>,
    /// What calls its turn off.
    pub(super) cord: Option<Cord>,
    /// What it could not be lent, in words.
    pub(super) notes: Vec<String>,
}

impl Lent {
    /// Takes it back; what went through it, in words, and what it sent where it signs in.
    fn close(self) -> (Vec<String>, Option<Output>) {
        let sent = self.outlet.as_ref().and_then(Outlet::sent);
        let (bytes, kept) = sent.unzip();
        let through = self.outlet.map(Outlet::close).unwrap_or_default();
        let asked = self.door.map(Door::close).unwrap_or_default();
        let sent = bytes.map(|bytes| Output {
            kind: ArtifactKind::GuestSent,
            media_type: "text/plain; charset=utf-8".to_owned(),
            bytes,
            about: "what a guest sent where it signs in".to_owned(),
        });
        (through.into_iter().chain(kept).chain(asked).chain(self.notes).collect(), sent)
    }
}

/// What one run came to, beside what it changed.
pub(super) struct Came {
    /// What it printed or answered.
    pub(super) transcript: Output,
    pub(super) exit_code: Option<i32>,
    /// Why it is no success.
    pub(super) error: Option<String>,
    /// The digest of its program.
    pub(super) program: Option<Digest>,
    /// What a person reads of it.
    pub(super) printed: Vec<u8>,
    pub(super) printed_bytes: u64,
    pub(super) notes: Vec<String>,
}

impl<'a> Work<'a> {
    pub(super) fn of(executors: &Executors, action: &'a Action) -> Result<Self, Error> {
        match action {
            Action::Call(call) => {
                let hidden = crate::server::hidden(executors, &call.launch).map_err(Error::Request)?;
                Ok(Self::Call { call, hidden, root: RelPath::ROOT })
            }
            _ => Ok(Self::Command { asked: words(action)?, reach: executors.reach_of(action, true) }),
        }
    }

    /// Where it begins.
    pub(super) fn cwd(&self) -> &RelPath {
        match self {
            Self::Command { asked, .. } | Self::Guest { asked, .. } => asked.cwd,
            Self::Call { root, .. } => root,
        }
    }

    /// Places that it must not see.
    pub(super) fn hidden(&self) -> &[RelPath] {
        match self {
            Self::Command { reach, .. } => &reach.hidden,
            Self::Call { hidden, .. } | Self::Guest { hidden, .. } => hidden,
        }
    }

    /// What the words of a command lead to.
    pub(super) fn reach(&self) -> Option<&Reach> {
        match self {
            Self::Command { reach, .. } => Some(reach),
            Self::Call { .. } | Self::Guest { .. } => None,
        }
    }

    /// How often it may run where somebody changes what it changes: what a guest did cost something.
    pub(super) const fn tries(&self) -> u32 {
        match self {
            Self::Command { .. } | Self::Call { .. } => STAGE_TRIES_MAX,
            Self::Guest { .. } => 1,
        }
    }

    /// Bytes that it may leave behind.
    pub(super) const fn bytes_max(&self) -> u64 {
        match self {
            Self::Command { .. } | Self::Call { .. } => STAGE_VIEW_BYTES_MAX,
            Self::Guest { .. } => GUEST_BYTES_MAX,
        }
    }

    /// What it keeps beside its view.
    pub(super) const fn home(&self) -> Option<&Path> {
        match self {
            Self::Command { .. } | Self::Call { .. } => None,
            Self::Guest { home, .. } => Some(*home),
        }
    }

    /// Whether it reaches anybody.
    pub(super) const fn has_network(&self) -> bool {
        match self {
            Self::Command { .. } | Self::Call { .. } => false,
            Self::Guest { asked, .. } => asked.network,
        }
    }

    pub(super) fn title(&self) -> String {
        match self {
            Self::Command { asked, .. } | Self::Guest { asked, .. } => asked.argv.join(" "),
            Self::Call { call, .. } => format!("{} of the server {}", call.name, call.server),
        }
    }

    /// What it is, beside its changes.
    pub(super) fn named(&self) -> Map<String, Value> {
        let named = match self {
            Self::Command { asked, .. } | Self::Guest { asked, .. } => json!({ "argv": asked.argv }),
            Self::Call { call, .. } => json!({ "server": call.server, "tool": call.name }),
        };
        named.as_object().cloned().unwrap_or_default()
    }

    /// Runs it once in the view.
    pub(super) fn run(
        &self,
        executors: &Executors,
        view: &mut View,
        (folder, mark, method): (&Path, File, StageMethod),
        stop: &dyn Fn() -> bool,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Came, Once> {
        match self {
            Self::Command { asked, .. } => {
                command(executors, asked, view, (folder, mark, method), stop, progress)
            }
            Self::Guest { asked, lend, went, .. } => {
                let lent = lend(view, folder)?;
                // Whoever is spoken to is told first, and has a little time to end.
                let stop = || stop() && lent.cord.as_ref().is_none_or(Cord::pull);
                let came = command(executors, asked, view, (folder, mark, method), &stop, progress);
                // Also of one that was ended, or that nothing comes of: what it sent is on record.
                let (through, sent) = lent.close();
                let transcript = came.as_ref().ok().map(|came| came.transcript.clone());
                let saw = Some(executors.sandbox.root_of(view));
                went.replace(Went { through, sent, transcript, saw });
                came
            }
            // The mark says that this process is at work here, until it is dropped.
            Self::Call { call, .. } => called(executors, call, view, (mark, method), stop, progress),
        }
    }
}

fn command(
    executors: &Executors,
    asked: &Asked<'_>,
    view: &View,
    (folder, mark, method): (&Path, File, StageMethod),
    stop: &dyn Fn() -> bool,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Came, Once> {
    let behind = (executors, &executors.sandbox);
    let mut ran = spawn(behind, asked, view, folder, mark, &mut false, stop, progress)?;
    if executors.sandbox.marks_start() {
        ran.mark = spool::mark(folder)
            .map_err(|source| Error::Spool { doing: "reading the mark of a staged run", source })?;
    }
    if let (StageMethod::Overlay, Mark::Nothing) = (method, &ran.mark) {
        return Err(Once::NotThisWay(ran.error().unwrap_or_default()));
    }
    let no_form = || Error::Request("what the command printed has no canonical form".to_owned());
    let transcript = transcript(asked, &ran, ran.code()).ok_or_else(no_form)?;
    Ok(Came {
        transcript,
        exit_code: ran.code(),
        error: ran.error(),
        program: ran.program,
        printed: [ran.stdout.kept(), ran.stderr.kept()].concat(),
        printed_bytes: ran.stdout.total().saturating_add(ran.stderr.total()),
        notes: ran.left_out().collect(),
    })
}

fn called(
    executors: &Executors,
    call: &Call,
    view: &mut View,
    (_mark, method): (File, StageMethod),
    stop: &dyn Fn() -> bool,
    heard: &mut dyn FnMut(Progress<'_>),
) -> Result<Came, Once> {
    let answered = staged::call(executors, call, view, heard, stop).map_err(|no| match no {
        NoAnswer::NotGreeted(why) if method == StageMethod::Overlay => Once::NotThisWay(why),
        NoAnswer::NotGreeted(why) | NoAnswer::Failed(why) | NoAnswer::Changed(why, None) => {
            Once::Over(Unstaged::Failed(format!("nothing was done: {why}")))
        }
        NoAnswer::Changed(why, Some(now)) => Once::Over(Unstaged::Changed(why, now)),
    })?;
    let printed = answered.words.into_bytes();
    Ok(Came {
        transcript: answered.told,
        exit_code: None,
        error: answered.error,
        program: call.launch.pins.first().map(|pin| pin.sha256),
        printed_bytes: printed.len() as u64,
        printed,
        notes: vec!["server: started for this call, in the view".to_owned()],
    })
}
