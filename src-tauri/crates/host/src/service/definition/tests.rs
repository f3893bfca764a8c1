//! Definitions word for word, and what stands in names of folders.

use super::*;

fn plain() -> ServiceTerms {
    ServiceTerms {
        program: "/usr/bin/hermit".to_owned(),
        store: "/home/ada/.local/share/hermit".to_owned(),
        passphrase_file: None,
        port: None,
        origin: None,
    }
}

fn odd() -> ServiceTerms {
    ServiceTerms {
        program: "/opt/100% \"ours\"/$x/hermit".to_owned(),
        store: r"/srv/a\b --> <c> & $HOME".to_owned(),
        passphrase_file: Some("/run/keys/vault".to_owned()),
        port: Some(8123),
        origin: Some("https://desk.example".to_owned()),
    }
}

#[test]
fn the_unit_of_systemd_stands_word_for_word() {
    let wanted = r#"# Written by `hermit service install`; `hermit service remove` takes it away.
# Hermit-Service: {"program":"/usr/bin/hermit","store":"/home/ada/.local/share/hermit"}
[Unit]
Description=Hermit
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
ExecStart="/usr/bin/hermit" "--home" "/home/ada/.local/share/hermit" "--no-input" "serve" "--service"
Restart=on-failure
RestartSec=10
RestartPreventExitStatus=2
TimeoutStopSec=90
KillMode=mixed
OOMPolicy=continue
UMask=0077

[Install]
WantedBy=default.target
"#;
    assert_eq!(written(System::Systemd, &plain(), ""), wanted);
    let text = written(System::Systemd, &odd(), "");
    let started = text.lines().find(|line| line.starts_with("ExecStart=")).unwrap();
    let wanted = r#"ExecStart="/opt/100%% \"ours\"/$x/hermit" "--home" "/srv/a\\b --> <c> & $$HOME" "--no-input" "serve" "--service" "--passphrase-file" "/run/keys/vault" "--port" "8123" "--origin" "https://desk.example""#;
    assert_eq!(started, wanted);
}

#[test]
fn the_agent_of_launchd_stands_word_for_word() {
    let wanted = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by `hermit service install`; `hermit service remove` takes it away. -->
<!-- Hermit-Service: {"program":"/usr/bin/hermit","store":"/home/ada/.local/share/hermit"} -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>io.github.hermit.serve</string>
	<key>ProgramArguments</key>
	<array>
		<string>/usr/bin/hermit</string>
		<string>--home</string>
		<string>/home/ada/.local/share/hermit</string>
		<string>--no-input</string>
		<string>serve</string>
		<string>--service</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>10</integer>
	<key>ExitTimeOut</key>
	<integer>90</integer>
	<key>Umask</key>
	<integer>63</integer>
</dict>
</plist>
"#;
    assert_eq!(written(System::Launchd, &plain(), ""), wanted);
    let text = written(System::Launchd, &odd(), "");
    assert!(text.contains("\t\t<string>/srv/a\\b --&gt; &lt;c&gt; &amp; $HOME</string>\n"), "{text}");
}

#[test]
fn the_task_of_windows_stands_word_for_word() {
    let terms = ServiceTerms {
        program: r"C:\Program Files\Hermit\hermit.exe".to_owned(),
        store: r"C:\Users\Ada L\AppData\Roaming\Hermit\".to_owned(),
        ..plain()
    };
    let wanted = r#"<?xml version="1.0" encoding="UTF-16"?>
<!-- Written by `hermit service install`; `hermit service remove` takes it away. -->
<!-- Hermit-Service: {"program":"C:\\Program Files\\Hermit\\hermit.exe","store":"C:\\Users\\Ada L\\AppData\\Roaming\\Hermit\\"} -->
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Hermit</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>DESK\Ada &amp; L</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>DESK\Ada &amp; L</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>10</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>C:\Program Files\Hermit\hermit.exe</Command>
      <Arguments>--home "C:\Users\Ada L\AppData\Roaming\Hermit\\" --no-input serve --service</Arguments>
    </Exec>
  </Actions>
</Task>
"#;
    assert_eq!(written(System::WindowsTask, &terms, r"DESK\Ada & L"), wanted);
    assert_eq!(windows_word(r#"a "b\" c"#), r#""a \"b\\\" c""#);
}

#[test]
fn every_definition_names_its_terms_and_what_hermit_did_not_write_names_none() {
    for system in [System::Systemd, System::Launchd, System::WindowsTask] {
        for terms in [plain(), odd()] {
            let text = written(system, &terms, "ada");
            assert_eq!(ServiceTerms::read(&text), Some(terms), "{text}");
            let comments: Vec<&str> = text.lines().filter(|line| line.starts_with("<!--")).collect();
            assert!(comments.iter().all(|line| line.matches("--").count() == 2), "{text}");
        }
    }
    for text in
        ["", "[Service]\nExecStart=/usr/bin/hermit serve\n", "# Hermit-Service: {}", "# Hermit-Service: x"]
    {
        assert_eq!(ServiceTerms::read(text), None, "{text}");
    }
}

#[test]
fn a_term_that_would_begin_a_line_of_its_own_is_refused() {
    assert_eq!(plain().check(), Ok(()));
    assert_eq!(odd().check(), Ok(()));
    let wrong = ServiceTerms { store: "/srv/a\nExecStart=/bin/false".to_owned(), ..plain() };
    assert!(wrong.check().unwrap_err().contains("store"));
    assert!(ServiceTerms { program: String::new(), ..plain() }.check().is_err());
}
