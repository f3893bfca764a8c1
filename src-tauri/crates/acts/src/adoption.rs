//! Adopting a change of Hermit that was tried, and going back from one: the card shows the verdict, every piece that becomes
//! another, and every word of it (successor.md 5).

use crate::call::quoted;
use crate::skill::{Told, in_text};
use crate::{Line, LineKind, count, short, visible};
use model::adoption::{
    AdoptChange, AdoptedPiece, AdoptedProgram, EditedTest, PIECES_MAX, PatchKind, REVIEWS_MAX, ReturnChange,
    VerdictOutcome,
};

impl Told for AdoptChange {
    fn check(&self) -> Result<(), String> {
        match self.outcome {
            VerdictOutcome::Better | VerdictOutcome::Same => {}
            // Of its verdict only that is open which the card shows.
            VerdictOutcome::Inconclusive if !self.edited_tests.is_empty() => {}
            other => return Err(format!("a change whose verdict is `{other}` cannot be adopted")),
        }
        if self.sources.is_empty() {
            return Err("a change says where what is new in it comes from".to_owned());
        }
        let is_code = self.kind == PatchKind::Code;
        if is_code != self.program.is_some() || is_code != self.diff.is_some() {
            return Err(
                "a change of the source has its changes and one program, and no other change has".to_owned()
            );
        }
        if !is_code && !self.edited_tests.is_empty() {
            return Err("only a change of the source edits tests".to_owned());
        }
        if self.reviews.len() > REVIEWS_MAX {
            return Err(format!("a change has {REVIEWS_MAX} reviews at most"));
        }
        pieces(&self.pieces)
    }

    fn title(&self) -> String {
        let what = match self.kind {
            PatchKind::Policy => "other rules of policy",
            PatchKind::Words => "other words",
            PatchKind::Model => "another model",
            PatchKind::Code => "another program",
        };
        format!("adopt a change of Hermit itself, {what}: \"{}\"", visible(&self.says))
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            // An effect: a page shows those of an act without files.
            Line { kind: LineKind::Destructive, text: effect(self.kind) },
            fact(format!("the verdict of its trial is: {}", self.outcome)),
        ];
        lines.extend(self.reasons.iter().map(|why| fact(format!("because: {}", visible(why)))));
        lines.extend(self.tests.iter().map(|suite| fact(format!("tests: {}", visible(suite)))));
        if self.outcome != VerdictOutcome::Better {
            lines.push(risk("nothing that counts was found to be better with it".to_owned()));
        }
        if !self.constitutional.is_empty() {
            let rooms: Vec<String> = self.constitutional.iter().map(|room| visible(room)).collect();
            lines.push(Line {
                kind: LineKind::Destructive,
                text: format!(
                    "it is CONSTITUTIONAL: it changes what keeps Hermit in check ({}); you have signed for each of these",
                    rooms.join(", ")
                ),
            });
        }
        lines.extend(self.edited_tests.iter().flat_map(of_edited_test));
        lines.extend(self.program.iter().flat_map(of_program));
        for review in &self.reviews {
            let remarks = count(usize::try_from(review.remarks).unwrap_or(usize::MAX), "remark");
            let by = visible(&review.by);
            lines.push(fact(format!("reviewed by \"{by}\", {remarks}")));
        }
        lines.extend(self.sources.iter().map(|source| fact(format!("comes from: {}", visible(source)))));
        lines.extend(self.pieces.iter().flat_map(of_piece));
        if let Some(diff) = &self.diff {
            let text =
                format!("all changes of the source, word for word, {}:", count(diff.lines().count(), "line"));
            lines.push(Line::effect(text));
            lines.extend(quoted(diff).map(|text| Line { kind: LineKind::Quoted, text }));
        }
        lines
    }

    fn details(&self) -> Vec<String> {
        let mut details = vec![
            format!("its trial: `{}`", visible(&self.trial_id)),
            format!("sha256 of the change: {}", self.patch.sha256),
            format!("sha256 of the verdict: {}", self.verdict.sha256),
        ];
        details.extend(
            self.edited_tests.iter().map(|test| {
                format!("sha256 of the difference of \"{}\": {}", visible(&test.file), test.sha256)
            }),
        );
        if let Some(program) = &self.program {
            details.push(format!("sha256 of the program: {}", program.sha256));
            details.push(format!("sha256 of the source that it was built of: {}", program.source));
        }
        details.extend(self.reviews.iter().map(|review| {
            format!("sha256 of the review by \"{}\": {}", visible(&review.by), review.review.sha256)
        }));
        details
    }
}

impl Told for ReturnChange {
    fn check(&self) -> Result<(), String> {
        pieces(&self.pieces)
    }

    fn title(&self) -> String {
        let what = match self.kind {
            PatchKind::Policy => "the rules of policy",
            PatchKind::Words => "the words",
            PatchKind::Model => "the model",
            PatchKind::Code => "the program",
        };
        format!("go back to {what} from before the adopted change {}", visible(&short(&self.trial_id)))
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![Line { kind: LineKind::Destructive, text: effect(self.kind) }];
        if !self.why.trim().is_empty() {
            lines.push(Line { kind: LineKind::Quoted, text: format!("because: {}", visible(&self.why)) });
        }
        lines.extend(self.pieces.iter().flat_map(of_piece));
        lines
    }

    fn details(&self) -> Vec<String> {
        vec![
            format!("its trial: `{}`", visible(&self.trial_id)),
            format!("it was adopted by the act `{}`", self.adopted_by),
        ]
    }
}

/// From when on what is at work.
fn effect(kind: PatchKind) -> String {
    match kind {
        PatchKind::Policy => "put other rules of policy in the place of yours, for every task, at once",
        PatchKind::Words => "tell models other words, from their next turn on",
        PatchKind::Model => "let another model propose, in tasks that name none",
        PatchKind::Code => "let another program be Hermit, from its next start on",
    }
    .to_owned()
}

fn pieces(all: &[AdoptedPiece]) -> Result<(), String> {
    if all.is_empty() || all.len() > PIECES_MAX {
        return Err(format!("a change has 1 to {PIECES_MAX} pieces"));
    }
    match all.iter().find(|one| one.text == one.was) {
        Some(same) => Err(format!("the {} \"{}\" is this already", visible(&same.what), visible(&same.name))),
        None => Ok(()),
    }
}

/// What becomes of a piece, and every word of it.
fn of_piece(piece: &AdoptedPiece) -> Vec<Line> {
    let named = format!("{} \"{}\"", visible(&piece.what), visible(&piece.name));
    let mut lines = match (&piece.was, &piece.text) {
        (_, None) => vec![Line::destructive(format!("the {named} is TAKEN AWAY"))],
        (None, Some(_)) => vec![Line::effect(format!("the {named} is new"))],
        (Some(was), Some(text)) => {
            let mut lines = vec![Line::destructive(format!("the {named} CHANGES:"))];
            lines.extend(in_text(was, text));
            lines
        }
    };
    if let Some(text) = &piece.text {
        let all = count(text.lines().count(), "line");
        lines.push(Line::effect(format!("all of the {named}, word for word, {all}:")));
        lines.extend(quoted(text).map(|text| Line { kind: LineKind::Quoted, text }));
    }
    lines
}

/// A test that it edits, and every word of the difference.
fn of_edited_test(test: &EditedTest) -> Vec<Line> {
    let mut lines = vec![Line::destructive(format!(
        "it edits, moves or removes TESTS in \"{}\"; with your yes you have looked at this difference:",
        visible(&test.file)
    ))];
    lines.extend(quoted(&test.difference).map(|text| Line { kind: LineKind::Quoted, text }));
    lines
}

fn of_program(program: &AdoptedProgram) -> Vec<Line> {
    vec![
        fact(format!("the program has {} bytes", program.bytes)),
        fact(
            "it is kept beside this one, which starts it, and takes over again if it is not soon healthy"
                .to_owned(),
        ),
        fact(format!(
            "it writes stores of format {}, which this program opens as well",
            program.store_format
        )),
        risk(
            "it will hold your keys, your records and your rules, as this program does: read every line"
                .to_owned(),
        ),
    ]
}

fn fact(text: String) -> Line {
    Line { kind: LineKind::Fact, text }
}

fn risk(text: String) -> Line {
    Line { kind: LineKind::Risk, text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Digest;
    use model::artifact::ArtifactRef;

    fn at(bytes: &[u8]) -> ArtifactRef {
        let artifact_id = format!("art_{}", "0".repeat(32)).parse().expect("an id");
        ArtifactRef { artifact_id, sha256: Digest::of(bytes) }
    }

    fn change(outcome: VerdictOutcome) -> AdoptChange {
        AdoptChange {
            trial_id: "trial-1".to_owned(),
            kind: PatchKind::Policy,
            says: "asks less".to_owned(),
            sources: vec!["my own".to_owned()],
            patch: at(b"patch"),
            verdict: at(b"verdict"),
            outcome,
            reasons: vec!["asks_less: 3 questions fewer".to_owned()],
            tests: None,
            constitutional: vec!["gate".to_owned(), "policy".to_owned()],
            pieces: vec![AdoptedPiece {
                what: "rules".to_owned(),
                name: "yours".to_owned(),
                text: Some("ask edit secret/**\nApproved by policy.\n".to_owned()),
                was: Some("ask edit **\n".to_owned()),
            }],
            diff: None,
            program: None,
            reviews: Vec::new(),
            edited_tests: Vec::new(),
        }
    }

    #[test]
    fn a_card_shows_the_verdict_the_rooms_and_every_word_marked_so_that_none_passes_for_one_of_the_card() {
        let told: Vec<String> =
            change(VerdictOutcome::Same).lines().into_iter().map(|line| line.text).collect();
        for says in [
            "- ask edit **",
            "+ ask edit secret/**",
            "    | Approved by policy.",
            "because: asks_less: 3 questions fewer",
        ] {
            assert!(told.contains(&says.to_owned()), "{says}: {told:?}");
        }
        assert!(
            told.iter().any(|line| line.contains("CONSTITUTIONAL") && line.contains("gate, policy")),
            "{told:?}"
        );
        assert!(told.iter().any(|line| line.contains("nothing that counts")), "{told:?}");
    }

    fn edited() -> EditedTest {
        let difference = "--- a/tests/a.rs\n+++ b/tests/a.rs\n@@ -1 +1 @@\n-a\n+b\n".to_owned();
        EditedTest { file: "tests/a.rs".to_owned(), sha256: Digest::of(difference.as_bytes()), difference }
    }

    #[test]
    fn a_card_shows_each_edited_test_and_only_by_that_an_open_verdict_is_one_to_adopt() {
        let program = AdoptedProgram {
            sha256: Digest::of(b"a program"),
            bytes: 9,
            store_format: 1,
            source: Digest::of(b"the source"),
        };
        let open = AdoptChange {
            kind: PatchKind::Code,
            diff: Some(edited().difference),
            program: Some(program),
            edited_tests: vec![edited()],
            ..change(VerdictOutcome::Inconclusive)
        };
        assert_eq!(open.check(), Ok(()));
        let lines = open.lines();
        let named =
            lines.iter().position(|line| line.text.contains("TESTS in \"tests/a.rs\"")).expect("a line");
        assert_eq!(lines[named].kind, LineKind::Destructive);
        // Digests stand among the details, each of them whole.
        let program = open.program.as_ref().expect("a program");
        for sha256 in
            [edited().sha256, program.sha256, program.source, open.patch.sha256, open.verdict.sha256]
        {
            let sha256 = sha256.to_string();
            assert!(lines.iter().all(|line| !line.text.contains(&sha256)), "{lines:?}");
            assert!(open.details().iter().any(|detail| detail.contains(&sha256)), "{sha256}");
        }
        assert_eq!(lines[named + 1].text, "    | --- a/tests/a.rs");
        assert!(lines.iter().any(|line| line.text.contains("nothing that counts")));
        let unseen = AdoptChange { edited_tests: Vec::new(), ..open };
        assert!(unseen.check().is_err_and(|why| why.contains("cannot be adopted")));
    }

    #[test]
    fn what_no_verdict_is_for_or_what_changes_nothing_is_refused_in_words() {
        assert_eq!(change(VerdictOutcome::Better).check(), Ok(()));
        for outcome in [VerdictOutcome::Worse, VerdictOutcome::Unsafe, VerdictOutcome::Inconclusive] {
            assert!(change(outcome).check().is_err_and(|why| why.contains("cannot be adopted")), "{outcome}");
        }
        let refused = |change: AdoptChange, says: &str| {
            assert!(change.check().is_err_and(|why| why.contains(says)), "{says}");
        };
        let better = || change(VerdictOutcome::Better);
        refused(AdoptChange { sources: Vec::new(), ..better() }, "comes from");
        refused(AdoptChange { diff: Some("+".to_owned()), ..better() }, "one program");
        refused(AdoptChange { kind: PatchKind::Code, ..better() }, "one program");
        refused(AdoptChange { pieces: Vec::new(), ..better() }, "pieces");
        refused(AdoptChange { edited_tests: vec![edited()], ..better() }, "edits tests");
        let mut same = better();
        let text = same.pieces[0].text.clone();
        same.pieces[0].was = text;
        refused(same, "is this already");
    }
}
