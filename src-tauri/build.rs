//! Who may ask for what: the names of the wire's table and of the shell's own commands become the access list, so
//! that what stands nowhere is refused. Which window has which of them stands in `capabilities/`.

#![allow(clippy::disallowed_methods, reason = "cargo tells a build script by its environment")]

#[path = "src/never.rs"]
mod never;

use never::NEVER;
use std::path::Path;
use std::{env, fs, io};
use wire::Access;

/// Commands of the shell itself, which no other surface has. What each does stands where it is defined.
const OWN: [&str; 27] = [
    "opened",
    "listen",
    "heed",
    "open_card",
    "open_keys",
    "open_override",
    "open_provider",
    "pick",
    "reveal",
    "save_place",
    "surfaces",
    "autostart",
    "subject",
    "shown",
    "press",
    "grant",
    "offers",
    "prepare_override",
    "allow_override",
    "make_keys",
    "unlock",
    "keep_key",
    "security_keys",
    "grant_by_key",
    "key_wants_touch",
    "leave_key",
    "leave",
];

fn main() {
    let built = pages().and_then(|()| permissions());
    let attributes = |sets: String| {
        let names = wire::COMMANDS.iter().map(|info| info.name.replace('.', "_"));
        let names: Vec<&'static str> = names.chain(OWN.map(str::to_owned)).map(leak).collect();
        let manifest =
            tauri_build::AppManifest::new().commands(names.leak()).permissions_path_pattern(leak(sets));
        tauri_build::Attributes::new().app_manifest(manifest)
    };
    let built = built.map_err(|e| e.to_string());
    let built = built.and_then(|sets| tauri_build::try_build(attributes(sets)).map_err(|e| format!("{e:#}")));
    if let Err(why) = built {
        println!("cargo::error={why}");
    }
}

/// A build script ends in a moment; what it leaks it would have kept as long.
fn leak(name: String) -> &'static str {
    name.leak()
}

/// The built pages are inside the program. Where they are not built yet, a page that says so takes their place.
fn pages() -> io::Result<()> {
    let dist = Path::new("../ui/dist");
    for page in ["index.html", "approval.html", "tray.html"] {
        println!("cargo::rerun-if-changed={}", dist.join(page).display());
        if !dist.join(page).exists() {
            fs::create_dir_all(dist)?;
            fs::write(
                dist.join(page),
                "<!doctype html><title>Hermit</title><p>Build the pages: npm run ui:build\n",
            )?;
        }
    }
    Ok(())
}

/// Writes the two sets that `capabilities/` speaks of; the pattern that finds them.
fn permissions() -> io::Result<String> {
    println!("cargo::rerun-if-changed=capabilities");
    println!("cargo::rerun-if-changed=isolation");
    let dir = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join("sets");
    fs::create_dir_all(&dir)?;
    let set = |name: &str, about: &str, of: fn(Access) -> bool| {
        let rows = wire::COMMANDS.iter().filter(|info| of(info.access) && !NEVER.contains(&info.name));
        let allowed: Vec<String> =
            rows.map(|info| format!("allow-{}", info.name.replace(['.', '_'], "-"))).collect();
        format!("[[set]]\nidentifier = \"{name}\"\ndescription = \"{about}\"\npermissions = {allowed:?}\n\n")
    };
    let sets =
        set("reads", "Commands that only read.", |access| matches!(access, Access::read | Access::free))
            + &set("changes", "Commands that change something and grant nothing.", |access| {
                matches!(access, Access::write | Access::person | Access::surface)
            });
    fs::write(dir.join("wire.toml"), sets)?;
    Ok(dir.join("*.toml").to_string_lossy().into_owned())
}
