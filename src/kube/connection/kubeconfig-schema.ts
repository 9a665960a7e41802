import { dirname, resolve } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { parse, type Wire, z } from "../../schema/index.ts";
import { invalidKubeconfig } from "./connection.ts";
import { execSchema } from "./exec-plugin.ts";

/** One context of a kubeconfig, with its cluster and its user. */
export interface ChosenContext {
  readonly namespace: string | undefined;
  readonly cluster: Section<typeof clusterSchema>;
  readonly user: Section<typeof userSchema>;
}

/** A part of a kubeconfig file. */
export interface Section<Schema extends z.ZodType> {
  readonly name: string;
  readonly fields: Wire<Schema>;
  /** Resolves a path that the part names, which is relative to the part's file. */
  readonly resolve: (path: string) => string;
}

/** Empty counts as missing, as in kubectl. */
const text = z
  .string()
  .nullish()
  .transform((value) => value || undefined)
  .optional();
const flag = z.boolean().nullish();

const contextSchema = z.object({ cluster: text, user: text, namespace: text });

const clusterSchema = z.object({
  server: text,
  "certificate-authority": text,
  "certificate-authority-data": text,
  "tls-server-name": text,
  "insecure-skip-tls-verify": flag,
  "disable-compression": flag,
  "proxy-url": text,
  extensions: z.array(z.object({ name: z.string(), extension: z.unknown().optional() })).nullish(),
});

const userSchema = z.object({
  token: text,
  tokenFile: text,
  "client-certificate": text,
  "client-certificate-data": text,
  "client-key": text,
  "client-key-data": text,
  username: text,
  password: text,
  as: text,
  "as-uid": text,
  "as-groups": z.array(z.string()).nullish(),
  "as-user-extra": z.unknown().optional(),
  "auth-provider": z.unknown().optional(),
  exec: execSchema.nullish(),
});

// Only the chosen entries are checked in full: another entry may use a feature that is not supported here.
const entries = z
  .array(z.looseObject({ name: z.string() }))
  .nullish()
  .transform((list) => list ?? []);
const fileSchema = z.object({ "current-context": text, contexts: entries, clusters: entries, users: entries });

/** A kubeconfig file, as it was read from disk. */
export interface KubeconfigText {
  readonly path: string;
  readonly text: string;
}

/** Finds `context`, or the current one. Of several files, the first that has an entry wins. */
export function readChecked(texts: readonly KubeconfigText[], context: string | undefined): ChosenContext {
  const files = texts.map(checkFile);
  const current = context ?? currentContext(files);
  if (!current) throw invalidKubeconfig("no context is chosen; set current-context, or name a context");

  const { fields } = findEntry("context", current, files, contextSchema);
  return {
    namespace: fields.namespace,
    cluster: findEntry("cluster", fields.cluster ?? "", files, clusterSchema),
    user: fields.user ? findEntry("user", fields.user, files, userSchema) : { name: "", fields: {}, resolve },
  };
}

/** The names of all contexts, and the current one. */
export function checkedContexts(texts: readonly KubeconfigText[]): {
  readonly names: readonly string[];
  readonly current: string | undefined;
} {
  const files = texts.map(checkFile);
  const names = files.flatMap(({ contexts }) => contexts.map(({ name }) => name));
  return { names: [...new Set(names)], current: currentContext(files) };
}

type KubeconfigFile = Wire<typeof fileSchema> & { readonly path: string };

function checkFile({ path, text: source }: KubeconfigText): KubeconfigFile {
  return { path, ...check(fileSchema, parseYaml(source, path) ?? {}, path) };
}

function currentContext(files: readonly KubeconfigFile[]): string | undefined {
  return files.find((file) => file["current-context"])?.["current-context"];
}

function findEntry<Schema extends z.ZodType>(
  kind: "context" | "cluster" | "user",
  name: string,
  files: readonly KubeconfigFile[],
  schema: Schema,
): Section<Schema> {
  const title = `${kind} ${JSON.stringify(name)}`;
  for (const file of files) {
    const entry = file[`${kind}s`].find((one) => one.name === name);
    if (!entry) continue;
    const fields = check(schema, entry[kind] ?? {}, `${title} in ${file.path}`);
    return { name, fields, resolve: (path) => resolve(dirname(file.path), path) };
  }
  const names = [...new Set(files.flatMap((file) => file[`${kind}s`].map((one) => one.name)))];
  throw invalidKubeconfig(`there is no ${title}; ${names.length > 0 ? `it has ${names.join(", ")}` : "it has none"}`);
}

function check<Schema extends z.ZodType>(schema: Schema, value: unknown, place: string): Wire<Schema> {
  const parsed = parse(schema, value);
  if (parsed.kind === "valid") return parsed.value;
  throw invalidKubeconfig(`${place}: ${parsed.problems.map(({ sentence }) => sentence).join("; ")}`);
}

function parseYaml(source: string, path: string): unknown {
  const lines = new LineCounter();
  // Pretty errors, and many plain ones, quote the offending line: it may be the one with the token.
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
  const [error] = document.errors;
  if (error) throw invalidKubeconfig(`${path} is not valid YAML at line ${lines.linePos(error.pos[0]).line}`);
  return document.toJS();
}
