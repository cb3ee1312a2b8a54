//! The words and marks of the block language, with their places.

use super::Problem;

/// A word, a mark, a text in quotes, or the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Mark(char),
    Text(String),
    Word(String),
}

/// A token and where it stands, both numbers from 1.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) place: Place,
}

/// A place in a text, both numbers from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From the top of the text.
    pub line: usize,
    /// Of characters from the left.
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}:{}", self.line, self.column)
    }
}

/// Walks through a text.
struct Scanner<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    place: Place,
    problems: Vec<Problem>,
}

/// All tokens of a text, the last one being the end. What cannot be read is a problem and skipped.
pub(super) fn tokens(text: &str, start: Place) -> (Vec<Placed>, Vec<Problem>) {
    let mut scanner = Scanner { rest: text.chars().peekable(), place: start, problems: Vec::new() };
    let mut found = Vec::new();
    loop {
        scanner.skip_blanks();
        let place = scanner.place;
        match scanner.token() {
            Some(token) => found.push(Placed { token, place }),
            None if scanner.rest.peek().is_none() => break,
            None => {}
        }
    }
    found.push(Placed { token: Token::End, place: scanner.place });
    (found, scanner.problems)
}

impl Scanner<'_> {
    fn take(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        if letter == '\n' {
            self.place = Place { line: self.place.line + 1, column: 1 };
        } else {
            self.place.column += 1;
        }
        Some(letter)
    }

    fn take_if(&mut self, wanted: char) -> bool {
        let found = self.rest.peek() == Some(&wanted);
        if found {
            self.take();
        }
        found
    }

    fn second(&self) -> Option<char> {
        self.rest.clone().nth(1)
    }

    fn skip_blanks(&mut self) {
        while let Some(letter) = self.rest.peek().copied() {
            match (letter, self.second()) {
                ('#', _) | ('/', Some('/')) => self.skip_line(),
                ('/', Some('*')) => self.skip_comment(),
                _ if letter.is_whitespace() || letter == '\u{feff}' => drop(self.take()),
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        while self.rest.peek().is_some_and(|letter| *letter != '\n') {
            self.take();
        }
    }

    fn skip_comment(&mut self) {
        let start = self.place;
        self.take();
        self.take();
        while let Some(letter) = self.take() {
            if letter == '*' && self.take_if('/') {
                return;
            }
        }
        self.problems.push(Problem::at(start, "this comment has no end; write */"));
    }

    fn token(&mut self) -> Option<Token> {
        let place = self.place;
        let letter = *self.rest.peek()?;
        match letter {
            '{' | '}' | '(' | ')' | '=' | ',' | ';' | ':' => self.take().map(Token::Mark),
            '"' => self.text(),
            '[' => self.address(),
            _ if in_word(letter) => Some(Token::Word(self.word())),
            _ => {
                self.take();
                let cause = format!("unexpected character {letter:?}");
                self.problems.push(Problem::at(place, cause));
                None
            }
        }
    }

    fn text(&mut self) -> Option<Token> {
        let place = self.place;
        self.take();
        let mut text = String::new();
        while let Some(letter) = self.rest.peek().copied().filter(|letter| *letter != '\n') {
            self.take();
            if letter == '"' {
                return Some(Token::Text(text));
            }
            text.push(letter);
        }
        self.problems.push(Problem::at(place, "this text has no end; write \" in the same line"));
        None
    }

    /// An IPv6 address in brackets, kept with them.
    fn address(&mut self) -> Option<Token> {
        let place = self.place;
        let mut word = String::from('[');
        self.take();
        while let Some(letter) = self.rest.peek().copied() {
            if !(letter.is_ascii_alphanumeric() || ":.%]".contains(letter)) {
                break;
            }
            self.take();
            word.push(letter);
            if letter == ']' {
                return Some(Token::Word(word));
            }
        }
        self.problems.push(Problem::at(place, "this address has no end; write ]"));
        None
    }

    /// Letters, digits, dots, minus; a plus in `1e+5`, the slash of `Mbit/s`, a percent sign.
    fn word(&mut self) -> String {
        let mut word = String::new();
        while let Some(letter) = self.rest.peek().copied() {
            let slash = letter == '/' && word.ends_with("bit") && self.second() == Some('s');
            let plus = letter == '+' && is_exponent(&word);
            if !(in_word(letter) || slash || plus) {
                break;
            }
            word.extend(self.take());
        }
        word
    }
}

fn in_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | '%')
}

fn is_exponent(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || c == '-') && word.ends_with(['e', 'E'])
}
