//! `hermit models`.

use super::Came;
use super::secret::{local, value};
use crate::args::{ModelsAdd, ModelsVerb};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::plain;
use wire::exit;
use wire::models::{Find, Found, Standard};

/// `hermit models`.
pub fn models(context: &Context, verb: ModelsVerb) -> Came {
    match verb {
        ModelsVerb::List { port } => {
            let found = context.free()?.call(&Find { ports: port })?;
            context.out.answer(&found, listed)?;
            Ok(exit::DONE)
        }
        ModelsVerb::Use { address } => {
            let address = (address != "none").then_some(address);
            let session = context.writing(Signs::No)?;
            let chosen = session.call(&Standard { address });
            session.close();
            context.out.answer(&chosen?, |out, chosen| match &chosen.standard {
                Some(address) => out.line(format!("{} proposes when a task names nobody", plain(address))),
                None => out.line("a task names who proposes; there is no standard"),
            })?;
            Ok(exit::DONE)
        }
        ModelsVerb::Add(args) => add(context, &args),
        ModelsVerb::Rm { url } => {
            let session = context.writing(Signs::No)?;
            let dropped = local(&session).and_then(|local| {
                local.drop_provider(&url).map_err(host::Error::to_wire)?;
                session.call(&wire::secrets::List {})
            });
            session.close();
            context.out.answer(&dropped?, |out, _| {
                out.line(format!("{} is off the list", plain(&url)));
            })?;
            Ok(exit::DONE)
        }
    }
}

fn add(context: &Context, args: &ModelsAdd) -> Came {
    let value = value(context, &args.secret)?;
    let session = context.writing(Signs::Yes)?;
    let kept = local(&session).and_then(|local| {
        local.keep_provider(&args.url, &args.secret, &value).map_err(host::Error::to_wire)?;
        session.call(&wire::secrets::List {})
    });
    session.close();
    context.out.answer(&kept?, |out, kept| {
        let hosts = kept.secrets.iter().find(|one| one.handle == args.secret).map(|one| one.hosts.join(", "));
        out.line(format!(
            "`secret:{}` is sent to {} and nowhere else",
            args.secret,
            hosts.unwrap_or_default()
        ));
        out.say(
            Tone::Faint,
            format!("name a model there as openai:{}#MODEL", plain(args.url.trim_end_matches('/'))),
        );
    })?;
    Ok(exit::DONE)
}

fn listed(out: &Output, found: &Found) {
    let standard = found.standard.as_deref();
    if found.servers.is_empty() {
        let ports: Vec<String> = found.looked.iter().map(u16::to_string).collect();
        out.line(format!("no server of models answers on this machine, at ports {}", ports.join(", ")));
        out.line("start Ollama, llama.cpp, LM Studio or vLLM, or name its port with `--port N`");
    }
    for server in &found.servers {
        out.say(Tone::Bold, format!("{} at {}", plain(&server.name), server.url));
        if let Some(trouble) = &server.trouble {
            out.say(Tone::Warn, format!("  {}", plain(trouble)));
        }
        for model in &server.models {
            let mark = if standard == Some(model.address.as_str()) { "*" } else { " " };
            out.line(format!("{mark} {}", plain(&model.address)));
        }
    }
    if !found.providers.is_empty() {
        let rows = found.providers.iter().map(|one| {
            let key = if one.kept { "kept" } else { "MISSING: `hermit secret set`" };
            vec![plain(&one.url), format!("secret:{}", plain(&one.secret)), key.to_owned()]
        });
        table(out, &["server", "key", ""], &rows.collect::<Vec<_>>());
    }
    match standard {
        Some(address) => out.line(format!("* the standard is {}", plain(address))),
        None => out.say(Tone::Faint, "no standard; choose one with `hermit models use ADDRESS`"),
    }
}
