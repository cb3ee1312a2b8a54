//! Invitations: one line to paste, by which a conductor and an agent come to know each other.
//!
//! `btu1.<identity of the agent>.<secret>@<host>:<port>`. The joining side pins the agent's identity
//! before it says anything, then proves the secret on that very channel; the secret itself never
//! travels.

use std::fmt;
use std::str::FromStr;

use ring::hmac;
use serde::Deserialize;
use serde::Serialize;

use crate::HostId;
use crate::secret::Hex32;
use crate::secret::NoRandomness;
use crate::secret::hex;
use crate::secret::unhex;

/// What a user pastes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invite {
    /// Who the agent is.
    pub agent: HostId,
    /// What proves that the bearer was invited.
    pub secret: Secret,
    /// Where the agent listens, `host:port`.
    pub address: String,
}

/// 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Secret([u8; 16]);

/// What a peer may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rights {
    /// Ask how the agent is.
    Observer,
    /// Use its time.
    #[default]
    Runner,
    /// Stop all work, too.
    Admin,
}

/// An invitation that was not used yet, as the agent keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenInvite {
    /// Its secret.
    pub secret: Secret,
    /// What the joiner may do.
    pub rights: Rights,
    /// When it ends, in seconds since 1970.
    pub expires_unix_s: u64,
    /// How often it may still be tried.
    pub tries: u32,
}

/// Why a text is no invitation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an invitation ({0}); `btu agent invite` prints one: btu1.IDENTITY.SECRET@HOST:PORT")]
pub struct NoInvite(&'static str);

impl Secret {
    /// A fresh one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn random() -> Result<Self, NoRandomness> {
        let mut bits = [0; 16];
        bits.copy_from_slice(&Hex32::random()?.bytes()[..16]);
        Ok(Self(bits))
    }

    /// What the bearer shows on the channel with this binding (`EXPORTER-btu-join`).
    pub fn proof(&self, binding: &[u8; 32]) -> Hex32 {
        let tag = hmac::sign(&self.key(), &message(binding));
        let mut proof = [0; 32];
        proof.copy_from_slice(tag.as_ref());
        Hex32::new(proof)
    }

    /// True for the proof of this secret on this channel; takes as long for a wrong one.
    pub fn is_proved(&self, binding: &[u8; 32], proof: &Hex32) -> bool {
        hmac::verify(&self.key(), &message(binding), proof.bytes()).is_ok()
    }

    fn key(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.0)
    }
}

fn message(binding: &[u8; 32]) -> Vec<u8> {
    [b"btu join v1", &binding[..]].concat()
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(..)")
    }
}

impl From<Secret> for String {
    fn from(secret: Secret) -> Self {
        hex(&secret.0)
    }
}

impl TryFrom<String> for Secret {
    type Error = NoInvite;
    fn try_from(text: String) -> Result<Self, NoInvite> {
        let bytes = unhex(&text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or(NoInvite("the secret has 32 hexadecimal digits"))
    }
}

impl fmt::Display for Invite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = self.agent.to_string().replace('-', "");
        write!(out, "{MARK}.{agent}.{}@{}", String::from(self.secret), self.address)
    }
}

impl FromStr for Invite {
    type Err = NoInvite;
    fn from_str(text: &str) -> Result<Self, NoInvite> {
        let rest = text.trim().strip_prefix(MARK).and_then(|rest| rest.strip_prefix('.'));
        let (token, address) =
            rest.and_then(|rest| rest.split_once('@')).ok_or(NoInvite("it begins with btu1."))?;
        let (agent, secret) = token.split_once('.').ok_or(NoInvite("it has two dots"))?;
        let agent = agent.parse().map_err(|_| NoInvite("the identity has 52 letters"))?;
        let secret = Secret::try_from(secret.to_owned())?;
        match address.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>())) {
            Some((host, Ok(_))) if !host.is_empty() && address.len() < 300 => {}
            _ => return Err(NoInvite("it ends with HOST:PORT")),
        }
        Ok(Self { agent, secret, address: address.to_owned() })
    }
}

const MARK: &str = "btu1";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Identity;

    fn invite() -> Invite {
        let agent = Identity::ephemeral().unwrap().id();
        Invite { agent, secret: Secret::random().unwrap(), address: "10.0.4.7:7411".to_owned() }
    }

    #[test]
    fn an_invitation_is_one_line_that_reads_back() {
        let invite = invite();
        let text = invite.to_string();
        assert_eq!(text.parse(), Ok(invite.clone()));
        assert_eq!(format!(" {text}\n").parse(), Ok(invite));
        let cut = |n: usize| text[..text.len() - n].to_owned();
        let wrong = [String::new(), text[1..].to_owned(), cut(5), text.replace('@', "."), cut(14)];
        for wrong in wrong {
            assert!(wrong.parse::<Invite>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_proof_holds_for_its_secret_and_its_channel_alone() {
        let (own, other) = (Secret::random().unwrap(), Secret::random().unwrap());
        let proof = own.proof(&[7; 32]);
        assert!(own.is_proved(&[7; 32], &proof));
        assert!(!own.is_proved(&[8; 32], &proof) && !other.is_proved(&[7; 32], &proof));
        for bit in 0..256 {
            let mut altered = *proof.bytes();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert!(!own.is_proved(&[7; 32], &Hex32::new(altered)));
        }
        assert_eq!(format!("{own:?}"), "Secret(..)");
    }
}
