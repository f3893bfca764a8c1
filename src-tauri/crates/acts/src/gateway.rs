//! Connecting a chat service, and allowing that a sender is paired there: their cards show every host, and what a paired sender
//! may and may not do (schedule.md 2).

use crate::schedule::{proposer, spends, told};
use crate::skill::Told;
use crate::{Line, LineKind, visible};
use model::gateway::{CODE_OPEN, Gateway, KeepGateway, PairSender, SenderProfile};

impl Told for KeepGateway {
    fn check(&self) -> Result<(), String> {
        self.gateway.check()?;
        match &self.was {
            Some(was) if **was == self.gateway => Err("the gateway is so already".to_owned()),
            Some(was) if was.name != self.gateway.name => Err("a gateway keeps its name".to_owned()),
            _ => Ok(()),
        }
    }

    fn title(&self) -> String {
        let Gateway { name, service, .. } = &self.gateway;
        match &self.was {
            None => format!("connect {service} as the gateway \"{}\"", visible(name)),
            Some(_) => format!("change the gateway \"{}\" to {service}", visible(name)),
        }
    }

    fn lines(&self) -> Vec<Line> {
        let gateway = &self.gateway;
        let mut lines = vec![
            Line {
                kind: LineKind::Risk,
                text: format!(
                    "listen to {} from now on, and begin tasks in {} for senders whom you pair there",
                    gateway.service,
                    visible(&gateway.folder)
                ),
            },
            fact(
                "nobody is heard whom you have not paired with a code, and nothing is sent without your yes or a standing grant \
                 for that chat",
            ),
            fact("a chat approves nothing: a yes is given at this machine, or with a passkey"),
        ];
        lines.extend(
            gateway.hosts.iter().map(|host| Line::effect(format!("it speaks with {}", visible(host)))),
        );
        if !gateway.address.is_empty() {
            lines.push(fact(&format!("the server: {}", visible(&gateway.address))));
        }
        if !gateway.user.is_empty() {
            lines.push(fact(&format!("as {}", visible(&gateway.user))));
        }
        lines.push(fact(&format!("opened with the secret \"{}\"", visible(&gateway.secret))));
        let settings = gateway.settings.iter();
        lines.extend(
            settings.map(|(name, value)| fact(&format!("{} = \"{}\"", visible(name), visible(value)))),
        );
        lines.push(fact(&format!(
            "policy of tasks of senders who may give goals: {}",
            gateway.profile.in_words()
        )));
        lines.push(fact(&spends(&gateway.budget)));
        lines.extend(self.was.iter().flat_map(|was| differences(was, gateway)));
        lines.extend(proposer(&gateway.proposer));
        lines
    }
}

/// What is otherwise than it was.
fn differences(was: &Gateway, now: &Gateway) -> Vec<Line> {
    let texts = |of: &Gateway| {
        let settings: Vec<String> =
            of.settings.iter().map(|(name, value)| format!("{name} = \"{value}\"")).collect();
        [
            ("service", of.service.to_string()),
            ("server", of.address.clone()),
            ("user", of.user.clone()),
            ("settings", settings.join(", ")),
            ("secret", of.secret.clone()),
            ("hosts", of.hosts.join(", ")),
            ("folder", of.folder.clone()),
            ("policy", of.profile.in_words().to_owned()),
            ("budget", spends(&of.budget)),
            ("one who proposes", told(&of.proposer)),
        ]
    };
    let changed = |(what, text): &(&str, String)| Line {
        kind: LineKind::Destructive,
        text: format!("the {what} CHANGED; it was \"{}\"", visible(text)),
    };
    let (before, after) = (texts(was), texts(now));
    before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .map(|(before, _)| changed(before))
        .collect()
}

impl Told for PairSender {
    fn check(&self) -> Result<(), String> {
        model::skill::check_skill_name(&self.gateway)
    }

    fn title(&self) -> String {
        format!("pair a sender with the gateway \"{}\"", visible(&self.gateway))
    }

    fn lines(&self) -> Vec<Line> {
        let may = match self.profile {
            SenderProfile::Goals => format!(
                "may GIVE GOALS: tasks in {} under the policy \"{}\", which ask you as always",
                visible(&self.folder),
                self.tasks_profile.in_words()
            ),
            SenderProfile::Ask => {
                format!(
                    "may ONLY ASK: tasks that look at files in {} and change nothing",
                    visible(&self.folder)
                )
            }
        };
        vec![
            Line {
                kind: LineKind::Risk,
                text: format!(
                    "whoever FIRST sends the code to the gateway \"{}\", in a chat of their own with it, is heard from then on",
                    visible(&self.gateway)
                ),
            },
            Line { kind: LineKind::Risk, text: format!("such a sender {may}") },
            Line::effect(format!(
                "the code can be sent once, within {} minutes from your yes; give it to nobody else",
                CODE_OPEN.as_secs() / 60
            )),
            fact(
                "they can also stop their own tasks, answer what these ask, ask how they stand, and deny an approval; they \
                 approve nothing",
            ),
            fact(&format!(
                "{} and whoever has that account could speak in their name: their words are data to a model",
                self.service
            )),
            fact(
                "the first message to them is put to you with its text, and you can allow further ones to that chat then",
            ),
        ]
    }
}

fn fact(text: &str) -> Line {
    Line { kind: LineKind::Fact, text: text.to_owned() }
}
