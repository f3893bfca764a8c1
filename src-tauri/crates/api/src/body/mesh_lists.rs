//! What there is in the mesh: machines and how each stands, messages and how far each came, and the receipts of all machines in one
//! list.

use super::mesh::registry;
use super::mesh_names::Names;
use crate::convert::{all, opt, rows};
use crate::{Host, Wire as _};
use kernel::mesh_registry::{MeshMessage, MeshRegistry};
use mesh::{NodeId, Peer, State};
use model::UnixMs;
use projections::{Ask, Cursor, rows as projected};
use wire::mesh::{Message, MessageList, Messages, Node, NodeList, Nodes, Receipt, ReceiptList, Receipts};
use wire::{Error, Text};

/// Receipts of one millisecond that the place of a receipt tells apart.
const PLACES_PER_MS: u64 = 2_048;

pub(crate) fn nodes(host: &dyn Host, _: Nodes) -> Result<NodeList, Error> {
    host.kernel()?;
    listed(host)
}

/// Every machine that is or was paired, by name.
pub(super) fn listed(host: &dyn Host) -> Result<NodeList, Error> {
    let registry = registry(host)?;
    let live = host.mesh().and_then(|mesh| mesh.live()).unwrap_or_default();
    let names = Names::of(&registry);
    let Some(state) = registry.state() else { return Ok(NodeList { nodes: Vec::new() }) };
    let approvers = super::mesh_answers::approvers(host)?;
    let row = |(peer, is_withdrawn): (&Peer, bool)| {
        let here = live.here.get(&peer.node).filter(|_| !is_withdrawn);
        let (queued, accepted) = waiting(state, peer.node);
        Node {
            node: peer.node.to_string(),
            name: Text::Shown(names.shown(peer.node)),
            relays: peer.relays.clone(),
            here_until: here.map(|here| here.until.0),
            tools: here.map(|here| all(&here.can.tools)).unwrap_or_default(),
            models: here.map(|here| all(&here.can.models)).unwrap_or_default(),
            folders: here.map(|here| all(&here.can.folders)).unwrap_or_default(),
            load: here.map(|here| here.load),
            queued,
            accepted,
            approval_key: peer.approval_key.map(|key| seal::sshsig::fingerprint(&key)),
            is_approver: approvers.contains(&peer.node) && !is_withdrawn,
            is_withdrawn,
            is_public: live.public.contains(&peer.node) && !is_withdrawn,
            cosign_key: registry.cosign_key(peer.node).map(str::to_owned),
        }
    };
    let mut nodes: Vec<Node> = state.every_peer().map(row).collect();
    nodes.sort_by_cached_key(|one| (one.is_withdrawn, one.name.to_string().to_lowercase()));
    Ok(NodeList { nodes })
}

/// Messages for a machine that wait, and of those the ones that a relay has.
fn waiting(state: &State, node: NodeId) -> (u64, u64) {
    let lane = state.lanes().get(&node);
    let accepted = lane.into_iter().flat_map(|lane| lane.messages()).map(|(_, letter)| letter.accepted);
    accepted.fold((0, 0), |(queued, accepted), is_accepted| (queued + 1, accepted + u64::from(is_accepted)))
}

/// Messages for all machines that wait.
pub(super) fn waiting_for_all(state: &State) -> u64 {
    state.lanes().keys().map(|node| waiting(state, *node).0).sum()
}

pub(crate) fn messages(host: &dyn Host, p: Messages) -> Result<MessageList, Error> {
    let most = most(p.limit)?;
    let registry = registry(host)?;
    let names = Names::of(&registry);
    let older = registry.messages().rev().filter(|one| p.before.is_none_or(|before| one.place < before));
    let (found, before) = page(older, |one| one.place, most);
    let row = |one: &MeshMessage| Message {
        place: one.place,
        message: one.id.to_string(),
        at: one.at.0,
        is_outgoing: one.is_outgoing,
        node: one.node.to_string(),
        name: Text::Shown(names.shown(one.node)),
        conversation: one.conversation.clone(),
        text: one.text.clone().map(Text::Shown),
        state: one.state,
        accepted_by: one.accepted_by.clone(),
        never: one.never,
        task_id: opt(one.task_id),
        answer: one.answer.clone().map(Text::Shown),
        answered_at: one.answered_at.map(|at| at.0),
        waits_since: one.waits.filter(|told| told.waits).map(|told| told.heard_at.0),
    };
    Ok(MessageList { messages: found.into_iter().map(row).collect(), before })
}

/// What orders receipts of all machines, the newest first: their place, and then whose they are.
fn order(one: &Receipt) -> (u64, String, u64) {
    (one.place, one.node.clone(), one.number)
}

pub(crate) fn receipts(host: &dyn Host, p: Receipts) -> Result<ReceiptList, Error> {
    let most = most(p.limit)?;
    let registry = registry(host)?;
    let before = p.before.unwrap_or(u64::MAX);
    let mut found = of_others(&registry, before);
    found.extend(own(host, &registry, (before, most))?);
    found.sort_by_cached_key(|one| std::cmp::Reverse(order(one)));
    found.dedup_by(|one, other| (&one.node, one.number) == (&other.node, other.number));
    let (receipts, before) = page(found.into_iter(), |one| one.place, most);
    Ok(ReceiptList { receipts, before })
}

fn of_others(registry: &MeshRegistry, before: u64) -> Vec<Receipt> {
    let names = Names::of(registry);
    let row = |one: &kernel::mesh_registry::MeshReceipt| Receipt {
        place: place(one.line.at, one.line.number),
        node: one.node.to_string(),
        name: Text::Shown(names.shown(one.node)),
        number: one.line.number,
        sha256: one.line.sha256.to_string(),
        at: one.line.at.0,
        receipt_id: None,
    };
    registry.receipts().map(row).filter(|one| one.place < before).collect()
}

/// Receipts of this machine before a place: as many as a page has, and those of the same place.
fn own(
    host: &dyn Host,
    registry: &MeshRegistry,
    (before, most): (u64, usize),
) -> Result<Vec<Receipt>, Error> {
    let query = host.query()?;
    let node = opt(registry.node()).unwrap_or_default();
    let name = Text::Shown(registry.name().unwrap_or("this machine").to_owned());
    let row = |one: &projected::ReceiptRow| Receipt {
        place: place(one.issued_at, one.seq),
        node: node.clone(),
        name: name.clone(),
        number: one.seq,
        sha256: one.statement_sha256.to_string(),
        at: one.issued_at.0,
        receipt_id: Some(one.receipt_id.to_string()),
    };
    let (mut found, mut after) = (Vec::new(), None::<Cursor>);
    loop {
        let part = query.receipts(None, None, Ask::ALL.after(after)).wire()?;
        found.extend(part.rows.iter().map(row).filter(|one| one.place < before));
        after = part.next;
        if after.is_none() || found.len() > most {
            return Ok(found);
        }
    }
}

/// Where a receipt stands among those of all machines: by its time, and in one millisecond by its number.
fn place(at: UnixMs, number: u64) -> u64 {
    let ms = u64::try_from(at.0).unwrap_or(0);
    ms.saturating_mul(PLACES_PER_MS).saturating_add(number % PLACES_PER_MS)
}

fn most(limit: Option<u32>) -> Result<usize, Error> {
    Ok(usize::try_from(rows(limit)?).unwrap_or(usize::MAX))
}

/// The first rows of a list, and where the next page begins, if there is one. Rows of one place are not torn apart.
fn page<T>(list: impl Iterator<Item = T>, place: impl Fn(&T) -> u64, most: usize) -> (Vec<T>, Option<u64>) {
    let mut list = list.peekable();
    let mut found: Vec<T> = list.by_ref().take(most).collect();
    let last = found.last().map(&place);
    while let Some(next) = list.next_if(|next| last == Some(place(next))) {
        found.push(next);
    }
    let before = last.filter(|_| list.peek().is_some());
    (found, before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_between_two_places_and_the_next_begins_behind_it() {
        let places = [9, 8, 8, 8, 7];
        let of = |before: u64, most: usize| {
            page(places.into_iter().filter(|place| *place < before), |place| *place, most)
        };
        assert_eq!(of(u64::MAX, 2), (vec![9, 8, 8, 8], Some(8)));
        assert_eq!(of(8, 2), (vec![7], None));
        assert_eq!(of(u64::MAX, 5), (vec![9, 8, 8, 8, 7], None));
        assert_eq!(of(u64::MAX, 1), (vec![9], Some(9)));
        assert_eq!(of(7, 1), (vec![], None));
    }

    #[test]
    fn receipts_of_all_machines_stand_by_time_and_below_the_largest_number_of_json() {
        assert!(place(UnixMs(2), 1) > place(UnixMs(1), 2_047));
        assert!(place(UnixMs(1), 7) > place(UnixMs(1), 6));
        assert_eq!(place(UnixMs(-1), 3), 3, "a clock before 1970");
        // The year 2100.
        assert!(place(UnixMs(4_102_444_800_000), 2_047) < 1 << 53);
    }
}
