//! A browser without a window that does what it is told: open a page, turn the wheel, drag, ask.
//!
//! A crate includes this file. The browser is spoken to over two pipes (its remote debugging
//! protocol, messages end with a zero byte), so nothing listens on a port.

use std::fs::File;
use std::fs::OpenOptions;
use std::io;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;

use serde_json::Value;
use serde_json::json;

/// A running browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: String,
    last: u64,
    /// What the page wrote to its console or the policy refused.
    pub(crate) complaints: Vec<String>,
}

impl Browser {
    /// Starts it with its profile and its pipes in `folder`; the page is `size` pixels wide and high.
    pub(crate) fn start(folder: &Path, size: [u32; 2]) -> io::Result<Self> {
        let pipes = ["to", "from"].map(|name| folder.join(name));
        // Whatever it waits for, it ends: then every call here fails.
        Command::new("mkfifo").args(&pipes).status()?;
        let child = Command::new("sh")
            .args(["-c", r#"exec timeout -k 1 120 chromium "$@" 3<"$TO" 4>"$FROM""#, "sh"])
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--remote-debugging-pipe"])
            .arg(format!("--window-size={},{}", size[0], size[1]))
            .arg(format!("--user-data-dir={}", folder.join("profile").display()))
            .arg("about:blank")
            .envs([("TO", &pipes[0]), ("FROM", &pipes[1])])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // In the order in which the shell opens them: each waits for the other side.
        let to = OpenOptions::new().write(true).open(&pipes[0])?;
        let from = BufReader::new(File::open(&pipes[1])?);
        let (session, complaints) = (String::new(), Vec::new());
        let mut browser = Self { child, to, from, session, last: 0, complaints };
        browser.attach(size)?;
        Ok(browser)
    }

    fn attach(&mut self, [width, height]: [u32; 2]) -> io::Result<()> {
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let wanted = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.call("Target.attachToTarget", &wanted)?;
        attached["sessionId"].as_str().unwrap_or_default().clone_into(&mut self.session);
        for domain in ["Page.bringToFront", "Page.enable", "Runtime.enable", "Log.enable"] {
            self.call(domain, &json!({}))?;
        }
        let screen = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", &screen).map(drop)
    }

    /// Opens a page and waits until it is there.
    pub(crate) fn open(&mut self, url: &str) -> io::Result<()> {
        self.call("Page.navigate", &json!({ "url": url }))?;
        self.ask(
            r#"new Promise((is) => document.readyState === "complete" ? is(true)
            : addEventListener("load", () => is(true)))"#,
        )
        .map(drop)
    }

    /// What an expression, or its promise, comes to. It may say anything that JSON can.
    pub(crate) fn ask(&mut self, expression: &str) -> io::Result<Value> {
        let wanted = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        let answer = self.call("Runtime.evaluate", &wanted)?;
        match &answer["exceptionDetails"] {
            Value::Null => Ok(answer["result"]["value"].clone()),
            details => Err(io::Error::other(format!("{expression}: {details}"))),
        }
    }

    /// What the mouse does at a place of the page: `mouseMoved`, `mousePressed`, `mouseReleased`.
    pub(crate) fn mouse(&mut self, kind: &str, [x, y]: [f64; 2]) -> io::Result<()> {
        let held = u8::from(kind != "mouseReleased");
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": held, "clickCount": 1,
        });
        self.call("Input.dispatchMouseEvent", &event).map(drop)
    }

    /// Turns the wheel while Ctrl is held.
    pub(crate) fn wheel(&mut self, [x, y]: [f64; 2], down: f64) -> io::Result<()> {
        const CTRL: u8 = 2;
        let event = json!({
            "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": down, "modifiers": CTRL,
        });
        self.call("Input.dispatchMouseEvent", &event).map(drop)
    }

    /// Says something to the browser, or to its page once there is one, and waits for the answer.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> io::Result<Value> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.to.write_all(&bytes)?;
        loop {
            let said = self.next()?;
            if said["id"] != json!(self.last) {
                self.note(&said);
                continue;
            }
            return match &said["error"] {
                Value::Null => Ok(said["result"].clone()),
                error => Err(io::Error::other(format!("{method}: {error}"))),
            };
        }
    }

    fn next(&mut self) -> io::Result<Value> {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes)?;
        if bytes.pop() != Some(0) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the browser ended"));
        }
        Ok(serde_json::from_slice(&bytes)?)
    }

    fn note(&mut self, event: &Value) {
        let kinds = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"];
        if kinds.iter().any(|kind| event["method"] == *kind) {
            self.complaints.push(event["params"].to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
