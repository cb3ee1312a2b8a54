//! Both forms of connection vectors, and what is none.

use super::*;

/// The examples of `doc/tmix.tex`, with its comments.
const ORIGINAL: &str = "\
SEQ 6851 1 21217 555382       # starts at 6.851 ms and contains 1 exchange (epoch)
w 64800 6432                  # win sz (bytes): init acc
r 1176194                     # min RTT (microseconds)
l 0.000000 0.000000           # loss: init->acc acc->init
> 245                         # init sends 245 bytes
t 51257                       # acc waits 51 ms after recv
< 510                         # acc sends 510 bytes
t 6304943                     # init waits 6.3 sec after send and then sends FIN

CONC 1429381 2 2 26876 793318 # starts at 1.4 s, init sends 2 ADUs and acc sends 2 ADUs
w 65535 5840                  # win sz (bytes)
r 36556                       # min RTT (microseconds)
l 0.000000 0.000000           # loss rate
c> 222                        # init sends 222 bytes
t> 62436302                   # init waits 62 sec
c< 726                        # acc sends 726 bytes
t< 62400173                   # acc waits 62 sec
c> 16                         # init sends 16 bytes
t> 725                        # init waits 725 us and then sends FIN
c< 84                         # acc sends 84 bytes
t< 130                        # acc waits 130 us and then sends FIN
";
const ALTERNATE: &str = "\
S 6851 1 21217 555382       # starts at 6.851 ms and contains 1 exchange (epoch)
w 64800 6432                # win sz (bytes)
r 1176194                   # min RTT
l 0.000000 0.000000         # loss rate
I 0 0 245                   # init sends 245 bytes
A 0 51257 510               # acc waits 51.257 ms after recv then sends 510 bytes
A 6304943 0 0               # acc waits 6.3 sec after send then sends FIN

C 1429381 2 2 26876 793318  # starts at 1.4 s, init sends 2 ADUs and acc sends 2 ADUs
w 65535 5840                # win sz (bytes)
r 36556                     # min RTT
l 0.000000 0.000000         # loss rate
I 0 0 222                   # init sends 222 bytes
A 0 0 726                   # acc sends 726 bytes
I 62436302 0 16             # init waits 62 sec and then sends 16 bytes
A 62400173 0 84             # acc waits 62 sec and then sends 84 bytes
I 725 0 0                   # init waits 725 us and then sends FIN
A 130 0 0                   # acc waits 130 us and then sends FIN
";

fn ask(after: u64, request: u64, answer: u64) -> Step {
    let ask = Some((Bytes::new(request), Bytes::new(answer)));
    Step { after: micros(after), ask }
}

fn close(after: u64) -> Step {
    Step { after: micros(after), ask: None }
}

#[test]
fn both_forms_say_the_same() {
    let one_way = vec![ask(0, 245, 510), close(51_257 + 6_304_943)];
    // Each end by its own clock: what the other one sends later is asked for then.
    let both = vec![
        ask(0, 222, 726),
        ask(62_400_173, 1, 84),
        ask(62_436_302 - 62_400_173, 16, 0),
        close(725),
    ];
    let wanted = vec![
        Vector { start: Nanos::ZERO, waits: true, steps: one_way },
        Vector { start: micros(1_429_381 - 6_851), waits: false, steps: both },
    ];
    for text in [ORIGINAL, ALTERNATE] {
        assert!(is_one(text));
        assert_eq!(read(text).as_ref(), Ok(&wanted), "{text}");
    }
}

/// An end that sends twice, one that sends unasked, and one that never answers.
#[test]
fn what_nobody_asked_for_is_asked_for_with_a_byte() {
    let text = "SEQ 9 3 1 2\n< 20\nt 5\n> 30\nt 6\n> 31\nt 7\n< 40\nt 8\n< 41\n\
                SEQ 4 1 1 2\n> 7\n";
    let steps = vec![ask(0, 1, 20), ask(5, 30, 0), ask(6, 31, 40), ask(7 + 8, 1, 41), close(0)];
    let first = Vector { start: Nanos::ZERO, waits: true, steps: vec![ask(0, 7, 0), close(0)] };
    let second = Vector { start: micros(5), waits: true, steps };
    assert_eq!(read(text), Ok(vec![first, second]), "in the order of their starts");
    let (rows, named) = ("350,12000,50\n", "request,answer,think\n");
    assert!(!is_one(rows) && !is_one(named) && !is_one("") && is_one("\n# a\n S 1 1 1 1\n"));
}

#[test]
fn what_is_no_vector_is_refused_with_its_line() {
    let (seq, conc) = ("SEQ 1 1 1 1\n", "CONC 1 1 1 1 1\n");
    let (s, c) = ("S 1 1 1 1\n", "C 1 1 1 1 1\n");
    for (text, said) in [
        ("> 5\n".to_owned(), ":1: \"> 5\"; write SEQ, CONC, S or C"),
        ("SEQ 1 1 1\n> 5\n".to_owned(), ":1: \"SEQ 1 1 1\"; write the start in us, exchanges"),
        ("SEQ -1 1 1 1\n> 5\n".to_owned(), ":1: \"SEQ -1 1 1 1\"; write the start"),
        ("CONC 1 1 1 1\nc> 5\n".to_owned(), ":1: \"CONC 1 1 1 1\"; write the start in us, what"),
        (format!("{seq}> 5\nt 7\nt 8\n"), ":4: \"t 8\"; write one time before"),
        (format!("{seq}# a\n\nt 7\n> 5\n"), ":4: \"t 7\"; write what is sent first"),
        (format!("{seq}> 0\n"), ":2: \"> 0\"; write 1 byte or more"),
        (format!("{seq}c> 5\n"), ":2: \"c> 5\"; write >, < or t"),
        (format!("{seq}I 0 0 5\n"), ":2: \"I 0 0 5\"; write >, < or t"),
        (format!("{seq}> 5 6\n"), ":2: \"> 5 6\"; write >, < or t"),
        (format!("{seq}> 5.5\n"), ":2: \"> 5.5\"; write >, < or t"),
        (format!("{seq}> 1000000000001\n"), ":2: \"> 1000000000001\"; write >"),
        (format!("{seq}w 5\n> 5\n"), ":2: \"w 5\"; write two windows"),
        (format!("{seq}r x\n> 5\n"), ":2: \"r x\"; write a round trip"),
        (format!("{seq}l 0 NaN\n> 5\n"), ":2: \"l 0 NaN\"; write two shares"),
        (format!("{seq}w 1 2\n{seq}> 5\nt 1\n"), ":1: nothing is sent"),
        (format!("{seq}> 5\nt 1\n{s}A 5 0 0\n"), ":4: nothing is sent"),
        (format!("{conc}> 5\n"), ":2: \"> 5\"; write c>, c<, t> or t<"),
        (format!("{conc}c> 5\nt< 7\nc< 5\n"), ":3: \"t< 7\"; write what is sent first"),
        (format!("{s}> 5\n"), ":2: \"> 5\"; write I or A"),
        (format!("{s}I 0 5\n"), ":2: \"I 0 5\"; write I or A"),
        (
            format!("{s}I 0 0 5\nA 3 4 5\n"),
            ":3: \"A 3 4 5\"; write 0 for the time since it sent or",
        ),
        (format!("{s}I 0 0 5\nI 3 0 0\nA 0 1 5\n"), ":4: \"A 0 1 5\"; write nothing after 0 bytes"),
        (
            format!("{c}I 0 0 5\nI 0 4 5\n"),
            ":3: \"I 0 4 5\"; write 0 for the time since it received",
        ),
        (format!("{c}I 0 0 5\nI 9 0 0\nI 9 0 5\n"), ":4: \"I 9 0 5\"; write nothing after 0 bytes"),
        ("SEQ 0 1 1 1\n> 5\n".to_owned(), ": no time passes in it"),
        ("# nothing\n".to_owned(), ": no time passes in it"),
    ] {
        let found = read(&text).expect_err(&text);
        assert!(found.starts_with(said), "{text}{found}");
    }
    // Each end of one that does not wait closes by itself.
    let text = format!("{c}I 0 0 5\nI 9 0 0\nA 0 0 5\nA 20 0 6\nA 1 0 0\n");
    let steps = vec![ask(0, 5, 5), ask(20, 1, 6), close(1)];
    assert_eq!(read(&text).map(|all| all[0].steps.clone()), Ok(steps));
}
