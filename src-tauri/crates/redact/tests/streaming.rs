//! Pieces of a stream.

use crate::support::{disguises, knowing};
use proptest::prelude::*;
use redact::Stream;
use std::sync::Arc;

const VALUE: &[u8] = b"s3cr3t-V4lue-of-some-length";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_stream_loses_what_the_whole_would_lose_wherever_it_is_cut(
        form in 0_usize..64, cuts in prop::collection::vec(1_usize..9, 1..60),
        before in "[ -~]{0,30}", after in "[ -~]{0,30}",
    ) {
        let redactor = Arc::new(knowing(&[("v", VALUE), ("w", b"another-value-here")]));
        let forms = disguises(VALUE, before.as_bytes(), after.as_bytes());
        let (_, bytes) = forms.get(form % forms.len()).unwrap();
        let mut whole = bytes.clone();
        whole.extend_from_slice(b" and then more of it, another-value-here");
        let (mut stream, mut got, mut at) = (Stream::new(Arc::clone(&redactor)), Vec::new(), 0);
        for cut in cuts.iter().cycle() {
            let end = (at + cut).min(whole.len());
            got.extend(stream.push(&whole[at..end]));
            at = end;
            if at == whole.len() { break; }
        }
        got.extend(stream.end());
        prop_assert_eq!(got, redactor.bytes(&whole).rest.into_owned());
    }

    #[test]
    fn text_is_never_cut_inside_a_character(words in "\\PC{0,120}", step in 1_usize..5) {
        let redactor = Arc::new(knowing(&[("v", VALUE)]));
        let mut stream = Stream::new(Arc::clone(&redactor));
        let letters: Vec<char> = words.chars().collect();
        let mut got = String::new();
        for piece in letters.chunks(step) {
            got.push_str(&stream.push_text(&piece.iter().collect::<String>()));
        }
        got.push_str(&stream.end_text());
        prop_assert_eq!(got, words);
    }
}

#[test]
fn without_values_nothing_is_held_back() {
    let mut stream = Stream::new(Arc::new(redact::Redactor::default()));
    assert_eq!(stream.push(b"at once"), b"at once");
    assert!(stream.end().is_empty());
}

#[test]
fn a_flood_of_white_space_does_not_pile_up() {
    let mut stream = Stream::new(Arc::new(knowing(&[("v", VALUE)])));
    let given: usize = (0..100).map(|_| stream.push(&[b' '; 8192]).len()).sum();
    assert!(given > 600_000, "{given}");
}
