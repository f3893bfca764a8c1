//! What lock files name, and what stands against it: packages that come from elsewhere than their registry, licences that are not
//! permitted, crates that a rule keeps out or has only once.
//!
//! It needs the standard library alone: the workshop reads this file, too. Locks are read line by line, as cargo and npm write them.

use super::foreign::is_permitted;
use std::collections::BTreeMap;

/// The one registry of crates.
const OF_CARGO: &str = concat!("registry+https://github.com/rust-lang/", "crates", ".io-index");
/// What stands before a package's name in a lock of npm.
const MODULES: &str = "node_modules/";

/// A package that a lock names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name, with its scope where it has one.
    pub name: String,
    /// Its version; empty where the lock tells none.
    pub version: String,
    /// Where cargo has it from; none for a room of ours, and in a lock of npm.
    pub source: Option<String>,
    /// What its manifest says of its licence; only a lock of npm tells that.
    pub licence: Option<String>,
    /// Its path below the lock's folder, in a lock of npm.
    pub place: String,
    /// Whether its bytes are held to a digest.
    pub is_digested: bool,
    /// Whether building and testing alone need it; only a lock of npm tells that.
    pub only_to_build: bool,
}

/// The packages of a lock of cargo, rooms of ours among them, in the order of the lock.
pub fn of_cargo(lock: &str) -> Vec<Package> {
    let mut found: Vec<Package> = Vec::new();
    for line in lock.lines() {
        if line == "[[package]]" {
            found.push(Package::default());
            continue;
        }
        let Some((key, value)) = line.split_once(" = ") else { continue };
        let Some(package) = found.last_mut() else { continue };
        let value = value.trim_matches('"').to_owned();
        match key {
            "name" => package.name = value,
            "version" => package.version = value,
            "source" => package.source = Some(value),
            "checksum" => package.is_digested = true,
            _ => {}
        }
    }
    found.retain(|package| !package.name.is_empty());
    found
}

/// The packages of a lock of npm, in the order of the lock, each as often as it is installed.
pub fn of_npm(lock: &str) -> Vec<Package> {
    let mut found: Vec<Package> = Vec::new();
    // What is nested deeper than a package's own words is none of them.
    let mut is_inside = false;
    for line in lock.lines() {
        if let Some(place) = line.strip_prefix("    \"").and_then(|rest| rest.strip_suffix("\": {")) {
            is_inside = place.contains(MODULES);
            if is_inside {
                let name = place.rsplit(MODULES).next().unwrap_or_default().to_owned();
                found.push(Package { name, place: place.to_owned(), ..Package::default() });
            }
            continue;
        }
        let word =
            line.strip_prefix("      \"").filter(|_| is_inside).and_then(|rest| rest.split_once("\": "));
        let (Some((key, value)), Some(package)) = (word, found.last_mut()) else { continue };
        let value = value.trim_end_matches(',');
        let text = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(str::to_owned);
        match key {
            "version" => package.version = text.unwrap_or_default(),
            "license" => package.licence = text,
            "integrity" => package.is_digested = text.is_some(),
            "dev" | "devOptional" => package.only_to_build |= value == "true",
            _ => {}
        }
    }
    found
}

/// What is known and ruled of packages.
#[derive(Debug, Default)]
pub struct Rules<'a> {
    /// Licences of crates, by name.
    licences: BTreeMap<&'a str, &'a str>,
    /// Crates that a program may have only once, and why.
    once: BTreeMap<&'a str, &'a str>,
    /// Packages that no program has, and why.
    never: BTreeMap<&'a str, &'a str>,
    /// Packages whose manifest names a file in the place of a licence, with what that file says.
    read: BTreeMap<&'a str, &'a str>,
}

/// A list of two columns: name and what is said of it.
fn listed(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'))
}

impl<'a> Rules<'a> {
    /// The rules of two lists: `licences` has `NAME<TAB>LICENCE` a line, `rules` has `once`, `never` or `read`, a name and the reason.
    ///
    /// # Errors
    /// The line of `rules` that is none of them or has no reason.
    pub fn read(licences: &'a str, rules: &'a str) -> Result<Self, String> {
        let mut found = Self { licences: listed(licences).collect(), ..Self::default() };
        for line in rules.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let mut columns = line.split('\t');
            let row = (columns.next(), columns.next(), columns.next(), columns.next());
            let (Some(kind), Some(name), Some(why), None) = row else {
                return Err(format!("`{line}` is no rule: a kind, a name and a reason, with tabs between"));
            };
            let list = match kind {
                "once" => &mut found.once,
                "never" => &mut found.never,
                "read" => &mut found.read,
                _ => return Err(format!("`{line}` is no rule: it begins with once, never or read")),
            };
            if name.is_empty() || why.is_empty() || list.insert(name, why).is_some() {
                return Err(format!("`{line}` is no rule: it lacks its name or its reason, or stands twice"));
            }
        }
        Ok(found)
    }

    /// The licence of a crate, where the list has one.
    pub fn licence(&self, name: &str) -> Option<&'a str> {
        self.licences.get(name).copied()
    }

    /// Names of crates that the list of licences has.
    pub fn licensed(&self) -> impl Iterator<Item = &'a str> {
        self.licences.keys().copied()
    }

    /// Names of rules that speak of crates which have to be there: those that may be there once.
    pub fn once(&self) -> impl Iterator<Item = &'a str> {
        self.once.keys().copied()
    }

    /// What stands against the lock at `path`, one sentence each; nothing where the path is that of no lock.
    pub fn against(&self, path: &str, lock: &str) -> Vec<String> {
        let found = match path.rsplit('/').next() {
            Some("Cargo.lock") => self.against_cargo(&of_cargo(lock)),
            Some("package-lock.json") => self.against_npm(&of_npm(lock), lock),
            _ => Vec::new(),
        };
        found.into_iter().map(|what| format!("{path}: {what}")).collect()
    }

    fn against_cargo(&self, packages: &[Package]) -> Vec<String> {
        let mut found = Vec::new();
        if packages.is_empty() {
            found.push("no crate can be read in it".to_owned());
        }
        let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for package in packages {
            let (name, version) = (package.name.as_str(), package.version.as_str());
            versions.entry(name).or_default().push(version);
            let Some(source) = &package.source else { continue };
            if source != OF_CARGO {
                found
                    .push(format!("the crate `{name}` is no package of the registry: it is from `{source}`"));
            } else if !package.is_digested {
                found.push(format!("the crate `{name}` has no digest"));
            }
            if let Some(why) = self.never.get(name) {
                found.push(format!("the crate `{name}` may not be depended on: {why}"));
            }
            match self.licence(name) {
                None => found.push(format!("the list of licences has no line for the crate `{name}`")),
                Some(licence) if !is_permitted(licence) => {
                    found.push(format!("the crate `{name}` is under {licence}, which is not permitted"));
                }
                Some(_) => {}
            }
        }
        for (name, all) in versions.iter().filter(|(_, all)| all.len() > 1) {
            if let Some(why) = self.once.get(name) {
                found.push(format!("the crate `{name}` is there as {}: {why}", all.join(" and ")));
            }
        }
        found
    }

    fn against_npm(&self, packages: &[Package], lock: &str) -> Vec<String> {
        let mut found = Vec::new();
        if packages.is_empty() && lock.contains(MODULES) {
            found.push("its packages cannot be read; npm writes one word of a package a line".to_owned());
        }
        for package in packages {
            let name = package.name.as_str();
            let licence = package.licence.as_deref().unwrap_or("no licence");
            if !is_permitted(licence) && !self.read.contains_key(name) {
                found.push(format!("`{name}` is under {licence}, which is not permitted"));
            }
            if let Some(why) = self.never.get(name) {
                found.push(format!("`{name}` may not be depended on: {why}"));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str, &str)]) -> String {
        let one = |(name, version, rest): &(&str, &str, &str)| {
            format!(
                "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{rest}dependencies = [\n \"x\",\n]\n\n"
            )
        };
        format!("version = 4\n\n{}", packages.iter().map(one).collect::<String>())
    }

    fn registered() -> String {
        format!("source = \"{OF_CARGO}\"\nchecksum = \"ab\"\n")
    }

    const LICENCES: &str = "# name, licence\na\tMIT\nb\tGPL-3.0-only\n";
    const RULES: &str =
        "# kind, name, why\nonce\ta\ttwo would not speak to each other\nnever\tc\tit brings C along\n";

    #[test]
    fn each_thing_that_stands_against_a_crate_is_found_and_a_room_of_ours_is_none() {
        let rules = Rules::read(LICENCES, RULES).expect("rules");
        let from = registered();
        let from = from.as_str();
        let clean = lock(&[("a", "1.0.0", from), ("hermit", "0.1.0", "")]);
        assert_eq!(rules.against("x/Cargo.lock", &clean), Vec::<String>::new());
        let git = "source = \"git+https://example.test/a\"\n";
        let undigested = format!("source = \"{OF_CARGO}\"\n");
        for (packages, says) in [
            (vec![("a", "1.0.0", git)], "x/Cargo.lock: the crate `a` is no package of the registry"),
            (vec![("a", "1.0.0", undigested.as_str())], "`a` has no digest"),
            (vec![("a", "1.0.0", from), ("a", "2.0.0", from)], "`a` is there as 1.0.0 and 2.0.0: two"),
            (vec![("b", "1.0.0", from)], "`b` is under GPL-3.0-only"),
            (vec![("c", "1.0.0", from)], "`c` may not be depended on: it brings C along"),
            (vec![("d", "1.0.0", from)], "no line for the crate `d`"),
            (vec![], "no crate can be read"),
        ] {
            let found = rules.against("x/Cargo.lock", &lock(&packages));
            assert!(found.iter().any(|found| found.contains(says)), "{says}: {found:?}");
        }
    }

    const NPM: &str = "{\n  \"packages\": {\n    \"\": {\n      \"license\": \"GPL-3.0-only\"\n    },\n    \
        \"node_modules/@x/y\": {\n      \"version\": \"2.0.0\",\n      \"integrity\": \"sha512-aa\",\n      \"license\": \"MIT\",\n      \
        \"dependencies\": {\n        \"license\": \"^1.0.0\"\n      }\n    },\n    \
        \"node_modules/@x/y/node_modules/z\": {\n      \"version\": \"1.0.0\",\n      \"dev\": true,\n      \
        \"license\": \"SEE LICENSE IN LICENSE\"\n    }\n  }\n}\n";

    #[test]
    fn a_lock_of_npm_is_read_and_a_licence_that_is_a_file_needs_a_line() {
        let packages = of_npm(NPM);
        let told: Vec<_> = packages
            .iter()
            .map(|one| (one.name.as_str(), one.version.as_str(), one.licence.as_deref(), one.only_to_build))
            .collect();
        assert_eq!(
            told,
            [("@x/y", "2.0.0", Some("MIT"), false), ("z", "1.0.0", Some("SEE LICENSE IN LICENSE"), true)]
        );
        assert!(packages.iter().any(|one| one.place == "node_modules/@x/y" && one.is_digested));
        let found = Rules::default().against("package-lock.json", NPM);
        assert!(
            found.len() == 1 && found.iter().all(|found| found.contains("`z` is under SEE")),
            "{found:?}"
        );
        let read = Rules::read("", "read\tz\tMIT\n").expect("rules");
        assert_eq!(read.against("package-lock.json", NPM), Vec::<String>::new());
        let dense = NPM.replace('\n', "");
        let found = read.against("package-lock.json", &dense);
        assert!(found.iter().any(|found| found.contains("cannot be read")), "{found:?}");
    }

    #[test]
    fn a_line_that_is_no_rule_is_refused() {
        for odd in [
            "once\ta",
            "once\ta\twhy\tmore",
            "often\ta\twhy",
            "never\t\twhy",
            "never\ta\t",
            "once\ta\tx\nonce\ta\ty",
        ] {
            assert!(Rules::read("", odd).is_err(), "{odd}");
        }
    }
}
