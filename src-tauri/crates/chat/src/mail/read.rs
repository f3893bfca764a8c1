//! What a mail says.

use super::verdict::is_verified;
use crate::{Attachment, Incoming, clean};
use mail_parser::{Message, MessageParser, MimeHeaders as _, PartType};

/// What stands before an address that nobody vouches for.
pub(super) const UNVERIFIED: &str = "unverified:";
/// Parts of a mail whose words are read.
const BODIES_MAX: usize = 8;

/// A mail as it came, and what the server says of it.
pub(super) struct Came<'a> {
    pub(super) raw: &'a [u8],
    /// `validity:uid`.
    pub(super) place: String,
    pub(super) sent_at: i64,
    /// Whether only its beginning is here.
    pub(super) is_cut: bool,
}

/// The message that a mail is; nothing where no person wrote it, or the account itself.
pub(super) fn of_mail(came: &Came<'_>, me: &str, authserv: Option<&str>) -> Option<Incoming> {
    let mail = MessageParser::default().parse(came.raw)?;
    if is_automatic(&mail) {
        return None;
    }
    let (address, name) = from(&mail)?;
    if address == me {
        return None;
    }
    let domain = address.rsplit('@').next().unwrap_or_default();
    let results = values(&mail, "authentication-results");
    // Of a mail that is here in part, nobody knows what else its head says.
    let is_verified =
        authserv.is_some_and(|server| is_verified(results.iter().copied(), server, domain)) && !came.is_cut;
    let mark = if is_verified { "" } else { UNVERIFIED };
    let own_id = mail.message_id().and_then(clean::id).unwrap_or_else(|| came.place.clone());
    let answers = mail.in_reply_to().as_text().and_then(clean::id);
    let root =
        mail.references().as_text_list().and_then(|all| all.first().and_then(|first| clean::id(first)));
    let root = root.or_else(|| answers.clone()).unwrap_or_else(|| own_id.clone());
    Some(Incoming {
        message_id: own_id,
        chat: format!("{mark}{address},{root}"),
        is_group: others(&mail, me) > 0,
        sender: format!("{mark}{address}"),
        sender_name: clean::name(&name),
        sent_at: came.sent_at,
        text: text(&mail, answers.is_none(), came.is_cut),
        reply_to: answers,
        button: None,
        attachments: attachments(&mail, &came.place),
    })
}

/// The bytes of one of a mail's files.
pub(super) fn file_of(raw: &[u8], index: u32) -> Option<Vec<u8>> {
    let mail = MessageParser::default().parse(raw)?;
    mail.attachment(index).map(|part| part.contents().to_vec())
}

/// The values of every header of a name, topmost first.
fn values<'m>(mail: &'m Message<'_>, name: &str) -> Vec<&'m str> {
    mail.headers_raw().filter(|(is, _)| is.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
}

/// Whether a program wrote it, or it went to a list: to answer that could go on forever.
fn is_automatic(mail: &Message<'_>) -> bool {
    let says = |name: &str, of: &dyn Fn(&str) -> bool| {
        values(mail, name).iter().any(|value| of(value.trim().to_ascii_lowercase().as_str()))
    };
    says("auto-submitted", &|value| value != "no")
        || says("precedence", &|value| matches!(value, "bulk" | "junk" | "list" | "auto_reply"))
        || says("list-id", &|_| true)
        || says("return-path", &|value| value == "<>")
}

/// Address in small letters, and name, of the one author. A mail with several is nobody's.
fn from(mail: &Message<'_>) -> Option<(String, String)> {
    if values(mail, "from").len() != 1 {
        return None;
    }
    let mut authors = mail.from()?.iter();
    let (author, None) = (authors.next()?, authors.next()) else { return None };
    let address = author.address().and_then(clean::id)?.to_lowercase();
    let (local, domain) = address.split_once('@')?;
    let plain =
        |part: &str| !part.is_empty() && !part.contains(['@', ',', '"', '<', '>', ':', ';', '(', ')', '\\']);
    (plain(local) && plain(domain)).then(|| (address.clone(), author.name().unwrap_or_default().to_owned()))
}

/// How many others it went to.
fn others(mail: &Message<'_>, me: &str) -> usize {
    let all = mail.to().into_iter().chain(mail.cc()).flat_map(|all| all.iter());
    all.filter(|one| one.address().is_some_and(|address| !address.eq_ignore_ascii_case(me))).count()
}

fn text(mail: &Message<'_>, begins: bool, is_cut: bool) -> String {
    let mut words = Vec::new();
    if begins {
        words.extend(mail.subject().map(clean::name));
    }
    let bodies = 0..mail.text_body_count().min(BODIES_MAX);
    words.extend(bodies.filter_map(|at| mail.body_text(at)).map(|body| body.trim_end().to_owned()));
    if is_cut {
        words.push("[The mail is too large; only its beginning was read.]".to_owned());
    }
    words.retain(|part| !part.is_empty());
    clean::text(&words.join("\n\n"))
}

fn attachments(mail: &Message<'_>, place: &str) -> Vec<Attachment> {
    let parts = (0..).zip(mail.attachments()).take(clean::ATTACHMENTS_MAX);
    let read =
        parts.filter(|(_, part)| !matches!(part.body, PartType::Multipart(_))).map(|(at, part): (u32, _)| {
            let kind = part.content_type();
            let kind =
                kind.map(|kind| format!("{}/{}", kind.c_type, kind.c_subtype.as_deref().unwrap_or("")));
            Attachment {
                name: clean::file_name(part.attachment_name().unwrap_or_default()),
                media_type: clean::media_type(&kind.unwrap_or_default()),
                bytes: part.len() as u64,
                handle: format!("{place}:{at}"),
            }
        });
    read.collect()
}
