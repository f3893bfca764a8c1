//! One function for each verb.

mod acp;
mod acp_install;
mod adoptions;
mod agents;
mod anchor;
mod approvals;
mod bytes;
mod checkpoint;
mod collect;
mod conversation;
mod erase;
mod gateway;
mod gateway_add;
mod gateway_log;
mod grants;
mod identity;
mod keyring;
mod keys;
mod knowledge;
mod licences;
mod login;
mod logs;
mod mcp;
mod mcp_install;
mod memory;
mod memory_contexts;
mod memory_then;
mod mesh;
mod mesh_answer;
mod mesh_lists;
mod mesh_pair;
mod mesh_relay;
mod mesh_send;
mod models;
mod models_costs;
mod models_get;
mod models_reads;
mod own_rules;
mod passkey;
mod passphrase;
mod playbooks;
mod policy;
mod proof;
mod receipts;
mod rollback;
mod run;
mod schedule;
mod schedule_hook;
mod schedule_times;
mod secret;
mod serve;
mod service;
mod severed;
mod skills;
mod skin;
mod source;
mod start;
mod store;
mod successor;
mod summary;
mod task;
mod tools;
mod trace;
mod train;
mod update;
mod witness;
mod workspace;

use crate::args::{CompletionsArgs, Verb};
use crate::context::Context;
use std::io::Read as _;
use std::path::Path;
use wire::{Code, Error, exit};

/// What a verb came to: an exit code.
pub type Came = Result<u8, Error>;

/// The text of a file that a person names, cut behind so many bytes.
fn text_of(file: &Path, most: u64) -> Result<String, Error> {
    let unread = |why: String| Error::new(Code::Usage, format!("cannot read `{}`: {why}", file.display()));
    let mut bytes = Vec::new();
    let open = std::fs::File::open(file).map_err(|e| unread(e.to_string()))?;
    open.take(most).read_to_end(&mut bytes).map_err(|e| unread(e.to_string()))?;
    String::from_utf8(bytes).map_err(|_| unread("it is no text".to_owned()))
}

/// Runs a verb.
///
/// # Errors
/// What it says.
pub fn run(context: &Context, verb: Verb) -> Came {
    match verb {
        Verb::Start(args) => start::start(context, &args),
        Verb::Run(args) => run::run(context, &args),
        Verb::Serve(args) => serve::serve(context, &args),
        Verb::Service(verb) => service::service(context, verb),
        Verb::Mcp(args) => mcp::mcp(context, args),
        Verb::Acp(args) => acp::acp(context, args),
        Verb::Task(verb) => task::task(context, verb),
        Verb::Conversation(verb) => conversation::conversation(context, verb),
        Verb::Workspace(verb) => workspace::workspace(context, &verb),
        Verb::Approvals(verb) => approvals::approvals(context, verb),
        Verb::Receipts(verb) => receipts::receipts(context, verb),
        Verb::Rollback(args) => rollback::rollback(context, &args),
        Verb::Undo(_) => rollback::last(context),
        Verb::Open(args) => serve::open(context, &args),
        Verb::Artifacts(verb) => knowledge::artifacts(context, verb),
        Verb::Proof(verb) => proof::proof(context, verb),
        Verb::Ledger(verb) => store::ledger(context, verb),
        Verb::Checkpoint(verb) => checkpoint::checkpoint(context, verb),
        Verb::Gate(verb) => proof::gate(context, verb),
        Verb::Keys(verb) => keys::keys(context, verb),
        Verb::Passkey(verb) => passkey::passkey(context, verb),
        Verb::Unlock(args) => keys::unlock(context, &args),
        Verb::Lock => keys::lock(context),
        Verb::Models(verb) => models::models(context, verb),
        Verb::Train(verb) => train::train(context, verb),
        Verb::Agents(verb) => agents::agents(context, &verb),
        Verb::Playbooks { verb: Some(verb), .. } => playbooks::drafted(context, verb),
        Verb::Playbooks { name, verb: None } => playbooks::playbooks(context, name.as_deref()),
        Verb::Secret(verb) => secret::secret(context, verb),
        Verb::Tools(verb) => tools::tools(context, verb),
        Verb::Schedule(verb) => schedule::schedule(context, verb),
        Verb::Gateway(verb) => gateway::gateway(context, verb),
        Verb::Skills(verb) => skills::skills(context, verb),
        Verb::Skin(verb) => skin::skin(context, verb),
        Verb::Identity(verb) => identity::identity(context, verb),
        Verb::Anchor(verb) => anchor::anchor(context, verb),
        Verb::Mesh(verb) => mesh::mesh(context, verb),
        Verb::Successor(verb) => successor::successor(context, verb),
        Verb::Update(verb) => update::update(context, verb),
        Verb::Witness(verb) => witness::witness(context, verb),
        Verb::Backup(args) => store::backup(context, &args),
        Verb::Restore(args) => store::restore(context, &args),
        Verb::Halt(args) => store::halt(context, args),
        Verb::Boot => store::boot(context),
        Verb::Resume(_) => run::resume_all(context),
        Verb::Resolve(args) => run::resolve(context, args),
        Verb::Erase(args) => erase::erase(context, &args),
        Verb::Explain { subject, ids } => trace::explain(context, &subject, ids),
        Verb::Recall { source } => trace::recall(context, &source),
        Verb::Context(args) => knowledge::context(context, args),
        Verb::Search(args) => knowledge::search(context, &args),
        Verb::Memory(verb) => memory::memory(context, verb),
        Verb::Policy(verb) => policy::policy(context, verb),
        Verb::Grants(verb) => grants::grants(context, verb),
        Verb::Logs(args) => logs::logs(context, &args),
        Verb::Source(args) => source::source(context, &args),
        Verb::Introspect(args) => source::introspect(context, args),
        Verb::Licences(args) => licences::licences(context, &args),
        Verb::Doctor(_) => store::doctor(context),
        Verb::Completions(args) => completions(&args),
    }
}

/// The script by which a shell asks this program what can be typed next.
fn completions(args: &CompletionsArgs) -> Came {
    // A closed pipe is no reason to complain.
    let _ = crate::complete::script(args.shell, &mut std::io::stdout());
    Ok(exit::DONE)
}
