use super::keys::{Key, Scroll};
use super::view::{Head, Pressed, View};
use crate::card::difference;
use crate::output::{Row, Tone};
use crate::terminal::{Echo, Typed};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Style;

const QUESTION: &str = "Approve? (y)es, (n)o, stop, part, always, later, details: ";
const STAKES: &str = "High risk · DELETES 2 files · REPLACES 1 file · creates 1 file";

fn view(colour: bool) -> View {
    let [title, folder, model] =
        ["Tidy the notes", "/home/me/notes", "openai:http://127.0.0.1:8080/v1#qwen"].map(str::to_owned);
    View::new(Head { title, folder, model }, colour)
}

fn plain(text: &str) -> Row {
    (Tone::Plain, text.to_owned())
}

fn asking(view: &mut View) {
    view.ask(Some((Tone::Bad, STAKES.to_owned())), QUESTION, Echo::Words(&["y", "no"]));
}

/// A terminal of this size with the view on it.
fn drawn(view: &mut View, (columns, rows): (u16, u16)) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| view.draw(frame)).unwrap();
    terminal
}

fn lines(terminal: &Terminal<TestBackend>) -> Vec<String> {
    let buffer = terminal.backend().buffer();
    let row = |cells: &[ratatui::buffer::Cell]| cells.iter().map(|cell| cell.symbol()).collect::<String>();
    buffer
        .content()
        .chunks(usize::from(buffer.area.width))
        .map(|cells| row(cells).trim_end().to_owned())
        .collect()
}

/// A text of forty lines, changed at three places, as a card shows it.
fn hunks() -> Vec<Row> {
    let before: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let after =
        before.replace("line 4\n", "").replace("line 20\n", "line 20\nmore\n").replace("line 40", "end");
    difference(&before, &after)
}

#[test]
fn a_card_stands_between_its_task_and_its_question() {
    let mut view = view(true);
    view.card(hunks());
    asking(&mut view);
    let mut terminal = drawn(&mut view, (80, 24));
    let shown = lines(&terminal);
    assert_eq!(shown[0], "Tidy the notes");
    assert_eq!(shown[1], "/home/me/notes · openai:http://127.0.0.1:8080/v1#qwen");
    assert_eq!(shown[4], "      hunk 1 of 3  @@ -1,7 +1,6 @@");
    assert_eq!(shown[8], "      -line 4");
    assert!(shown[21].starts_with("── lines 1 to 17 of "), "{shown:#?}");
    assert_eq!(shown[22], STAKES);
    assert_eq!(shown[23], QUESTION.trim_end());
    terminal.backend_mut().assert_cursor_position((QUESTION.len() as u16, 23));
    let styles: Vec<Style> = terminal.backend().buffer().content().iter().map(|cell| cell.style()).collect();
    assert!(styles.iter().any(|style| style.fg == Some(ratatui::style::Color::Red)));
}

#[test]
fn without_colour_nothing_has_a_style() {
    let mut view = view(false);
    view.card(hunks());
    asking(&mut view);
    view.remark((Tone::Warn, "Enter alone decides nothing.".to_owned()));
    let terminal = drawn(&mut view, (80, 24));
    let plain = ratatui::buffer::Cell::EMPTY.style();
    assert!(terminal.backend().buffer().content().iter().all(|cell| cell.style() == plain));
}

#[test]
fn forty_columns_hold_the_whole_question_and_every_line_of_a_card() {
    let long = format!("      +{}", "0123456789".repeat(12));
    let mut card = hunks();
    card.push(plain(&long));
    let mut view = view(true);
    view.card(card.clone());
    asking(&mut view);
    let mut seen = String::new();
    loop {
        let shown = lines(&drawn(&mut view, (40, 24)));
        let foot = shown[18..].join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(foot.contains(STAKES) && foot.ends_with(QUESTION.trim_end()), "{foot}");
        let rule = shown.iter().rposition(|line| line.starts_with("──")).unwrap();
        shown[4..rule].iter().for_each(|line| seen.push_str(&format!("{line}\n")));
        if !shown[rule].contains("PgDn") {
            break;
        }
        view.press(Key::Scroll(Scroll::PageDown));
    }
    for (_, line) in &card[..card.len() - 1] {
        assert!(seen.contains(&format!("{}\n", line.trim_end())), "{line} in\n{seen}");
    }
    let joined: String = seen.replace("\n      ↳ ", "");
    assert!(joined.contains(&long), "{seen}");
}

#[test]
fn a_long_difference_is_scrolled_from_its_first_line_to_its_last() {
    let text: String = (1..=5_000).map(|n| format!("line {n}\n")).collect();
    let mut view = view(true);
    view.card(difference("", &text));
    asking(&mut view);
    let shown = lines(&drawn(&mut view, (80, 24)));
    assert!(shown.contains(&"      +line 1".to_owned()) && !shown.contains(&"      +line 30".to_owned()));
    view.press(Key::Scroll(Scroll::PageDown));
    let shown = lines(&drawn(&mut view, (80, 24)));
    assert_eq!(shown[4], "      +line 16", "a page leaves one line in sight");
    view.press(Key::Scroll(Scroll::Last));
    let shown = lines(&drawn(&mut view, (80, 24)));
    assert_eq!(shown[20], "      +line 5000");
    assert_eq!(shown[21].trim_end_matches('─'), "── lines 4985 to 5001 of 5001 ");
    // Another size loses neither the place nor the end.
    let shown = lines(&drawn(&mut view, (40, 30)));
    assert!(shown.contains(&"      +line 5000".to_owned()), "{shown:#?}");
    view.press(Key::Scroll(Scroll::First));
    assert!(lines(&drawn(&mut view, (40, 30))).contains(&"      +line 1".to_owned()));
}

#[test]
fn no_word_of_a_model_a_file_or_a_person_is_a_command_to_the_terminal() {
    let hostile = "x\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}gpj\u{200b}\r\n\u{8}合\t\u{feff}";
    let head = Head { title: hostile.into(), folder: hostile.into(), model: hostile.into() };
    let mut view = View::new(head, true);
    view.add((Tone::Plain, hostile.to_owned()));
    view.note(hostile);
    let mut sizes = vec![(1, 1), (2, 3), (7, 9), (40, 12), (80, 24), (200, 60)];
    let check = |view: &mut View, size| {
        let terminal = drawn(view, size);
        for cell in terminal.backend().buffer().content() {
            let bad = |c: char| c.is_control() || model::visible::is_hidden(c);
            assert!(!cell.symbol().chars().any(bad), "{:?} at {size:?}", cell.symbol());
        }
        lines(&terminal).concat()
    };
    for size in sizes.clone() {
        check(&mut view, size);
    }
    view.card(vec![(Tone::Bad, format!("      +{hostile}")), plain(hostile)]);
    view.show(vec![plain(hostile)]);
    view.remark(plain(hostile));
    view.ask(Some(plain(hostile)), hostile, Echo::Shown);
    "a\u{202e}b\u{200b}".chars().for_each(|c| drop(view.press(Key::Char(c))));
    for size in sizes.drain(..) {
        let shown = check(&mut view, size);
        assert!(size.0 < 80 || shown.contains("\\u{1b}[2J"), "it is written out: {shown}");
    }
}

#[test]
fn a_passphrase_is_never_on_the_screen_and_stays_on_none_where_a_word_was_asked() {
    let mut view = view(true);
    let mut kind = |echo| {
        view.ask(None, "Approval passphrase: ", echo);
        "hunter two".chars().for_each(|c| drop(view.press(Key::Char(c))));
        let shown = lines(&drawn(&mut view, (80, 24))).concat();
        let Some(Pressed::Answer(Typed::Line(typed))) = view.press(Key::Enter) else { panic!("no answer") };
        assert_eq!(typed.as_str(), "hunter two");
        view.asked(Some(&Typed::Line(typed)), echo);
        let after = lines(&drawn(&mut view, (80, 24))).concat();
        (shown, after)
    };
    let (shown, after) = kind(Echo::Hidden);
    assert!(shown.contains("Approval passphrase:") && !shown.contains("hunt") && !shown.contains('•'));
    assert!(!after.contains("hunt"));
    let (shown, after) = kind(Echo::Words(&["yes", "high"]));
    assert!(shown.contains("h••••••••") && !shown.contains("hu") && !after.contains("hunt"), "{shown}");
    let (shown, after) = kind(Echo::Shown);
    assert!(shown.contains("hunter two") && after.contains("> hunter two"), "the person's own words stay");
}

#[test]
fn where_what_is_at_stake_does_not_fit_nothing_is_answered() {
    let mut view = view(true);
    view.card(hunks());
    asking(&mut view);
    view.press(Key::Char('y'));
    let shown = lines(&drawn(&mut view, (20, 6))).join(" ");
    assert!(shown.contains("Make this terminal") && !shown.contains("Approve?"), "{shown}");
    assert!(view.press(Key::Enter).is_none());
    // However much was said and typed, the stakes stay.
    (0..40).for_each(|n| view.remark(plain(&format!("remark {n}"))));
    (0..2_000).for_each(|_| drop(view.press(Key::Char('x'))));
    let shown = lines(&drawn(&mut view, (40, 12)));
    assert!(shown.join(" ").contains("High risk · DELETES 2 files"), "{shown:#?}");
    assert!(matches!(view.press(Key::Enter), Some(Pressed::Answer(Typed::Line(_)))));
    asking(&mut view);
    drawn(&mut view, (20, 6));
    assert!(
        matches!(view.press(Key::Interrupt), Some(Pressed::Answer(Typed::Nothing))),
        "who leaves may leave"
    );
}

#[test]
fn keys_type_leave_and_interrupt_and_the_story_is_followed() {
    let mut view = view(true);
    (1..=50).for_each(|n| view.add(plain(&format!("act {n}"))));
    let shown = lines(&drawn(&mut view, (80, 24)));
    assert!(
        shown.contains(&"act 50".to_owned()) && shown[23].starts_with("Esc or Ctrl-C pauses"),
        "{shown:#?}"
    );
    assert!(matches!(view.press(Key::Interrupt), Some(Pressed::Interrupt)));
    assert!(
        view.press(Key::Char('y')).is_none()
            && view.press(Key::Enter).is_none()
            && view.press(Key::End).is_none()
    );
    view.press(Key::Scroll(Scroll::First));
    view.add(plain("act 51"));
    assert!(lines(&drawn(&mut view, (80, 24))).contains(&"act 1".to_owned()));
    asking(&mut view);
    "nope".chars().for_each(|c| drop(view.press(Key::Char(c))));
    view.press(Key::Back);
    view.press(Key::Clear);
    view.press(Key::Char('n'));
    assert!(
        matches!(view.press(Key::Enter), Some(Pressed::Answer(Typed::Line(line))) if line.as_str() == "n")
    );
    asking(&mut view);
    assert!(matches!(view.press(Key::Interrupt), Some(Pressed::Answer(Typed::Nothing))));
    assert!(matches!(view.press(Key::End), Some(Pressed::Answer(Typed::Nothing))));
    // More than fits is not typed.
    (0..5_000).for_each(|_| drop(view.press(Key::Char('合'))));
    let Some(Pressed::Answer(Typed::Line(line))) = view.press(Key::Enter) else { panic!("no answer") };
    assert!(line.len() <= 4_096, "{}", line.len());
}

/// On a terminal that a test has in its hand.
#[cfg(unix)]
mod held {
    use super::super::hold::Hold;
    use crate::terminal::Terminal as Tty;
    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Termios, tcgetattr};
    use std::fs::File;
    use std::io::Read as _;

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_speaks_and_the_screen_is_taken_again() {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let (mut master, slave) = (File::from(master), File::from(slave));
        let modes = |of: &Termios| (of.input_modes, of.output_modes, of.local_modes);
        let before = modes(&tcgetattr(&slave).unwrap());
        let now = || modes(&tcgetattr(&slave).unwrap());
        let mut shown = || {
            let mut bytes = [0; 4_096];
            let read = master.read(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes[..read]).into_owned()
        };
        let hold = Hold::take(&Tty::of(slave.try_clone().unwrap())).unwrap();
        assert_ne!(now(), before);
        assert!(shown().contains("\u{1b}[?1049h"));
        std::thread::spawn(|| panic!("a panic of a test")).join().unwrap_err();
        assert_eq!(now(), before);
        let left = shown();
        assert!(left.contains("\u{1b}[?1049l") && left.contains("\u{1b}[?25h"), "{left:?}");
        // It was another thread, and this one goes on.
        assert!(hold.retake().unwrap() && !hold.retake().unwrap());
        assert_ne!(now(), before);
        drop(hold);
        assert_eq!(now(), before);
    }
}
