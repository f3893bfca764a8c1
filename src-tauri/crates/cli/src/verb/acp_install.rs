//! `hermit acp install`: Hermit in the settings of an editor. The exact change is shown, and made after a yes.

use super::Came;
use super::mcp_install::{Program, change, home, own_program};
use crate::args::{AcpInstall, AcpUninstall};
use crate::context::Context;
use crate::other_programs::SYSTEM;
use crate::output::table;
use mcp::clients::System;
use mcp::edit::{self, Format};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use wire::{Code, Error, exit};

/// An editor that keeps agents in a file of settings.
struct Editor {
    name: &'static str,
    title: &'static str,
    /// The member that holds agents by name.
    holder: &'static str,
    /// Its file below the person's home folder: Linux and macOS, Windows.
    files: [&'static str; 2],
}

/// All that are known.
const ALL: [Editor; 1] = [Editor {
    name: "zed",
    title: "Zed",
    holder: "agent_servers",
    files: [".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"],
}];

impl Editor {
    fn program(&self) -> Result<Program, Error> {
        let [elsewhere, windows] = self.files;
        let file = if SYSTEM == System::Windows { windows } else { elsewhere };
        let (name, title) = (self.name, self.title);
        Ok(Program { name, title, file: home()?.join(file), command: "hermit acp install" })
    }
}

/// `hermit acp install`.
pub fn install(context: &Context, args: &AcpInstall) -> Came {
    let Some(name) = &args.editor else { return list(context) };
    let editor = known(name)?;
    let command = own_program()?;
    let mut words = vec!["acp".to_owned()];
    for (option, value) in [("--model", &args.model), ("--profile", &args.profile)] {
        words.extend(value.iter().flat_map(|value| [option.to_owned(), value.clone()]));
    }
    let entry: Value = json!({ "type": "custom", "command": command, "args": words, "env": {} });
    change(context, &editor.program()?, args.print, |text| {
        edit::install(Format::Json, text, editor.holder, &entry).map_err(|why| {
            Error::new(Code::Failed, why).hint(format!("add this to `{}` yourself: {entry}", editor.holder))
        })
    })
}

/// `hermit acp uninstall`.
pub fn uninstall(context: &Context, args: &AcpUninstall) -> Came {
    let editor = known(&args.editor)?;
    change(context, &editor.program()?, args.print, |text| {
        edit::uninstall(Format::Json, text, editor.holder).map_err(|why| Error::new(Code::Failed, why))
    })
}

fn known(name: &str) -> Result<&'static Editor, Error> {
    ALL.iter().find(|editor| editor.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|editor| editor.name).collect();
        Error::new(Code::NotFound, format!("the editor `{name}` is not known here")).hint(format!(
            "there is {}; any other that speaks the Agent Client Protocol is given the command `hermit acp`",
            names.join(", ")
        ))
    })
}

fn list(context: &Context) -> Came {
    #[derive(Serialize)]
    struct Known {
        editor: &'static str,
        title: &'static str,
        file: PathBuf,
        is_there: bool,
    }
    let known = |editor: &Editor| -> Result<Known, Error> {
        let program = editor.program()?;
        let is_there = program.file.is_file();
        Ok(Known { editor: editor.name, title: editor.title, file: program.file, is_there })
    };
    let all = ALL.iter().map(known).collect::<Result<Vec<_>, _>>()?;
    context.out.answer(&all, |out, all| {
        let row = |one: &Known| {
            let there = if one.is_there { "" } else { "not there yet" };
            vec![
                one.editor.to_owned(),
                one.title.to_owned(),
                one.file.display().to_string(),
                there.to_owned(),
            ]
        };
        table(out, &["NAME", "EDITOR", "FILE", ""], &all.iter().map(row).collect::<Vec<_>>());
    })?;
    Ok(exit::DONE)
}
