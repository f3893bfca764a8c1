//! Signing links and the statement of the first key.

use crate::chain::{Chain, key};
use identity::{Error, bind, lines, sign};
use seal::{SeedSigner, canon};

#[test]
fn a_link_is_signed_by_those_that_it_names_in_their_order_and_by_nobody_else() {
    let chain = Chain::of(2);
    let handover = chain.links[1].link.clone();
    let (old, new, other) = (key(0), key(1), key(7));
    assert_eq!(sign(handover.clone(), &[&old, &new]).as_ref(), Ok(&chain.links[1]));
    let refused = |keys: &[&seal::schnorr::SchnorrKey]| sign(handover.clone(), keys);
    for keys in [vec![&new, &old], vec![&old], vec![&old, &other], vec![&old, &new, &other], vec![]] {
        assert!(matches!(refused(&keys), Err(Error::Signers(_))));
    }
}

#[test]
fn two_keys_vouch_for_each_other_only_by_a_statement_that_names_both() {
    let bound = Chain::of(1).key;
    assert_eq!(bound.check(), Ok(()));
    let (log, instance) = (SeedSigner::from_seed([40; 32]), key(0));
    assert_eq!(bind(bound.statement.clone(), &log, &instance).as_ref(), Ok(&bound));
    let other = SeedSigner::from_seed([41; 32]);
    assert!(matches!(bind(bound.statement.clone(), &other, &instance), Err(Error::Signers(_))));
    assert!(matches!(bind(bound.statement.clone(), &log, &key(1)), Err(Error::Signers(_))));
    let swapped = identity::BoundKey { signature_by_log: bound.signature_by_instance.clone(), ..bound };
    assert!(swapped.check().is_err());
}

#[test]
fn a_file_is_the_line_of_the_key_and_those_of_links() {
    let chain = Chain::of(2);
    let key = canon::to_canonical(&chain.key).expect("it is canonical");
    let all = chain.lines();
    let with_key = [vec![key.clone()], all.clone()].concat().join(&b'\n');
    assert_eq!(lines(&with_key), (Some(key.as_slice()), all.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    let mut ended = all.join(&b'\n');
    ended.push(b'\n');
    assert_eq!(lines(&ended), (None, all.iter().map(Vec::as_slice).collect::<Vec<_>>()));
    assert_eq!(lines(b""), (None, Vec::new()));
    assert_eq!(lines(b"\n"), (None, Vec::new()));
}
