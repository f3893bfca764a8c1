//! The list of components of a release (SBOM), in CycloneDX 1.6, and whether it names what the lock files name.

use super::locks::{OURS, Package, Packages};
use super::statement::{Lockfile, MadeOf};
use crate::time;
use seal::Digest;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FORMAT: &str = "CycloneDX";
const VERSION: &str = "1.6";
/// The property of a component that names a lock file in which it stands.
const LOCK: &str = "hermit:lockfile";
/// The property of the whole that has the digest of a lock file; its path stands behind.
const LOCK_SHA256: &str = "hermit:lockfile:sha256:";

/// A lock file's path and digest, and the packages that it names.
pub(crate) type Read = (String, Digest, Packages);

/// Each package once, with the lock files in which it stands.
fn merged(locks: &[Read]) -> BTreeMap<&str, (Package, Vec<&str>)> {
    let mut merged: BTreeMap<&str, (Package, Vec<&str>)> = BTreeMap::new();
    for (path, _, packages) in locks {
        for (purl, package) in packages {
            let (one, paths) = merged.entry(purl).or_insert_with(|| (package.clone(), Vec::new()));
            one.only_to_build &= package.only_to_build;
            paths.push(path);
        }
    }
    merged
}

/// The licence of a package: what its lock says, or what is known of its name.
fn licence(package: &Package, known: &BTreeMap<String, String>) -> Option<String> {
    let said = package.licence.as_ref().or_else(|| known.get(&package.name))?;
    Some(expression(said))
}

/// A licence as an expression of SPDX: older manifests put a stroke between those that one may choose from.
fn expression(said: &str) -> String {
    said.replace('/', " OR ")
}

/// The list as it is written. `licences` are those of crates, by name.
pub(crate) fn made(
    of: &MadeOf,
    locks: &[Read],
    licences: &BTreeMap<String, String>,
) -> Result<Vec<u8>, serde_json::Error> {
    let property = |name: &str, value: &str| json!({ "name": name, "value": value });
    let component = |(purl, (package, paths)): (&str, (Package, Vec<&str>))| {
        let mut one = json!({
            "type": "library", "bom-ref": purl, "purl": purl, "name": package.name, "version": package.version,
            "scope": if package.only_to_build { "excluded" } else { "required" },
            "properties": paths.iter().map(|path| property(LOCK, path)).collect::<Vec<_>>(),
        });
        if let Some(members) = one.as_object_mut() {
            if let Some(said) = licence(&package, licences) {
                members.insert("licenses".to_owned(), json!([{ "expression": said }]));
            }
            if let Some((algorithm, hex)) = package.digest {
                members.insert("hashes".to_owned(), json!([{ "alg": algorithm, "content": hex }]));
            }
        }
        one
    };
    let digests =
        locks.iter().map(|(path, sha256, _)| property(&format!("{LOCK_SHA256}{path}"), &sha256.to_string()));
    let list = json!({
        "bomFormat": FORMAT, "specVersion": VERSION, "version": 1,
        "metadata": {
            "timestamp": time::rfc3339(of.committed_at),
            "component": {
                "type": "application", "bom-ref": "hermit", "name": "hermit", "version": of.version,
                "licenses": [{ "expression": OURS }],
            },
            "properties": digests.collect::<Vec<Value>>(),
        },
        "components": merged(locks).into_iter().map(component).collect::<Vec<Value>>(),
    });
    let mut bytes = serde_json::to_vec_pretty(&list)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The licences as a person reads them: one package a line.
pub(crate) fn licences_text(locks: &[Read], licences: &BTreeMap<String, String>) -> String {
    let line = |(purl, (package, _)): (&str, (Package, Vec<&str>))| {
        let said = licence(&package, licences);
        format!("{purl}\t{}\n", said.as_deref().unwrap_or("no licence is named"))
    };
    let lines: String = merged(locks).into_iter().map(line).collect();
    format!("Packages of this release and the licence that each says of itself.\n\n{lines}")
}

#[derive(Deserialize)]
struct Bom {
    #[serde(rename = "bomFormat")]
    format: String,
    #[serde(rename = "specVersion")]
    version: String,
    metadata: Metadata,
    components: Vec<Component>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Component {
    purl: String,
    name: String,
    version: String,
    #[serde(default)]
    licenses: Vec<Licence>,
    #[serde(default)]
    hashes: Vec<Hash>,
    #[serde(default)]
    properties: Vec<Property>,
}

#[derive(Deserialize)]
struct Licence {
    expression: Option<String>,
}

#[derive(Deserialize)]
struct Hash {
    alg: String,
    content: String,
}

#[derive(Deserialize)]
struct Property {
    name: String,
    value: String,
}

/// What a component says otherwise than the lock in which it stands: of licence and digest only where the lock tells them.
fn differs(component: &Component, package: &Package) -> Option<&'static str> {
    let Component { name, version, licenses, hashes, .. } = component;
    let is_licence = |said: &str| match licenses.as_slice() {
        [one] => one.expression.as_deref() == Some(expression(said).as_str()),
        _ => false,
    };
    let is_digest = |algorithm: &str, hex: &str| match hashes.as_slice() {
        [one] => one.alg == algorithm && one.content == hex,
        _ => false,
    };
    if *name != package.name {
        Some("name")
    } else if *version != package.version {
        Some("version")
    } else if package.licence.as_deref().is_some_and(|said| !is_licence(said)) {
        Some("licence")
    } else if package.digest.as_ref().is_some_and(|(algorithm, hex)| !is_digest(algorithm, hex)) {
        Some("digest")
    } else {
        None
    }
}

/// What is wrong with the components that are listed for a lock file; nothing where they are what it names.
fn wrong(listed: &BTreeMap<&str, &Component>, path: &str, packages: &Packages) -> Option<String> {
    for (purl, package) in packages {
        let Some(component) = listed.get(purl.as_str()) else {
            return Some(format!("it leaves out `{purl}` of `{path}`"));
        };
        if let Some(what) = differs(component, package) {
            return Some(format!("it has another {what} of `{purl}` than `{path}`"));
        }
    }
    let more = listed.keys().find(|purl| !packages.contains_key(**purl));
    more.map(|more| format!("it names `{more}`, which is not in `{path}`"))
}

/// How many components the list names, once it names exactly those of these lock files, as they do; else what is wrong.
pub(crate) fn checked(bytes: &[u8], lockfiles: &[Lockfile], locks: &[Read]) -> Result<u64, String> {
    let bom: Bom =
        serde_json::from_slice(bytes).map_err(|e| format!("it is not a list of components: {e}"))?;
    if (bom.format.as_str(), bom.version.as_str()) != (FORMAT, VERSION) {
        return Err(format!("it is not {FORMAT} {VERSION}"));
    }
    let mut named: BTreeMap<&str, BTreeMap<&str, &Component>> = BTreeMap::new();
    for component in &bom.components {
        let paths = component.properties.iter().filter(|property| property.name == LOCK);
        let mut count = 0;
        for path in paths.map(|property| property.value.as_str()) {
            count += 1;
            if named.entry(path).or_default().insert(&component.purl, component).is_some() {
                return Err(format!("`{}` stands in it twice", component.purl));
            }
        }
        if count == 0 {
            return Err(format!("`{}` stands in no lock file", component.purl));
        }
    }
    for lock in lockfiles {
        let name = format!("{LOCK_SHA256}{}", lock.path);
        let mut digests = bom.metadata.properties.iter().filter(|property| property.name == name);
        if digests.next().is_none_or(|property| property.value != lock.sha256.to_string()) {
            return Err(format!("it was made of another `{}`", lock.path));
        }
    }
    for (path, _, packages) in locks {
        let listed = named.remove(path.as_str()).unwrap_or_default();
        if let Some(why) = wrong(&listed, path, packages) {
            return Err(why);
        }
    }
    match named.keys().next() {
        Some(path) => Err(format!("it names the lock file `{path}`, which the release does not have")),
        None => Ok(bom.components.len() as u64),
    }
}
