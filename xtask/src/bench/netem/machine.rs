//! The emulated machine of the bench: a Debian kernel that has netem, and a root made of our programs.

use std::fs;
use std::io::BufRead;
use std::io::BufReader;
use std::path::Path;
use std::path::PathBuf;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use anyhow::Result;
use anyhow::bail;

use super::awake::Awake;
use crate::program::installed;
use crate::repo::Repo;

/// Debian's kernel for clouds: small, and with every module that is needed here.
const KERNEL: &str = "linux-image-cloud-amd64";
const MODULES: [&str; 6] = ["veth", "macvlan", "sch_netem", "sch_ingress", "cls_u32", "act_mirred"];
/// Programs of the host that the guest has, too, with their libraries.
const PROGRAMS: [&str; 2] = ["busybox", "ip"];
/// Where everything of it lies.
const FOLDER: &str = "target/netem";
/// A machine without hardware help takes a minute or two.
const PATIENCE: Duration = Duration::from_mins(15);

/// Programs that run the machine, and the Debian packages that bring them.
static NEEDED: &[(&str, &str)] =
    &[("busybox", "busybox-static"), ("ip", "iproute2"), ("qemu-system-x86_64", "qemu-system-x86")];

/// Runs `init` in a machine with these programs of ours; gives what it said.
pub(super) fn run(repo: &Repo, ours: &[&str], init: &str) -> Result<Vec<String>> {
    install(repo)?;
    let folder = repo.path(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let kernel = kernel(repo, &folder)?;
    let root = folder.join("root");
    if root.exists() {
        fs::remove_dir_all(&root).with_context(|| format!("clear {}", root.display()))?;
    }
    furnish(repo, &root, ours)?;
    modules(&kernel, &root)?;
    write_program(&root.join("init"), init.as_bytes())?;
    let image = pack(repo, &root, &folder.join("initramfs"))?;
    boot(repo, &file_like(&kernel.join("boot"), "vmlinuz-")?, &image)
}

/// Installs what is missing, or says what that is.
fn install(repo: &Repo) -> Result<()> {
    let missing = NEEDED.iter().filter(|(program, _)| installed(program).is_none());
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if installed("apt-get").is_none() {
        bail!("no apt-get here to install {names}");
    }
    let line = format!(
        "env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends {names}"
    );
    if repo.step("apt-get update -qq")? && repo.step(&line)? {
        return Ok(());
    }
    bail!("{names}: not installed; it takes root and Debian's packages")
}

/// The kernel's package, unpacked and never installed.
fn kernel(repo: &Repo, folder: &Path) -> Result<PathBuf> {
    let unpacked = folder.join("kernel");
    if file_like(&unpacked.join("boot"), "vmlinuz-").is_ok() {
        return Ok(unpacked);
    }
    let package = newest(repo)?;
    println!("$ apt-get download {package}");
    let mut download = Command::new("apt-get");
    let done = download.args(["download", "-qq", &package]).current_dir(folder).status();
    if !done.context("run apt-get")?.success() {
        bail!("{package}: not downloaded");
    }
    let archive = file_like(folder, &format!("{package}_"))?;
    let archive = archive.display();
    if !repo.step(&format!("dpkg-deb -x {archive} {}", unpacked.display()))? {
        bail!("{archive}: not unpacked");
    }
    Ok(unpacked)
}

/// The package behind the name that stays.
fn newest(repo: &Repo) -> Result<String> {
    let output = repo.command("apt-cache").args(["depends", KERNEL]).output();
    let output = output.context("run apt-cache")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let depends = text.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
    depends.map(str::to_owned).with_context(|| format!("apt-cache depends {KERNEL}: no package"))
}

/// Programs with their libraries, where the loader looks for them.
fn furnish(repo: &Repo, root: &Path, ours: &[&str]) -> Result<()> {
    let folders = ["bin", "lib", "lib64", "modules", "proc", "sys", "dev", "tmp", "run", "etc"];
    for folder in folders {
        fs::create_dir_all(root.join(folder)).context("make the machine's root")?;
    }
    let theirs = PROGRAMS
        .iter()
        .map(|name| installed(name).with_context(|| format!("{name}: not installed")));
    let programs: Vec<PathBuf> =
        theirs.chain(ours.iter().map(|path| Ok(repo.path(path)))).collect::<Result<_>>()?;
    for program in programs {
        let name = program.file_name().context("a program has a name")?;
        let target = root.join("bin").join(name);
        copy(&program, &target)?;
        // What only a debugger reads is most of it; a program that cannot be stripped stays as it is.
        let _ = Command::new("strip").arg(&target).stderr(Stdio::null()).status();
        for library in libraries(&program)? {
            let name = library.file_name().context("a library has a name")?;
            let place = if is_loader(&library) { "lib64" } else { "lib" };
            copy(&library, &root.join(place).join(name))?;
        }
    }
    Ok(())
}

fn is_loader(library: &Path) -> bool {
    library.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-linux"))
}

/// What `ldd` says of a program; a static one has none.
fn libraries(program: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("ldd").arg(program).output().context("run ldd")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let path =
        |line: &str| line.split_whitespace().find(|word| word.starts_with('/')).map(PathBuf::from);
    Ok(text.lines().filter_map(path).collect())
}

/// In the order in which they are loaded.
fn modules(kernel: &Path, root: &Path) -> Result<()> {
    for (number, name) in MODULES.iter().enumerate() {
        let found = find(&kernel.join("lib/modules"), &format!("{name}.ko"))?;
        let found = found.with_context(|| format!("this kernel's package has no {name}.ko"))?;
        copy(&found, &root.join("modules").join(format!("{number}-{name}.ko")))?;
    }
    Ok(())
}

fn find(folder: &Path, name: &str) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))? {
        let path = entry?.path();
        if path.file_name().is_some_and(|own| own == name) {
            return Ok(Some(path));
        }
        if path.is_dir()
            && !path.is_symlink()
            && let Some(found) = find(&path, name)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn file_like(folder: &Path, start: &str) -> Result<PathBuf> {
    let files = fs::read_dir(folder).with_context(|| format!("list {}", folder.display()))?;
    let begins = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
    };
    let found = files.filter_map(|entry| Some(entry.ok()?.path())).find(begins);
    found.with_context(|| format!("{}: no {start}*", folder.display()))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("copy {}", from.display())).map(drop)
}

fn write_program(path: &Path, text: &[u8]) -> Result<()> {
    fs::write(path, text).with_context(|| format!("write {}", path.display()))?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).with_context(|| format!("make {} a program", path.display()))
}

fn pack(repo: &Repo, root: &Path, image: &Path) -> Result<PathBuf> {
    let script = format!(
        "cd {} && busybox find . | busybox cpio -o -H newc > {} 2>/dev/null",
        root.display(),
        image.display()
    );
    let status = repo.command("sh").args(["-c", &script]).status().context("run sh")?;
    if status.success() { Ok(image.to_owned()) } else { bail!("{script}: {status}") }
}

/// Runs the machine until it switches itself off; gives every line of its console.
fn boot(repo: &Repo, kernel: &Path, image: &Path) -> Result<Vec<String>> {
    let mut command = repo.command("qemu-system-x86_64");
    command.args(["-accel", "tcg", "-cpu", "max", "-smp", "2", "-m", "2048", "-nographic"]);
    command.args(["-no-reboot", "-nic", "none", "-kernel"]).arg(kernel).arg("-initrd").arg(image);
    // A tick that stops and starts costs an emulated CPU most of a millisecond.
    command.args(["-append", "console=ttyS0 quiet loglevel=1 panic=-1 nohz=off"]);
    let _awake = Awake::keep(repo)?;
    let mut machine = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let console = machine.stdout.take().context("a machine without a console")?;
    let reader = thread::spawn(move || {
        let lines = BufReader::new(console).split(b'\n').map_while(Result::ok);
        lines.map(|line| String::from_utf8_lossy(&line).trim_end().to_owned()).collect()
    });
    ended(&mut machine)?;
    reader.join().map_err(|_| anyhow::anyhow!("the reader of the console panicked"))
}

/// Waits until it has ended by itself, for as long as it may.
fn ended(machine: &mut Child) -> Result<()> {
    let end = std::time::Instant::now() + PATIENCE;
    while machine.try_wait().context("wait for the machine")?.is_none() {
        if std::time::Instant::now() > end {
            machine.kill().context("end the machine")?;
            machine.wait().context("end the machine")?;
            println!("netem: the machine did not end within {} s", PATIENCE.as_secs());
        }
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}
