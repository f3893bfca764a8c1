//! `hermit schedule secret`, and how a hook is called.

use super::Came;
use super::secret::local;
use crate::context::{Context, Signs};
use crate::output::{Output, Tone};
use crate::text::plain;
use serde::Serialize;
use wire::host::Status;
use wire::schedules::{ScheduleHook, Show};
use wire::{Code, Error, exit};
use words::schedule::CallRefused;

/// A secret that was made, told once.
#[derive(Serialize)]
struct Made {
    hook: String,
    path: String,
    /// The handle it is kept under.
    kept_as: String,
    secret: String,
}

/// `hermit schedule secret`.
pub(super) fn secret(context: &Context, name: String) -> Came {
    let session = context.writing(Signs::Yes)?;
    let made = local(&session).and_then(|local| {
        let hook = session.call(&Show { name: name.clone() })?.hook.ok_or_else(|| {
            Error::new(Code::Usage, format!("the schedule `{name}` waits for no hook"))
                .hint("keep one that does: `hermit schedule add \"when the hook deploy is called\" GOAL`")
        })?;
        let secret = local.make_hook_secret(&hook.name).map_err(host::Error::to_wire)?;
        Ok((
            Made {
                hook: hook.name.clone(),
                path: hook.path.clone(),
                kept_as: hook.secret.clone(),
                secret: secret.to_string(),
            },
            hook,
        ))
    });
    session.close();
    let (made, hook) = made?;
    context.out.answer(&made, |out, made| {
        out.line(format!("the secret of the hook {}, told this once:", plain(&made.hook)));
        out.whole(Tone::Bold, &made.secret);
        out.line(format!(
            "it is kept as `secret:{}`; the one before, where there was one, is good for nothing any more",
            plain(&made.kept_as)
        ));
        how_to_call(out, &hook, None);
    })?;
    Ok(exit::DONE)
}

/// Where the host of this store is reached, while one runs.
pub(super) fn address(context: &Context) -> Option<String> {
    let status = context.reading().ok()?.call(&Status {}).ok()?;
    status.held_by?.address
}

/// How the hook of a schedule stands, and how it is called.
pub(super) fn shown(out: &Output, hook: &ScheduleHook, schedule: &str, address: Option<&str>) {
    if !hook.has_secret {
        let text =
            format!("no call is taken until it has a secret: hermit schedule secret {}", plain(schedule));
        out.say(Tone::Warn, format!("  {text}"));
    }
    let waiting =
        if hook.waiting == 0 { String::new() } else { format!(", {} of them wait for a run", hook.waiting) };
    out.line(format!("  {} called{waiting}", times(hook.called)));
    if hook.refused > 0 {
        let why = hook.last_refused.map_or(String::new(), |why| format!("; the last one {}", refused(why)));
        out.say(Tone::Warn, format!("  {} refused{why}", times(hook.refused)));
    }
    how_to_call(out, hook, address);
}

fn times(number: u64) -> String {
    if number == 1 { "1 time".to_owned() } else { format!("{number} times") }
}

/// Why a call was refused.
const fn refused(why: CallRefused) -> &'static str {
    match why {
        CallRefused::Signature => "was not signed with its secret",
        CallRefused::Time => "was signed more than 5 minutes before or after it came",
        CallRefused::TooLarge => "was larger than 64 KiB",
        CallRefused::TooMany => "came with too many others",
    }
}

fn how_to_call(out: &Output, hook: &ScheduleHook, address: Option<&str>) {
    let url = format!("http://{}{}", address.map_or("127.0.0.1:PORT".to_owned(), plain), plain(&hook.path));
    out.line(format!("  called at {url}"));
    if address.is_none() {
        out.say(Tone::Faint, "  `hermit serve --port PORT` listens at a port that stays the same");
    }
    out.say(
        Tone::Faint,
        "  signed as Standard Webhooks, or as GitHub (`X-Hub-Signature-256`, with the secret as it is); for example:",
    );
    for line in EXAMPLE {
        out.whole(Tone::Plain, &format!("  {}", line.replace("URL", &url)));
    }
}

/// A call by hand; the secret stands in the variable `SECRET`.
const EXAMPLE: [&str; 5] = [
    "body='{\"what\":\"deployed\"}'; id=msg_$(openssl rand -hex 8); at=$(date +%s)",
    "key=$(printf %s \"${SECRET#whsec_}\" | base64 -d | od -An -v -tx1 | tr -d ' \\n')",
    "sig=$(printf %s \"$id.$at.$body\" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$key -binary | base64)",
    "curl -H \"webhook-id: $id\" -H \"webhook-timestamp: $at\" -H \"webhook-signature: v1,$sig\" \\",
    "  --data-binary \"$body\" URL",
];
