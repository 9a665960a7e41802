import { ExecutionPage } from "./pages/execution.tsx";
import { ExecutionsPage } from "./pages/executions.tsx";
import { IncidentPage } from "./pages/incident.tsx";
import { IncidentsPage } from "./pages/incidents.tsx";
import { NowPage } from "./pages/now.tsx";
import { TargetPage } from "./pages/target.tsx";
import { TargetsPage } from "./pages/targets.tsx";
import type { Page } from "./router.ts";

/** Every page of the console, in the order of the navigation. */
export const pages: readonly Page[] = [
  { path: "/", title: "Now", key: "n", group: "Operate", icon: "now", component: NowPage },
  { path: "/incidents", title: "Incidents", key: "i", group: "Explore", icon: "incidents", component: IncidentsPage },
  {
    path: "/executions",
    title: "Executions",
    key: "e",
    group: "Explore",
    icon: "executions",
    component: ExecutionsPage,
  },
  { path: "/targets", title: "Targets", key: "t", group: "Explore", icon: "targets", component: TargetsPage },
  { path: "/incidents/:namespace/:name", title: "Incident", component: IncidentPage },
  { path: "/executions/:namespace/:name", title: "Execution", component: ExecutionPage },
  { path: "/target", title: "Target", component: TargetPage },
];
