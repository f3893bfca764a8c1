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
    // Files and folders within take it on.
    descriptor_of(&with_the_system(user), if is_folder { 0x03 } else { 0x00 }, None)
}

/// The same for what is no folder, with this user named as its owner. Where none is named, the system may take a group that the user
/// is in.
#[must_use]
pub fn owner_only_named(user: &Sid) -> Vec<u8> {
    descriptor_of(&with_the_system(user), 0x00, Some(user))
}

/// This user and the system, once where they are one, each with all rights of a file.
fn with_the_system(user: &Sid) -> Vec<(Sid, u32)> {
    const ALL: u32 = 0x001f_01ff;
    let mut users = vec![(user.clone(), ALL)];
    users.extend(Some((Sid::system(), ALL)).filter(|(system, _)| system != user));
    users
}

/// A descriptor that gives each of these their rights, and nobody else any; what is made within takes them on as the flags say. Without
/// an owner the system fills one in.
pub(crate) fn descriptor_of(users: &[(Sid, u32)], taken_on: u8, owner: Option<&Sid>) -> Vec<u8> {
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
    let owner_at = owner.map_or(0, |_| u32::from(length(LIST_AT + list.len()))).to_le_bytes();
    let owner = owner.map(Sid::bytes).unwrap_or_default();
    // Neither group nor what is watched: the system fills them in.
    [&[1u8, 0][..], &control.to_le_bytes(), &owner_at, &[0; 8], &list_at, &list, &owner].concat()
}

/// Lists of two users are a few hundred bytes.
fn length(bytes: usize) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "tests fail by panicking")]
mod tests;
