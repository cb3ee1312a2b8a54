//! A certificate for one session: the far end makes it, the near end accepts no other.

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::DigitallySignedStruct;
use rustls::ServerConfig;
use rustls::SignatureScheme;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::client::danger::ServerCertVerified;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::ServerName;
use rustls::pki_types::UnixTime;
use rustls::version::TLS13;

use crate::error::EngineError;

/// The side that has the certificate, and the certificate in DER.
pub(crate) fn server() -> Result<(ServerConfig, Vec<u8>), EngineError> {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]);
    let made = made.map_err(refused("make a certificate"))?;
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der());
    let key = key.map_err(refused("read the key of a certificate"))?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(refused("choose TLS 1.3"))?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .map_err(refused("use a certificate"))?;
    // A ticket would be a message that nobody asked for, in the middle of a visit.
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok((config, certificate.to_vec()))
}

/// The side that accepts this certificate alone.
pub(crate) fn client(certificate: &[u8]) -> Result<ClientConfig, EngineError> {
    let pinned = Pinned { certificate: certificate.to_vec(), provider: provider() };
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(refused("choose TLS 1.3"))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(config)
}

/// Closes over the operation for `map_err`.
pub(crate) fn refused<E: std::fmt::Display>(operation: &str) -> impl FnOnce(E) -> EngineError {
    let operation = operation.to_owned();
    move |cause| EngineError::Refused(format!("{operation}: {cause}"))
}

/// The one provider of the whole program, never the implicit default.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Compares the certificate, and still verifies that the peer has its key: a certificate is public.
#[derive(Debug)]
struct Pinned {
    certificate: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if end_entity.as_ref() == self.certificate {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::General("another certificate than the far end's".to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 was not offered".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The name in the certificate; nobody resolves it.
pub(crate) const NAME: &str = "btu";

const PROTOCOL: &[u8] = b"btu-pingpong";

#[cfg(test)]
mod tests {
    use rustls::ClientConnection;
    use rustls::ServerConnection;
    use rustls::server::ResolvesServerCert;
    use rustls::sign::CertifiedKey;

    use super::*;

    /// Shakes hands in memory; the first complaint of the client, if it has one.
    fn complaint(expected: &[u8], server: ServerConfig) -> Option<rustls::Error> {
        let config = Arc::new(client(expected).unwrap());
        let mut near = ClientConnection::new(config, NAME.try_into().unwrap()).unwrap();
        let mut far = ServerConnection::new(Arc::new(server)).unwrap();
        while near.is_handshaking() || far.is_handshaking() {
            let mut wire = Vec::new();
            while near.wants_write() {
                near.write_tls(&mut wire).unwrap();
            }
            far.read_tls(&mut wire.as_slice()).unwrap();
            far.process_new_packets().unwrap();
            wire.clear();
            while far.wants_write() {
                far.write_tls(&mut wire).unwrap();
            }
            let mut rest = wire.as_slice();
            while !rest.is_empty() {
                near.read_tls(&mut rest).unwrap();
                if let Err(complaint) = near.process_new_packets() {
                    return Some(complaint);
                }
            }
        }
        assert_eq!(near.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
        None
    }

    /// Shows the certificate of one key and signs with another.
    #[derive(Debug)]
    struct Impostor(Arc<CertifiedKey>);

    impl ResolvesServerCert for Impostor {
        fn resolve(&self, _: rustls::server::ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }

    #[test]
    fn the_far_end_of_the_rendezvous_is_accepted() {
        let (config, certificate) = server().unwrap();
        assert_eq!(complaint(&certificate, config), None);
    }

    #[test]
    fn another_certificate_is_refused() {
        let (_, expected) = server().unwrap();
        let (stranger, _) = server().unwrap();
        let said = complaint(&expected, stranger).unwrap().to_string();
        assert_eq!(said, "unexpected error: another certificate than the far end's");
    }

    /// The certificate travels with the rendezvous: whoever saw it can show it.
    #[test]
    fn the_certificate_without_its_key_is_refused() {
        let (mut config, certificate) = server().unwrap();
        let other = rcgen::KeyPair::generate().unwrap().serialize_der();
        let key = PrivateKeyDer::try_from(other).unwrap();
        let key = provider().key_provider.load_private_key(key).unwrap();
        let shown = vec![CertificateDer::from(certificate.clone())];
        config.cert_resolver = Arc::new(Impostor(Arc::new(CertifiedKey::new(shown, key))));
        let said = complaint(&certificate, config).unwrap();
        let wanted = rustls::CertificateError::BadSignature;
        assert_eq!(said, rustls::Error::InvalidCertificate(wanted));
    }
}
