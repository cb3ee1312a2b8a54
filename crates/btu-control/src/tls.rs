//! TLS 1.3 with raw public keys (RFC 7250): both sides prove who they are, and nothing else is
//! believed. No certificate, no name, no date, no resumption, no early data.

use std::sync::Arc;

use rustls::CertificateError;
use rustls::ClientConfig;
use rustls::DigitallySignedStruct;
use rustls::DistinguishedName;
use rustls::Error;
use rustls::OtherError;
use rustls::ServerConfig;
use rustls::SignatureScheme;
use rustls::client::AlwaysResolvesClientRawPublicKeys;
use rustls::client::Resumption;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::client::danger::ServerCertVerified;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::crypto::ring;
use rustls::crypto::verify_tls13_signature_with_raw_key;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::ServerName;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::UnixTime;
use rustls::server::AlwaysResolvesServerRawPublicKeys;
use rustls::server::danger::ClientCertVerified;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::CertifiedKey;
use rustls::version::TLS13;

use crate::HostId;
use crate::Identity;
use crate::PublicKey;

/// The side that connects: talks to this agent or to nobody.
///
/// # Errors
/// The key is none that TLS can use.
pub fn client_config(own: &Identity, agent: HostId) -> Result<ClientConfig, Error> {
    let provider = provider();
    let verifier = Arc::new(Pinned::new(&provider, Some(agent)));
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(raw_key(own)?)));
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    Ok(config)
}

/// The agent's side: hears everybody who proves an identity; whether that is a peer is not decided here.
///
/// # Errors
/// The key is none that TLS can use.
pub fn server_config(own: &Identity) -> Result<ServerConfig, Error> {
    let provider = provider();
    let verifier = Arc::new(Pinned::new(&provider, None));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(verifier)
        .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(raw_key(own)?)));
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.send_tls13_tickets = 0;
    config.max_early_data_size = 0;
    Ok(config)
}

/// A name that TLS wants and nobody looks at: the key says who it is.
pub fn no_name() -> ServerName<'static> {
    ServerName::IpAddress(std::net::IpAddr::from([0, 0, 0, 0]).into())
}

/// The identity that a peer proved in its handshake.
pub fn peer_of(certificates: Option<&[CertificateDer<'_>]>) -> Option<HostId> {
    let [raw_key] = certificates? else { return None };
    PublicKey::from_spki(raw_key).map(|key| key.id())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// The key, with itself in the place of a certificate.
fn raw_key(own: &Identity) -> Result<Arc<CertifiedKey>, Error> {
    let key = ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(own.pkcs8()))?;
    let public = CertificateDer::from(own.public_key().spki());
    Ok(Arc::new(CertifiedKey::new(vec![public], key)))
}

/// Wants the one pinned identity, or any at all, and in both cases the proof of it.
/// The host that proved to be another one than was wanted.
#[derive(Debug, thiserror::Error)]
#[error("another host answers there: {0}")]
struct AnotherHost(HostId);

fn another_host(id: HostId) -> Error {
    CertificateError::Other(OtherError(Arc::new(AnotherHost(id)))).into()
}

/// Who answered in the place of the host that was wanted, where that is why a handshake failed.
pub fn stranger(error: &Error) -> Option<HostId> {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) = error else {
        return None;
    };
    cause.downcast_ref::<AnotherHost>().map(|other| other.0)
}

#[derive(Debug)]
struct Pinned {
    only: Option<HostId>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn new(provider: &CryptoProvider, only: Option<HostId>) -> Self {
        Self { only, algorithms: provider.signature_verification_algorithms }
    }

    fn judge(
        &self,
        raw_key: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
    ) -> Result<(), Error> {
        let refused = Err(CertificateError::ApplicationVerificationFailure.into());
        let Some(key) = PublicKey::from_spki(raw_key) else { return refused };
        match self.only {
            Some(only) if only != key.id() => Err(another_host(key.id())),
            _ if others.is_empty() => Ok(()),
            _ => refused,
        }
    }

    fn proof(
        &self,
        message: &[u8],
        raw_key: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let key = SubjectPublicKeyInfoDer::from(raw_key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signed, &self.algorithms)
    }
}

/// The label of what is unique to a channel.
pub const BINDING: &[u8] = b"EXPORTER-btu-join";

const ALPN: &[u8] = b"btu/1";

/// What both sides want of a proof: an ed25519 signature of TLS 1.3, by a raw key.
macro_rules! proof_by_raw_key {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _raw_key: &CertificateDer<'_>,
            _signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            // Never offered, so never asked for.
            Err(Error::General("TLS 1.2 is not spoken here".to_owned()))
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            raw_key: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.proof(message, raw_key, signed)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        raw_key: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.judge(raw_key, others).map(|()| ServerCertVerified::assertion())
    }

    proof_by_raw_key!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        raw_key: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.judge(raw_key, others).map(|()| ClientCertVerified::assertion())
    }

    proof_by_raw_key!();
}

#[cfg(test)]
mod tests {
    use rustls::ClientConnection;
    use rustls::ServerConnection;

    use super::*;

    /// Both sides' view of a handshake in memory.
    fn shake(
        client: &Identity,
        pinned: HostId,
        server: &Identity,
    ) -> Result<(ClientConnection, ServerConnection), Error> {
        let config = Arc::new(client_config(client, pinned)?);
        let mut near = ClientConnection::new(config, no_name())?;
        let mut far = ServerConnection::new(Arc::new(server_config(server)?))?;
        while near.is_handshaking() || far.is_handshaking() || near.wants_write() {
            let mut wire = Vec::new();
            near.write_tls(&mut wire).unwrap();
            far.read_tls(&mut &wire[..]).unwrap();
            far.process_new_packets()?;
            wire.clear();
            far.write_tls(&mut wire).unwrap();
            near.read_tls(&mut &wire[..]).unwrap();
            near.process_new_packets()?;
        }
        Ok((near, far))
    }

    fn binding<D>(connection: &rustls::ConnectionCommon<D>) -> [u8; 32] {
        connection.export_keying_material([0; 32], BINDING, None).unwrap()
    }

    #[test]
    fn both_sides_prove_who_they_are_and_share_what_nobody_else_knows() {
        let [a, b] = [(), ()].map(|()| Identity::ephemeral().unwrap());
        let (near, far) = shake(&a, b.id(), &b).unwrap();
        assert_eq!(peer_of(near.peer_certificates()), Some(b.id()));
        assert_eq!(peer_of(far.peer_certificates()), Some(a.id()));
        assert_eq!(near.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
        assert_eq!(binding(&near), binding(&far));
        let (other, _) = shake(&a, b.id(), &b).unwrap();
        assert_ne!(binding(&near), binding(&other));
    }

    #[test]
    fn another_key_than_the_pinned_one_is_refused() {
        let [a, b, c] = [(), (), ()].map(|()| Identity::ephemeral().unwrap());
        assert!(shake(&a, c.id(), &b).is_err());
    }

    /// The public key of the pinned agent in the hands of another: no signature fits it.
    #[test]
    fn a_key_without_its_private_half_is_refused() {
        let [a, b, thief] = [(), (), ()].map(|()| Identity::ephemeral().unwrap());
        let key = ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(thief.pkcs8())).unwrap();
        let stolen = CertificateDer::from(b.public_key().spki());
        let stolen = Arc::new(CertifiedKey::new(vec![stolen], key));
        let mut config = server_config(&thief).unwrap();
        config.cert_resolver = Arc::new(AlwaysResolvesServerRawPublicKeys::new(stolen));
        let near = Arc::new(client_config(&a, b.id()).unwrap());
        let mut near = ClientConnection::new(near, no_name()).unwrap();
        let mut far = ServerConnection::new(Arc::new(config)).unwrap();
        let mut wire = Vec::new();
        near.write_tls(&mut wire).unwrap();
        far.read_tls(&mut &wire[..]).unwrap();
        far.process_new_packets().unwrap();
        wire.clear();
        far.write_tls(&mut wire).unwrap();
        near.read_tls(&mut &wire[..]).unwrap();
        assert!(near.process_new_packets().is_err());
    }
}
