//! `hermit models`.

use super::Came;
use super::secret::{local, value};
use crate::args::{ModelsAdd, ModelsSet, ModelsTest, ModelsVerb};
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::plain;
use wire::exit;
use wire::models::{Asked, Embed, Embedded, Embeddings, Find, Found, InBox, Server, Set, Standard, Test};

/// `hermit models`.
pub fn models(context: &Context, verb: ModelsVerb) -> Came {
    match verb {
        ModelsVerb::List { port } => {
            let session = context.free()?;
            let (found, boxed) = (session.call(&Find { ports: port })?, session.call(&InBox {})?);
            context.out.answer(&found, |out, found| {
                super::models_get::listed(out, context);
                super::models_get::coming(out, &boxed);
                listed(out, found);
            })?;
            Ok(exit::DONE)
        }
        ModelsVerb::Use { address } => {
            let address = (address != "none").then_some(address);
            let session = context.writing(Signs::No)?;
            let chosen = session.call(&Standard { address });
            session.close();
            context.out.answer(&chosen?, |out, chosen| match &chosen.standard {
                Some(address) => {
                    out.line(format!("{} is the default model", plain(address)));
                    super::models_get::absent(out, context, address);
                }
                None => out.line("no default model; name one for each task"),
            })?;
            Ok(exit::DONE)
        }
        ModelsVerb::Embeddings { address } => embeddings(context, address),
        ModelsVerb::Costs { days } => super::models_costs::costs(context, days),
        ModelsVerb::Reads { at_once } => super::models_reads::reads(context, at_once.as_deref()),
        ModelsVerb::Ceiling { dollars } => super::models_costs::ceiling(context, dollars),
        ModelsVerb::Set(args) => set(context, args),
        ModelsVerb::Test(args) => test(context, args),
        ModelsVerb::Add(args) => add(context, &args),
        ModelsVerb::Get(args) => super::models_get::get(context, args),
        ModelsVerb::Rm { url } if super::models_get::is_name(&url) => {
            super::models_get::remove(context, &url)
        }
        ModelsVerb::Rm { url } => {
            let session = context.writing(Signs::No)?;
            let dropped = local(&session).and_then(|local| {
                local.drop_provider(host::provider_url(&url)).map_err(host::Error::to_wire)?;
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

fn embeddings(context: &Context, address: Option<String>) -> Came {
    let told = match address {
        None => context.reading()?.call(&Embedded {})?,
        Some(address) => {
            let address = (address != "off").then_some(address);
            let session = context.writing(Signs::No)?;
            let told = session.call(&Embed { address });
            session.close();
            told?
        }
    };
    let code = if told.trouble.is_none() { exit::DONE } else { exit::OTHER };
    context.out.answer(&told, by_meaning)?;
    Ok(code)
}

/// How memory is found by meaning, in a line or two.
pub(super) fn by_meaning(out: &Output, told: &Embeddings) {
    let Some(model) = &told.model else {
        out.say(
            Tone::Faint,
            "memory is found by words; name an embedding model with `hermit models embeddings ADDRESS`",
        );
        return;
    };
    let (with, all) = (told.with_vectors, told.memories);
    out.line(format!(
        "memory is found by words and by meaning: {}, vectors of {with} of {all}",
        plain(model)
    ));
    if let Some(trouble) = &told.trouble {
        out.say(Tone::Warn, format!("by words alone at present: {}", plain(trouble)));
    }
}

fn set(context: &Context, args: ModelsSet) -> Came {
    let ModelsSet { address, context: tokens, output, temperature, mode, tools, sees, price_in, price_out } =
        args;
    let session = context.writing(Signs::No)?;
    let asked = session.call(&Set {
        address,
        context: tokens,
        output,
        temperature,
        mode,
        tools,
        sees,
        price_in,
        price_out,
    });
    session.close();
    context.out.answer(&asked?, |out, asked| {
        out.line(plain(&asked.address));
        out.line(format!("  {}", in_words(asked)));
    })?;
    Ok(exit::DONE)
}

fn test(context: &Context, args: ModelsTest) -> Came {
    let (api, url) = host::server_named(&args.server);
    let config = host::Config::load(&context.home).map_err(host::Error::to_wire)?;
    let kept = config.secret_for(url.trim_end_matches('/'));
    // The vault is opened for a key that goes along, and for nothing else.
    let signs = if args.secret.is_some() || kept.is_some() { Signs::Yes } else { Signs::No };
    let session = context.writing(signs)?;
    let tested = session.call(&Test { url, api: Some(api), secret: args.secret });
    session.close();
    let tested = tested?;
    let code = if tested.trouble.is_none() { exit::DONE } else { exit::OTHER };
    context.out.answer(&tested, |out, tested| serving(out, tested, None))?;
    Ok(code)
}

/// How a model is asked, in one line.
fn in_words(asked: &Asked) -> String {
    let without = if asked.without.is_empty() {
        String::new()
    } else {
        format!(", without {}", plain(&asked.without.join(", ")))
    };
    let sees = if asked.sees { ", sees pictures" } else { "" };
    let price = asked.price.as_ref().map_or_else(String::new, |price| {
        format!(
            ", ${} in and ${} out for a million tokens ({})",
            plain(&price.input),
            plain(&price.output),
            price.from
        )
    });
    format!(
        "context {}, output {} ({}), temperature {}, mode {}, {} tools{sees}{price}{without}",
        asked.context, asked.output, asked.from, asked.temperature, asked.mode, asked.tools
    )
}

fn add(context: &Context, args: &ModelsAdd) -> Came {
    let url = host::provider_url(&args.url);
    let secret = match (&args.secret, url == args.url) {
        (Some(secret), _) => secret,
        (None, false) => &args.url,
        (None, true) => {
            return Err(wire::Error::new(wire::Code::Usage, "the key needs a name")
                .hint("name it with `--secret NAME`"))?;
        }
    };
    let value = value(context, secret)?;
    let session = context.writing(Signs::Yes)?;
    let kept = local(&session).and_then(|local| {
        local.keep_provider(url, secret, &value).map_err(host::Error::to_wire)?;
        session.call(&wire::secrets::List {})
    });
    session.close();
    context.out.answer(&kept?, |out, kept| {
        let hosts = kept.secrets.iter().find(|one| one.handle == *secret).map(|one| one.hosts.join(", "));
        out.line(format!("`secret:{}` is sent to {} and nowhere else", secret, hosts.unwrap_or_default()));
        out.say(Tone::Faint, format!("name a model there as {}", plain(&host::model_form(&args.url))));
    })?;
    Ok(exit::DONE)
}

/// A server with its models, the default one with a mark, or what is wrong with it.
fn serving(out: &Output, server: &Server, standard: Option<&str>) {
    let at = if server.url == "box:" { String::new() } else { format!(" at {}", plain(&server.url)) };
    out.say(Tone::Bold, format!("{}{at}", plain(&server.name)));
    if let Some(trouble) = &server.trouble {
        out.say(Tone::Warn, format!("  {}", plain(trouble)));
    }
    for model in &server.models {
        let mark = if standard == Some(model.address.as_str()) { "*" } else { " " };
        out.line(format!("{mark} {}", plain(&model.address)));
        if let Some(asked) = &model.asked {
            out.say(Tone::Faint, format!("    {}", in_words(asked)));
        }
    }
}

fn listed(out: &Output, found: &Found) {
    let standard = found.standard.as_deref();
    if found.servers.iter().all(|server| server.url == "box:") {
        let ports: Vec<String> = found.looked.iter().map(u16::to_string).collect();
        out.line(format!("no server of models answers on this machine, at ports {}", ports.join(", ")));
        out.line("start Ollama, llama.cpp, LM Studio or vLLM, name its port with `--port N`, or `hermit models get` one");
    }
    for server in &found.servers {
        serving(out, server, standard);
    }
    let shown = |address: &str| found.servers.iter().flat_map(|s| &s.models).any(|m| m.address == address);
    for asked in found.set.iter().filter(|asked| !shown(&asked.address)) {
        out.line(format!("  {}", plain(&asked.address)));
        out.say(Tone::Faint, format!("    {}", in_words(asked)));
    }
    for address in &found.used {
        out.line(format!("  {}", plain(address)));
        out.say(Tone::Faint, "    used in a task of yours");
    }
    if !found.providers.is_empty() {
        let rows = found.providers.iter().map(|one| {
            let key = if one.kept { "kept" } else { "MISSING: `hermit secret set`" };
            vec![plain(&one.url), format!("secret:{}", plain(&one.secret)), key.to_owned()]
        });
        table(out, &["server", "key", ""], &rows.collect::<Vec<_>>());
    }
    match standard {
        Some(address) => out.line(format!("* the default is {}", plain(address))),
        None => out.say(Tone::Faint, "no default model; choose one with `hermit models use ADDRESS`"),
    }
}
