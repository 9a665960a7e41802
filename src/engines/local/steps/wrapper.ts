/**
 * What runs a step, as `flock --no-fork LOCK sh -c SCRIPT FOLDER BYTES COMMAND…`. It outlives us, and holds the lock
 * from before it looks at anything until the last process of the step, and of its output, is gone: all of them inherit
 * the locked file.
 *
 * - `started` is asked for and written under the lock, by the very process that is about to run the step, and is on
 *   disk before the step begins. So however often a wrapper is started, by however many runners, and whenever the
 *   machine fails, the step runs at most once; and no `started` means that nothing of it ever ran.
 * - `exit` is written after the step and is on disk before the lock is free. So a free lock with `started` and without
 *   `exit` means that the wrapper was killed: it is unknown how far the step came.
 * - A shell that handles a signal, unlike one that ignores it, does not hand that down to the step; and it handles it
 *   when the step has ended. So a SIGTERM to the group ends the step and still has its exit code written.
 * - What collects the output is in a session of its own, so that it outlives a SIGKILL to the group by the moment it
 *   needs to write down the rest. Beyond BYTES it keeps the last BYTES, and counts.
 * - `stdbuf` has the beginning of the output written as it comes, for `interlock logs -f`; without it, `head` writes it
 *   in blocks. It fails before it reads anything.
 * - `command -p` finds our own programs whatever PATH the step has; `env` finds the step's, and never a shell's builtin.
 * - No variable is set, because the step would see it if it had one of that name.
 */
export const wrapperScript = `
trap : TERM INT HUP
[ ! -e "$0/started" ] || exit 123
{
  trap : TERM INT HUP
  shift
  printf '%s\\n' "$$" > "$0/started.new" &&
    command -p sync "$0/started.new" &&
    command -p mv "$0/started.new" "$0/started" &&
    command -p sync "$0" || exit 125
  command -p env -- "$@" < /dev/null
  printf '%s\\n' "$?" > "$0/exit.new" &&
    command -p sync "$0/exit.new" &&
    command -p mv "$0/exit.new" "$0/exit" &&
    command -p sync "$0"
} 2>&1 | command -p setsid sh -c '
  trap "" TERM INT HUP
  cd "$0" && printf "%s\\n" "$$" > collector
  command -p stdbuf -o0 head -c "$1" > head || command -p head -c "$1" >> head
  { command -p tee /dev/fd/4 | command -p tail -c "$1" > tail; } 4>&1 | command -p wc -c > rest
' "$0" "$1"
`;
