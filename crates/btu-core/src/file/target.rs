//! A server that somebody else runs, as a URL names it: `ftp://alice@nas.example:2121/pub`.
//!
//! The part of RFC 3986 that file protocols need: no query, no fragment, and no password, which would stand in the list of
//! processes, in the history of a shell and in the plan of the result.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

use serde::Deserialize;
use serde::Serialize;

/// Where a server is, and below which of its directories a measurement may work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Target {
    /// The protocol that it speaks: `ftp`, `http`.
    pub scheme: String,
    /// As whom clients come; `None` for anonymous ones.
    pub user: Option<String>,
    /// A name or an address.
    pub host: String,
    /// `None` for the port of the protocol.
    pub port: Option<u16>,
    /// Directories, one in the other, from where the server lets its clients begin; the first may begin with `/`.
    pub directories: Vec<String>,
}

/// Why a URL names no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// A `%` that no two hexadecimal digits follow, or what they stand for.
    #[error(
        "\"{0}\": a % is followed by two hexadecimal digits of UTF-8 without control characters"
    )]
    Escape(String),
    /// No name and no address.
    #[error("\"{0}\" is no host; write a name, an address, or [an address of IPv6]")]
    Host(String),
    /// It has a password in it.
    #[error(
        "a URL with a password stands in the list of processes and in the result; write the user alone"
    )]
    Password,
    /// A part of the path that leads elsewhere, or is none.
    #[error("\"{0}\": write the path of a directory, without \"..\", \"?\" and \"#\"")]
    Path(String),
    /// No number of a port.
    #[error("\"{0}\" is no port; write 1 to 65535")]
    Port(String),
    /// It does not begin as a URL does.
    #[error("\"{0}\" is no URL; write PROTOCOL://HOST/PATH")]
    Scheme(String),
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let no_url = || TargetError::Scheme(without_user(text).to_owned());
        let (scheme, rest) = text.split_once("://").ok_or_else(no_url)?;
        if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Err(no_url());
        }
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => return Err(TargetError::Password),
            Some((user, place)) => (Some(decoded(user)?), place),
            None => (None, authority),
        };
        let (host, port) = host_and_port(place)?;
        Ok(Self { scheme: scheme.to_owned(), user, host, port, directories: directories(path)? })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://", self.scheme)?;
        if let Some(user) = &self.user {
            write!(out, "{}@", encoded(user))?;
        }
        if self.host.contains(':') {
            write!(out, "[{}]", self.host)?;
        } else {
            out.write_str(&self.host)?;
        }
        if let Some(port) = self.port {
            write!(out, ":{port}")?;
        }
        self.directories.iter().try_for_each(|one| write!(out, "/{}", encoded(one)))
    }
}

impl TryFrom<String> for Target {
    type Error = TargetError;

    fn try_from(text: String) -> Result<Self, TargetError> {
        text.parse()
    }
}

impl From<Target> for String {
    fn from(target: Target) -> Self {
        target.to_string()
    }
}

/// What a message may show of a text that may have a password in it.
fn without_user(text: &str) -> &str {
    text.rsplit_once('@').map_or(text, |(_, rest)| rest)
}

fn host_and_port(place: &str) -> Result<(String, Option<u16>), TargetError> {
    let no_host = || TargetError::Host(place.to_owned());
    if let Some(inner) = place.strip_prefix('[') {
        let (address, rest) = inner.split_once(']').ok_or_else(no_host)?;
        address.parse::<Ipv6Addr>().map_err(|_| no_host())?;
        let port = match rest.strip_prefix(':') {
            None if rest.is_empty() => None,
            None => return Err(no_host()),
            Some(port) => Some(number(port)?),
        };
        return Ok((address.to_owned(), port));
    }
    let (host, port) = match place.split_once(':') {
        Some((host, port)) => (host, Some(number(port)?)),
        None => (place, None),
    };
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_host =
        host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.chars().all(is_of_name);
    if is_host { Ok((host.to_owned(), port)) } else { Err(no_host()) }
}

fn number(port: &str) -> Result<u16, TargetError> {
    let is_digits = port.bytes().all(|byte| byte.is_ascii_digit());
    let number = port.parse().ok().filter(|number| is_digits && *number > 0);
    number.ok_or_else(|| TargetError::Port(port.to_owned()))
}

/// RFC 1738, 3.2.2: each part is a directory of the one before.
fn directories(path: &str) -> Result<Vec<String>, TargetError> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    let directory = |part: &str| {
        let name = decoded(part)?;
        let leads_elsewhere = part.contains(['?', '#']) || name.split('/').any(is_no_name);
        if leads_elsewhere { Err(TargetError::Path(name)) } else { Ok(name) }
    };
    parts.map(directory).collect()
}

fn is_no_name(part: &str) -> bool {
    matches!(part, "." | "..")
}

fn decoded(text: &str) -> Result<String, TargetError> {
    let wrong = || TargetError::Escape(text.to_owned());
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, after) = after.split_at_checked(2).ok_or_else(wrong)?;
        let digits: Option<Vec<u32>> =
            digits.iter().map(|digit| char::from(*digit).to_digit(16)).collect();
        let byte = digits.and_then(|digits| u8::try_from(16 * digits[0] + digits[1]).ok());
        bytes.push(byte.ok_or_else(wrong)?);
        rest = after;
    }
    let name = String::from_utf8(bytes).map_err(|_| wrong())?;
    if name.is_empty() || name.contains(char::is_control) { Err(wrong()) } else { Ok(name) }
}

/// A part of a path as a URL has it: what is not unreserved (RFC 3986, 2.3) as its bytes.
pub fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests;
