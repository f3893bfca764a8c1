//! `hermit passkey`.

use super::Came;
use crate::args::PasskeyVerb;
use crate::context::{Context, Signs};
use crate::output::{Output, table};
use crate::text::{plain, time};
use wire::exit;
use wire::passkeys::{List, Passkey, Passkeys, Revoke};

/// Digits of an identifier that a list shows; they name it, too.
const SHOWN: usize = 12;

/// `hermit passkey`.
pub fn passkey(context: &Context, verb: PasskeyVerb) -> Came {
    match verb {
        PasskeyVerb::Add => {
            let how = [
                "A passkey is made in a browser, on the page where it will approve:",
                "  hermit serve        then open the link that it prints, and Settings, Passkeys",
                "  hermit open         where it is running already",
                "The page asks for your approval passphrase once. It must be at http://localhost or at a name by HTTPS.",
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

fn name(one: &Passkey) -> String {
    let shown = one.name.as_deref().map(plain);
    shown.unwrap_or_else(|| one.passkey_id.chars().take(SHOWN).collect())
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
            one.passkey_id.chars().take(SHOWN).collect(),
            name(one),
            plain(&one.origin),
            state(one).to_owned(),
            one.last_used_at.map_or_else(|| "never".to_owned(), time),
            if one.backed_up { "copied to other devices".to_owned() } else { String::new() },
        ]
    };
    let rows = listed.passkeys.iter().map(row).collect::<Vec<_>>();
    table(out, &["passkey", "name", "for", "state", "last used", ""], &rows);
}
