import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LogOutput, logEvents } from "../../../src/console/http/log-events.ts";
import { logRoutes } from "../../../src/console/http/log-routes.ts";
import type { LogLine } from "../../../src/console/wire.ts";
import { KubeError, namespaces } from "../../../src/kube/index.ts";
import { executionNamespace, workflowExecutions } from "../../../src/resources/index.ts";
import { type Clock, systemClock, systemRandom } from "../../../src/time/index.ts";
import { UpProcess } from "../../services/up-process.ts";
import { type ConsoleUnderTest, consoleUnderTest, cookieIn } from "./console-under-test.ts";

interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

/** The events of a stream, as they arrive. Comments are none. */
async function* eventsIn(body: Iterable<never> | AsyncIterable<Uint8Array | string>): AsyncGenerator<StreamEvent> {
  let text = "";
  for await (const chunk of body) {
    text += Buffer.from(chunk as Uint8Array).toString();
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      if (event !== undefined) yield { event, data: JSON.parse(data ?? "") };
    }
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const line = (text: string) => ({ event: "line", data: { task: "act", step: "say", text } satisfies LogLine });
const end = { event: "end", data: {} };

// Prints a line, waits until the test has seen it, and goes on.
const paced = `echo "first $password"; while [ ! -e "$gate" ]; do sleep 0.05; done; printf 'second\\nno end'`;
const parameters = { gate: { type: "string" }, password: { type: "string" } };

describe("the output of a local execution over HTTP", { timeout: 60_000 }, () => {
  let up: UpProcess;
  let url: string;
  let cookie: string;

  beforeAll(async () => {
    up = await UpProcess.start({ paced: { script: paced, parameters } }, { env: { CONSOLE_LISTEN: "127.0.0.1:0" } });
    const [link = ""] = /http\S+\/login\/link\S+/.exec(up.screen) ?? [];
    url = new URL(link).origin;
    cookie = cookieIn(await fetch(link, { redirect: "manual" }));
  });
  afterAll(() => up.stop());

  it("arrives while the step runs, without secrets, and ends with the execution", async () => {
    const { path, open } = await startRun("worker-1");
    const events = eventsIn((await ask(path)).body ?? []);

    expect((await events.next()).value).toEqual(line("first [redacted]"));
    open();

    expect(await collect(events)).toEqual([line("second"), line("no end"), end]);
  });

  it("is complete for an execution that has ended, or has the requested number of its last lines", async () => {
    const { path, open } = await startRun("worker-2");
    open();
    await collect(eventsIn((await ask(path)).body ?? []));

    const all = await collect(eventsIn((await ask(path)).body ?? []));
    const last = await collect(eventsIn((await ask(`${path}?tail=1`)).body ?? []));

    expect(all).toEqual([line("first [redacted]"), line("second"), line("no end"), end]);
    expect(last).toEqual([line("no end"), end]);
  });

  it("is 404 for an execution that does not exist", async () => {
    expect((await ask("/api/v1/executions/kubernaut-system/none/logs")).status).toBe(404);
  });

  function ask(path: string): Promise<Response> {
    return fetch(`${url}${path}`, { headers: { cookie } });
  }

  async function startRun(node: string) {
    const gate = join(up.directory, `gate-${node}`);
    const values = ["--param", `gate=${gate}`, "--param", "password=hunter2hunter2"];
    const { out, err } = await up.interlock("run", "paced", "--target", `node/${node}`, "--no-wait", ...values);
    const [, short = ""] = /execution (\S+) was created/.exec(out) ?? [];
    expect(short, err).not.toBe("");
    expect(existsSync(gate)).toBe(false);
    const { items } = await (await up.client()).list(workflowExecutions, {});
    const { name, namespace } = items.find(({ spec }) => spec.targetResource === `node/${node}`)?.metadata ?? {
      name: short,
    };
    return { path: `/api/v1/executions/${namespace}/${name}/logs`, open: () => writeFileSync(gate, "") };
  }
});

describe("a stream of output", () => {
  const stepLine = (text: string) => ({ task: "act", attempt: 1, step: "say", text });
  const [clock, neverAborted] = [systemClock(), new AbortController().signal];
  const untilGone = ({ signal }: LogOutput) =>
    new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

  it("reads no further than the viewer does", async () => {
    const [total, text] = [1_000, "x".repeat(1_024)];
    let printed = 0;
    const source = logEvents(async ({ print }) => {
      for (; printed < total; printed++) await print(stepLine(text));
    }, clock);

    const events = eventsIn(source(neverAborted));
    await events.next();
    await new Promise((resolve) => setImmediate(resolve));
    const atFirst = printed;
    const rest = await collect(events);

    expect(atFirst).toBeLessThan(total / 2);
    expect(rest).toHaveLength(total);
    expect(rest.at(-1)).toEqual(end);
  });

  it("stops its source when its reader stops", async () => {
    let output: LogOutput | undefined;
    const source = logEvents(async (given) => {
      output = given;
      await given.print(stepLine("one"));
      await untilGone(given);
    }, clock);

    for await (const _ of source(neverAborted)) break;

    expect(output?.signal.aborted).toBe(true);
  });

  it("ends when the viewer leaves although nothing is written", async () => {
    const viewer = new AbortController();
    const reading = collect(eventsIn(logEvents(untilGone, clock)(viewer.signal)));

    viewer.abort();

    expect(await reading).toEqual([]);
  });

  it("names a right that is missing, and ends without the end of the output if the API server fails otherwise", async () => {
    const failing = (error: Error) => collect(eventsIn(logEvents(() => Promise.reject(error), clock)(neverAborted)));

    expect(await failing(new KubeError("forbidden", "kim may not get pods/log"))).toEqual([
      { event: "problem", data: { message: "kim may not get pods/log" } },
      end,
    ]);
    expect(await failing(new KubeError("unavailable", "connect 10.0.0.1:443"))).toEqual([
      { event: "problem", data: { message: "The API server does not respond." } },
    ]);
    await expect(failing(new TypeError("a defect"))).rejects.toThrow("a defect");
  });
});

describe("the stream of an execution that writes nothing", () => {
  // A hundred times as fast as the real one.
  const real = systemClock();
  const clock: Clock = {
    ...real,
    now: () => real.now() * 100,
    after: (ms, action, ...more) => real.after(ms / 100, action, ...more),
  };
  let server: ConsoleUnderTest;

  beforeAll(async () => {
    const routes = logRoutes({ runsIn: executionNamespace, clock, random: systemRandom() });
    server = await consoleUnderTest({ routes: () => routes });
    const { client } = server;
    await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
    const { apiVersion, kind } = workflowExecutions;
    const spec = {
      remediationRequestRef: { name: "rr-1", namespace: "shop" },
      workflowRef: { workflowId: "drain", version: "1.0.0", containerImage: "local/drain" },
      targetResource: "node/worker-1",
    };
    await client.create(workflowExecutions, {
      apiVersion,
      kind,
      metadata: { name: "quiet", namespace: "shop" },
      spec,
    } as never);
  });

  it("ends with the session of its viewer, without the event that marks the output as complete", async () => {
    await server.users.add("kim", "viewer");
    const response = await server.ask("/api/v1/executions/shop/quiet/logs", { cookie: await server.logIn("kim") });
    expect(response.status).toBe(200);

    await server.users.remove("kim");

    expect(await collect(eventsIn(response.body ?? []))).toEqual([]);
  });

  it("ends when the server closes", async () => {
    const response = await server.ask("/api/v1/executions/shop/quiet/logs", { cookie: await server.logIn() });
    const reading = collect(eventsIn(response.body ?? []));

    await server.close();

    expect(await reading).toEqual([]);
  });
});
