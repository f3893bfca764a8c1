//! `hermit passkey`.

use super::Came;
use crate::approve::{TerminalApproval, no_terminal};
use crate::args::PasskeyVerb;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone, table};
use crate::text::{plain, time};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::passkey::{MESH_ORIGIN, SECURITY_KEY_ORIGIN};
use wire::exit;
use wire::passkeys::{Enrol, List, Passkey, Passkeys, Revoke};

/// Digits of an identifier that a list shows; they name it, too.
const SHOWN: usize = 12;

/// `hermit passkey`.
pub fn passkey(context: &Context, verb: PasskeyVerb) -> Came {
    match verb {
        PasskeyVerb::Add { security_key: Some(name) } => return add(context, name),
        PasskeyVerb::Add { security_key: None } => {
            let how = [
                "A passkey is made in a browser, on the page where it will approve:",
                "  hermit serve        then open the link that it prints, and Settings, Passkeys",
                "  hermit open         where it is running already",
                "The page asks for your approval passphrase once. It must be at http://localhost or at a name by HTTPS.",
                "A security key approves at the terminal and in the app's window, too, once you add it here:",
                "  hermit passkey add --security-key NAME",
            ];
            let told = serde_json::json!({ "how": how.join("\n") });
            context.out.answer(&told, |out, _| how.iter().for_each(|line| out.line(line)))?;
        }
        PasskeyVerb::List => {
            let listed = context.reading()?.call(&List {})?;
            context.out.answer(&listed, listed_in_words)?;
        }
        PasskeyVerb::Revoke { passkey, reason } => {
            let session = context.writing(Signs::No)?;
            let gone = session.call(&Revoke { passkey, reason });
            session.close();
            context.out.answer(&gone?, |out, gone| {
                out.line(format!("{} approves nothing any more", name(gone)));
            })?;
        }
    }
    Ok(exit::DONE)
}

/// Adds the security key that is plugged in.
fn add(context: &Context, name: String) -> Came {
    let (mut person, mut front) = TerminalApproval::at_terminal(context).ok_or_else(no_terminal)?;
    let reading = context.reading()?;
    let signed = person.sign_security_key(&mut front, &reading)?;
    drop(reading);
    let Some(signed) = signed else {
        context.out.line("No security key was added.");
        return Ok(exit::WAITING);
    };
    let session = context.writing(Signs::No)?;
    let added = session.call(&Enrol { envelope: STANDARD.encode(signed), name });
    session.close();
    context.out.answer(&added?, |out, added| {
        out.say(
            Tone::Good,
            format!("{} may approve from now on: answer `key` at a card.", self::name(added)),
        );
        out.line(format!("Revoke it: hermit passkey revoke {}", shown(added)));
    })?;
    Ok(exit::DONE)
}

fn shown(one: &Passkey) -> String {
    one.passkey_id.chars().take(SHOWN).collect()
}

fn name(one: &Passkey) -> String {
    let shown = one.name.as_deref().map(plain);
    shown.unwrap_or_else(|| self::shown(one))
}

/// Where it is used.
fn place(one: &Passkey) -> String {
    match one.origin.as_str() {
        SECURITY_KEY_ORIGIN => "terminal and app".to_owned(),
        MESH_ORIGIN => "another machine".to_owned(),
        origin => plain(origin),
    }
}

fn state(one: &Passkey) -> &'static str {
    match (one.in_force, one.revoked_at) {
        (true, _) => "may approve",
        (false, Some(_)) => "revoked",
        (false, None) => "ended with the approval key",
    }
}

fn listed_in_words(out: &Output, listed: &Passkeys) {
    if listed.passkeys.is_empty() {
        return out.line("no passkeys; `hermit passkey add` tells how to add one");
    }
    let row = |one: &Passkey| {
        vec![
            shown(one),
            name(one),
            place(one),
            state(one).to_owned(),
            one.last_used_at.map_or_else(|| "never".to_owned(), time),
            if one.backed_up { "copied to other devices".to_owned() } else { String::new() },
        ]
    };
    let rows = listed.passkeys.iter().map(row).collect::<Vec<_>>();
    table(out, &["passkey", "name", "for", "state", "last used", ""], &rows);
}
