//! Chat services, and what each needs: the one table that terminal, pages and adapters share (decision 281).

use crate::chat::Service;

/// What a person is told of a service, and asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceWords {
    /// The service.
    pub service: Service,
    /// Its name, as it stands within a sentence.
    pub name: &'static str,
    /// Where a newcomer gets the token.
    pub how: &'static str,
    /// The tokens, in the order in which the secret holds them, with a blank between.
    pub tokens: &'static [&'static str],
    /// What else it needs.
    pub fields: &'static [Field],
    /// The hosts that it is spoken with at where no address is given, as `name:port`.
    pub hosts: &'static [&'static str],
    /// Where a code is sent: what follows the words "Send this".
    pub send_to: &'static str,
}

/// Where what is said in a field belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The address of the account, or several with blanks between.
    Address,
    /// The name of the account.
    User,
    /// The setting of this name.
    Setting(&'static str),
}

impl Part {
    /// Its name: `address`, `user`, or that of the setting.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::User => "user",
            Self::Setting(name) => name,
        }
    }
}

/// What a person says beside the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Where it belongs.
    pub part: Part,
    /// What it is.
    pub label: &'static str,
    /// One that could be meant.
    pub example: &'static str,
    /// What else a newcomer should know, in whole sentences.
    pub hint: Option<&'static str>,
    /// Whether nothing works without it.
    pub is_needed: bool,
    /// The protocol of an address that is said without one; none where it is no address.
    pub protocol: Option<&'static str>,
}

impl Field {
    const fn needed(part: Part, label: &'static str, example: &'static str) -> Self {
        Self { part, label, example, hint: None, is_needed: true, protocol: None }
    }

    const fn optional(part: Part, label: &'static str, example: &'static str) -> Self {
        Self { is_needed: false, ..Self::needed(part, label, example) }
    }

    const fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }

    /// An address, which has this protocol where none is said.
    const fn at(self, protocol: &'static str) -> Self {
        Self { protocol: Some(protocol), ..self }
    }
}

/// Every service, in the order of their list.
pub const SERVICES: &[ServiceWords] = &[
    ServiceWords {
        service: Service::Telegram,
        name: "Telegram",
        how: "In Telegram, write /newbot to @BotFather and answer its two questions. It sends you the token of your new bot.",
        tokens: &["The bot's token"],
        fields: &[],
        hosts: &["api.telegram.org:443"],
        send_to: "to your bot in Telegram, in a direct chat with it",
    },
    ServiceWords {
        service: Service::Matrix,
        name: "Matrix",
        how: "Make an account for Hermit on your homeserver and log in there once. In Element, its access token stands in All \
              settings, under Help & About.",
        tokens: &["The account's access token"],
        fields: &[
            Field::needed(Part::Address, "Homeserver", "https://matrix.example.org").at("https"),
            Field::optional(Part::Setting("accept_invites"), "Whose invitations it accepts", "@you:example.org")
                .hint("Users with blanks between, or all. Nobody's where nothing is said."),
        ],
        hosts: &[],
        send_to: "to Hermit's account in Matrix, in a room that holds nobody but the two of you",
    },
    ServiceWords {
        service: Service::Mail,
        name: "mail",
        how: "Use a mailbox that only Hermit reads. Many providers want a password for apps, which you make in the settings of the \
              account there.",
        tokens: &["The mailbox's password"],
        fields: &[
            Field::needed(Part::User, "Mail address", "hermit@example.org"),
            Field::needed(Part::Address, "Server where mail is read (IMAP)", "imap.example.org").at("imaps"),
            Field::needed(Part::Setting("smtp"), "Server where mail is sent (SMTP)", "smtp.example.org").at("smtps"),
            Field::needed(
                Part::Setting("authserv_id"),
                "Name by which the mail server confirms senders",
                "mx.example.org",
            )
            .hint(
                "The first word of Authentication-Results in the source of a mail that you got there. Without it nobody can be \
                 paired, since anybody can write any sender.",
            ),
        ],
        hosts: &[],
        send_to: "to Hermit's mail address, as the only words of a message",
    },
    ServiceWords {
        service: Service::Slack,
        name: "Slack",
        how: "On api.slack.com/apps, make an app, turn on Socket Mode, which gives an app-level token (xapp-), and install it in \
              your workspace, which gives a bot token (xoxb-).",
        tokens: &["The app-level token (xapp-)", "The bot token (xoxb-)"],
        fields: &[],
        hosts: &["slack.com:443", "files.slack.com:443", "wss-primary.slack.com:443", "wss-backup.slack.com:443"],
        send_to: "to your app in Slack, as a direct message",
    },
    ServiceWords {
        service: Service::Discord,
        name: "Discord",
        how: "On discord.com/developers, make an application, open Bot and have it show you the token. Invite the bot to a server \
              that you are in.",
        tokens: &["The bot's token"],
        fields: &[],
        hosts: &["discord.com:443", "gateway.discord.gg:443", "cdn.discordapp.com:443"],
        send_to: "to your bot in Discord, as a direct message",
    },
    ServiceWords {
        service: Service::Nostr,
        name: "Nostr",
        how: "Make a key for Hermit alone, in an app for Nostr or with a tool for its keys. Write to it from an app that sends \
              private messages by NIP-17, at one of the relays that you name here.",
        tokens: &["The secret key (nsec)"],
        fields: &[
            Field::needed(Part::Address, "Relays where it reads and sends", "wss://relay.example.org")
                .hint("One to four, with blanks between.")
                .at("wss"),
            Field::optional(Part::Setting("announce"), "Whether it tells everybody at which relays it reads", "yes")
                .hint("Many apps write only to a key that tells this. It tells nobody where nothing is said."),
        ],
        hosts: &[],
        send_to: "to Hermit's key, as a private message",
    },
    ServiceWords {
        service: Service::Webhook,
        name: "webhook",
        how: "Your own program writes to Hermit, and Hermit to it, by calls that are signed as Standard Webhooks has it. Both sign \
              with one secret: make one, such as `echo whsec_$(openssl rand -base64 32)`, and give it to both.",
        tokens: &["The secret that calls are signed with (whsec_)"],
        fields: &[
            Field::needed(Part::Address, "Address that Hermit's messages are sent to", "https://chat.example.org/hermit")
                .at("https"),
        ],
        hosts: &[],
        send_to: "to Hermit, as the text of a message from the sender whom you want to pair",
    },
];

impl Service {
    /// What a person is told of it, and asked for it.
    pub fn words(self) -> Option<&'static ServiceWords> {
        SERVICES.iter().find(|one| one.service == self)
    }

    /// Its name, as it stands within a sentence.
    pub fn name(self) -> &'static str {
        self.words().map_or(self.as_str(), |words| words.name)
    }
}

/// Addresses with their protocol: this one where none is said. Several have blanks between.
pub fn spelled_out(addresses: &str, protocol: &str) -> String {
    let one = |address: &str| match address.contains("://") {
        true => address.to_owned(),
        false => format!("{protocol}://{address}"),
    };
    addresses.split_whitespace().map(one).collect::<Vec<_>>().join(" ")
}

/// The hosts of addresses, as `name:port`.
pub fn hosts_of(addresses: &str) -> Vec<String> {
    addresses.split_whitespace().filter_map(host_of).collect()
}

fn host_of(address: &str) -> Option<String> {
    let (protocol, rest) = address.split_once("://")?;
    let at = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
    if at.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        return Some(at);
    }
    let port = match protocol {
        "http" | "ws" => 80,
        "imap" => 143,
        "imaps" => 993,
        "smtp" => 587,
        "smtps" => 465,
        _ => 443,
    };
    Some(format!("{at}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_says_where_its_token_comes_from_and_asks_for_each_thing_once() {
        let services: Vec<Service> = SERVICES.iter().map(|one| one.service).collect();
        assert_eq!(services, Service::ALL);
        for one in SERVICES {
            assert!(
                one.how.ends_with('.') && !one.tokens.is_empty() && one.send_to.starts_with("to "),
                "{one:?}"
            );
            let has_address = one.fields.iter().any(|field| field.part == Part::Address && field.is_needed);
            assert!(
                has_address == one.hosts.is_empty(),
                "{one:?}: its own hosts, or those that a person names"
            );
            for (at, field) in one.fields.iter().enumerate() {
                assert!(one.fields.iter().skip(at + 1).all(|other| other.part != field.part), "{field:?}");
                assert!(
                    field.hint.is_none_or(|hint| hint.ends_with('.')) && !field.label.ends_with('.'),
                    "{field:?}"
                );
            }
        }
        assert_eq!(Service::Slack.words().map(|one| one.tokens.len()), Some(2));
        assert_eq!((Service::Mail.name(), Service::Nostr.name()), ("mail", "Nostr"));
    }

    #[test]
    fn hosts_have_the_port_of_their_protocol() {
        assert_eq!(spelled_out("Chat.example.org/base", "https"), "https://Chat.example.org/base");
        assert_eq!(spelled_out(" a.example  ws://127.0.0.1:9 ", "wss"), "wss://a.example ws://127.0.0.1:9");
        assert_eq!(spelled_out("", "https"), "");
        assert_eq!(hosts_of("https://Chat.example.org/base"), ["chat.example.org:443"]);
        assert_eq!(hosts_of("imaps://imap.example.org"), ["imap.example.org:993"]);
        assert_eq!(hosts_of("smtp://mail.example.org"), ["mail.example.org:587"]);
        assert_eq!(hosts_of("wss://a.example ws://127.0.0.1:9"), ["a.example:443", "127.0.0.1:9"]);
        assert_eq!(hosts_of("chat.example.org"), Vec::<String>::new());
    }
}
