//! Trees against the text of RFC 6962, against published vectors, and against another implementation.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test that cannot go on stops where it stands"
)]

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use proptest::prelude::*;
use seal::{
    Digest, Error,
    merkle::{
        Frontier, Tree, consistency_proof, empty_root, inclusion_proof, leaf_hash, node_hash, proofs, root,
        verify_consistency, verify_inclusion,
    },
};

fn leaves(count: u64) -> Vec<Digest> {
    (0..count).map(|i| leaf_hash(format!("leaf {i}").as_bytes())).collect()
}

/// The definition of section 2.1, word for word.
fn root_by_definition(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [only] => *only,
        more => {
            let k = split_by_definition(more.len());
            node_hash(&root_by_definition(&more[..k]), &root_by_definition(&more[k..]))
        }
    }
}

/// The largest power of two smaller than `count`.
fn split_by_definition(count: usize) -> usize {
    let mut k = 1;
    while 2 * k < count {
        k *= 2;
    }
    k
}

/// PATH of section 2.1.1.
fn path_by_definition(index: usize, leaves: &[Digest]) -> Vec<Digest> {
    if leaves.len() == 1 {
        return Vec::new();
    }
    let (left, right) = leaves.split_at(split_by_definition(leaves.len()));
    let (mut path, sibling) = if index < left.len() {
        (path_by_definition(index, left), right)
    } else {
        (path_by_definition(index - left.len(), right), left)
    };
    path.push(root_by_definition(sibling));
    path
}

/// SUBPROOF of section 2.1.2.
fn subproof_by_definition(old: usize, leaves: &[Digest], known: bool) -> Vec<Digest> {
    if old == leaves.len() {
        return if known { Vec::new() } else { vec![root_by_definition(leaves)] };
    }
    let (left, right) = leaves.split_at(split_by_definition(leaves.len()));
    let (mut proof, sibling) = if old <= left.len() {
        (subproof_by_definition(old, left, known), right)
    } else {
        (subproof_by_definition(old - left.len(), right, false), left)
    };
    proof.push(root_by_definition(sibling));
    proof
}

const LARGEST: u64 = 40;

#[test]
fn every_root_and_proof_of_small_trees_is_the_one_the_rfc_defines() {
    let all = leaves(LARGEST);
    let tree = Tree::from_leaves(&all);
    for size in 0..=LARGEST {
        let leaves = &all[..size as usize];
        assert_eq!(root(leaves), root_by_definition(leaves), "{size}");
        assert_eq!(tree.root_at(size).unwrap(), root(leaves), "{size}");
        for index in 0..size {
            let expected = path_by_definition(index as usize, leaves);
            assert_eq!(tree.inclusion_proof_at(index, size).unwrap(), expected, "{index} of {size}");
            verify_inclusion(&leaves[index as usize], index, size, &expected, &root(leaves)).unwrap();
        }
        for old in 1..=size {
            let expected = subproof_by_definition(old as usize, leaves, true);
            assert_eq!(consistency_proof(old, leaves).unwrap(), expected, "{old} to {size}");
            verify_consistency(old, size, &root(&all[..old as usize]), &root(leaves), &expected).unwrap();
        }
    }
}

#[test]
fn every_wrong_index_size_leaf_or_length_of_an_inclusion_proof_is_refused() {
    let all = leaves(20);
    for size in 1..=20_u64 {
        let leaves = &all[..size as usize];
        let root = root(leaves);
        for index in 0..size {
            let leaf = leaves[index as usize];
            let proof = inclusion_proof(index, leaves).unwrap();
            for wrong in (0..=2 * size).filter(|wrong| *wrong != index) {
                assert!(
                    verify_inclusion(&leaf, wrong, size, &proof, &root).is_err(),
                    "{wrong} for {index}/{size}"
                );
            }
            assert!(verify_inclusion(&Digest::ZERO, index, size, &proof, &root).is_err());
            assert!(verify_inclusion(&leaf, index, size, &proof, &Digest::ZERO).is_err());
            assert!(verify_inclusion(&leaf, index, 0, &proof, &root).is_err());
            let longer = [proof.clone(), vec![Digest::ZERO]].concat();
            assert!(verify_inclusion(&leaf, index, size, &longer, &root).is_err());
            for at in 0..proof.len() {
                let mut missing = proof.clone();
                missing.remove(at);
                assert!(verify_inclusion(&leaf, index, size, &missing, &root).is_err());
                let mut changed = proof.clone();
                changed[at].0[at % 32] ^= 1;
                assert!(verify_inclusion(&leaf, index, size, &changed, &root).is_err());
                if at > 0 {
                    let mut swapped = proof.clone();
                    swapped.swap(at, at - 1);
                    assert!(verify_inclusion(&leaf, index, size, &swapped, &root).is_err());
                }
            }
        }
    }
}

#[test]
fn a_path_that_is_right_for_one_size_is_refused_for_every_size_that_needs_another_length() {
    // Two sizes with paths of one shape cannot be told apart by a path; the signed size settles that.
    let all = leaves(33);
    for size in 1..=33_u64 {
        let tree = Tree::from_leaves(&all[..size as usize]);
        for index in 0..size {
            let path = tree.inclusion_proof(index).unwrap();
            for claimed in index + 1..=33 {
                let needed = path_by_definition(index as usize, &all[..claimed as usize]).len();
                if needed == path.len() {
                    continue;
                }
                let reason = if needed < path.len() { "it is too long" } else { "it is too short" };
                let refusal = verify_inclusion(&all[index as usize], index, claimed, &path, &tree.root());
                assert_eq!(
                    refusal,
                    Err(Error::Proof { what: "inclusion proof", reason }),
                    "{index} of {size} as {claimed}"
                );
            }
        }
    }
}

#[test]
fn every_wrong_size_root_or_length_of_a_consistency_proof_is_refused() {
    let all = leaves(20);
    let at_size = |size: u64| root(&all[..size as usize]);
    for new in 1..=20_u64 {
        for old in 1..new {
            let proof = consistency_proof(old, &all[..new as usize]).unwrap();
            let check = |old_size, new_size, old_root: &Digest, new_root: &Digest, proof: &[Digest]| {
                verify_consistency(old_size, new_size, old_root, new_root, proof).is_ok()
            };
            let (old_root, new_root) = (at_size(old), at_size(new));
            assert!(check(old, new, &old_root, &new_root, &proof));
            for wrong in (0..=20).filter(|wrong| *wrong != old) {
                assert!(!check(wrong, new, &old_root, &new_root, &proof), "{wrong} for {old} to {new}");
                assert!(
                    !check(old, new, &at_size(wrong), &new_root, &proof),
                    "root {wrong} for {old} to {new}"
                );
            }
            assert!(!check(old, new, &old_root, &Digest::ZERO, &proof));
            assert!(!check(new, old, &new_root, &old_root, &proof), "a tree that shrank");
            assert!(!check(old, new, &old_root, &new_root, &[proof.clone(), vec![Digest::ZERO]].concat()));
            assert!(!check(old, new, &old_root, &new_root, &[]), "an empty proof");
            for at in 0..proof.len() {
                let mut missing = proof.clone();
                missing.remove(at);
                assert!(!check(old, new, &old_root, &new_root, &missing));
                let mut changed = proof.clone();
                changed[at].0[31] ^= 0x80;
                assert!(!check(old, new, &old_root, &new_root, &changed));
            }
        }
    }
}

#[test]
fn every_node_is_told_once_where_it_stands_when_it_is_complete() {
    let (mut frontier, mut told) = (Frontier::new(), Vec::new());
    for leaf in leaves(8) {
        frontier.push_with(leaf, &mut |level, index, hash| told.push((level, index, hash)));
    }
    let tree = Tree::from_leaves(&leaves(8));
    for (level, index, hash) in &told {
        assert_eq!(tree.node(*level, *index), Some(*hash), "level {level}, {index}");
    }
    let mut places: Vec<(u8, u64)> = told.iter().map(|(level, index, _)| (*level, *index)).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 8 + 4 + 2 + 1);
    assert_eq!((tree.frontier().size(), tree.frontier().root()), (8, tree.root()));
}

#[test]
fn a_tree_proves_nothing_about_leaves_it_does_not_have() {
    let tree = Tree::from_leaves(&leaves(5));
    let beyond = Err(Error::OutOfRange { asked: 6, size: 5 });
    assert_eq!(tree.inclusion_proof_at(0, 6), beyond);
    assert_eq!(tree.root_at(6).map(|_| Vec::new()), beyond);
}

#[test]
fn an_empty_tree_proves_nothing_but_that_it_is_empty() {
    let some = leaves(3);
    let full = root(&some);
    assert_eq!(empty_root().to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert!(verify_inclusion(&some[0], 0, 0, &[], &empty_root()).is_err());
    assert!(matches!(inclusion_proof(0, &[]), Err(Error::OutOfRange { asked: 0, size: 0 })));
    verify_consistency(0, 0, &empty_root(), &empty_root(), &[]).unwrap();
    verify_consistency(0, 3, &empty_root(), &full, &[]).unwrap();
    assert!(verify_consistency(0, 3, &Digest::ZERO, &full, &[]).is_err());
    assert!(verify_consistency(0, 3, &empty_root(), &full, &[some[0]]).is_err());
    assert!(verify_consistency(0, 0, &full, &full, &[]).is_err());
    assert!(verify_consistency(3, 3, &full, &empty_root(), &[]).is_err());
    assert!(verify_consistency(3, 3, &full, &full, &[some[0]]).is_err());
    verify_consistency(3, 3, &full, &full, &[]).unwrap();
}

#[test]
fn proofs_for_sizes_at_the_end_of_the_number_line_do_not_overflow() {
    let path = vec![Digest::ZERO; 64];
    assert!(verify_inclusion(&Digest::ZERO, u64::MAX - 1, u64::MAX, &path, &Digest::ZERO).is_err());
    assert!(verify_inclusion(&Digest::ZERO, 0, u64::MAX, &path, &Digest::ZERO).is_err());
    assert!(verify_consistency(1 << 63, u64::MAX, &Digest::ZERO, &Digest::ZERO, &path).is_err());
    // A node source that answers everything with the same hash is enough to walk a tree of any size.
    let nodes = |_, _| Some(Digest::ZERO);
    let proof = proofs::inclusion(u64::MAX - 1, u64::MAX, &nodes).unwrap();
    let root = proofs::root(u64::MAX, &nodes).unwrap();
    verify_inclusion(&Digest::ZERO, u64::MAX - 1, u64::MAX, &proof, &root).unwrap();
    assert!(
        proofs::consistency((1 << 63) + 1, u64::MAX, &nodes).unwrap().len() <= seal::merkle::PROOF_LEN_MAX
    );
}

/// The reference tree of the transparency-dev project and of RFC 6962's first implementation.
const REFERENCE_LEAVES: [&str; 8] =
    ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const REFERENCE_ROOTS: [&str; 8] = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

fn digests(texts: &[&str]) -> Vec<Digest> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn the_published_reference_tree_has_its_published_roots_and_proofs() {
    let leaves: Vec<Digest> =
        REFERENCE_LEAVES.iter().map(|leaf| leaf_hash(&hex::decode(leaf).unwrap())).collect();
    for (count, expected) in (1..).zip(REFERENCE_ROOTS) {
        assert_eq!(root(&leaves[..count]).to_string(), expected, "{count} leaves");
    }
    let inclusion = digests(&[
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]);
    assert_eq!(inclusion_proof(5, &leaves).unwrap(), inclusion);
    let consistency = digests(&[
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]);
    assert_eq!(consistency_proof(6, &leaves).unwrap(), consistency);
}

#[test]
fn a_leaf_and_a_node_never_hash_alike() {
    let (left, right) = (leaf_hash(b"l"), leaf_hash(b"r"));
    let both = [left.0, right.0].concat();
    assert_ne!(leaf_hash(&both), node_hash(&left, &right));
    assert_ne!(node_hash(&left, &right), node_hash(&right, &left));
}

#[test]
fn a_frontier_survives_its_store_at_every_size() {
    let mut frontier = Frontier::new();
    for leaf in leaves(70) {
        let bytes = frontier.to_bytes();
        assert_eq!(Frontier::from_bytes(&bytes).unwrap(), frontier);
        let json = seal::canon::to_canonical(&frontier).unwrap();
        assert_eq!(serde_json::from_slice::<Frontier>(&json).unwrap(), frontier);
        assert!(Frontier::from_bytes(&[bytes.clone(), vec![0]].concat()).is_err());
        assert!(Frontier::from_bytes(&bytes[..bytes.len() - 1]).is_err());
        frontier.push(leaf);
    }
    assert!(Frontier::from_parts(3, vec![Digest::ZERO]).is_err());
    assert!(serde_json::from_str::<Frontier>(r#"{"peaks":[],"size":1}"#).is_err());
    assert!(serde_json::from_str::<Frontier>(r#"{"peaks":[],"size":0,"more":1}"#).is_err());
}

#[test]
fn a_store_that_lost_a_node_is_told_which() {
    let nodes = |level, index| (level, index).ne(&(1, 0)).then_some(Digest::ZERO);
    assert_eq!(proofs::inclusion(2, 4, &nodes), Err(Error::MissingNode { level: 1, index: 0 }));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn another_implementation_builds_the_same_tree_and_proofs(
        data in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..200),
        index in any::<prop::sample::Index>(),
        old in any::<prop::sample::Index>(),
    ) {
        let mut oracle = MemoryBackedTree::<sha2::Sha256, Vec<u8>>::new();
        let mut tree = Tree::new();
        for leaf in &data {
            oracle.push(leaf.clone());
            tree.push(leaf_hash(leaf));
        }
        let root = tree.root();
        prop_assert_eq!(oracle.root().as_bytes().to_vec(), root.as_ref().to_vec());
        let index = index.index(data.len());
        let proof = tree.inclusion_proof(index as u64).unwrap();
        let theirs = oracle.prove_inclusion(index);
        prop_assert_eq!(theirs.as_bytes(), proof.iter().flat_map(|d| d.0).collect::<Vec<u8>>());
        verify_inclusion(&leaf_hash(&data[index]), index as u64, data.len() as u64, &proof, &root).unwrap();
        let old = old.index(data.len()) + 1;
        let proof = tree.consistency_proof(old as u64).unwrap();
        if old < data.len() {
            let theirs = oracle.prove_consistency(data.len() - old);
            prop_assert_eq!(theirs.as_bytes(), proof.iter().flat_map(|d| d.0).collect::<Vec<u8>>());
        }
        verify_consistency(old as u64, data.len() as u64, &tree.root_at(old as u64).unwrap(), &root, &proof).unwrap();
    }
}

#[test]
fn nothing_is_to_be_shown_from_no_leaves_or_to_the_same_tree() {
    for size in 1..20 {
        let tree = Tree::from_leaves(&leaves(size));
        assert_eq!(tree.consistency_proof(0).unwrap(), []);
        assert_eq!(tree.consistency_proof(size).unwrap(), []);
        assert!(tree.consistency_proof(size + 1).is_err());
    }
}
