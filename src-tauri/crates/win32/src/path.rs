//! Paths as calls of Windows take them.

/// A path without end, in UTF-16, from which a call may read more than 260 letters: a long one gets the prefix that says so.
/// It is absolute and has no `.` or `..`, which the prefix would take as names.
#[must_use]
pub fn verbatim(absolute: &[u16]) -> Vec<u16> {
    /// A folder's path may have twelve letters less than a file's.
    const SHORT_MAX: usize = 247;
    let slash = u16::from(b'\\');
    let wide = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
    if absolute.len() <= SHORT_MAX
        || absolute.starts_with(&wide(r"\\?\"))
        || absolute.starts_with(&wide(r"\\.\"))
    {
        return absolute.to_vec();
    }
    match absolute.strip_prefix(&[slash, slash]) {
        Some(share) => [wide(r"\\?\UNC\"), share.to_vec()].concat(),
        None => [wide(r"\\?\"), absolute.to_vec()].concat(),
    }
}

/// A path as people and most programs write it, where it has the prefix that says that it is long and is none of the few that
/// mean something else without it; none where there is nothing to take away.
#[must_use]
pub fn plain(path: &str) -> Option<String> {
    /// A folder's path may have twelve letters less than a file's.
    const SHORT_MAX: usize = 247;
    let rest = path.strip_prefix(r"\\?\")?;
    let plain = match rest.strip_prefix(r"UNC\") {
        Some(share) => format!(r"\\{share}"),
        None if rest.chars().nth(1) == Some(':') => rest.to_owned(),
        None => return None,
    };
    // A name that ends with a dot or a space is another one without the prefix.
    let means_itself = |name: &str| !name.ends_with(['.', ' ']) && !name.contains('/');
    let fits = plain.encode_utf16().count() <= SHORT_MAX && plain.split('\\').all(means_itself);
    fits.then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str) -> String {
        String::from_utf16_lossy(&verbatim(&path.encode_utf16().collect::<Vec<u16>>()))
    }

    #[test]
    fn a_short_path_stays_and_a_long_one_says_that_it_is_long() {
        assert_eq!(said(r"C:\a\b"), r"C:\a\b");
        let long = "x".repeat(260);
        assert_eq!(said(&format!(r"C:\{long}")), format!(r"\\?\C:\{long}"));
        assert_eq!(said(&format!(r"\\host\share\{long}")), format!(r"\\?\UNC\host\share\{long}"));
        assert_eq!(said(&format!(r"\\?\C:\{long}")), format!(r"\\?\C:\{long}"));
    }

    #[test]
    fn a_path_is_plain_again_where_it_means_the_same() {
        assert_eq!(plain(r"\\?\C:\a\b"), Some(r"C:\a\b".to_owned()));
        assert_eq!(plain(r"\\?\UNC\host\share\x"), Some(r"\\host\share\x".to_owned()));
        for other in [r"C:\a", r"\\?\C:\a.\b", r"\\?\C:\a ", r"\\?\Volume{1}\x", r"\\?\C:\a/b", "/usr"] {
            assert_eq!(plain(other), None, "{other}");
        }
        assert_eq!(plain(&format!(r"\\?\C:\{}", "x".repeat(250))), None);
    }
}
