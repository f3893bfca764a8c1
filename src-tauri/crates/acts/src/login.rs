//! What the card of a log-in at a server of tools says.

use crate::{Line, LineKind, visible};
use model::login::LoginTerms;

/// Who asks for it, who gives the token, what it allows, and where it goes.
pub(crate) fn lines(server: &str, now: &LoginTerms, was: Option<&LoginTerms>) -> Vec<Line> {
    let fact = |text: String| Line { kind: LineKind::Fact, text };
    let risk = |text: String| Line { kind: LineKind::Risk, text };
    let scopes = match now.scopes.as_slice() {
        [] => "it names no scopes: the authorization server decides what the token allows".to_owned(),
        all => format!("what the token is to allow there (scopes): {}", visible(&all.join(", "))),
    };
    let others = now.servers().into_iter().filter(|at| *at != now.authorization.server());
    let mut lines = vec![
        risk(format!(
            "from now on, calls of the server \"{}\" at \"{}\" are made in your name there",
            visible(server),
            visible(&now.url.to_string())
        )),
        risk(format!(
            "the server names who you log in with: \"{}\"; you log in in a browser at {}",
            visible(&now.issuer),
            visible(&now.authorization.server())
        )),
        risk(scopes),
    ];
    lines.extend(others.map(|at| fact(format!("tokens are given and renewed by {}", visible(&at)))));
    lines.push(fact(match &now.client_id {
        Some(id) => format!("Hermit is known there as the client \"{}\"", visible(id)),
        None => "Hermit makes itself known there as a client of its own".to_owned(),
    }));
    lines.extend(now.client_secret.as_ref().map(|handle| Line {
        kind: LineKind::Unrecoverable,
        text: format!("it signs in there with `secret:{}`", visible(handle)),
    }));
    lines.push(fact(format!(
        "the token is kept beside your keys as `secret:{}` and goes to {} alone; Hermit never sees your password",
        visible(&model::login::login_handle(server)),
        visible(&now.url.server())
    )));
    if let Some(was) = was.filter(|was| *was != now) {
        let text = format!(
            "you last allowed a log-in with \"{}\" at {}, for: {}",
            visible(&was.issuer),
            visible(&was.authorization.server()),
            visible(&was.scopes.join(", "))
        );
        lines.push(Line { kind: LineKind::Destructive, text });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_of_a_log_in_names_the_server_who_gives_the_token_and_what_it_allows() {
        let text = r#"{"url":"https://far.example/mcp","resource":"https://far.example/mcp","issuer":"https://id.example",
            "authorization":"https://id.example/authorize","token":"https://tokens.example/token","scopes":["read","write"],
            "client_id":"mine","client_secret":"ours"}"#;
        let terms: LoginTerms = serde_json::from_str(text).expect("terms");
        let was = LoginTerms { issuer: "https://old.example".to_owned(), ..terms.clone() };
        let told =
            |was| lines("far", &terms, was).into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n");
        let card = told(Some(&was));
        for words in [
            "\"far\" at \"https://far.example/mcp\"",
            "id.example:443",
            "read, write",
            "renewed by tokens.example:443",
            "client \"mine\"",
            "`secret:ours`",
            "`secret:login.far` and goes to far.example:443 alone",
            "https://old.example",
        ] {
            assert!(card.contains(words), "no `{words}` in: {card}");
        }
        assert!(!told(Some(&terms)).contains("last allowed"));
    }
}
