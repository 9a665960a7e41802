import { spawn } from "node:child_process";
import { isatty } from "node:tty";
import { parse, parseJson, type Wire, z } from "../../schema/index.ts";
import type { Clock } from "../../time/index.ts";
import { KubeError } from "../client.ts";
import type { CredentialSource, Credentials } from "./connection.ts";

const apiVersions = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"] as const;

const argument = z.string().refine((text) => !text.includes("\0"), "must not contain a NUL character");

/** `users[].user.exec` of a kubeconfig. */
export const execSchema = z.object({
  apiVersion: z.enum(apiVersions),
  command: argument.min(1),
  args: z.array(argument).nullish(),
  env: z.array(z.object({ name: argument.min(1), value: argument })).nullish(),
  installHint: z.string().nullish(),
  provideClusterInfo: z.boolean().nullish(),
  interactiveMode: z.enum(["Never", "IfAvailable", "Always"]).nullish(),
});

/** The output of a plugin. */
const outputSchema = z.object({
  apiVersion: z.string(),
  kind: z.literal("ExecCredential"),
  status: z
    .object({
      token: z.string().nullish(),
      clientCertificateData: z.string().nullish(),
      clientKeyData: z.string().nullish(),
      expirationTimestamp: z.iso.datetime({ offset: true }).nullish(),
    })
    .refine((status) => Boolean(status.clientCertificateData) === Boolean(status.clientKeyData))
    .refine((status) => status.token || status.clientCertificateData),
});

/** `spec.cluster` of the ExecCredential that a plugin receives. */
export interface ExecCluster {
  readonly server: string;
  readonly "tls-server-name": string | undefined;
  readonly "insecure-skip-tls-verify": boolean | undefined;
  readonly "certificate-authority-data": string | undefined;
  readonly "disable-compression": boolean | undefined;
  /** The cluster's extension of the name `client.authentication.k8s.io/exec`. */
  readonly config: unknown;
}

export interface ExecPlugin {
  readonly config: Wire<typeof execSchema>;
  /** Name of the kubeconfig's user, for errors. */
  readonly user: string;
  /** Resolves a path that is relative to the kubeconfig. */
  readonly resolve: (path: string) => string;
  readonly cluster: ExecCluster;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether standard input is a terminal. */
  readonly hasTerminal?: boolean;
  readonly limits?: { readonly unattendedMs: number; readonly interactiveMs: number };
}

/** An operator may have to log in with a browser. */
const defaultLimits = { unattendedMs: 60_000, interactiveMs: 300_000 };
const maxOutputBytes = 1_048_576;

/**
 * The credentials that an exec plugin of a kubeconfig prints. They are cached until they expire or the server refuses them,
 * and the plugin runs once for all requests that wait for it.
 */
export function execCredentials(plugin: ExecPlugin): CredentialSource {
  let cached: Issued | undefined;
  let running: Promise<Issued> | undefined;

  return async ({ clock, refused }) => {
    if (cached && clock.wallMs() < cached.expiresAtMs && !isSame(cached.credentials, refused)) {
      return cached.credentials;
    }
    running ??= runPlugin(plugin, clock).finally(() => {
      running = undefined;
    });
    cached = await running;
    return cached.credentials;
  };
}

interface Issued {
  readonly credentials: Credentials;
  readonly expiresAtMs: number;
}

function isSame({ token, cert }: Credentials, refused: Credentials | undefined): boolean {
  return refused !== undefined && refused.token === token && refused.cert === cert;
}

async function runPlugin(plugin: ExecPlugin, clock: Clock): Promise<Issued> {
  const { apiVersion } = plugin.config;
  const output = parse(outputSchema, parseJson(await readOutput(plugin, clock)));
  if (output.kind === "invalid")
    throw pluginError(plugin, "printed no ExecCredential with a token, or a certificate and its key");
  const { status, apiVersion: printed } = output.value;
  if (printed !== apiVersion) throw pluginError(plugin, `printed another apiVersion than ${apiVersion}`);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  return {
    credentials: { ...(token ? { token } : {}), ...(cert && key ? { cert, key } : {}) },
    expiresAtMs: expirationTimestamp ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY,
  };
}

/** Runs the plugin and returns its standard output. As with kubectl, its standard error goes to ours, for its messages. */
function readOutput(plugin: ExecPlugin, clock: Clock): Promise<string> {
  const { config, limits = defaultLimits } = plugin;
  const interactive = isInteractive(plugin);
  // A plain name is looked up in PATH; a relative path starts at the kubeconfig.
  const command = config.command.includes("/") ? plugin.resolve(config.command) : config.command;
  return new Promise((resolve, reject) => {
    const child = spawn(command, config.args ?? [], {
      env: pluginEnvironment(plugin, interactive),
      stdio: [interactive ? "inherit" : "ignore", "pipe", "inherit"],
    });
    const limitMs = interactive ? limits.interactiveMs : limits.unattendedMs;
    const timer = clock.after(limitMs, () => stop(`did not finish within ${limitMs} ms`));
    const chunks: Buffer[] = [];
    let size = 0;

    function stop(problem: string) {
      child.kill("SIGKILL");
      // A process that the plugin started may keep the pipe open.
      child.stdout.destroy();
      reject(pluginError(plugin, problem));
    }
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes) stop(`printed more than ${maxOutputBytes} bytes`);
      else chunks.push(chunk);
    });
    child.once("error", (error: NodeJS.ErrnoException) => {
      timer.cancel();
      const hint = config.installHint?.trim().replace(/\s+/g, " ") || "install it, or correct the kubeconfig";
      reject(pluginError(plugin, `cannot be started (${error.code}); ${hint}`));
    });
    child.once("close", (code, signal) => {
      timer.cancel();
      if (code === 0) resolve(Buffer.concat(chunks).toString());
      else reject(pluginError(plugin, `failed (${signal ?? `exit status ${code}`}); run it by hand to see why`));
    });
  });
}

function isInteractive({ config, hasTerminal = isatty(0), ...plugin }: ExecPlugin): boolean {
  const mode = config.interactiveMode ?? "IfAvailable";
  if (mode === "Always" && !hasTerminal) {
    throw pluginError({ config, ...plugin }, "needs a terminal; run the command in one, or use another user");
  }
  return mode !== "Never" && hasTerminal;
}

function pluginEnvironment({ config, env, cluster }: ExecPlugin, interactive: boolean): NodeJS.ProcessEnv {
  const { apiVersion, provideClusterInfo } = config;
  const spec = { interactive, ...(provideClusterInfo ? { cluster } : {}) };
  return {
    ...env,
    ...Object.fromEntries((config.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: "ExecCredential", spec }),
  };
}

/** Never quotes the output, which may be the credential itself. */
function pluginError({ config, user }: ExecPlugin, problem: string): KubeError {
  const plugin = `exec plugin ${JSON.stringify(config.command)} of kubeconfig user ${JSON.stringify(user)}`;
  return new KubeError("unavailable", `${plugin} ${problem}`);
}
