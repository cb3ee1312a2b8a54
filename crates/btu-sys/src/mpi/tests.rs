//! Two ranks of each library that is there, started by its launcher: each is this test program again.

use std::process::Command;

use super::*;

/// 2 ranks: any sender, lengths, and many messages on their way at once.
#[test]
fn m2_two_ranks_pass_messages_under_the_launcher_of_open_mpi() {
    under::<OpenMpi>("mpirun.openmpi", "m2_two_ranks_pass_messages_under_the_launcher_of_open_mpi");
}

#[test]
fn m2_two_ranks_pass_messages_under_the_launcher_of_mpich() {
    under::<Mpich>("mpirun.mpich", "m2_two_ranks_pass_messages_under_the_launcher_of_mpich");
}

fn under<F: Family>(launcher: &str, test: &str) {
    const MARK: &str = "BTU_SYS_MPI_RANK";
    if std::env::var_os(MARK).is_some() {
        return talk(World::<F>::enter().unwrap());
    }
    if !crate::skip::installed(launcher) {
        skip!("program missing: {launcher}");
    }
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(launcher);
    for variable in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", MARK] {
        command.env(variable, "1");
    }
    if launcher == "mpirun.openmpi" {
        command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
    }
    command.args(["-np", "2"]).arg(own).args(["--exact", &format!("mpi::tests::{test}")]);
    let ended = command.args(["--test-threads", "1", "--nocapture"]).output().unwrap();
    // Ranks that abandon a send do not leave MPI in order, and some launchers call that a failure.
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(said.matches("passed all").count(), 2, "{ended:?}");
    assert!(said.contains("a send was abandoned"), "{ended:?}");
}

fn talk<F: Family>(mut world: World<F>) {
    assert_eq!(world.ranks(), 2);
    let library = world.library().unwrap();
    assert!(
        library.starts_with("Open MPI v") || library.starts_with("MPICH Version:"),
        "{library}"
    );
    let (me, other) = (world.rank(), 1 - world.rank());
    assert!(World::<F>::enter().is_err());
    for length in [0, 1, 4096, 300_000] {
        pass(&mut world, other, length, 5);
    }
    for tag in 0..64 {
        let sent = vec![tag; 10];
        if me == 0 {
            world.send::<Error>(other, tag.into(), &sent, |_| Ok(())).unwrap();
        } else {
            let mut space = [0; 10];
            // The last first: all 64 are on their way.
            let wanted = find(&mut world, Some((other, i32::from(63 - tag))));
            world.mail().unwrap().receive(&wanted, &mut space).unwrap();
            assert_eq!(space, [63 - tag; 10]);
        }
    }
    println!("rank {me} passed all");
    // Both have said so before one of them leaves without order: launchers end the others then.
    pass(&mut world, other, 0, 6);
    abandon(&mut world, other);
    println!("a send was abandoned");
}

/// Both send before they receive: each takes in meanwhile what the other sends.
fn pass<F: Family>(world: &mut World<F>, other: usize, length: usize, tag: i32) {
    let mut came: Option<Vec<u8>> = None;
    let sent = vec![7; length];
    world
        .send::<Error>(other, tag, &sent, |mail| {
            if came.is_none()
                && let Some(found) = mail.find(None)?
            {
                came = Some(taken(mail, &found));
            }
            Ok(())
        })
        .unwrap();
    let came = came.unwrap_or_else(|| {
        let found = find(world, None);
        assert_eq!((found.from, found.tag, found.bytes), (other, tag, length));
        taken(world.mail().unwrap(), &found)
    });
    assert!(came == sent);
}

fn taken<F: Family>(mail: &mut Mail<F>, found: &Found) -> Vec<u8> {
    let mut space = vec![0; found.bytes];
    mail.receive(found, &mut space).unwrap();
    space
}

fn find<F: Family>(world: &mut World<F>, of: Option<(usize, i32)>) -> Found {
    loop {
        if let Some(found) = world.mail().unwrap().find(of).unwrap() {
            return found;
        }
        std::thread::yield_now();
    }
}

/// More than is sent without the other rank.
fn abandon<F: Family>(world: &mut World<F>, other: usize) {
    let sent = vec![1; 8 << 20];
    let given_up = |_: &mut Mail<F>| Err(Error::new("wait", io::Error::other("no longer")));
    let told = world.send(other, 9, &sent, given_up).unwrap_err().to_string();
    assert_eq!(told, "wait");
    assert_eq!(world.mail().unwrap_err().to_string(), "MPI");
}
