//! `hermit gateway add`: asks at a terminal for what a chat service needs, keeps its token as a secret, and puts the gateway to
//! the person.

use super::Came;
use super::run::{micros, parameters, playbook_file, stay_with, take_up};
use super::secret::{local, value};
use super::tools::absolute;
use crate::args::GatewayAdd;
use crate::context::{Context, Signs};
use crate::terminal::{Echo, LINE_BYTES_MAX, Terminal, Typed};
use crate::text::plain;
use host::Session;
use model::secret::SecretTerms;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::Path;
use wire::gateways::Add;
use wire::task::{Budget, Reasoner};
use wire::{Code, Error, exit};
use words::chat::Service;
use words::services::{Field, Part, ServiceWords, hosts_of, spelled_out};
use zeroize::Zeroizing;

/// What stands between two tokens of one secret.
const BETWEEN_TOKENS: u8 = b' ';

/// What was said on the command line, and then at the terminal.
struct Said {
    name: Option<String>,
    address: Option<String>,
    user: Option<String>,
    settings: BTreeMap<String, String>,
}

impl Said {
    /// Whether what a question is about was said.
    fn has(&self, part: Part) -> bool {
        let said = match part {
            Part::Address => self.address.as_ref(),
            Part::User => self.user.as_ref(),
            Part::Setting(name) => self.settings.get(name),
        };
        said.is_some_and(|text| !text.is_empty())
    }

    /// What was said in a field, where it can be changed.
    fn said(&mut self, part: Part) -> Option<&mut String> {
        match part {
            Part::Address => self.address.as_mut(),
            Part::User => self.user.as_mut(),
            Part::Setting(name) => self.settings.get_mut(name),
        }
    }

    /// Writes out the protocol of each address that was written without it: the one with TLS.
    fn spell_out(&mut self, needs: &ServiceWords) {
        let fields = needs.fields.iter().filter_map(|field| Some((field.part, field.protocol?)));
        // Also a service that has an address of its own may be somewhere else.
        for (part, protocol) in fields.chain([(Part::Address, "https")]) {
            if let Some(text) = self.said(part) {
                *text = spelled_out(text, protocol);
            }
        }
    }

    /// Every host that the token goes to, as `name:port`.
    fn hosts(&mut self, needs: &ServiceWords) -> Vec<String> {
        let fields = needs.fields.iter().filter(|field| field.protocol.is_some());
        let mut parts: Vec<Part> = fields.map(|field| field.part).collect();
        if !parts.contains(&Part::Address) {
            parts.push(Part::Address);
        }
        let given = parts.into_iter().filter_map(|part| self.said(part).map(|text| hosts_of(text)));
        let given: Vec<String> = given.flatten().collect();
        if given.is_empty() { needs.hosts.iter().map(|host| (*host).to_owned()).collect() } else { given }
    }

    fn take(&mut self, part: Part, text: String) {
        match part {
            Part::Address => self.address = Some(text),
            Part::User => self.user = Some(text),
            Part::Setting(name) => {
                self.settings.insert(name.to_owned(), text);
            }
        }
    }
}

/// `hermit gateway add`.
pub(super) fn add(context: &Context, args: GatewayAdd) -> Came {
    let service = args.service.parse::<Service>().map_err(|e| Error::new(Code::Usage, e.to_string()))?;
    let needs =
        service.words().ok_or_else(|| Error::new(Code::Usage, format!("`{service}` has no adapter")))?;
    let mut said =
        Said { name: args.name, address: args.address, user: args.user, settings: settings(&args.settings)? };
    let workspace = absolute(args.workspace.as_deref().unwrap_or(Path::new(".")))?;
    let reasoner = match (args.playbook, args.model) {
        (Some(name), _) => {
            Reasoner::Playbook { text: playbook_file(&name)?, parameters: parameters(&args.params)?, name }
        }
        (None, Some(address)) => Reasoner::Address { address },
        (None, None) => Reasoner::Standard,
    };
    let budget = Budget {
        iterations_max: args.iterations,
        cost_micros_max: args.cost.map(micros).transpose()?,
        ..Budget::default()
    };
    if context.terminal.is_some() {
        can_be_kept(context, args.secret.as_deref(), said.name.as_deref())?;
    }
    complete(context, needs, &mut said)?;
    said.spell_out(needs);
    let hosts = said.hosts(needs);
    let name = said.name.unwrap_or_else(|| service.to_string());
    let secret = args.secret.unwrap_or_else(|| format!("gateway-{name}"));
    let kept = context.reading()?.call(&wire::secrets::List {})?.secrets;
    let token = match kept.iter().any(|one| one.handle == secret) {
        true => {
            context.out.note(format!(
                "uses `secret:{0}`, which is kept already; `hermit secret set {0}` replaces it",
                plain(&secret)
            ));
            None
        }
        false => Some(token(context, needs, &secret)?),
    };
    let add = Add {
        name,
        service: service.to_string(),
        address: said.address,
        user: said.user,
        settings: said.settings,
        secret,
        workspace,
        reasoner,
        profile: args.profile,
        budget,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    };
    let session = context.writing(Signs::Yes)?;
    let done =
        connect(context, &session, token.as_ref().map(|value| (value.as_slice(), hosts.as_slice())), &add);
    session.close();
    done
}

/// That a token could be kept is looked at before a person has typed everything: another process that has the store takes none.
fn can_be_kept(context: &Context, secret: Option<&str>, name: Option<&str>) -> Result<(), Error> {
    let session = context.reading()?;
    if !session.is_attached() {
        return Ok(());
    }
    let kept = session.call(&wire::secrets::List {})?.secrets;
    let is_kept = match (secret, name) {
        (Some(secret), _) => kept.iter().any(|one| one.handle == secret),
        (None, Some(name)) => kept.iter().any(|one| one.handle == format!("gateway-{name}")),
        // The name is asked for.
        (None, None) => kept.iter().any(|one| one.handle.starts_with("gateway-")),
    };
    if is_kept { Ok(()) } else { local(&session).map(drop) }
}

/// Keeps the token, and stays with the task that asks the person.
fn connect(context: &Context, session: &Session, token: Option<(&[u8], &[String])>, add: &Add) -> Came {
    if let Some((value, hosts)) = token {
        let terms = SecretTerms::at(hosts);
        local(session)?.set_secret(&add.secret, value, &terms).map_err(host::Error::to_wire)?;
    }
    let asked = ask(context, session, add);
    match &asked {
        Ok(exit::DONE) => {
            context
                .out
                .line(format!("To let somebody write to it: hermit gateway pair {}", plain(&add.name)));
        }
        // Its card waits.
        Ok(exit::WAITING) => {}
        // Refused, failed or broken off: nothing uses the token, and it is there.
        _ if token.is_some() => context.out.note(format!(
            "`secret:{0}` is still kept; `hermit secret rm {0}` forgets it",
            plain(&add.secret)
        )),
        _ => {}
    }
    asked
}

/// Puts the gateway to the person, and stays with the task that asks them.
fn ask(context: &Context, session: &Session, add: &Add) -> Came {
    take_up(context, session);
    let heard = session.listen();
    let submitted = session.call(add)?;
    stay_with(context, session, &submitted.task_id, heard).map(|(code, _)| code)
}

/// Asks at the terminal for what is missing.
fn complete(context: &Context, needs: &ServiceWords, said: &mut Said) -> Result<(), Error> {
    if let Some(terminal) = &context.terminal {
        if said.name.is_none() {
            let question = format!("Name of this gateway (Enter: {}): ", needs.service);
            said.name = Some(line(terminal, &question)?).filter(|name| !name.is_empty());
        }
        for field in needs.fields {
            if said.has(field.part) {
                continue;
            }
            if let Some(hint) = field.hint {
                context.out.line(hint);
            }
            let text = line(terminal, &question(field))?;
            if !text.is_empty() {
                said.take(field.part, text);
            }
        }
    }
    match needs.fields.iter().find(|field| field.is_needed && !said.has(field.part)) {
        None => Ok(()),
        Some(field) => Err(Error::new(
            Code::Usage,
            format!("a gateway for {} needs this: {}", needs.name, lower(field.label)),
        )
        .hint(format!("add `{}`", option(field.part)))),
    }
}

/// What a person is asked at a terminal.
fn question(field: &Field) -> String {
    let without = if field.is_needed { "" } else { " (Enter: none)" };
    format!("{}, such as {}{without}: ", field.label, field.example)
}

/// How a person says it on the command line.
fn option(part: Part) -> String {
    match part {
        Part::Address => "--address URL|HOST".to_owned(),
        Part::User => "--user NAME".to_owned(),
        Part::Setting(name) => format!("--setting {name}=VALUE"),
    }
}

/// The first letter small, as within a sentence.
fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// A line that a person types.
fn line(terminal: &Terminal, question: &str) -> Result<String, Error> {
    match terminal.ask(question, Echo::Shown)? {
        Typed::Line(text) => Ok(text.trim().to_owned()),
        Typed::Nothing => Err(nothing()),
    }
}

/// The tokens, typed unseen; where nobody types, all of standard input.
fn token(context: &Context, needs: &ServiceWords, secret: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
    let typed = context.terminal.as_ref().filter(|_| std::io::stdin().is_terminal());
    let Some(terminal) = typed else { return value(context, secret) };
    context.out.line(needs.how);
    let mut whole = Zeroizing::new(Vec::with_capacity(2 * LINE_BYTES_MAX));
    for what in needs.tokens {
        match terminal.ask(&format!("{what} (not shown): "), Echo::Hidden)? {
            Typed::Line(text) if !text.trim().is_empty() => {
                if !whole.is_empty() {
                    whole.push(BETWEEN_TOKENS);
                }
                whole.extend_from_slice(text.trim().as_bytes());
            }
            _ => return Err(nothing()),
        }
    }
    Ok(whole)
}

fn nothing() -> Error {
    Error::new(Code::Usage, "nothing was said, so no gateway was added and no token was kept")
}

/// Words of the form `NAME=VALUE`, by their names.
fn settings(given: &[String]) -> Result<BTreeMap<String, String>, Error> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=').ok_or_else(|| {
            Error::new(Code::Usage, format!("`{word}` is no setting"))
                .hint("write it as `--setting NAME=VALUE`")
        })?;
        Ok((name.trim().to_owned(), value.trim().to_owned()))
    };
    given.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_pairs_and_nothing_else_is_taken_for_one() {
        let given = settings(&["smtp = mail.example.org".to_owned()]).unwrap_or_default();
        assert_eq!(given.get("smtp").map(String::as_str), Some("mail.example.org"));
        assert!(settings(&["smtp".to_owned()]).is_err());
    }

    #[test]
    fn what_is_missing_is_named_with_the_option_that_says_it() {
        assert_eq!(option(Part::Setting("smtp")), "--setting smtp=VALUE");
        assert_eq!(lower("The mail address"), "the mail address");
        let mut said = Said { name: None, address: None, user: None, settings: BTreeMap::new() };
        assert!(!said.has(Part::Address) && !said.has(Part::Setting("smtp")));
        said.take(Part::Setting("smtp"), "mail.example.org".to_owned());
        assert!(said.has(Part::Setting("smtp")));
    }

    #[test]
    fn a_token_goes_to_the_hosts_of_its_service_or_to_those_that_were_named() -> Result<(), &'static str> {
        let words = |service: Service| service.words().ok_or("it has none");
        let mut said = Said { name: None, address: None, user: None, settings: BTreeMap::new() };
        assert_eq!(said.hosts(words(Service::Telegram)?), ["api.telegram.org:443"]);
        said.take(Part::Address, "http://127.0.0.1:8081/bots".to_owned());
        assert_eq!(said.hosts(words(Service::Telegram)?), ["127.0.0.1:8081"]);
        said.take(Part::Address, "Imap.example.org".to_owned());
        said.take(Part::Setting("smtp"), "smtp://mail.example.org".to_owned());
        said.spell_out(words(Service::Mail)?);
        assert_eq!(said.address.as_deref(), Some("imaps://Imap.example.org"));
        let mut hosts = said.hosts(words(Service::Mail)?);
        hosts.sort();
        assert_eq!(hosts, ["imap.example.org:993", "mail.example.org:587"]);
        said.take(Part::Address, "a.example ws://127.0.0.1:9".to_owned());
        said.settings.clear();
        said.spell_out(words(Service::Nostr)?);
        assert_eq!(said.hosts(words(Service::Nostr)?), ["a.example:443", "127.0.0.1:9"]);
        Ok(())
    }

    #[test]
    fn a_question_says_what_is_meant_and_what_can_be_left_out() {
        let asked: Vec<String> =
            Service::Matrix.words().iter().flat_map(|one| one.fields).map(question).collect();
        assert_eq!(
            asked.first().map(String::as_str),
            Some("Homeserver, such as https://matrix.example.org: ")
        );
        assert!(asked.last().is_some_and(|asked| asked.ends_with("(Enter: none): ")), "{asked:?}");
    }
}
