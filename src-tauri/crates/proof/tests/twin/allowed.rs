//! A person's lasting yes, right and wrong, and zips that are meant to harm.

use super::{Dice, Field, agree, followed, insider, many, zip};
use crate::world::tools::{Bench, Power, repair};
use crate::world::{World, answers, dual, passkeys, standing};
use proof::{Scope, Trust};
use seal::Signer as _;

#[cfg(unix)]
#[test]
fn the_twin_refuses_what_is_meant_to_harm_at_the_same_place() {
    let (harms, world) = crate::hostile::harms();
    let zips: Vec<(String, Vec<u8>)> = harms.into_iter().map(|(what, zip, _)| (what, zip)).collect();
    if let Some(valid) = agree(&zips, &Trust::from(world.keys.log.public())) {
        assert_eq!(valid, 0);
    }
}

#[test]
fn the_twin_judges_standing_grants_the_same_whatever_they_say() {
    let (mut compared, mut valid) = (0, 0);
    for case in standing::cases() {
        let one =
            proof::Options { scope: Scope::Receipt(case.world.receipts[0]), ..proof::Options::default() };
        let Field { world, files } = Field::new(case.world, &World::everything());
        let alone = Field::new(world, &one);
        let zips = [(case.what.to_owned(), zip(&files)), (format!("{}, alone", case.what), alone.zip())];
        let Some(more) = agree(&zips, &alone.trust()) else { return };
        (compared, valid) = (compared + zips.len(), valid + more);
    }
    let field = Field::new(World::under_a_standing_grant(), &World::everything());
    let mut dice = Dice(31);
    let zips: Vec<(String, Vec<u8>)> =
        std::iter::repeat_with(|| insider::rewritten(&field.files, &field.world, &mut dice))
            .take(many(100))
            .map(|(what, files)| (what, zip(&files)))
            .collect();
    let Some(more) = agree(&zips, &field.trust()) else { return };
    (compared, valid) = (compared + zips.len(), valid + more);
    assert!(valid > 12, "some must pass, or nothing deep was compared");
    println!("{compared} bundles with standing grants, {valid} of them valid: both verifiers say the same");
}

/// What our own verifier says is written in each case; the twin must say the same.
#[test]
fn an_answer_of_a_person_is_what_the_log_says_of_it_or_both_verifiers_refuse_it() {
    let (bench, mut zips, mut valid, mut trust) = (Bench::new(), Vec::new(), 0, None);
    for case in answers::cases() {
        let field = Field::new(case.world, &World::everything());
        let zip = field.zip();
        let report = bench.verify(&zip, &[field.manifest()]);
        assert_eq!(report.exit_code(), case.code, "{}: {report}", case.what);
        assert!(report.headline().contains(case.word), "{}: {report}", case.what);
        if case.code == 0 {
            let signed = u64::from(case.what != "a no that nobody signed");
            assert_eq!(report.counts.decisions, signed, "{}: {report}", case.what);
            valid += 1;
        }
        zips.push((case.what.to_owned(), zip));
        trust = Some(field.manifest());
    }
    if let Some(theirs) = agree(&zips, &trust.unwrap()) {
        assert_eq!(theirs, valid);
    }
}

#[test]
fn the_twin_judges_a_yes_by_a_passkey_the_same_whatever_is_said_of_it() {
    let (mut zips, mut valid, mut trust) = (Vec::new(), 0, None);
    for case in passkeys::cases() {
        let field = Field::new(case.world, &World::everything());
        valid += usize::from(case.code == 0);
        zips.push((case.what.to_owned(), field.zip()));
        trust = Some(field.manifest());
    }
    if let Some(theirs) = agree(&zips, &trust.unwrap()) {
        assert_eq!(theirs, valid);
    }
}

#[test]
fn the_twin_judges_what_two_keys_had_to_allow_the_same_whatever_is_said_of_them() {
    let (mut zips, mut valid, mut trust) = (Vec::new(), 0, None);
    for case in dual::cases() {
        let field = Field::new(case.world, &World::everything());
        valid += usize::from(case.code == 0);
        zips.push((case.what.to_owned(), field.zip()));
        trust = Some(field.manifest());
    }
    if let Some(theirs) = agree(&zips, &trust.unwrap()) {
        assert_eq!(theirs, valid);
    }
}

#[test]
fn an_answer_under_the_key_before_the_one_in_force_still_counts() {
    for yes in [true, false] {
        let mut world = World::plainly_answered(yes);
        let old = std::mem::replace(&mut world.keys.approval, seal::SeedSigner::from_seed([150; 32]));
        let Field { world, mut files } = Field::new(world, &World::everything());
        let note = followed(&world.log_id, "approval", &old, &world.keys.approval);
        let before = files.clone();
        files.insert("keys/rotations/1.note".to_owned(), note);
        repair(&mut files, Power::Receipt, &world);
        let trust = Trust::from(world.keys.manifest.public());
        let report = Bench::new().verify_files(&files, std::slice::from_ref(&trust));
        assert_eq!((report.exit_code(), report.counts.decisions), (0, 1), "{report}");
        // Without the note a yes lacks its key, and a no is by a stranger.
        let report = Bench::new().verify_files(&before, std::slice::from_ref(&trust));
        assert_eq!(report.exit_code(), if yes { 7 } else { 5 }, "{report}");
        let zips =
            [("followed", &files), ("alone", &before)].map(|(what, files)| (what.to_owned(), zip(files)));
        agree(&zips, &trust);
    }
}
