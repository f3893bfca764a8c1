//! `hermit mcp`: a tool server on standard input and output, for the agent of another program.

use super::Came;
use crate::args::{McpArgs, McpVerb};
use crate::context::{Context, Signs};
use host::Session;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use wire::{Code, Error, exit};

/// `hermit mcp`.
pub fn mcp(context: &Context, args: McpArgs) -> Came {
    match args.verb {
        None => serve(context, args.workspace.as_deref(), args.profile),
        Some(McpVerb::Install(install)) => super::mcp_install::install(context, &install),
        Some(McpVerb::Uninstall(uninstall)) => super::mcp_install::uninstall(context, &uninstall),
    }
}

/// A session that whoever speaks the protocol asks.
struct Asked(Session);

impl mcp::Hermit for Asked {
    fn ask(&self, name: &str, params: Value) -> Result<Value, Box<Error>> {
        self.0.follow();
        match self.0.ask(name, params.clone()) {
            // Whoever held the store has ended in the middle. What is asked here can be asked again: a call is known by
            // what it says, and is not made twice.
            Err(error) if error.code == Code::Unavailable => self.0.ask(name, params).map_err(Box::new),
            answer => answer.map_err(Box::new),
        }
    }
}

fn serve(context: &Context, workspace: Option<&Path>, profile: Option<String>) -> Came {
    let folder = workspace.unwrap_or_else(|| Path::new("."));
    let folder = std::fs::canonicalize(folder).map_err(|e| {
        Error::new(Code::NotFound, format!("cannot work in `{}`: {e}", folder.display()))
            .hint("name a folder with `--workspace DIR`")
    })?;
    let options = mcp::Options {
        workspace: folder.to_string_lossy().into_owned(),
        is_named: workspace.is_some(),
        profile,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        proofs: context.home.dir().join("proofs"),
    };
    // Nobody is asked at this terminal: it belongs to the program that started this.
    let session = context.writing(Signs::No)?;
    session.serve();
    // It lives as long as its client, so it goes on with what was interrupted, as every host does.
    super::run::take_up(context, &session);
    let asked = Arc::new(Asked(session));
    let served = mcp::serve(Arc::clone(&asked) as _, options);
    asked.0.close();
    match served {
        Ok(()) => Ok(exit::DONE),
        Err(why) => Err(Error::new(Code::Failed, why).hint(
            "a program's agent starts `hermit mcp`; `hermit mcp install` puts it into its configuration",
        )),
    }
}
