//! A person accepts a part of what was asked: what they chose becomes a request of its own, and the rest is denied with
//! their words (governance.md 2).
//!
//! The part names what it is of, by digest, and the question at which it was chosen. It is judged, shown and approved
//! like any request: choosing allows nothing. No standing grant answers it. Between the two there is one commit.

use super::approve::{Answered, By, pending};
use super::partial_hunks::{Cut, Resolved, after_a_part};
use crate::Error;
use crate::drive::{StandsIn, keep_draft};
use crate::kernel::Kernel;
use crate::state::TaskState;
use crate::tx::Tx;
use crate::writeup::NewArtifact;
use acts::folders::{MAKE_FOLDER, MAKE_MORE_FOLDERS};
use acts::{Action, ActionRequest};
use governance::PART;
use governance::approval::verify_denial;
use model::action::{ChangeItem, InsteadOf, LeftAsIs, Prior, Staged};
use model::approval::{Approval, ApprovalStatus, Choice, StagedChange, Surface};
use model::artifact::{ArtifactClass, ArtifactKind, TrustTier};
use model::attempt::AttemptStatus;
use model::body::ApprovalDenied;
use model::fault::Point;
use model::{ActionRequestId, ApprovalId, RelPath, ResourceId, Sensitive, TaskId, WorkspaceId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Names that the denial of the rest tells; the draft has all.
pub(super) const NAMED_MAX: usize = 20;

/// What a person chose of an act.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chosen {
    /// Places of its items.
    pub items: BTreeSet<usize>,
    /// Of files whose text it replaces, by their places: numbers of the hunks to take, from 1. Such a file is chosen by
    /// its hunks alone: with all of them whole, with none not at all.
    pub hunks: BTreeMap<usize, BTreeSet<usize>>,
}

impl Kernel {
    /// What a person chose of an act that waits: items, and of a text hunks. The act is denied, and the part of it is
    /// asked about as a request of its own, with the bytes that the chosen hunks make.
    ///
    /// # Errors
    /// [`Error::Input`] when nothing, everything, or what cannot be done by itself was chosen, or when the act has no
    /// parts; [`Error::Conflict`] when a file of which hunks were chosen is not as it was asked about;
    /// [`Error::KeyLocked`] without the receipt key.
    pub fn choose_part(
        &self,
        task_id: TaskId,
        approval_id: ApprovalId,
        surface: Surface,
        chosen: &Chosen,
        feedback: Option<&str>,
    ) -> Result<Answered, Error> {
        let cell = self.cell(task_id)?;
        let mut tx = self.begin_tx(&cell, Point::ApprovalDeny, model::principal::PrincipalType::User)?;
        let approval = pending(&tx, approval_id)?.clone();
        if approval.status != ApprovalStatus::Pending {
            return self.late(&tx, &approval);
        }
        let asked = self.request_in_hand(&tx)?;
        let act = self.act(&tx)?.clone();
        if act.authority.approval != Some(approval_id) {
            return Err(Error::Conflict("another act is in hand".to_owned()));
        }
        if let Action::Remember(all) = &asked.action {
            self.choose_claims(&mut tx, (&asked, all), &act, (&approval, surface), chosen, feedback)?;
            tx.commit()?;
            return Ok(Answered::Accepted { status: ApprovalStatus::Denied, task_id });
        }
        let resolved = self.cut_hunks(&tx, &asked, chosen)?;
        let (chosen, cuts) = (sound(&asked, &resolved, !chosen.hunks.is_empty())?, resolved.cuts);
        let left: Vec<&ChangeItem> = without(asked.items(), &chosen);
        let words = words_of(&left, &cuts, feedback);
        self.deny_whole(&mut tx, &approval, surface, &words)?;
        let draft = self.draft_of_rest(&mut tx, &asked, (&left, &cuts), &words, act.request.artifact_id)?;
        let policy =
            act.policy.as_ref().ok_or_else(|| Error::Broken("an act without a policy result".to_owned()))?;
        let by_hunks: String =
            cuts.iter().take(NAMED_MAX).map(|cut| format!("; {}", cut.taken_in_words())).collect();
        let rules = vec![format!(
            "a person's choice at {approval_id}: {} of {}{by_hunks}",
            chosen.len(),
            asked.items().len()
        )];
        let mut items: Vec<ChangeItem> = within(asked.items(), &chosen).cloned().collect();
        for cut in &cuts {
            cut.put_in(&mut tx, &mut items)?;
        }
        let part = self.part_of(&mut tx, &asked, items)?;
        let instead = StandsIn {
            asked: (&asked, &act.request),
            policy: (policy.policy_result_id, &policy.artifact),
            draft: &draft,
            mode: PART.to_owned(),
            rules,
        };
        instead.record(&mut tx, part, |part| {
            format!("a part that you chose: {}", part.action.as_tool().one_line())
        })?;
        tx.unblock("a person chose a part of it")?;
        tx.set_attempt(AttemptStatus::AwaitingPolicy, "a person chose a part of it")?;
        tx.commit()?;
        Ok(Answered::Accepted { status: ApprovalStatus::Denied, task_id })
    }

    /// The whole is denied, with the words of the person.
    pub(super) fn deny_whole(
        &self,
        tx: &mut Tx<'_>,
        approval: &Approval,
        surface: Surface,
        words: &str,
    ) -> Result<(), Error> {
        let packet = self.artifacts.read(&approval.approval_packet_sha256)?;
        let (said, who, now) = (Some(words.to_owned()), tx.actor().actor_id, tx.now());
        let decision = governance::approval::answer(&packet, Choice::Deny, surface, who, now, said)?;
        verify_denial(&decision, approval, &packet, now)?;
        tx.push_keyed(
            Some(format!("approval.resolve:{}", approval.approval_id)),
            ApprovalDenied {
                approval_id: approval.approval_id,
                decided_by: who,
                surface,
                envelope: None,
                feedback: Some(Sensitive::from(words.to_owned())),
            },
        );
        self.resolution_receipt(tx, approval, &decision, None, By::Key)
    }

    /// The request of the chosen items; of a staged command, the same run with these of its changes.
    fn part_of(
        &self,
        tx: &mut Tx<'_>,
        asked: &ActionRequest,
        items: Vec<ChangeItem>,
    ) -> Result<ActionRequest, Error> {
        let workspace =
            tx.task.workspace_hint.ok_or_else(|| Error::Input("the task has no workspace".to_owned()))?;
        let mut part = asked.clone();
        part.action_request_id = ActionRequestId::fresh(&*self.ports.clock, &*self.ports.entropy);
        part.proposed_by = tx.actor().actor_id;
        part.proposed_at = tx.now();
        match (&mut part.action, &mut part.staged) {
            (Action::Change(acts::Change { items: all }), _) => *all = items.clone(),
            (Action::Rollback(undo), _) => {
                undo_of_part(undo, workspace, &items);
                part.reason = reason_of_part(&asked.reason, &items);
            }
            (_, Some(staged)) => {
                staged
                    .notes
                    .push(format!("a person left {} of its changes out", staged.items.len() - items.len()));
                staged.diff_sha256 = self.diff_of_part(tx, staged, &items)?;
                staged.items = items.clone();
            }
            _ => return Err(Error::Broken("an act without parts".to_owned())),
        }
        part.action_class = part.gravest();
        part.target_resources =
            acts::resources_of(workspace, &part.action, part.staged.as_ref(), part.reach.as_ref());
        let touched: BTreeSet<ResourceId> = items
            .iter()
            .flat_map(acts::changed_paths)
            .map(|path| ResourceId::File(workspace, path.clone()))
            .collect();
        let executors = self.executors(tx)?;
        let found = executors.observe(&governance::witness::observable(&part.target_resources));
        let made = acts::folders::foreseen(workspace, &items, |places| executors.observe(places));
        let is_item = |effect: &str| {
            matches!(
                effect,
                "create" | "replace" | "delete" | "move_from" | "move_to" | MAKE_FOLDER | MAKE_MORE_FOLDERS
            )
        };
        part.expected_effects
            .retain(|effect| !is_item(&effect.effect) && !touched.contains(&effect.resource));
        part.expected_effects.extend(acts::items::expected(workspace, &items, &found));
        part.expected_effects.extend(made);
        part.reversibility_hint = match part.staged {
            Some(_) => part.known_way_back(),
            None => part.action.as_tool().reversibility(),
        };
        Ok(part)
    }

    /// The difference of a staged run, with the chosen changes alone.
    fn diff_of_part(
        &self,
        tx: &mut Tx<'_>,
        staged: &Staged,
        items: &[ChangeItem],
    ) -> Result<seal::Digest, Error> {
        let broken = |e: serde_json::Error| Error::Broken(format!("what a staged run showed: {e}"));
        let mut diff: Value =
            serde_json::from_slice(&self.artifacts.read(&staged.diff_sha256)?).map_err(broken)?;
        let paths: BTreeSet<&RelPath> = items.iter().flat_map(acts::changed_paths).collect();
        let all = diff.get_mut("changes").map(Value::take).unwrap_or_default();
        let mut changes: Vec<StagedChange> = serde_json::from_value(all).map_err(broken)?;
        changes.retain(|change| paths.contains(&change.path));
        if let Some(fields) = diff.as_object_mut() {
            fields.insert("changes".to_owned(), serde_json::to_value(&changes).map_err(broken)?);
        }
        let of = tx.artifacts.values().find(|a| a.content_hash == staged.diff_sha256);
        let new = NewArtifact::audit(ArtifactKind::Diff)
            .class(ArtifactClass::Evidence)
            .trust(TrustTier::Untrusted)
            .from(of.map(|a| a.artifact_id));
        let sensitivity = of.map_or(new.sensitivity, |a| a.sensitivity_class);
        Ok(tx.object(&diff, NewArtifact { sensitivity, ..new })?.sha256)
    }

    /// What is not done, line by line, with the words of the person.
    fn draft_of_rest(
        &self,
        tx: &mut Tx<'_>,
        asked: &ActionRequest,
        (left, cuts): (&[&ChangeItem], &[Cut]),
        words: &str,
        of: model::ArtifactId,
    ) -> Result<model::artifact::ArtifactRef, Error> {
        let rest = Action::Change(acts::Change { items: left.iter().map(|item| (*item).clone()).collect() });
        // What is left out makes no folder.
        let rest =
            ActionRequest { action: rest, staged: None, expected_effects: Vec::new(), ..asked.clone() };
        let mut lines = rest.in_words();
        lines.extend(cuts.iter().map(Cut::rest_in_lines));
        let lines = lines.join("\n");
        let alias = format!("left out of {}", asked.action.as_tool().one_line());
        keep_draft(tx, format!("{words}\n{lines}\n").as_bytes(), (of, &rest), alias)
    }
}

impl Kernel {
    /// The words with which a person left the rest out.
    pub(crate) fn words_with(&self, part: &InsteadOf) -> Result<String, Error> {
        Ok(self.draft_left(part)?.lines().next().unwrap_or_default().to_owned())
    }

    /// What a person left out of files of which they took hunks, as lines of a difference; none when they took whole
    /// files only.
    pub(crate) fn hunks_left(&self, part: &InsteadOf) -> Result<Option<String>, Error> {
        Ok(super::partial_hunks::left_in(&self.draft_left(part)?))
    }

    fn draft_left(&self, part: &InsteadOf) -> Result<String, Error> {
        Ok(String::from_utf8_lossy(&self.artifacts.read(&part.draft_sha256)?).into_owned())
    }

    /// Whether a person left every one of these changes out of a part that they chose.
    pub(crate) fn left_out_before(
        &self,
        state: &TaskState,
        denied: &ActionRequest,
        asked: &ActionRequest,
    ) -> Result<bool, Error> {
        if !matches!((&denied.action, &asked.action), (Action::Change(_), Action::Change(_))) {
            return Ok(false);
        }
        for record in state.approvals.values() {
            let part: ActionRequest = self.read_object(state, record.approval.requested_action_ref)?;
            let is_of_it = is_part(&part)
                && part
                    .instead_of
                    .as_ref()
                    .is_some_and(|of| of.action_request_id == denied.action_request_id);
            if is_of_it {
                let named = |of: &ActionRequest| -> BTreeMap<RelPath, ChangeItem> {
                    of.items().iter().map(|item| (item.path().clone(), item.clone())).collect()
                };
                let (all, done) = (named(denied), named(&part));
                let left = |item: &ChangeItem| match (all.get(item.path()), done.get(item.path())) {
                    (Some(whole), None) => whole == item,
                    (Some(whole), Some(cut)) => after_a_part(whole, cut, item),
                    (None, _) => false,
                };
                return Ok(asked.items().iter().all(left));
            }
        }
        Ok(false)
    }
}

/// What is told of the rest: the person's words, and what they left out.
fn words_of(left: &[&ChangeItem], cuts: &[Cut], feedback: Option<&str>) -> String {
    let whole = left.iter().map(|item| acts::visible_path(item.path()));
    let named: Vec<String> = cuts.iter().map(Cut::left_in_words).chain(whole).take(NAMED_MAX).collect();
    let more = match cuts.len().saturating_add(left.len()).saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let taken: String =
        cuts.iter().take(NAMED_MAX).map(|cut| format!("; taken: {}", cut.taken_in_words())).collect();
    with_words(format!("left out: {}{more}{taken}", named.join(", ")), feedback)
}

/// What was left out, behind the person's words where there are any.
pub(super) fn with_words(left: String, feedback: Option<&str>) -> String {
    // The words are one line of the draft.
    let feedback = feedback.map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
    match feedback.filter(|words| !words.is_empty()) {
        Some(words) => format!("{words} ({left})"),
        None => left,
    }
}

/// The undo of some items: something is left of each of its receipts, so that the rest can be undone another time.
fn undo_of_part(undo: &mut acts::Rollback, workspace: WorkspaceId, items: &[ChangeItem]) {
    let receipts = undo.receipts();
    // Which of several receipts an item is of is not on record; the receipt of the undo names those items it has done.
    if let [receipt_id] = receipts.as_slice() {
        let left = undo.items.iter().filter(|item| !items.contains(item)).map(|item| LeftAsIs {
            receipt_id: *receipt_id,
            resource: ResourceId::File(workspace, item.path().clone()),
            why: "you left it out".to_owned(),
            beside: None,
        });
        undo.left.extend(left.collect::<Vec<_>>());
    }
    (undo.also, undo.partly) = (Vec::new(), receipts);
    undo.items = items.to_vec();
}

/// The reason of an undo, without what it says of files that were left out: each such note begins with its file.
fn reason_of_part(reason: &str, items: &[ChangeItem]) -> String {
    let touched: BTreeSet<String> =
        items.iter().flat_map(acts::changed_paths).map(acts::visible_lossy).collect();
    let mut notes = reason.split("; `");
    let mut kept = notes.next().unwrap_or_default().to_owned();
    for note in notes {
        if note.split_once('`').is_some_and(|(path, _)| touched.contains(path)) {
            kept.push_str("; `");
            kept.push_str(note);
        }
    }
    kept
}

fn within<'a>(items: &'a [ChangeItem], chosen: &'a BTreeSet<usize>) -> impl Iterator<Item = &'a ChangeItem> {
    chosen.iter().filter_map(|at| items.get(*at))
}

fn without<'a>(items: &'a [ChangeItem], chosen: &BTreeSet<usize>) -> Vec<&'a ChangeItem> {
    items.iter().enumerate().filter(|(at, _)| !chosen.contains(at)).map(|(_, item)| item).collect()
}

/// A choice that can be done by itself: with the folders that it needs, and nothing that another item had to go before.
fn sound(asked: &ActionRequest, resolved: &Resolved, by_hunk: bool) -> Result<BTreeSet<usize>, Error> {
    let Resolved { items: chosen, cuts } = resolved;
    let has_parts = match &asked.action {
        Action::Change(_) => true,
        Action::Rollback(_) => !by_hunk,
        Action::Command(_) | Action::Call(_) => asked.staged.is_some(),
        _ => false,
    };
    let items = asked.items();
    let demand = |holds: bool, why: &str| if holds { Ok(()) } else { Err(Error::Input(why.to_owned())) };
    demand(has_parts && (items.len() > 1 || by_hunk), "this can be approved or denied only as a whole")?;
    demand(!chosen.is_empty(), "nothing was chosen; deny it instead")?;
    demand(chosen.iter().all(|at| *at < items.len()), "there is no such change in this")?;
    let mut at: Places<'_> = BTreeMap::new();
    for (n, item) in items.iter().enumerate() {
        acts::changed_paths(item).for_each(|path| at.entry(path).or_default().push(n));
    }
    let chosen = without_kept_folders(items, with_folders(items, chosen, &at), &at);
    demand(!chosen.is_empty(), "nothing was chosen but folders that are not empty then; deny it instead")?;
    demand(chosen.len() < items.len() || !cuts.is_empty(), "everything was chosen; approve it instead")?;
    for cut in cuts {
        let alone = items.get(cut.at).and_then(|item| at.get(item.path())).is_some_and(|all| all.len() == 1);
        demand(
            alone,
            &format!("{} is changed more than once here, and can be chosen only whole", cut.name()),
        )?;
    }
    match bound(items, &chosen, &at) {
        None => Ok(chosen),
        Some((one, other)) => {
            let name =
                |n: usize| items.get(n).map(|item| acts::visible_path(item.path())).unwrap_or_default();
            Err(Error::Input(format!("{} can be chosen only together with {}", name(one), name(other))))
        }
    }
}

/// Items by the places that they change.
type Places<'a> = BTreeMap<&'a RelPath, Vec<usize>>;

/// Every place on the way to what an item changes.
fn above(item: &ChangeItem) -> Vec<RelPath> {
    let mut all = Vec::new();
    for path in acts::changed_paths(item) {
        let mut up = path.parent();
        while !up.is_root() {
            let higher = up.parent();
            all.push(up);
            up = higher;
        }
    }
    all
}

const fn is_folder(item: &ChangeItem) -> bool {
    matches!(item, ChangeItem::Folder { .. })
}

/// The choice with the folders that are made for what is in it.
fn with_folders(items: &[ChangeItem], chosen: &BTreeSet<usize>, at: &Places<'_>) -> BTreeSet<usize> {
    let mut all = chosen.clone();
    let mut open: Vec<usize> = chosen.iter().copied().collect();
    while let Some(item) = open.pop().and_then(|n| items.get(n)) {
        for n in above(item).iter().filter_map(|up| at.get(up)).flatten() {
            let is_made = matches!(items.get(*n), Some(ChangeItem::Folder { was: None, .. }));
            if is_made && all.insert(*n) {
                open.push(*n);
            }
        }
    }
    all
}

/// An item that takes a folder away when nothing is in it any more.
const fn removes_folder(item: &ChangeItem) -> bool {
    matches!(item, ChangeItem::Delete { prior: Prior::EmptyFolder, .. })
}

/// The choice without the folders that are not empty by then, because something in them was left out.
fn without_kept_folders(
    items: &[ChangeItem],
    mut chosen: BTreeSet<usize>,
    at: &Places<'_>,
) -> BTreeSet<usize> {
    let mut open: Vec<usize> = (0..items.len()).filter(|n| !chosen.contains(n)).collect();
    while let Some(item) = open.pop().and_then(|n| items.get(n)) {
        for n in above(item).iter().filter_map(|up| at.get(up)).flatten() {
            if items.get(*n).is_some_and(removes_folder) && chosen.remove(n) {
                open.push(*n);
            }
        }
    }
    chosen
}

/// A chosen item and one left out that are about the same place, or about a place on the way to it: neither can be done
/// without the other as it was asked.
fn bound(items: &[ChangeItem], chosen: &BTreeSet<usize>, at: &Places<'_>) -> Option<(usize, usize)> {
    for places in at.values() {
        let one = places.iter().find(|n| chosen.contains(n));
        let other = places.iter().find(|n| !chosen.contains(n));
        if let (Some(one), Some(other)) = (one, other) {
            return Some((*one, *other));
        }
    }
    for (n, item) in items.iter().enumerate() {
        let is_chosen = chosen.contains(&n);
        let other_side = |m: &&usize| {
            chosen.contains(m) != is_chosen
                && items.get(**m).is_some_and(|other| !is_folder(other) && !removes_folder(other))
        };
        let met = above(item).iter().filter_map(|up| at.get(up)).flatten().find(other_side).copied();
        if let Some(met) = met {
            return Some(if is_chosen { (n, met) } else { (met, n) });
        }
    }
    None
}

/// What a part's receipt, its card and its proposer are told: how much was chosen of what.
pub(crate) fn is_part(request: &ActionRequest) -> bool {
    request.instead_of.as_ref().is_some_and(|instead| instead.mode == PART)
}
