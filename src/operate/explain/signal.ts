import type { LedgerEvent } from "../../ledger/index.ts";
import type { OperateContext } from "../context.ts";
import { OperationError } from "../errors/index.ts";
import type { Explanation } from "./explanation.ts";

/**
 * Why signals had no effect: `signal:NAME`, by the name of the alert or by its source, or `v1:…`, by the fingerprint that
 * the gateway answered with. Undefined if `subject` is neither.
 */
export async function explainSignal(subject: string, context: OperateContext): Promise<Explanation | undefined> {
  const [, name] = /^signal:(.{1,253})$/s.exec(subject) ?? [];
  const isFingerprint = /^v1:[0-9a-f]{64}$/.test(subject);
  if (name === undefined && !isFingerprint) return undefined;
  const isMeant = ({ facts }: LedgerEvent) =>
    isFingerprint ? facts["fingerprint"] === subject : [facts["signal_name"], facts["signal_source"]].includes(name);
  const ignored = await readIgnored(context, {}, isMeant);
  if (ignored === undefined) throw new OperationError("not-found", `${subject}: the ledger cannot be read here`);
  if (ignored.length > 0) return { facts: { ignored }, text: ignored.map(explainIgnored) };
  throw new OperationError("not-found", `${subject}: the ledger has no signal of that kind without effect`, {
    hint: "see interlock get incidents for those with one",
  });
}

/** Signals about a target that had no effect, newest first; none if the ledger cannot be read here. */
export async function readIgnoredSignals(target: string, context: OperateContext): Promise<readonly LedgerEvent[]> {
  return (await readIgnored(context, { target }, () => true)) ?? [];
}

export function explainIgnored({ type, at, facts }: LedgerEvent): readonly string[] {
  const { signal_name: name, signal_source: source, sender, subject, because, fix, collapsed, fingerprint } = facts;
  const outcome = type === "signal.refused" ? "refused" : "ignored";
  return [
    `${name ?? `a payload of ${source}`}${subject ? ` on ${subject}` : ""}: ${outcome}`,
    `  because      ${because}`,
    ...(fix ? [`  to change it ${fix}`] : []),
    `  reported     by ${sender ?? source} at ${at}${name ? `, source ${source}` : ""}`,
    ...(collapsed ? [`  repeats      ${collapsed} more in the ten minutes before`] : []),
    ...(fingerprint ? [`  fingerprint  ${fingerprint}`] : []),
  ];
}

const maxShown = 10;

async function readIgnored(
  context: OperateContext,
  about: { readonly target?: string },
  matches: (event: LedgerEvent) => boolean,
): Promise<readonly LedgerEvent[] | undefined> {
  const types = ["signal.ignored", "signal.refused"] as const;
  const lists = await Promise.all(
    types.map((type) => context.readEvents({ type, ...about }, { matches, max: maxShown })),
  );
  if (lists.includes(undefined)) return undefined;
  return lists
    .flatMap((list) => list ?? [])
    .sort((one, other) => (one.at < other.at ? 1 : -1))
    .slice(0, maxShown);
}
