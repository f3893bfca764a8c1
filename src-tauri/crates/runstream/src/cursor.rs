//! Where a replay goes on (RA 1.1: `Last-Event-ID` or `after_seq`; run-api.md: `cursor`).

use model::TaskId;

/// Version of the cursor's text.
const VERSION: &str = "j1";

/// Where a client says it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// It has nothing yet.
    Start,
    /// The opaque text of an earlier [`crate::Page`].
    Cursor(String),
    /// The `event_id` of the last event it has, as `Last-Event-ID` brings it.
    EventId(String),
    /// The `seq` of the last event it has; 0 for none.
    AfterSeq(u64),
}

model::names! {
    /// What a replay made of the position it was given.
    pub enum Resumed ("resumption") {
        /// From the start, as asked.
        FromStart = "from_start",
        /// Behind the position.
        Continued = "continued",
        /// From the start: the position belongs to another run, another journal, or a stream since written again.
        Foreign = "foreign",
        /// From the start: the position cannot be read.
        Malformed = "malformed",
        /// From the start: the position lies behind everything this journal has given out.
        Ahead = "ahead",
    }
}

impl Resumed {
    /// Whether the client must forget what it shows, because everything comes again.
    pub const fn starts_over(self) -> bool {
        match self {
            Self::Foreign | Self::Malformed | Self::Ahead => true,
            Self::FromStart | Self::Continued => false,
        }
    }
}

/// What a cursor is about; opaque to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) journal_id: [u8; 16],
    pub(crate) run_id: TaskId,
    pub(crate) generation: u64,
    pub(crate) seq: u64,
}

/// The stream a position is held against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream {
    pub(crate) journal_id: [u8; 16],
    pub(crate) run_id: TaskId,
    pub(crate) generation: u64,
    pub(crate) first_seq: u64,
    pub(crate) next_seq: u64,
}

impl Mark {
    pub(crate) fn to_text(self) -> String {
        let journal = uuid_text(&self.journal_id);
        format!("{VERSION}.{journal}.{}.{:x}.{:x}", self.run_id, self.generation, self.seq)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let version = parts.next()?;
        let journal = parts.next()?;
        let run_id = parts.next()?.parse().ok()?;
        let number = |text: &str| {
            let plain = !text.is_empty() && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            if plain { u64::from_str_radix(text, 16).ok() } else { None }
        };
        let generation = number(parts.next()?)?;
        let seq = number(parts.next()?)?;
        if version != VERSION || parts.next().is_some() || journal.len() != 32 {
            return None;
        }
        let journal_id = u128::from_str_radix(journal, 16).ok()?.to_be_bytes();
        Some(Self { journal_id, run_id, generation, seq })
    }
}

fn uuid_text(bytes: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*bytes))
}

/// The `seq` behind which a replay goes on, and what was made of the position.
pub(crate) fn resolve(position: &Position, stream: &Stream) -> (u64, Resumed) {
    let over = |why| (0, why);
    let seq = match position {
        Position::Start | Position::AfterSeq(0) => return over(Resumed::FromStart),
        Position::AfterSeq(seq) => *seq,
        Position::EventId(text) => {
            let read = text.rsplit_once(':').and_then(|(run, seq)| {
                let run: TaskId = run.parse().ok()?;
                let plain = seq.bytes().all(|b| b.is_ascii_digit());
                seq.parse::<u64>().ok().filter(|seq| plain && *seq > 0).map(|seq| (run, seq))
            });
            match read {
                None => return over(Resumed::Malformed),
                Some((run, _)) if run != stream.run_id => return over(Resumed::Foreign),
                Some((_, seq)) => seq,
            }
        }
        Position::Cursor(text) => match Mark::parse(text) {
            None => return over(Resumed::Malformed),
            Some(mark) => {
                let ours = mark.journal_id == stream.journal_id && mark.run_id == stream.run_id;
                if !ours || mark.generation != stream.generation {
                    return over(Resumed::Foreign);
                }
                if mark.seq == 0 {
                    return over(Resumed::FromStart);
                }
                mark.seq
            }
        },
    };
    match seq {
        _ if seq >= stream.next_seq => over(Resumed::Ahead),
        _ if seq < stream.first_seq => over(Resumed::Foreign),
        _ => (seq, Resumed::Continued),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        let run_id = format!("task_{:032x}", 7).parse().unwrap();
        Stream { journal_id: [9; 16], run_id, generation: 2, first_seq: 100, next_seq: 200 }
    }

    fn mark(seq: u64) -> Mark {
        let s = stream();
        Mark { journal_id: s.journal_id, run_id: s.run_id, generation: s.generation, seq }
    }

    #[test]
    fn a_cursor_reads_back_as_it_was_written() {
        for seq in [0, 1, 150, u64::MAX] {
            assert_eq!(Mark::parse(&mark(seq).to_text()), Some(mark(seq)));
        }
    }

    #[test]
    fn every_position_is_continued_or_starts_over_for_its_own_reason() {
        let s = stream();
        let other = Mark { run_id: format!("task_{:032x}", 8).parse().unwrap(), ..mark(150) };
        let text = |m: Mark| Position::Cursor(m.to_text());
        let id = |run: TaskId, seq: &str| Position::EventId(format!("{run}:{seq}"));
        let word = |w: &str| Position::Cursor(w.to_owned());
        for (position, expected) in [
            (Position::Start, (0, Resumed::FromStart)),
            (Position::AfterSeq(0), (0, Resumed::FromStart)),
            (text(mark(0)), (0, Resumed::FromStart)),
            (Position::AfterSeq(150), (150, Resumed::Continued)),
            (text(mark(199)), (199, Resumed::Continued)),
            (id(s.run_id, "100"), (100, Resumed::Continued)),
            (text(other), (0, Resumed::Foreign)),
            (text(Mark { journal_id: [8; 16], ..mark(150) }), (0, Resumed::Foreign)),
            (text(Mark { generation: 1, ..mark(150) }), (0, Resumed::Foreign)),
            (Position::AfterSeq(99), (0, Resumed::Foreign)),
            (id(other.run_id, "150"), (0, Resumed::Foreign)),
            (Position::AfterSeq(200), (0, Resumed::Ahead)),
            (text(mark(200)), (0, Resumed::Ahead)),
            (id(s.run_id, "18446744073709551615"), (0, Resumed::Ahead)),
            (id(s.run_id, "18446744073709551616"), (0, Resumed::Malformed)),
            (id(s.run_id, "+150"), (0, Resumed::Malformed)),
            (id(s.run_id, ""), (0, Resumed::Malformed)),
            (Position::EventId(String::new()), (0, Resumed::Malformed)),
            (word(""), (0, Resumed::Malformed)),
            (word("j2.00.task_1.1.1"), (0, Resumed::Malformed)),
            (word(&format!("{}.1", mark(150).to_text())), (0, Resumed::Malformed)),
        ] {
            assert_eq!(resolve(&position, &s), expected, "{position:?}");
        }
    }
}
