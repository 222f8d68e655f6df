#!/bin/sh
# Runs Anvil for as long as its parent lives, and not longer.
#
#   guard.sh BINARY RECORD DUMP [anvil arguments...]
#
# Anvil is ended with SIGTERM, on which it writes its state, when this script's stdin closes (the parent is gone, whatever ended
# it) or when this script is signalled. The script itself ends only when Anvil has. RECORD ("" for none) names the processes
# while they run; it is removed only when Anvil ended in order and DUMP, its state, is there. The first line on stdout is
# "guard PID anvil PID".
binary=$1 record=$2 dump=$3
shift 3

# A background command's stdin would be /dev/null, so the watcher gets the parent's pipe under another number.
exec 3<&0
trap : INT TERM HUP

"$binary" "$@" </dev/null 3<&- &
anvil=$!
trap 'kill -TERM "$anvil" 2>/dev/null' INT TERM HUP

if [ -n "$record" ]; then
  echo "$$ $anvil $PPID" >"$record.part" && mv -f "$record.part" "$record" || kill -TERM "$anvil"
fi
echo "guard $$ anvil $anvil"

(
  trap - INT TERM HUP
  read -r _ <&3
  kill -TERM "$anvil" 2>/dev/null
) >/dev/null 2>&1 &
watcher=$!
exec 3<&-

wait "$anvil"
code=$?
# A trapped signal interrupts wait: only a process that is gone has an exit code.
while kill -0 "$anvil" 2>/dev/null; do
  wait "$anvil"
  code=$?
done

kill -TERM "$watcher" 2>/dev/null
if [ -n "$record" ] && [ "$code" -eq 0 ] && [ -s "$dump" ]; then
  rm -f "$record"
fi
exit "$code"
