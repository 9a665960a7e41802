import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Command, CommandError, type Desk } from "../command.ts";
import { MisuseError, onlyWord } from "../parsing/misuse.ts";
import { shortNames } from "../parsing/short-name.ts";
import { previewLines, type SignalResult } from "./preview-lines.ts";

/** Where the signals of a source are posted. */
export interface SignalPath {
  readonly source: string;
  readonly path: string;
}

/** `interlock receive`, for these sources and for those that the gateway reads by a mapping of its settings. */
export function receiving(paths: readonly SignalPath[], mappedPath: (source: string) => string): Command<Desk> {
  const sources = paths.map(({ source }) => source).join(", ");
  const usage = `interlock receive SOURCE -p FILE [--dry-run] [--gateway URL] [--token-file FILE]

Posts a saved payload to the gateway, as its sender would, and prints what became of each signal. With --dry-run nothing
is changed: it prints which part of the payload each field is read from, what would become of each signal, which rule
applies, and what the policy says now. SOURCE is one of ${sources}, or a NAME for which the gateway
has sources.NAME.map. FILE is - for what is piped in. URL and token are those of the gateway that keeps its things in the data directory, unless said otherwise.
Exit status 0 if everything was taken, 1 if not.`;
  return {
    name: "receive",
    about: "Post a saved payload to the gateway",
    usage,
    example: "interlock receive alertmanager -p examples/node-disk-pressure.json --dry-run",
    async perform(args, desk) {
      const { positionals, values } = parseArgs({
        args: [...args],
        allowPositionals: true,
        options: {
          payload: { type: "string", short: "p" },
          gateway: { type: "string" },
          "token-file": { type: "string" },
          "dry-run": { type: "boolean", default: false },
        },
      });
      const source = onlyWord(positionals, `a source: ${sources}`);
      if (!/^[a-z][a-z0-9-]{0,62}$/.test(source)) throw new MisuseError(`SOURCE is not one of ${sources}, or a NAME`);
      const path = paths.find((one) => one.source === source)?.path ?? mappedPath(source);
      if (!values.payload) throw new MisuseError("-p FILE is missing: what to post");
      const body = await readPayload(values.payload);
      const url = values.gateway ?? (await gatewayUrl(desk.directory));
      const token = await tokenIn(values["token-file"] ?? join(desk.directory, "gateway-tokens"));
      const place = `${url.replace(/\/$/, "")}${path}`;
      const isDry = values["dry-run"];
      const { status, answer } = await post({ url: isDry ? `${place}?dryRun=true` : place, token, body });
      if (status === 404) {
        throw new CommandError(`the gateway has no sender ${source}: use ${sources}, or set sources.${source}.map`);
      }
      const lines = isDry && answer.results ? await previewLines(answer.results, desk) : linesOf(answer);
      for (const line of lines) desk.terminal.print(line);
      return status < 300 ? 0 : 1;
    },
  };
}

async function readPayload(file: string): Promise<string> {
  const name = file === "-" ? "on standard input" : file;
  const text = await readFile(file === "-" ? "/dev/stdin" : file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`the payload ${name} cannot be read (${error.code}): name a file with JSON`);
  });
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new CommandError(`the payload ${name} is not JSON: ${(error as Error).message}`);
  }
}

/** The gateway of `up` says in its directory where it listens as long as it runs. */
async function gatewayUrl(directory: string): Promise<string> {
  return readFile(join(directory, "gateway-url"), "utf8").catch(() => {
    throw new CommandError(
      `no gateway runs with its things in ${directory}: start one (npm start), or name it with --gateway`,
    );
  });
}

/** The first token of a file of senders. */
async function tokenIn(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`the token file ${file} cannot be read (${error.code}): name it with --token-file`);
  });
  const [, token] = /^(?!#)\S+[ \t]+(\S+)/m.exec(text) ?? [];
  if (token) return token;
  throw new CommandError(`there is no token in ${file}: it wants a line NAME TOKEN`);
}

interface Posting {
  readonly url: string;
  readonly token: string;
  readonly body: string;
}

async function post({
  url,
  token,
  body,
}: Posting): Promise<{ readonly status: number; readonly answer: GatewayResponse }> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body }).catch((error: Error) => {
    const because = (error.cause as Error)?.message ?? error.message;
    throw new CommandError(`no gateway answers at ${url} (${because}): is it running?`);
  });
  const answer = await response.json().catch(() => ({}));
  return { status: response.status, answer: answer as GatewayResponse };
}

/** What the gateway answers: a result for each signal, or one refusal of them all. */
interface GatewayResponse {
  readonly results?: readonly SignalResult[];
  readonly truncatedAlerts?: number;
  readonly title?: string;
  readonly detail?: string;
  readonly problems?: readonly string[];
}

function linesOf({ results, truncatedAlerts, title, detail, problems = [] }: GatewayResponse): readonly string[] {
  if (!results)
    return [`refused: ${title ?? "no reason was given"}. ${detail ?? ""}`, ...problems.map((one) => `  ${one}`)];
  const lines = results.flatMap(({ status, message, incident, fix, problems = [] }) => [
    `${status}${incident ? ` ${shortNames(incident)}` : ""}: ${message}`,
    ...(fix ? [`  to change that: ${fix}`] : []),
    ...problems.map((problem) => `  ${problem}`),
  ]);
  const [first] = results.flatMap(({ incident }) => (incident ? [shortNames(incident)] : []));
  return [
    ...lines,
    ...(truncatedAlerts ? [`its sender left ${truncatedAlerts} more out`] : []),
    ...(first ? [`See what becomes of it: interlock why ${first}`] : []),
  ];
}
