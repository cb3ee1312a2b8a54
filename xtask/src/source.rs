//! Rust source seen as code and comments apart, and the functions in it.

/// One Rust file. `code` has strings and comments blanked, `comments` has all but comments
/// blanked; both keep every line where it was.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) code: String,
    pub(crate) comments: String,
}

/// A function from its `fn` to its closing brace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
}

impl Source {
    pub(crate) fn scan(path: String, text: String) -> Self {
        let (code, comments) = Scanner::new(&text).split();
        Self { path, text, code, comments }
    }

    /// The name of the crate that the file belongs to: `btu-core`, `xtask`, or `tests`.
    pub(crate) fn krate(&self) -> &str {
        let path = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        path.split('/').next().unwrap_or(path)
    }

    /// True for files that exist for tests alone.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/")
            || self.path.starts_with("tests/")
            || self.path.ends_with("/tests.rs")
    }

    pub(crate) fn functions(&self) -> Vec<Function> {
        let code: Vec<char> = self.code.chars().collect();
        words(&code).filter_map(|(at, word)| function_at(&code, at, &word)).collect()
    }

    /// Lines before the unit tests at the bottom of the file.
    pub(crate) fn lines_without_tests(&self) -> usize {
        self.test_line().unwrap_or_else(|| self.code.lines().count())
    }

    /// The line, counted from 0, at which `#[cfg(test)]` opens the unit tests.
    pub(crate) fn test_line(&self) -> Option<usize> {
        let lines: Vec<&str> = self.code.lines().collect();
        (0..lines.len()).find(|&n| {
            lines[n].trim() == "#[cfg(test)]"
                && lines.get(n + 1).is_some_and(|next| next.trim_end().ends_with("tests {"))
        })
    }

    /// True if `word` stands in the code as a word of its own.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        let code: Vec<char> = self.code.chars().collect();
        words(&code).any(|(_, found)| found == word)
    }
}

/// Every identifier or keyword with the index of its first character.
fn words(code: &[char]) -> impl Iterator<Item = (usize, String)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts =
        (0..code.len()).filter(move |&i| is_word(code[i]) && (i == 0 || !is_word(code[i - 1])));
    starts.map(move |i| (i, code[i..].iter().take_while(|&&c| is_word(c)).collect()))
}

fn function_at(code: &[char], at: usize, word: &str) -> Option<Function> {
    if word != "fn" {
        return None;
    }
    let (name_at, name) = words(&code[at + 2..]).next()?;
    let between = &code[at + 2..at + 2 + name_at];
    if between.is_empty() || between.iter().any(|c| !c.is_whitespace()) {
        return None;
    }
    let end = body_end(code, at)?;
    let newlines = |part: &[char]| part.iter().filter(|&&c| c == '\n').count();
    Some(Function { name, line: newlines(&code[..at]) + 1, lines: newlines(&code[at..end]) + 1 })
}

/// The index of the brace that closes the body, or `None` for a declaration without one.
fn body_end(code: &[char], from: usize) -> Option<usize> {
    let mut round = 0_i32;
    let mut curly = 0_i32;
    for (i, c) in code.iter().enumerate().skip(from) {
        match c {
            '(' | '[' => round += 1,
            ')' | ']' => round -= 1,
            ';' if round == 0 && curly == 0 => return None,
            '{' => curly += 1,
            '}' => {
                curly -= 1;
                if curly == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// Walks through Rust text and sends each character to the code or to the comments.
struct Scanner<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    code: String,
    comments: String,
    last: char,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.chars().peekable(),
            code: String::with_capacity(text.len()),
            comments: String::with_capacity(text.len()),
            last: ' ',
        }
    }

    fn split(mut self) -> (String, String) {
        while let Some(c) = self.rest.next() {
            match (c, self.rest.peek()) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', Some('"' | '#')) if !is_word(self.last) || self.last == 'b' => {
                    self.raw_string();
                }
                ('\'', _) => self.quote(),
                _ => self.put_code(c),
            }
        }
        (self.code, self.comments)
    }

    fn line_comment(&mut self) {
        self.put_comment('/');
        while let Some(c) = self.rest.next_if(|&c| c != '\n') {
            self.put_comment(c);
        }
    }

    fn block_comment(&mut self) {
        self.put_comment('/');
        let mut depth = 0;
        let mut last = '/';
        while let Some(c) = self.rest.next() {
            self.put_comment(c);
            match (last, c) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    last = c;
                    continue;
                }
            }
            last = ' ';
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.put_code('"');
        while let Some(c) = self.rest.next() {
            if c == '"' {
                return self.put_code('"');
            }
            self.blank(c);
            if c == '\\'
                && let Some(escaped) = self.rest.next()
            {
                self.blank(escaped);
            }
        }
    }

    /// `r"..."`, `r#"..."#`, and the raw identifier `r#name`, which is code.
    fn raw_string(&mut self) {
        self.put_code('r');
        let mut hashes = 0;
        while self.rest.next_if_eq(&'#').is_some() {
            self.put_code('#');
            hashes += 1;
        }
        if self.rest.next_if_eq(&'"').is_none() {
            return;
        }
        self.put_code('"');
        while let Some(c) = self.rest.next() {
            self.blank(c);
            if c == '"' && self.closes(hashes) {
                return;
            }
        }
    }

    fn closes(&mut self, hashes: usize) -> bool {
        let ahead = self.rest.clone().take(hashes).take_while(|&c| c == '#').count();
        if ahead == hashes {
            for _ in 0..hashes {
                self.rest.next();
                self.blank('#');
            }
        }
        ahead == hashes
    }

    /// A character literal is blanked, a lifetime is code.
    fn quote(&mut self) {
        self.put_code('\'');
        let mut ahead = self.rest.clone();
        let (first, second) = (ahead.next(), ahead.next());
        if first != Some('\\') && second != Some('\'') {
            return;
        }
        while let Some(c) = self.rest.next() {
            self.blank(c);
            match c {
                '\\' => {
                    if let Some(escaped) = self.rest.next() {
                        self.blank(escaped);
                    }
                }
                '\'' => return,
                _ => {}
            }
        }
    }

    fn put_code(&mut self, c: char) {
        self.code.push(c);
        self.comments.push(if c == '\n' { c } else { ' ' });
        self.last = c;
    }

    fn put_comment(&mut self, c: char) {
        self.comments.push(c);
        self.code.push(if c == '\n' { c } else { ' ' });
        self.last = ' ';
    }

    fn blank(&mut self, c: char) {
        let blank = if c == '\n' { c } else { ' ' };
        self.code.push(blank);
        self.comments.push(blank);
        self.last = ' ';
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Source {
        Source::scan("crates/btu-core/src/x.rs".into(), text.into())
    }

    #[test]
    fn strings_and_comments_are_not_code() {
        let source = scan("let a = \"unsafe \\\" {\"; // unsafe\n/* /* unsafe */ */ let b = '{';");
        assert!(!source.has_word("unsafe"));
        assert!(source.has_word("b"));
        assert!(!source.code.contains('{'));
        assert!(source.comments.contains("// unsafe"));
    }

    #[test]
    fn raw_strings_end_at_their_own_number_of_hashes() {
        let source = scan("let a = r#\"x \" { \"#; let r#fn = br\"{\"; let c = 1;");
        assert!(source.has_word("c"));
        assert!(!source.code.contains('{'));
    }

    #[test]
    fn lifetimes_are_not_characters() {
        let source = scan("fn f<'a>(x: &'a str) -> &'a str { if x == \"'\" { \"}\" } else { x } }");
        assert_eq!(source.functions().len(), 1);
    }

    #[test]
    fn a_function_runs_from_fn_to_its_closing_brace() {
        let source = scan(
            "trait T {\n    fn no(&self) -> [u8; 2];\n}\nfn yes(f: fn(u8) -> u8) {\n    {\n    }\n}\n",
        );
        assert_eq!(source.functions(), [Function { name: "yes".into(), line: 4, lines: 4 }]);
    }

    #[test]
    fn the_length_of_a_file_ends_where_its_tests_begin() {
        let source = scan("//! X.\n\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n");
        assert_eq!(source.lines_without_tests(), 4);
        assert_eq!(scan("fn a() {}\n").lines_without_tests(), 1);
    }
}
