//! Random splices of a bundle's zip: whatever is cut out and put in, the result is refused or it is the bundle.

use crate::world::World;
use crate::world::tools::Bench;
use proptest::prelude::*;
use seal::Signer as _;
use std::sync::LazyLock;

static BUNDLE: LazyLock<(Vec<u8>, seal::PublicKey)> = LazyLock::new(|| {
    let world = World::new(1, 0);
    let mut zip = Vec::new();
    proof::export(&world, world.signers(), world.task, &World::everything(), &mut zip).unwrap();
    (zip, world.keys.manifest.public())
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_splice_is_refused(
        at in any::<prop::sample::Index>(),
        gone in 0_usize..300,
        put in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let (zip, key) = &*BUNDLE;
        let at = at.index(zip.len());
        let end = (at + gone).min(zip.len());
        let mutant = [&zip[..at], &put, &zip[end..]].concat();
        let report = Bench::new().verify(&mutant, &[proof::Trust::from(*key)]);
        prop_assert_eq!(report.exit_code(), if mutant == *zip { 0 } else { 5 }, "{}", report);
    }

    #[test]
    fn a_piece_of_the_bundle_put_elsewhere_in_it_is_refused(
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        length in 1_usize..500,
    ) {
        let (zip, key) = &*BUNDLE;
        let (from, to) = (from.index(zip.len()), to.index(zip.len()));
        let length = length.min(zip.len() - from.max(to));
        let mut mutant = zip.clone();
        mutant[to..to + length].copy_from_slice(&zip[from..from + length]);
        let report = Bench::new().verify(&mutant, &[proof::Trust::from(*key)]);
        prop_assert_eq!(report.exit_code(), if mutant == *zip { 0 } else { 5 }, "{}", report);
    }
}
