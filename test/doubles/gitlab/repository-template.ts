import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const config = (hooks: string) => `[core]
	repositoryformatversion = 0
	bare = true
	hooksPath = ${hooks}
[gc]
	auto = 0
[fastimport]
	unpackLimit = 1
[uploadpack]
	allowAnySHA1InWant = true
	allowFilter = true
[receive]
	autogc = false
	hideRefs = refs/merge-requests
	advertisePushOptions = true
`;

/** Refuses pushes as GitLab does: of users who may not push to a protected branch, or may not rewrite it. */
const preReceive = `#!/bin/sh
zeros=0000000000000000000000000000000000000000
no() { echo "GitLab: $1" >&2; exit 1; }
[ -z "$DOUBLE_REFUSAL" ] || no "$DOUBLE_REFUSAL"
while read -r old new ref; do
  case "$ref" in
    refs/heads/*|refs/tags/*) ;;
    *) [ -n "$DOUBLE_CUSTOM_REFS" ] || no "You can only push branches and tags." ;;
  esac
  for guarded in $DOUBLE_GUARDED; do
    [ "$ref" = "$guarded" ] || continue
    [ -n "$DOUBLE_IS_MAINTAINER" ] || no "You are not allowed to push code to protected branches on this project."
    [ "$old" = $zeros ] && continue
    [ "$new" != $zeros ] || no "You cannot delete protected branches."
    git merge-base --is-ancestor "$old" "$new" || no "You are not allowed to force push code to a protected branch on this project."
  done
done
`;

const postReceive = `#!/bin/sh
cat > "$DOUBLE_REPORT"
`;

/** Hooks for all repositories. */
export async function writeHooks(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const hooks = { "pre-receive": preReceive, "post-receive": postReceive };
  for (const [name, script] of Object.entries(hooks)) {
    await writeFile(join(directory, name), script);
    await chmod(join(directory, name), 0o755);
  }
}

/** An empty bare repository; by hand, because fifty of them are made at once. */
export async function writeRepository(directory: string, branch: string, hooks: string): Promise<void> {
  for (const folder of ["objects/info", "objects/pack", "refs/heads", "refs/tags"]) {
    await mkdir(join(directory, folder), { recursive: true });
  }
  await writeFile(join(directory, "HEAD"), `ref: refs/heads/${branch}\n`);
  await writeFile(join(directory, "config"), config(hooks));
}
