//! Who may do what with a process that opens keys, as bytes.

use crate::access::{Sid, descriptor_of};

/// To read the list of it.
const READ_LIST: u32 = 0x0002_0000;
/// To wait for it, to ask whether it runs, to end it, and to read the list.
const SEEN: u32 = 0x0010_0000 | 0x0000_1000 | 0x0000_0001 | READ_LIST;
/// All that can be done with a process.
const ALL: u32 = 0x001f_ffff;

/// The descriptor of a process whose memory is nobody's but its own: programs of this user may ask whether it runs, wait for it
/// and end it, and nothing else; the system may do all. An owner could write another list, so what owners may is told as well.
#[must_use]
pub fn closed(user: &Sid) -> Vec<u8> {
    let owner = Sid::of(3, vec![4]);
    let mut users = vec![(user.clone(), SEEN), (owner, READ_LIST)];
    users.extend(Some((Sid::system(), ALL)).filter(|(system, _)| system != user));
    descriptor_of(&users, 0, None)
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests fail by panicking")]
mod tests {
    use super::*;
    use crate::access::LIST_AT;

    /// Who has which rights in a list of allowing entries, as the bytes say it.
    fn entries(descriptor: &[u8]) -> Vec<(String, u32)> {
        let number = |at: usize| {
            let four = descriptor.get(at..).and_then(|rest| rest.first_chunk::<4>());
            u32::from_le_bytes(*four.expect("four bytes"))
        };
        let count = number(LIST_AT + 4) & 0xffff;
        let (mut at, mut found) = (LIST_AT + 8, Vec::new());
        for _ in 0..count {
            let size = usize::try_from(number(at) >> 16).expect("a size");
            assert_eq!(number(at) & 0xffff, 0, "it allows, and nothing takes it on");
            let who = Sid::read(descriptor.get(at + 8..).expect("a user")).expect("a user");
            found.push((who.written(), number(at + 4)));
            at += size;
        }
        assert_eq!(at, descriptor.len(), "nothing stands behind the last entry");
        found
    }

    /// To read its memory, to write it, to begin a thread in it, to take a handle out of it, to set it, to change its list or owner.
    const OPENING: u32 = 0x0010 | 0x0020 | 0x0008 | 0x0002 | 0x0040 | 0x0200 | 0x0004_0000 | 0x0008_0000;

    #[test]
    fn programs_of_the_user_neither_read_nor_change_a_closed_process_and_may_still_end_it() {
        let user: Sid = "S-1-5-21-1-2-3-1001".parse().expect("a user");
        let all = entries(&closed(&user));
        let names: Vec<&str> = all.iter().map(|(who, _)| who.as_str()).collect();
        assert_eq!(names, ["S-1-5-21-1-2-3-1001", "S-1-3-4", "S-1-5-18"]);
        for (who, rights) in all.iter().filter(|(who, _)| who != "S-1-5-18") {
            assert_eq!(rights & OPENING, 0, "{who}");
        }
        assert!(
            all.iter()
                .any(|(who, rights)| who == "S-1-5-21-1-2-3-1001" && rights & 0x0010_1001 == 0x0010_1001)
        );
        let system = entries(&closed(&Sid::system()));
        assert_eq!(system.len(), 2, "the system is told once, where it is the user");
    }
}
