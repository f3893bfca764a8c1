//! TLS that ends here, and only between a command and a host that one of its secrets may go to: so the value takes the
//! sentinel's place on its way there. The command trusts an authority that is made for its one run and forgotten with
//! it; the server is verified as anybody would verify it, by the name that the grant names.
//!
//! One request goes over one connection, and to the host it was opened for: a server that serves others too would hand
//! the value to whoever else a `Host` line names.

use super::entrance::Client;
use super::head;
use super::request::{Broken, ask};
use super::swap::Swap;
use super::{Connection, Session, answer};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;

/// The only protocol inside: the one whose heads are read here.
const HTTP: &[u8] = b"http/1.1";

/// What a command's programs look for roots by: OpenSSL and Go, curl, Python, Node, git.
pub(super) const ROOTS_BY: [&str; 5] =
    ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"];

/// An authority that one command trusts, and whom Hermit trusts on its behalf.
pub(super) struct Authority {
    key: KeyPair,
    params: CertificateParams,
    der: CertificateDer<'static>,
    roots: Vec<CertificateDer<'static>>,
    outside: Arc<ClientConfig>,
}

impl Authority {
    /// Made anew; `roots` are the authorities of this machine, in DER.
    pub(super) fn new(roots: Vec<Vec<u8>>) -> Result<Self, String> {
        let failed = |e: rcgen::Error| format!("no certificate can be made: {e}");
        let key = KeyPair::generate().map_err(failed)?;
        let mut params = CertificateParams::new(Vec::new()).map_err(failed)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.distinguished_name.push(DnType::CommonName, "Hermit, for one command");
        let der = params.self_signed(&key).map_err(failed)?.der().clone();
        let roots: Vec<CertificateDer<'static>> = roots.into_iter().map(CertificateDer::from).collect();
        let mut store = RootCertStore::empty();
        store.add_parsable_certificates(roots.iter().cloned());
        let config = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let config = config.map_err(|e| format!("no TLS can be spoken: {e}"))?;
        let mut outside = config.with_root_certificates(store).with_no_client_auth();
        outside.alpn_protocols = vec![HTTP.to_vec()];
        Ok(Self { key, params, der, roots, outside: Arc::new(outside) })
    }

    /// Whom the command may trust, as one file of PEM: this authority, and those of the machine for every other host.
    pub(super) fn pem(&self) -> String {
        let all = std::iter::once(&self.der).chain(&self.roots);
        all.map(|der| pem::encode(&pem::Pem::new("CERTIFICATE", der.to_vec()))).collect()
    }

    /// A certificate for one host.
    fn speak_as(&self, name: &str) -> Result<Arc<ServerConfig>, String> {
        let failed = |e: rcgen::Error| format!("no certificate can be made for `{name}`: {e}");
        let issuer = rcgen::Issuer::from_params(&self.params, &self.key);
        let key = KeyPair::generate().map_err(failed)?;
        let mut params = CertificateParams::new(vec![name.to_owned()]).map_err(failed)?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let leaf = params.signed_by(&key, &issuer).map_err(failed)?;
        let secret = PrivateKeyDer::try_from(key.serialize_der()).map_err(str::to_owned)?;
        let failed = |e: rustls::Error| format!("no TLS can be spoken as `{name}`: {e}");
        let config = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
        let config = config.map_err(failed)?.with_no_client_auth();
        let mut config = config.with_single_cert(vec![leaf.der().clone()], secret).map_err(failed)?;
        config.alpn_protocols = vec![HTTP.to_vec()];
        Ok(Arc::new(config))
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// One request and its answer; why not is told to the command inside its TLS, and kept in `went`.
pub(super) fn exchange(
    session: &Session,
    authority: &Authority,
    (name, port): (&str, u16),
    (client, server): (&Client, &TcpStream),
    swap: Swap<'_>,
    went: &mut Connection,
) -> Result<(), String> {
    let config = authority.speak_as(name)?;
    let inside = ServerConnection::new(config).map_err(|e| format!("no TLS can be spoken here: {e}"))?;
    let mut inside = StreamOwned::new(inside, client);
    // A program that has its own list of whom to trust hangs up here.
    let bytes = head::read(&mut inside).map_err(|e| {
        format!(
            "a secret's host is asked in HTTP/1 within TLS, by a program that trusts {}: {e}",
            ROOTS_BY[0]
        )
    })?;
    let refused = |why| Broken::Refused(400, why);
    let done = head::within(&bytes, name, port, 443).map_err(refused).and_then(|request| {
        let wanted = ServerName::try_from(name.to_owned())
            .map_err(|_| Broken::Refused(502, "the host has no name for TLS".to_owned()))?;
        let outside = ClientConnection::new(Arc::clone(&authority.outside), wanted)
            .map_err(|e| Broken::Refused(502, format!("no TLS can be spoken to `{name}`: {e}")))?;
        let mut outside = StreamOwned::new(outside, server);
        ask(session, swap, request, &mut inside, &mut outside, went)
    });
    match done {
        Ok(()) => {}
        // Without the farewell of TLS, so that the client sees that it is not whole.
        Err(Broken::Cut(why)) => {
            went.verdict = format!("allowed; {why}");
            let _ = inside.flush();
            return Ok(());
        }
        Err(Broken::Refused(status, why)) => {
            went.verdict = match went.sent {
                0 => format!("refused: {why}"),
                _ => format!("allowed, and broken off: {why}"),
            };
            // A client that is gone needs no answer.
            let _ = inside.write_all(&answer(status, &why));
        }
    }
    inside.conn.send_close_notify();
    let _ = inside.flush();
    Ok(())
}
