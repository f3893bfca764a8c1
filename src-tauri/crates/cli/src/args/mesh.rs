//! Verbs about the machines of one person.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `hermit mesh`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Your machines as one: pair laptop, desktop and server with a code, then send a goal to the machine that has the folder, approve \
wherever you sit, and see the receipts of all in one list. What they say to each other is sealed; it goes over relays that you \
name, directly within one network, or in a file that you carry.

Nothing of it is on until you turn it on, and it works while Hermit is open: the app, or `hermit serve`. A goal from another \
machine gives no permission: each act is judged by the machine that does it, and asked about there, or at a machine that you \
let approve.

First steps, on both machines:
  hermit identity edit SOUL.md
  hermit mesh on --name desk --relay wss://relay.example.org
On the one that works, also a folder; goals there need a model (`hermit models use`, or `--model` here):
  hermit mesh on --folder notes=~/notes
Then a code, shown on one and typed on the other:
  hermit mesh pair
  hermit mesh pair ABCD-EFGHJK
  hermit mesh send --to desk \"sort the notes of this week\" --wait")]
pub enum MeshVerb {
    /// Turns the mesh on, or changes what this machine is in it; what you do not name stays as it is.
    On(Box<MeshOn>),
    /// Turns the mesh off: nothing is sent and nothing is heard.
    Off {
        /// Leave the mesh as well: what waits for other machines is let go of, and the key after the next rotation is paired anew.
        #[arg(long)]
        leave: bool,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Shows what this machine is in the mesh, which ways are open, and what you have to know.
    Show,
    /// Pairs two machines: without a code it shows one, with the code of the other machine it uses it.
    #[command(after_help = "\
A code counts for ten minutes, and once. The machine that shows it waits; type it at the other one. Both have to meet: at a \
relay that both have, or directly, where the machine with the code listens (`hermit mesh on --listen ADDRESS:PORT`).

Examples:
  hermit mesh pair
  hermit mesh pair ABCD-EFGHJK
  hermit mesh pair ABCD-EFGHJK --at 192.168.1.5:7447")]
    Pair {
        /// The code that the other machine shows.
        code: Option<String>,
        /// Where both meet: the address of a relay, or the address and port of the other machine. Repeat it for several; the relays
        /// of this machine unless you name one.
        #[arg(long, value_name = "RELAY|ADDRESS:PORT", requires = "code")]
        at: Vec<String>,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Lists the machines: which are here, what each can do, and what waits for it.
    Nodes,
    /// Ends that a machine is believed, on all machines; what waits for it is never sent.
    Withdraw {
        /// The machine, by its name or the beginning of its key.
        node: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
        /// Do not ask.
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Sends a goal to another machine, which works on it where its folder is.
    #[command(after_help = "\
A message waits here until a relay has it or the machine is reached, and on relays while that machine is off. Each step is told \
as it was observed: queued, accepted by a relay, opened by the other machine, and whether it waits for its person there. With \
--wait this stays until the answer comes; Ctrl-C leaves, and the message goes its way.

Examples:
  hermit mesh send --to desk \"sort the notes of this week\"
  hermit mesh send --to desk --folder notes \"sort the notes of this week\" --wait
  hermit mesh send --to desk --conversation CONVERSATION \"and those of the last week\"")]
    Send {
        /// The machine, by its name or the beginning of its key.
        #[arg(long, value_name = "NODE")]
        to: String,
        /// The folder there, by its alias; needed where it has several.
        #[arg(long, value_name = "ALIAS")]
        folder: Option<String>,
        /// The conversation to continue, as `hermit mesh messages` names it; a new one unless you name one.
        #[arg(long)]
        conversation: Option<String>,
        /// Stay until the answer comes.
        #[arg(long)]
        wait: bool,
        /// What is to be done.
        text: String,
    },
    /// Lists what was sent and what came, the newest first, and how far each message came.
    Messages(PlaceArgs),
    /// Gives a conversation of this machine to another one, which continues it.
    HandOver {
        /// The conversation.
        conversation: String,
        /// The machine, by its name or the beginning of its key.
        node: String,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Takes a conversation from a machine that does not answer. What that machine still wrote is kept aside.
    Take {
        /// The conversation.
        conversation: String,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Lists the receipts of all machines, the newest first.
    Receipts(PlaceArgs),
    /// Shows what other machines ask you.
    Questions,
    /// Answers what another machine asks: shows it, then asks for the approval passphrase of this machine.
    Answer {
        /// The approval, as `hermit mesh questions` names it.
        #[arg(id = "question", value_name = "APPROVAL")]
        approval: String,
        /// Your answer.
        #[arg(value_parser = PossibleValuesParser::new(["allow", "deny"]))]
        answer: String,
    },
    /// Lets the approval key of another machine approve what this one asks, or no more.
    #[command(after_help = "\
From then on a card of this machine is shown at the other one, too, and a yes that is signed with the approval key of that \
machine counts here. Compare the fingerprint that `hermit mesh nodes` shows with the one that `hermit keys list` shows there.")]
    Approver {
        /// The machine, by its name or the beginning of its key.
        node: String,
        /// It approves nothing here any more.
        #[arg(long)]
        no: bool,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Says which machines may hold a schedule: the first one that is here begins its tasks.
    #[command(after_help = "\
Each of these machines has to have the schedule, under the same name, after your yes there, and this one has to be among them. \
The first one holds it; when it was silent for longer than the term, and five minutes more because clocks differ, the next one \
takes over, and gives it back. A machine to which no relay and no other machine is connected begins nothing of it.

Examples:
  hermit mesh hold tidy desk laptop
  hermit mesh hold tidy desk laptop --term 60
  hermit mesh hold tidy --none")]
    Hold {
        /// The schedule.
        schedule: String,
        /// Machines, the first one first; this one by its own name.
        #[arg(required_unless_present = "none", conflicts_with = "none", value_name = "NODE")]
        nodes: Vec<String>,
        /// For how many minutes the machine that holds it may be silent, 2 at least; 10 unless you say otherwise.
        #[arg(long, value_name = "MINUTES")]
        term: Option<u32>,
        /// Takes the schedule out of the mesh: this machine alone runs it again.
        #[arg(long, conflicts_with = "term")]
        none: bool,
        #[command(flatten)]
        person: PersonArgs,
    },
    /// Writes what waits for other machines to a new file, which you carry there.
    Export {
        /// The file.
        file: PathBuf,
        /// Only what is for this machine.
        #[arg(long = "for", value_name = "NODE")]
        node: Option<String>,
    },
    /// Takes in a file that you carried here from another machine.
    Import {
        /// The file.
        file: PathBuf,
    },
    /// Runs a relay of your own until Ctrl-C. It needs no store, keeps messages in memory, and can read none of them.
    Relay {
        /// Where it listens; any free port of this machine alone unless you say so.
        #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
        listen: String,
        /// Takes and gives nothing before whoever connects has proven a key (NIP-42). Your machines do so by themselves where you have
        /// named this relay to them.
        #[arg(long)]
        auth: bool,
    },
}

/// `hermit mesh on`.
#[derive(Debug, Args)]
#[command(after_help = "\
Relays pass sealed messages on and keep them for machines that are off. Several are better than one: what one of them loses, \
another one has. `hermit mesh relay` runs one of your own.

An empty word takes away what it stands for: --relay \"\", --listen \"\", --folder \"\", --model \"\".

Examples:
  hermit mesh on --name desk --relay wss://relay.example.org --relay wss://relay2.example.org
  hermit mesh on --listen 192.168.1.5:7447
  hermit mesh on --folder notes=~/notes --folder code=~/code --model openai:http://127.0.0.1:8080/v1#qwen")]
pub struct MeshOn {
    /// What your other machines call this one.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A relay at which this machine reads. Repeat it for several; those that you do not name are taken away.
    #[arg(long = "relay", value_name = "URL")]
    pub relays: Vec<String>,
    /// The address and port at which machines of the same network reach this one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<String>,
    /// A folder for goals of your other machines, and the alias by which they name it. Repeat it for several; those that you do not
    /// name are taken away.
    #[arg(long = "folder", value_name = "ALIAS=PATH")]
    pub folders: Vec<String>,
    /// The model for goals of your other machines; the standard model unless you name one.
    #[arg(long, value_name = "ADDRESS")]
    pub model: Option<String>,
    /// Whether everybody who reads the relays may see that this machine is here: its key, how busy it is, and how many tools and models
    /// it has, and the newest signed head of your log: its size and digest. No name, no folder and no address is told. It is off unless you turn it on; turned off, it expires within 15 minutes.
    #[arg(long, value_name = "yes|no", value_parser = clap::builder::BoolishValueParser::new())]
    pub public: Option<bool>,
    #[command(flatten)]
    pub person: PersonArgs,
}

/// What shows that a person is there, where another process holds the store.
#[derive(Debug, Args)]
pub struct PersonArgs {
    /// File descriptor with the approval passphrase in its first line; asked for at a terminal when absent.
    #[arg(long, value_name = "N")]
    pub approval_passphrase_fd: Option<i32>,
}

/// A part of a list.
#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// How many at most; 30 unless you say otherwise.
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
    /// Only what is older than this place, which the end of a list tells.
    #[arg(long, value_name = "PLACE")]
    pub before: Option<u64>,
}
