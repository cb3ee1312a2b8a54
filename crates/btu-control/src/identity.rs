//! Who a host is: one ed25519 key, made at first use, known by the hash of its public half.
//!
//! The key signs what the host measured, and it is what peers pin: a raw public key (RFC 7250), no
//! certificate, no name, no date.

mod base32;
mod file;

use std::fmt;
use std::str::FromStr;

use ring::digest;
use ring::rand::SystemRandom;
use ring::signature::ED25519;
use ring::signature::Ed25519KeyPair;
use ring::signature::KeyPair;
use ring::signature::UnparsedPublicKey;

pub use file::IdentityError;
pub use file::give_to_owner;
pub use file::state_directory;

/// The key pair of a host.
pub struct Identity {
    pair: Ed25519KeyPair,
    pkcs8: Vec<u8>,
    public: PublicKey,
}

/// The public half of an [`Identity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; KEY_BYTES]);

/// The name of a host that nobody else can take: the SHA-256 of its public key as
/// `SubjectPublicKeyInfo`, shown as base32 in groups of four.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId([u8; digest::SHA256_OUTPUT_LEN]);

/// What a signature is for: one made for one purpose is worth nothing for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The manifest of a result.
    Manifest,
    /// What one role measured in a run.
    Measurements,
}

/// Why a text is no host id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no host id; it has 13 groups of 4 from A-Z and 2-7")]
pub struct NoHostId(String);

impl Identity {
    /// A new key that lives in memory alone.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn ephemeral() -> Result<Self, IdentityError> {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new());
        let document = made.map_err(|_unspecified| IdentityError::NoRandomness)?;
        Self::from_pkcs8(document.as_ref().to_vec())
            .ok_or_else(|| IdentityError::NotAKey { path: "a fresh key".into() })
    }

    /// The key of a PKCS#8 document; `None` where it is none.
    pub fn from_pkcs8(pkcs8: Vec<u8>) -> Option<Self> {
        let pair = Ed25519KeyPair::from_pkcs8(&pkcs8).ok()?;
        let public = PublicKey(pair.public_key().as_ref().try_into().ok()?);
        Some(Self { pair, pkcs8, public })
    }

    /// Its name.
    pub fn id(&self) -> HostId {
        self.public.id()
    }

    /// The public half.
    pub const fn public_key(&self) -> PublicKey {
        self.public
    }

    /// The private key as PKCS#8, for the TLS of this process. Never leaves the host.
    pub fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    /// Signs a message for one purpose (RFC 8032).
    pub fn sign(&self, purpose: Purpose, message: &[u8]) -> Vec<u8> {
        self.pair.sign(&purpose.prefixed(message)).as_ref().to_vec()
    }
}

impl PublicKey {
    /// The key of a `SubjectPublicKeyInfo` (RFC 8410); `None` for any other kind of key.
    pub fn from_spki(spki: &[u8]) -> Option<Self> {
        spki.strip_prefix(&SPKI_HEAD)?.try_into().ok().map(Self)
    }

    /// The `SubjectPublicKeyInfo`, which TLS shows as the raw public key.
    pub fn spki(&self) -> Vec<u8> {
        [&SPKI_HEAD[..], &self.0].concat()
    }

    /// The name of the host that holds the private half.
    pub fn id(&self) -> HostId {
        let hash = digest::digest(&digest::SHA256, &self.spki());
        let mut id = [0; digest::SHA256_OUTPUT_LEN];
        id.copy_from_slice(hash.as_ref());
        HostId(id)
    }

    /// True where the private half made this signature over this message for this purpose.
    pub fn verifies(&self, purpose: Purpose, message: &[u8], signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, self.0);
        key.verify(&purpose.prefixed(message), signature).is_ok()
    }
}

impl HostId {
    /// The hash itself.
    pub const fn bytes(&self) -> [u8; digest::SHA256_OUTPUT_LEN] {
        self.0
    }

    /// The first two groups: enough to tell hosts apart in a table, never to trust one.
    pub fn brief(&self) -> String {
        self.to_string().chars().take(9).collect()
    }
}

impl Purpose {
    /// What stands before the message when it is signed.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Manifest => "btu manifest v1\n",
            Self::Measurements => "btu measurements v1\n",
        }
    }

    fn prefixed(self, message: &[u8]) -> Vec<u8> {
        [self.prefix().as_bytes(), message].concat()
    }
}

/// A private key is never printed.
impl fmt::Debug for Identity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Identity({})", self.id())
    }
}

impl fmt::Debug for HostId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "HostId({self})")
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = base32::encoded(&self.0);
        let groups: Vec<String> =
            text.as_bytes().chunks(4).map(|group| String::from_utf8_lossy(group).into()).collect();
        out.write_str(&groups.join("-"))
    }
}

impl FromStr for HostId {
    type Err = NoHostId;

    /// Small letters and missing hyphens are forgiven: people type these.
    fn from_str(text: &str) -> Result<Self, NoHostId> {
        let bytes = base32::decoded(&text.replace('-', "").to_ascii_uppercase());
        let id = bytes.and_then(|bytes| bytes.try_into().ok());
        id.map(Self).ok_or_else(|| NoHostId(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for HostId {
    type Error = NoHostId;
    fn try_from(text: String) -> Result<Self, NoHostId> {
        text.parse()
    }
}

const KEY_BYTES: usize = 32;

/// `SEQUENCE { SEQUENCE { OID 1.3.101.112 }, BIT STRING }` up to the key (RFC 8410, section 4).
const SPKI_HEAD: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of RFC 8410, section 10.3, and its public half as the example of section 10.1.
    const PRIVATE: [u8; 32] = [
        0xd4, 0xee, 0x72, 0xdb, 0xf9, 0x13, 0x58, 0x4a, 0xd5, 0xb6, 0xd8, 0xf1, 0xf7, 0x69, 0xf8,
        0xad, 0x3a, 0xfe, 0x7c, 0x28, 0xcb, 0xf1, 0xd4, 0xfb, 0xe0, 0x97, 0xa8, 0x8f, 0x44, 0x75,
        0x58, 0x42,
    ];
    const PUBLIC: [u8; 32] = [
        0x19, 0xbf, 0x44, 0x09, 0x69, 0x84, 0xcd, 0xfe, 0x85, 0x41, 0xba, 0xc1, 0x67, 0xdc, 0x3b,
        0x96, 0xc8, 0x50, 0x86, 0xaa, 0x30, 0xb6, 0xb6, 0xcb, 0x0c, 0x5c, 0x38, 0xad, 0x70, 0x31,
        0x66, 0xe1,
    ];

    #[test]
    fn the_public_key_is_that_of_the_standard_s_example() {
        let pair = Ed25519KeyPair::from_seed_and_public_key(&PRIVATE, &PUBLIC).unwrap();
        let key = PublicKey(pair.public_key().as_ref().try_into().unwrap());
        assert_eq!((key.spki().len(), PublicKey::from_spki(&key.spki())), (44, Some(key)));
    }

    #[test]
    fn a_signature_holds_for_its_message_and_purpose_alone() {
        let (own, other) = (Identity::ephemeral().unwrap(), Identity::ephemeral().unwrap());
        let mut signature = own.sign(Purpose::Manifest, b"btu");
        let key = own.public_key();
        assert!(key.verifies(Purpose::Manifest, b"btu", &signature));
        assert!(!key.verifies(Purpose::Manifest, b"btv", &signature));
        assert!(!key.verifies(Purpose::Measurements, b"btu", &signature));
        assert!(!other.public_key().verifies(Purpose::Manifest, b"btu", &signature));
        signature[7] ^= 1;
        assert!(!key.verifies(Purpose::Manifest, b"btu", &signature));
    }

    #[test]
    fn an_id_is_thirteen_groups_of_four_and_reads_back() {
        let id = Identity::ephemeral().unwrap().id();
        let text = id.to_string();
        assert_eq!(text.split('-').map(str::len).collect::<Vec<_>>(), [4; 13]);
        assert_eq!(text.parse(), Ok(id));
        assert_eq!(text.to_lowercase().replace('-', "").parse(), Ok(id));
        for wrong in ["", "ABCD", &text[1..], &format!("{text}A"), &text.replace('-', "1")] {
            assert!(wrong.parse::<HostId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_stored_key_is_the_same_host_and_nothing_prints_it() {
        let own = Identity::ephemeral().unwrap();
        let again = Identity::from_pkcs8(own.pkcs8().to_vec()).unwrap();
        assert_eq!(own.id(), again.id());
        assert_eq!(format!("{own:?}"), format!("Identity({})", own.id()));
        assert!(Identity::from_pkcs8(b"no key".to_vec()).is_none());
    }
}
