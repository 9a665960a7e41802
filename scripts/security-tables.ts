import { openApi } from "../src/apiserver/api/open-api.ts";
import type { Resource } from "../src/apiserver/api/resource.ts";
import { embeddedClient } from "../src/apiserver/embedded-client.ts";
import { isAllowed, objectVerbs, roles } from "../src/apiserver/http/authorize.ts";
import { webhookPaths } from "../src/app/gateway.ts";
import { signalRoutes } from "../src/app/signal-routes.ts";
import { type ConsoleParts, describedRoutes } from "../src/console/http/routes.ts";
import { openApiDocument } from "../src/gateway/http/openapi.ts";
import { type Permission, permissions, stages, usualManifests } from "../src/manifests/index.ts";
import { installCrds } from "../src/resources/index.ts";
import { systemClock, systemRandom } from "../src/time/index.ts";
import { volatileStore } from "../test/doubles/volatile-store.ts";
import { fillMarkers } from "./fill-markers.ts";

/** Returns docs/security.md with new tables. */
export async function securityPage(page: string): Promise<string> {
  return fillMarkers(
    page,
    new Map([
      ["embedded API server", embeddedTable(await embeddedResources())],
      ["gateway", gatewayTable()],
      ["console", consoleTable()],
      ["stages", stagesTable()],
    ]),
  );
}

/** Everything that the embedded API server serves once the stages have installed their kinds. */
async function embeddedResources(): Promise<readonly Resource[]> {
  const api = await openApi({ store: volatileStore(), clock: systemClock(), random: systemRandom() });
  await installCrds(embeddedClient(api));
  api.close();
  return api.registry.all;
}

function embeddedTable(resources: readonly Resource[]): string {
  const rows = resources.map((resource) => {
    // Kinds with a refusal are read only, and empty: no caller can create one.
    const served = resource.refusal ? resource.verbs.filter((verb) => verb !== "create") : resource.verbs;
    const verbs = objectVerbs.filter((verb) => served.includes(verb));
    const cells = roles.map((role) => verbs.filter((verb) => isAllowed(role, verb, resource)).join(" "));
    return [resourceName(resource), ...cells, ""];
  });
  return markdownTable(["kind", "admin token", "read-only token", "impersonated user", "no token"], rows);
}

interface Operation {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

function gatewayTable(): string {
  const { paths } = openApiDocument(signalRoutes, webhookPaths) as {
    paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security = [] }]) => {
      const schemes = security.flatMap((one) => Object.keys(one));
      const open = schemes.length === 0;
      const may = (isAllowed: boolean) => (isAllowed ? "yes" : "");
      const bySource = open || schemes.includes("token");
      return [
        `${method.toUpperCase()} ${path}`,
        ...[open, open, bySource, open, open || schemes.includes("gitlab"), open || schemes.includes("signature")].map(
          may,
        ),
      ];
    }),
  );
  const columns = [
    "no token",
    "unknown token",
    "token of its source",
    "token of another source",
    "webhook secret",
    "webhook signature",
  ];
  return markdownTable(["route", ...columns], rows);
}

/** The roles of the console, each with the roles whose routes it may use as well. */
const consoleCallers: Readonly<Record<string, readonly string[]>> = {
  "no log-in": [],
  "unknown token": [],
  viewer: ["viewer"],
  operator: ["viewer", "operator"],
  admin: ["viewer", "operator"],
  "admin token": ["viewer", "operator"],
  "page of another origin": [],
};

function consoleTable(): string {
  // Routes use the parts of a console only when they handle a request.
  const rows = describedRoutes({} as ConsoleParts).map(({ method, path, access }) => {
    const cells = Object.entries(consoleCallers).map(([caller, may]) => {
      const isForeign = caller === "page of another origin";
      return (access === "open" && !isForeign) || may.includes(access) ? "yes" : "";
    });
    return [`${method} ${path}`, ...cells];
  });
  return markdownTable(["route", ...Object.keys(consoleCallers)], rows);
}

function stagesTable(): string {
  const all = stages.flatMap((stage) => permissions[stage]);
  const keys = all.flatMap((one) =>
    one.resources.map((resource) => ({ group: one.group, resource, where: one.where })),
  );
  const rows = new Map(keys.map((key) => [rowName(key), key]));
  const cells = [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, key]) => {
      return [name, ...stages.map((stage) => grantedVerbs(permissions[stage], key).join(" "))];
    });
  return markdownTable(["kind, and where", ...stages], cells);
}

interface Row {
  readonly group: string;
  readonly resource: string;
  readonly where: Permission["where"];
}

/** Returns the verbs that are granted in that namespace or everywhere. */
function grantedVerbs(given: readonly Permission[], { group, resource, where }: Row): readonly string[] {
  const matching = given.filter(
    (one) => one.group === group && one.resources.includes(resource) && isThere(one.where, where),
  );
  return [...new Set(matching.flatMap(({ verbs }) => verbs))];
}

function isThere(given: Permission["where"], where: Permission["where"]): boolean {
  const { places } = usualManifests;
  return given === "anywhere" || (where !== "anywhere" && places[given] === places[where]);
}

function rowName({ group, resource, where }: Row): string {
  const name = resourceName({ group, plural: resource });
  return where === "anywhere" ? `${name}, everywhere` : `${name}, in ${usualManifests.places[where]}`;
}

function resourceName({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return group === "" ? plural : `${plural}.${group}`;
}

function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell || "–").join(" | ")} |\n`;
  return [line(columns), `|${"---|".repeat(columns.length)}\n`, ...rows.map(line)].join("");
}
