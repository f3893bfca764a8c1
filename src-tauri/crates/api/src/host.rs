//! The handful of questions a command body may ask of whoever runs it.

use crate::Journal;
use crate::stands::{Flow, Stands};
use kernel::Kernel;
use kernel::command::submit::Reasoning;
use ledger::Reader;
use model::{TaskId, UnixMs};
use projections::Query;
use seal::{PublicKey, Signer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// Models in the box: programs and weights of this machine, which need no server.
pub trait ModelBox: Send + Sync {
    /// Those that are here and those that can be had, and how far fetches of their weights are.
    fn listed(&self) -> wire::models::BoxModels;

    /// Begins to fetch weights by their name in the catalogue, or goes on with them.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for a name that is not in it.
    fn get(&self, name: &str) -> Result<(), wire::Error>;

    /// Stops a fetch.
    ///
    /// # Errors
    /// [`wire::Code::NotFound`] when none of this name is under way.
    fn stop(&self, name: &str) -> Result<(), wire::Error>;

    /// Takes weights away.
    ///
    /// # Errors
    /// [`wire::Code::NotFound`] when nothing of them is here.
    fn remove(&self, name: &str) -> Result<(), wire::Error>;
}

/// Log-ins of a person at servers of tools, where their tokens are kept.
pub trait Logins: Send + Sync {
    /// Finds out who gives tokens for a server of tools at an address, with the scopes, the client and the handle of its
    /// secret that a person names.
    ///
    /// # Errors
    /// [`wire::Code::Failed`] with what is wrong there; [`wire::Code::KeyLocked`] where no token could be kept.
    fn find(
        &self,
        url: &model::web::WebUrl,
        wanted: (&[String], Option<&str>),
        client_secret: Option<&str>,
    ) -> Result<model::login::LoginTerms, wire::Error>;

    /// Begins a log-in that a person has allowed, and waits for them to come back from the browser.
    ///
    /// # Errors
    /// [`wire::Code::Failed`] with why it cannot be begun.
    fn begin(&self, server: &str, terms: &model::login::LoginTerms) -> Result<(), wire::Error>;

    /// Gives up a log-in that waits for a person; whether one did.
    fn cancel(&self, server: &str) -> bool;

    /// Forgets the tokens of a server and asks whoever gave them to take them back; why that was not done.
    ///
    /// # Errors
    /// [`wire::Code::KeyLocked`] where the vault is locked, [`wire::Code::NotFound`] without a log-in.
    fn forget(&self, server: &str, by: kernel::sender::Sender) -> Result<Option<String>, wire::Error>;

    /// How the log-in at a server stands beside what is on record.
    fn stands(&self, server: &str) -> LoginStands;
}

/// Chat services, in the process that holds the store.
pub trait Chats: Send + Sync {
    /// Every host that an account speaks with, as `name:port`. Nothing is spoken with for this.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] with what is wrong with the account.
    fn hosts(&self, account: &ChatAccount<'_>) -> Result<Vec<String>, wire::Error>;

    /// Why the service of a gateway does not answer just now, if it does not.
    fn away(&self, gateway: &str) -> Option<String>;

    /// What a program says by a call that is signed with the secret of this handle. One that is not signed, and one where there is
    /// no such secret, are refused alike, and take as long.
    ///
    /// # Errors
    /// [`wire::Code::Forbidden`] for what is not signed about now, [`wire::Code::Usage`] for what is signed and no message.
    fn said(
        &self,
        secret: &str,
        call: &crate::messages::Call,
        now: UnixMs,
    ) -> Result<kernel::command::inbound::Heard, wire::Error>;
}

/// An account at a chat service.
#[derive(Debug, Clone, Copy)]
pub struct ChatAccount<'a> {
    /// The service.
    pub service: model::gateway::Service,
    /// Its server; empty for that of the service itself.
    pub address: &'a str,
    /// The name of the bot or the mail address; empty where the token says it.
    pub user: &'a str,
    /// What else it needs.
    pub settings: &'a std::collections::BTreeMap<String, String>,
    /// The handle of the secret that opens it.
    pub secret: &'a str,
}

/// How a log-in stands in the process that holds the store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoginStands {
    /// Where the person says yes, while they are waited for.
    pub address: Option<String>,
    /// Until when.
    pub until: Option<UnixMs>,
    /// Why the last one came to nothing.
    pub why: Option<String>,
    /// Why its tokens are renewed no more.
    pub refused: Option<String>,
}

/// A store in this process, or none.
///
/// A *reading* host opens `ledger.db` read-only and has no kernel: it never locks, boots or resumes. An *owning* host
/// has the kernel. A host for commands of class `free` may have neither; what it lacks it answers with
/// [`wire::Code::NoStore`] or [`wire::Code::NoHost`] ([`crate::no_store`], [`crate::no_host`]).
pub trait Host: Send + Sync {
    /// The kernel, in the process that holds the store.
    ///
    /// # Errors
    /// [`wire::Code::NoHost`] in a process that only reads.
    fn kernel(&self) -> Result<&Kernel, wire::Error>;

    /// Reads the ledger.
    ///
    /// # Errors
    /// [`wire::Code::NoStore`] and what opening it says.
    fn reader(&self) -> Result<Reader, wire::Error>;

    /// Reads the views.
    ///
    /// # Errors
    /// As [`Host::reader`].
    fn query(&self) -> Result<Query, wire::Error>;

    /// Reads content.
    ///
    /// # Errors
    /// As [`Host::reader`].
    fn artifacts(&self) -> Result<&artifacts::Store, wire::Error>;

    /// The two keys that sign a proof, when they are open here.
    fn signers(&self) -> Option<BundleSigners>;

    /// Which of the four keys are open in this process: log, receipt, manifest, approval. None where it cannot know.
    fn open_keys(&self) -> Option<Vec<model::body::KeyPurpose>>;

    /// Keys of checkpoints that this host trusts from outside the ledger: its own K_log and old ones.
    fn trusted_log_keys(&self) -> Vec<PublicKey>;

    /// Keys of other people that a person at this machine said to trust: whose, and the key as it was given.
    ///
    /// # Errors
    /// When they are there and cannot be read.
    fn trusted_people(&self) -> Result<Vec<(String, String)>, wire::Error> {
        Ok(Vec::new())
    }

    /// Signs the yes of a person who sits at a page of this host and gave the approval passphrase with it, as given in
    /// a browser. The key is opened for this one signature.
    ///
    /// # Errors
    /// [`wire::Code::KeyLocked`] for a wrong passphrase, and where there is no such key.
    fn sign_yes(&self, _packet: &[u8], _person: &str, _passphrase: &[u8]) -> Result<Vec<u8>, wire::Error> {
        Err(wire::Error::new(wire::Code::KeyLocked, "there is no approval key here"))
    }

    /// Signs what that person allows from now on, or overrides, likewise: who, when and on which surface is the
    /// signer's, everything else the draft's.
    ///
    /// # Errors
    /// As [`Host::sign_yes`]; [`wire::Code::Failed`] when such a grant cannot be given.
    fn sign_standing(
        &self,
        _draft: &model::standing::StandingGrant,
        _passphrase: &[u8],
    ) -> Result<Vec<u8>, wire::Error> {
        Err(wire::Error::new(wire::Code::KeyLocked, "there is no approval key here"))
    }

    /// Signs that a passkey may say yes for that person, likewise: when and on which surface is the signer's, everything else
    /// the draft's.
    ///
    /// # Errors
    /// As [`Host::sign_yes`].
    fn sign_passkey(
        &self,
        _draft: &model::passkey::PasskeyEnrolment,
        _passphrase: &[u8],
    ) -> Result<Vec<u8>, wire::Error> {
        Err(wire::Error::new(wire::Code::KeyLocked, "there is no approval key here"))
    }

    /// Signs what only a person decides, likewise.
    ///
    /// # Errors
    /// As [`Host::sign_yes`].
    fn sign_decision(
        &self,
        _matter: kernel::command::person::Matter,
        _subject: seal::Digest,
        _passphrase: &[u8],
    ) -> Result<kernel::command::person::Signed, wire::Error> {
        Err(wire::Error::new(wire::Code::KeyLocked, "there is no approval key here"))
    }

    /// Signs the answer of that person to what another machine asks, likewise.
    ///
    /// # Errors
    /// As [`Host::sign_yes`]; [`wire::Code::Refused`] and [`wire::Code::Usage`] for what is no packet, or another one.
    fn sign_answer(
        &self,
        _question: &kernel::command::mesh::approvals::MeshQuestion,
        _packet: &[u8],
        _allow: bool,
        _passphrase: &[u8],
    ) -> Result<mesh::SignedDecision, wire::Error> {
        Err(wire::Error::new(wire::Code::KeyLocked, "there is no approval key here"))
    }

    /// Log-ins at servers of tools, in the process that holds the store.
    fn logins(&self) -> Option<&dyn Logins> {
        None
    }

    /// Chat services, where this process speaks with any.
    fn chats(&self) -> Option<&dyn Chats> {
        None
    }

    /// Clocks elsewhere that are set, and the wallet of this instance.
    fn anchor_clocks(&self) -> Option<&dyn crate::AnchorClocks> {
        None
    }

    /// The mesh of one's own machines, in a process that can run it.
    fn mesh(&self) -> Option<&dyn crate::Mesh> {
        None
    }

    /// Trials of changes of Hermit, in a process that can make clones.
    fn trials(&self) -> Option<&dyn crate::Trials> {
        None
    }

    /// Browsers that are told by a push service, in the process that holds the store.
    fn pushes(&self) -> Option<&dyn crate::pushes::Pushes> {
        None
    }

    /// Models in the box, where a host keeps some.
    fn model_box(&self) -> Option<&dyn ModelBox> {
        None
    }

    /// Whoever runs the program that trains, where a host can.
    fn trainer(&self) -> Option<&dyn crate::Trainer> {
        None
    }

    /// Who asks.
    fn caller(&self) -> wire::Caller {
        wire::Caller::Owner
    }

    /// Whether a person is there, as far as whoever passes it on can tell.
    fn has_person(&self) -> bool {
        self.caller() == wire::Caller::Owner
    }

    /// Gives up room that was held for a full disk, for what stops work or makes room; whether there was any.
    fn make_room(&self) -> bool {
        false
    }

    /// Asks the witnesses to cosign the newest head and keeps what they sign; what they did not do, in words.
    fn cosign(&self) -> Vec<String> {
        Vec::new()
    }

    /// Which witnesses are asked for (c2sp.org/tlog-policy), when any are.
    fn witness_policy(&self) -> Option<String> {
        None
    }

    /// The last global checkpoint kept outside the store, as a note.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn pin(&self) -> Result<Option<Vec<u8>>, wire::Error>;

    /// The file of rules that a person keeps in the store's folder, where there is one.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    fn rules_file(&self) -> Result<Option<String>, wire::Error> {
        Ok(None)
    }

    /// Now.
    fn now(&self) -> UnixMs;

    /// The time zone of this machine, by its name in the IANA database; UTC where it has none.
    fn zone(&self) -> String {
        "UTC".to_owned()
    }

    /// Has the clock look anew at what is due.
    fn rouse(&self) {}

    /// A text nobody has drawn before: an idempotency key for a request that came without one.
    fn fresh_key(&self) -> String;

    /// The folder a person names, absolute and canonical; it must be there.
    ///
    /// # Errors
    /// [`wire::Code::NotFound`] or [`wire::Code::Usage`].
    fn workspace(&self, path: &Path) -> Result<PathBuf, wire::Error>;

    /// The reasoner a person names: the standard one, an address, or a playbook with its text.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] or [`wire::Code::NotFound`], with what there is.
    fn reasoning(&self, choice: &wire::task::Reasoner) -> Result<Reasoning, wire::Error>;

    /// Agents of other programs that can work as guests, and which of them are here.
    fn guests(&self) -> Vec<wire::guests::Agent>;

    /// Finds skills in projects and in the person's own folders, where this host looks for any.
    fn skill_book(&self) -> Option<&kernel::SkillBook> {
        None
    }

    /// Playbooks at hand.
    fn playbooks(&self) -> Vec<wire::playbooks::Playbook>;

    /// What the text of a playbook is and takes.
    ///
    /// # Errors
    /// [`wire::Code::Usage`], with the line that is wrong.
    fn read_playbook(&self, text: &str) -> Result<wire::playbooks::Playbook, wire::Error>;

    /// Models that run on this machine, at the usual ports and at these; servers that have a key.
    ///
    /// # Errors
    /// When the settings cannot be read.
    fn models(&self, ports: &[u16]) -> Result<wire::models::Found, wire::Error>;

    /// Who proposes when a task names nobody.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for an address that may not be the standard.
    fn set_standard_model(&self, address: Option<&str>) -> Result<(), wire::Error>;

    /// Which embedding model is named, and how many records of memory have a vector.
    ///
    /// # Errors
    /// When settings or store cannot be read.
    fn embeddings(&self) -> Result<wire::models::Embeddings, wire::Error>;

    /// Names the embedding model by which memory is found by meaning, or none.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for what is no model at a server of this machine.
    fn set_embeddings(&self, address: Option<&str>) -> Result<wire::models::Embeddings, wire::Error>;

    /// Sets how a model is asked.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for what is no setting, or no model of this machine or of a server with a key.
    fn set_model(&self, settings: &wire::models::Set) -> Result<wire::models::Asked, wire::Error>;

    /// What a million tokens of a model cost at most that are read, and that are written, in millionths of a US dollar;
    /// none where no price is known.
    ///
    /// # Errors
    /// As [`Host::set_model`].
    fn price_of(&self, address: &str) -> Result<Option<(u64, u64)>, wire::Error>;

    /// The day of the person that an instant lies in, and what models may cost in it.
    ///
    /// # Errors
    /// When the settings cannot be read.
    fn day_of(&self, at: UnixMs) -> Result<kernel::ports::Day, wire::Error>;

    /// Sets what models may cost in a day, in millionths of a US dollar; no bound when absent.
    ///
    /// # Errors
    /// [`wire::Code::Forbidden`] where a program would raise it.
    fn set_ceiling(&self, cost_micros_max: Option<u64>) -> Result<(), wire::Error>;

    /// How many reads of one answer run at the same time, as it is set; none where nobody has set it.
    ///
    /// # Errors
    /// When the settings cannot be read.
    fn parallel_reads(&self) -> Result<Option<usize>, wire::Error>;

    /// Sets how many reads of one answer run at the same time; as many as without a setting when absent.
    ///
    /// # Errors
    /// When the settings cannot be kept.
    fn set_parallel_reads(&self, at_once: Option<usize>) -> Result<(), wire::Error>;

    /// Asks a server which models it offers, with the key for it.
    ///
    /// # Errors
    /// [`wire::Code::Usage`] for what is no server of this machine nor one with a key.
    fn test_models(&self, server: &wire::models::Test) -> Result<wire::models::Server, wire::Error>;

    /// Sees to it that somebody drives the task; returns at once.
    ///
    /// # Errors
    /// [`wire::Code::NoHost`] in a process that only reads.
    fn drive(&self, task: TaskId) -> Result<(), wire::Error>;

    /// Sees to it that everything that can go on does; returns the tasks taken up.
    ///
    /// # Errors
    /// [`wire::Code::NoHost`] in a process that only reads, and what the kernel says.
    fn drive_all(&self) -> Result<Vec<TaskId>, wire::Error>;

    /// Waits until this process does not drive the task any more, at most `patience`, and tells how it stands.
    ///
    /// # Errors
    /// [`wire::Code::NoHost`] in a process that only reads.
    fn stands(&self, task: TaskId, patience: Duration) -> Result<Stands, wire::Error>;

    /// The run stream; when a run is named, with everything in it that is committed of that run.
    ///
    /// # Errors
    /// [`wire::Code::NoHost`] in a process that only reads, [`wire::Code::Unavailable`] when there is none.
    fn journal(&self, run: Option<TaskId>) -> Result<Journal, wire::Error>;

    /// Folds every view anew from the log; returns how many events that were.
    ///
    /// # Errors
    /// [`wire::Code::NoHost`] in a process that only reads, and what the fold says.
    fn rebuild(&self) -> Result<u64, wire::Error>;

    /// Long work of this call went on. `Stop` makes it end as cancelled.
    fn progress(&self, what: &'static str, done: u64, total: u64) -> Flow;

    /// Bytes of content on disk from which on a person is told to make room.
    fn content_quota_bytes(&self) -> u64 {
        model::limits::CONTENT_BYTES_QUOTA
    }

    /// The archive of the source that the running program was made of.
    ///
    /// # Errors
    /// [`wire::Code::Unavailable`] in a program that carries none.
    fn own_source(&self) -> Result<&'static [u8], wire::Error> {
        Err(wire::Error::new(wire::Code::Unavailable, "this program does not carry its source"))
    }

    /// Facts about machine, sandbox, keys and settings, for the doctor, with how service, telemetry and updates stand.
    fn facts(&self) -> wire::host::Facts;

    /// What is looked at in parts, read before.
    fn sheets(&self) -> &crate::Sheets;

    /// Listens to what happens in this host; `None` where nothing ever does (a process that only reads).
    fn listen(&self) -> Option<Receiver<wire::Notice>>;
}

/// The keys that sign a proof.
#[derive(Clone)]
pub struct BundleSigners {
    /// K_receipt, for the statement.
    pub receipt: Arc<dyn Signer>,
    /// K_manifest, for `SHA256SUMS`.
    pub manifest: Arc<dyn Signer>,
}
