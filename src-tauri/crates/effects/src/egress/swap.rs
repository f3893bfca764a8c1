//! Sentinels: what a process holds instead of a value, as long as the value, so that one takes the other's place in a
//! stream without anything else moving.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

/// What is looked for, and what takes its place.
type Pair = (Zeroizing<Vec<u8>>, Zeroizing<Vec<u8>>);

/// Something replaced by something as long.
pub(super) struct Swap {
    pairs: Vec<Pair>,
    held: Zeroizing<Vec<u8>>,
    longest: usize,
}

impl Swap {
    /// Pairs that differ in length are no pairs; the caller makes them as long as each other.
    pub(super) fn new(pairs: Vec<Pair>) -> Self {
        let pairs: Vec<_> = pairs.into_iter().filter(|(a, b)| a.len() == b.len() && !a.is_empty()).collect();
        let longest = pairs.iter().map(|(from, _)| from.len()).max().unwrap_or(0);
        Self { pairs, held: Zeroizing::default(), longest }
    }

    /// Takes a piece; gives back what can no longer be part of something to replace.
    pub(super) fn push(&mut self, piece: &[u8]) -> Zeroizing<Vec<u8>> {
        if self.pairs.is_empty() {
            return Zeroizing::new(piece.to_vec());
        }
        self.held.extend_from_slice(piece);
        self.replace();
        let cut = self.held.len().saturating_sub(self.longest.saturating_sub(1));
        let rest = Zeroizing::new(self.held.split_off(cut));
        std::mem::replace(&mut self.held, rest)
    }

    /// A head whose passwords, which travel in base64, are as they are to be sent.
    pub(super) fn in_basic(&self, head: Vec<u8>) -> Zeroizing<Vec<u8>> {
        let mut head = Zeroizing::new(head);
        let name = b"authorization: basic ";
        let Some(at) = head.windows(name.len()).position(|part| part.eq_ignore_ascii_case(name)) else {
            return head;
        };
        let begin = at.saturating_add(name.len());
        let rest = head.get(begin..).unwrap_or_default();
        let length = rest.iter().position(|b| *b == b'\r').unwrap_or(rest.len());
        let Ok(said) = STANDARD.decode(rest.get(..length).unwrap_or_default()).map(Zeroizing::new) else {
            return head;
        };
        let mut inner = Self { pairs: self.pairs.clone(), held: said, longest: self.longest };
        inner.replace();
        // As long as before, in base64 too.
        let said = Zeroizing::new(STANDARD.encode(&*inner.held));
        if let Some(place) =
            head.get_mut(begin..begin.saturating_add(length)).filter(|p| p.len() == said.len())
        {
            place.copy_from_slice(said.as_bytes());
        }
        head
    }

    /// The end: everything that was held back.
    pub(super) fn end(&mut self) -> Zeroizing<Vec<u8>> {
        std::mem::take(&mut self.held)
    }

    fn replace(&mut self) {
        for (from, to) in &self.pairs {
            let mut at = 0;
            while let Some(rest) = self.held.get(at..).filter(|rest| rest.len() >= from.len()) {
                let Some(found) = rest.windows(from.len()).position(|part| part == from.as_slice()) else {
                    break;
                };
                let place = at + found..at + found + from.len();
                if let Some(place) = self.held.get_mut(place) {
                    place.copy_from_slice(to);
                }
                at += found + from.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(text.as_bytes().to_vec())
    }

    #[test]
    fn one_takes_the_others_place_wherever_the_pieces_are_cut() {
        let text = "Authorization: Bearer SENTINEL1\r\n\r\n{\"key\":\"SENTINEL1\",\"SENTINEL\":2}";
        let wanted = text.replace("SENTINEL1", "value-xyz");
        for step in 1..text.len() {
            let mut swap = Swap::new(vec![(bytes("SENTINEL1"), bytes("value-xyz"))]);
            let mut got = Vec::new();
            for piece in text.as_bytes().chunks(step) {
                got.extend_from_slice(&swap.push(piece));
            }
            got.extend_from_slice(&swap.end());
            assert_eq!(String::from_utf8(got).unwrap(), wanted, "{step}");
        }
    }

    #[test]
    fn a_password_in_base64_is_one_too() {
        let swap = Swap::new(vec![(bytes("SENTINEL1"), bytes("value-xyz"))]);
        let head = |password: &str| {
            let said = STANDARD.encode(format!("me:{password}"));
            format!("GET / HTTP/1.1\r\nauthorization: Basic {said}\r\nX: y\r\n\r\n").into_bytes()
        };
        assert_eq!(*swap.in_basic(head("SENTINEL1")), head("value-xyz"));
        assert_eq!(*swap.in_basic(head("another")), head("another"));
        assert_eq!(
            *swap.in_basic(b"Authorization: Basic %%\r\n\r\n".to_vec()),
            b"Authorization: Basic %%\r\n\r\n"
        );
    }

    #[test]
    fn without_pairs_nothing_is_held_back() {
        let mut swap = Swap::new(vec![(bytes("short"), bytes("longer"))]);
        assert_eq!(*swap.push(b"short"), b"short");
        assert!(swap.end().is_empty());
    }
}
