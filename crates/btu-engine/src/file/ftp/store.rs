//! The files of an FTP server, in memory: what was put can be got back, within a limit.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

use btu_core::units::Bytes;
use btu_sys::memory::Buffer;
use btu_sys::memory::Pages;

use super::name::Meaning;
use super::name::Name;

/// Why the store did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::file) enum StoreError {
    #[error("already there")]
    Exists,
    #[error("no room left")]
    Full,
    #[error("is a directory")]
    IsDirectory,
    #[error("no such file or directory")]
    Missing,
    #[error("directory not empty")]
    NotEmpty,
}

/// Files and directories by name; the standing directories are not among them.
#[derive(Debug)]
pub(in crate::file) struct Store {
    entries: Mutex<BTreeMap<Name, Entry>>,
    budget: Arc<Budget>,
}

/// One thing in the store.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Directory,
    File(Arc<Object>),
}

/// The content of a file; it never changes.
#[derive(Debug)]
pub(in crate::file) struct Object {
    /// All full but the last one.
    blocks: Vec<Arc<Block>>,
    size: u64,
}

/// A file that is being written. Dropped, it leaves nothing behind.
#[derive(Debug)]
pub(in crate::file) struct Draft {
    full: Vec<Arc<Block>>,
    /// The block in work, and how much of it is taken.
    last: Option<(Block, usize)>,
    budget: Arc<Budget>,
}

/// Memory that counts against the limit for as long as it lives.
#[derive(Debug)]
struct Block {
    memory: Buffer,
    budget: Arc<Budget>,
}

#[derive(Debug)]
struct Budget {
    limit: u64,
    used: AtomicU64,
}

impl Store {
    pub(in crate::file) fn of_at_most(limit: Bytes) -> Self {
        let budget = Budget { limit: limit.count(), used: AtomicU64::new(0) };
        Self { entries: Mutex::default(), budget: Arc::new(budget) }
    }

    /// A new file, empty or beginning as `content` does.
    pub(in crate::file) fn draft(&self, content: Option<&Object>) -> Result<Draft, StoreError> {
        let budget = Arc::clone(&self.budget);
        let mut draft = Draft { full: Vec::new(), last: None, budget };
        if let Some(content) = content {
            draft.begin_as(content)?;
        }
        Ok(draft)
    }

    /// Makes the draft the file `name`, in place of an older one.
    pub(in crate::file) fn put(&self, name: &Name, draft: Draft) -> Result<(), StoreError> {
        let mut entries = self.lock();
        may_be_file(&entries, name)?;
        entries.insert(name.clone(), Entry::File(Arc::new(draft.finish())));
        Ok(())
    }

    /// Whether a file of this name could be put now.
    pub(in crate::file) fn may_put(&self, name: &Name) -> Result<(), StoreError> {
        may_be_file(&self.lock(), name)
    }

    pub(in crate::file) fn file(&self, name: &Name) -> Result<Arc<Object>, StoreError> {
        match self.lock().get(name) {
            Some(Entry::Directory) => Err(StoreError::IsDirectory),
            Some(Entry::File(object)) => Ok(Arc::clone(object)),
            None => Err(StoreError::Missing),
        }
    }

    pub(super) fn is_directory(&self, name: &Name) -> bool {
        is_directory(&self.lock(), name)
    }

    pub(super) fn make_directory(&self, name: &Name) -> Result<(), StoreError> {
        let mut entries = self.lock();
        if is_directory(&entries, name) || entries.contains_key(name) {
            return Err(StoreError::Exists);
        }
        may_be_file(&entries, name)?;
        entries.insert(name.clone(), Entry::Directory);
        Ok(())
    }

    pub(super) fn remove_directory(&self, name: &Name) -> Result<(), StoreError> {
        let mut entries = self.lock();
        match entries.get(name) {
            Some(Entry::Directory) if below(&entries, name).next().is_some() => {
                Err(StoreError::NotEmpty)
            }
            Some(Entry::Directory) => {
                entries.remove(name);
                Ok(())
            }
            _ => Err(StoreError::Missing),
        }
    }

    pub(in crate::file) fn remove(&self, name: &Name) -> Result<(), StoreError> {
        let mut entries = self.lock();
        match entries.get(name) {
            Some(Entry::Directory) => Err(StoreError::IsDirectory),
            Some(Entry::File(_)) => {
                entries.remove(name);
                Ok(())
            }
            None => Err(StoreError::Missing),
        }
    }

    /// What lies directly in the directory `name`.
    pub(super) fn list(&self, name: &Name) -> Vec<(Name, Entry)> {
        let entries = self.lock();
        let direct = below(&entries, name).filter(|(entry, _)| entry.parent() == *name);
        direct.map(|(name, entry)| (name.clone(), entry.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Name, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_directory(entries: &BTreeMap<Name, Entry>, name: &Name) -> bool {
    name.meaning() == Meaning::Directory || matches!(entries.get(name), Some(Entry::Directory))
}

fn may_be_file(entries: &BTreeMap<Name, Entry>, name: &Name) -> Result<(), StoreError> {
    if is_directory(entries, name) {
        return Err(StoreError::IsDirectory);
    }
    if !is_directory(entries, &name.parent()) {
        return Err(StoreError::Missing);
    }
    let room = entries.len() < MOST_ENTRIES || entries.contains_key(name);
    if room { Ok(()) } else { Err(StoreError::Full) }
}

/// Everything below a directory, at any depth.
fn below<'a>(
    entries: &'a BTreeMap<Name, Entry>,
    directory: &Name,
) -> impl Iterator<Item = (&'a Name, &'a Entry)> + use<'a> {
    let prefix = format!("{}/", directory.as_str().trim_end_matches('/'));
    let after = entries.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
    after.take_while(move |(name, _)| name.as_str().starts_with(&prefix))
}

impl Object {
    pub(in crate::file) fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }

    /// The bytes of one block; `None` behind the last one.
    pub(in crate::file) fn chunk(&self, index: usize) -> Option<&[u8]> {
        let block = self.blocks.get(index)?;
        let before = index as u64 * BLOCK as u64;
        let length = usize::try_from(self.size.saturating_sub(before)).unwrap_or(BLOCK).min(BLOCK);
        block.memory.get(..length).filter(|chunk| !chunk.is_empty())
    }
}

impl Draft {
    /// Full blocks are shared with the other file; a part of a block is copied.
    fn begin_as(&mut self, content: &Object) -> Result<(), StoreError> {
        for (index, block) in content.blocks.iter().enumerate() {
            match content.chunk(index) {
                Some(chunk) if chunk.len() == BLOCK => self.full.push(Arc::clone(block)),
                Some(chunk) => {
                    self.room()?[..chunk.len()].copy_from_slice(chunk);
                    self.take(chunk.len());
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Room for more bytes, never empty.
    pub(in crate::file) fn room(&mut self) -> Result<&mut [u8], StoreError> {
        if let Some((block, _)) = self.last.take_if(|(_, taken)| *taken == BLOCK) {
            self.full.push(Arc::new(block));
        }
        let (block, taken) = match self.last.take() {
            Some(last) => last,
            None => (Block::claim(&self.budget)?, 0),
        };
        let (block, taken) = self.last.insert((block, taken));
        Ok(&mut block.memory[*taken..])
    }

    /// So many bytes of the room are taken.
    pub(in crate::file) fn take(&mut self, count: usize) {
        if let Some((_, taken)) = &mut self.last {
            *taken = taken.saturating_add(count).min(BLOCK);
        }
    }

    fn finish(self) -> Object {
        let mut blocks = self.full;
        let mut size = blocks.len() as u64 * BLOCK as u64;
        if let Some((block, taken)) = self.last.filter(|(_, taken)| *taken > 0) {
            size += taken as u64;
            blocks.push(Arc::new(block));
        }
        Object { blocks, size }
    }
}

impl Block {
    fn claim(budget: &Arc<Budget>) -> Result<Self, StoreError> {
        let claim = |used: u64| used.checked_add(BLOCK as u64).filter(|sum| *sum <= budget.limit);
        let claimed = budget.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, claim);
        claimed.map_err(|_| StoreError::Full)?;
        if let Ok(memory) = Buffer::new(BLOCK, 0, Pages::OnTouch) {
            return Ok(Self { memory, budget: Arc::clone(budget) });
        }
        budget.used.fetch_sub(BLOCK as u64, Ordering::Relaxed);
        Err(StoreError::Full)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(BLOCK as u64, Ordering::Relaxed);
    }
}

/// The unit of memory, and of one call of the system.
const BLOCK: usize = 65536;

/// Names cost memory too.
const MOST_ENTRIES: usize = 10_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> Name {
        Name::root().resolve(text).unwrap()
    }

    fn write(draft: &mut Draft, mut bytes: &[u8]) -> Result<(), StoreError> {
        while !bytes.is_empty() {
            let room = draft.room()?;
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            draft.take(count);
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn put(store: &Store, at: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut draft = store.draft(None)?;
        write(&mut draft, bytes)?;
        store.put(&name(at), draft)
    }

    fn content(store: &Store, at: &str) -> Vec<u8> {
        let object = store.file(&name(at)).unwrap();
        (0..).map_while(|index| object.chunk(index)).flatten().copied().collect()
    }

    #[test]
    fn what_was_put_is_there_until_it_is_removed() {
        let store = Store::of_at_most(Bytes::new(1 << 20));
        put(&store, "/a", b"bits").unwrap();
        assert_eq!(content(&store, "/a"), b"bits");
        assert_eq!(store.file(&name("/a")).unwrap().size(), Bytes::new(4));
        put(&store, "/a", b"").unwrap();
        assert_eq!(content(&store, "/a"), b"");
        store.remove(&name("/a")).unwrap();
        assert_eq!(store.file(&name("/a")).unwrap_err(), StoreError::Missing);
    }

    #[test]
    fn memory_is_limited_and_comes_back() {
        let store = Store::of_at_most(Bytes::new(4 * BLOCK as u64));
        put(&store, "/a", &vec![1; 2 * BLOCK]).unwrap();
        assert_eq!(put(&store, "/b", &vec![2; 3 * BLOCK]), Err(StoreError::Full));
        put(&store, "/b", &vec![3; 2 * BLOCK]).unwrap();
        store.remove(&name("/a")).unwrap();
        put(&store, "/c", &vec![4; BLOCK + 1]).unwrap();
        assert_eq!(store.budget.used.load(Ordering::Relaxed), 4 * BLOCK as u64);
    }

    #[test]
    fn directories_hold_their_own() {
        let store = Store::of_at_most(Bytes::new(1 << 20));
        assert_eq!(put(&store, "/d/a", b"x"), Err(StoreError::Missing));
        store.make_directory(&name("/d")).unwrap();
        assert_eq!(store.make_directory(&name("/d")), Err(StoreError::Exists));
        assert_eq!(store.make_directory(&name("/zero")), Err(StoreError::Exists));
        for at in ["/d/a", "/d-", "/d.x", "/e"] {
            put(&store, at, b"x").unwrap();
        }
        let listed: Vec<Name> = store.list(&name("/d")).into_iter().map(|(n, _)| n).collect();
        assert_eq!(listed, [name("/d/a")]);
        assert_eq!(store.list(&Name::root()).len(), 4);
        assert_eq!(store.remove_directory(&name("/d")), Err(StoreError::NotEmpty));
        assert_eq!(store.remove(&name("/d")), Err(StoreError::IsDirectory));
        assert_eq!(put(&store, "/d", b"x"), Err(StoreError::IsDirectory));
        store.remove(&name("/d/a")).unwrap();
        store.remove_directory(&name("/d")).unwrap();
        assert!(!store.is_directory(&name("/d")));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn appended_pieces_read_back_as_one(
            sizes in prop::collection::vec(0_usize..3 * BLOCK, 1..5),
        ) {
            let store = Store::of_at_most(Bytes::new(1 << 26));
            let mut expected = Vec::new();
            for (index, size) in sizes.iter().enumerate() {
                let piece = vec![u8::try_from(index).unwrap(); *size];
                let before = store.file(&name("/a")).ok();
                let mut draft = store.draft(before.as_deref()).unwrap();
                write(&mut draft, &piece).unwrap();
                store.put(&name("/a"), draft).unwrap();
                expected.extend_from_slice(&piece);
            }
            prop_assert!(content(&store, "/a") == expected);
        }
    }
}
