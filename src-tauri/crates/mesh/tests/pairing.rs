//! Pairing by a code: with the right one, with a wrong one, with somebody in between, and too late.

use crate::fake::{Make as _, Seeded};
use mesh::GroupSecret;
use mesh::pairing::{CODE_FOR_MS, Ended, Introduction, Pairing, Progress, draw_code};
use mesh::sealed::{NostrSealing, Sealing as _};
use model::UnixMs;
use seal::{Digest, SeedSigner, Signer as _};
use std::collections::BTreeSet;

const NOW: UnixMs = UnixMs(1_800_000_000_000);

fn about(name: &str) -> Introduction {
    let group = Some(GroupSecret {
        epoch: 1,
        secret: Digest::of(b"a group"),
        without: BTreeSet::new(),
        through: BTreeSet::new(),
    });
    let relays = vec!["wss://relay.example".to_owned()];
    let log_key = SeedSigner::from_seed([7; 32]).public();
    Introduction { name: name.to_owned(), relays, log_key, approval_key: None, group }
}

struct Two {
    keys: [NostrSealing; 2],
    sides: [Pairing; 2],
    chance: Seeded,
    ended: [Vec<Ended>; 2],
}

impl Two {
    fn new(shown: &str, typed: &str) -> Self {
        let keys = [NostrSealing::make([1; 32]), NostrSealing::make([2; 32])];
        let mut chance = Seeded(3);
        let inviter = Pairing::invite(keys[0].node(), about("laptop"), shown, NOW).unwrap();
        let joiner = Pairing::join(keys[1].node(), about("server"), typed, NOW, &mut chance).unwrap();
        Self { keys, sides: [inviter, joiner], chance, ended: [Vec::new(), Vec::new()] }
    }

    /// Hands over what each says until both are silent, as far as `passes` lets it through.
    fn talk(&mut self, now: UnixMs, passes: impl Fn(usize, usize) -> bool) -> usize {
        let mut said = 0;
        let mut waiting: Vec<(usize, Progress)> = vec![(1, self.sides[1].tick(now, &mut self.chance))];
        while let Some((by, progress)) = waiting.pop() {
            self.ended[by].extend(progress.ended);
            for frame in progress.write {
                said += 1;
                if passes(by, said) {
                    let to = 1 - by;
                    let heard = self.sides[to].received(&frame, &self.keys[to], now, &mut self.chance);
                    waiting.push((to, heard));
                }
            }
        }
        said
    }
}

#[test]
fn with_the_code_both_know_each_other_and_the_one_that_shows_it_gives_its_group() {
    let code = draw_code(&mut Seeded(1));
    let typed = code.to_lowercase().replace('-', " ");
    let mut two = Two::new(&code, &typed);
    two.talk(NOW, |_, _| true);
    let [Ended::Paired { peer: joiner, group: None }] = two.ended[0].as_slice() else {
        panic!("{:?}", two.ended)
    };
    let [Ended::Paired { peer: inviter, group: Some(group) }] = two.ended[1].as_slice() else {
        panic!("{:?}", two.ended)
    };
    assert_eq!((joiner.node, joiner.name.as_str()), (two.keys[1].node(), "server"));
    assert_eq!((inviter.node, inviter.name.as_str()), (two.keys[0].node(), "laptop"));
    assert_eq!(Some(group), about("laptop").group.as_ref());
}

#[test]
fn what_a_relay_loses_is_said_again_and_pairs_once() {
    let code = draw_code(&mut Seeded(1));
    let mut two = Two::new(&code, &code);
    // The last words of the machine that shows the code are lost, twice.
    two.talk(NOW, |by, said| !(by == 0 && said > 2));
    assert_eq!((two.ended[0].len(), two.ended[1].len()), (1, 0));
    two.talk(NOW.plus_ms(2_000), |by, _| by == 1);
    two.talk(NOW.plus_ms(4_000), |_, _| true);
    assert_eq!((two.ended[0].len(), two.ended[1].len()), (1, 1));
}

/// The machine at which the code is typed once more.
fn types(two: &mut Two, code: &str) {
    two.sides[1] = Pairing::join(two.keys[1].node(), about("server"), code, NOW, &mut two.chance).unwrap();
    two.talk(NOW, |_, _| true);
}

#[test]
fn a_slip_costs_one_try_of_three_and_both_say_how_many_are_left() {
    let mut two = Two::new("ABCD-EFGHJK", "ABCD-EFGHJL");
    two.talk(NOW, |_, _| true);
    assert_eq!(two.ended, [vec![], vec![Ended::WrongCode]], "the code that is shown counts on");
    assert_eq!((two.sides[0].tries_left(), two.sides[1].tries_left()), (2, 2));
    assert_eq!(two.talk(NOW.plus_ms(60_000), |_, _| true), 0, "nobody tries again but a person");
    types(&mut two, "ABCD-EFGHJM");
    assert_eq!((two.sides[0].tries_left(), two.sides[1].tries_left()), (1, 1));
    types(&mut two, "ABCD-EFGHJK");
    assert!(matches!(two.ended[0].as_slice(), [Ended::Paired { .. }]), "{:?}", two.ended[0]);
    assert!(matches!(two.ended[1].last(), Some(Ended::Paired { .. })), "{:?}", two.ended[1]);
}

#[test]
fn a_code_that_was_typed_wrong_three_times_counts_no_more_at_either() {
    let mut two = Two::new("ABCD-EFGHJK", "ABCD-EFGHJL");
    two.talk(NOW, |_, _| true);
    types(&mut two, "ABCD-EFGHJM");
    // The last word of it is lost, and said again.
    two.sides[1] =
        Pairing::join(two.keys[1].node(), about("server"), "ABCD-EFGHJN", NOW, &mut two.chance).unwrap();
    two.talk(NOW, |by, said| !(by == 0 && said > 2));
    assert_eq!((two.ended[0].len(), two.ended[1].len()), (1, 2));
    two.talk(NOW.plus_ms(3_000), |_, _| true);
    assert_eq!(two.ended, [vec![Ended::WrongCode], vec![Ended::WrongCode; 3]]);
    assert_eq!((two.sides[0].tries_left(), two.sides[1].tries_left()), (0, 0));
    types(&mut two, "ABCD-EFGHJK");
    assert_eq!((two.ended[0].len(), two.ended[1].len()), (1, 3), "not even the right one");
}

#[test]
fn who_answers_and_goes_no_further_has_three_guesses_and_who_never_answers_none() {
    let code = draw_code(&mut Seeded(1));
    let mut two = Two::new(&code, &code);
    for minute in 1..=4 {
        two.talk(NOW.plus_ms(minute * 60_000), |_, _| false);
    }
    assert!(two.ended[1].is_empty() && !two.sides[1].is_answered(), "nobody answered yet");
    for minute in 5..=8 {
        // Whatever it says of itself is lost, and with it every answer but the first.
        two.talk(NOW.plus_ms(minute * 60_000), |by, said| by == 0 || said == 1);
    }
    assert_eq!(two.ended[1], [Ended::Silent]);
}

#[test]
fn who_does_not_pair_says_why_and_only_under_the_key() {
    let code = draw_code(&mut Seeded(1));
    for by in [0, 1] {
        let mut two = Two::new(&code, &code);
        // The machine that shows the code knows the other; its last words are held back where it is the one that refuses.
        two.talk(NOW, |from, said| by == 1 || !(from == 0 && said > 2));
        let frame = two.sides[by].refuse("it was withdrawn", NOW, &mut two.chance).unwrap();
        let to = 1 - by;
        let heard = two.sides[to].received(&frame, &two.keys[to], NOW, &mut two.chance);
        assert_eq!(heard.ended, Some(Ended::Refused("it was withdrawn".to_owned())), "by {by}");
        // In another pairing with the same code it says nothing.
        let mut other = Two::new(&code, &code);
        other.chance = Seeded(99);
        other.talk(NOW, |from, said| by == 1 || !(from == 0 && said > 2));
        let heard = other.sides[to].received(&frame, &other.keys[to], NOW, &mut other.chance);
        assert_eq!(heard.ended, None);
    }
    let mut two = Two::new(&code, &code);
    assert!(two.sides[0].refuse("nobody is there", NOW, &mut two.chance).is_none());
}

#[test]
fn a_code_expires_and_only_a_code_is_one() {
    let code = draw_code(&mut Seeded(1));
    let mut two = Two::new(&code, &code);
    two.talk(NOW.plus_ms(CODE_FOR_MS + 1), |_, _| true);
    assert_eq!(two.ended[1], [Ended::Expired]);
    let mut chance = Seeded(3);
    let late = two.sides[0].tick(NOW.plus_ms(CODE_FOR_MS + 1), &mut chance);
    assert_eq!(late.ended, Some(Ended::Expired));
    // Nor does a clock that was set back make it count on.
    let mut early = Two::new(&code, &code);
    let late = early.sides[0].tick(NOW.plus_ms(-2 * CODE_FOR_MS), &mut chance);
    assert_eq!(late.ended, Some(Ended::Expired));
    for text in ["", "ABCD", "ABCD-EFGHJ", "ABCD-EFGHJKL", "ABCD-EFGHI0", &"A".repeat(10_000)] {
        assert!(Pairing::invite(two.keys[0].node(), about("x"), text, NOW).is_err(), "{text}");
    }
}

#[test]
fn what_was_said_in_a_pairing_opens_no_other_with_the_same_code() {
    let code = draw_code(&mut Seeded(1));
    let (mut one, mut other) = (Two::new(&code, &code), Two::new(&code, &code));
    let begin = one.sides[1].tick(NOW, &mut one.chance).write.remove(0);
    let reply = one.sides[0].received(&begin, &one.keys[0], NOW, &mut one.chance).write.remove(0);
    let joins = one.sides[1].received(&reply, &one.keys[1], NOW, &mut one.chance).write.remove(0);
    // Somebody who recorded it plays it to the same machine, which drew another half meanwhile.
    let mut chance = Seeded(99);
    let played = other.sides[0].received(&begin, &other.keys[0], NOW, &mut chance);
    assert_eq!(played.write.len(), 1);
    let played = other.sides[0].received(&joins, &other.keys[0], NOW, &mut chance);
    assert_eq!(played.ended, None);
}
