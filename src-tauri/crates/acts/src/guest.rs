//! A turn of a guest: the agent of another program, in a staged view of the folder (tools.md 4).

use crate::call::quoted;
use crate::{ActionRequest, Counts, Line, LineKind, Part, Tool, visible};
use model::action::{ActionClass, ChangeItem, ExpectedEffect, Reversibility};
use model::grant::FilesystemScope;
use model::guest::{GuestDiffers, GuestLaunch, GuestWork};
use model::limits::{CALL_ARGUMENTS_BYTES_MAX, GUEST_MS_MAX};
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

    fn filesystem_scope(&self) -> FilesystemScope {
        FilesystemScope::ReadLease
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
            Line::effect(format!("its program is \"{}\"", visible(&program.path))),
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

    fn details(&self) -> Vec<String> {
        vec![format!("sha256 of its program: {}", self.launch.program.sha256)]
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
pub(crate) fn of_work(work: &GuestWork, items: &[ChangeItem]) -> Vec<Line> {
    let fact = |text: String| Line { kind: LineKind::Fact, text };
    let mut lines = vec![fact(format!("the agent \"{}\" made this on its copy", visible(&work.guest)))];
    if let Some(error) = &work.error {
        lines.push(fact(format!("its turn was NO success: {}", visible(error))));
    }
    lines.extend(
        work.helpers.iter().map(|helper| fact(format!("it had a helper of its own, {}", visible(helper)))),
    );
    lines.extend(unreported(work, items).map(fact));
    lines
}

/// What of a guest's work it has told itself, and what not or otherwise, in words: for card and receipt.
pub fn unreported<'w>(work: &'w GuestWork, items: &'w [ChangeItem]) -> impl Iterator<Item = String> + 'w {
    untold(work, items).chain(differs(work))
}

fn untold<'w>(work: &'w GuestWork, items: &'w [ChangeItem]) -> impl Iterator<Item = String> + 'w {
    let many = work.untold.len();
    let bytes = |path: &RelPath| items.iter().find_map(|item| written(item, path));
    let all: u64 = work.untold.iter().filter_map(bytes).fold(0, u64::saturating_add);
    let head = match &work.told {
        None => "it tells nothing of what it changes: what is listed is what its copy shows".to_owned(),
        Some(_) if many == 0 => "it told of every place that its copy shows as changed".to_owned(),
        Some(_) => format!(
            "it did NOT tell of {} that its copy shows as changed, with {}",
            crate::count(many, "place"),
            in_bytes(all)
        ),
    };
    let place = move |path: &RelPath| {
        let bytes = bytes(path).map(|bytes| format!(" ({})", in_bytes(bytes))).unwrap_or_default();
        format!("    not told of: {}{bytes}", crate::visible_path(path))
    };
    let places = work.untold.iter().take(UNTOLD_LISTED).map(place);
    let more = many.saturating_sub(UNTOLD_LISTED);
    let more = (more > 0).then(|| format!("    not told of: {more} further places"));
    std::iter::once(head).chain(places).chain(more)
}

fn in_bytes(bytes: u64) -> String {
    crate::count(usize::try_from(bytes).unwrap_or(usize::MAX), "byte")
}

/// Bytes that an item writes to a place.
fn written(item: &ChangeItem, to: &RelPath) -> Option<u64> {
    match item {
        ChangeItem::Write { path, byte_size, .. } if path == to => Some(*byte_size),
        _ => None,
    }
}

/// Places that hold other than the guest said.
fn differs(work: &GuestWork) -> impl Iterator<Item = String> + '_ {
    let place = |one: &GuestDiffers| {
        format!(
            "    told otherwise: {} holds {}, and it told of {}",
            crate::visible_path(&one.path),
            in_bytes(one.shown),
            one.told
        )
    };
    let more = work.differs.len().saturating_sub(UNTOLD_LISTED);
    let more = (more > 0).then(|| format!("    told otherwise: {more} further places"));
    work.differs.iter().take(UNTOLD_LISTED).map(place).chain(more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::action::Prior;

    #[test]
    fn what_a_guest_did_not_tell_is_listed_with_its_bytes_and_what_it_told_otherwise_as_well() {
        let path = |name: &str| -> RelPath { name.parse().unwrap() };
        let write = |name: &str, byte_size| ChangeItem::Write {
            path: path(name),
            content_sha256: Digest([0; 32]),
            byte_size,
            prior: Prior::Absent,
            mode: None,
        };
        let items =
            [write("a", 5), write("b", 7), ChangeItem::Delete { path: path("c"), prior: Prior::Absent }];
        let mut work = GuestWork {
            guest: "toy".to_owned(),
            report: "art_01a20000000070008000000000000001".parse().unwrap(),
            error: None,
            told: Some(vec![path("a")]),
            untold: vec![path("b"), path("c")],
            differs: vec![GuestDiffers { path: path("a"), told: 3, shown: 5 }],
            helpers: vec!["\"tests\", which it says changed a".to_owned()],
        };
        let said = |work: &GuestWork| {
            of_work(work, &items).into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
        };
        let told = said(&work);
        for line in [
            "it had a helper of its own, \"tests\", which it says changed a",
            "did NOT tell of 2 places that its copy shows as changed, with 7 bytes",
            "not told of: \"b\" (7 bytes)",
            "not told of: \"c\"",
            "told otherwise: \"a\" holds 5 bytes, and it told of 3",
        ] {
            assert!(told.contains(line), "`{line}` is not in {told}");
        }
        (work.told, work.untold, work.differs) = (None, Vec::new(), Vec::new());
        assert!(said(&work).contains("tells nothing"));
        work.told = Some(vec![path("x")]);
        work.untold = (0..60).map(|n| path(&format!("p{n}"))).collect();
        let told = said(&work);
        assert!(told.contains("10 further places") && !told.contains("p59"), "{told}");
    }
}
