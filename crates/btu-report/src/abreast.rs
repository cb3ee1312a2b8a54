//! The same work on many things, on all CPUs; what comes of it does not depend on how many there are.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

/// What `work` makes of each thing, in their order. A panic in it is passed on.
pub(crate) fn map<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_with(things, || (), |(), thing| work(thing))
}

/// The same with something that each thread keeps from one thing to the next, as `begin` makes it. What
/// comes of a thing may not depend on it: who gets which thing is chance.
pub(crate) fn map_with<T: Sync, R: Send, K>(
    things: &[T],
    begin: impl Fn() -> K + Sync,
    work: impl Fn(&mut K, &T) -> R + Sync,
) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(things.len());
    if threads < 2 {
        let mut kept = begin();
        return things.iter().map(|thing| work(&mut kept, thing)).collect();
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let (mut kept, mut done) = (begin(), Vec::new());
        while let Some((place, thing)) = taken(things, &next) {
            done.push((place, work(&mut kept, thing)));
        }
        done
    };
    let mut all = thread::scope(|scope| {
        // Where no more threads are to be had, those that are do all of it, this one if no other.
        let start = |_| thread::Builder::new().spawn_scoped(scope, worker).ok();
        let running: Vec<_> = (0..threads).filter_map(start).collect();
        let mut all = if running.is_empty() { worker() } else { Vec::new() };
        for ended in running {
            all.extend(ended.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, result)| result).collect()
}

/// The next thing that nobody has, with its place.
fn taken<'t, T>(things: &'t [T], next: &AtomicUsize) -> Option<(usize, &'t T)> {
    let place = next.fetch_add(1, Relaxed);
    Some((place, things.get(place)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_things() {
        let things: Vec<u64> = (0..100).collect();
        let late = |number: &u64| {
            thread::sleep(std::time::Duration::from_micros(number % 7 * 50));
            number * 2
        };
        assert_eq!(map(&things, late), things.iter().map(|number| number * 2).collect::<Vec<_>>());
        assert!(map(&[], late).is_empty());
        assert_eq!(map(&[4], late), [8]);
    }

    #[test]
    fn each_thread_keeps_its_own() {
        let things: Vec<usize> = (1..=100).collect();
        let count = |kept: &mut usize, thing: &usize| {
            *kept += 1;
            (*kept, *thing)
        };
        let found = map_with(&things, || 0, count);
        assert!(found.iter().map(|(_, thing)| thing).eq(&things));
        // Somebody begins and somebody goes on, nobody is further than everything.
        assert!(found.iter().any(|(kept, _)| *kept == 1));
        assert!(found.iter().all(|(kept, thing)| kept <= thing), "{found:?}");
    }
}
