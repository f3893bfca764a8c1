//! A turn of a guest: the agent of another program, in a staged view of the folder (tools.md 4).

use crate::call::quoted;
use crate::{ActionRequest, Counts, Line, LineKind, Part, Tool, visible};
use model::action::{ActionClass, ExpectedEffect, Reversibility};
use model::artifact::TrustTier;
use model::grant::FilesystemScope;
use model::guest::{GuestLaunch, GuestWork};
use model::limits::{CALL_ARGUMENTS_BYTES_MAX, GUEST_MS_MAX};
use model::receipt::ResultCode;
use model::witness::Fingerprint;
use model::{Digest, RelPath, ResourceId, WorkspaceId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Places of a change set that its guest did not tell of and that a card lists; all are in what is signed.
const UNTOLD_LISTED: usize = 50;

/// One turn of a guest. What it changes is in its view alone; that becomes a change set of its own, which a person is
/// shown. How it is started is the kernel's, from the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// How it is started.
    pub launch: GuestLaunch,
    /// What it is asked to do.
    pub prompt: String,
    /// Whether it goes on with what it did before, and does not begin anew.
    pub goes_on: bool,
    /// How much a person had said to the task by then.
    pub heard: u32,
    /// How long it may work, in milliseconds.
    pub timeout_ms: u64,
}

impl Tool for Guest {
    /// What an agent sends to its model, and does there, nobody has classified: a person is asked each time, and no rule
    /// and no standing grant answers for them.
    fn classes(&self) -> BTreeSet<ActionClass> {
        BTreeSet::from([ActionClass::ExternalEffect])
    }

    fn resources(&self, workspace: WorkspaceId) -> BTreeSet<ResourceId> {
        let hosts = self.launch.hosts.iter().filter_map(|host| format!("host:{host}").parse().ok());
        let secrets = self.launch.handles().into_iter().map(ResourceId::Secret);
        let root = ResourceId::File(workspace, RelPath::ROOT);
        hosts.chain(secrets).chain([root]).collect()
    }

    fn check(&self) -> Result<(), String> {
        self.launch.check()?;
        if self.prompt.len() > CALL_ARGUMENTS_BYTES_MAX / 2 {
            return Err(format!(
                "what the guest is asked is {} bytes, more than {}; name a file instead",
                self.prompt.len(),
                CALL_ARGUMENTS_BYTES_MAX / 2
            ));
        }
        if self.prompt.contains('\0') || !(1..=GUEST_MS_MAX).contains(&self.timeout_ms) {
            return Err(
                "what a guest is asked holds no zero byte, and it works for an hour at most".to_owned()
            );
        }
        Ok(())
    }

    fn counts(&self) -> Counts {
        Counts { network: self.sends(), targets: 1, ..Counts::default() }
    }

    fn parts(&self) -> Vec<Part> {
        vec![Part::Other]
    }

    fn sends(&self) -> bool {
        !self.launch.hosts.is_empty()
    }

    /// The folder is as it was; what was sent is sent.
    fn reversibility(&self) -> Reversibility {
        if self.sends() { Reversibility::Irreversible } else { Reversibility::NoEffect }
    }

    fn reversibility_without_changes(&self, request: &ActionRequest, _: ResultCode) -> Reversibility {
        request.way_back()
    }

    fn filesystem_scope(&self) -> FilesystemScope {
        FilesystemScope::ReadLease
    }

    fn trust(&self) -> TrustTier {
        TrustTier::Untrusted
    }

    fn title(&self) -> String {
        let again = if self.goes_on { " go on" } else { " work" };
        format!("let the agent \"{}\"{again} on a copy of the folder", visible(&self.launch.guest))
    }

    /// Without what it is asked, which the goal tells, and a person's own words.
    fn one_line(&self) -> String {
        let again = if self.goes_on { " again" } else { "" };
        format!("run the agent {}{again} on a copy of the folder", self.launch.guest)
    }

    fn lines(&self, _: &ActionRequest) -> Vec<Line> {
        let launch = &self.launch;
        let program = &launch.program;
        let mut lines = vec![
            Line::effect(self.title()),
            Line::effect(format!("its program is \"{}\", sha256 {}", visible(&program.path), program.sha256)),
            Line::effect("it is asked:".to_owned()),
        ];
        lines.extend(quoted(&self.prompt).map(Line::effect));
        lines.extend(words(launch, self.goes_on).map(Line::effect));
        if launch.speaks_acp() {
            lines.push(Line::effect(
                "it is spoken to by the Agent Client Protocol: what it asks to do is allowed while it stays in its copy, \
                 and refused otherwise"
                    .to_owned(),
            ));
        }
        lines.extend(reach(launch));
        lines.push(Line::effect(
            "it sees the folder without what looks like keys, and has a HOME of its own".to_owned(),
        ));
        lines.push(Line::effect(
            "what it changes is in its copy alone: you are shown all of it, and nothing is in the folder before your yes"
                .to_owned(),
        ));
        lines.push(Line::effect(format!("for at most {} minutes", self.timeout_ms.div_ceil(60_000))));
        lines
    }

    fn expected(&self, workspace: WorkspaceId, _: &[Fingerprint]) -> Vec<ExpectedEffect> {
        vec![ExpectedEffect {
            resource: ResourceId::File(workspace, RelPath::ROOT),
            effect: "work on a copy".to_owned(),
            before_sha256: None,
            after_sha256: Some(Digest::of(self.prompt.as_bytes())),
            byte_size: None,
        }]
    }

    fn precondition(&self) -> String {
        "the guest's program is the same as when the task was begun".to_owned()
    }
}

/// Its words, with a place for what it is asked.
fn words(launch: &GuestLaunch, goes_on: bool) -> impl Iterator<Item = String> + '_ {
    let words = if goes_on && !launch.goes_on.is_empty() { &launch.goes_on } else { &launch.words };
    let words = words.iter().map(|word| format!("with the word \"{}\"", visible(word)));
    let environment = launch
        .environment
        .iter()
        .map(|(name, value)| format!("with {}=\"{}\" in its environment", visible(name), visible(value)));
    let home = launch
        .home
        .keys()
        .map(|path| format!("with Hermit's settings for it in ~/{}", crate::visible_path(path)));
    words.chain(environment).chain(home)
}

/// What it can reach.
fn reach(launch: &GuestLaunch) -> Vec<Line> {
    let grave = |text: String| Line { kind: LineKind::Unrecoverable, text };
    let mut lines: Vec<Line> = launch
        .reads
        .iter()
        .map(|place| Line::effect(format!("it may also read \"{}\"", visible(place))))
        .collect();
    match launch.hosts.as_slice() {
        [] => lines.push(Line::effect("it has no network".to_owned())),
        hosts => {
            lines.push(grave(
                "it can SEND what it reads in the folder, and that cannot be taken back".to_owned(),
            ));
            lines.extend(hosts.iter().map(|host| grave(format!("it may reach {}", visible(host)))));
        }
    }
    lines.extend(launch.secrets.iter().map(|(name, handle)| {
        grave(format!(
            "it signs in with `secret:{}`: a stand-in for it is in {}, and the value is in nothing that it can read",
            visible(handle),
            visible(name)
        ))
    }));
    lines
}

/// What a change set says of the guest that made it.
pub(crate) fn of_work(work: &GuestWork) -> Vec<Line> {
    let fact = |text: String| Line { kind: LineKind::Fact, text };
    let mut lines = vec![fact(format!("the agent \"{}\" made this on its copy", visible(&work.guest)))];
    if let Some(error) = &work.error {
        lines.push(fact(format!("its turn was NO success: {}", visible(error))));
    }
    lines.extend(untold(work).map(fact));
    lines
}

/// What of a guest's work it has told itself, in words: for card and receipt.
pub fn untold(work: &GuestWork) -> impl Iterator<Item = String> + '_ {
    let many = work.untold.len();
    let head = match &work.told {
        None => "it tells nothing of what it changes: what is listed is what its copy shows".to_owned(),
        Some(_) if many == 0 => "it told of every place that its copy shows as changed".to_owned(),
        Some(_) => {
            format!("it did NOT tell of {} that its copy shows as changed", crate::count(many, "place"))
        }
    };
    let places = work.untold.iter().take(UNTOLD_LISTED);
    let places = places.map(|path| format!("    not told of: {}", crate::visible_path(path)));
    let more = many.saturating_sub(UNTOLD_LISTED);
    let more = (more > 0).then(|| format!("    not told of: {more} further places"));
    std::iter::once(head).chain(places).chain(more)
}
