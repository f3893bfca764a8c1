//! The smallest way out: what a host does with ureq, without keys.

use reasoning::{Head, HttpReply, ModelHttp, ModelHttpError};
use std::io::Read;
use std::time::Duration;

pub struct Post;

impl ModelHttp for Post {
    fn post(
        &self,
        url: &str,
        head: &Head<'_>,
        body: &[u8],
        timeout_ms: u64,
        on_chunk: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<HttpReply, ModelHttpError> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_millis(timeout_ms)))
            .build()
            .into();
        let wrong = |error: ureq::Error| match error {
            ureq::Error::Timeout(_) => ModelHttpError::TimedOut(timeout_ms),
            ureq::Error::Io(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => {
                ModelHttpError::Unreachable(e.to_string())
            }
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
                ModelHttpError::Unreachable(error.to_string())
            }
            other => ModelHttpError::Cut(other.to_string()),
        };
        let mut request = agent.post(url).content_type("application/json");
        for (name, value) in head.also {
            request = request.header(*name, *value);
        }
        let reply = request.send(body).map_err(wrong)?;
        let status = reply.status().as_u16();
        let seconds =
            reply.headers().get("retry-after").and_then(|said| said.to_str().ok()?.parse::<u64>().ok());
        let retry_after_ms = seconds.map(|seconds| seconds * 1000);
        let mut reader = reply.into_body().into_reader();
        let mut piece = [0; 4096];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return Ok(HttpReply { status, retry_after_ms, ..HttpReply::default() }),
                Ok(n) if on_chunk(piece.get(..n).unwrap_or_default()) => {}
                Ok(_) => return Err(ModelHttpError::Stopped),
                Err(e) if e.to_string().contains("timeout") => {
                    return Err(ModelHttpError::TimedOut(timeout_ms));
                }
                Err(e) => return Err(ModelHttpError::Cut(e.to_string())),
            }
        }
    }
}
