//! Agents of other programs that can work as guests: what is known of each, one file of data, and which are here.
//!
//! A program is looked for where this process would find it. What of it lies outside the system's folders is opened to
//! it for reading, and stands on the card.

mod around;

use around::around;
use kernel::command::submit::Reasoning;
use model::guest::{GuestLaunch, GuestTells};
use model::reach::Program;
use model::secret::SecretTerms;
use model::{Digest, RelPath};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use wire::guests::Agent;
use wire::task::Reasoner as Asked;
use wire::{Code, Error};

/// Folders of programs and libraries that every command sees.
const SYSTEM: [&str; 7] = ["/usr", "/opt", "/nix/store", "/bin", "/sbin", "/lib", "/lib64"];
/// What a command finds programs by behind the walls.
const INSIDE: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// What stands before an agent that is spoken to by the Agent Client Protocol.
const ACP: &str = "acp:";
/// Bytes of a first line that names an interpreter.
const FIRST_LINE: u64 = 512;

/// What is known of one agent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Preset {
    name: String,
    title: String,
    program: String,
    /// How it is installed, in words.
    install: String,
    words: Vec<String>,
    goes_on: Vec<String>,
    tells_version: Vec<String>,
    hosts: Vec<String>,
    key: Key,
    environment: BTreeMap<String, String>,
    home: BTreeMap<RelPath, String>,
    tells: Option<GuestTells>,
    /// The word by which it is made to tell so, where it takes one.
    tells_with: Option<String>,
    /// Words by which it speaks the Agent Client Protocol, where it does.
    acp: Option<Vec<String>>,
}

/// How an agent finds its key, and the secret that is lent unless another is named.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    environment: String,
    handle: String,
}

/// The files; a test reads each.
const FILES: [&str; 6] = [
    include_str!("guests/aider.json"),
    include_str!("guests/claude.json"),
    include_str!("guests/codex.json"),
    include_str!("guests/gemini.json"),
    include_str!("guests/goose.json"),
    include_str!("guests/opencode.json"),
];

static PRESETS: LazyLock<Vec<Preset>> =
    LazyLock::new(|| FILES.iter().filter_map(|text| serde_json::from_str(text).ok()).collect());

/// Agents that are known, and which of them are here; whether each has its secret is for whoever reads the log.
pub fn agents() -> Vec<Agent> {
    let agent = |preset: &Preset| Agent {
        name: preset.name.clone(),
        title: preset.title.clone(),
        program: find(&preset.program).map(|at| at.to_string_lossy().into_owned()),
        install: preset.install.clone(),
        hosts: preset.hosts.clone(),
        secret: preset.key.handle.clone(),
        has_secret: false,
        goes_on: !preset.goes_on.is_empty(),
        tells: preset.tells.is_some(),
        acp: preset.acp.is_some(),
    };
    PRESETS.iter().map(agent).collect()
}

/// The guest that a person names, checked before anything is recorded.
///
/// # Errors
/// [`Code::Usage`], [`Code::NotFound`], with what to do.
pub fn chosen(asked: &Asked, known: &BTreeMap<String, SecretTerms>) -> Result<Reasoning, Error> {
    let Asked::Guest { agent, hosts, secrets, reads, environment } = asked else {
        return Err(Error::new(Code::Usage, "no agent is named"));
    };
    let (agent, speaks_acp) = match agent.trim().strip_prefix(ACP) {
        Some(rest) => (rest, true),
        None => (agent.as_str(), false),
    };
    let named = PRESETS.iter().find(|preset| preset.name == agent.trim());
    let (preset, mut launch) = match named {
        Some(preset) => (named, of_preset(preset, &preset.program)?),
        None => of_words(agent)?,
    };
    if speaks_acp {
        by_acp(named, &mut launch)?;
    }
    if !hosts.is_empty() {
        // Whoever names a host has another server for it than the usual.
        launch.hosts.clone_from(hosts);
    }
    launch.environment.extend(environment.clone());
    launch.secrets.clone_from(secrets);
    if let Some(preset) = preset {
        usual_key(preset, &mut launch, !hosts.is_empty(), known)?;
    }
    for place in reads {
        launch.reads.push(readable(place)?);
    }
    launch.reads.sort();
    launch.reads.dedup();
    check_hosts(&launch.hosts)?;
    check_secrets(&launch, known)?;
    launch.check().map_err(|why| Error::new(Code::Usage, why))?;
    Ok(Reasoning::Guest { launch: Box::new(launch) })
}

/// It is spoken to by the Agent Client Protocol: its words are those by which it does.
fn by_acp(preset: Option<&Preset>, launch: &mut GuestLaunch) -> Result<(), Error> {
    if let Some(preset) = preset {
        let words = preset.acp.clone().ok_or_else(|| {
            let speak = PRESETS.iter().filter(|preset| preset.acp.is_some()).map(|preset| preset.name.as_str());
            Error::new(
                Code::Usage,
                format!("{} does not speak the Agent Client Protocol by itself", preset.title),
            )
            .hint(format!(
                "run it with `--agent {}`, or name a program that speaks it: `--agent \"acp:PROGRAM WORDS\"`; of those that \
                 Hermit knows, these do: {}",
                preset.name,
                speak.collect::<Vec<_>>().join(", ")
            ))
        })?;
        launch.words = words;
    }
    launch.goes_on.clear();
    launch.tells = Some(GuestTells::Acp);
    Ok(())
}

/// The secret that an agent signs in with, where none is named for it.
fn usual_key(
    preset: &Preset,
    launch: &mut GuestLaunch,
    other_hosts: bool,
    known: &BTreeMap<String, SecretTerms>,
) -> Result<(), Error> {
    let Key { environment, handle: secret } = &preset.key;
    if launch.secrets.contains_key(environment) || launch.environment.contains_key(environment) {
        return Ok(());
    }
    let fits =
        known.get(secret).is_some_and(|terms| launch.hosts.iter().any(|host| terms.hosts.contains(host)));
    if fits {
        launch.secrets.insert(environment.clone(), secret.clone());
        return Ok(());
    }
    if other_hosts {
        // A server of one's own may take no key.
        return Ok(());
    }
    let host = launch.hosts.first().cloned().unwrap_or_default();
    Err(Error::new(Code::NotFound, format!("{} needs a key for its model, and there is none", preset.title))
        .hint(format!(
            "set it with `hermit secret set {secret} --host {host}`; it is never given to the agent itself"
        )))
}

/// A preset, whose program is looked for as it is called here.
fn of_preset(preset: &Preset, program: &str) -> Result<GuestLaunch, Error> {
    let found = find(program).ok_or_else(|| {
        Error::new(Code::NotFound, format!("{} (`{}`) is not installed here", preset.title, preset.program))
            .hint(format!("install it with: {}", preset.install))
    })?;
    let mut launch = launch_of(&preset.name, &found)?;
    launch.words.clone_from(&preset.words);
    launch.goes_on.clone_from(&preset.goes_on);
    launch.tells = preset.tells;
    surround(preset, &mut launch);
    Ok(launch)
}

/// What an agent needs around it, whatever its words: its model's hosts, its settings and its home.
fn surround(preset: &Preset, launch: &mut GuestLaunch) {
    launch.tells_version.clone_from(&preset.tells_version);
    launch.hosts.clone_from(&preset.hosts);
    launch.environment.extend(preset.environment.clone());
    launch.home.clone_from(&preset.home);
}

/// Whether the words stand among the others, in this order.
fn stand_in(words: &[String], others: &[String]) -> bool {
    let mut others = others.iter();
    words.iter().all(|word| others.any(|other| other == word))
}

/// A command line of one's own: words as a shell would part them, without anything else that a shell does.
///
/// A known program gets what it needs around it. Words that its preset has anyway, such as `claude -p`, are the preset:
/// alone they would have it ask a person who does not hear it.
fn of_words(line: &str) -> Result<(Option<&'static Preset>, GuestLaunch), Error> {
    let words = apart(line).ok_or_else(|| {
        Error::new(Code::Usage, "the command line of the agent has a quotation mark that is not closed")
    })?;
    let Some((program, rest)) = words.split_first() else {
        return Err(Error::new(Code::Usage, "name an agent or its command line")
            .hint("such as `--agent codex`, or `--agent \"my-agent --yes\"`; `hermit agents list` shows those that are known"));
    };
    let found = find(program).ok_or_else(|| {
        let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name.as_str()).collect();
        Error::new(Code::NotFound, format!("there is no program `{program}` here")).hint(format!(
            "install it, give its whole path, or name an agent that Hermit knows: {}",
            known.join(", ")
        ))
    })?;
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let preset = PRESETS.iter().find(|preset| preset.program == name);
    if let Some(preset) = preset.filter(|preset| stand_in(rest, &preset.words)) {
        return Ok((Some(preset), of_preset(preset, program)?));
    }
    let mut launch = launch_of(&name, &found)?;
    launch.words = rest.to_vec();
    if let Some(preset) = preset {
        surround(preset, &mut launch);
        // What it prints is known, whatever the other words.
        launch.tells =
            preset.tells.filter(|_| preset.tells_with.as_ref().is_none_or(|word| rest.contains(word)));
    }
    Ok((preset, launch))
}

fn launch_of(name: &str, found: &Path) -> Result<GuestLaunch, Error> {
    let fail = |why: String| Error::new(Code::Usage, format!("the program `{}` {why}", found.display()));
    let path = found.canonicalize().map_err(|e| fail(format!("cannot be found: {e}")))?;
    let sha256 = digest(&path).map_err(|e| fail(format!("cannot be read: {e}")))?;
    let text = |path: &Path| {
        path.to_str().map(str::to_owned).ok_or_else(|| fail("has a name that is not UTF-8".to_owned()))
    };
    let mut reads = BTreeSet::new();
    let mut folders = Vec::new();
    around(&path, &mut reads);
    if let Some(interpreter) = interpreter(&path) {
        folders.extend(interpreter.parent().map(Path::to_owned).filter(|folder| !is_system(folder)));
        if let Ok(real) = interpreter.canonicalize() {
            around(&real, &mut reads);
        }
    }
    let mut environment = BTreeMap::new();
    if !folders.is_empty() {
        let beside = path.parent().filter(|at| folders.iter().all(|known| known != at)).map(Path::to_owned);
        folders.extend(beside);
        let folders: Vec<String> =
            folders.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
        environment.insert("PATH".to_owned(), format!("{}:{INSIDE}", folders.join(":")));
    }
    Ok(GuestLaunch {
        guest: name.to_owned(),
        program: Program { name: text(found)?, path: text(&path)?, sha256 },
        words: Vec::new(),
        goes_on: Vec::new(),
        tells_version: Vec::new(),
        hosts: Vec::new(),
        secrets: BTreeMap::new(),
        environment,
        home: BTreeMap::new(),
        reads: reads.iter().map(|place| text(place)).collect::<Result<_, _>>()?,
        tells: None,
    })
}

fn is_system(place: &Path) -> bool {
    SYSTEM.iter().any(|folder| place.starts_with(folder))
}

/// The program that the first line of a script names.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut line = String::new();
    BufReader::new(File::open(script).ok()?.take(FIRST_LINE)).read_line(&mut line).ok()?;
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    let first = words.next()?;
    if !first.ends_with("/env") {
        return Some(PathBuf::from(first));
    }
    find(words.find(|word| !word.starts_with('-') && !word.contains('='))?)
}

/// Where a program is: by its path, or where this process would find it.
fn find(program: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| disk::is_program(path);
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_absolute()).filter(is_program);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(is_program)
}

fn digest(path: &Path) -> std::io::Result<Digest> {
    Ok(Digest::of(&fs::read(path)?))
}

/// A folder or file that is opened to a guest.
fn readable(place: &str) -> Result<String, Error> {
    let path = Path::new(place);
    let wrong = |why: &str| {
        Error::new(Code::Usage, format!("`{place}` cannot be opened to an agent: {why}"))
            .hint("name a folder below a folder, absolute, such as `--agent-read /home/me/tools`")
    };
    let real = path.canonicalize().map_err(|e| wrong(&e.to_string()))?;
    if !path.is_absolute() || real.components().count() < 3 {
        return Err(wrong("it holds too much"));
    }
    real.to_str().map(str::to_owned).ok_or_else(|| wrong("its name is not UTF-8"))
}

fn check_hosts(hosts: &[String]) -> Result<(), Error> {
    match hosts.iter().find(|host| !is_host(host)) {
        None => Ok(()),
        Some(host) => Err(Error::new(Code::Usage, format!("`{host}` is no host that an agent can reach"))
            .hint("write it as `name:port`, in small letters, such as `api.example.org:443`")),
    }
}

fn is_host(host: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
    host.rsplit_once(':').is_some_and(|(name, port)| {
        !name.is_empty() && name.chars().all(letter) && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

/// Secrets are there, and may go to a host that the guest reaches.
fn check_secrets(launch: &GuestLaunch, known: &BTreeMap<String, SecretTerms>) -> Result<(), Error> {
    for handle in launch.secrets.values() {
        let host = launch.hosts.first().cloned().unwrap_or_else(|| "HOST:443".to_owned());
        let Some(terms) = known.get(handle) else {
            return Err(Error::new(Code::NotFound, format!("there is no `secret:{handle}`"))
                .hint(format!("set it with `hermit secret set {handle} --host {host}`")));
        };
        if !launch.hosts.iter().any(|host| terms.hosts.contains(host)) {
            return Err(Error::new(
                Code::Usage,
                format!("`secret:{handle}` may go to none of the hosts that the agent reaches"),
            )
            .hint(format!("say so with `hermit secret set {handle} --host {host}`")));
        }
    }
    Ok(())
}

/// Words of a command line: parted by blanks, kept together by quotation marks; none where one is not closed.
fn apart(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (Some(open), letter) if letter == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_read_and_says_all_that_is_needed() {
        assert_eq!(PRESETS.len(), FILES.len());
        for preset in PRESETS.iter() {
            assert!(preset.words.iter().any(|word| word.contains(model::guest::GOAL)), "{}", preset.name);
            assert!(
                preset.goes_on.is_empty()
                    || preset.goes_on.iter().any(|word| word.contains(model::guest::GOAL))
            );
            assert_eq!(check_hosts(&preset.hosts), Ok(()));
            assert!(!preset.install.is_empty() && !preset.key.environment.is_empty());
        }
    }

    #[test]
    fn a_command_line_is_parted_as_a_shell_parts_it_and_nothing_is_expanded() {
        let words = |line| apart(line).unwrap();
        assert_eq!(
            words("a  --b 'c d' \"e \\\" f\" g\\ h $HOME"),
            ["a", "--b", "c d", "e \" f", "g h", "$HOME"]
        );
        assert_eq!(words(" '' "), [""]);
        assert!(words("").is_empty());
        assert_eq!(apart("a 'b"), None);
    }

    #[test]
    fn what_is_not_here_is_said_with_how_to_install_it() {
        let asked = |agent: &str| Asked::Guest {
            agent: agent.to_owned(),
            hosts: Vec::new(),
            secrets: BTreeMap::new(),
            reads: Vec::new(),
            environment: BTreeMap::new(),
        };
        let error = chosen(&asked("no-such-agent --yes"), &BTreeMap::new()).unwrap_err();
        assert_eq!(error.code, Code::NotFound);
        assert!(error.hint.contains("aider, claude, codex"));
        assert_eq!(chosen(&asked("  "), &BTreeMap::new()).unwrap_err().code, Code::Usage);
        // Over the protocol its words are its own, and a preset that does not speak it says which do.
        let Reasoning::Guest { launch } = chosen(&asked("acp:sh -c true"), &BTreeMap::new()).unwrap() else {
            panic!()
        };
        assert_eq!(launch.argv("x", false).get(1..).unwrap(), ["-c", "true"]);
        assert!(launch.speaks_acp());
        let mut launch = launch;
        let aider = PRESETS.iter().find(|preset| preset.name == "aider");
        let error = by_acp(aider, &mut launch).unwrap_err();
        assert!(error.hint.contains("gemini") && error.hint.contains("--agent aider"), "{}", error.hint);
        // An own command line, without anything that a preset would add.
        let Reasoning::Guest { launch } = chosen(&asked("sh -c true"), &BTreeMap::new()).unwrap() else {
            panic!()
        };
        assert_eq!(launch.argv("x", false).get(1..).unwrap(), ["-c", "true", "x"]);
        assert!(launch.reads.is_empty() && launch.hosts.is_empty());
    }
}
