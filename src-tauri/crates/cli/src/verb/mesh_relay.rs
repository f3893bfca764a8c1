//! `hermit mesh relay`: a relay of one's own, in the foreground.

use super::Came;
use crate::context::Context;
use crate::output::Tone;
use host::Interrupts;
use host::relay::OwnRelay;
use serde_json::json;
use std::net::SocketAddr;
use wire::{Code, Error, exit};

/// Runs a relay until Ctrl-C, or until whoever started it ends it.
pub(super) fn relay(context: &Context, listen: &str, asks: bool) -> Came {
    let at: SocketAddr = listen.trim().parse().map_err(|_| {
        Error::new(Code::Usage, format!("`{listen}` is no address and port")).hint(
            "write `--listen 127.0.0.1:7777`, or `--listen 0.0.0.0:7777` for other machines of your network",
        )
    })?;
    let interrupts = Interrupts::watch_all();
    let begun = if asks { OwnRelay::begin_asking(at) } else { OwnRelay::begin(at) };
    let relay = begun.map_err(|why| {
        Error::new(Code::Failed, format!("cannot listen at `{at}`: {why}"))
            .hint("choose another with `--listen`")
    })?;
    let at = relay.address();
    let url = format!("ws://{at}");
    context.out.stream(&json!({ "url": url }))?;
    context.out.say(Tone::Bold, format!("A relay runs at {url}"));
    context.out.line("Name it on each machine that reaches it:");
    // What listens everywhere is reached at none of these addresses but those that this machine has in its networks.
    context.out.line(match at.ip().is_unspecified() {
        true => format!(
            "  hermit mesh on --relay ws://ADDRESS:{}, with the address of this machine in its network",
            at.port()
        ),
        false => format!("  hermit mesh on --relay {url}"),
    });
    context.out.say(
        Tone::Faint,
        "It keeps sealed messages in memory, and can read none of them. Ctrl-C ends it, and what it keeps is gone.",
    );
    interrupts.wait();
    drop(relay);
    Ok(exit::DONE)
}
