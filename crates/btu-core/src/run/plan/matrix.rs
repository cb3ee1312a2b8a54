//! The matrix of a plan: its cases, applications and activities, of the user's or of the edition.

use toml::Spanned;

use super::PlanError;
use super::raw::RawApplication;
use super::raw::RawMatrix;
use super::raw::RawOwn;
use super::text::Reader;
use crate::run::cell::ActivityName;
use crate::run::cell::Application;
use crate::run::cell::Case;
use crate::units::Bytes;

/// What is combined with what.
pub(super) struct Matrix {
    pub(super) cases: Vec<Case>,
    pub(super) applications: Vec<Application>,
    pub(super) activities: Vec<ActivityName>,
}

impl Matrix {
    /// True where every member of the other matrix is one of this.
    pub(super) fn holds(&self, other: &Self) -> bool {
        holds_all(&self.cases, &other.cases)
            && holds_all(&self.applications, &other.applications)
            && holds_all(&self.activities, &other.activities)
    }
}

fn holds_all<T: PartialEq>(these: &[T], others: &[T]) -> bool {
    others.iter().all(|one| these.contains(one))
}

impl Reader<'_> {
    /// The user's matrix over the edition's.
    pub(super) fn matrix(&self, own: &RawMatrix, base: &RawMatrix) -> Result<Matrix, PlanError> {
        let applications = self.applications(own, base)?;
        let (cases, activities) = self.axes(own, base)?;
        Ok(Matrix { cases, applications, activities })
    }

    /// Cases and activities of the plan, in the edition's order.
    fn axes(
        &self,
        own: &RawMatrix,
        base: &RawMatrix,
    ) -> Result<(Vec<Case>, Vec<ActivityName>), PlanError> {
        let mut cases = Vec::new();
        for text in own.cases.as_ref().or(base.cases.as_ref()).into_iter().flatten() {
            let case = self.value::<Case>("matrix.cases", text)?;
            self.once("matrix.cases", text, cases.contains(&case))?;
            cases.push(case);
        }
        let mut activities = Vec::new();
        for text in own.activities.as_ref().or(base.activities.as_ref()).into_iter().flatten() {
            let activity = self.activity(text)?;
            self.once("matrix.activities", text, activities.contains(&activity))?;
            activities.push(activity);
        }
        cases.sort();
        self.not_empty("matrix.cases", cases.is_empty(), &Case::ALL.map(Case::name))?;
        self.not_empty("matrix.activities", activities.is_empty(), self.words.activities)?;
        Ok((cases, activities))
    }

    /// The application classes of the plan, by message size.
    fn applications(
        &self,
        own: &RawMatrix,
        base: &RawMatrix,
    ) -> Result<Vec<Application>, PlanError> {
        let known = self.own_applications(base.applications.as_deref().unwrap_or_default(), &[])?;
        let mut classes = match &own.applications {
            Some(listed) => self.own_applications(listed, &known)?,
            None => known.clone(),
        };
        classes.sort_by(|a, b| (a.message_bytes, &a.name).cmp(&(b.message_bytes, &b.name)));
        let names: Vec<&str> = known.iter().map(|class| class.name.as_str()).collect();
        self.not_empty("matrix.applications", classes.is_empty(), &names)?;
        Ok(classes)
    }

    fn own_applications(
        &self,
        listed: &[Spanned<RawApplication>],
        known: &[Application],
    ) -> Result<Vec<Application>, PlanError> {
        let mut classes: Vec<Application> = Vec::new();
        for entry in listed {
            let class = self.application(entry, known)?;
            let name = Spanned::new(entry.span(), class.name.clone());
            let is_known = classes.iter().any(|other| other.name == class.name);
            self.once("matrix.applications", &name, is_known)?;
            classes.push(class);
        }
        Ok(classes)
    }

    /// What stands twice would be measured twice in each pass, and one of both would count.
    fn once(&self, key: &str, name: &Spanned<String>, is_known: bool) -> Result<(), PlanError> {
        if is_known { Err(self.illegal(key, name, "named twice; leave one out")) } else { Ok(()) }
    }

    fn application(
        &self,
        entry: &Spanned<RawApplication>,
        known: &[Application],
    ) -> Result<Application, PlanError> {
        let illegal = |value: &str, cause: String| PlanError::Illegal {
            place: self.source.place(entry.span()),
            key: "matrix.applications".to_owned(),
            value: format!("\"{value}\""),
            cause,
        };
        match entry.get_ref() {
            RawApplication::Named(name) => {
                let names: Vec<&str> = known.iter().map(|k| k.name.as_str()).collect();
                let legal = format!(
                    "unknown application; write {} or {{ name = \"mine\", message = \"300B\" }}",
                    names.join(", ")
                );
                known.iter().find(|k| k.name == *name).cloned().ok_or_else(|| illegal(name, legal))
            }
            RawApplication::Own(RawOwn { name, .. }) if !is_name(name) => {
                let most = LONGEST_NAME;
                Err(illegal(
                    name,
                    format!("a name has 1 to {most} bytes, none of them / or a control"),
                ))
            }
            RawApplication::Own(RawOwn { name, message }) => match message.parse() {
                Ok(Bytes::ZERO) => {
                    Err(illegal(message, "a message has at least one byte".to_owned()))
                }
                Ok(bytes) if bytes > LARGEST_MESSAGE => {
                    Err(illegal(message, format!("a message has at most {LARGEST_MESSAGE}")))
                }
                Ok(message_bytes) => Ok(Application { name: name.clone(), message_bytes }),
                Err(cause) => Err(illegal(message, cause.to_string())),
            },
        }
    }
}

/// Files are called by it, and cells: CASE/APPLICATION/ACTIVITY.
fn is_name(text: &str) -> bool {
    let is_legal = |letter: char| letter != '/' && !letter.is_control();
    (1..=LONGEST_NAME).contains(&text.len()) && text.chars().all(is_legal)
}

/// Where each byte takes three in the name of a file, which has 255 at most.
const LONGEST_NAME: usize = 64;
/// Both ends of each connection hold one message in memory.
const LARGEST_MESSAGE: Bytes = Bytes::new(64 * 1024 * 1024);
