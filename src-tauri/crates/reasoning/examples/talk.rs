//! Drives a model through a small task on a real folder, to see what it proposes and how fast.
//!
//! `cargo run -p hermit-reasoning --example talk -- ADDRESS FOLDER [json|tools] [TRANSCRIPT] [all]`
//!
//! It does what is proposed itself, in that folder, without policy or receipts: give it a copy.

#![allow(clippy::disallowed_methods, reason = "it measures, outside of any run")]

#[path = "../tests/all/post.rs"]
mod post;

use iteration::{Proposal, ProposedChange};
use model::action::ReadItem;
use model::artifact::TrustTier;
use model::context::{ContextItem, ContextPack, Section};
use model::{Digest, RelPath};
use reasoning::{Address, Input, ModelServer, Reasoner, Recorder, Settings, ToolMode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

type Failure = Box<dyn std::error::Error>;

const GOAL: &str = "Summarise what changed in these notes and write SUMMARY.md";

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, folder, rest @ ..] = words.as_slice() else {
        return Err("give an address, such as `openai:http://127.0.0.1:8080/v1#qwen`, and a folder".into());
    };
    let mode = match rest.first().map(String::as_str) {
        Some("tools") => ToolMode::Tools,
        _ => ToolMode::JsonSchema,
    };
    let all = rest.get(2).is_some_and(|word| word == "all");
    let context_tokens = if all { 8192 } else { 4096 };
    let settings = Settings { mode, context_tokens, answer_tokens: 512, ..Settings::default() };
    let server = ModelServer::new(&address.parse::<Address>()?, settings, Arc::new(post::Post))?;
    let out: Box<dyn std::io::Write + Send> = match rest.get(1) {
        Some(path) => Box::new(std::fs::File::create(path)?),
        None => Box::new(std::io::sink()),
    };
    talk(&Recorder::new(server, out)?, Path::new(folder))
}

fn talk(reasoner: &dyn Reasoner, folder: &Path) -> Result<(), Failure> {
    let tools = iteration::tools();
    let mut pack = empty()?;
    pack.items.push(item(Section::TaskContract, TrustTier::UserAsserted, "Goal", GOAL));
    for iteration in 1..=8 {
        pack.iteration = iteration;
        let request = reasoner.encode(&pack, &tools)?;
        let input = Input { request: &request, pack: &pack, observed: &[], iteration, wait_ms_max: 0 };
        let begun = std::time::Instant::now();
        let mut first = None;
        let mut heard = |_: reasoning::Delta<'_>| {
            first.get_or_insert_with(|| begun.elapsed());
        };
        let reply = reasoner.propose(&input, &mut heard, &|| false)?;
        let (took, first) = (begun.elapsed(), first.unwrap_or_default());
        let usage = reply.answer.usage;
        let rate = usage.tokens_out as f64 / (took - first).as_secs_f64();
        println!(
            "{iteration}: {} tokens in, {} out, first after {first:.1?}, whole {took:.1?}, {rate:.1} tokens/s",
            usage.tokens_in, usage.tokens_out
        );
        match iteration::parse(&reply.answer) {
            Err(why) => {
                pack.items.push(item(Section::Session, TrustTier::PolicyAsserted, "Refused", &why.reason))
            }
            Ok(proposals) => {
                for proposal in proposals {
                    println!("   {}", proposal_line(&proposal));
                    if let Proposal::Done { .. } = proposal {
                        return Ok(());
                    }
                    let (title, text) = perform(&proposal, folder);
                    pack.items.insert(0, item(Section::Artifacts, TrustTier::Observed, &title, &text));
                }
            }
        }
    }
    Err("it did not come to an end in 8 turns".into())
}

/// Does it, and gives back what the kernel would: JSON of results, or of what came of a change.
fn perform(proposal: &Proposal, folder: &Path) -> (String, String) {
    let at = |path: &RelPath| -> PathBuf { folder.join(path.display_lossy()) };
    let result = match proposal {
        Proposal::Observe(items) => {
            json!({ "results": items.iter().map(|item| look(item, &at)).collect::<Vec<_>>() })
        }
        Proposal::Change(changes) => {
            let mut rows = Vec::new();
            for change in changes {
                if let ProposedChange::Write { path, content } = change {
                    println!("--- {path}\n{content}\n---");
                    let outcome = if std::fs::write(at(path), content).is_ok() { "done" } else { "not_done" };
                    rows.push(json!({ "op": "write", "path": path, "outcome": outcome }));
                }
            }
            json!({ "result_code": "succeeded", "summary": "written", "items": rows })
        }
        other => json!({ "error": format!("`{}` is not in this example", other.tool()) }),
    };
    (proposal.tool().to_owned(), result.to_string())
}

fn look(item: &ReadItem, at: &dyn Fn(&RelPath) -> PathBuf) -> Value {
    match item {
        ReadItem::List { path, .. } => {
            let Ok(names) = std::fs::read_dir(at(path)) else {
                return json!({ "op": "list", "path": path, "error": "there is no such folder" });
            };
            let mut names: Vec<String> =
                names.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            let row = |name: &String| json!({ "path": name, "kind": "file", "byte_size": 100 });
            json!({ "op": "list", "path": path, "entries": names.iter().map(row).collect::<Vec<_>>() })
        }
        ReadItem::Read { path } => match std::fs::read_to_string(at(path)) {
            Ok(text) => json!({ "op": "read", "path": path, "text": text }),
            Err(error) => json!({ "op": "read", "path": path, "error": error.to_string() }),
        },
        other => json!({ "error": format!("{other:?} is not in this example") }),
    }
}

fn item(section: Section, trust_tier: TrustTier, title: &str, text: &str) -> ContextItem {
    let (title, text) = (title.to_owned(), text.to_owned());
    ContextItem {
        section,
        source: "example".to_owned(),
        title,
        text,
        trust_tier,
        tokens: 0,
        cut: false,
        act: None,
        found_by: None,
        pictures: Vec::new(),
        number: None,
    }
}

fn empty() -> Result<ContextPack, Failure> {
    Ok(ContextPack {
        task_id: "task_019000000000700080000000000000aa".parse()?,
        attempt_id: "att_019000000000700080000000000000aa".parse()?,
        iteration: 1,
        tokens_max: 3000,
        tokens: 0,
        items: Vec::new(),
        omissions: Vec::new(),
        inputs: Vec::new(),
        input_sha256: Digest::of(b""),
        meaning: None,
    })
}

fn proposal_line(proposal: &Proposal) -> String {
    let line = format!("{proposal:?}");
    line.chars().take(200).collect()
}
