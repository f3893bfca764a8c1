//! Simulated meshes: churn, crashes, partitions, clocks that differ, relays that lie, a machine that is withdrawn.
//!
//! `HERMIT_MESH_NODES` says how many nodes (10 and 100 come before more), `HERMIT_MESH_SEED` from which seed; what fails says its
//! seed. What a node costs is told for each size. With `HERMIT_MESH_HARMLESS` no machine is hostile, for what the mesh itself costs.

mod hostile;
mod relay;
mod world;

use crate::fake::{Fake, Make};
use crate::heads::{head, log};
use mesh::sealed::NostrSealing;
use mesh::{Card, Command, Cosigned, Decision, Delivered, Fact, NodeId, Schedule, State};
use seal::note::{Checkpoint, Note};
use seal::{Digest, PublicKey, SeedSigner, Signer as _};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use world::World;

const MINUTE: i64 = 60_000;
/// Machines whose logs grow, and of all those who sign for them.
const LOGS: usize = 3;
const COSIGNERS: usize = 12;

/// What was done to a world, to be held against what came of it.
#[derive(Default)]
struct Done {
    routed: BTreeSet<String>,
    /// Conversations that are only ever handed over.
    conversations: Vec<String>,
    taken: String,
    approvals: u32,
    withdrawn: usize,
    /// The key of each machine's log.
    log_keys: Vec<PublicKey>,
    /// How many notes the logs of some machines have.
    logs: [u64; LOGS],
    /// What of the deliveries of each machine was looked at for heads.
    looked_at: BTreeMap<usize, usize>,
}

fn name(at: usize) -> String {
    format!("conversation-{at}")
}

fn begin<S: Make>(world: &mut World<S>) -> Done {
    let count = world.machines.len();
    let withdrawn = count - 1;
    let log_keys = world.machines.iter().map(|machine| machine.signer.public()).collect();
    let mut done = Done { withdrawn, taken: "taken".to_owned(), log_keys, ..Done::default() };
    for at in 0..(count / 8).clamp(2, 12) {
        let owner = world.rng.of(count - 1);
        world.say(owner, Command::Own { conversation: name(at) });
        done.conversations.push(name(at));
    }
    world.say(0, Command::Own { conversation: done.taken.clone() });
    for at in 0..(count / 50).clamp(1, 6) {
        let mut ranks = BTreeSet::new();
        while ranks.len() < 3.min(count - 1) {
            ranks.insert(world.rng.of(count - 1));
        }
        let ranks: Vec<usize> = ranks.into_iter().collect();
        let schedule = Schedule {
            schedule: format!("schedule-{at}"),
            version: 1,
            sha256: Digest::of(b"what a person approved"),
            ranks: ranks.iter().map(|node| world.machines[*node].id).collect(),
            term_ms: 5 * MINUTE,
        };
        world.ranks.insert(schedule.schedule.clone(), ranks.clone());
        world.say(ranks[0], Command::Schedule(schedule));
    }
    // Whoever asks knows the keys of two machines and of the one that will be withdrawn.
    for approver in [1 % count, 2 % count, withdrawn] {
        let (node, key) = (world.machines[approver].id, world.machines[approver].signer.public());
        for asker in 0..count.min(8) {
            if asker != approver {
                world.say(asker, Command::Register { node, key });
            }
        }
    }
    world.run(2 * MINUTE);
    done
}

fn route<S: Make>(world: &mut World<S>, done: &mut Done) {
    let count = world.machines.len();
    for _ in 0..4 {
        let from = world.rng.of(count - 1);
        if world.machines[from].node.is_some() {
            let conversation = done.conversations[world.rng.of(done.conversations.len())].clone();
            let envelope = format!("message {}", done.routed.len());
            world.say(from, Command::Route { conversation, envelope: envelope.clone() });
            done.routed.insert(envelope);
        }
    }
    let owner_of = |world: &World<S>, conversation: &str| {
        let nodes = 0..count - 1;
        nodes
            .into_iter()
            .find(|at| world.machines[*at].node.as_ref().is_some_and(|n| n.state().may_write(conversation)))
    };
    let conversation = done.conversations[world.rng.of(done.conversations.len())].clone();
    if let Some(owner) = owner_of(world, &conversation) {
        let to = world.rng.of(count - 1);
        if to != owner {
            let to = world.machines[to].id;
            world.say(owner, Command::HandOver { conversation, to, head: Digest::ZERO });
        }
    }
    let taker = world.rng.of(count - 1);
    if world.rng.percent(20) {
        // It may be the owner already, or know of none.
        let _ = world.try_say(taker, Command::Take { conversation: done.taken.clone() });
    }
}

fn ask<S: Make>(world: &mut World<S>, done: &mut Done, need: u8) {
    let asker = world.rng.of(world.machines.len().min(8) - 1);
    if world.machines[asker].node.is_none() {
        return;
    }
    let approvers = [1, 2, done.withdrawn].into_iter().filter(|at| *at != asker);
    let of = approvers.map(|at| world.machines[at].id).filter(|node| world.state(asker).is_peer(*node));
    let of: Vec<NodeId> = of.collect();
    let packet = vec![b'p'; 40_000];
    done.approvals += 1;
    let card = Card {
        approval: format!("approval-{}", done.approvals),
        packet: Digest::of(&packet),
        nonce: Digest::of(&done.approvals.to_be_bytes()),
        person: "prn_somebody".to_owned(),
        asked_at: world.clock(asker),
        expires_at: world.clock(asker).plus_ms(600 * MINUTE),
        need,
    };
    // Too few may be left who could say yes.
    let _ = world.try_say(asker, Command::Ask { card, packet, of });
}

fn origin(at: usize) -> String {
    format!("hermit.local/log-{at}")
}

/// The logs of some machines grow, and they tell it.
fn grow<S: Make>(world: &mut World<S>, done: &mut Done) {
    for at in 0..LOGS {
        if world.machines[at].node.is_some() {
            done.logs[at] += 1 + world.rng.next() % 4;
            let told = world.state(at).head(world.machines[at].id, &origin(at)).map_or(0, |head| head.size);
            let head = head(&origin(at), &log(done.logs[at], u64::MAX), told);
            world.say(at, Command::Head(head));
        }
    }
}

/// Some sign what they are to cosign.
fn cosign<S: Make>(world: &mut World<S>, done: &mut Done) {
    for index in 0..world.machines.len().min(COSIGNERS) {
        let delivered = &world.machines[index].delivered;
        let from = done.looked_at.insert(index, delivered.len()).unwrap_or(0);
        let heads = delivered.iter().skip(from).filter_map(|delivered| match delivered {
            Delivered::Head { from, .. } => Some(*from),
            _ => None,
        });
        for node in heads.collect::<Vec<_>>() {
            let (line, key) = ("a line".to_owned(), "a key".to_owned());
            let cosigned = Cosigned { origin: String::new(), size: 1, line, key };
            // It may be withdrawn by now.
            let _ = world.try_say(index, Command::Cosign { node, cosigned });
        }
    }
}

/// Everybody who was asked and has not answered says yes.
fn answer<S: Make>(world: &mut World<S>) {
    for index in 0..world.machines.len() {
        let asked = world.machines[index].delivered.iter().filter_map(|delivered| match delivered {
            Delivered::Question { from, card, .. } => Some((*from, card.clone())),
            _ => None,
        });
        for (asked_by, card) in asked.collect::<Vec<_>>() {
            // A machine that is dead answers nothing, and its questions may be over.
            let Some(node) = &world.machines[index].node else { continue };
            let Some(packet) = node.state().packet(asked_by, &card.approval) else { continue };
            let (packet, counter) = (Digest::of(&packet), node.state().answers() + 1);
            let (approval, nonce, decided_at) = (card.approval, card.nonce, world.clock(index));
            let decision = Decision { approval, packet, nonce, asked_by, allow: true, decided_at, counter };
            let signed = world.sign(index, decision);
            // It may be answered, or settled by others.
            let _ = world.try_say(index, Command::Decide(signed));
        }
    }
}

/// Every machine tells the key of its log, where it told another one or none, as its program does now and then.
fn tell_log_keys<S: Make>(world: &mut World<S>, done: &Done) {
    for (index, key) in done.log_keys.iter().enumerate().take(done.withdrawn) {
        world.say(index, Command::LogKey { key: *key });
    }
}

fn trouble<S: Make>(world: &mut World<S>, done: &mut Done, rounds: usize) {
    world.crashes = 2;
    for round in 0..rounds {
        for schedule in world.ranks.keys().cloned().collect::<Vec<_>>() {
            world.come_due(&schedule, &format!("slot-{round}"));
        }
        // Of each schedule one machine cannot run it for a while, now the first and now another.
        let one_of = |ranks: &Vec<usize>| ranks[round % ranks.len()];
        world.paused = world.ranks.values().map(one_of).collect();
        route(world, done);
        if round < 2 {
            // The first two machines take other keys for their logs, one after the other.
            done.log_keys[round] = SeedSigner::from_seed([u8::try_from(round).unwrap(); 32]).public();
            tell_log_keys(world, done);
        }
        grow(world, done);
        ask(world, done, if round % 2 == 0 { 1 } else { 2 });
        hostile::acts(world, done.withdrawn, &done.conversations, round);
        world.run(3 * MINUTE);
        answer(world);
        cosign(world, done);
        for _ in 0..(world.machines.len() / 10).max(1) {
            let dies = world.rng.of(world.machines.len());
            world.kill(dies);
        }
        world.cut(round % 3 == 1);
        if round == rounds / 2 {
            let by = (0..done.withdrawn).find(|at| world.machines[*at].node.is_some()).unwrap_or(0);
            if world.machines[by].node.is_none() {
                world.start(by);
            }
            let node = world.machines[done.withdrawn].id;
            world.say(by, Command::Withdraw(node));
        }
        world.run(12 * MINUTE);
    }
    world.crashes = 0;
    world.paused.clear();
    world.cut(false);
    for index in 0..world.machines.len() {
        if world.machines[index].node.is_none() {
            world.start(index);
        }
    }
    tell_log_keys(world, done);
    // A small mesh is left alone for as long as it takes; of a large one each hour is long.
    let slower = i64::try_from(world.machines.len() / 32).unwrap() + 1;
    let mut left = 150 * MINUTE * slower.min(8);
    while left > 0 && (slower == 1 || !is_whole(world, done)) {
        world.run(30 * MINUTE);
        left -= 30 * MINUTE;
    }
    if slower > 1 {
        // What comes twice would come by now.
        world.run(60 * MINUTE);
    }
}

/// Whether all that are left have the same notices and are in one group, and no letter waits: there is nothing left to be healed.
fn is_whole<S: Make>(world: &World<S>, done: &Done) -> bool {
    let first = world.state(0).has_digest();
    let (group, _) = world.groups(0);
    (0..done.withdrawn).all(|index| {
        let Some(node) = &world.machines[index].node else { return false };
        let state = node.state();
        let began = |(schedule, slot): &(String, String)| state.began(schedule, slot).is_some();
        state.waiting() == 0
            && state.held().next().is_none()
            && state.has_digest() == first
            && world.groups(index).0 == group
            && world.due.iter().all(began)
    })
}

fn check<S: Make>(world: &World<S>, done: &Done) {
    let all = 0..done.withdrawn;
    let withdrawn = world.machines[done.withdrawn].id;
    let mut given: BTreeMap<&str, u32> = BTreeMap::new();
    for index in all.clone() {
        let machine = &world.machines[index];
        let state = world.state(index);
        let facts = machine.facts.iter().map(|fact| &**fact);
        assert_eq!(&State::fold(machine.id, facts), state, "invariant 1, machine {index}");
        assert!(!state.is_peer(withdrawn), "machine {index} knows that it was withdrawn");
        for (to, lane) in state.lanes() {
            let opened = all
                .clone()
                .find(|at| world.machines[*at].id == *to)
                .map(|at| world.state(at).taken(machine.id));
            assert!(
                lane.waiting.is_empty(),
                "machine {index}: {:?} not opened, {opened:?} opened",
                lane.waiting.keys()
            );
        }
        // Of a machine that says two things under one number, nobody has to have the same one once it is withdrawn.
        let has = |state: &State| -> Vec<_> {
            let all = state.has().into_iter();
            all.map(|(maker, known)| (maker, known.upto, (maker != withdrawn).then_some(known.id))).collect()
        };
        assert_eq!(has(state), has(world.state(0)), "machine {index} lacks notices");
        let kept: usize = state.has().keys().map(|maker| state.notices(*maker).len()).sum();
        assert!(kept <= 300 * world.machines.len(), "machine {index} keeps {kept} notices");
        for delivered in &machine.delivered {
            if let Delivered::Input { input, epoch } = delivered {
                *given.entry(&input.envelope).or_default() += 1;
                assert!(state.counts(&input.conversation, *epoch, machine.id), "invariant 5: {input:?}");
            }
        }
        for conversation in done.conversations.iter().chain([&done.taken]) {
            let owner = state.owner(conversation);
            assert_eq!(owner, world.state(0).owner(conversation), "machine {index}");
            assert!(owner.is_some_and(|(epoch, _)| epoch < 1_000), "nobody takes the last epochs there are");
        }
        for at in all.clone() {
            let known = state.log_key(world.machines[at].id);
            assert_eq!(
                known,
                Some(&done.log_keys[at]),
                "the log of machine {at} as machine {index} knows it"
            );
        }
        let (newest, _) = world.groups(index);
        assert_eq!(newest, world.groups(0).0, "machine {index} is in another group");
        let (_, stolen) = world.groups(done.withdrawn);
        assert!(
            newest.is_some_and(|group| !stolen.contains(&group)),
            "the machine that was withdrawn reads on"
        );
        check_withdrawn(&machine.facts, withdrawn);
        check_heads(world, done, index);
    }
    for envelope in &done.routed {
        assert_eq!(given.get(envelope.as_str()), Some(&1), "invariant 2: `{envelope}`");
    }
    for (schedule, slot) in &world.due {
        let counted: BTreeSet<_> = all.clone().map(|at| world.state(at).began(schedule, slot)).collect();
        assert_eq!(counted.len(), 1, "invariant 6: {schedule} {slot}");
        assert!(counted.first().unwrap().is_some(), "{schedule} {slot} did not begin");
    }
}

/// Invariant 9: everybody knows the newest head of each log, was to cosign none but longer ones, and took no log for one that went
/// back that did not.
fn check_heads<S: Make>(world: &World<S>, done: &Done, index: usize) {
    let delivered = &world.machines[index].delivered;
    for (at, size) in done.logs.iter().enumerate() {
        let maker = world.machines[at].id;
        let head = world.state(index).head(maker, &origin(at));
        assert_eq!(head.map(|head| head.size), Some(*size), "machine {index} of {at}");
        let sizes: Vec<u64> = delivered
            .iter()
            .filter_map(|delivered| match delivered {
                Delivered::Head { from, note } if *from == maker => {
                    Some(Checkpoint::from_text(&Note::parse(note.as_bytes()).unwrap().text).unwrap().size)
                }
                _ => None,
            })
            .collect();
        assert!(sizes.windows(2).all(|two| two[0] < two[1]), "machine {index} of {at}: {sizes:?}");
        let went_back = |one: &Delivered| matches!(one, Delivered::RolledBack { from, .. } if *from == maker);
        assert!(!delivered.iter().any(went_back), "machine {index}: the log of {at} only grew");
    }
    // In a small group everybody may have missed a head, and then nobody signs the one that follows.
    if index < LOGS && world.machines.len() >= 8 {
        let signed = |one: &&Delivered| matches!(one, Delivered::Cosigned { .. });
        assert!(delivered.iter().filter(signed).count() > 0, "somebody signed for {index}");
    }
}

/// Invariant 7: whatever that machine said yes to, it counted before the withdrawal was recorded or not at all.
fn check_withdrawn(facts: &[Rc<Fact>], withdrawn: NodeId) {
    let is_it = |fact: &Fact| matches!(fact, Fact::Withdrawn { node, .. } if *node == withdrawn);
    let at = facts.iter().position(|fact| is_it(fact));
    let later = facts.iter().skip(at.unwrap());
    let is_believed = |fact: &Fact| match fact {
        Fact::Decided { from, .. } | Fact::Took { from, .. } | Fact::Skipped { from, .. } => {
            *from == withdrawn
        }
        Fact::Queued { to, .. } => *to == withdrawn,
        _ => false,
    };
    assert!(
        !later.into_iter().any(|fact| is_believed(fact)),
        "nothing of it is taken and nothing is written to it"
    );
}

fn seed() -> u64 {
    std::env::var("HERMIT_MESH_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(17)
}

/// Says the seed of what fails.
struct Says(u64, usize);

impl Drop for Says {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("HERMIT_MESH_SEED={} HERMIT_MESH_NODES={}", self.0, self.1);
        }
    }
}

fn live<S: Make>(count: usize, seed: u64, rounds: usize) -> World<S> {
    let _says = Says(seed, count);
    let mut world = World::<S>::new(count, seed);
    let mut done = begin(&mut world);
    trouble(&mut world, &mut done, rounds);
    check(&world, &done);
    let decided = world.machines.iter().flat_map(|machine| &machine.delivered);
    let decided = decided.filter(|delivered| matches!(delivered, Delivered::Decided { .. })).count();
    let minutes = u64::try_from((world.now - world::BEGAN) / MINUTE).unwrap().max(1);
    let per_node = |total: u64| total * 1_440 / u64::try_from(count).unwrap() / minutes;
    eprintln!(
        "{count} nodes, {} h: {} messages and {} slots, each once; {decided} answers to {} questions; a node and day: {} messages and {} bytes written, {} read, of them {} presences, {} letters and notices; {} steps",
        minutes / 60,
        done.routed.len(),
        world.due.len(),
        done.approvals,
        per_node(world.cost.written),
        per_node(world.cost.bytes),
        per_node(world.cost.read),
        per_node(world.cost.presences),
        per_node(world.cost.wraps),
        per_node(world.cost.steps),
    );
    assert!(decided > 0, "somebody decided");
    world
}

#[test]
fn a_mesh_in_trouble_delivers_each_message_once_and_runs_each_slot_once() {
    let nodes: Option<usize> = std::env::var("HERMIT_MESH_NODES").ok().and_then(|nodes| nodes.parse().ok());
    match nodes {
        // What a node costs as the mesh grows to this size.
        Some(nodes) => {
            for nodes in [10, 100].into_iter().filter(|size| *size < nodes).chain([nodes]) {
                let began = std::time::Instant::now();
                live::<Fake>(nodes, seed(), 6);
                eprintln!("{nodes} nodes took {} s", began.elapsed().as_secs());
            }
        }
        None => {
            for (nodes, more) in [(5, 0), (5, 1), (10, 3)] {
                live::<Fake>(nodes, seed() + more, 6);
            }
        }
    }
}

#[test]
fn so_does_one_whose_seals_are_real() {
    live::<NostrSealing>(4, seed(), 2);
}
