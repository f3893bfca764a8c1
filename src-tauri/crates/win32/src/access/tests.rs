//! Descriptors as Windows writes them, and what is made of them.

use super::*;

const EVERYONE: [u32; 1] = [0];
const ADMINISTRATORS: [u32; 2] = [32, 544];
const USERS: [u32; 2] = [32, 545];

fn user(last: u32) -> Sid {
    Sid::nt(&[21, 1, 2, 3, last])
}

/// A descriptor with an owner and these entries: kind, flags, rights, who.
fn descriptor(owner: &Sid, entries: &[(u8, u8, u32, Sid)]) -> Vec<u8> {
    let entry = |(kind, flags, rights, who): &(u8, u8, u32, Sid)| {
        let who = who.bytes();
        let size = length(8 + who.len()).to_le_bytes();
        [&[*kind, *flags][..], &size, &rights.to_le_bytes(), &who].concat()
    };
    let body: Vec<u8> = entries.iter().flat_map(entry).collect();
    let (size, count) = (length(8 + body.len()), length(entries.len()));
    let list = [&[2u8, 0][..], &size.to_le_bytes(), &count.to_le_bytes(), &[0, 0], &body].concat();
    let owner = owner.bytes();
    let owner_at = u32::from(length(20 + list.len())).to_le_bytes();
    let control = (PRESENT | IN_ONE).to_le_bytes();
    [&[1u8, 0][..], &control, &owner_at, &[0; 8], &20u32.to_le_bytes(), &list, &owner].concat()
}

#[test]
fn invariant_1_what_is_made_gives_the_file_to_one_user_and_the_system() {
    for is_folder in [false, true] {
        let made = owner_only(&user(1001), is_folder);
        let list = AccessList::read(&made).expect("read");
        assert_eq!(list.others(&user(1001)), Vec::<String>::new());
        assert!(list.is_closed(&user(1001)) && !list.is_read_by_others(&user(1001)));
        assert_eq!(list.others(&user(1002)), ["S-1-5-21-1-2-3-1001"]);
        let flags = [made.get(LIST_AT + 9), made.get(LIST_AT + 8 + 36 + 1)];
        let wanted = if is_folder { 3 } else { 0 };
        assert_eq!(flags, [Some(&wanted), Some(&wanted)], "what is made within takes the same");
    }
    // Each byte, as Windows writes it: one user, then the system, with all rights.
    let one = owner_only(&Sid::nt(&[9]), false);
    let header: [u8; 20] = [1, 0, 0x04, 0x90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0];
    let list: [u8; 8] = [2, 0, 48, 0, 2, 0, 0, 0];
    let entry =
        |part: u8| -> [u8; 20] { [0, 0, 20, 0, 0xff, 0x01, 0x1f, 0, 1, 1, 0, 0, 0, 0, 0, 5, part, 0, 0, 0] };
    assert_eq!(one, [&header[..], &list, &entry(9), &entry(18)].concat());
    let system = AccessList::read(&owner_only(&Sid::system(), false)).expect("read");
    assert_eq!(system.entries.map(|entries| entries.len()), Some(1), "once, where it is the user");
}

#[test]
fn what_names_its_owner_is_of_that_user_and_of_nobody_else() {
    let (me, other) = (user(1001), user(1002));
    let made = AccessList::read(&owner_only_named(&me)).expect("read");
    assert!(made.is_own(&me) && made.is_closed(&me));
    let theirs = descriptor_of(&with_the_system(&me), 0, Some(&other));
    assert_eq!(AccessList::read(&theirs).expect("read").others(&me), [other.to_string()]);
    // But for its owner it is the same, byte by byte.
    let unnamed = owner_only(&me, false);
    let named = owner_only_named(&me);
    assert_eq!((named.get(..4), named.get(8..unnamed.len())), (unnamed.get(..4), unnamed.get(8..)));
    assert_eq!(named.get(unnamed.len()..), Some(me.bytes().as_slice()));
}

#[test]
fn those_who_reach_every_file_are_not_others_and_all_else_is_named_once() {
    let (me, other) = (user(1001), user(1002));
    let all = 0x001f_01ff;
    let of = |owner: &Sid, entries: &[(u8, u8, u32, Sid)]| {
        AccessList::read(&descriptor(owner, entries)).expect("read")
    };
    let mine = [
        (0, 0, all, me.clone()),
        (0, 0x10, all, Sid::system()),
        (0, 0x10, all, Sid::nt(&ADMINISTRATORS)),
        (0, 0x0b, 0x1000_0000, Sid { authority: 3, parts: vec![0] }),
    ];
    let list = of(&me, &mine);
    assert!(list.others(&me).is_empty() && list.is_own(&me));
    assert!(!list.is_closed(&me), "a list of its own it has not: it follows the folder above");

    let everyone = Sid { authority: 1, parts: EVERYONE.to_vec() };
    let open = of(
        &me,
        &[
            (0, 0, 0x0012_00a9, Sid::nt(&USERS)),
            (0, 0, 0x0012_00a9, Sid::nt(&USERS)),
            (0, 0x0b, 0x8000_0000, everyone.clone()),
            (1, 0, all, other.clone()),
        ],
    );
    assert_eq!(open.others(&me), ["the group of users", "everyone"]);
    assert!(open.is_read_by_others(&me) && open.is_own(&me), "they read it and cannot change it");
    let written = of(&me, &[(0, 0, 0x0002, other.clone())]);
    assert!(!written.is_own(&me) && !written.is_read_by_others(&me) && written.others(&me).len() == 1);
    let taken = of(&me, &[(0, 0, 0x0008_0000, other.clone())]);
    assert!(!taken.is_own(&me) && taken.is_read_by_others(&me), "who may become its owner may do all");
    let told = of(&me, &[(0, 0, 0x0012_0080, other.clone())]);
    assert!(told.others(&me).is_empty(), "attributes tell nothing");
    let theirs = of(&other, &[(0, 0, all, me.clone())]);
    assert_eq!(theirs.others(&me), ["S-1-5-21-1-2-3-1002"], "an owner writes the list");
    assert!(!theirs.is_own(&me));
    let installed = of(&Sid::nt(&ADMINISTRATORS), &[(0, 0, 0x0012_00a9, Sid::nt(&USERS))]);
    assert!(installed.is_own(&me));
}

#[test]
fn invariant_2_what_is_not_understood_counts_as_open() {
    let me = user(1001);
    for kind in [5, 9, 11, 200] {
        let list = AccessList::read(&descriptor(&me, &[(kind, 0, 0, me.clone())])).expect("read");
        assert!(list.is_read_by_others(&me) && !list.is_own(&me), "{kind}");
    }
    for kind in [6, 10, 12] {
        let list = AccessList::read(&descriptor(&me, &[(kind, 0, 1, user(7))])).expect("read");
        assert!(list.others(&me).is_empty(), "{kind}");
    }
    // No list at all: everybody may do everything. An empty one: nobody.
    let mut none = vec![1, 0, 0x04, 0x80];
    none.extend([0; 16]);
    assert_eq!(AccessList::read(&none).expect("read").others(&me), ["everyone"]);
    assert!(AccessList::read(&descriptor(&me, &[])).expect("read").others(&me).is_empty());
}

#[test]
fn invariant_3_bytes_that_say_more_than_they_hold_are_refused() {
    let me = user(1001);
    let whole = descriptor(&me, &[(0, 0, 1, user(7)), (1, 0, 1, me.clone())]);
    assert!(AccessList::read(&whole).is_ok());
    for end in 0..whole.len() {
        assert!(AccessList::read(whole.get(..end).unwrap_or_default()).is_err(), "{end}");
    }
    let with = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        *bytes.get_mut(at).expect("there") = byte;
        AccessList::read(&bytes)
    };
    for (at, byte, what) in [
        (0, 2, "a version"),
        (3, 0, "parts that are elsewhere"),
        (4, 255, "an owner outside"),
        (16, 255, "a list outside"),
        (23, 255, "a list that is longer"),
        (24, 9, "more entries"),
        (30, 3, "an entry that is shorter than its head"),
        (30, 0, "an entry of no size"),
        (37, 16, "a user of too many parts"),
    ] {
        assert!(with(at, byte).is_err(), "{what}");
    }
    // Whatever one byte becomes, it is read or refused.
    for at in 0..whole.len() {
        for byte in [0, 1, 127, 128, 255] {
            drop(with(at, byte));
        }
    }
}

#[test]
fn a_user_is_shown_as_windows_writes_it() {
    assert_eq!(Sid::system().to_string(), "S-1-5-18");
    assert_eq!(Sid::read(&user(500).bytes()), Ok(user(500)));
    let large = Sid { authority: 0x0102_0304_0506, parts: vec![u32::MAX] };
    assert_eq!(Sid::read(&large.bytes()), Ok(large));
    assert!(Sid::read(&[2, 0, 0, 0, 0, 0, 0, 5]).is_err() && Sid::read(&[]).is_err());
    for who in [user(500), Sid::system(), Sid::nt(&USERS), Sid::low_integrity()] {
        assert_eq!(who.written().parse::<Sid>(), Ok(who));
    }
    let many = format!("S-1-5{}", "-1".repeat(16));
    for bad in ["", "S-1", "S-1-5", "S-1-5-", "S-2-5-1", "S-1-5-x", "S-1-281474976710656-1", many.as_str()] {
        assert!(bad.parse::<Sid>().is_err(), "{bad}");
    }
}
