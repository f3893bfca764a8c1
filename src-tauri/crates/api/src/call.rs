//! From a name and a JSON value to a body and back: made from the wire's table, so that nothing can be missing.

use crate::caller::Asker;
use crate::{Host, body};
use serde_json::{Value, json};
use wire::{Code, Command, Error};

macro_rules! dispatch {
    ($($about:literal $noun:ident . $verb:ident ( $params:ident ) -> $answer:ident , $access:ident [ $($topic:ident),* ];)+) => {
        /// Runs one command. `params` is an object, or `null` for none.
        ///
        /// # Errors
        /// [`Code::UnknownCommand`], [`Code::UnknownField`], [`Code::Usage`], and what the body says.
        pub fn call(host: &dyn Host, name: &str, params: Value) -> Result<Value, Error> {
            $(if name == <wire::$noun::$params as Command>::NAME {
                return run::<wire::$noun::$params>(host, params, body::$noun::$verb);
            })+
            Err(unknown(name))
        }
    };
}

wire::with_commands!(dispatch);

/// Runs one command for a caller who is not at this process. `lent` are places that whoever passes it on made for the
/// caller: a page may name these and no others.
///
/// # Errors
/// [`Code::Forbidden`] for what this caller may not ask, and as [`call`].
pub fn call_for(
    host: &dyn Host,
    asker: impl Into<Asker>,
    name: &str,
    params: Value,
    lent: &[String],
) -> Result<Value, Error> {
    let asker = asker.into();
    crate::caller::admit(asker, name, &params, lent)?;
    call(&crate::caller::Through::new(host, asker), name, params)
}

fn run<P: Command>(
    host: &dyn Host,
    params: Value,
    body: fn(&dyn Host, P) -> Result<P::Answer, Error>,
) -> Result<Value, Error> {
    let params = if params.is_null() { json!({}) } else { params };
    let params: P = serde_json::from_value(params).map_err(|e| misfit(P::NAME, &e.to_string()))?;
    let answer = body(host, params)?;
    serde_json::to_value(answer).map_err(crate::failed)
}

/// What does not fit, told by field.
pub fn misfit(name: &str, said: &str) -> Error {
    let field = |beginning: &str| {
        let rest = said.strip_prefix(beginning)?;
        Some(rest.split('`').next().unwrap_or_default().to_owned())
    };
    if let Some(field) = field("unknown field `") {
        let known = said.split("expected ").nth(1).unwrap_or("no parameters");
        return Error::new(Code::UnknownField, format!("`{name}` has no parameter `{field}`"))
            .hint(format!("it has {known}"))
            .details(json!({ "field": field }));
    }
    if let Some(field) = field("missing field `") {
        return Error::new(Code::Usage, format!("`{name}` needs the parameter `{field}`"))
            .details(json!({ "field": field }));
    }
    Error::new(Code::Usage, format!("`{name}` cannot use these parameters: {said}"))
}

fn unknown(name: &str) -> Error {
    let near = wire::COMMANDS.iter().map(|info| info.name).filter(|known| {
        let noun = name.split('.').next().unwrap_or_default();
        !noun.is_empty() && known.starts_with(noun)
    });
    let near: Vec<&str> = near.collect();
    let error = Error::new(Code::UnknownCommand, format!("there is no command `{name}`"));
    if near.is_empty() { error } else { error.hint(format!("there are `{}`", near.join("`, `"))) }
}
