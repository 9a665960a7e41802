/**
 * The script that runs a step, as `flock --no-fork LOCK sh -c SCRIPT FOLDER BYTES COMMAND…`. It outlives the runner. The lock is
 * held from before its first command until the last process of the step, and of the collector of its output, has ended: all of
 * them inherit the locked file.
 *
 * - `started` is checked and written under the lock by the process that then runs the step, and synced to disk before the step
 *   begins. So the step runs at most once, however often and by whichever runner a wrapper is started, and whenever the machine
 *   fails. Without `started`, no process of the step ever ran.
 * - `exit` is written after the step and synced to disk before the lock is free. So a free lock with `started` and without `exit`
 *   means that the wrapper was killed, and the step may be half done.
 * - A signal that a shell handles (and does not ignore) is not ignored in its children, and is handled when the child has ended.
 *   So a SIGTERM to the group ends the step, and its exit code is still written.
 * - The collector of the output is in a session of its own, so that it survives a SIGKILL to the group long enough to write the
 *   rest. After the first BYTES it keeps the last BYTES, and counts.
 * - `stdbuf` writes the first part of the output without delay, for `interlock logs -f`. If it is missing, it fails before it reads
 *   any output, and `head` writes in blocks.
 * - `command -p` finds the wrapper's own programs whatever PATH the step has; `env` finds the step's program, and never a builtin.
 * - No variable is set, because it would overwrite one of the step with the same name.
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
