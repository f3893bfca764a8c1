//! Long conversations, made of parts by a seed: what was said, in its order, and questions about some of it. Every second question shares no
//! word with what answers it. The same seed gives the same conversations.

use std::collections::BTreeMap;

const PARTS: &str = include_str!("data/conversations.txt");
/// How many there are.
const CONVERSATIONS: usize = 8;
/// Sentences of each that say something, the talk between them, and the questions about it.
const FACTS: usize = 100;
const TALK: usize = 150;
const QUESTIONS: usize = 20;

/// The conversations of a seed: `# NAME` begins one, `- ` is what was said, `? ` a question about what stands above it.
pub fn made(seed: u64) -> String {
    let (parts, mut random) = (Parts::read(), Random(seed));
    let mut text = String::new();
    for number in 0..CONVERSATIONS {
        text.push_str(&format!("# conversation{number}\n"));
        parts.conversation(&mut random).into_iter().for_each(|line| text.push_str(&line));
    }
    text
}

#[derive(Default)]
struct Parts {
    /// What is spoken of, by either of its names.
    things: Vec<(&'static str, &'static str)>,
    /// What is said of one, what somebody asks in the words of it, and in other ones.
    facts: Vec<[&'static str; 3]>,
    talk: Vec<&'static str>,
    values: BTreeMap<&'static str, Vec<&'static str>>,
}

impl Parts {
    fn read() -> Self {
        let mut parts = Self::default();
        for line in PARTS.lines() {
            let Some((kind, rest)) = line.split_once(' ') else { continue };
            let fields: Vec<&'static str> = rest.split(" | ").collect();
            match (kind, fields.as_slice()) {
                ("#", _) => {}
                ("thing", [name, other]) => parts.things.push((*name, *other)),
                ("fact", [said, plain, other]) => parts.facts.push([*said, *plain, *other]),
                ("talk", [one]) => parts.talk.push(*one),
                (value, [one]) => parts.values.entry(value).or_default().push(*one),
                _ => panic!("no part of a conversation: {line}"),
            }
        }
        parts
    }

    /// What is said in one conversation, each with the question about it, where there is one.
    fn conversation(&self, random: &mut Random) -> Vec<String> {
        let things = 0..self.things.len();
        let mut all: Vec<(usize, usize)> =
            things.flat_map(|thing| (0..self.facts.len()).map(move |fact| (thing, fact))).collect();
        random.shuffle(&mut all);
        let mut said = Vec::new();
        for (number, (thing, fact)) in all.into_iter().take(FACTS).enumerate() {
            let (thing, [fact, plain, other]) = (self.things[thing], self.facts[fact]);
            let line = format!("- {}\n", self.filled(fact, thing, random));
            let asked = if number % 2 == 0 { plain } else { other };
            let asked = format!("? {}\n", self.filled(asked, thing, random));
            said.push(if number < QUESTIONS { line + &asked } else { line });
        }
        for _ in 0..TALK {
            let (line, thing) = (random.one(&self.talk), random.one(&self.things));
            said.push(format!("- {}\n", self.filled(line, thing, random)));
        }
        random.shuffle(&mut said);
        said
    }

    fn filled(&self, part: &str, (name, other): (&str, &str), random: &mut Random) -> String {
        let number = (11 + random.below(87)).to_string();
        let mut text = part.replace("{a}", name).replace("{b}", other).replace("{n}", &number);
        for (kind, values) in &self.values {
            text = text.replace(&format!("{{{kind}}}"), random.one(values));
        }
        text
    }
}

/// Numbers that look drawn, the same for the same seed (SplitMix64).
struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.draw() % end as u64) as usize
    }

    fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            let other = self.below(at + 1);
            all.swap(at, other);
        }
    }
}
