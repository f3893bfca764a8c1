//! Who may reach a file, as Windows keeps it: a descriptor of bytes with an owner and a list of entries. All numbers in it are
//! little-endian.

use std::fmt;

/// A user, a group or a part of the system: a SID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sid {
    authority: u64,
    parts: Vec<u32>,
}

/// Why bytes are no descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl Malformed {
    pub(crate) const fn because(why: &'static str) -> Self {
        Self(why)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the access list cannot be read: {}", self.0)
    }
}

impl std::error::Error for Malformed {}

/// More parts than this no SID has.
const PARTS_MAX: u8 = 15;

/// Authority 5 is Windows itself.
const NT: u64 = 5;

impl Sid {
    /// Reads one from the beginning of some bytes.
    ///
    /// # Errors
    /// It is of another version, or the bytes end before it does.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let [version, count] = fixed(bytes, 0)?;
        if version != 1 || count > PARTS_MAX {
            return Err(Malformed("a user of a kind that is not known"));
        }
        let [a, b, c, d, e, f] = fixed(bytes, 2)?;
        let authority = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let parts = (0..usize::from(count)).map(|part| fixed(bytes, 8 + 4 * part).map(u32::from_le_bytes));
        Ok(Self { authority, parts: parts.collect::<Result<_, _>>()? })
    }

    /// The account that Windows itself runs as.
    #[must_use]
    pub fn system() -> Self {
        Self::nt(&[18])
    }

    pub(crate) fn nt(parts: &[u32]) -> Self {
        Self { authority: NT, parts: parts.to_vec() }
    }

    /// Who stands for a process that may change little: of low integrity.
    #[must_use]
    pub fn low_integrity() -> Self {
        Self { authority: 16, parts: vec![0x1000] }
    }

    /// Everybody of one authority, by its parts.
    #[must_use]
    pub const fn of(authority: u64, parts: Vec<u32>) -> Self {
        Self { authority, parts }
    }

    /// The authority and the parts behind it.
    #[must_use]
    pub fn parts(&self) -> (u64, &[u32]) {
        (self.authority, &self.parts)
    }

    /// As Windows writes it, also where people have a name for it.
    #[must_use]
    pub fn written(&self) -> String {
        let parts: String = self.parts.iter().map(|part| format!("-{part}")).collect();
        format!("S-1-{}{parts}", self.authority)
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let count = u8::try_from(self.parts.len()).unwrap_or(PARTS_MAX);
        let [_, _, authority @ ..] = self.authority.to_be_bytes();
        let parts = self.parts.iter().flat_map(|part| part.to_le_bytes());
        [1, count].into_iter().chain(authority).chain(parts).collect()
    }

    /// Whether who this is reaches each file anyway, whatever its list says, as root does elsewhere: the system and those who
    /// administer it may take ownership of it.
    fn is_over_all(&self) -> bool {
        // Windows' own installer is a service whose files nobody else changes.
        let installer = [80, 956_008_885, 3_418_522_649, 1_831_038_044, 1_853_292_631, 2_271_478_464];
        [Self::system(), Self::nt(&[32, 544]), Self::nt(&installer)].contains(self)
    }

    /// Whether this stands for whoever owns the file.
    fn is_owner(&self) -> bool {
        self.authority == 3 && matches!(self.parts.as_slice(), [0 | 4])
    }

    /// What people call it, for those that are the same on every machine.
    fn name(&self) -> Option<&'static str> {
        match (self.authority, self.parts.as_slice()) {
            (1, [0]) => Some("everyone"),
            (NT, [7]) => Some("whoever is there without a name"),
            (NT, [11]) => Some("every user of this machine"),
            (NT, [32, 545]) => Some("the group of users"),
            (NT, [32, 546]) => Some("guests"),
            (15, [2, 1 | 2]) => Some("every packaged app"),
            _ => None,
        }
    }
}

impl fmt::Display for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.name() {
            return f.write_str(name);
        }
        f.write_str(&self.written())
    }
}

impl std::str::FromStr for Sid {
    type Err = Malformed;

    /// Reads what [`Sid::written`] writes.
    fn from_str(text: &str) -> Result<Self, Malformed> {
        const NONE: Malformed = Malformed("a user that is written otherwise than Windows does");
        let mut numbers = text.strip_prefix("S-1-").ok_or(NONE)?.split('-');
        let authority = numbers.next().and_then(|number| number.parse::<u64>().ok()).ok_or(NONE)?;
        let parts: Result<Vec<u32>, _> =
            numbers.map(|number| number.parse::<u32>().map_err(|_| NONE)).collect();
        let parts = parts.ok().filter(|parts| (1..=usize::from(PARTS_MAX)).contains(&parts.len()));
        // Six bytes hold an authority.
        parts.filter(|_| authority < 1 << 48).map(|parts| Self { authority, parts }).ok_or(NONE)
    }
}

/// What an entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    /// It gives these rights to somebody.
    Allow(Sid, u32),
    /// It takes rights away, so it opens nothing.
    Deny,
    /// Of a kind that is not read here.
    Unread,
}

/// Who may reach a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessList {
    owner: Option<Sid>,
    /// Nothing is taken from the folder above.
    is_protected: bool,
    /// None where there is no list at all, and everybody may do everything.
    entries: Option<Vec<Entry>>,
}

/// More entries than a list of 64 KiB can hold.
const ENTRIES_MAX: u16 = 8_192;
/// Bits of a descriptor: a list is there; it takes nothing from above; all parts are in one run of bytes.
const PRESENT: u16 = 0x0004;
const PROTECTED: u16 = 0x1000;
const IN_ONE: u16 = 0x8000;
/// Rights by which one reads, writes, runs or deletes a file, or changes its list or its owner; and the general ones. What is
/// left out: to read its attributes and its list, and to wait for it.
const TELLING: u32 = !(0x0080 | 0x0008 | 0x0002_0000 | 0x0010_0000);
/// Rights by which one sees what is in a file: its bytes, its list to change, its owner to become, all, and reading in general.
const READING: u32 = 0x0001 | 0x0004_0000 | 0x0008_0000 | 0x1000_0000 | 0x8000_0000 | 0x0200_0000;

impl AccessList {
    /// Reads a descriptor whose parts are in one run of bytes.
    ///
    /// # Errors
    /// It is none, or says more than it holds.
    pub fn read(descriptor: &[u8]) -> Result<Self, Malformed> {
        let [version, _] = fixed(descriptor, 0)?;
        let control = u16::from_le_bytes(fixed(descriptor, 2)?);
        if version != 1 || control & IN_ONE == 0 {
            return Err(Malformed("a descriptor of a kind that is not known"));
        }
        let part = |at: usize| match u32::from_le_bytes(fixed(descriptor, at)?) {
            0 => Ok(None),
            offset => match usize::try_from(offset).ok().and_then(|offset| descriptor.get(offset..)) {
                Some(bytes) => Ok(Some(bytes)),
                None => Err(Malformed("a part of it lies outside")),
            },
        };
        let owner = part(4)?.map(Sid::read).transpose()?;
        let list = if control & PRESENT == 0 { None } else { part(16)? };
        let entries = list.map(read_entries).transpose()?;
        Ok(Self { owner, is_protected: control & PROTECTED != 0, entries })
    }

    /// Who beside this user may reach the file, each once and in words; none where it is this user's alone. Those who reach
    /// every file anyway are not named.
    #[must_use]
    pub fn others(&self, user: &Sid) -> Vec<String> {
        self.opened(user, TELLING)
    }

    /// Whether somebody beside this user sees what is in the file.
    #[must_use]
    pub fn is_read_by_others(&self, user: &Sid) -> bool {
        !self.opened(user, READING).is_empty()
    }

    /// Whether the file is of this user, or of those who administer the machine, and nobody else can change it.
    #[must_use]
    pub fn is_own(&self, user: &Sid) -> bool {
        /// All that does not only read or run: a right that is not known is one to change.
        const CHANGING: u32 = !0xa012_00a9;
        self.owner.as_ref().is_some_and(|owner| owner == user || owner.is_over_all())
            && self.opened(user, CHANGING).is_empty()
    }

    /// Whether a file has a list of its own that keeps it this user's alone, whatever becomes of the folder above.
    #[must_use]
    pub fn is_closed(&self, user: &Sid) -> bool {
        self.is_protected && self.others(user).is_empty()
    }

    fn opened(&self, user: &Sid, rights: u32) -> Vec<String> {
        let Some(entries) = &self.entries else { return vec!["everyone".to_owned()] };
        let is_other = |who: &Sid| who != user && !who.is_over_all();
        let mut found: Vec<String> = Vec::new();
        let mut name = |who: String| {
            if !found.contains(&who) {
                found.push(who);
            }
        };
        // An owner may write the list, whatever it says.
        if let Some(owner) = &self.owner
            && is_other(owner)
        {
            name(owner.to_string());
        }
        for entry in entries {
            match entry {
                Entry::Allow(who, given) if given & rights != 0 && is_other(who) && !who.is_owner() => {
                    name(who.to_string());
                }
                Entry::Unread => name("somebody by a rule that Hermit does not read".to_owned()),
                Entry::Allow(..) | Entry::Deny => {}
            }
        }
        found
    }
}

fn read_entries(list: &[u8]) -> Result<Vec<Entry>, Malformed> {
    let size = usize::from(u16::from_le_bytes(fixed(list, 2)?));
    let count = u16::from_le_bytes(fixed(list, 4)?);
    let list = list.get(..size).ok_or(Malformed("the list ends before it says"))?;
    if count > ENTRIES_MAX {
        return Err(Malformed("it has more entries than it can hold"));
    }
    let mut entries = Vec::new();
    let mut at = 8;
    for _ in 0..count {
        let [kind, _] = fixed(list, at)?;
        let size = usize::from(u16::from_le_bytes(fixed(list, at + 2)?));
        let entry = list.get(at..at + size).filter(|entry| entry.len() >= 8);
        let entry = entry.ok_or(Malformed("an entry ends before it says"))?;
        entries.push(match kind {
            0 => {
                let who = entry.get(8..).unwrap_or_default();
                Entry::Allow(Sid::read(who)?, u32::from_le_bytes(fixed(entry, 4)?))
            }
            // Plain, for an object, under a condition, and both.
            1 | 6 | 10 | 12 => Entry::Deny,
            _ => Entry::Unread,
        });
        at += size;
    }
    Ok(entries)
}

fn fixed<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Malformed> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or(Malformed("it ends too early"))
}

/// Where the list of [`owner_only`] begins in its bytes.
pub const LIST_AT: usize = 20;

/// The descriptor of a file that this user and the system alone may reach, which takes nothing from the folder above. What is
/// made in a folder takes the same.
#[must_use]
pub fn owner_only(user: &Sid, is_folder: bool) -> Vec<u8> {
    const ALL: u32 = 0x001f_01ff;
    // Files and folders within take it on.
    let taken_on: u8 = if is_folder { 0x03 } else { 0x00 };
    let mut users = vec![(user.clone(), ALL)];
    users.extend(Some((Sid::system(), ALL)).filter(|(system, _)| system != user));
    descriptor_of(&users, taken_on)
}

/// A descriptor that gives each of these their rights, and nobody else any; what is made within takes them on as the flags say.
pub(crate) fn descriptor_of(users: &[(Sid, u32)], taken_on: u8) -> Vec<u8> {
    let entry = |(who, rights): &(Sid, u32)| {
        let who = who.bytes();
        let size = length(8 + who.len());
        [&[0u8, taken_on][..], &size.to_le_bytes(), &rights.to_le_bytes(), &who].concat()
    };
    let entries: Vec<u8> = users.iter().flat_map(entry).collect();
    let (size, count) = (length(8 + entries.len()), length(users.len()));
    let list = [&[2u8, 0][..], &size.to_le_bytes(), &count.to_le_bytes(), &[0, 0], &entries].concat();
    let control = PRESENT | PROTECTED | IN_ONE;
    let list_at = u32::from(length(LIST_AT)).to_le_bytes();
    // Neither owner nor group nor what is watched: the system fills them in.
    [&[1u8, 0][..], &control.to_le_bytes(), &[0; 12], &list_at, &list].concat()
}

/// Lists of two users are a few hundred bytes.
fn length(bytes: usize) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests fail by panicking")]
mod tests {
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
        let entry = |part: u8| -> [u8; 20] {
            [0, 0, 20, 0, 0xff, 0x01, 0x1f, 0, 1, 1, 0, 0, 0, 0, 0, 5, part, 0, 0, 0]
        };
        assert_eq!(one, [&header[..], &list, &entry(9), &entry(18)].concat());
        let system = AccessList::read(&owner_only(&Sid::system(), false)).expect("read");
        assert_eq!(system.entries.map(|entries| entries.len()), Some(1), "once, where it is the user");
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
        for bad in
            ["", "S-1", "S-1-5", "S-1-5-", "S-2-5-1", "S-1-5-x", "S-1-281474976710656-1", many.as_str()]
        {
            assert!(bad.parse::<Sid>().is_err(), "{bad}");
        }
    }
}
