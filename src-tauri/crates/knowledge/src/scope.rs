//! Where a claim holds, compared. A scope is parts joined by `/`, wide to narrow; `*` or nothing is everywhere.

/// Whether two scopes share a place: one is the other, or contains it.
pub(crate) fn overlap(a: &str, b: &str) -> bool {
    let (a, b) = (parts(a), parts(b));
    a.iter().zip(&b).all(|(x, y)| x == y)
}

fn parts(scope: &str) -> Vec<String> {
    let parts = scope.trim().split('/').map(|p| p.trim().to_lowercase());
    parts.filter(|p| !p.is_empty()).take_while(|p| p != "*").collect()
}

#[cfg(test)]
mod tests {
    use super::overlap;

    #[test]
    fn a_scope_overlaps_what_contains_it_and_nothing_beside_it() {
        for (a, b, shared) in [
            ("repo/src", "repo/src", true),
            ("repo", "repo/src", true),
            ("*", "anything", true),
            ("", "anything", true),
            ("Repo/Src ", "repo/src/", true),
            ("repo/src", "repo/docs", false),
            ("repo/sr", "repo/src", false),
            ("a/*", "a/b", true),
            ("a/*", "b", false),
        ] {
            assert_eq!(overlap(a, b), shared, "`{a}` and `{b}`");
            assert_eq!(overlap(b, a), shared, "`{b}` and `{a}`");
        }
    }
}
