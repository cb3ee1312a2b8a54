//! A client that says what it is told, right or wrong.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::net::SocketAddr;
use std::net::TcpStream;
use std::time::Duration;

use btu_engine::file::ftp::Server;

/// One control connection.
pub(super) struct Raw {
    pub(super) control: BufReader<TcpStream>,
}

impl Raw {
    /// Connected and greeted, not logged in.
    pub(super) fn connect(server: &Server) -> Self {
        let stream = TcpStream::connect(server.address()).unwrap();
        // A server that does not answer must fail the test, not hang it.
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Self { control: BufReader::new(stream) }
    }

    /// Logged in.
    pub(super) fn enter(server: &Server) -> Self {
        let mut raw = Self::connect(server);
        assert_eq!(raw.hear(), "220 btu ready");
        raw.expect("USER anonymous", 331);
        raw.expect("PASS x", 230);
        raw
    }

    pub(super) fn say(&mut self, bytes: &[u8]) {
        self.control.get_mut().write_all(bytes).unwrap();
    }

    /// The last line of the next reply; empty at the end of the connection.
    pub(super) fn hear(&mut self) -> String {
        loop {
            let mut line = String::new();
            self.control.read_line(&mut line).unwrap();
            if line.is_empty() || line.as_bytes().get(3) == Some(&b' ') {
                return line.trim_end().to_owned();
            }
        }
    }

    pub(super) fn ask(&mut self, command: &str) -> String {
        self.say(format!("{command}\r\n").as_bytes());
        self.hear()
    }

    #[track_caller]
    pub(super) fn expect(&mut self, command: &str, code: u16) -> String {
        let reply = self.ask(command);
        assert!(reply.starts_with(&code.to_string()), "{command}: {reply}");
        reply
    }

    /// Where the server listens for data, by EPSV.
    pub(super) fn data_address(&mut self) -> SocketAddr {
        let reply = self.expect("EPSV", 229);
        let port = reply.split('|').nth(3).unwrap().parse().unwrap();
        SocketAddr::new(self.control.get_ref().peer_addr().unwrap().ip(), port)
    }
}
