//! What must be so for a run to begin: as people say it behind a time, and whether it is.

use model::schedule::{Condition, PassedOver};

/// What was said, without the conditions at its end, and those: `every day at 8 only on mains power and when the network is there`.
/// Where they are not understood, nothing is taken off.
pub fn conditions(text: &str) -> (&str, Vec<Condition>) {
    let lower = text.to_ascii_lowercase();
    let split =
        lower.rfind(" only ").and_then(|at| Some((text.get(..at)?, lower.get(at + " only ".len()..)?)));
    let Some((before, said)) = split else { return (text, Vec::new()) };
    let mut found = Vec::new();
    for part in said.split(" and ") {
        let one = match part.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["on", "mains"] | ["on", "mains", "power"] => Condition::Mains,
            ["when", "the", "network", "is", "there"] | ["with", "a", "network"] => Condition::Network,
            _ => return (text, Vec::new()),
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    (before.trim_end().trim_end_matches(','), found)
}

/// Why no run begins by its conditions, if none does. `is_so`: none where nobody can tell, which holds nothing back.
pub fn unmet(only: &[Condition], is_so: impl Fn(Condition) -> Option<bool>) -> Option<PassedOver> {
    only.iter().find(|one| is_so(**one) == Some(false)).map(|one| match one {
        Condition::Mains => PassedOver::OnBattery,
        Condition::Network => PassedOver::NoNetwork,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::schedule::condition_in_words;

    #[test]
    fn conditions_are_understood_behind_a_time_and_nothing_is_guessed() {
        let (mains, network) = (Condition::Mains, Condition::Network);
        for (text, wanted) in [
            ("every day at 8", ("every day at 8", vec![])),
            ("every day at 8 only on mains power", ("every day at 8", vec![mains])),
            ("Every day at 8, Only On Mains", ("Every day at 8", vec![mains])),
            ("when files change only when the network is there", ("when files change", vec![network])),
            ("daily at 8 only with a network and on mains power", ("daily at 8", vec![network, mains])),
            ("daily at 8 only on Sundays", ("daily at 8 only on Sundays", vec![])),
            ("daily at 8 only on mains and never", ("daily at 8 only on mains and never", vec![])),
        ] {
            assert_eq!(conditions(text), wanted, "{text}");
        }
        for one in [mains, network] {
            let said = format!("daily at 8 only {}", condition_in_words(one));
            assert_eq!(conditions(&said), ("daily at 8", vec![one]));
        }
    }

    #[test]
    fn what_is_not_so_holds_a_run_back_and_what_nobody_can_tell_does_not() {
        let both = [Condition::Mains, Condition::Network];
        let is = |mains, network| unmet(&both, |one| if one == Condition::Mains { mains } else { network });
        assert_eq!(is(Some(true), Some(true)), None);
        assert_eq!(is(None, None), None);
        assert_eq!(is(Some(false), Some(true)), Some(PassedOver::OnBattery));
        assert_eq!(is(None, Some(false)), Some(PassedOver::NoNetwork));
        assert_eq!(unmet(&[], |_| Some(false)), None);
    }
}
