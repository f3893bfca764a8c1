//! Verbs about gateways.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use words::chat::{SenderProfile, Service};

/// `hermit gateway`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
A gateway lets you write to Hermit from a chat: Telegram, Matrix, mail, Slack, Discord or Nostr, or from a program of your own \
by signed calls (webhook). Whoever writes there is nobody until you have paired them with a code; what others write is refused, \
and listed.

Nobody can approve anything through a chat. It tells what waits for you and lets you deny it; a yes is given here or in your \
browser.

It listens while Hermit is open: the app, or `hermit serve`. What cannot be sent meanwhile waits.

First steps:
  hermit gateway add telegram
  hermit gateway pair telegram
  hermit serve")]
pub enum GatewayVerb {
    /// Asks for what a chat service needs, shows a card, and connects it after your yes.
    Add(Box<GatewayAdd>),
    /// Lists gateways, and how each stands.
    List,
    /// Shows a gateway: its service, its hosts, how it stands, and what waits to be sent.
    Show {
        /// Its name.
        gateway: String,
    },
    /// Stops listening and sending until you resume it.
    Pause {
        /// Its name.
        gateway: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Listens and sends again.
    Resume {
        /// Its name.
        gateway: String,
    },
    /// Removes a gateway, with everybody who is paired with it; its history stays.
    #[command(alias = "remove")]
    Rm {
        /// Its name.
        gateway: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Asks you for a pairing, and tells the code that pairs its sender.
    #[command(after_help = "\
Whoever sends the code first, in a direct chat with the bot or account, is paired. It is shown once and kept nowhere.

Examples:
  hermit gateway pair telegram
  hermit gateway pair telegram --may goals")]
    Pair {
        /// The gateway.
        gateway: String,
        /// What the sender may do: `ask` (unless you say otherwise) for questions whose tasks change nothing, `goals` for tasks with
        /// the gateway's policy profile.
        #[arg(long, value_name = "ask|goals", value_parser = PossibleValuesParser::new(SenderProfile::ALL.iter().map(|one| one.as_str())))]
        may: Option<String>,
    },
    /// Lists who is or was paired.
    Senders {
        /// The gateway.
        gateway: String,
    },
    /// Stops listening to a sender.
    Unpair {
        /// The gateway.
        gateway: String,
        /// The sender, as `hermit gateway senders` names them.
        sender: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Lists what came in and went out, the newest first: how each message stands, and what was refused.
    Messages {
        /// The gateway.
        gateway: String,
        /// How many at most; 30 unless you say otherwise.
        #[arg(long, value_name = "N")]
        limit: Option<u32>,
        /// Only what is older than this place, which the end of a list tells.
        #[arg(long, value_name = "PLACE")]
        before: Option<u64>,
    },
}

/// `hermit gateway add`.
#[derive(Debug, Args)]
#[command(after_help = "\
At a terminal you are asked for what is missing. The token is typed without being shown, or read from standard input; it is \
never an argument, because arguments are seen by every program. It is kept where your keys are, as a secret.

Where a token comes from: in Telegram, @BotFather makes bots; for Matrix, an account of its own; for mail, a mailbox of its \
own; for Slack and Discord, an app that you make on their pages for developers; for Nostr, a key of its own; for a webhook, a \
secret that you make.

Examples:
  hermit gateway add telegram
  hermit gateway add telegram --name family --workspace notes --model openai:http://127.0.0.1:8080/v1#qwen
  hermit gateway add matrix --address https://matrix.example.org --secret matrix-token
  hermit gateway add nostr --address 'wss://relay.example.org wss://relay2.example.org'
  hermit gateway add telegram --workspace notes < token.txt")]
pub struct GatewayAdd {
    /// The chat service.
    #[arg(value_parser = PossibleValuesParser::new(Service::ALL.iter().map(|one| one.as_str())))]
    pub service: String,
    /// Its name here: a-z, 0-9 and `-`. One that stands is changed; without it, the service's own name.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The server: the URL of a Matrix homeserver, the host of a mail server, relays of Nostr with blanks between; not needed for a
    /// service that has only one.
    #[arg(long, value_name = "URL|HOST")]
    pub address: Option<String>,
    /// The mail address, or the name of the account where the service asks for one.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// What else the service needs; never a token. Repeat it for several.
    #[arg(long = "setting", value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// The name of the secret with the token. One that is kept already is used as it is.
    #[arg(long, value_name = "NAME")]
    pub secret: Option<String>,
    /// The folder in which tasks of its senders work; the current folder unless you name one.
    #[arg(long, short, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// A playbook that comes with Hermit, one that you adopted, or the path of one.
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "model")]
    pub playbook: Option<String>,
    /// A parameter of the playbook; repeat it for several.
    #[arg(long = "param", value_name = "NAME=VALUE", requires = "playbook")]
    pub params: Vec<String>,
    /// The model: `box:NAME` or `openai:URL#NAME`.
    #[arg(long, value_name = "ADDRESS")]
    pub model: Option<String>,
    /// Policy profile of tasks of senders who may give goals; local_edit_allowed unless you name one. `hermit policy profiles` shows
    /// them.
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// The most turns each task may use.
    #[arg(long, value_name = "N")]
    pub iterations: Option<u32>,
    /// The most US dollars each task may spend on models; 5 unless you say otherwise.
    #[arg(long, value_name = "DOLLARS")]
    pub cost: Option<f64>,
}
