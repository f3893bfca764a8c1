//! What the walls of this machine cannot do, in words, with what a person can do about it.

use super::Sandbox;
use crate::system::walls::{self, System};
use model::receipt::SandboxLevel;

/// What is asked of walls and is not had everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asks {
    /// A command that reaches some hosts and no others.
    Hosts,
    /// A server of tools without the network.
    Server,
    /// A server of tools that reaches some hosts and no others.
    ServerHosts,
    /// A program that works on a copy of the folder and asks its model over Hermit's proxy.
    Guest,
}

impl Asks {
    const fn in_words(self) -> &'static str {
        match self {
            Self::Hosts => "this machine cannot keep a command to the hosts it may reach",
            Self::Server => "this machine has no sandbox for a server of tools",
            Self::ServerHosts => "this machine cannot keep a server of tools to the hosts it may reach",
            Self::Guest => "nothing on this machine would keep a guest to a copy",
        }
    }

    /// What a person can do where walls hold the network only by having none.
    const fn instead(self) -> &'static str {
        match self {
            Self::Hosts => {
                "have Hermit fetch what it needs and run it without the network, or run it yourself in a terminal"
            }
            Self::Server => {
                "register one that is reached by an address: `hermit tools add NAME --url ADDRESS`"
            }
            Self::ServerHosts => {
                "register it without hosts, or one that is reached by an address: \
                 `hermit tools add NAME --url ADDRESS`"
            }
            Self::Guest => "give it the task on a paired machine with Linux",
        }
    }
}

fn told(system: System, level: SandboxLevel, why: &str, asks: Asks) -> String {
    let (what, instead) = (asks.in_words(), asks.instead());
    match (system, level) {
        (System::Linux, _) => format!("{what}; install bubblewrap"),
        (System::Windows, SandboxLevel::AppContainer) => format!(
            "{what}: an AppContainer reaches no network, and only an administrator could open Hermit's proxy to it; {instead}"
        ),
        (System::Windows, SandboxLevel::RestrictedToken) => {
            format!("{what}: a restricted token leaves the network open; {instead} ({why})")
        }
        (System::MacOs | System::Windows, _) => format!("{what} ({why})"),
    }
}

impl Sandbox {
    /// What is missing for this, with what to do about it on this system or why it is so.
    pub(crate) fn lacks(&self, asks: Asks) -> String {
        told(walls::SYSTEM, self.level(), self.why(), asks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Asks; 4] = [Asks::Hosts, Asks::Server, Asks::ServerHosts, Asks::Guest];

    #[test]
    fn what_is_missing_is_told_with_what_to_do_on_each_system() {
        for asks in ALL {
            let linux = told(System::Linux, SandboxLevel::Landlock, "tried", asks);
            assert_eq!(linux, format!("{}; install bubblewrap", asks.in_words()));
            let mac = told(System::MacOs, SandboxLevel::Seatbelt, "tried", asks);
            assert_eq!(mac, format!("{} (tried)", asks.in_words()));
            let container = told(System::Windows, SandboxLevel::AppContainer, "tried", asks);
            assert!(container.contains("only an administrator"), "{container}");
            assert!(container.ends_with(asks.instead()), "{container}");
            let open = told(System::Windows, SandboxLevel::RestrictedToken, "tried", asks);
            assert!(open.contains("leaves the network open") && open.ends_with("(tried)"), "{open}");
            let none = told(System::Windows, SandboxLevel::Unconfined, "no program is there", asks);
            assert_eq!(none, format!("{} (no program is there)", asks.in_words()));
        }
    }
}
