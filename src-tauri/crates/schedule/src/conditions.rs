//! What must be so for a run to begin: as people say it behind a time, and whether it is.

use model::schedule::{Condition, PassedOver};

/// What was said that must be so for a run to begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Only {
    /// Conditions, each once.
    pub conditions: Vec<Condition>,
    /// Per cent that the battery must have more than.
    pub battery_above: Option<u32>,
}

/// What was said, without the conditions at its end, and those: `every day at 8 only on mains power and when the network is there`.
/// Where they are not understood, nothing is taken off.
pub fn conditions(text: &str) -> (&str, Only) {
    let lower = text.to_ascii_lowercase();
    let split =
        lower.rfind(" only ").and_then(|at| Some((text.get(..at)?, lower.get(at + " only ".len()..)?)));
    let Some((before, said)) = split else { return (text, Only::default()) };
    let mut found = Only::default();
    for part in said.split(" and ") {
        let words: Vec<&str> = part.split_whitespace().collect();
        match (condition(&words), percent(&words)) {
            (Some(one), _) if found.conditions.contains(&one) => {}
            (Some(one), _) => found.conditions.push(one),
            (None, Some(percent)) if found.battery_above.is_none_or(|before| before == percent) => {
                found.battery_above = Some(percent);
            }
            (None, _) => return (text, Only::default()),
        }
    }
    (before.trim_end().trim_end_matches(','), found)
}

fn condition(words: &[&str]) -> Option<Condition> {
    match words {
        ["on", "mains"] | ["on", "mains", "power"] => Some(Condition::Mains),
        ["when", "the", "network", "is", "there"] | ["with", "a", "network"] => Some(Condition::Network),
        ["while" | "when", "nobody", "is", "at", "the", "computer"] | ["when", "idle"] => {
            Some(Condition::Idle)
        }
        ["when", "the", "network", "is", "not", "metered"] | ["on", "an", "unmetered", "network"] => {
            Some(Condition::Unmetered)
        }
        _ => None,
    }
}

/// `above 30 %`, `when the battery is above 30%`, `with the battery above 30 percent`.
fn percent(words: &[&str]) -> Option<u32> {
    let rest = match words {
        ["when", "the", "battery", "is", "above", rest @ ..]
        | ["with", "the", "battery", "above", rest @ ..]
        | ["above", rest @ ..] => rest,
        _ => return None,
    };
    let number = match rest {
        [number, "%" | "percent"] | [number, "per", "cent"] => *number,
        [number] => number.strip_suffix('%')?,
        _ => return None,
    };
    number.parse().ok().filter(|percent| (1..=99).contains(percent))
}

/// Why no run begins by its conditions, if none does. `is_so`: none where nobody can tell, which holds nothing back.
pub fn unmet(only: &[Condition], is_so: impl Fn(Condition) -> Option<bool>) -> Option<PassedOver> {
    only.iter().find(|one| is_so(**one) == Some(false)).map(|one| match one {
        Condition::Mains => PassedOver::OnBattery,
        Condition::Network => PassedOver::NoNetwork,
        Condition::Idle => PassedOver::InUse,
        Condition::Unmetered => PassedOver::Metered,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::schedule::only_in_words;

    fn only(conditions: &[Condition], battery_above: Option<u32>) -> Only {
        Only { conditions: conditions.to_vec(), battery_above }
    }

    #[test]
    fn conditions_are_understood_behind_a_time_and_nothing_is_guessed() {
        use Condition::{Idle, Mains, Network, Unmetered};
        for (text, wanted) in [
            ("every day at 8", ("every day at 8", only(&[], None))),
            ("every day at 8 only on mains power", ("every day at 8", only(&[Mains], None))),
            ("Every day at 8, Only On Mains", ("Every day at 8", only(&[Mains], None))),
            (
                "when files change only when the network is there",
                ("when files change", only(&[Network], None)),
            ),
            (
                "daily at 8 only with a network and on mains power",
                ("daily at 8", only(&[Network, Mains], None)),
            ),
            ("daily at 8 only above 30 %", ("daily at 8", only(&[], Some(30)))),
            (
                "daily at 8 only on mains and with the battery above 5%",
                ("daily at 8", only(&[Mains], Some(5))),
            ),
            ("daily at 8 only while nobody is at the computer", ("daily at 8", only(&[Idle], None))),
            ("daily at 8 only on an unmetered network", ("daily at 8", only(&[Unmetered], None))),
        ] {
            assert_eq!(conditions(text), wanted, "{text}");
        }
        for text in [
            "daily at 8 only on Sundays",
            "daily at 8 only on mains and never",
            "daily at 8 only above 0 %",
            "daily at 8 only above 100%",
            "daily at 8 only above 30",
            "daily at 8 only above 30 % and above 40 %",
        ] {
            assert_eq!(conditions(text), (text, Only::default()), "{text}");
        }
        for one in
            [only(&[Mains, Network, Idle, Unmetered], Some(30)), only(&[], Some(99)), only(&[Idle], None)]
        {
            let words = only_in_words(&one.conditions, one.battery_above).unwrap_or_default();
            assert_eq!(conditions(&format!("daily at 8 only {words}")), ("daily at 8", one));
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
        assert_eq!(unmet(&[Condition::Idle], |_| Some(false)), Some(PassedOver::InUse));
        assert_eq!(unmet(&[Condition::Unmetered], |_| Some(false)), Some(PassedOver::Metered));
    }
}
