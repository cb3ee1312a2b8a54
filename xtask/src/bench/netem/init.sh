#!/bin/busybox sh
# What the emulated machine does: the kernel's emulator beside the relay, then a run between three
# hosts under netem. Lines that begin with @ are read by the bench.
/bin/busybox mkdir /applets
/bin/busybox --install -s /applets
export PATH=/bin:/applets HOME=/tmp TMPDIR=/tmp LD_LIBRARY_PATH=/lib
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mkdir -p /run/netns /tmp/state
# The shell has an applet of this name, which knows no namespaces.
ip() { /bin/ip "$@"; }
ip link set lo up
# Fail fast: a module that does not load is told, and what needs it fails with the kernel's reason.
echo
for module in /modules/*.ko; do
    insmod "$module" || echo "@failed insmod $module"
done
echo "@kernel $(uname -r)"

/bin/beside_netem 2>&1 | sed 's/^/@link /'

# Two black boxes, each joined to the host under test, which is this namespace.
for number in 0 1; do
    ip netns add "black$number"
    ip link add name "black$number" type veth peer name lan netns "black$number"
    ip addr add "10.77.$number.1/24" dev "black$number"
    ip link set "black$number" up
    ip -n "black$number" link set lo up
    ip -n "black$number" addr add "10.77.$number.2/24" dev lan
    ip -n "black$number" link set lan up
    state="/tmp/state/$number"
    mkdir -p "$state"
    printf '[front]\ndevice = "lan"\naddress = "10.77.%s.9/24"\nmechanism = "netem"\n' "$number" \
        > "$state/policy.toml"
    inside="ip netns exec black$number"
    invite=$($inside btu agent invite --address "10.77.$number.2:7411" --state "$state")
    $inside btu agent --listen "10.77.$number.2:7411" --state "$state" &
    for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        btu agent status --state "$state" > /dev/null 2>&1 && break
        sleep 1
    done
    btu pair "$invite" --name "lab$number" --state /tmp/state/test
done
cat > /tmp/plan.toml <<'PLAN'
[matrix]
cases = ["SEND", "SEND+DL", "2RECV+DL", "2SEND+DR"]
applications = ["video"]
activities = ["idle"]
[time]
window = "500ms"
lead_in = "0ms"
alone = "50ms"
[passes]
min = 2
max = 2
PLAN
btu run --plan /tmp/plan.toml --active lab0 --passive lab1 --state /tmp/state/test \
    --capture none --quiet --json --out /tmp/result > /dev/null 2> /tmp/said
echo "@exit $?"
sed 's/^/@said /' /tmp/said
tr -d '\n' < /tmp/result/hosts.json | sed 's/^/@hosts /'
echo
sed 's/^/@sample /' /tmp/result/samples.jsonl
btu verify /tmp/result 2>&1 | sed 's/^/@verify /'
btu report /tmp/result --format text 2>&1 | grep -i netem | sed 's/^/@report /'
echo "@done"
poweroff -f
