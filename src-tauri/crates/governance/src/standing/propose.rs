//! The narrowest standing grants that would have answered a question, the narrowest first.

use super::covers::{covers, programs_of, sound};
use acts::{Action, ActionRequest, changed_paths};
use model::action::{ChangeItem, Prior, Program};
use model::standing::{Cover, PathAct, StandingGrant};
use model::{RelPath, ResourceId};
use std::collections::BTreeSet;

/// Folders that a proposal names before it gives up.
const PLACES_MAX: usize = 8;

/// Standing grants for the like of a request. `frame` says whose, where and how long; only its cover is replaced.
/// Each of them covers the request and can be given.
pub fn propose(request: &ActionRequest, frame: &StandingGrant) -> Vec<StandingGrant> {
    let made = covers_of(request).into_iter().flatten().map(|cover| StandingGrant { cover, ..frame.clone() });
    made.filter(|grant| sound(grant).is_ok() && covers(grant, request).is_ok()).collect()
}

/// The covers of the like of a request, the narrowest first; none where no cover is for this kind of act.
pub fn covers_of(request: &ActionRequest) -> Option<Vec<Cover>> {
    match &request.action {
        // A lasting yes to the network is one to any host: whoever named some has not given it.
        Action::Command(acts::Command { hosts, secrets, .. })
            if !(hosts.is_empty() && secrets.is_empty()) =>
        {
            Some(Vec::new())
        }
        Action::Command(acts::Command { argv, cwd, network, .. }) => {
            Some(command(request, argv, cwd, *network))
        }
        Action::Change(acts::Change { items }) => Some(change(items)),
        // What is fetched again and again; what is sent is asked about each time.
        Action::Fetch(_) => Some(hosts(request).into_iter().take(1).collect()),
        // Whoever is paired there waits for what their tasks come to.
        Action::Message(to) => Some(vec![Cover::Chat {
            gateway: to.gateway.clone(),
            version: to.version,
            chat: to.chat.clone(),
        }]),
        // The same clock is asked again and again, with other bytes each time; what costs money is asked about each time.
        Action::Anchor(asked) if !asked.costs() => {
            let hosts = asked.hosts_to_the_end()?.into_iter().collect();
            Some(vec![Cover::Anchor { clock: asked.clock, hosts }])
        }
        _ => None,
    }
}

fn command(request: &ActionRequest, argv: &[String], cwd: &RelPath, network: bool) -> Vec<Cover> {
    let changes = match &request.staged {
        Some(staged) => match places(&staged.items) {
            Some(places) => places,
            None => return Vec::new(),
        },
        None => vec!["**".to_owned()],
    };
    let started = programs_of(argv);
    let found = request.reach.iter().flat_map(|reach| &reach.programs);
    let programs: Vec<Program> = found.filter(|program| started.contains(&program.name)).cloned().collect();
    let cover = |words: &[String], whole: bool| Cover::Command {
        words: words.to_vec(),
        whole,
        cwd: cwd.clone(),
        network,
        changes: changes.clone(),
        programs: programs.clone(),
    };
    let mut found = vec![cover(argv, true)];
    // The program and its verb: `cargo test`, not `cargo`.
    let verb = argv.iter().take_while(|word| !word.starts_with('-')).count().min(2);
    if verb == 2 || (verb == 1 && argv.len() == 1) {
        found.extend(argv.get(..verb).map(|words| cover(words, false)));
    }
    found.extend((argv.len() > verb.max(1)).then(|| cover(argv, false)));
    found
}

fn change(items: &[ChangeItem]) -> Vec<Cover> {
    let mut acts = BTreeSet::new();
    for item in items {
        match item {
            ChangeItem::Write { prior: Prior::Absent, .. } | ChangeItem::Folder { was: None, .. } => {
                acts.extend([PathAct::Create]);
            }
            ChangeItem::Link { .. } => return Vec::new(),
            ChangeItem::Write { .. } | ChangeItem::Folder { .. } => drop(acts.insert(PathAct::Overwrite)),
            ChangeItem::Delete { .. } => drop(acts.insert(PathAct::Delete)),
            ChangeItem::Move { .. } => acts.extend([PathAct::Create, PathAct::Delete]),
        }
    }
    let acts: Vec<PathAct> = acts.into_iter().collect();
    let all: Vec<&RelPath> = items.iter().flat_map(changed_paths).collect();
    let mut globs: Vec<String> = Vec::new();
    if let [only] = all.as_slice() {
        globs.extend(literal(only));
    }
    if let Some(folder) = common_folder(&all) {
        let below = |tail: &str| match folder.is_root() {
            true => Some(tail.to_owned()),
            false => literal(&folder).map(|folder| format!("{folder}/{tail}")),
        };
        let ending = |path: &RelPath| {
            let name = String::from_utf8_lossy(path.file_name()).into_owned();
            name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, ending)| ending.to_owned())
        };
        let endings: BTreeSet<Option<String>> = all.iter().map(|path| ending(path)).collect();
        let one = endings.into_iter().collect::<Vec<_>>();
        if let [Some(ending)] = one.as_slice() {
            globs.extend(below(&format!("*.{ending}")));
        }
        // The whole project is not the narrowest of anything.
        globs.extend(below("**").filter(|_| !folder.is_root()));
    }
    globs.into_iter().map(|glob| Cover::Paths { glob, acts: acts.clone() }).collect()
}

fn hosts(request: &ActionRequest) -> Vec<Cover> {
    match request.target_resources.as_slice() {
        [ResourceId::Host(name, port)] => [false, true]
            .into_iter()
            .map(|write| Cover::Host { name: name.clone(), port: *port, write })
            .collect(),
        _ => Vec::new(),
    }
}

/// The folders that a staged run changed, each with all below it, or the files themselves where they are few.
fn places(items: &[ChangeItem]) -> Option<Vec<String>> {
    let files: BTreeSet<&RelPath> = items.iter().flat_map(changed_paths).collect();
    let files: Vec<String> = files.into_iter().map(literal).collect::<Option<_>>()?;
    if files.len() <= 3 {
        return Some(files);
    }
    // The first part of each path: what a build writes is in `target/` or `node_modules/`.
    let tops: BTreeSet<String> = files
        .iter()
        .map(|file| file.split_once('/').map_or_else(|| file.clone(), |(top, _)| format!("{top}/**")))
        .collect();
    (tops.len() <= PLACES_MAX).then(|| tops.into_iter().collect())
}

/// A path as a glob that matches it alone; none for names that a glob cannot say.
fn literal(path: &RelPath) -> Option<String> {
    let text = std::str::from_utf8(path.as_bytes()).ok()?;
    (!text.contains(['*', '?']) && !text.is_empty()).then(|| text.to_owned())
}

fn common_folder(paths: &[&RelPath]) -> Option<RelPath> {
    let mut folder = paths.first()?.parent();
    while !paths.iter().all(|path| path.is_within(&folder)) {
        folder = folder.parent();
    }
    Some(folder)
}
