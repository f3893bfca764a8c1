//! A machine that was paired and then stolen: what it says with its own key, which its program never would.

use super::world::World;
use crate::fake::Make;
use crate::heads::{head, log};
use mesh::{
    Card, Cosigned, Decision, FORMAT, GroupSecret, HandOver, Known, Letter, NodeId, Notice, Opened, Says,
    Tells,
};
use seal::{Digest, canon};
use std::collections::{BTreeMap, BTreeSet};

/// One after the other of what it can do: none of it takes anything from the others.
pub fn acts<S: Make>(world: &mut World<S>, by: usize, conversations: &[String], round: usize) {
    if world.machines[by].node.is_none() {
        world.start(by);
    }
    if std::env::var_os("HERMIT_MESH_HARMLESS").is_some() {
        return;
    }
    for to in 0..world.machines.len().min(12) {
        if to != by && world.machines[to].node.is_some() {
            let conversation = conversations[world.rng.of(conversations.len())].clone();
            loose(world, by, to, round);
            numbered(world, by, to, &conversation, round);
        }
    }
    notices(world, by);
}

fn send<S: Make>(world: &mut World<S>, by: usize, letter: &Letter) {
    // Some have no canonical form: their numbers are too large.
    if let Ok(bytes) = canon::to_canonical(letter) {
        world.writes(by, letter.to, &String::from_utf8(bytes).unwrap());
    }
}

fn letter<S: Make>(world: &World<S>, by: usize, to: usize, number: u64, says: Says) -> Letter {
    let (from, to, zero) = (world.machines[by].id, world.machines[to].id, Digest::ZERO);
    Letter { format: FORMAT.to_owned(), from, to, number, says, before: zero, chain: zero }
}

fn anybody<S: Make>(world: &mut World<S>) -> NodeId {
    let count = world.machines.len();
    world.machines[world.rng.of(count)].id
}

/// What may be lost: of letters that nobody wrote, and groups that it drew and claims to be kept out of.
fn loose<S: Make>(world: &mut World<S>, by: usize, to: usize, round: usize) {
    let (me, other, anybody) = (world.machines[by].id, world.machines[to].id, anybody(world));
    let (at, made_up) = (world.clock(by), Digest::of(b"made up"));
    let known = Known { upto: 1 << 52, id: made_up };
    let part = u8::try_from(round % 64).unwrap();
    let group = |epoch: u64| {
        let (without, through) = (BTreeSet::from([anybody, me]), BTreeSet::new());
        Says::Group(GroupSecret { epoch, secret: Digest::of(b"its own group"), without, through })
    };
    let all = [
        Says::Opened(Opened { upto: 1, chain: made_up }),
        Says::Opened(Opened { upto: 1 << 49, chain: made_up }),
        Says::Opened(Opened { upto: 1 << 52, chain: made_up }),
        Says::From { number: 1 << 52, before: made_up },
        Says::Has { at, has: BTreeMap::new(), of: BTreeSet::new() },
        Says::Has { at, has: BTreeMap::new(), of: (0..=255).collect() },
        Says::Sums { at, sums: "0".repeat(512) },
        Says::Sums { at, sums: "é".repeat(256) },
        Says::Has {
            at,
            has: BTreeMap::from([(other, known), (me, known), (anybody, known)]),
            of: BTreeSet::from([part]),
        },
        group(1 << 52),
        group(1 << 39),
        group(u64::try_from(round).unwrap() + 1),
    ];
    for says in all {
        let one = letter(world, by, to, 0, says);
        send(world, by, &one);
    }
}

/// What it may not hand over, decide, ask or sign: as its next letters, far ahead, without what came before, and in another's name.
fn numbered<S: Make>(world: &mut World<S>, by: usize, to: usize, conversation: &str, round: usize) {
    let (me, other, anybody) = (world.machines[by].id, world.machines[to].id, anybody(world));
    let packet = Digest::of(b"a packet that nobody has");
    let (approval, nonce, decided_at) = (format!("approval-{round}"), Digest::ZERO, world.clock(by));
    let decision = Decision { approval, packet, nonce, asked_by: other, allow: true, decided_at, counter: 1 };
    let decision = world.sign(by, decision);
    let (approval, expires_at) = ("approval-1".to_owned(), decided_at.plus_ms(1 << 40));
    let (person, asked_at) = (String::new(), decided_at);
    let card = Card { approval, packet, nonce: packet, person, asked_at, expires_at, need: 1 };
    let (origin, key) = (String::new(), "k".repeat(8_000));
    let cosigned = Cosigned { origin, size: 0, line: "x".repeat(8_000), key };
    let hand_over = |epoch: u64| {
        Says::HandOver(HandOver { conversation: conversation.to_owned(), epoch, head: Digest::ZERO })
    };
    let next = world.state(to).owner(conversation).filter(|(_, owner)| *owner != me);
    let next = next.map(|(epoch, _)| hand_over(epoch + 1));
    let all = [hand_over(1 << 39), Says::Decision(decision), Says::Card(card), Says::Cosigned(cosigned)];
    // Those that its program sent are opened, where it was lucky: then these are the next.
    let lane = world.state(by).lanes().get(&other).cloned().unwrap_or_default();
    let (mut number, mut before) = (lane.last, lane.chain);
    for says in next.into_iter().chain(all) {
        number += 1;
        let chain = Digest::of(&number.to_be_bytes());
        let one = Letter { before, chain, ..letter(world, by, to, number, says) };
        before = chain;
        send(world, by, &Letter { number: number << 30, ..one.clone() });
        send(world, by, &Letter { before: packet, ..one.clone() });
        send(world, by, &Letter { from: anybody, ..one.clone() });
        send(world, by, &one);
    }
}

/// Two notices for each number, some far ahead, some that say that nobody needs what came before: of heads of one log that goes back
/// and forth, and of one log after the other.
fn notices<S: Make>(world: &mut World<S>, by: usize) {
    let me = world.machines[by].id;
    let sealing = world.sealing(by);
    let Some(group) = sealing.groups().last().copied() else { return };
    let known = world.state(by).has().get(&me).copied();
    let (upto, before) = known.map_or((0, None), |known| (known.upto, Some(known.id)));
    for (ahead, from) in [(1, 1), (1, 1), (3, 1), (70, 60), (9_000, 1), (1 << 40, 1 << 40)] {
        let number = upto + ahead;
        let origin = format!("log-{}", if ahead == 1 { 0 } else { world.rng.next() });
        let (size, others_from) = (1 + world.rng.next() % 40, world.rng.next() % 40);
        let tells = Tells::Head(head(&origin, &log(size, others_from), world.rng.next() % (size + 1)));
        let at = world.clock(by);
        let notice = Notice { format: FORMAT.to_owned(), number, before, from, at, tells };
        let Ok(text) = canon::to_canonical(&notice) else { continue };
        let event = sealing.sign(&String::from_utf8(text).unwrap(), at).unwrap();
        let text = canon::to_canonical(&event).unwrap();
        world.writes(by, group, &String::from_utf8(text).unwrap());
    }
}
