#!/bin/sh
# Runs Anvil for as long as its parent lives, and not longer.
#
#   guard.sh BINARY [anvil arguments...]
#
# Anvil is killed when this script's stdin closes (the parent is gone, whatever ended it) or when this script is signalled: it keeps
# nothing that would have to be saved. The script itself ends only when Anvil has, with 0 if it was asked to, otherwise with
# Anvil's exit code. The first line on stdout is "guard PID anvil PID".
binary=$1
shift
umask 077

end_anvil() {
  signalled=yes told=yes
  kill -KILL "$anvil" 2>/dev/null
}

# A background command's stdin would be /dev/null, so the watcher gets the parent's pipe under another number.
exec 3<&0
trap : INT TERM HUP

# Nothing of this script can act once it is killed together with its parent: where setpriv is (Linux), the system itself ends Anvil then.
set -- "$binary" "$@"
if setpriv --pdeathsig KILL true 2>/dev/null; then set -- setpriv --pdeathsig KILL "$@"; fi
"$@" </dev/null 3<&- &
anvil=$!
told=
trap end_anvil INT TERM HUP

echo "guard $$ anvil $anvil"

(
  trap - INT TERM HUP
  read -r _ <&3
  kill -KILL "$anvil"
) >/dev/null 2>&1 &
watcher=$!
exec 3<&-

# A trapped signal interrupts a wait, which says nothing of Anvil then, even if Anvil has ended meanwhile; 127 says that a wait before
# has told how it ended.
code=127
while :; do
  signalled=
  wait "$anvil"
  status=$?
  [ "$status" -eq 127 ] || code=$status
  [ -n "$signalled" ] || break
done

# Once the guard has ended, nothing of it is left. A watcher that has just been forked would lose another signal: it still has the traps above.
kill -KILL "$watcher" 2>/dev/null
signalled=yes
while [ -n "$signalled" ]; do
  signalled=
  wait "$watcher" 2>/dev/null
done
[ -z "$told" ] || code=0
exit "$code"
