import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { alerts, panels, prometheusRules } from "../../src/manifests/index.ts";
import { UpProcess } from "../services/up-process.ts";
import { exposedIn, namedIn } from "./promql.ts";

/** Series by name, as promtool writes them: `0+5x30` starts at 0 and grows by 5, 30 times, once a minute. */
type Series = Readonly<Record<string, string>>;

interface Case {
  readonly fires: Series;
  readonly isQuiet: Series;
  /** Labels that come from the series. */
  readonly with?: Readonly<Record<string, string>>;
}

const held = { notify_locks_held: "1x120" };

/** Both sides of every alert: values that fire it, and values that do not. */
const cases: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(["gateway", "ro"].flatMap((prefix) => Object.entries(lockCases(prefix)))),
  "agent InterlockLocksFail": {
    fires: {
      ...held,
      agent_lock_acquisition_successes_total: "0+500x120",
      'agent_lock_acquisition_failures_total{reason="api_error"}': "0+1x120",
    },
    // Tasks wait for those before them on their branch, however long they take.
    isQuiet: {
      ...held,
      agent_lock_acquisition_successes_total: "0+500x120",
      'agent_lock_acquisition_failures_total{reason="timeout"}': "0+500x120",
      'agent_lock_acquisition_failures_total{reason="contention"}': "0+500x120",
    },
  },
  InterlockAckRequired: {
    fires: { ...held, 'ro_blocked_incidents{reason="ExhaustedRetries"}': "0x10 2x110" },
    with: { reason: "ExhaustedRetries" },
    // These clear by themselves.
    isQuiet: { ...held, 'ro_blocked_incidents{reason="ResourceBusy"}': "9x120" },
  },
  InterlockNoMatchingRule: {
    fires: { ...held, 'ro_blocked_incidents{reason="NoMatchingRule"}': "1x120" },
    isQuiet: {
      ...held,
      'ro_blocked_incidents{reason="NoMatchingRule"}': "0x110 1x10",
      'ro_blocked_incidents{reason="Paused"}': "5x120",
    },
  },
  InterlockApprovalWaits: {
    fires: { ...held, 'ro_open_incidents{phase="AwaitingApproval"}': "1x120" },
    isQuiet: {
      ...held,
      'ro_open_incidents{phase="AwaitingApproval"}': "0x110 1x10",
      'ro_open_incidents{phase="Executing"}': "5x120",
    },
  },
  InterlockExecutionStuck: {
    fires: { ...held, 'workflowexecution_oldest_seconds{phase="Pending"}': "0+60x120" },
    isQuiet: {
      ...held,
      'workflowexecution_oldest_seconds{phase="Pending"}': "20x120",
      'workflowexecution_oldest_seconds{phase="Running"}': "1700x120",
    },
  },
  InterlockWorkStalled: {
    fires: { ...held, 'executor_stalled_objects{reason="WebhookFailed"}': "0x10 2x110" },
    with: { reason: "WebhookFailed" },
    isQuiet: { ...held, 'ro_stalled_objects{reason="Unavailable"}': "0x60 1x4 0x60" },
  },
  InterlockSignalsRejected: {
    fires: { ...held, 'gateway_signals_total{outcome="unavailable",source="alertmanager"}': "0+3x120" },
    isQuiet: {
      ...held,
      'gateway_signals_total{outcome="unavailable",source="alertmanager"}': "7x120",
      'gateway_signals_total{outcome="refused",source="alertmanager"}': "0+9x120",
    },
  },
  InterlockIncidentsLimited: {
    fires: { ...held, 'gateway_signals_total{outcome="limited",source="generic"}': "0+3x120" },
    isQuiet: {
      ...held,
      'gateway_signals_total{outcome="limited",source="generic"}': "7x120",
      'gateway_signals_total{outcome="created",source="generic"}': "0+9x120",
    },
  },
  InterlockSignalsForbidden: {
    fires: { ...held, 'gateway_signals_total{outcome="forbidden"}': "0+1x120" },
    isQuiet: { ...held, 'gateway_signals_total{outcome="refused"}': "0+9x120" },
  },
  InterlockLedgerLags: {
    fires: { ...held, ledger_database_lag_seconds: "0+60x120" },
    isQuiet: { ...held, ledger_database_lag_seconds: "290x120" },
  },
  InterlockLedgerAppendFails: {
    fires: { ...held, 'ledger_append_failures_total{reason="full"}': "0x115 4x5" },
    isQuiet: { ...held, 'ledger_append_failures_total{reason="closed"}': "0+5x120" },
  },
  InterlockNoticesUndelivered: {
    fires: {
      ...held,
      'notify_deliveries_total{channel="slack",status="failed"}': "0+1x120",
      'notify_deliveries_total{channel="slack",status="success"}': "5x120",
      'notify_deliveries_total{channel="console",status="success"}': "0+1x120",
    },
    with: { channel: "slack" },
    isQuiet: {
      ...held,
      'notify_deliveries_total{channel="slack",status="failed"}': "0+1x120",
      'notify_deliveries_total{channel="slack",status="success"}': "0+1x120",
    },
  },
  InterlockNoticesGivenUp: {
    fires: { ...held, 'notify_notices_total{phase="Failed"}': "0x100 1x20" },
    isQuiet: {
      ...held,
      'notify_notices_total{phase="Sent"}': "0+9x120",
      'notify_notices_total{phase="Failed"}': "3x120",
    },
  },
  InterlockNotifyNotRunning: {
    fires: { notify_locks_held: "1x60 0x60" },
    isQuiet: { 'notify_locks_held{pod="one"}': "0x120", 'notify_locks_held{pod="two"}': "1x120" },
  },
  InterlockTasksFail: {
    fires: {
      ...held,
      ...tasksEnded("reviews_total", { Failed: "0x100 2x20", Completed: "7x120" }),
      ...tasksEnded("coding_tasks_total", { Failed: "0x100 2x20", Completed: "0x100 1x20" }),
    },
    // Some always fail: requests that the agent must not carry out.
    isQuiet: {
      ...held,
      ...tasksEnded("reviews_total", { Failed: "0+1x120", Completed: "0+2x120" }),
      ...tasksEnded("coding_tasks_total", { Failed: "0x100 2x20", Completed: "7x120" }),
    },
  },
  InterlockTasksWait: {
    fires: { ...held, 'agent_oldest_task_seconds{phase="Waiting"}': "0+60x120" },
    isQuiet: {
      ...held,
      'agent_oldest_task_seconds{phase="Waiting"}': "1700x120",
      'agent_oldest_task_seconds{phase="Running"}': "9000x120",
    },
  },
  InterlockPollingLags: {
    fires: { ...held, agent_watermark_lag_seconds: "0+60x120" },
    // It includes the overlap.
    isQuiet: { ...held, agent_watermark_lag_seconds: "95x120" },
  },
  InterlockPollingFails: {
    fires: {
      ...held,
      'agent_polls_total{outcome="failed",source="gitlab"}': "0x60 0+1x60",
      'agent_polls_total{outcome="polled",source="gitlab"}': "0+2x60 120x60",
      'agent_polls_total{outcome="polled",source="jira"}': "0+2x120",
    },
    with: { source: "gitlab" },
    // One project of many.
    isQuiet: {
      ...held,
      'agent_polls_total{outcome="failed",source="gitlab"}': "0+1x120",
      'agent_polls_total{outcome="polled",source="gitlab"}': "0+2x120",
    },
  },
};

function tasksEnded(metric: string, outcomes: Readonly<Record<"Failed" | "Completed", string>>): Series {
  return Object.fromEntries(
    Object.entries(outcomes).map(([outcome, values]) => [`${metric}{outcome="${outcome}"}`, values]),
  );
}

/** Cases of a stage's locks have its prefix in their names. */
function lockCases(prefix: string): Record<string, Case> {
  const lock = `${prefix}_lock`;
  const duration = (le: string) => `${lock}_acquisition_duration_seconds_bucket{le="${le}"}`;
  return {
    [`${prefix} InterlockLocksFail`]: {
      fires: {
        ...held,
        [`${lock}_acquisition_successes_total`]: "0+500x120",
        [`${lock}_acquisition_failures_total{reason="api_error"}`]: "0+1x120",
      },
      // However many meet another holder, locking works.
      isQuiet: {
        ...held,
        [`${lock}_acquisition_successes_total`]: "0+5000x120",
        [`${lock}_acquisition_failures_total{reason="api_error"}`]: "0+1x120",
        [`${lock}_acquisition_failures_total{reason="contention"}`]: "0+5000x120",
      },
    },
    [`${prefix} InterlockLocksContended`]: {
      fires: {
        ...held,
        [`${lock}_contentions_total`]: "0+6x120",
        [`${lock}_acquisition_attempts_total`]: "0+100x120",
      },
      isQuiet: {
        ...held,
        [`${lock}_contentions_total`]: "0+4x120",
        [`${lock}_acquisition_attempts_total`]: "0+100x120",
      },
    },
    [`${prefix} InterlockLocksSlow`]: {
      fires: {
        ...held,
        [duration("0.02")]: "0+90x120",
        [duration("0.05")]: "0+100x120",
        [duration("+Inf")]: "0+100x120",
      },
      isQuiet: {
        ...held,
        [duration("0.02")]: "0+96x120",
        [duration("0.05")]: "0+100x120",
        [duration("+Inf")]: "0+100x120",
      },
    },
  };
}

const stagePrefix: Readonly<Record<string, string>> = { gateway: "gateway", orchestrator: "ro", agent: "agent" };
const caseName = ({ name, labels }: (typeof alerts)[number]) =>
  labels?.["stage"] ? `${stagePrefix[labels["stage"]]} ${name}` : name;

const promtoolFile = (folder: string, name: string) => join(folder, `${name.replace(" ", "-")}.yaml`);

/** Writes a test of promtool for both sides of the alert, and its rules. Returns the name of the test's file. */
function writePromtoolTest(folder: string, alert: (typeof alerts)[number]): string {
  const name = caseName(alert);
  const { fires = {}, isQuiet = {}, with: found } = cases[name] ?? {};
  const expected = {
    exp_labels: { severity: alert.severity, ...alert.labels, ...found },
    exp_annotations: { summary: alert.summary, runbook: `docs/operations.md#${alert.runbook}` },
  };
  const played = (series: Series, exp_alerts: readonly object[]) => ({
    interval: "1m",
    input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
    alert_rule_test: [{ eval_time: "118m", alertname: alert.name, exp_alerts }],
  });
  const tests = [played(fires, [expected]), played(isQuiet, []), played(held, [])];
  const rules = `rules-of-${alert.name}.yaml`;
  // Other rules would be evaluated at each of the 118 minutes too.
  const groups = prometheusRules().groups.map((group) => ({
    ...group,
    rules: group.rules.filter((rule) => rule.alert === alert.name),
  }));
  writeFileSync(join(folder, rules), stringify({ groups }));
  const file = promtoolFile(folder, name);
  writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
  return file;
}

describe("the alerts", () => {
  let folder: string;
  let report: string;

  // One process for all: starting promtool takes longer than a test.
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "interlock-rules-"));
    const files = alerts.map((alert) => writePromtoolTest(folder, alert));
    const { stdout, stderr, error } = spawnSync("promtool", ["test", "rules", ...files], { encoding: "utf8" });
    if (error) throw new Error("promtool is missing. Install it with: sudo apt-get install prometheus");
    report = `${stdout}${stderr}`;
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it("each have a case of both sides", () => {
    expect(Object.keys(cases).sort()).toEqual(alerts.map(caseName).sort());
  });

  it.each(alerts.map(caseName))("%s fires, and only when it must", (name) => {
    const [section = report] = report
      .split(/^Unit Testing: +/m)
      .filter((part) => part.startsWith(`${promtoolFile(folder, name)}\n`));

    expect(section).toMatch(/^.*\n +SUCCESS\n/);
  });

  it("each name a heading of the operations page", () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/operations.md", import.meta.url)), "utf8");
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^a-z0-9 -]/g, "")
        .replaceAll(" ", "-"),
    );

    for (const { runbook } of alerts) expect(headings).toContain(runbook);
  });
});

describe("alerts and dashboard", () => {
  let up: UpProcess;
  let exposed: ReturnType<typeof exposedIn>;

  beforeAll(async () => {
    // No server responds there, but the metrics exist nevertheless.
    const gitlab = { url: "http://127.0.0.1:1", token: "glpat-nobody", poll: "true", projects: "group/app" };
    up = await UpProcess.start({ restart: "true" }, { settings: { gitlab, agent: { command: "true" } } });
    const [url = ""] = /http:\S+\/metrics/.exec(up.screen) ?? [];
    exposed = exposedIn(await (await fetch(url)).text());
  });

  afterAll(() => up.stop());

  const expressions = [
    ...alerts.map((alert) => [`alert ${caseName(alert)}`, alert.when] as const),
    ...panels.flatMap(({ title, lines }) => Object.values(lines).map((line) => [`panel ${title}`, line] as const)),
  ];

  it.each(expressions)("%s queries metrics that the stages expose", (_, expression) => {
    const { metrics, grouped } = namedIn(expression);

    expect(metrics.length).toBeGreaterThan(0);
    for (const { name, matchers } of metrics) {
      expect([...exposed.keys()]).toContain(name);
      for (const { label, values } of matchers) {
        expect([...(exposed.get(name)?.get(label) ?? [])]).toEqual(expect.arrayContaining([...values]));
      }
    }
    const labels = metrics.flatMap(({ name }) => [...(exposed.get(name)?.keys() ?? [])]);
    expect(labels).toEqual(expect.arrayContaining([...grouped]));
  });

  it("are noticed when they ask for something else", () => {
    const { metrics, grouped } = namedIn('sum by (le, pod) (rate(ro_nothing_total{reason=~"a|b",x!="c"}[5m]))');

    expect(metrics).toEqual([
      {
        name: "ro_nothing_total",
        matchers: [
          { label: "reason", values: ["a", "b"] },
          { label: "x", values: ["c"] },
        ],
      },
    ]);
    expect(grouped).toEqual(["le", "pod"]);
    expect(exposed.has("ro_nothing_total")).toBe(false);
  });
});
