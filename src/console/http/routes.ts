import type { KubeClient } from "../../kube/index.ts";
import type { Projection } from "../projection/projection.ts";
import type { ReadContext } from "../read/index.ts";
import type { ApiRoute } from "./api-route.ts";
import { type LogRouteDeps, logRoutes } from "./log-routes.ts";
import { operationRoutes } from "./operation-routes.ts";
import { readRoutes } from "./read-routes.ts";
import { rowRoutes } from "./row-routes.ts";
import { type SessionRouteOptions, sessionRoutes } from "./session-routes.ts";

export interface RouteDeps extends LogRouteDeps {
  readonly projection: Projection;
  /** The environment of operations and explanations, with the rights of the caller. */
  readonly contextFor: (client: KubeClient) => ReadContext;
}

/** What all routes together use. */
export type ConsoleParts = RouteDeps & SessionRouteOptions;

/** Every route that the OpenAPI document describes. */
export function describedRoutes(parts: ConsoleParts): readonly ApiRoute[] {
  return [...sessionRoutes(parts), ...consoleRoutes(parts)];
}

/** Every route of the API but those of sessions. */
export function consoleRoutes({ projection, contextFor, ...logs }: RouteDeps): readonly ApiRoute[] {
  return [
    ...rowRoutes(projection, logs.clock),
    ...readRoutes(contextFor),
    ...logRoutes(logs),
    ...operationRoutes(contextFor),
  ];
}
