//! Commands of the FTP server, parsed from the bytes of a line (RFC 959, 4.1 and 5.3).

use super::reply::Reply;

/// A command that the server knows, with its argument: RFC 959 in its order, then RFC 2389 (FEAT,
/// OPTS), RFC 2428 (EPSV) and RFC 3659 (SIZE).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    User(String),
    Pass(String),
    Cwd(String),
    Cdup,
    Quit,
    Pasv,
    Type(Representation),
    /// `STRU F` or `MODE S`, the only ones that are left in use.
    AsEver,
    Retr(String),
    Stor(String),
    Appe(String),
    Allo,
    Abor,
    Dele(String),
    Rmd(String),
    Mkd(String),
    Pwd,
    List(Option<String>),
    Nlst(Option<String>),
    Syst,
    Noop,
    Feat,
    OptsUtf8,
    Epsv(Extended),
    Size(String),
}

/// The argument of TYPE. Files pass unchanged in both, as most servers do it; only listings are
/// text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Representation {
    Ascii,
    Image,
}

/// The argument of EPSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extended {
    /// From now on the client uses no other command for data connections.
    All,
    IpV4,
    IpV6,
    /// The protocol of the control connection.
    Same,
}

impl Command {
    /// The command in `line`, which has no line end, or the reply that refuses it.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Reply> {
        let line = without_telnet(line);
        let line = std::str::from_utf8(&line).map_err(|_| NOT_TEXT)?;
        if line.contains(|c: char| c.is_control()) {
            return Err(CONTROL_CHARACTER);
        }
        let (verb, argument) = match line.split_once(' ') {
            Some((verb, argument)) => (verb, Argument(argument)),
            None => (line, Argument("")),
        };
        Self::of(&verb.to_ascii_uppercase(), &argument)
    }

    fn of(verb: &str, argument: &Argument<'_>) -> Result<Self, Reply> {
        Ok(match verb {
            "USER" => Self::User(argument.needed()?),
            // An empty password is a password.
            "PASS" => Self::Pass(argument.0.to_owned()),
            "CWD" | "XCWD" => Self::Cwd(argument.needed()?),
            "CDUP" | "XCUP" => argument.none(Self::Cdup)?,
            "QUIT" => argument.none(Self::Quit)?,
            "PASV" => argument.none(Self::Pasv)?,
            "TYPE" => Self::Type(representation(argument)?),
            "STRU" => argument.only("F", Self::AsEver)?,
            "MODE" => argument.only("S", Self::AsEver)?,
            "RETR" => Self::Retr(argument.needed()?),
            "STOR" => Self::Stor(argument.needed()?),
            "APPE" => Self::Appe(argument.needed()?),
            "ALLO" => Self::Allo,
            "ABOR" => argument.none(Self::Abor)?,
            "DELE" => Self::Dele(argument.needed()?),
            "RMD" | "XRMD" => Self::Rmd(argument.needed()?),
            "MKD" | "XMKD" => Self::Mkd(argument.needed()?),
            "PWD" | "XPWD" => argument.none(Self::Pwd)?,
            "LIST" => Self::List(argument.name_after_options()),
            "NLST" => Self::Nlst(argument.name_after_options()),
            "SYST" => argument.none(Self::Syst)?,
            "NOOP" => Self::Noop,
            "FEAT" => argument.none(Self::Feat)?,
            "OPTS" => options(argument)?,
            "EPSV" => Self::Epsv(extended(argument)?),
            "SIZE" => Self::Size(argument.needed()?),
            _ if UNSUPPORTED.contains(&verb) => return Err(NOT_IMPLEMENTED),
            _ => return Err(UNKNOWN),
        })
    }
}

/// True if ABOR is among the lines that have arrived, or announces itself: a look at the stream ends
/// at Telnet's urgent mark, before the command (RFC 959, 4.1.3).
pub(super) fn asks_to_abort(arrived: &[u8]) -> bool {
    let mut lines = arrived.split(|byte| *byte == b'\n');
    let aborts = |line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Command::parse(line) == Ok(Command::Abor)
    };
    arrived.windows(2).any(|pair| pair == [INTERPRET, INTERRUPT]) || lines.any(aborts)
}

/// What follows the verb and one space.
struct Argument<'a>(&'a str);

impl Argument<'_> {
    fn needed(&self) -> Result<String, Reply> {
        if self.0.is_empty() { Err(ARGUMENT_MISSING) } else { Ok(self.0.to_owned()) }
    }

    fn none(&self, command: Command) -> Result<Command, Reply> {
        if self.0.trim_end().is_empty() { Ok(command) } else { Err(ARGUMENT_TOO_MUCH) }
    }

    fn only(&self, legal: &str, command: Command) -> Result<Command, Reply> {
        match self.needed()? {
            given if given.eq_ignore_ascii_case(legal) => Ok(command),
            _ => Err(PARAMETER),
        }
    }

    /// Clients pass options of `ls` to LIST: they change nothing here.
    fn name_after_options(&self) -> Option<String> {
        let mut rest = self.0.trim_start();
        while rest.starts_with('-') {
            rest = rest.split_once(' ').map_or("", |(_, after)| after.trim_start());
        }
        Some(rest.to_owned()).filter(|name| !name.is_empty())
    }
}

fn representation(argument: &Argument<'_>) -> Result<Representation, Reply> {
    match argument.needed()?.to_ascii_uppercase().as_str() {
        "A" | "A N" => Ok(Representation::Ascii),
        "I" | "L 8" => Ok(Representation::Image),
        _ => Err(PARAMETER),
    }
}

fn extended(argument: &Argument<'_>) -> Result<Extended, Reply> {
    match argument.0.trim().to_ascii_uppercase().as_str() {
        "" => Ok(Extended::Same),
        "1" => Ok(Extended::IpV4),
        "2" => Ok(Extended::IpV6),
        "ALL" => Ok(Extended::All),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => Err(PROTOCOL),
        _ => Err(SYNTAX),
    }
}

/// Names are UTF-8 here in any case (RFC 2640).
fn options(argument: &Argument<'_>) -> Result<Command, Reply> {
    match argument.needed()?.to_ascii_uppercase().as_str() {
        "UTF8" | "UTF8 ON" => Ok(Command::OptsUtf8),
        _ => Err(SYNTAX),
    }
}

/// Removes the Telnet commands that announce an ABOR (RFC 959, 4.1.3; RFC 854). Their last byte
/// travels as urgent data, outside the stream: a lone 255 stands before the command then.
fn without_telnet(line: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(line.len());
    let mut rest = line;
    loop {
        rest = match rest {
            [] => return text,
            [INTERPRET, INTERPRET, after @ ..] => {
                text.push(INTERPRET);
                after
            }
            // WILL, WON'T, DO and DON'T have an operand; then the commands of one byte.
            [INTERPRET, 251..=254, _, after @ ..]
            | [INTERPRET, 240..=250, after @ ..]
            | [INTERPRET, after @ ..] => after,
            [byte, after @ ..] => {
                text.push(*byte);
                after
            }
        };
    }
}

/// Telnet's "interpret as command".
const INTERPRET: u8 = 255;

/// Telnet's "interrupt process".
const INTERRUPT: u8 = 244;

/// Commands of the RFCs that this server refuses by name.
const UNSUPPORTED: &[&str] = &[
    "ACCT", "SMNT", "REIN", "PORT", "STOU", "REST", "RNFR", "RNTO", "SITE", "STAT", "HELP", "EPRT",
    "AUTH", "ADAT", "PROT", "PBSZ", "CCC", "LANG", "MDTM", "MLSD", "MLST", "HOST", "CLNT",
];

pub(super) const UNKNOWN: Reply = Reply::new(500, "unknown command");
const NOT_TEXT: Reply = Reply::new(501, "not UTF-8");
const CONTROL_CHARACTER: Reply = Reply::new(501, "control character in command");
const ARGUMENT_MISSING: Reply = Reply::new(501, "argument missing");
const ARGUMENT_TOO_MUCH: Reply = Reply::new(501, "this command has no argument");
const SYNTAX: Reply = Reply::new(501, "argument not understood");
const NOT_IMPLEMENTED: Reply = Reply::new(502, "not implemented");
const PARAMETER: Reply = Reply::new(504, "not implemented for this parameter");
const PROTOCOL: Reply = Reply::new(522, "network protocol not supported, use (1,2)");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn code(line: &[u8]) -> u16 {
        Command::parse(line).unwrap_err().code()
    }

    #[test]
    fn a_command_is_known_in_either_case() {
        assert_eq!(Command::parse(b"retr a b"), Ok(Command::Retr("a b".to_owned())));
        assert_eq!(Command::parse(b"RETR  a "), Ok(Command::Retr(" a ".to_owned())));
        assert_eq!(Command::parse(b"Type i"), Ok(Command::Type(Representation::Image)));
        assert_eq!(Command::parse(b"PASS "), Ok(Command::Pass(String::new())));
        assert_eq!(Command::parse(b"EPSV all"), Ok(Command::Epsv(Extended::All)));
        assert_eq!(Command::parse(b"OPTS utf8 on"), Ok(Command::OptsUtf8));
    }

    #[test]
    fn a_listing_ignores_the_options_of_ls() {
        let name = |line: &str| match Command::parse(line.as_bytes()) {
            Ok(Command::List(name)) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(name("LIST"), None);
        assert_eq!(name("LIST -la"), None);
        assert_eq!(name("LIST -l -a x y"), Some("x y".to_owned()));
    }

    /// RFC 959, 4.2.1 and 5.4: 500 unknown, 501 argument, 502 not implemented, 504 parameter.
    #[test]
    fn a_malformed_command_is_refused_with_its_code() {
        for line in [&b""[..], b" ", b"XYZZY", b"RETRIEVE x", b"\xc3\xa9"] {
            assert_eq!(code(line), 500, "{line:?}");
        }
        for line in [&b"RETR"[..], b"STOR ", b"QUIT now", b"EPSV x", b"RETR \xc3", b"CWD a\0b"] {
            assert_eq!(code(line), 501, "{line:?}");
        }
        assert_eq!(code(b"PORT 127,0,0,1,4,1"), 502);
        assert_eq!((code(b"TYPE E"), code(b"MODE B"), code(b"STRU R")), (504, 504, 504));
        assert_eq!(code(b"EPSV 3"), 522);
    }

    /// IAC IP, IAC DM before ABOR; with DM sent as urgent data only its IAC stays in the stream.
    #[test]
    fn telnet_commands_are_removed() {
        assert_eq!(Command::parse(b"\xff\xf4\xff\xf2ABOR"), Ok(Command::Abor));
        assert_eq!(Command::parse(b"\xff\xf4\xffABOR"), Ok(Command::Abor));
        assert_eq!(Command::parse(b"\xff\xfb\x01NOOP"), Ok(Command::Noop));
        assert_eq!(without_telnet(b"a\xff\xffb\xff"), b"a\xffb");
    }

    #[test]
    fn a_wish_to_abort_is_seen_with_and_without_telnet() {
        assert!(asks_to_abort(b"ABOR\r\n"));
        assert!(asks_to_abort(b"NOOP\r\nabor\r\nQUIT\r\n"));
        assert!(asks_to_abort(b"\xff\xf4\xff"));
        assert!(!asks_to_abort(b"NOOP\r\n"));
        assert!(!asks_to_abort(b"RETR ABOR\r\n"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(line in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Err(reply) = Command::parse(&line) {
                prop_assert!((500..=522).contains(&reply.code()));
            }
        }

        #[test]
        fn verbs_with_any_argument_parse_or_are_refused(
            verb in "(USER|PASS|CWD|TYPE|STRU|MODE|RETR|OPTS|EPSV|LIST|ALLO|SIZE|PORT)",
            argument in "\\PC{0,40}",
        ) {
            let line = format!("{verb} {argument}");
            match Command::parse(line.as_bytes()) {
                Ok(Command::Retr(name) | Command::Size(name) | Command::User(name)) => {
                    prop_assert_eq!(name, argument);
                }
                Ok(_) => {}
                Err(reply) => prop_assert!([501, 502, 504, 522].contains(&reply.code())),
            }
        }
    }
}
