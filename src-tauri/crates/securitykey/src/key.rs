//! One security key: what it says of itself, a passkey made on it, and its signature (CTAP 2.1, 6).

use crate::cbor::Value;
use crate::channel::{Channel, For};
use crate::pin::{Agreed, Pin, Protocol, Token};
use crate::{Device, Error, Moment, Watch};
use seal::webauthn::cbor::Item;
use seal::webauthn::{AUTHENTICATOR_DATA_MAX, CREDENTIAL_ID_MAX, EDDSA, ES256};

const MAKE: u8 = 0x01;
const GET: u8 = 0x02;
const INFO: u8 = 0x04;
const PIN: u8 = 0x06;
/// Parts of [`PIN`].
const RETRIES: i64 = 1;
const AGREEMENT: i64 = 2;
const TOKEN: i64 = 5;
const TOKEN_FOR: i64 = 9;
/// What a token is for.
const FOR_MAKING: i64 = 1;
const FOR_SIGNING: i64 = 2;
/// Most bytes of a signature.
const SIGNATURE_MAX: usize = 1_024;
/// Bytes of a message that every key takes, less the other parameters of a question.
const LIST_BYTES: usize = 1_024 - 256;
/// Most passkeys that are named at once where a key does not say how many it takes.
const LIST_MAX: usize = 8;

/// A passkey to make.
pub struct Making<'m> {
    /// Whom it is for.
    pub rp_id: &'m str,
    /// Whose it is: an identifier, and what a key calls them.
    pub user: (&'m [u8], &'m str),
    /// SHA-256 of what stands for the browser's word.
    pub client_data_hash: [u8; 32],
    /// Passkeys that must not be on the key yet.
    pub exclude: &'m [Vec<u8>],
}

/// A signature to make.
pub struct Wanted<'w> {
    /// Whom the passkey is for.
    pub rp_id: &'w str,
    /// SHA-256 of what stands for the browser's word.
    pub client_data_hash: [u8; 32],
    /// Passkeys that may sign.
    pub allow: &'w [Vec<u8>],
}

/// A signature, and what was signed beside the client data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asserted {
    /// Which of the passkeys signed.
    pub credential_id: Vec<u8>,
    /// What the key says.
    pub authenticator_data: Vec<u8>,
    /// Over it and the hash.
    pub signature: Vec<u8>,
}

/// A security key that answers, and has a PIN.
pub struct SecurityKey<'d> {
    channel: Channel<'d>,
    protocol: Protocol,
    /// Whether a token of it can be bound to what it is for.
    binds: bool,
    list_max: usize,
}

impl<'d> SecurityKey<'d> {
    /// Greets a key, and asks what it can do.
    ///
    /// # Errors
    /// [`Error::Old`], [`Error::PinMissing`], and when it does not answer.
    pub fn open(device: &'d mut dyn Device) -> Result<Self, Error> {
        let mut channel = Channel::open(device)?;
        let answer = channel.ask(&[INFO], For::Work, &mut |_| true)?;
        let info = read(&answer)?;
        let speaks = |item: &Item<'_>| matches!(item, Item::Text(word) if word.starts_with("FIDO_2"));
        if !listed(&info, 1).iter().any(speaks) {
            return Err(Error::Old);
        }
        let has =
            |name: &str| match info.member(&Item::Integer(4)).and_then(|all| all.member(&Item::Text(name))) {
                Some(Item::Bool(is)) => *is,
                _ => false,
            };
        if !has("clientPin") {
            return Err(Error::PinMissing);
        }
        let known = |item: &Item<'_>| match item {
            Item::Integer(number) => Protocol::of(*number),
            _ => None,
        };
        let protocol = match info.member(&Item::Integer(6)) {
            // Whoever has a PIN and says nothing of protocols knows the first.
            None => Protocol::One,
            Some(_) => listed(&info, 6).iter().find_map(known).ok_or(Error::Old)?,
        };
        let list_max = match info.member(&Item::Integer(7)) {
            Some(Item::Integer(many)) => usize::try_from(*many).unwrap_or(1).clamp(1, LIST_MAX),
            _ => LIST_MAX,
        };
        Ok(Self { channel, protocol, binds: has("pinUvAuthToken"), list_max })
    }

    /// How many wrong PINs it takes before it is blocked.
    ///
    /// # Errors
    /// [`Error::PinBlocked`], [`Error::PinPaused`], and when it does not answer.
    pub fn tries_left(&mut self) -> Result<u32, Error> {
        let answer = self.pin(RETRIES, Vec::new())?;
        let answer = read(&answer)?;
        let Some(Item::Integer(left)) = answer.member(&Item::Integer(3)) else {
            return Err(Error::unreadable("it does not say how many tries are left"));
        };
        match (u32::try_from(*left), answer.member(&Item::Integer(4))) {
            (Ok(0), _) => Err(Error::PinBlocked),
            (Ok(_), Some(Item::Bool(true))) => Err(Error::PinPaused),
            (Ok(left), _) => Ok(left),
            (Err(_), _) => Err(Error::unreadable("it does not say how many tries are left")),
        }
    }

    /// Makes a passkey, once the PIN was told and the key was touched; what the key says of it. What its maker states goes by
    /// unread.
    ///
    /// # Errors
    /// [`Error::Known`] when one of those that were named is on it; a wrong PIN; whatever the key says.
    pub fn make(&mut self, new: &Making<'_>, pin: &Pin, watch: Watch<'_>) -> Result<Vec<u8>, Error> {
        let (user_id, user_name) = new.user;
        for part in self.parts(new.exclude).into_iter().skip(1) {
            // Keys look at one list; the others are looked for before.
            match self.look(new.rp_id, &new.client_data_hash, &part, None, watch) {
                Ok(_) => return Err(Error::Known),
                Err(Error::NotHere) => {}
                Err(error) => return Err(error),
            }
        }
        let token = self.token(pin, FOR_MAKING, new.rp_id)?;
        let mark = token.mark(&new.client_data_hash)?;
        let first = self.parts(new.exclude).into_iter().next();
        let kind = |algorithm| {
            Value::Named(vec![("alg", Value::Integer(algorithm)), ("type", Value::Text("public-key"))])
        };
        let mut parameters = vec![
            (1, Value::Bytes(&new.client_data_hash)),
            (2, Value::Named(vec![("id", Value::Text(new.rp_id)), ("name", Value::Text("Hermit"))])),
            (
                3,
                Value::Named(vec![
                    ("id", Value::Bytes(user_id)),
                    ("name", Value::Text(user_name)),
                    ("displayName", Value::Text(user_name)),
                ]),
            ),
            (4, Value::Array(vec![kind(ES256), kind(EDDSA)])),
        ];
        if let Some(first) = &first {
            parameters.push((5, named(first)));
        }
        parameters.push((8, Value::Bytes(&mark)));
        parameters.push((9, Value::Integer(token.protocol().number())));
        let answer = self.channel.ask(&Value::request(MAKE, parameters), For::Touch, watch)?;
        bytes(&read(&answer)?, 2, AUTHENTICATOR_DATA_MAX)
    }

    /// Has one of these passkeys sign, once the PIN was told and the key was touched.
    ///
    /// # Errors
    /// [`Error::NotHere`] when none of them is on it; a wrong PIN; whatever the key says.
    pub fn sign(&mut self, wanted: &Wanted<'_>, pin: &Pin, watch: Watch<'_>) -> Result<Asserted, Error> {
        let token = self.token(pin, FOR_SIGNING, wanted.rp_id)?;
        let mut one = wanted.allow.to_vec();
        if one.len() > 1 {
            // A person touches once, and for a passkey that is there.
            one = vec![self.there(wanted, &token, watch)?];
        }
        let mark = token.mark(&wanted.client_data_hash)?;
        let parameters = vec![
            (1, Value::Text(wanted.rp_id)),
            (2, Value::Bytes(&wanted.client_data_hash)),
            (3, named(&one)),
            (6, Value::Bytes(&mark)),
            (7, Value::Integer(token.protocol().number())),
        ];
        let answer = self.channel.ask(&Value::request(GET, parameters), For::Touch, watch)?;
        let answer = read(&answer)?;
        let credential_id = which(&answer, &one)?;
        let authenticator_data = bytes(&answer, 2, AUTHENTICATOR_DATA_MAX)?;
        Ok(Asserted { credential_id, authenticator_data, signature: bytes(&answer, 3, SIGNATURE_MAX)? })
    }

    /// The first of the passkeys that is on it, found without a touch.
    fn there(&mut self, wanted: &Wanted<'_>, token: &Token, watch: Watch<'_>) -> Result<Vec<u8>, Error> {
        for part in self.parts(wanted.allow) {
            match self.look(wanted.rp_id, &wanted.client_data_hash, &part, Some(token), watch) {
                Err(Error::NotHere) => {}
                found => return found,
            }
        }
        Err(Error::NotHere)
    }

    /// Which of these is on it.
    fn look(
        &mut self,
        rp_id: &str,
        hash: &[u8; 32],
        of: &[Vec<u8>],
        token: Option<&Token>,
        watch: Watch<'_>,
    ) -> Result<Vec<u8>, Error> {
        let mark = token.map(|token| token.mark(hash)).transpose()?;
        let mut parameters = vec![
            (1, Value::Text(rp_id)),
            (2, Value::Bytes(hash)),
            (3, named(of)),
            (5, Value::Named(vec![("up", Value::Bool(false))])),
        ];
        if let (Some(mark), Some(token)) = (&mark, token) {
            parameters.push((6, Value::Bytes(mark)));
            parameters.push((7, Value::Integer(token.protocol().number())));
        }
        let answer = self.channel.ask(&Value::request(GET, parameters), For::Work, watch)?;
        which(&read(&answer)?, of)
    }

    /// Identifiers in lists as long as the key takes them.
    fn parts(&self, all: &[Vec<u8>]) -> Vec<Vec<Vec<u8>>> {
        let mut parts: Vec<Vec<Vec<u8>>> = Vec::new();
        let mut room = 0;
        for one in all.iter().filter(|one| one.len() <= CREDENTIAL_ID_MAX) {
            // With the words around it.
            let size = one.len() + 32;
            match parts.last_mut() {
                Some(part) if part.len() < self.list_max && size <= room => {
                    part.push(one.clone());
                    room -= size;
                }
                _ => {
                    parts.push(vec![one.clone()]);
                    room = LIST_BYTES.saturating_sub(size);
                }
            }
        }
        parts
    }

    /// Tells the PIN; what allows one thing with the key.
    fn token(&mut self, pin: &Pin, purpose: i64, rp_id: &str) -> Result<Token, Error> {
        let answer = self.pin(AGREEMENT, Vec::new())?;
        let answer = read(&answer)?;
        let theirs = answer.member(&Item::Integer(1));
        let theirs = theirs.ok_or_else(|| Error::unreadable("it does not say its half of a secret"))?;
        let agreed = Agreed::with(self.protocol, theirs)?;
        let sealed = agreed.sealed(pin)?;
        let mut parameters = vec![(3, agreed.ours()?), (6, Value::Bytes(&sealed))];
        if self.binds {
            parameters.push((9, Value::Integer(purpose)));
            parameters.push((10, Value::Text(rp_id)));
        }
        let part = if self.binds { TOKEN_FOR } else { TOKEN };
        match self.pin(part, parameters) {
            Ok(answer) => agreed.token(&bytes(&read(&answer)?, 2, 48)?),
            Err(Error::PinWrong { .. }) => match self.tries_left() {
                Ok(left) => Err(Error::PinWrong { left: Some(left) }),
                Err(error @ (Error::PinBlocked | Error::PinPaused)) => Err(error),
                Err(_) => Err(Error::PinWrong { left: None }),
            },
            Err(error) => Err(error),
        }
    }

    fn pin(&mut self, part: i64, more: Vec<(i64, Value<'_>)>) -> Result<Vec<u8>, Error> {
        let mut parameters = vec![(1, Value::Integer(self.protocol.number())), (2, Value::Integer(part))];
        parameters.extend(more);
        self.channel.ask(&Value::request(PIN, parameters), For::Work, &mut |_: Moment| true)
    }
}

/// Passkeys by their identifiers, as CTAP2 names them.
fn named(all: &[Vec<u8>]) -> Value<'_> {
    let one = |id| Value::Named(vec![("id", Value::Bytes(id)), ("type", Value::Text("public-key"))]);
    Value::Array(all.iter().map(|id| one(id.as_slice())).collect())
}

/// The whole of an answer, which is one map.
fn read(answer: &[u8]) -> Result<Item<'_>, Error> {
    match Item::read(answer)? {
        (map @ Item::Map(_), []) => Ok(map),
        _ => Err(Error::unreadable("its answer is no single map")),
    }
}

/// The members of a list in an answer; none of what is no list.
fn listed<'i, 'a>(answer: &'i Item<'a>, name: i64) -> &'i [Item<'a>] {
    match answer.member(&Item::Integer(name)) {
        Some(Item::Array(items)) => items,
        _ => &[],
    }
}

fn bytes(answer: &Item<'_>, name: i64, most: usize) -> Result<Vec<u8>, Error> {
    match answer.member(&Item::Integer(name)) {
        Some(Item::Bytes(bytes)) if bytes.len() <= most => Ok(bytes.to_vec()),
        _ => Err(Error::unreadable("its answer lacks something, or has too much")),
    }
}

/// Which passkey an answer is of: one that was asked for. A key need not say where it was asked for one.
fn which(answer: &Item<'_>, asked: &[Vec<u8>]) -> Result<Vec<u8>, Error> {
    let said = answer.member(&Item::Integer(1)).and_then(|passkey| passkey.member(&Item::Text("id")));
    let other = || Error::unreadable("it answers with a passkey that was not asked for");
    match (said, asked) {
        (Some(Item::Bytes(id)), _) => {
            asked.iter().find(|one| one.as_slice() == *id).cloned().ok_or_else(other)
        }
        (None, [one]) => Ok(one.clone()),
        _ => Err(other()),
    }
}
