//! Mail: IMAP to read, SMTP to send. The cursor is the next number of the mailbox, with the validity of its numbers and the
//! time it was made. A chat is an address and the mail that a thread began with.

mod read;
mod verdict;
mod write;

use crate::http::{self, host_of, is_loopback};
use crate::{
    Account, Adapter, Attachment, Fault, Incoming, Limits, Outgoing, POLL_MESSAGES_MAX, Polled, clean,
    now_ms, setting,
};
use imap::types::Uid;
use read::{Came, file_of, of_mail};
use socket::{Allowance, Link, dial};
use std::time::{Duration, Instant};
use ureq::tls::Certificate;
use url::Url;
use write::Login;
use zeroize::Zeroizing;

/// The setting with the server for sending, such as `smtps://smtp.example.org`.
const SMTP: &str = "smtp";
/// The setting with the name to log in with, where it is not the mail address.
const LOGIN: &str = "login";
/// The setting with the mailbox that is read.
const MAILBOX: &str = "mailbox";
/// The setting with the name under which the own mail server writes whom it believes.
const AUTHSERV: &str = "authserv_id";
/// The setting with the subject of mails that are sent.
const SUBJECT: &str = "subject";

const TEXT_CHARS: usize = 50_000;
/// Bytes of a mail that is read whole, and of the beginning of a larger one.
const MAIL_BYTES_MAX: u64 = 25 * 1024 * 1024;
const BEGINNING: u64 = 256 * 1024;
/// Bytes of what a server says beside mails.
const SAID_BYTES_MAX: u64 = 1024 * 1024;
/// How often a mailbox in which nothing is new is looked at.
const LOOK: Duration = Duration::from_secs(10);

type Session = imap::Session<Link>;

pub(crate) struct Mail {
    inbox: Place,
    outbox: Place,
    /// The own address, in small letters.
    user: String,
    login: String,
    token: Zeroizing<String>,
    mailbox: String,
    authserv: Option<String>,
    subject: String,
    authorities: Vec<Certificate<'static>>,
    pem: Option<Vec<u8>>,
    /// A connection that stands, which another one takes the place of at any time.
    session: Option<(Session, Allowance)>,
}

/// A server of mail.
pub(super) struct Place {
    url: Url,
    port: u16,
    is_secure: bool,
}

impl Place {
    /// Reads `imaps://host`, `smtp://host:port` and the like.
    fn read(address: &str, plain: (&str, u16), secure: (&str, u16)) -> Result<Self, String> {
        let of = |scheme: &str| address.strip_prefix(scheme).and_then(|rest| rest.strip_prefix("://"));
        let (rest, is_secure, standard) = match (of(secure.0), of(plain.0)) {
            (Some(rest), _) => (rest, true, secure.1),
            (None, Some(rest)) => (rest, false, plain.1),
            (None, None) => return Err(format!("`{address}` does not begin with `{}://`", secure.0)),
        };
        let url = Url::parse(&format!("{}://{rest}", if is_secure { "https" } else { "http" }));
        let url = url.map_err(|e| format!("`{address}` is no address: {e}"))?;
        if !url.username().is_empty()
            || url.password().is_some()
            || !matches!(url.path(), "" | "/")
            || url.query().is_some()
        {
            return Err("an address of a mail server is a host and a port".to_owned());
        }
        // The standard ports of the scheme that stands for it are none of mail.
        let port = rest
            .trim_end_matches('/')
            .rsplit_once(':')
            .and_then(|(_, port)| port.parse().ok())
            .unwrap_or(standard);
        let mut url = url;
        url.set_port(Some(port)).map_err(|()| format!("`{address}` has no port"))?;
        Ok(Self { url, port, is_secure })
    }

    fn host(&self) -> String {
        host_of(&self.url).0
    }
}

/// Where the next mail is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor {
    validity: u32,
    next: Uid,
    at: i64,
}

impl Cursor {
    fn read(text: &str) -> Result<Option<Self>, Fault> {
        if text.is_empty() {
            return Ok(None);
        }
        let parts: Vec<&str> = text.split(':').collect();
        let read = match parts.as_slice() {
            [validity, next, at] => (validity.parse().ok(), next.parse().ok(), at.parse().ok()),
            _ => (None, None, None),
        };
        match read {
            (Some(validity), Some(next), Some(at)) => Ok(Some(Self { validity, next, at })),
            _ => Err(Fault::refused("this is no cursor of a mailbox")),
        }
    }

    fn text(self) -> String {
        format!("{}:{}:{}", self.validity, self.next, self.at)
    }
}

/// A mail that is new: its number, its length, and when it came.
type New = (Uid, u64, i64);

impl Mail {
    pub(crate) fn open(account: &Account, token: Zeroizing<String>) -> Result<Self, String> {
        let is_text = !token.is_empty() && token.len() <= 1024 && !token.chars().any(char::is_control);
        if !is_text {
            return Err("the password is empty, or holds what no password holds".to_owned());
        }
        let user = account.user.trim().to_lowercase();
        if !user.contains('@') || clean::id(&user).is_none() {
            return Err("name the mail address of the account".to_owned());
        }
        let inbox = Place::read(&account.address, ("imap", 143), ("imaps", 993))?;
        if !inbox.is_secure && !is_loopback(&inbox.url) {
            return Err("a mail server that is not on this machine is read over `imaps://`".to_owned());
        }
        let smtp = setting(account, SMTP).ok_or("the setting `smtp` names no server for sending")?;
        let pem = http::authorities_pem(account)?;
        let of = |name: &str, or: &str| setting(account, name).unwrap_or(or).to_owned();
        Ok(Self {
            inbox,
            outbox: Place::read(smtp, ("smtp", 587), ("smtps", 465))?,
            login: of(LOGIN, &account.user),
            mailbox: of(MAILBOX, "INBOX"),
            authserv: setting(account, AUTHSERV).map(str::to_owned),
            subject: of(SUBJECT, "Re: Hermit"),
            authorities: http::authorities(pem.as_deref())?,
            pem,
            user,
            token,
            session: None,
        })
    }

    fn credentials(&self) -> Login<'_> {
        Login { user: &self.login, token: &self.token, authorities: self.pem.as_deref() }
    }

    fn fault(&self, error: &imap::Error) -> Fault {
        let why = clean::said(&error.to_string(), &[&self.token]);
        match error {
            imap::Error::No(_) | imap::Error::Bad(_) | imap::Error::Validate(_) => Fault::Refused { why },
            imap::Error::Io(io) => Fault::away(format!("the mail server: {io}")),
            imap::Error::ConnectionLost | imap::Error::Bye(_) => Fault::away("the mail server hung up"),
            _ => Fault::away("the mail server's answer cannot be read"),
        }
    }

    fn connect(&self, until: Instant) -> Result<(Session, Allowance), Fault> {
        let link = dial(&self.inbox.url, &self.authorities)?;
        let allowance = link.allowance();
        allowance.renew(SAID_BYTES_MAX, until);
        let mut client = imap::Client::new(link);
        client.read_greeting().map_err(|e| self.fault(&e))?;
        let session =
            client.login(&self.login, self.token.as_str()).map_err(|(e, _)| match self.fault(&e) {
                Fault::Refused { why } => Fault::Token { why },
                fault => fault,
            })?;
        Ok((session, allowance))
    }

    /// Does something with a connection: with the one that stands, or a new one. One that failed stands no more.
    fn with<T>(
        &mut self,
        until: Instant,
        work: impl Fn(&Self, &mut Session, &Allowance) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if let Some((mut session, allowance)) = self.session.take() {
            allowance.renew(SAID_BYTES_MAX, until);
            match work(self, &mut session, &allowance) {
                Ok(done) => {
                    self.session = Some((session, allowance));
                    return Ok(done);
                }
                Err(Fault::Away { .. }) if Instant::now() < until => {}
                Err(fault) => return Err(fault),
            }
        }
        let (mut session, allowance) = self.connect(until)?;
        let done = work(self, &mut session, &allowance)?;
        self.session = Some((session, allowance));
        Ok(done)
    }

    /// What is new, oldest first, and where the mailbox stands.
    fn look(&self, session: &mut Session, cursor: Option<Cursor>) -> Result<(Vec<New>, Cursor), Fault> {
        let mailbox = session.examine(&self.mailbox).map_err(|e| self.fault(&e))?;
        let validity =
            mailbox.uid_validity.ok_or_else(|| Fault::refused("the mailbox's numbers do not last"))?;
        let next =
            mailbox.uid_next.ok_or_else(|| Fault::refused("the mailbox does not say its next number"))?;
        let Some(was) = cursor else { return Ok((Vec::new(), Cursor { validity, next, at: now_ms() })) };
        let is_same = was.validity == validity;
        if is_same && was.next >= next {
            return Ok((Vec::new(), was));
        }
        let query = match is_same {
            true => format!("UID {}:*", was.next),
            // Every number is another one: what came since is asked for by its day.
            false => format!("SINCE {}", day(was.at)),
        };
        let mut numbers: Vec<Uid> =
            session.uid_search(query).map_err(|e| self.fault(&e))?.into_iter().collect();
        numbers.retain(|number| !is_same || *number >= was.next);
        numbers.sort_unstable();
        // Of a mailbox that was numbered anew, most may be too old.
        let looked_at = if is_same { POLL_MESSAGES_MAX } else { 10 * POLL_MESSAGES_MAX };
        let is_whole = numbers.len() <= looked_at;
        numbers.truncate(looked_at);
        let mut found = Vec::new();
        if !numbers.is_empty() {
            let set = numbers.iter().map(Uid::to_string).collect::<Vec<_>>().join(",");
            let told =
                session.uid_fetch(set, "(UID RFC822.SIZE INTERNALDATE)").map_err(|e| self.fault(&e))?;
            for one in told.iter() {
                let came = one.internal_date().map_or(0, |date| date.timestamp_millis());
                if let (Some(number), Some(size)) = (one.uid, one.size)
                    && (is_same || came >= was.at)
                {
                    found.push((number, u64::from(size), came));
                }
            }
        }
        found.retain(|(number, _, _)| numbers.binary_search(number).is_ok());
        found.sort_unstable();
        found.dedup_by_key(|(number, _, _)| *number);
        let behind = |number: Option<&Uid>| number.map_or(0, |number| number.saturating_add(1));
        let mut after = behind(numbers.last());
        if found.len() > POLL_MESSAGES_MAX {
            found.truncate(POLL_MESSAGES_MAX);
            after = behind(found.last().map(|(number, _, _)| number));
        } else if is_whole {
            after = after.max(next);
        }
        Ok((found, Cursor { validity, next: after, at: now_ms() }))
    }

    /// One mail, or its beginning.
    fn raw(
        &self,
        session: &mut Session,
        allowance: &Allowance,
        number: Uid,
        size: u64,
        until: Instant,
    ) -> Result<Vec<u8>, Fault> {
        let is_cut = size > MAIL_BYTES_MAX;
        allowance.renew(if is_cut { BEGINNING } else { size } + SAID_BYTES_MAX, until);
        let what =
            if is_cut { format!("(UID BODY.PEEK[]<0.{BEGINNING}>)") } else { "(UID BODY.PEEK[])".to_owned() };
        let told = session.uid_fetch(number.to_string(), what).map_err(|e| self.fault(&e))?;
        let body =
            told.iter().filter(|one| one.uid == Some(number)).find_map(|one| one.body().map(<[u8]>::to_vec));
        Ok(body.unwrap_or_default())
    }

    /// Reads what is new, as far as the time lasts.
    fn take(
        &self,
        session: &mut Session,
        allowance: &Allowance,
        cursor: Option<Cursor>,
        until: Instant,
    ) -> Result<(Vec<Incoming>, Cursor), Fault> {
        let (new, after) = self.look(session, cursor)?;
        let mut incoming = Vec::new();
        for (at, (number, size, came)) in new.iter().enumerate() {
            let is_large = *size > BEGINNING;
            if at > 0 && (is_large || Instant::now() + Duration::from_secs(1) > until) {
                return Ok((incoming, Cursor { next: *number, ..after }));
            }
            // Anybody may send a large one: it begins a poll and gets its time, so that it keeps no other from being heard.
            let until = if is_large { until.max(Instant::now() + 4 * crate::CALL) } else { until };
            let raw = self.raw(session, allowance, *number, *size, until)?;
            let place = format!("{}:{number}", after.validity);
            let came = Came { raw: &raw, place, sent_at: *came, is_cut: *size > MAIL_BYTES_MAX };
            incoming.extend(of_mail(&came, &self.user, self.authserv.as_deref()));
        }
        Ok((incoming, after))
    }
}

/// A day as IMAP spells it, one before a time, because a server has days of its own.
fn day(ms: i64) -> String {
    let before = jiff::Timestamp::from_millisecond(ms.saturating_sub(86_400_000)).unwrap_or_default();
    before.strftime("%-d-%b-%Y").to_string()
}

impl Adapter for Mail {
    fn limits(&self) -> Limits {
        Limits { text_chars: TEXT_CHARS, edits: false, buttons: false, files: true, is_repeat_safe: false }
    }

    fn hosts(&self) -> Vec<(String, u16)> {
        vec![(self.inbox.host(), self.inbox.port), (self.outbox.host(), self.outbox.port)]
    }

    fn who(&mut self) -> Result<String, Fault> {
        self.session = None;
        self.with(Instant::now() + crate::CALL, |it, session, _| {
            session.examine(&it.mailbox).map(|_| ()).map_err(|e| it.fault(&e))
        })?;
        let mut session = write::greet(&self.outbox, &self.credentials())?;
        session.abort();
        Ok(self.user.clone())
    }

    fn poll(&mut self, cursor: &str, wait: Duration) -> Result<Polled, Fault> {
        let was = Cursor::read(cursor)?;
        let until = Instant::now() + wait.max(Duration::from_secs(2));
        loop {
            let (incoming, after) =
                self.with(until, |it, session, allowance| it.take(session, allowance, was, until))?;
            let left = until.saturating_duration_since(Instant::now());
            if Some(after) != was || left < LOOK {
                return Ok(Polled { incoming, cursor: after.text() });
            }
            std::thread::sleep(LOOK.min(left));
        }
    }

    fn send(&mut self, out: &Outgoing) -> Result<String, Fault> {
        if !out.buttons.is_empty() || out.edit_of.is_some() {
            return Err(Fault::refused("a mail has no buttons, and one that was sent is not changed"));
        }
        let ready = write::write(out, &self.user, &self.subject)?;
        let login = self.credentials();
        write::send(write::greet(&self.outbox, &login)?, &ready, &login)?;
        Ok(ready.id)
    }

    fn fetch(&mut self, attachment: &Attachment, bytes_max: u64) -> Result<Vec<u8>, Fault> {
        let gone = || Fault::refused("this file is in the mailbox no more");
        let parts: Vec<u32> = attachment.handle.split(':').filter_map(|part| part.parse().ok()).collect();
        let [validity, number, index] = parts.as_slice() else { return Err(gone()) };
        let (validity, number, index) = (*validity, *number, *index);
        let until = Instant::now() + 4 * crate::CALL;
        let raw = self.with(until, |it, session, allowance| {
            let mailbox = session.examine(&it.mailbox).map_err(|e| it.fault(&e))?;
            if mailbox.uid_validity != Some(validity) {
                return Err(gone());
            }
            it.raw(session, allowance, number, MAIL_BYTES_MAX, until)
        })?;
        let file = file_of(&raw, index).ok_or_else(gone)?;
        match file.len() as u64 <= bytes_max {
            true => Ok(file),
            false => Err(Fault::refused(format!("the file has more than {bytes_max} bytes"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_spelled_as_imap_spells_them() {
        assert_eq!(day(86_400_000), "1-Jan-1970");
        assert_eq!(day(951_868_800_000), "29-Feb-2000");
        assert_eq!(day(1_795_910_400_000), "28-Nov-2026");
    }

    #[test]
    fn servers_are_read_with_their_ports() {
        let read = |address: &str| {
            Place::read(address, ("imap", 143), ("imaps", 993))
                .map(|place| (place.host(), place.port, place.is_secure))
        };
        assert_eq!(read("imaps://mail.example.org"), Ok(("mail.example.org".to_owned(), 993, true)));
        assert_eq!(read("imaps://mail.example.org:443"), Ok(("mail.example.org".to_owned(), 443, true)));
        assert_eq!(read("imap://127.0.0.1:1143"), Ok(("127.0.0.1".to_owned(), 1143, false)));
        assert!(
            read("https://mail.example.org").is_err() && read("imaps://kim:pw@mail.example.org").is_err()
        );
    }
}
