import { type Script, type Scripts, script } from "./script.ts";

/**
 * Lua that rewrites the keys below `prefix`, one for each version after the first. It runs in the call that raises the version.
 * Replicas of the version before, which are connected already, go on until they are replaced: a change with which they could not
 * work needs a new prefix instead.
 */
export type RedisMigration = string;

const migrations: readonly RedisMigration[] = [];

/**
 * Records the version of the keys on a new connection, and brings keys of an older one to ours. Rejects if a newer version of
 * Interlock has raised it. Keys without a version are in the first.
 */
export async function checkFormat(connection: Pick<Scripts, "run">, prefix: string, known = migrations): Promise<void> {
  const ours = known.length + 1;
  const found = Number(await connection.run(formatScript(known), [`${prefix}format`], [ours, prefix]));
  if (found === ours) return;
  throw new Error(
    `its keys ${prefix}* are in format ${found}, written by a newer version of Interlock; this version supports formats up to ${ours}: start that version, or use another database of this Redis`,
  );
}

/**
 * KEYS  the version
 * ARGV  our version, the prefix
 * Reply: our version, or a higher one that was found and left as it is
 */
function formatScript(known: readonly RedisMigration[]): Script {
  const steps = known.map((text, i) => `if found < ${i + 2} then\n${text}\nend`);
  return script(`
local ours, prefix = tonumber(ARGV[1]), ARGV[2]
local text = redis.call('GET', KEYS[1]) or '1'
local found = tonumber(text)
if not found then return redis.error_reply('ERR ' .. KEYS[1] .. ' is not the number of a version') end
if found > ours then return found end
${steps.join("\n")}
redis.call('SET', KEYS[1], ours)
return ours
`);
}
