//! Push services that a browser may name: those of the makers of browsers, and no other place. Whoever could name any would have this
//! machine send to it.

use ureq::http::Uri;

/// Most characters of an address at a service.
const ENDPOINT_MAX: usize = 1_024;

/// Hosts of push services. One that begins with a dot stands for every name below it.
const SERVICES: [&str; 4] = [
    // Chrome and what is made of it.
    "fcm.googleapis.com",
    // Firefox.
    "updates.push.services.mozilla.com",
    // Safari.
    ".push.apple.com",
    // Edge.
    ".notify.windows.com",
];

/// A push service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PushTarget {
    /// The name of its host, with a port only where it is not the usual one.
    pub(crate) host: String,
    /// `scheme://host`, which a signature for it names.
    pub(crate) origin: String,
}

/// The service of an address, or why it is none.
pub(crate) fn service_of(endpoint: &str) -> Result<PushTarget, String> {
    service_within(endpoint, cfg!(debug_assertions))
}

/// `here`: whether a server of this machine counts, by plain HTTP: only in a build that is tested.
fn service_within(endpoint: &str, here: bool) -> Result<PushTarget, String> {
    let no = |why: &str| format!("this browser's push service cannot be used: {why}");
    if endpoint.len() > ENDPOINT_MAX || !endpoint.is_ascii() || endpoint.bytes().any(|b| b <= b' ') {
        return Err(no("its address cannot be read"));
    }
    let uri: Uri = endpoint.parse().map_err(|_| no("its address cannot be read"))?;
    let name = uri.host().unwrap_or_default().to_ascii_lowercase();
    let (scheme, port) = (uri.scheme_str().unwrap_or_default(), uri.port_u16());
    if uri.authority().is_none_or(|authority| authority.as_str().contains('@')) {
        return Err(no("its address has a user, or no host"));
    }
    if here && scheme == "http" && name == "127.0.0.1" {
        let host = format!("{name}:{}", port.unwrap_or(80));
        return Ok(PushTarget { origin: format!("http://{host}"), host });
    }
    if scheme != "https" || !matches!(port, None | Some(443)) {
        return Err(no("it is not reached by HTTPS"));
    }
    let is_one = |service: &&str| match service.strip_prefix('.') {
        Some(_) => name.ends_with(*service) && name.len() > service.len(),
        None => name == **service,
    };
    if !SERVICES.iter().any(|service| is_one(&service)) {
        return Err(no(&format!("`{name}` is none that Hermit knows")));
    }
    Ok(PushTarget { origin: format!("https://{name}"), host: name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_services_of_browsers_are_sent_to_and_only_by_https() {
        for (endpoint, host) in [
            ("https://fcm.googleapis.com/fcm/send/abc:def", "fcm.googleapis.com"),
            ("https://FCM.googleapis.com:443/wp/abc", "fcm.googleapis.com"),
            ("https://updates.push.services.mozilla.com/wpush/v2/abc", "updates.push.services.mozilla.com"),
            ("https://web.push.apple.com/abc", "web.push.apple.com"),
            ("https://wns2-par02p.notify.windows.com/w/?token=abc", "wns2-par02p.notify.windows.com"),
        ] {
            let found = service_within(endpoint, false).map(|service| (service.host, service.origin));
            assert_eq!(found, Ok((host.to_owned(), format!("https://{host}"))), "{endpoint}");
        }
        let long = format!("https://fcm.googleapis.com/{}", "a".repeat(ENDPOINT_MAX));
        for endpoint in [
            "http://fcm.googleapis.com/fcm/send/abc",
            "https://fcm.googleapis.com:8443/fcm/send/abc",
            "https://fcm.googleapis.com.evil.example/fcm/send/abc",
            "https://evil.example/fcm.googleapis.com",
            "https://fcm.googleapis.com@evil.example/",
            "https://evil.example@fcm.googleapis.com/",
            "https://.push.apple.com/",
            "https://push.apple.com/",
            "https://evilpush.apple.com/",
            "https://127.0.0.1/",
            "http://127.0.0.1:9/",
            "https://fcm.googleapis.com/ a",
            "file:///etc/passwd",
            "",
            long.as_str(),
        ] {
            assert!(service_within(endpoint, false).is_err(), "{endpoint}");
        }
        assert!(service_within("http://127.0.0.1:9/a", true).is_ok_and(|one| one.host == "127.0.0.1:9"));
        assert!(service_within("http://10.0.0.1:9/a", true).is_err());
    }
}
