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
# The chain's state and the record are the owner's alone.
umask 077

# Anvil listens a moment before it handles SIGTERM, and until then that would end it without its state. Linux shows which signals a
# process handles; elsewhere the moment is left to luck.
handles_term() {
  while read -r key value; do
    case "$key $value" in
      State:\ Z*) return 0 ;;
      SigCgt:\ *[4567cdef]???) return 0 ;;
    esac
  done 2>/dev/null <"/proc/$anvil/status"
  return 1
}

# Whether all of its threads wait for something.
rests() {
  for task in "/proc/$anvil/task/"*; do
    while read -r key value; do
      case "$key $value" in
        State:\ [RD]*) return 1 ;;
        State:*) break ;;
      esac
    done 2>/dev/null <"$task/status"
  done
  return 0
}

# What is dumped while a block is being made has its transactions' effects and not the block. Nobody sends anything any more, so
# Anvil is left to make what it has begun, for a few seconds at most.
let_it_rest() {
  looks=0 rested=0
  while [ "$rested" -lt 3 ] && [ "$looks" -lt 200 ]; do
    looks=$((looks + 1))
    if rests; then rested=$((rested + 1)); else rested=0; fi
    sleep 0.01
  done
}

end_anvil() {
  signalled=yes
  # A stopped process handles no signal but this one.
  kill -CONT "$anvil" 2>/dev/null
  tries=0
  while [ -r "/proc/$anvil/status" ] && ! handles_term && [ "$tries" -lt 500 ]; do
    tries=$((tries + 1))
    sleep 0.01
  done
  [ -z "$dump" ] || let_it_rest
  kill -TERM "$anvil" 2>/dev/null
}

# A background command's stdin would be /dev/null, so the watcher gets the parent's pipe under another number.
exec 3<&0
trap : INT TERM HUP

"$binary" "$@" </dev/null 3<&- &
anvil=$!
trap end_anvil INT TERM HUP

if [ -n "$record" ]; then
  echo "$$ $anvil $PPID" >"$record.part" && mv -f "$record.part" "$record" || end_anvil
fi
echo "guard $$ anvil $anvil"

(
  trap - INT TERM HUP
  read -r _ <&3
  end_anvil
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

kill -TERM "$watcher" 2>/dev/null
if [ -n "$record" ] && [ "$code" -eq 0 ] && [ -s "$dump" ]; then
  rm -f "$record"
fi
exit "$code"
