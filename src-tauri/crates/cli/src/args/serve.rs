//! The host without a window, and links to it.

use clap::Args;
use std::path::PathBuf;

/// `hermit serve`.
#[derive(Debug, Args, Default)]
#[command(after_help = "\
It takes the store, continues what was interrupted, and listens on this machine only. It prints a link for a \
browser: the link works once and for ten minutes, and gives a session that can look, give work and refuse, and never \
allow. Where another process serves the store already, a new link to that one is printed.
With --origin it also answers to the name under which a phone or another computer of yours reaches it. It still listens \
on this machine only and opens no port: something of yours has to lead that name here with HTTPS, such as a reverse \
proxy that keeps the `Host` header, or `tailscale serve`. `hermit open --phone` then prints the link for the other device.
Commands that need the store find the host by themselves and attach to it. Allowing something still happens in a \
terminal of yours, with the approval passphrase, which goes to no host.
Ctrl-C or a request to terminate ends it: running tasks pause, and the next host continues them.")]
pub struct ServeArgs {
    /// Port to listen at; any free one when absent.
    #[arg(long, value_name = "N")]
    pub port: Option<u16>,
    /// Address under which your other devices reach this machine, such as `https://desk.example`. Every other name is refused.
    #[arg(long, value_name = "https://NAME[:PORT]")]
    pub origin: Option<String>,
    /// Runs as a service of the system does: prints no link, and waits while another process has the store.
    #[arg(long)]
    pub service: bool,
    /// File whose first line opens the vault, in place of HERMIT_PASSPHRASE_FILE.
    #[arg(long, value_name = "FILE")]
    pub passphrase_file: Option<PathBuf>,
}

/// `hermit open`.
#[derive(Debug, Args, Default)]
#[command(after_help = "\
The link works once: within ten minutes in a browser of this machine, within five on another device. With --phone it \
names the address that `hermit serve --origin` was given, and is shown as a code for a camera as well.")]
pub struct OpenArgs {
    /// Prints a link for your phone or another computer instead; at a terminal only.
    #[arg(long)]
    pub phone: bool,
}
