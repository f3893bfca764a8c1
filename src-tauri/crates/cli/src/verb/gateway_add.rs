//! `hermit gateway add`: asks at a terminal for what a chat service needs, keeps its token as a secret, and puts the gateway to
//! the person.

use super::Came;
use super::gateway::service_name;
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
use zeroize::Zeroizing;

/// What stands between two tokens of one secret.
const BETWEEN_TOKENS: u8 = b' ';
/// The setting with the server where mail is sent.
const SMTP: &str = "smtp";

/// Where the answer to a question belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Address,
    User,
    Setting(&'static str),
}

/// What a person is asked beside the token.
struct Question {
    part: Part,
    words: &'static str,
    /// Whether nothing works without it.
    is_needed: bool,
}

impl Question {
    const fn needed(part: Part, words: &'static str) -> Self {
        Self { part, words, is_needed: true }
    }
}

/// What is asked for Matrix.
const OF_MATRIX: &[Question] = &[
    Question::needed(Part::Address, "The homeserver, such as https://matrix.example.org"),
    Question {
        part: Part::Setting("accept_invites"),
        words: "Whose invitations it accepts, such as @you:example.org, or `all` (Enter: nobody's)",
        is_needed: false,
    },
];
/// What is asked for mail.
const OF_MAIL: &[Question] = &[
    Question::needed(Part::User, "The mail address"),
    Question::needed(Part::Address, "The server where mail is read (IMAP), such as imap.example.org"),
    Question::needed(Part::Setting(SMTP), "The server where mail is sent (SMTP), such as smtp.example.org"),
    Question::needed(
        Part::Setting("authserv_id"),
        "The name by which your mail server confirms senders: the first word of `Authentication-Results` in the source of a mail \
         that you got there",
    ),
];

/// What a service cannot do without.
struct Needs {
    /// Where a newcomer gets the token.
    how: &'static str,
    /// What else is asked.
    questions: &'static [Question],
    /// The tokens, in the order in which the secret holds them.
    tokens: &'static [&'static str],
}

const fn needs(service: Service) -> Needs {
    match service {
        Service::Telegram => Needs {
            how: "In Telegram, write /newbot to @BotFather and answer its two questions; it sends you the token of your new bot.",
            questions: &[],
            tokens: &["The bot's token"],
        },
        Service::Matrix => Needs {
            how: "Make an account for Hermit on your homeserver and log in there once; in Element its access token stands in All \
                  settings, under Help & About.",
            questions: OF_MATRIX,
            tokens: &["The account's access token"],
        },
        Service::Mail => Needs {
            how: "Use a mailbox that only Hermit reads. Many providers want a password for apps, which you make in the settings of \
                  the account there.",
            questions: OF_MAIL,
            tokens: &["The mailbox's password"],
        },
        Service::Slack => Needs {
            how: "On api.slack.com/apps, make an app, turn on Socket Mode, which gives an app-level token (xapp-), and install it in \
                  your workspace, which gives a bot token (xoxb-).",
            questions: &[],
            tokens: &["The app-level token (xapp-)", "The bot token (xoxb-)"],
        },
        Service::Discord => Needs {
            how: "On discord.com/developers, make an application, open Bot and have it show you the token; invite the bot to \
                  a server that you are in.",
            questions: &[],
            tokens: &["The bot's token"],
        },
    }
}

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

    /// Writes out the protocol of an address that was written without it: the one with TLS.
    fn spell_out(&mut self, service: Service) {
        let is_mail = service == Service::Mail;
        if let Some(address) = &mut self.address {
            with_scheme(address, if is_mail { "imaps" } else { "https" });
        }
        if let Some(smtp) = self.settings.get_mut(SMTP).filter(|_| is_mail) {
            with_scheme(smtp, "smtps");
        }
    }

    /// Every host that the token goes to, as `name:port`.
    fn hosts(&self, service: Service) -> Vec<String> {
        let own: &[&str] = match service {
            Service::Telegram => &["https://api.telegram.org"],
            Service::Matrix | Service::Mail => &[],
            Service::Slack => &[
                "https://slack.com",
                "https://files.slack.com",
                "https://wss-primary.slack.com",
                "https://wss-backup.slack.com",
            ],
            Service::Discord => {
                &["https://discord.com", "https://gateway.discord.gg", "https://cdn.discordapp.com"]
            }
        };
        let smtp = self.settings.get(SMTP).filter(|_| service == Service::Mail);
        let given: Vec<&str> = self.address.iter().chain(smtp).map(String::as_str).collect();
        let all = if given.is_empty() { own.iter().copied().collect() } else { given };
        all.into_iter().filter_map(host_of).collect()
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

fn with_scheme(address: &mut String, scheme: &str) {
    if !address.is_empty() && !address.contains("://") {
        *address = format!("{scheme}://{address}");
    }
}

/// The host of an address, as `name:port`.
fn host_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let at = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    if at.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        return Some(at);
    }
    let port = match scheme {
        "http" => 80,
        "imap" => 143,
        "imaps" => 993,
        "smtp" => 587,
        "smtps" => 465,
        _ => 443,
    };
    Some(format!("{at}:{port}"))
}

/// `hermit gateway add`.
pub(super) fn add(context: &Context, args: GatewayAdd) -> Came {
    let service = args.service.parse::<Service>().map_err(|e| Error::new(Code::Usage, e.to_string()))?;
    let needs = needs(service);
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
    complete(context, service, &needs, &mut said)?;
    said.spell_out(service);
    let hosts = said.hosts(service);
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
        false => Some(token(context, &needs, &secret)?),
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
fn complete(context: &Context, service: Service, needs: &Needs, said: &mut Said) -> Result<(), Error> {
    if let Some(terminal) = &context.terminal {
        if said.name.is_none() {
            let question = format!("Name of this gateway (Enter: {service}): ");
            said.name = Some(line(terminal, &question)?).filter(|name| !name.is_empty());
        }
        for question in needs.questions {
            if said.has(question.part) {
                continue;
            }
            let text = line(terminal, &format!("{}: ", question.words))?;
            if !text.is_empty() {
                said.take(question.part, text);
            }
        }
    }
    match needs.questions.iter().find(|question| question.is_needed && !said.has(question.part)) {
        None => Ok(()),
        Some(Question { part, words, .. }) => {
            let service = service_name(service);
            Err(Error::new(Code::Usage, format!("a gateway for {service} needs this: {}", lower(words)))
                .hint(format!("add `{}`", option(*part))))
        }
    }
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
fn token(context: &Context, needs: &Needs, secret: &str) -> Result<Zeroizing<Vec<u8>>, Error> {
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
    fn every_service_says_where_its_token_comes_from_and_asks_for_each_thing_once() {
        for service in Service::ALL {
            let needs = needs(*service);
            assert!(needs.how.ends_with('.') && !needs.tokens.is_empty(), "{service}");
            for (at, one) in needs.questions.iter().enumerate() {
                assert!(needs.questions.iter().skip(at + 1).all(|other| other.part != one.part), "{service}");
            }
        }
        assert_eq!(needs(Service::Slack).tokens.len(), 2);
    }

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
    fn a_token_goes_to_the_hosts_of_its_service_or_to_those_that_were_named() {
        let mut said = Said { name: None, address: None, user: None, settings: BTreeMap::new() };
        assert_eq!(said.hosts(Service::Telegram), ["api.telegram.org:443"]);
        said.take(Part::Address, "http://127.0.0.1:8081/bots".to_owned());
        assert_eq!(said.hosts(Service::Telegram), ["127.0.0.1:8081"]);
        said.take(Part::Address, "Imap.example.org".to_owned());
        said.take(Part::Setting("smtp"), "smtp://mail.example.org".to_owned());
        said.spell_out(Service::Mail);
        assert_eq!(said.address.as_deref(), Some("imaps://Imap.example.org"));
        assert_eq!(said.hosts(Service::Mail), ["imap.example.org:993", "mail.example.org:587"]);
    }
}
