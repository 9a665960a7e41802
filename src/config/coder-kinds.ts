import { parseJson, z } from "../schema/index.ts";
import { type Kind, listKind, notation, settingKind, wrong } from "./kind.ts";

/** A program and its arguments: a list in JSON, or words as a shell would split them. No shell runs it. */
export function commandLine(): Kind<readonly string[]> {
  return settingKind({
    expects: 'a command such as claude -p --output-format json, or ["claude", "-p"]',
    limits:
      "A JSON list, or words with quotes where a word has spaces. Not run by a shell: variables, pipes and redirections mean nothing.",
    wrong: "is not a command",
    schema: notation((text) => (text.startsWith("[") ? parseJson(text) : parseWords(text))).pipe(
      z.array(z.string().refine((word) => !word.includes("\0"))).refine(([program]) => Boolean(program)),
    ),
    print: (value) => JSON.stringify(value),
  });
}

/** Undefined: a quote is not closed. */
function parseWords(text: string): readonly string[] | undefined {
  const word = /(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g;
  if (text.replace(word, "").trim() !== "") return undefined;
  return (text.match(word) ?? []).map((found) =>
    found.replace(/\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"/g, (_, escaped, single, double) =>
      escaped !== undefined ? escaped : single !== undefined ? single : double.replace(/\\(["\\$`])/g, "$1"),
    ),
  );
}

const units: Readonly<Record<string, number>> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 };

/** An amount of data, in bytes once read. */
export function size({ max }: { readonly max?: string } = {}): Kind<number> {
  const expects = "a size such as 500KB, 10MB or 2GB";
  return {
    expects,
    ...(max && { limits: `At most ${max}.` }),
    read(text) {
      const value = parseBytes(text);
      if (!value) return wrong(text, "is not a size", expects);
      if (max && value > (parseBytes(max) ?? 0)) return wrong(text, `is more than ${max}`, `${max} or less`);
      return { kind: "value", value };
    },
    print(value) {
      const unit = ["GB", "MB", "KB"].find((name) => value % (units[name] as number) === 0) ?? "B";
      return `${value / (units[unit] as number)}${unit}`;
    },
  };
}

function parseBytes(text: string): number | undefined {
  const [, digits, unit = ""] = /^(\d+)([KMG]?B)$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * (units[unit] as number);
}

/** A user and group by their numbers. */
export function userId(): Kind<{ readonly uid: number; readonly gid: number }> {
  return settingKind({
    expects: "a user id, or a user and a group id such as 1000:1000, but not root's",
    schema: notation((text) => {
      const [, uid = "0", gid = uid] = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(text) ?? [];
      return Number(uid) === 0 || Number(gid) === 0 ? undefined : { uid: Number(uid), gid: Number(gid) };
    }),
    print: ({ uid, gid }) => `${uid}:${gid}`,
  });
}

/** The beginnings of variables that hold or reach our secrets. */
const secretPrefixes =
  /^(GITLAB|JIRA|REDIS|POSTGRES|PG|DATABASE|LEDGER|KUBE|AZURE|IDENTITY|GATEWAY|NOTIFY|PAGERDUTY|INTERLOCK|LOCAL_KUBECONFIG)|^(HOME|TMPDIR)$/i;

/** Variables that may be passed to the coder. */
export function harmlessVariables(): Kind<readonly string[]> {
  const kind = listKind({
    expects: "names of variables such as ANTHROPIC_API_KEY, with commas between them",
    limits: "With commas between several. Never those of GitLab, Jira, Redis, PostgreSQL, Kubernetes or Azure.",
    item: z.string().regex(/^[A-Za-z_]\w*$/),
  });
  return {
    ...kind,
    read(text) {
      const reading = kind.read(text);
      const forbidden = reading.kind === "value" ? reading.value.find((name) => secretPrefixes.test(name)) : undefined;
      if (forbidden === undefined) return reading;
      const problem = `names ${forbidden}, which must not be passed to the coder`;
      return { kind: "wrong", wrong: problem, instead: "other names" };
    },
  };
}
