//! Ways along a table of transitions.

use std::collections::VecDeque;

/// The shortest way along a table to a state that is looked for; none where there is none, or it is there already.
pub fn way<S: Copy + PartialEq>(table: &[(S, S)], from: S, ends: &[S]) -> Vec<(S, S)> {
    let mut paths = VecDeque::from([vec![from]]);
    while let Some(path) = paths.pop_front() {
        let at = path[path.len() - 1];
        if ends.contains(&at) {
            return path.windows(2).map(|step| (step[0], step[1])).collect();
        }
        let on = table.iter().filter(|(here, to)| *here == at && !path.contains(to));
        paths.extend(on.map(|(_, to)| path.iter().copied().chain([*to]).collect()));
    }
    vec![]
}
