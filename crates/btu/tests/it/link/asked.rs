//! The command's side: status, signals, privileges, environment, far end, outside.

use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::process::Stdio;

use super::need_namespaces;
use super::users;
use super::users::User;
use super::users::btu;
use super::users::expect_status;
use super::users::link;
use super::users::text;

#[test]
fn the_exit_status_is_the_commands() {
    need_namespaces!();
    for user in users::users() {
        expect_status(&mut link(user, &[], "exit 7"), 7);
        expect_status(&mut link(user, &[], "kill -TERM $$"), 143);
        expect_status(&mut link(user, &[], "kill -KILL $$"), 137);
        expect_status(btu(user).args(["link", "--", "true"]), 0);
        let missing = expect_status(btu(user).args(["link", "--", "/nowhere/cmd"]), 2);
        let stderr = text(&missing.stderr);
        assert!(stderr.contains("execute /nowhere/cmd: No such file"), "{stderr}");
    }
}

#[test]
fn signals_reach_the_command_and_end_it_as_they_would_alone() {
    need_namespaces!();
    for user in users::users() {
        // Not a shell: it cannot trap what was ignored when it started, as SIGHUP is under nohup.
        let trap = "exec perl -e '$SIG{USR1} = sub { exit 9 }; $SIG{HUP} = sub { exit 8 }; \
                    $| = 1; print \"ready\\n\"; select(undef, undef, undef, 0.01) while 1'";
        assert_eq!(status_after(user, trap, "USR1"), Some(9));
        assert_eq!(status_after(user, trap, "HUP"), Some(8));
        for (name, status) in [("TERM", 143), ("INT", 130), ("QUIT", 131)] {
            // Not the shell itself: bash ignores SIGQUIT. Nor as it started: a job in the background of a
            // script ignores SIGINT and SIGQUIT.
            let waits = "exec perl -e '@SIG{qw(TERM INT QUIT)} = (\"DEFAULT\") x 3; \
                         $| = 1; print \"ready\\n\"; sleep 60'";
            assert_eq!(status_after(user, waits, name), Some(status), "{name}");
        }
    }
}

#[test]
fn an_open_file_of_the_caller_stays_open_and_input_passes() {
    need_namespaces!();
    let mut command = link(User::Same, &["--quiet"], "read line; echo \"got $line\"");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a line\n").unwrap();
    assert_eq!(text(&child.wait_with_output().unwrap().stdout), "got a line\n");
}

#[test]
fn the_command_keeps_its_user_id_and_may_nest_unless_plain() {
    need_namespaces!();
    let own = if users::is_root() { "0" } else { "" };
    for (user, id) in [(User::Same, own), (User::Ordinary, "1000")] {
        let output = expect_status(&mut link(user, &[], "id -u; unshare --net true"), 0);
        if !id.is_empty() {
            assert_eq!(text(&output.stdout).trim(), id);
        }
        let refused = link(user, &["--plain"], "unshare --net true").output().unwrap();
        assert!(!refused.status.success(), "{user:?}");
        expect_status(&mut link(user, &["--plain"], "ping -c 1 -q $BTU_LINK_FAR"), 0);
    }
}

#[test]
fn the_environment_tells_the_addresses() {
    need_namespaces!();
    let script = "echo $BTU_LINK_NEAR $BTU_LINK_FAR $BTU_LINK_DEPTH";
    let output = expect_status(&mut link(User::Same, &[], script), 0);
    assert_eq!(text(&output.stdout), "198.19.201.2 198.19.201.1 1\n");
}

#[test]
fn processes_inside_see_each_other_only() {
    need_namespaces!();
    for user in users::users() {
        let output = expect_status(&mut link(user, &[], "echo $$; ls /proc | grep -c '^[0-9]'"), 0);
        let numbers: Vec<u32> =
            text(&output.stdout).lines().map(|line| line.parse().unwrap()).collect();
        assert!(numbers[0] < 10 && numbers[1] < 10, "{numbers:?}");
    }
}

#[test]
fn the_far_server_listens_before_the_command_starts() {
    need_namespaces!();
    // Perl belongs to the base system of Debian; the pause makes a race certain.
    let server = "perl -MIO::Socket::INET -e 'select(undef, undef, undef, 0.2); \
        $s = IO::Socket::INET->new(LocalPort => 7000, Listen => 1) or die; \
        $c = $s->accept; print $c \"hello\\n\"; close $c; sleep 60'";
    let client = "exec 3<>/dev/tcp/$BTU_LINK_FAR/7000; cat <&3";
    for user in users::users() {
        let mut command = link(user, &["--delay", "1ms", "--far", server], client);
        assert_eq!(text(&expect_status(&mut command, 0).stdout), "hello\n");
    }
}

/// A daemon's first process ends with 0 while the server is still on its way.
#[test]
fn a_far_server_that_made_itself_a_daemon_listens_before_the_command_starts() {
    need_namespaces!();
    let daemon = "perl -MIO::Socket::INET -e 'fork and exit; select(undef, undef, undef, 0.3); \
        $s = IO::Socket::INET->new(LocalPort => 7000, Listen => 1) or die; \
        $c = $s->accept; print $c \"hello\n\"; close $c; sleep 60'";
    let client = "exec 3<>/dev/tcp/$BTU_LINK_FAR/7000; cat <&3";
    let mut command = link(User::Same, &["--far", daemon], client);
    assert_eq!(text(&expect_status(&mut command, 0).stdout), "hello\n");
    // What leaves nobody behind is not waited for.
    let begun = std::time::Instant::now();
    let left = expect_status(&mut link(User::Same, &["--far", "true"], "true"), 0);
    let waited = begun.elapsed().as_secs_f64();
    let mut silent = link(User::Same, &["--far", "sleep 60 &"], "true");
    let silent = expect_status(&mut silent, 0);
    let patience = begun.elapsed().as_secs_f64() - waited;
    assert!(waited < patience, "{waited} s for nobody, {patience} s for one who never listens");
    // Nobody has to wonder what the command talked to.
    let told = "far end: 'true': ended before the command began, and nobody listens there";
    assert!(text(&left.stderr).contains(told), "{}", text(&left.stderr));
    let told = "far end: 'sleep 60 &': nobody listened there 5 s after it";
    assert!(text(&silent.stderr).contains(told), "{}", text(&silent.stderr));
}

#[test]
fn a_far_server_that_fails_at_once_is_an_error() {
    need_namespaces!();
    let mut command = link(User::Same, &["--far", "exit 4"], "true");
    let stderr = text(&expect_status(&mut command, 3).stderr);
    assert!(stderr.contains("--far 'exit 4': ended with status 4"), "{stderr}");
}

#[test]
fn a_named_service_of_the_outside_is_in_reach_and_others_are_refused_at_once() {
    need_namespaces!();
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = service.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let (mut socket, _) = service.accept().unwrap();
        let mut asked = String::new();
        socket.read_to_string(&mut asked).unwrap();
        socket.write_all(format!("you said {asked}").as_bytes()).unwrap();
    });
    // The listener stays behind a half-closed connection: both directions end separately.
    let script = format!(
        "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(\"$ENV{{BTU_LINK_FAR}}:{port}\") \
         or die; print $s \"hi\"; $s->shutdown(1); print <$s>'; \
         perl -MIO::Socket::INET -e 'exit(IO::Socket::INET->new(\"192.0.2.1:80\") ? 1 : 0)'"
    );
    let reach = format!("127.0.0.1:{port}");
    let output = expect_status(&mut link(User::Same, &["--reach", &reach], &script), 0);
    assert_eq!(text(&output.stdout), "you said hi");
    assert!(text(&output.stderr).contains("TCP ends at the far end"), "{}", text(&output.stderr));
    served.join().unwrap();
}

/// The key reaches the command by its process group; `btu` sees it too and must not pass it on.
#[test]
fn keys_of_the_terminal_reach_the_command_once() {
    need_namespaces!();
    if !crate::skip::installed("script") {
        skip!("program missing: script");
    }
    let counts = r#"exec perl -e '$| = 1; $SIG{INT} = sub { $keys++; print "key\n" };
        $SIG{USR1} = sub { exit 5 + $keys }; print "ready\n"; select(undef, undef, undef, 0.01) while 1'"#;
    let inner = link(User::Same, &["--quiet"], counts);
    let words: Vec<_> = std::iter::once(inner.get_program()).chain(inner.get_args()).collect();
    let words: Vec<String> = words.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    // Which shell runs it depends on $SHELL, and some wait as a process of their own, which the key
    // reaches too: hence `exec`, and the process number that `btu` inherits.
    let run = format!("echo process $$; exec {}", words.join(" "));
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", &run, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut terminal = BufReader::new(child.stdout.take().unwrap());
    let process = wait_for(&mut terminal, "process").replace("process", "");
    wait_for(&mut terminal, "ready");
    child.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    wait_for(&mut terminal, "key");
    // Signals are passed on in order of their numbers: what was made of SIGINT is before this one.
    send(process.trim(), "USR1");
    assert_eq!(child.wait().unwrap().code(), Some(6));
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The exit code after a signal that is sent once the command says `ready`.
fn status_after(user: User, script: &str, signal: &str) -> Option<i32> {
    let mut child =
        link(user, &[], script).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&mut BufReader::new(child.stdout.take().unwrap()), "ready");
    send(&child.id().to_string(), signal);
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), None, "btu itself was ended by the signal");
    status.code()
}

/// The first line with this word.
fn wait_for(output: &mut impl BufRead, word: &str) -> String {
    let mut line = String::new();
    while !line.contains(word) {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "ended before {word:?}");
    }
    line
}

fn send(process: &str, signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, process]).status();
    assert!(sent.unwrap().success());
}
