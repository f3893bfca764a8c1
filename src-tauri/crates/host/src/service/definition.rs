//! What a service of the system is told, for each of the three: a systemd user unit, a launchd agent, a Windows scheduled task. Pure:
//! the same terms give the same text everywhere, so that what stands in a file tells whether a person changed it.

use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// The file name of the systemd unit.
pub const UNIT: &str = "hermit.service";
/// The label of the launchd agent.
pub const LABEL: &str = "io.github.hermit.serve";
/// The name of the Windows task.
pub const TASK: &str = "Hermit";
/// The line of a definition in which its terms stand.
const TERMS: &str = "Hermit-Service: ";
/// Seconds that the system waits before it starts a service again that failed.
const AGAIN_S: u32 = 10;
/// Seconds in which work pauses and the store is closed.
const END_S: u32 = 90;

/// Which system keeps the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// A systemd user unit.
    Systemd,
    /// A launchd agent.
    Launchd,
    /// A Windows scheduled task.
    WindowsTask,
}

/// What the service runs: which program, for which store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceTerms {
    /// The installed program, by its full path.
    pub program: String,
    /// The folder of the store, by its full path.
    pub store: String,
    /// The file whose first line opens the vault: its path, never what stands in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passphrase_file: Option<String>,
    /// The port to listen at; any free one when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// The address under which other devices reach this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

impl ServiceTerms {
    /// What follows the program's name.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<String> =
            ["--home", &self.store, "--no-input", "serve", "--service"].map(ToOwned::to_owned).into();
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        option("--passphrase-file", self.passphrase_file.clone());
        option("--port", self.port.map(|port| port.to_string()));
        option("--origin", self.origin.clone());
        words
    }

    /// What no definition can hold, in words.
    ///
    /// # Errors
    /// The term that holds a control character, which would begin a line of its own.
    pub fn check(&self) -> Result<(), String> {
        let terms = [
            ("program's path", Some(&self.program)),
            ("store's path", Some(&self.store)),
            ("passphrase file's path", self.passphrase_file.as_ref()),
            ("origin", self.origin.as_ref()),
        ];
        let wrong = terms
            .into_iter()
            .find(|(_, text)| text.is_some_and(|text| text.is_empty() || text.chars().any(char::is_control)));
        wrong.map_or(Ok(()), |(what, _)| Err(format!("the {what} is empty or holds a control character")))
    }

    /// The terms as one line that no comment of any of the three formats can end early.
    fn line(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        format!("{TERMS}{}", json.replace('-', "\\u002d"))
    }

    /// The terms that a definition names; none where Hermit did not write it.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.split_once(TERMS).map(|(_, rest)| rest))?;
        let mut values = serde_json::Deserializer::from_str(line).into_iter::<Self>();
        values.next()?.ok()
    }
}

/// The definition of the service.
#[must_use]
pub fn written(system: System, terms: &ServiceTerms, user: &str) -> String {
    match system {
        System::Systemd => systemd(terms),
        System::Launchd => launchd(terms),
        System::WindowsTask => windows_task(terms, user),
    }
}

/// A word of a command line of systemd: quoted, and without its specifiers. Variables are taken out of every word but the program.
fn systemd_word(text: &str, is_program: bool) -> String {
    let mut word = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => word.extend(['\\', letter]),
            '%' => word.push_str("%%"),
            '$' if !is_program => word.push_str("$$"),
            letter => word.push(letter),
        }
    }
    word.push('"');
    word
}

fn systemd(terms: &ServiceTerms) -> String {
    let words = terms.words().into_iter().map(|word| systemd_word(&word, false));
    let words: Vec<String> = std::iter::once(systemd_word(&terms.program, true)).chain(words).collect();
    format!(
        "# Written by `hermit service install`; `hermit service remove` takes it away.\n\
         # {}\n\
         [Unit]\n\
         Description=Hermit\n\
         StartLimitIntervalSec=300\n\
         StartLimitBurst=10\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={}\n\
         Restart=on-failure\n\
         RestartSec={AGAIN_S}\n\
         RestartPreventExitStatus=2\n\
         TimeoutStopSec={END_S}\n\
         KillMode=mixed\n\
         OOMPolicy=continue\n\
         UMask=0077\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        terms.line(),
        words.join(" "),
    )
}

/// Text between tags.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

fn launchd(terms: &ServiceTerms) -> String {
    let mut arguments = String::new();
    for word in std::iter::once(terms.program.clone()).chain(terms.words()) {
        let _ = writeln!(arguments, "\t\t<string>{}</string>", xml(&word));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- Written by `hermit service install`; `hermit service remove` takes it away. -->\n\
         <!-- {} -->\n\
         <plist version=\"1.0\">\n\
         <dict>\n\
         \t<key>Label</key>\n\
         \t<string>{LABEL}</string>\n\
         \t<key>ProgramArguments</key>\n\
         \t<array>\n\
         {arguments}\
         \t</array>\n\
         \t<key>RunAtLoad</key>\n\
         \t<true/>\n\
         \t<key>KeepAlive</key>\n\
         \t<dict>\n\
         \t\t<key>SuccessfulExit</key>\n\
         \t\t<false/>\n\
         \t</dict>\n\
         \t<key>ThrottleInterval</key>\n\
         \t<integer>{AGAIN_S}</integer>\n\
         \t<key>ExitTimeOut</key>\n\
         \t<integer>{END_S}</integer>\n\
         \t<key>Umask</key>\n\
         \t<integer>63</integer>\n\
         </dict>\n\
         </plist>\n",
        terms.line(),
    )
}

/// A word of a command line as programs of Windows take it apart: backslashes count double before a quotation mark.
fn windows_word(text: &str) -> String {
    if !text.is_empty() && !text.contains([' ', '\t', '"']) {
        return text.to_owned();
    }
    let (mut word, mut backslashes) = (String::from("\""), 0);
    for letter in text.chars() {
        match letter {
            '\\' => backslashes += 1,
            '"' => {
                word.push_str(&"\\".repeat(backslashes * 2 + 1));
                word.push('"');
                backslashes = 0;
            }
            letter => {
                word.push_str(&"\\".repeat(backslashes));
                word.push(letter);
                backslashes = 0;
            }
        }
    }
    word.push_str(&"\\".repeat(backslashes * 2));
    word.push('"');
    word
}

fn windows_task(terms: &ServiceTerms, user: &str) -> String {
    let words: Vec<String> = terms.words().iter().map(|word| windows_word(word)).collect();
    let user = xml(user);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n\
         <!-- Written by `hermit service install`; `hermit service remove` takes it away. -->\n\
         <!-- {} -->\n\
         <Task version=\"1.2\" xmlns=\"http://schemas.microsoft.com/windows/2004/02/mit/task\">\n  \
           <RegistrationInfo>\n    \
             <Description>Hermit</Description>\n  \
           </RegistrationInfo>\n  \
           <Triggers>\n    \
             <LogonTrigger>\n      \
               <UserId>{user}</UserId>\n    \
             </LogonTrigger>\n  \
           </Triggers>\n  \
           <Principals>\n    \
             <Principal id=\"Author\">\n      \
               <UserId>{user}</UserId>\n      \
               <LogonType>InteractiveToken</LogonType>\n      \
               <RunLevel>LeastPrivilege</RunLevel>\n    \
             </Principal>\n  \
           </Principals>\n  \
           <Settings>\n    \
             <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>\n    \
             <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>\n    \
             <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>\n    \
             <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>\n    \
             <RestartOnFailure>\n      \
               <Interval>PT1M</Interval>\n      \
               <Count>10</Count>\n    \
             </RestartOnFailure>\n  \
           </Settings>\n  \
           <Actions Context=\"Author\">\n    \
             <Exec>\n      \
               <Command>{}</Command>\n      \
               <Arguments>{}</Arguments>\n    \
             </Exec>\n  \
           </Actions>\n\
         </Task>\n",
        terms.line(),
        xml(&terms.program),
        xml(&words.join(" ")),
    )
}

#[cfg(test)]
mod tests;
