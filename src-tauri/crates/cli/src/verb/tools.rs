//! `hermit tools`.

use super::Came;
use super::run::{stay_with, take_up};
use crate::args::{ToolsAdd, ToolsClassify, ToolsPassOn, ToolsPrompt, ToolsSampling, ToolsTry, ToolsVerb};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{plain, time};
use host::Session;
use model::launch::may_be_secret;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use wire::tools::{
    Add, Call, Classify, Disable, List, PassOff, PassOn, Prompt, Remove, Sampling, Server, Servers, Show,
    Shown, Submitted, Tool,
};
use wire::{Code, Error, exit};
use words::store::ToolServerState;

/// Bytes of a file of servers that are read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// `hermit tools`.
pub fn tools(context: &Context, verb: ToolsVerb) -> Came {
    match verb {
        ToolsVerb::Add(args) => add(context, args),
        ToolsVerb::Classify(args) => classify(context, args),
        ToolsVerb::Sampling(args) => sampling(context, args),
        ToolsVerb::PassOn(args) => pass_on(context, args),
        ToolsVerb::Try(args) => call(context, args),
        ToolsVerb::Prompt(args) => prompt(context, args),
        ToolsVerb::List => {
            let listed = context.reading()?.call(&List {})?;
            context.out.answer(&listed, listed_in_words)?;
            Ok(exit::DONE)
        }
        ToolsVerb::Show { server } => {
            let shown = context.reading()?.call(&Show { server })?;
            context.out.answer(&shown, shown_in_words)?;
            Ok(exit::DONE)
        }
        ToolsVerb::Disable { server, reason } => {
            narrow(context, |session| session.call(&Disable { server, tool: None, reason }))
        }
        ToolsVerb::Rm { server } => narrow(context, |session| session.call(&Remove { server })),
        ToolsVerb::Import { file } => import(context, &file),
        ToolsVerb::Login(args) => super::login::login(context, args),
        ToolsVerb::Logout { server } => super::login::logout(context, server),
        ToolsVerb::Logins => super::login::list(context),
    }
}

fn narrow(context: &Context, ask: impl FnOnce(&Session) -> Result<Servers, Error>) -> Came {
    let session = context.writing(Signs::No)?;
    let left = ask(&session);
    session.close();
    context.out.answer(&left?, listed_in_words)?;
    Ok(exit::DONE)
}

/// Asks for a task that puts something to a person, and stays with it.
pub(super) fn stay(context: &Context, ask: impl FnOnce(&Session) -> Result<Submitted, Error>) -> Came {
    let session = context.writing(Signs::Yes)?;
    take_up(context, &session);
    let heard = session.listen();
    let done = ask(&session)
        .and_then(|submitted| stay_with(context, &session, &submitted.task_id, heard).map(|(code, _)| code));
    session.close();
    done
}

fn add(context: &Context, args: ToolsAdd) -> Came {
    if args.argv.is_empty() && args.url.is_none() && !args.again {
        return Err(Error::new(Code::Usage, "neither a program nor an address is named").hint(format!(
            "write the program behind `--`: `hermit tools add {0} -- PROGRAM ARGUMENTS`, or the address: `hermit tools add \
             {0} --url URL`",
            args.server
        )));
    }
    let mut secrets = pairs(&args.secret, "secret", "VARIABLE=NAME")?;
    secrets.extend(pairs(&args.header, "secret", "HEADER=NAME")?);
    let classes = pairs(&args.class, "class", "TOOL=CLASS")?;
    let reads = args.read.iter().map(|place| absolute(place)).collect::<Result<_, _>>()?;
    let add = Add {
        server: args.server,
        argv: args.argv,
        url: args.url,
        hosts: args.host.iter().map(|host| super::secret::with_port(host)).collect(),
        secrets,
        variables: pairs(&args.env, "variable", "NAME=VALUE")?,
        reads,
        classes,
        again: args.again,
        workspace: absolute(&args.workspace)?,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    };
    stay(context, |session| session.call(&add))
}

/// Words of the form `NAME=VALUE`, by their names.
fn pairs(words: &[String], what: &str, form: &str) -> Result<BTreeMap<String, String>, Error> {
    let pair = |word: &String| {
        let (name, value) = word.split_once('=').ok_or_else(|| {
            Error::new(Code::Usage, format!("`{word}` names no {what}")).hint(format!("write `{form}`"))
        })?;
        Ok((name.to_owned(), value.to_owned()))
    };
    words.iter().map(pair).collect()
}

fn classify(context: &Context, args: ToolsClassify) -> Came {
    let Some(class) = args.class else {
        let (server, tool) = (args.server, Some(args.tool));
        return narrow(context, |session| session.call(&Disable { server, tool, reason: None }));
    };
    let classify = Classify {
        server: args.server,
        tool: args.tool,
        class,
        paths: args.path_pointer,
        hosts: args.host_pointer,
        amounts: args.amount_pointer,
        here: args.only_here,
        matches: args.matches,
        no_matches: args.no_match,
        repeatable: args.repeatable,
        trusted: args.trusted,
        time_limit_s: args.time_limit,
        workspace: absolute(&args.workspace)?,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    };
    stay(context, |session| session.call(&classify))
}

fn sampling(context: &Context, args: ToolsSampling) -> Came {
    let sampling = Sampling {
        server: args.server,
        off: args.off,
        calls: args.calls,
        tokens: args.tokens,
        task_tokens: args.task_tokens,
        workspace: absolute(&args.workspace)?,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    };
    stay(context, |session| session.call(&sampling))
}

fn pass_on(context: &Context, args: ToolsPassOn) -> Came {
    if args.off {
        let session = context.writing(Signs::No)?;
        let off = session.call(&PassOff { server: args.server.clone() });
        session.close();
        context.out.answer(&off?, |out, _| {
            out.line(format!("the tools of {} are passed on no longer", plain(&args.server)));
        })?;
        return Ok(exit::DONE);
    }
    let on = PassOn {
        server: args.server,
        workspace: absolute(&args.workspace)?,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    };
    stay(context, |session| session.call(&on))
}

fn call(context: &Context, args: ToolsTry) -> Came {
    let call = Call {
        server: args.server,
        tool: args.tool,
        arguments: args.arguments,
        workspace: absolute(&args.workspace)?,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    };
    stay(context, |session| session.call(&call))
}

fn prompt(context: &Context, args: ToolsPrompt) -> Came {
    let prompt = Prompt {
        server: args.server,
        prompt: args.prompt,
        arguments: pairs(&args.arguments, "argument", "NAME=VALUE")?,
        workspace: absolute(&args.workspace)?,
        channel: Some("cli".to_owned()),
        idempotency_key: None,
    };
    stay(context, |session| session.call(&prompt))
}

pub(super) fn absolute(place: &Path) -> Result<String, Error> {
    let whole: PathBuf = place
        .canonicalize()
        .map_err(|e| Error::new(Code::Usage, format!("`{}` cannot be used: {e}", place.display())))?;
    let text = whole.to_str().map(str::to_owned);
    text.ok_or_else(|| Error::new(Code::Usage, format!("`{}` is not text", place.display())))
}

fn listed_in_words(out: &Output, listed: &Servers) {
    if listed.servers.is_empty() {
        return out.say(Tone::Faint, "no servers of tools; add one with `hermit tools add NAME -- PROGRAM`");
    }
    let mut rows = Vec::new();
    for server in &listed.servers {
        rows.extend(server.tools.iter().map(|tool| {
            let class = tool.class.map_or("asked each time".to_owned(), |class| match &tool.only_in {
                None => class.to_string(),
                Some(folder) => format!("{class} in {}", plain(folder)),
            });
            let state = if tool.changed { ToolServerState::Changed } else { server.state };
            vec![plain(&server.server), plain(&tool.name), class, state.to_string()]
        }));
    }
    table(out, &["server", "tool", "class", "state"], &rows);
    for server in &listed.servers {
        out.say(Tone::Faint, format!("{} {}", plain(&server.server), whereabouts(server)));
        note(out, server);
    }
}

/// How a server is started or reached.
fn whereabouts(server: &Server) -> String {
    match &server.url {
        Some(url) => format!("reached at {}", plain(url)),
        None => format!("started as {}", plain(&server.argv.join(" "))),
    }
}

fn note(out: &Output, server: &Server) {
    if let Some(why) = &server.why {
        out.say(Tone::Warn, format!("{} is {}: {}", plain(&server.server), server.state, plain(why)));
    }
}

fn shown_in_words(out: &Output, shown: &Shown) {
    let server = &shown.server;
    out.line(format!("{}, {}", plain(&server.server), server.state));
    out.line(format!("  {}", whereabouts(server)));
    for pin in &shown.pins {
        out.line(format!("  {} is {}, sha256 {}", plain(&pin.name), plain(&pin.path), pin.sha256));
    }
    if let Some(words) = &shown.package {
        out.line(format!("  it is {}", plain(words)));
    }
    match server.hosts.as_slice() {
        [] => out.line("  no network"),
        hosts => out.line(format!("  may reach {}", plain(&hosts.join(", ")))),
    }
    for (variable, handle) in &shown.secrets {
        let (variable, handle) = (plain(variable), plain(handle));
        out.line(match server.url {
            Some(_) => format!("  the header {variable} carries `secret:{handle}`"),
            None => format!("  {variable} stands in for `secret:{handle}`"),
        });
    }
    for (variable, value) in &shown.variables {
        out.line(format!("  {} is \"{}\"", plain(variable), plain(value)));
    }
    for place in &shown.reads {
        out.line(format!("  may also read {}", plain(place)));
    }
    if let Some(words) = &shown.sampling {
        out.line(format!("  may ask the model of a task, {}", plain(words)));
    }
    if shown.passed_on {
        out.line("  its classified tools are passed on to agents of other programs");
    }
    note(out, server);
    for (tool, words) in server.tools.iter().zip(&shown.words) {
        out.line(format!("{}: {}", plain(&tool.name), said_of(tool)));
        for one in &tool.examples {
            let came = if one.matches { "is judged so" } else { "is refused" };
            out.line(format!("  for example, a call with {} {came}", plain(&one.arguments)));
        }
        for line in words.description.iter().flat_map(|text| text.lines()) {
            out.line(format!("  | {}", plain(line)));
        }
        if !words.says_of_itself.is_empty() {
            let proposed = words.proposes.filter(|_| tool.class.is_none());
            let proposed = proposed.map_or(String::new(), |class| {
                format!(
                    "; where you believe that: `hermit tools classify {} {} --class {class}`",
                    plain(&server.server),
                    plain(&tool.name)
                )
            });
            out.line(format!("  the server says that it is {}{proposed}", words.says_of_itself.join(", ")));
        }
        out.say(Tone::Faint, format!("  arguments: {}", plain(&words.input_schema)));
    }
    others_in_words(out, shown);
    calls_in_words(out, shown);
}

/// What a person said of a tool.
fn said_of(tool: &Tool) -> String {
    let Some(class) = tool.class else {
        let off = if tool.off { ", because what you said of it is switched off" } else { "" };
        return format!("you are asked each time{off}");
    };
    let mut words = class.to_string();
    for (what, pointers) in [("places", &tool.paths), ("hosts", &tool.hosts), ("amounts", &tool.amounts)] {
        if !pointers.is_empty() {
            words.push_str(&format!("; {what} in its arguments: {}", plain(&pointers.join(", "))));
        }
    }
    if let Some(folder) = &tool.only_in {
        words.push_str(&format!("; only in {}", plain(folder)));
    }
    words
}

/// The latest calls of a server, each with the way to its receipt.
fn calls_in_words(out: &Output, shown: &Shown) {
    for call in &shown.calls {
        let came =
            call.result.map_or_else(|| call.state.to_string(), |result| result.as_str().replace('_', " "));
        let receipt =
            call.receipt_id.as_ref().map_or(String::new(), |id| format!(", `hermit receipts show {id}`"));
        out.line(format!("{} {} ({came}{receipt})", time(call.at), plain(&call.summary.to_string())));
        if let Some(why) = &call.why {
            out.line(format!("  | {}", plain(why)));
        }
    }
}

/// Resources and prompts, and what is left out of them.
fn others_in_words(out: &Output, shown: &Shown) {
    let said = |words: Option<&String>| {
        for line in words.into_iter().flat_map(|text| text.lines()) {
            out.line(format!("  | {}", plain(line)));
        }
    };
    let mark = |changed: bool| if changed { " (changed: not read until you look at it again)" } else { "" };
    for why in &shown.left_out {
        out.say(Tone::Warn, format!("left out, and not used: {}", plain(why)));
    }
    for one in &shown.resources {
        let kind = if one.is_template { "resources" } else { "resource" };
        out.line(format!("{kind} {}{}", plain(&one.uri), mark(one.changed)));
        said(one.description.as_ref().or(one.title.as_ref()).or(Some(&one.name)));
    }
    for one in &shown.prompts {
        let takes: Vec<String> = one
            .arguments
            .iter()
            .map(|argument| {
                if argument.required {
                    format!("{}=…", argument.name)
                } else {
                    format!("[{}=…]", argument.name)
                }
            })
            .collect();
        out.line(format!("prompt {} {}{}", plain(&one.name), plain(&takes.join(" ")), mark(one.changed)));
        said(one.description.as_ref().or(one.title.as_ref()));
    }
}

/// Prints how each server of the file would be added. What it holds is a proposal of whoever wrote it.
fn import(context: &Context, file: &Path) -> Came {
    let cannot = |why: String| Error::new(Code::Usage, format!("`{}` cannot be read: {why}", file.display()));
    let size = std::fs::metadata(file).map_err(|e| cannot(e.to_string()))?.len();
    if size > FILE_BYTES_MAX {
        return Err(cannot(format!("it has {size} bytes, more than {FILE_BYTES_MAX}")));
    }
    let text = std::fs::read_to_string(file).map_err(|e| cannot(e.to_string()))?;
    // Editors keep comments and commas in theirs.
    let value: Value = serde_json::from_str(&mcp::edit::plain_json(&text))
        .map_err(|e| cannot(format!("it is no JSON: {e}")))?;
    let found =
        ["mcpServers", "servers", "context_servers"].iter().find_map(|name| value.get(*name)?.as_object());
    let servers = found.ok_or_else(|| cannot("it names no `mcpServers`".to_owned()))?;
    let lines: Vec<String> = servers.iter().map(|(name, server)| proposal(name, server)).collect();
    context.out.answer(&lines, |out, lines| {
        out.say(Tone::Faint, "Nothing was added. Add one with its line; values of secrets stay out of it:");
        lines.iter().for_each(|line| out.line(plain(line)));
    })?;
    Ok(exit::DONE)
}

fn proposal(name: &str, server: &Value) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let own: String = name.chars().map(fits).take(model::limits::SERVER_NAME_MAX).collect();
    let own = own.trim_matches('-').to_owned();
    if let Some(url) = server.get("url").and_then(Value::as_str) {
        let headers = server.get("headers").and_then(Value::as_object);
        let names = headers.into_iter().flat_map(|headers| headers.keys());
        let headers: String = names.map(|header| format!(" --header {}=NAME", quoted(header))).collect();
        return format!("hermit tools add {own} --url {}{headers}", quoted(url));
    }
    let Some(program) = server.get("command").and_then(Value::as_str) else {
        return format!("# {name}: it names neither a program nor an address");
    };
    let arguments = server.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
    let words = std::iter::once(program).chain(arguments.iter().filter_map(Value::as_str));
    let words: Vec<String> = words.map(quoted).collect();
    let mut options = String::new();
    if let Some(folder) = server.get("cwd").and_then(Value::as_str) {
        options.push_str(&format!(" --workspace {}", quoted(folder)));
    }
    for (variable, value) in server.get("env").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match may_be_secret(variable, &value) {
            true => options.push_str(&format!(" --secret {}=NAME --host HOST", quoted(variable))),
            false => options.push_str(&format!(" --env {}", quoted(&format!("{variable}={value}")))),
        }
    }
    format!("hermit tools add {own}{options} -- {}", words.join(" "))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,+%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
