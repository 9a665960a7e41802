import type { Isolation } from "./isolation.ts";

/** Where a run takes place, on this machine. */
export interface CoderWorkspace {
  /** Belongs to this run alone; holds `lock`, `request.json`, and `home`, `tmp` and `work` for the agent. */
  readonly folder: string;
  readonly workTree: string;
  /** The agent does not see what is in them, or what is in the file. */
  readonly hidden: readonly string[];
  /** How large one file may become. */
  readonly maxFileBytes: number;
}

/** Where the agent finds its work tree. Another user could not reach the real one. */
export function placeOfTree({ folder, workTree }: CoderWorkspace, { namespaces, user }: Isolation): string {
  return namespaces || user ? `${folder}/work` : workTree;
}

/**
 * The command line that runs `argv` as a child that cannot be told from the agent: it has its standard streams and its
 * environment, and writes to descriptor 3 when all is set up and the agent is about to begin.
 *
 * - Every process of the agent inherits the locked file, and so is found by it.
 * - The whole ends when our process does, however that ends.
 * - In namespaces of its own the first process is our script. When it ends, the kernel ends all others there.
 */
export function onStage(argv: readonly string[], stage: CoderWorkspace, isolation: Isolation): readonly string[] {
  const { namespaces, user } = isolation;
  const { folder, hidden, maxFileBytes } = stage;
  const workTree = namespaces ? stage.workTree : placeOfTree(stage, isolation);
  return [
    ...["/bin/sh", "-c", launcher, "flock", "--no-fork", "-x", "-w", "10", `${folder}/lock`],
    ...["setpriv", "--pdeathsig", "KILL"],
    ...(namespaces ? ["unshare", ...namespaceFlags(isolation)] : []),
    ...["/bin/sh", "-c", namespaces ? isolated(isolation.network) : plain, "interlock-coder"],
    ...[folder, workTree, user ? `--reuid=${user.uid} --regid=${user.gid} --clear-groups` : ""],
    ...[namespaces || user ? "--bounding-set=-all --inh-caps=-all --ambient-caps=-all" : ""],
    ...[`--core=0 --fsize=${maxFileBytes}${namespaces || user ? ` --nproc=${maxProcesses}` : ""}`],
    ...(namespaces ? hidden : []),
    ...["--", ...argv],
  ];
}

/** Processes and threads together. */
const maxProcesses = 4_096;

/** The agent's PATH may be anything; our own programs are found where the system has them. */
const launcher = 'exec "$(command -pv flock)" "$@"';

function namespaceFlags({ namespaces, network }: Isolation): readonly string[] {
  return [
    ...(namespaces === "user" ? ["--user", "--map-current-user", "--keep-caps"] : []),
    ...["--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--ipc"],
    ...(network ? [] : ["--net"]),
  ];
}

const readArguments = `
folder=$1 tree=$2 user=$3 rights=$4 limits=$5
shift 5
`;

/** In the end our descriptor is closed, and the agent gets no privilege back, whatever programs there are. */
const become = (first: string) => `
[ "$1" = -- ] || exit 125
printf ready >&3
exec 3>&-
${first}"$(command -pv prlimit)" $limits "$(command -pv setpriv)" --no-new-privs $user $rights "$@"
`;

/** Tests of a project often talk to themselves. Where the program is missing they cannot, and the rest works. */
const loopbackUp = "command -p ip link set lo up 2> /dev/null";

/**
 * The order matters: the work tree is taken before what it lies in is hidden, and the folder is put back by the handle
 * that its being the working directory is, because by its name it is no longer found.
 */
const isolated = (network: boolean) => `${readArguments}
${network ? "" : loopbackUp}
cd "$folder" && command -p mount --bind "$tree" "$folder/work" || exit 125
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then command -p mount -t tmpfs -o mode=755,size=64k none "$1" || exit 125
  elif [ -e "$1" ]; then command -p mount --bind /dev/null "$1" || exit 125
  fi
  shift
done
(umask 022 && command -p mkdir -p "$folder") && command -p mount -c --rbind . "$folder" && cd "$folder/work" || exit 125
${become("")}`;

const plain = `${readArguments}
cd "$tree" || exit 125
user="--pdeathsig=KILL $user"
${become("exec ")}`;
