//! Whether a standing grant answers for a request.

use super::glob::{self, matches};
use crate::Refusal;
use crate::refusal::demand;
use acts::programs::{self, open_ended};
use acts::sensitive_paths::{PathKind, path_kind};
use acts::shell::{Simple, simple_commands};
use acts::{Action, ActionRequest, changed_paths};
use model::action::{ActionClass, ChangeItem, Prior, Program, Reach};
use model::limits::{
    CLAIM_BYTES_MAX, OVERRIDE_MS_MAX, OVERRIDE_USES_MAX, STANDING_MS_MAX, STANDING_PARTS_MAX,
    STANDING_USES_MAX,
};
use model::policy::RiskBand;
use model::standing::{Cover, PathAct, STANDING_FORMAT, StandingGrant, StandingRef, StandingScope};
use model::{Digest, RelPath, ResourceId, UnixMs};

/// A standing grant that was verified, with the uses it has had.
#[derive(Debug, Clone, Copy)]
pub struct InForce<'a> {
    /// What was signed.
    pub grant: &'a StandingGrant,
    /// SHA-256 of the signed envelope.
    pub envelope_sha256: Digest,
    /// How often it was used.
    pub uses: u32,
}

impl InForce<'_> {
    /// It by name.
    pub const fn named(&self) -> StandingRef {
        StandingRef { grant_id: self.grant.grant_id, envelope_sha256: self.envelope_sha256 }
    }
}

/// Whether a standing grant can be given at all.
///
/// # Errors
/// `standing_*`: why not, and what to say instead.
pub fn sound(grant: &StandingGrant) -> Result<(), Refusal> {
    let no = |why: &str| Refusal::new("standing_unsound", why);
    demand(grant.format == STANDING_FORMAT, "standing_format", || {
        format!("this standing grant is of another version: `{}`", grant.format)
    })?;
    let lives = grant.expires_at.0.saturating_sub(grant.issued_at.0);
    demand((1..=STANDING_MS_MAX).contains(&lives), "standing_time", || {
        "a standing grant lives for at most 92 days; name fewer".to_owned()
    })?;
    demand((1..=STANDING_USES_MAX).contains(&grant.max_uses), "standing_uses", || {
        format!("a standing grant is good for 1 to {STANDING_USES_MAX} uses")
    })?;
    if grant.override_reason.is_some() || matches!(grant.cover, Cover::Act { .. }) {
        return sound_override(grant);
    }
    match &grant.cover {
        Cover::Act { .. } => Err(no("only an override is about one act alone")),
        Cover::Command { words, whole, changes, .. } => {
            if words.is_empty() || words.len() > STANDING_PARTS_MAX || changes.len() > STANDING_PARTS_MAX {
                return Err(no("name a program, and at most 64 words and places"));
            }
            if !changes.iter().all(|glob| glob::is_sound(glob)) {
                return Err(no("a place is a path below the project, with `*`, `**` and `?`"));
            }
            if !*whole {
                open_ended(words).map_err(|why| no(&why))?;
            }
            Ok(())
        }
        Cover::Paths { glob, acts } => {
            let listed = !acts.is_empty() && acts.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
            if glob::is_sound(glob) && listed {
                return Ok(());
            }
            Err(no("a place is a path below the project with `*`, `**` and `?`, and something is done there"))
        }
        // No other scope has messages in it: each is a task of its own, which the kernel begins.
        Cover::Chat { gateway, chat, .. } => {
            match !gateway.is_empty() && !chat.is_empty() && matches!(grant.scope, StandingScope::User) {
                true => Ok(()),
                false => Err(no("name a gateway and a chat, and no project")),
            }
        }
        // Nor any with anchors in it.
        Cover::Anchor { hosts, .. } => {
            let listed = !hosts.is_empty() && hosts.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
            match listed && hosts.len() <= STANDING_PARTS_MAX && matches!(grant.scope, StandingScope::User) {
                true => Ok(()),
                false => Err(no("name the servers of a clock, sorted, and no project")),
            }
        }
        Cover::Host { name, port, .. } => {
            let host = name.strip_prefix("*.").unwrap_or(name);
            let known = host.contains('.')
                && host
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'-'))
                && host.split('.').all(|label| !label.is_empty())
                && host.bytes().any(|b| b.is_ascii_lowercase());
            if known && *port != 0 {
                return Ok(());
            }
            Err(no("name a host such as `example.com` or `*.example.com`, in lower case, and its port"))
        }
    }
}

/// An override names one act, its reason and a place, and ends soon (HK-16.9).
fn sound_override(grant: &StandingGrant) -> Result<(), Refusal> {
    let no = |why: &str| Refusal::new("override_unsound", why);
    let reason = grant.override_reason.as_deref().unwrap_or_default().trim();
    demand(!reason.is_empty() && reason.len() <= CLAIM_BYTES_MAX, "override_reason", || {
        "an override needs a reason, in a few sentences at most".to_owned()
    })?;
    let lives = grant.expires_at.0.saturating_sub(grant.issued_at.0);
    let bounded = lives <= OVERRIDE_MS_MAX && grant.max_uses <= OVERRIDE_USES_MAX;
    demand(bounded, "override_time", || {
        format!("an override holds for a day and {OVERRIDE_USES_MAX} uses at most")
    })?;
    match (&grant.cover, &grant.scope) {
        (Cover::Act { .. }, StandingScope::Project { .. } | StandingScope::Task { .. }) => Ok(()),
        _ => Err(no("an override is for one act in one place")),
    }
}

/// Whether a standing grant covers a request, by its words, places and scope alone.
///
/// # Errors
/// Why it does not, in words.
pub fn covers(grant: &StandingGrant, request: &ActionRequest) -> Result<(), String> {
    let workspace = request.workspace();
    let here = match &grant.scope {
        // A request does not say which schedule began its task: whoever looks for grants that hold there knows.
        StandingScope::User | StandingScope::Schedule { .. } => true,
        StandingScope::Project { workspace_id } => workspace == Some(*workspace_id),
        StandingScope::Task { task_id } => request.task_id == *task_id,
    };
    if !here {
        return Err("it is for another place".to_owned());
    }
    if let Cover::Act { action_sha256, .. } = &grant.cover {
        let bytes = seal::canon::to_canonical(&request.action).map_err(|e| e.to_string())?;
        return match Digest::of(&bytes) == *action_sha256 {
            true => Ok(()),
            false => Err("it is for another act".to_owned()),
        };
    }
    if let Cover::Chat { gateway, version, chat } = &grant.cover {
        return match &request.action {
            Action::Message(to) if (&to.gateway, to.version, &to.chat) == (gateway, *version, chat) => Ok(()),
            _ => Err("it is for messages to another chat".to_owned()),
        };
    }
    if let Cover::Anchor { clock, hosts } = &grant.cover {
        let Action::Anchor(asked) = &request.action else {
            return Err("it is for anchors".to_owned());
        };
        let spoken_with = asked.hosts().unwrap_or_default();
        let is_here = asked.clock == *clock && spoken_with.iter().all(|host| hosts.contains(host));
        return match (asked.costs(), is_here && !spoken_with.is_empty()) {
            (false, true) => Ok(()),
            (true, _) => Err("what costs money is asked about each time".to_owned()),
            (false, false) => Err("it is for another clock, or for other servers".to_owned()),
        };
    }
    if request.way_back() == model::action::Reversibility::Irreversible {
        return Err("it cannot be undone".to_owned());
    }
    match (&grant.cover, &request.action) {
        (Cover::Command { .. }, Action::Command(_)) => command(&grant.cover, request),
        (Cover::Paths { glob, acts }, Action::Change(acts::Change { items })) => {
            items.iter().try_for_each(|item| paths(item, acts, &|path| matches(glob, path)))?;
            delicate(items, std::slice::from_ref(glob))
        }
        (Cover::Host { name, port, write }, _) => host(name, *port, *write, request),
        _ => Err("it is for another kind of act".to_owned()),
    }
}

fn command(cover: &Cover, request: &ActionRequest) -> Result<(), String> {
    let (
        Cover::Command { words, whole, cwd, network, changes, programs },
        Action::Command(acts::Command { argv, cwd: at, network: wants, secrets, .. }),
    ) = (cover, &request.action)
    else {
        return Err("it is for another kind of act".to_owned());
    };
    if at != cwd {
        return Err("it is for another folder".to_owned());
    }
    if *wants && !network {
        return Err("it does not cover the network".to_owned());
    }
    if !secrets.is_empty() {
        return Err("a command that uses secrets is allowed each time anew".to_owned());
    }
    // Exactly these words are exactly these words, whatever a shell makes of them.
    let exactly = *whole && argv == words;
    if !exactly {
        for simple in simple_commands(argv)? {
            simple_covered(&simple, words, *whole)?;
        }
    }
    if let Some(reach) = &request.reach {
        for program in programs_of(argv) {
            same_program(&program, reach, programs)?;
        }
        match reach.secrets.first() {
            // Whoever allowed exactly these words has read the name in them.
            Some(path) if !exactly => {
                return Err(format!("`{path}`, which it can read, looks like a key or a password"));
            }
            _ => {}
        }
    }
    match &request.staged {
        Some(staged) => {
            let places = |path: &[u8]| changes.iter().any(|glob| matches(glob, path));
            let all = PathAct::ALL;
            staged.items.iter().try_for_each(|item| paths(item, all, &places))?;
            delicate(&staged.items, changes)
        }
        None if changes.iter().any(|glob| glob == "**") => Ok(()),
        None => Err("what it would change is not known beforehand".to_owned()),
    }
}

/// Programs that the words of a command start, as far as they can be read: its own, and those that a shell is told of.
pub(crate) fn programs_of(argv: &[String]) -> Vec<String> {
    let mut all: Vec<String> = argv.first().cloned().into_iter().collect();
    let simple = simple_commands(argv).unwrap_or_default();
    all.extend(simple.into_iter().filter_map(|one| one.words.into_iter().next().flatten()));
    all.dedup();
    all
}

/// A program is the one that was meant: found outside of the project, and where the grant names it, the same file with
/// the same bytes. A shell is one of the system's own. A bare word that leads nowhere is the shell's own, or fails.
fn same_program(word: &str, reach: &Reach, meant: &[Program]) -> Result<(), String> {
    let named = |program: &&Program| program.name == word;
    let (found, meant) = (reach.programs.iter().find(named), meant.iter().find(named));
    let shells = ["/usr/bin/", "/bin/"];
    match (found, meant) {
        (Some(found), _)
            if programs::is_read_shell(word) && !shells.iter().any(|at| found.path.starts_with(at)) =>
        {
            Err(format!("`{word}` is `{}` here, and no shell of the system", found.path))
        }
        (Some(found), Some(meant)) if found != meant => {
            Err(format!("`{word}` is another program than the one that was allowed"))
        }
        (None, Some(_)) => Err(format!("`{word}` is not the program that was allowed")),
        (None, None) if word.contains('/') => Err(format!("`{word}` is no program outside of the project")),
        _ => Ok(()),
    }
}

fn simple_covered(simple: &Simple, words: &[String], whole: bool) -> Result<(), String> {
    let fits = |(at, word): (usize, &String)| simple.words.get(at).and_then(Option::as_ref) == Some(word);
    let same = words.iter().enumerate().all(fits);
    let length = if whole { simple.words.len() == words.len() } else { simple.words.len() >= words.len() };
    // A program of the project can be rewritten by whoever may write there.
    let program = simple.words.first().and_then(Option::as_ref).map_or("", String::as_str);
    if program.contains('/') && !program.starts_with('/') {
        return Err(format!("`{program}` lies in the project, so it may be another program each time"));
    }
    if same && length { Ok(()) } else { Err(format!("`{program}` with these words is not covered")) }
}

fn paths(item: &ChangeItem, acts: &[PathAct], fits: &dyn Fn(&[u8]) -> bool) -> Result<(), String> {
    let may = |act: PathAct| {
        if acts.contains(&act) { Ok(()) } else { Err(format!("it does not cover `{act}`")) }
    };
    match item {
        ChangeItem::Write { prior: Prior::Absent, .. } | ChangeItem::Folder { was: None, .. } => {
            may(PathAct::Create)?;
        }
        ChangeItem::Write { prior: Prior::Sha256(_) | Prior::EmptyFolder | Prior::Link(_), .. }
        | ChangeItem::Folder { was: Some(_), .. } => {
            may(PathAct::Overwrite)?;
        }
        // Where a link leads is not said by its path: a person sees each.
        ChangeItem::Link { path, .. } => return Err(format!("`{path}` is a link, which it does not cover")),
        ChangeItem::Delete { .. } => may(PathAct::Delete)?,
        ChangeItem::Move { .. } => {
            may(PathAct::Delete)?;
            may(PathAct::Create)?;
        }
    }
    match changed_paths(item).find(|path| !fits(path.as_bytes())) {
        Some(outside) => Err(format!("`{outside}` lies outside of it")),
        None => Ok(()),
    }
}

/// Secrets and what acts later as code are covered only where they are named outright, and a file that may be run
/// or runs as somebody else nowhere.
fn delicate(items: &[ChangeItem], globs: &[String]) -> Result<(), String> {
    let named = |path: &RelPath| {
        globs.iter().any(|glob| glob::is_literal(glob) && glob.as_bytes() == path.as_bytes())
    };
    for item in items {
        let grave = |path: &&RelPath| {
            matches!(path_kind(path), PathKind::ActsLater | PathKind::Secret) && !named(path)
        };
        if let Some(path) = changed_paths(item).find(grave) {
            return Err(format!("`{path}` is delicate, and it does not name it outright"));
        }
        if let ChangeItem::Write { path, mode: Some(mode), .. } = item {
            if mode & 0o6000 != 0 {
                return Err("a file would run as somebody else".to_owned());
            }
            if mode & 0o111 != 0 {
                return Err(format!("`{path}` could be run; that is asked about each time"));
            }
        }
    }
    Ok(())
}

fn host(name: &str, port: u16, write: bool, request: &ActionRequest) -> Result<(), String> {
    let fits = |resource: &ResourceId| match resource {
        ResourceId::Host(host, at) => {
            *at == port
                && match name.strip_prefix('*') {
                    Some(ending) => host.len() > ending.len() && host.ends_with(ending),
                    None => host == name,
                }
        }
        _ => false,
    };
    let network = |class: &ActionClass| {
        *class == ActionClass::NetworkRead || (write && *class == ActionClass::NetworkWrite)
    };
    let targets = &request.target_resources;
    let reached = !targets.is_empty() && targets.iter().all(fits);
    if reached && request.action.classes().iter().all(network) {
        Ok(())
    } else {
        Err("it reaches elsewhere".to_owned())
    }
}

/// Whether a standing grant is in force at a time, for a band and what the proposer has read.
///
/// # Errors
/// `standing_*`: why it is not.
pub(crate) fn holds(
    standing: &InForce<'_>,
    risk: RiskBand,
    untrusted: bool,
    now: UnixMs,
) -> Result<(), Refusal> {
    let InForce { grant, uses, .. } = standing;
    // An override only turns a no into a question; whoever answers it sees the risk.
    let overrides = grant.override_reason.is_some();
    demand(overrides || risk != RiskBand::Critical, "standing_critical", || {
        "critical risk is always asked about".to_owned()
    })?;
    demand(grant.issued_at <= now && now < grant.expires_at, "standing_expired", || {
        "the standing grant has expired".to_owned()
    })?;
    demand(*uses < grant.max_uses, "standing_spent", || "the standing grant is used up".to_owned())?;
    demand(overrides || grant.after_untrusted || !untrusted, "standing_untrusted", || {
        "the model has read files or names that may contain instructions".to_owned()
    })?;
    sound(grant)
}

/// The first that answers for a request, in the order given; or the first override of policy for it.
pub(crate) fn find<'s, 'g>(
    standing: &'s [InForce<'g>],
    overrides: bool,
    request: &ActionRequest,
    risk: RiskBand,
    untrusted: bool,
    now: UnixMs,
) -> Option<&'s InForce<'g>> {
    let mut meant = standing.iter().filter(|one| one.grant.override_reason.is_some() == overrides);
    meant.find(|one| holds(one, risk, untrusted, now).is_ok() && covers(one.grant, request).is_ok())
}
