//! Markdown as each service writes it. What a service has no form for is written as plain text; what stands behind a link is
//! always to be read, never hidden under other words.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

/// How a service writes what is more than plain words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The few HTML elements that Telegram takes.
    Telegram,
    /// HTML, as Matrix clients show it.
    Html,
    /// What Slack calls mrkdwn.
    Slack,
}

/// Text that no HTML reader takes for anything else.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

/// A text in a dialect.
pub(crate) fn render(markdown: &str, dialect: Dialect) -> String {
    let mut writer =
        Writer { dialect, out: String::new(), lists: Vec::new(), quotes: Vec::new(), links: Vec::new() };
    for event in Parser::new_ext(markdown, Options::ENABLE_STRIKETHROUGH) {
        writer.take(event);
    }
    writer.out.truncate(writer.out.trim_end().len());
    writer.out
}

struct Writer {
    dialect: Dialect,
    out: String,
    /// Lists that are open, with the number of the next item.
    lists: Vec<Option<u64>>,
    /// Where each open quotation begins.
    quotes: Vec<usize>,
    /// Where each open link leads, and where its words begin.
    links: Vec<(String, usize)>,
}

impl Writer {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(code) => self.code(&code),
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::Rule => {
                self.gap(2);
                self.out.push_str("———");
            }
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.words(&text),
            Event::TaskListMarker(done) => self.out.push_str(if done { "[x] " } else { "[ ] " }),
        }
    }

    fn words(&mut self, text: &str) {
        match self.dialect {
            Dialect::Telegram | Dialect::Html => self.out.push_str(&escaped(text)),
            Dialect::Slack => self.out.push_str(&escaped(text).replace("&quot;", "\"")),
        }
    }

    fn code(&mut self, code: &str) {
        match self.dialect {
            Dialect::Slack => {
                self.out.push('`');
                self.words(&code.replace('`', "'"));
                self.out.push('`');
            }
            Dialect::Telegram | Dialect::Html => {
                self.out.push_str("<code>");
                self.words(code);
                self.out.push_str("</code>");
            }
        }
    }

    fn line_break(&mut self) {
        self.out.push_str(if self.dialect == Dialect::Html { "<br>" } else { "\n" });
    }

    /// Sees to it that what follows stands behind this many line breaks, but at the beginning of something.
    fn gap(&mut self, lines: usize) {
        if self.dialect == Dialect::Html {
            return;
        }
        let begins = self.out.is_empty()
            || self.out.ends_with("<blockquote>")
            || self.out.ends_with("• ")
            || self.out.ends_with(". ") && !self.lists.is_empty()
            || self.quotes.last() == Some(&self.out.len());
        if begins {
            return;
        }
        let there = self.out.chars().rev().take_while(|c| *c == '\n').count();
        for _ in there..lines {
            self.out.push('\n');
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let between = if self.lists.is_empty() { 2 } else { 1 };
        match tag {
            Tag::Paragraph => {
                self.gap(between);
                self.html("<p>");
            }
            Tag::Heading { .. } => {
                self.gap(2);
                self.html("<h4>");
                self.mark("<b>", "", "*");
            }
            Tag::BlockQuote(_) => self.quote(between),
            Tag::CodeBlock(kind) => self.code_block(&kind, between),
            Tag::List(first) => self.list(first, between),
            Tag::Item => self.item(),
            Tag::Emphasis => self.mark("<i>", "<em>", "_"),
            Tag::Strong => self.mark("<b>", "<strong>", "*"),
            Tag::Strikethrough => self.mark("<s>", "<del>", "~"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.out.len()));
            }
            _ => self.gap(between),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.html("</p>"),
            TagEnd::Heading(_) => {
                self.mark("</b>", "", "*");
                self.html("</h4>");
            }
            TagEnd::BlockQuote(_) => self.unquote(),
            TagEnd::CodeBlock => {
                let ends = self.out.ends_with('\n');
                self.mark("</code></pre>", "</code></pre>", if ends { "```" } else { "\n```" });
            }
            TagEnd::List(ordered) => {
                self.lists.pop();
                self.html(if ordered { "</ol>" } else { "</ul>" });
            }
            TagEnd::Item => self.html("</li>"),
            TagEnd::Emphasis => self.mark("</i>", "</em>", "_"),
            TagEnd::Strong => self.mark("</b>", "</strong>", "*"),
            TagEnd::Strikethrough => self.mark("</s>", "</del>", "~"),
            TagEnd::Link | TagEnd::Image => self.leads_to(),
            _ => {}
        }
    }

    fn quote(&mut self, between: usize) {
        self.gap(between);
        let outer = self.quotes.is_empty();
        self.quotes.push(self.out.len());
        match self.dialect {
            // Telegram refuses a quotation inside one.
            Dialect::Telegram if outer => self.out.push_str("<blockquote>"),
            Dialect::Html => self.out.push_str("<blockquote>"),
            _ => {}
        }
    }

    fn unquote(&mut self) {
        let begin = self.quotes.pop().unwrap_or_default();
        match self.dialect {
            Dialect::Telegram if self.quotes.is_empty() => self.out.push_str("</blockquote>"),
            Dialect::Html => self.out.push_str("</blockquote>"),
            Dialect::Slack if self.quotes.is_empty() => {
                let quoted = self.out.get(begin..).unwrap_or_default().trim_end().replace('\n', "\n> ");
                self.out.truncate(begin);
                self.out.push_str("> ");
                self.out.push_str(&quoted);
            }
            _ => {}
        }
    }

    fn code_block(&mut self, kind: &CodeBlockKind<'_>, between: usize) {
        self.gap(between);
        let language = match kind {
            CodeBlockKind::Fenced(said) => said.split([' ', ',']).next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '_');
        match self.dialect {
            Dialect::Slack => self.out.push_str("```\n"),
            _ if language.is_empty() || language.len() > 30 || !language.chars().all(plain) => {
                self.out.push_str("<pre><code>");
            }
            _ => self.out.push_str(&format!("<pre><code class=\"language-{language}\">")),
        }
    }

    fn list(&mut self, first: Option<u64>, between: usize) {
        self.gap(between);
        match first {
            Some(1) => self.html("<ol>"),
            Some(number) => self.html(&format!("<ol start=\"{number}\">")),
            None => self.html("<ul>"),
        }
        self.lists.push(first);
    }

    fn item(&mut self) {
        self.gap(1);
        if self.dialect == Dialect::Html {
            return self.out.push_str("<li>");
        }
        let depth = self.lists.len().saturating_sub(1).min(6);
        self.out.push_str(&"  ".repeat(depth));
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.out.push_str(&format!("{number}. "));
                *number = number.saturating_add(1);
            }
            _ => self.out.push_str("• "),
        }
    }

    /// Where a link leads, behind its words, where they do not say it.
    fn leads_to(&mut self) {
        let Some((to, begin)) = self.links.pop() else { return };
        let said = self.out.get(begin..).unwrap_or_default();
        if !to.is_empty() && said != escaped(&to) && said != to {
            self.words(&format!(" ({to})"));
        }
    }

    /// Something that only HTML has.
    fn html(&mut self, element: &str) {
        if self.dialect == Dialect::Html {
            self.out.push_str(element);
        }
    }

    fn mark(&mut self, telegram: &str, html: &str, slack: &str) {
        self.out.push_str(match self.dialect {
            Dialect::Telegram => telegram,
            Dialect::Html => html,
            Dialect::Slack => slack,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, render};

    const TEXT: &str = "# Done\n\nTwo **files** in `a<b>` & [here](https://x.example/?a=1&b=2):\n\n- one\n- two\n  - inner\n\n1. a\n2. b\n\n> said\n> so\n\n```rust\nlet a = &b;\n```\n<script>x</script>";

    #[test]
    fn telegram_gets_its_elements_and_nothing_else() {
        let text = render(TEXT, Dialect::Telegram);
        assert_eq!(
            text,
            "<b>Done</b>\n\nTwo <b>files</b> in <code>a&lt;b&gt;</code> &amp; here (https://x.example/?a=1&amp;b=2):\n\n\
             • one\n• two\n  • inner\n\n1. a\n2. b\n\n<blockquote>said\nso</blockquote>\n\n\
             <pre><code class=\"language-rust\">let a = &amp;b;\n</code></pre>\n\n&lt;script&gt;x&lt;/script&gt;"
        );
    }

    #[test]
    fn html_is_closed_and_holds_no_element_of_the_text() {
        let text = render(TEXT, Dialect::Html);
        assert!(
            text.starts_with("<h4>Done</h4><p>Two <strong>files</strong> in <code>a&lt;b&gt;</code>"),
            "{text}"
        );
        assert!(
            text.contains("<ul><li>one</li><li>two<ul><li>inner</li></ul></li></ul><ol><li>a</li>"),
            "{text}"
        );
        assert!(
            text.contains("<blockquote><p>said<br>so</p></blockquote>") && !text.contains("<script"),
            "{text}"
        );
    }

    #[test]
    fn slack_marks_are_its_own_and_calls_nobody() {
        let text = render("**hi** <@U123> <!channel>\n\n> a\n> b\n\n*x* ~~y~~ `z`", Dialect::Slack);
        assert_eq!(text, "*hi* &lt;@U123&gt; &lt;!channel&gt;\n\n> a\n> b\n\n_x_ ~y~ `z`");
    }

    #[test]
    fn deep_nesting_ends() {
        for dialect in [Dialect::Telegram, Dialect::Html, Dialect::Slack] {
            let text = render(&format!("{}x{}", ">".repeat(20_000), "*".repeat(20_000)), dialect);
            assert!(text.contains('x'));
            assert!(dialect == Dialect::Html || text.matches("<blockquote>").count() <= 1);
        }
    }
}
