import { readFile } from "node:fs/promises";
import type { Config } from "../config/index.ts";
import type { SignalRoute, SignedBody } from "../gateway/index.ts";
import {
  alertGroupsReader,
  alertmanager,
  alertmanagerReader,
  generic,
  grafanaReader,
  kubernetesEvent,
  openMappedReaders,
  readProvenance,
} from "../sources/index.ts";

const root = "/api/v1/signals";

type Provenance = Parameters<typeof alertmanagerReader>[0];

interface RouteOptions {
  /** The installation's own rows of the table of label provenance. */
  readonly provenance?: Provenance;
  readonly maps?: Config["sources"]["maps"];
  readonly pagerdutySecrets: SignedBody["secrets"];
}

/** Opens the routes of a configuration. Throws TypeError that names the setting for one that cannot be used. */
export async function openSignalRoutes(
  { sources }: Pick<Config, "sources">,
  pagerdutySecrets: SignedBody["secrets"],
): Promise<readonly SignalRoute[]> {
  const provenance = await openProvenance(sources.alertmanagerProvenance);
  return signalRoutesWith({ provenance, maps: sources.maps, pagerdutySecrets });
}

/** The path of each sender. The first of each source is the one to use; `prometheus` is what Kubernaut calls Alertmanager. */
function signalRoutesWith({ provenance, maps, pagerdutySecrets }: RouteOptions): readonly SignalRoute[] {
  const mapped = openMappedReaders(maps);
  if (mapped.kind === "invalid")
    throw new TypeError(`invalid mapping; fix these problems:\n  ${mapped.problems.join("\n  ")}`);
  const alerts = alertmanagerReader(provenance);
  const signature = { header: "x-pagerduty-signature", secrets: pagerdutySecrets };
  // Of these senders, only those that post plain signals or Events are known to send again after 429.
  return [
    { path: `${root}/alertmanager`, reader: alerts, retries429: false },
    { path: `${root}/prometheus`, reader: alerts, retries429: false },
    { path: `${root}/alertmanager-groups`, reader: alertGroupsReader(provenance), retries429: false },
    { path: root, reader: generic, retries429: true },
    { path: `${root}/kubernetes-event`, reader: kubernetesEvent, retries429: true },
    { path: `${root}/grafana`, reader: grafanaReader(provenance), retries429: false },
    ...mapped.builtIn.map((reader) => ({
      path: mappedPath(reader.source),
      reader,
      retries429: false,
      ...(reader.source === "pagerduty" ? { signature } : {}),
    })),
    ...mapped.own.map((reader) => ({ path: mappedPath(reader.source), reader, retries429: false, isMapped: true })),
  ];
}

/** The routes without any configuration, for documentation and tests. */
export const signalRoutes = signalRoutesWith({ pagerdutySecrets: async () => [] });

/** The paths that commands post to, by the source that the user names. */
export const signalPaths = signalRoutes
  .filter(({ path }) => path !== `${root}/prometheus`)
  .map(({ reader, path }) => ({ source: path.endsWith("-groups") ? "alertmanager-groups" : reader.source, path }));

/**
 * Returns the path to which payloads of the source that a caller names are posted. Undefined for a text that is no name of a source:
 * it could add a query or name another path.
 */
export function findSignalPath(source: string): string | undefined {
  const builtIn = signalPaths.find((one) => one.source === source)?.path;
  return builtIn ?? (/^[a-z][a-z0-9-]{0,62}$/.test(source) ? mappedPath(source) : undefined);
}

function mappedPath(source: string): string {
  return `${root}/${source}`;
}

/** The reader of Alertmanager's webhook, with the installation's own rows of the table of label provenance. */
export async function openAlertmanagerReader({ sources }: Pick<Config, "sources">) {
  const provenance = await openProvenance(sources.alertmanagerProvenance);
  return provenance ? alertmanagerReader(provenance) : alertmanager;
}

async function openProvenance(path: string | undefined): Promise<Provenance> {
  if (path === undefined) return undefined;
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new TypeError(`sources.alertmanager.provenance: ${path} cannot be read (${error.code})`);
  });
  const reading = readProvenance({ path, text });
  if (reading.kind === "valid") return reading.reporters;
  throw new TypeError(`invalid table of label provenance; fix these problems:\n  ${reading.problems.join("\n  ")}`);
}
