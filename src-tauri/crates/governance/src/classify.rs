//! What an action is and what it touches, read from its typed body alone (HK-16.4, proof.md 1).

use crate::paths::is_version_control;
use crate::programs;
use crate::standing::{Simple, simple_commands};
use acts::Action;
use model::action::{ActionClass, ChangeItem, Reach, ReadItem, Staged};
use model::web::Fetch;
use model::{RelPath, ResourceId, WorkspaceId};
use std::collections::BTreeSet;

/// Name and port that stand for any public host: a command that asks for the network and names none.
const ANY_HOST: (&str, u16) = ("*", 0);

/// Subcommands of git that leave refs, index and objects as they are.
const GIT_LOOKS: [&str; 22] = [
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "describe",
    "grep",
    "cat-file",
    "shortlog",
    "merge-base",
    "name-rev",
    "for-each-ref",
    "show-ref",
    "check-ignore",
    "help",
    "version",
    "--version",
    "--help",
];

/// What makes a look of git more than one: other settings, other programs, other places.
const GIT_BEYOND: [&str; 10] = [
    "-c",
    "--config-env",
    "--exec-path",
    "--git-dir",
    "--work-tree",
    "--output",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "-O",
];

/// How grave a class is; a larger number is graver. No two classes are equal, so an order is always the same.
pub const fn gravity(class: ActionClass) -> u8 {
    match class {
        ActionClass::ReadLocal => 0,
        ActionClass::NetworkRead => 1,
        ActionClass::DurableMemoryWrite => 2,
        ActionClass::WriteLocal => 3,
        ActionClass::ExecuteCommand => 4,
        ActionClass::DeleteLocal => 5,
        ActionClass::ApprovalResolution => 6,
        ActionClass::VcsMutation => 7,
        ActionClass::Rollback => 8,
        ActionClass::NetworkWrite => 9,
        ActionClass::CredentialedApiCall => 10,
        ActionClass::Publication => 11,
        ActionClass::Payment => 12,
        ActionClass::PolicyOverride => 13,
    }
}

/// Every class in an action, the gravest first, never empty.
///
/// A move is a write and a delete; a rollback is `rollback` and what it does; a file below `.git` is version
/// control. A command that asks for the network may send as well as fetch, so it is a network write too. What a
/// command does inside its walls cannot be read from its words: a shell script that calls git is a command here,
/// and the sandbox is the boundary (governance.md 1).
pub fn classify(action: &Action) -> Vec<ActionClass> {
    let mut found = BTreeSet::new();
    match action {
        Action::Observe(_) => {
            found.insert(ActionClass::ReadLocal);
        }
        Action::Change(acts::Change { items }) => add_changes(items, &mut found),
        Action::Command(acts::Command { argv, network, secrets, .. }) => {
            found.insert(ActionClass::ExecuteCommand);
            if *network {
                found.extend([ActionClass::NetworkRead, ActionClass::NetworkWrite]);
            }
            if !secrets.is_empty() {
                found.insert(ActionClass::CredentialedApiCall);
            }
            if changes_version_control(argv) {
                found.insert(ActionClass::VcsMutation);
            }
        }
        Action::Fetch(fetch) => {
            let sends = fetch.method.changes();
            found.insert(if sends { ActionClass::NetworkWrite } else { ActionClass::NetworkRead });
            if !fetch.secrets().is_empty() {
                found.insert(ActionClass::CredentialedApiCall);
            }
        }
        Action::Vcs(acts::Vcs { change }) => {
            found.insert(ActionClass::VcsMutation);
            if change.loses() {
                found.insert(ActionClass::DeleteLocal);
            }
        }
        Action::Remember(_) => {
            found.insert(ActionClass::DurableMemoryWrite);
        }
        Action::Rollback(acts::Rollback { items, .. }) => {
            found.insert(ActionClass::Rollback);
            if !items.is_empty() {
                add_changes(items, &mut found);
            }
        }
    }
    let mut classes: Vec<ActionClass> = found.into_iter().collect();
    classes.sort_by_key(|class| std::cmp::Reverse(gravity(*class)));
    classes
}

fn add_changes(items: &[ChangeItem], found: &mut BTreeSet<ActionClass>) {
    // A set without items still asks for the right to write.
    if items.is_empty() {
        found.insert(ActionClass::WriteLocal);
    }
    for item in items {
        match item {
            ChangeItem::Write { .. } | ChangeItem::Folder { .. } | ChangeItem::Link { .. } => {
                found.insert(ActionClass::WriteLocal)
            }
            ChangeItem::Delete { .. } => found.insert(ActionClass::DeleteLocal),
            ChangeItem::Move { .. } => {
                found.insert(ActionClass::WriteLocal);
                found.insert(ActionClass::DeleteLocal)
            }
        };
        if changed_paths(item).any(is_version_control) {
            found.insert(ActionClass::VcsMutation);
        }
    }
}

/// Every place an item changes: one, or two for a move, from where before to where.
pub fn changed_paths(item: &ChangeItem) -> impl Iterator<Item = &RelPath> {
    let (first, second) = match item {
        ChangeItem::Write { path, .. }
        | ChangeItem::Delete { path, .. }
        | ChangeItem::Folder { path, .. }
        | ChangeItem::Link { path, .. } => (path, None),
        ChangeItem::Move { from, to, .. } => (from, Some(to)),
    };
    std::iter::once(first).chain(second)
}

/// The place an item looks at, or below.
pub(crate) fn read_path(item: &ReadItem) -> &RelPath {
    match item {
        ReadItem::List { path, .. }
        | ReadItem::Read { path }
        | ReadItem::Lines { path, .. }
        | ReadItem::Search { path, .. }
        | ReadItem::Hash { path }
        | ReadItem::HashFolder { path } => path,
    }
}

/// What an action touches, sorted, without repeats.
///
/// A command may touch everything below the lease root, so it names the root; with the network it names
/// the hosts it asks for, or `host:*:0`, any public one. A promotion to memory touches nothing that exists yet; its claim is bound by the digest
/// of the request.
pub fn resources(workspace: WorkspaceId, action: &Action) -> Vec<ResourceId> {
    let mut found = BTreeSet::new();
    let file = |path: &RelPath| ResourceId::File(workspace, path.clone());
    match action {
        Action::Observe(acts::Observe { items }) => {
            found.extend(items.iter().map(|item| file(read_path(item))))
        }
        Action::Change(acts::Change { items }) => {
            found.extend(items.iter().flat_map(changed_paths).map(file))
        }
        Action::Command(acts::Command { network, hosts, secrets, .. }) => {
            found.insert(file(&RelPath::ROOT));
            if *network && hosts.is_empty() {
                found.insert(ResourceId::Host(ANY_HOST.0.to_owned(), ANY_HOST.1));
            }
            found.extend(hosts.iter().filter_map(|host| format!("host:{host}").parse().ok()));
            found.extend(secrets.iter().cloned().map(ResourceId::Secret));
        }
        Action::Fetch(fetch) => found.extend(of_fetch(fetch)),
        Action::Vcs(acts::Vcs { change }) => {
            found.insert(ResourceId::Ref(workspace, change.moves().to_owned()));
            found.extend(change.files().iter().map(|tracked| file(&tracked.path)));
        }
        Action::Remember(_) => {}
        Action::Rollback(acts::Rollback { items, .. }) => {
            found.extend(action.undoes().into_iter().map(ResourceId::Receipt));
            found.extend(items.iter().flat_map(changed_paths).map(file));
        }
    }
    found.into_iter().collect()
}

/// What a request to a server touches: the server, and the secrets it is given. No folder has a part in it.
pub(crate) fn of_fetch(fetch: &Fetch) -> BTreeSet<ResourceId> {
    let host = ResourceId::Host(fetch.url.host().to_owned(), fetch.url.port());
    fetch.secrets().into_iter().map(ResourceId::Secret).chain([host]).collect()
}

/// What a request touches: what its action does; every place that a staged run of it changed; and of a command that
/// runs in the folder itself, the files that its words lead to.
pub fn resources_of(
    workspace: WorkspaceId,
    action: &Action,
    staged: Option<&Staged>,
    reach: Option<&Reach>,
) -> Vec<ResourceId> {
    let mut found: BTreeSet<ResourceId> = resources(workspace, action).into_iter().collect();
    let file = |path: &RelPath| ResourceId::File(workspace, path.clone());
    match (staged, reach) {
        (Some(staged), _) => found.extend(staged.items.iter().flat_map(changed_paths).map(file)),
        (None, Some(reach)) => found.extend(reach.files.iter().map(file)),
        (None, None) => {}
    }
    found.into_iter().collect()
}

/// Whether the words of a command say that it changes version control.
fn changes_version_control(argv: &[String]) -> bool {
    let Some((program, arguments)) = argv.split_first() else {
        return false;
    };
    if programs::name(program) == "git" {
        return !only_looks(arguments);
    }
    if programs::is_version_control(program) {
        return true;
    }
    // What a shell would run is read command by command, where it can be read for sure.
    if let ([shell, flag, _], Ok(simple)) = (argv, simple_commands(argv))
        && programs::is_read_shell(shell)
        && flag.ends_with('c')
        && simple.iter().all(|one| one.words.first().is_some_and(Option::is_some))
    {
        let words =
            |one: &Simple| one.words.iter().map(|w| w.clone().unwrap_or_default()).collect::<Vec<_>>();
        return simple.iter().any(|one| changes_version_control(&words(one)));
    }
    programs::starts_programs(program)
        && arguments.iter().any(|argument| programs::mentions_version_control(argument))
}

/// Whether git is only asked for what it has. Settings of a hostile repository may still start programs; they stay
/// inside the walls, where the command runs staged like every other.
fn only_looks(arguments: &[String]) -> bool {
    let beyond = |word: &String| {
        let name = word.split('=').next().unwrap_or(word);
        GIT_BEYOND.contains(&name) || (word.starts_with("-c") && !word.starts_with("--"))
    };
    let mut rest = arguments.iter();
    let first = loop {
        match rest.next().map(String::as_str) {
            Some("--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs") => {}
            first => break first,
        }
    };
    first.is_none_or(|word| GIT_LOOKS.contains(&word)) && !arguments.iter().any(beyond)
}
