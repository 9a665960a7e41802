import { underLock } from "../lock-holders.ts";

/** How a command is separated from us on the machine that both run on. */
export interface Isolation {
  /** It has its own process list and mounts, created by root or by an ordinary user in a user namespace. */
  readonly namespaces: "root" | "user" | undefined;
  /** The user it runs as. Undefined: ours. */
  readonly user: UserId | undefined;
  /** Whether it can reach the network. */
  readonly network: boolean;
}

export interface UserId {
  readonly uid: number;
  readonly gid: number;
}

export interface IsolationRequest {
  /** The user that the command runs as if we are root. Default: `nobody`. */
  readonly user: UserId | undefined;
  readonly network: boolean;
}

/** The folders of one isolated run. */
export interface IsolatedRun {
  /** Belongs to this run alone; contains `lock`, and `work` as the mount point of the work tree. */
  readonly folder: string;
  readonly workTree: string;
  /** Folders and files whose contents are hidden from the command. */
  readonly hidden: readonly string[];
  /** The limit of the size of one file. */
  readonly maxFileBytes: number;
}

/** Where the command finds its work tree. Another user could not reach the real one. */
export function visibleWorkTree({ folder, workTree }: IsolatedRun, { namespaces, user }: Isolation): string {
  return namespaces || user ? `${folder}/work` : workTree;
}

/**
 * The command line that runs `argv` isolated. The process behaves as the command itself: it has the same standard
 * streams and environment. It writes to descriptor 3 when the set-up is done and the command is about to begin.
 *
 * - Every process of the command inherits the locked file, and is found by it.
 * - All of them end when our process ends, for whatever reason.
 * - In namespaces of its own the first process is our script. When it ends, the kernel ends all others there.
 */
export function isolatedCommand(argv: readonly string[], run: IsolatedRun, isolation: Isolation): readonly string[] {
  const { namespaces, user } = isolation;
  const { folder, hidden, maxFileBytes } = run;
  const workTree = namespaces ? run.workTree : visibleWorkTree(run, isolation);
  return underLock(folder, [
    ...["setpriv", "--pdeathsig", "KILL"],
    ...(namespaces ? ["unshare", ...namespaceFlags(isolation)] : []),
    ...["/bin/sh", "-c", namespaces ? isolated(isolation.network) : plain, "interlock-isolated"],
    ...[folder, workTree, user ? `--reuid=${user.uid} --regid=${user.gid} --clear-groups` : ""],
    ...[namespaces || user ? "--bounding-set=-all --inh-caps=-all --ambient-caps=-all" : ""],
    ...[`--core=0 --fsize=${maxFileBytes}${namespaces || user ? ` --nproc=${maxProcesses}` : ""}`],
    ...(namespaces ? hidden : []),
    ...["--", ...argv],
  ]);
}

/** Processes and threads together. */
const maxProcesses = 4_096;

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

/** Finally our descriptor is closed, and no program can give the command a privilege back. */
const become = (first: string) => `
[ "$1" = -- ] || exit 125
printf ready >&3
exec 3>&-
${first}"$(command -pv prlimit)" $limits "$(command -pv setpriv)" --no-new-privs $user $rights "$@"
`;

/** The tests of a project often use the loopback interface. Without the program `ip` only those tests fail. */
const loopbackUp = "command -p ip link set lo up 2> /dev/null";

/**
 * The order matters: the work tree is mounted before the folder around it is hidden, and the folder is mounted again
 * through the working directory, because its name no longer leads to it.
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
