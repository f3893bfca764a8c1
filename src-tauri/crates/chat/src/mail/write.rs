//! A mail that is sent: over SMTP, in steps, so that it is known whether it may have arrived.

use super::Place;
use crate::{Fault, Outgoing, clean, http, short_key};
use lettre::Address;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, Message, MultiPart, SinglePart};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{Certificate, CertificateStore, SmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};

/// Bytes of a file that is sent.
const FILE_BYTES_MAX: usize = 20 * 1024 * 1024;

/// A mail, ready to be sent, and its id.
pub(super) struct Ready {
    pub(super) id: String,
    from: Address,
    to: Address,
    bytes: Vec<u8>,
}

/// Writes a mail. Its id comes from the repeat key, so that whoever gets it twice can tell.
pub(super) fn write(out: &Outgoing, me: &str, subject: &str) -> Result<Ready, Fault> {
    let refused = |why: &str| Fault::refused(why.to_owned());
    let (to, root) = out.chat.split_once(',').ok_or_else(|| refused("this is no chat by mail"))?;
    let to: Address =
        to.parse().map_err(|_| refused("nothing is sent to an address that nobody vouches for"))?;
    let from: Address = me.parse().map_err(|_| refused("the account has no mail address"))?;
    let id = format!("hermit-{}@{}", short_key(&out.repeat_key), from.domain());
    let answered = out.reply_to.as_deref().unwrap_or(root);
    let references = if answered == root { format!("<{root}>") } else { format!("<{root}> <{answered}>") };
    if clean::id(root).is_none() || clean::id(answered).is_none() {
        return Err(refused("this is no chat by mail"));
    }
    let builder = Message::builder()
        .message_id(Some(format!("<{id}>")))
        .from(Mailbox::new(None, from.clone()))
        .to(Mailbox::new(None, to.clone()))
        .in_reply_to(format!("<{answered}>"))
        .references(references)
        .subject(clean::name(subject))
        .date_now();
    let written = match &out.file {
        Some(file) if file.bytes.len() > FILE_BYTES_MAX => {
            return Err(Fault::refused(format!("no file over {FILE_BYTES_MAX} bytes goes by mail")));
        }
        Some(file) => {
            let kind =
                ContentType::parse(&clean::media_type(&file.media_type)).unwrap_or(ContentType::TEXT_PLAIN);
            let part = Attachment::new(clean::file_name(&file.name)).body(file.bytes.clone(), kind);
            builder.multipart(
                MultiPart::mixed().singlepart(SinglePart::plain(out.text.clone())).singlepart(part),
            )
        }
        None => builder.singlepart(SinglePart::plain(out.text.clone())),
    };
    let mut mail = written.map_err(|error| Fault::refused(clean::said(&error.to_string(), &[])))?;
    // Whoever answers by themselves does not answer this.
    let automatic =
        HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-replied".to_owned());
    mail.headers_mut().insert_raw(automatic);
    Ok(Ready { id, from, to, bytes: mail.formatted() })
}

/// Who logs in, and whom the server is checked against.
pub(super) struct Login<'a> {
    pub(super) user: &'a str,
    pub(super) token: &'a str,
    pub(super) authorities: Option<&'a [u8]>,
}

/// Connects and logs in.
pub(super) fn greet(place: &Place, login: &Login<'_>) -> Result<SmtpConnection, Fault> {
    let hello = ClientId::Domain("localhost".to_owned());
    let tls = tls(place, login).map_err(|why| Fault::refused(clean::said(&why, &[])))?;
    let at = (place.host(), place.port);
    let outer = place.is_secure.then_some(&tls);
    let patience = Some(crate::CALL);
    let mut session =
        SmtpConnection::connect(at, patience, &hello, outer, None).map_err(|e| fault(&e, login))?;
    if session.can_starttls() {
        session.starttls(&tls, &hello).map_err(|e| fault(&e, login))?;
    } else if !place.is_secure && !http::is_loopback(&place.url) {
        return Err(Fault::refused(
            "the server for sending mail offers no TLS, so it is not told the password",
        ));
    }
    let ways = [Mechanism::Plain, Mechanism::Login];
    if session.server_info().get_auth_mechanism(&ways).is_some() {
        let pair = Credentials::new(login.user.to_owned(), login.token.to_owned());
        session.auth(&ways, &pair).map_err(|e| match fault(&e, login) {
            Fault::Refused { why } => Fault::Token { why },
            other => other,
        })?;
    }
    Ok(session)
}

fn tls(place: &Place, login: &Login<'_>) -> Result<TlsParameters, String> {
    let mut builder = TlsParameters::builder(place.host());
    if let Some(pem) = login.authorities {
        builder = builder.certificate_store(CertificateStore::None);
        let authority = Certificate::from_pem(pem).map_err(|e| e.to_string())?;
        builder = builder.add_root_certificate(authority);
    }
    builder.build().map_err(|e| e.to_string())
}

/// Sends a mail. Until its last line has gone out, nothing was sent; from then on nobody knows before the server answers.
pub(super) fn send(mut session: SmtpConnection, ready: &Ready, login: &Login<'_>) -> Result<(), Fault> {
    let mut options = Vec::new();
    let addresses: [&str; 2] = [ready.from.as_ref(), ready.to.as_ref()];
    if !addresses.iter().all(|address| address.is_ascii()) {
        if !session.server_info().supports_feature(Extension::SmtpUtfEight) {
            return Err(Fault::refused("the server for sending mail takes no such address"));
        }
        options.push(MailParameter::SmtpUtfEight);
    }
    if !ready.bytes.is_ascii() {
        options.push(MailParameter::Body(MailBodyParameter::EightBitMime));
    }
    let before = |e: Error| fault(&e, login);
    session.command(Mail::new(Some(ready.from.clone()), options)).map_err(before)?;
    session.command(Rcpt::new(ready.to.clone(), vec![])).map_err(before)?;
    session.command(Data).map_err(before)?;
    session.message(&ready.bytes).map_err(|e| match fault(&e, login) {
        Fault::Away { why, .. } if !e.is_transient() => Fault::Unknown { why },
        other => other,
    })?;
    // It has the mail: whether it says good-bye is nothing to anybody.
    session.abort();
    Ok(())
}

fn fault(error: &Error, login: &Login<'_>) -> Fault {
    let why = clean::said(&error.to_string(), &[login.token]);
    match error {
        error if error.is_permanent() || error.is_client() => Fault::Refused { why },
        _ => Fault::away(why),
    }
}
