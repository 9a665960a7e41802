import { ApprovalsPage } from "./pages/approvals.tsx";
import { CatalogPage } from "./pages/catalog.tsx";
import { ExecutionPage } from "./pages/execution.tsx";
import { ExecutionsPage } from "./pages/executions.tsx";
import { IncidentPage } from "./pages/incident.tsx";
import { IncidentsPage } from "./pages/incidents.tsx";
import { LedgerPage } from "./pages/ledger.tsx";
import { LocksPage } from "./pages/locks.tsx";
import { NowPage } from "./pages/now.tsx";
import { PausesPage } from "./pages/pauses.tsx";
import { StormPage } from "./pages/storm.tsx";
import { TargetPage } from "./pages/target.tsx";
import { TargetsPage } from "./pages/targets.tsx";
import { TasksPage } from "./pages/tasks.tsx";
import type { Page } from "./router.ts";

/** Every page of the console, in the order of the navigation. */
export const pages: readonly Page[] = [
  { path: "/", title: "Now", key: "n", group: "Operate", icon: "now", component: NowPage },
  { path: "/approvals", title: "Approvals", key: "a", group: "Operate", icon: "approvals", component: ApprovalsPage },
  { path: "/pauses", title: "Pauses", key: "p", group: "Operate", icon: "pauses", component: PausesPage },
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
  { path: "/tasks", title: "Coding tasks", key: "c", group: "Explore", icon: "tasks", component: TasksPage },
  { path: "/locks", title: "Locks", key: "k", group: "Explore", icon: "locks", component: LocksPage },
  { path: "/storm", title: "Storm", key: "s", group: "Understand", icon: "storm", component: StormPage },
  {
    path: "/catalog",
    title: "Workflows and rules",
    key: "w",
    group: "Understand",
    icon: "catalog",
    component: CatalogPage,
  },
  { path: "/ledger", title: "Ledger", key: "l", group: "Understand", icon: "ledger", component: LedgerPage },
  { path: "/incidents/:namespace/:name", title: "Incident", component: IncidentPage },
  { path: "/executions/:namespace/:name", title: "Execution", component: ExecutionPage },
  { path: "/target", title: "Target", component: TargetPage },
];
