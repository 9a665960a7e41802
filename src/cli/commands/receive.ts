import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { findSignalPath, signalPaths, signalRoutes } from "../../app/index.ts";
import { type SignalPreview, testSignals } from "../../console/read/index.ts";
import { canPost, listBuiltInSources, parseSenderLines } from "../../gateway/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { CommandError, exitStatus, MisuseError, type ServerContext } from "../command.ts";
import { startCommand } from "../package.ts";

interface ReceiveOptions {
  readonly payload: string;
  readonly gateway?: string;
  readonly tokenFile?: string;
  readonly dryRun?: boolean;
}

/** `interlock receive` */
export async function receive(context: ServerContext, source: string, options: ReceiveOptions): Promise<number> {
  const sources = signalPaths.map((one) => one.source).join(", ");
  const path = findSignalPath(source);
  if (path === undefined) throw new MisuseError(`SOURCE is not one of ${sources}, or a NAME`);
  const body = await readPayload(options.payload);
  const url = options.gateway ?? (await gatewayUrl(context.directory));
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new MisuseError(`--gateway needs a URL such as http://127.0.0.1:8080, got ${url}`);
  }
  const token = await readToken(options.tokenFile ?? join(context.directory, "gateway-tokens"), source);
  const place = `${url.replace(/\/$/, "")}${path}`;
  const { status, answer } = await post(options.dryRun ? `${place}?dryRun=true` : place, { token, body });
  // Every gateway has the paths of the sources that need no mapping.
  if (!answer || (status === 404 && signalPaths.some((one) => one.path === path))) {
    throw new CommandError(`${url} is not a gateway (HTTP ${status}); name the URL of one with --gateway`);
  }
  if (status === 404) {
    throw new CommandError(`the gateway has no sender ${source}; use ${sources}, or set sources.${source}.map`);
  }
  const lines = options.dryRun && answer.results ? await previewLines(answer.results, context) : responseLines(answer);
  for (const line of lines) context.terminal.print(line);
  return exitStatus(status < 300 ? "ok" : "failed");
}

async function readPayload(file: string): Promise<string> {
  const name = file === "-" ? "on standard input" : file;
  const text = await readFile(file === "-" ? "/dev/stdin" : file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`the payload ${name} cannot be read (${error.code}); name a file with JSON`);
  });
  try {
    JSON.parse(text);
    return text;
  } catch (error) {
    throw new CommandError(`the payload ${name} is not JSON: ${(error as Error).message}`);
  }
}

/** While it runs, the gateway of `up` has its address in a file of its directory. */
async function gatewayUrl(directory: string): Promise<string> {
  return readFile(join(directory, "gateway-url"), "utf8").catch(() => {
    throw new CommandError(
      `no gateway is running for ${directory}; start one with ${startCommand()}, or name its URL with --gateway`,
    );
  });
}

/** Reads the token that may send the payloads of `source` from a file of senders. */
async function readToken(file: string, source: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`the token file ${file} cannot be read (${error.code}); name it with --token-file`);
  });
  return chooseToken(text, source, file);
}

async function post(
  url: string,
  { token, body }: { readonly token: string; readonly body: string },
): Promise<{ readonly status: number; readonly answer: GatewayResponse | undefined }> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body }).catch((error: Error) => {
    const cause = (error.cause ?? error) as NodeJS.ErrnoException;
    // The message of an error of TLS is several lines of OpenSSL's own.
    const reason = cause.code?.startsWith("ERR_SSL") ? cause.code : cause.message;
    throw new CommandError(`no gateway responds at ${url} (${reason}); is it running?`, [], "unavailable");
  });
  const answer: unknown = await response.json().catch(() => undefined);
  const isObject = typeof answer === "object" && answer !== null;
  return { status: response.status, answer: isObject ? (answer as GatewayResponse) : undefined };
}

/** The response of a gateway: a result for each signal, or one refusal of all signals. */
interface GatewayResponse {
  readonly results?: readonly SignalPreview[];
  readonly truncatedAlerts?: number;
  readonly title?: string;
  readonly detail?: string;
  readonly problems?: readonly string[];
}

function responseLines({ results, truncatedAlerts, title, detail, problems = [] }: GatewayResponse): readonly string[] {
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
    ...(truncatedAlerts ? [`the sender left out ${truncatedAlerts} more alerts`] : []),
    ...(first ? [`See its progress: interlock why ${first}`] : []),
  ];
}

/** The outcome that each signal would have: at the gateway, by the rules, by the policy. */
export async function previewLines(
  results: readonly SignalPreview[],
  context: ServerContext,
): Promise<readonly string[]> {
  return (await testSignals(results, context, { rules: await context.rules() })).flatMap(({ lines }) => lines);
}

/** Chooses the token in the `text` of a file of senders that may send the payloads of `source`, which is named on the command line. */
export function chooseToken(text: string, source: string, file: string): string {
  const senders = parseSenderLines(text, () => {});
  if (senders.length === 0) {
    throw new CommandError(`no token in ${file}; add a line NAME TOKEN, with a token of 16 characters or more`);
  }
  const path = signalPaths.find((one) => one.source === source)?.path;
  const own = signalRoutes.find((route) => route.path === path)?.reader.source ?? source;
  // One that lists the source itself comes first: the gateway takes a token for one mapped source as the choice of its mapping.
  const chosen =
    senders.find(({ sources }) => !sources || sources.includes(own)) ??
    senders.find((sender) => canPost(sender, { own, builtIn: listBuiltInSources(signalRoutes) }));
  if (chosen) return chosen.token;
  const others = [...new Set(senders.flatMap(({ sources = [] }) => sources))].join(", ");
  throw new CommandError(
    `no token in ${file} may send signals of ${own}, only of ${others}; add a line NAME TOKEN ${own}, or name another file with --token-file`,
  );
}
