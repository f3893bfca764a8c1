//! What only a person does: there is no tool for it, and whoever asks is told the command.

/// Words in the name of what was asked for, and the command that a person has for it.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["approve", "allow", "confirm", "permit"], "hermit approvals approve"),
    (&["deny", "reject"], "hermit approvals deny"),
    (&["grant", "standing"], "hermit grants"),
    (&["classify", "policy", "permission"], "hermit policy"),
    (&["register", "config", "setting"], "hermit tools"),
    (&["erase", "forget"], "hermit erase"),
    (&["secret", "key", "password", "token"], "hermit secret"),
    (&["boot", "unhalt"], "hermit boot"),
    (&["unlock"], "hermit unlock"),
];

/// What is said to an agent that calls a tool which is not there.
pub fn no_such_tool(name: &str, known: &[String]) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
    let asked = name.to_ascii_lowercase();
    let is_asked = |words: &[&str]| words.iter().any(|word| asked.contains(word));
    match COMMANDS.iter().find(|(words, _)| is_asked(words)) {
        Some((_, command)) => {
            format!("only a person can do that, at this machine: `{command}`. No tool does, and none will")
        }
        None => format!("there is no tool `{name}`; there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::no_such_tool;

    #[test]
    fn whoever_asks_for_what_a_person_does_is_told_the_command() {
        for (name, command) in [
            ("approve_action", "hermit approvals approve"),
            ("Grant", "hermit grants"),
            ("classify_tool", "hermit policy"),
            ("erase_task", "hermit erase"),
            ("read_secret", "hermit secret"),
        ] {
            let told = no_such_tool(name, &[]);
            assert!(told.contains("only a person") && told.contains(command), "{told}");
        }
        assert_eq!(no_such_tool("fly\n", &["read".to_owned()]), "there is no tool `fly`; there are read");
    }
}
