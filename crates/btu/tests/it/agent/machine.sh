# Boots systemd as the first process of namespaces of its own, over a copy-on-write view of this
# machine's files. Nothing of the machine itself is changed: not its processes, not its cgroups beside the
# one that was made for this, not its clock, its kernel's settings or its log.
#
# $1: an empty folder, $2: the program, $3: the folder with the units.
set -eu
folder=$1 program=$2 units=$3
root=$folder/root
mount -t tmpfs -o mode=755 btu-machine "$folder"
mkdir "$folder/upper" "$folder/work" "$root"
mount -t overlay -o "lowerdir=/,upperdir=$folder/upper,workdir=$folder/work" btu-machine "$root"

mount -t proc proc "$root/proc"
mount --bind "$root/proc/sys" "$root/proc/sys"
mount -o remount,bind,ro "$root/proc/sys"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for place in run tmp var/tmp; do
    mount -t tmpfs -o mode=1777 tmpfs "$root/$place"
done
chmod 755 "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for node in null zero full random urandom tty; do
    touch "$root/dev/$node"
    mount --bind "/dev/$node" "$root/dev/$node"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"

# What a machine does when it starts is not what is looked at: its log alone is wanted.
system=$root/etc/systemd/system
for wanted in "$root"/lib/systemd/system/sysinit.target.wants/* "$system"/*.wants/*; do
    case $wanted in
    *journald*) ;;
    *) ln -sf /dev/null "$system/$(basename "$wanted")" ;;
    esac
done
rm -rf "$root/var/lib/btu" "$root/var/lib/btu-io" "$root/var/lib/private" "$root/var/log/journal"
: >"$root/etc/fstab"
tr -d - </proc/sys/kernel/random/uuid >"$root/etc/machine-id"
printf '[Unit]\nWants=systemd-journald.service\n' >"$system/btu-machine.target"

# As the page says: install.
touch "$root/usr/local/bin/btu"
mount --bind "$program" "$root/usr/local/bin/btu"
cp -r "$units/." "$system/"

cd "$root"
pivot_root . .
umount -l .
cd /
# systemd(1): "container" says that devices, kernel and clock are somebody else's.
exec env -i container=btu PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    setpriv --bounding-set=-sys_time,-sys_module,-sys_rawio,-syslog,-sys_boot \
    /lib/systemd/systemd --unit=btu-machine.target
