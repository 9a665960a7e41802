import { sleep, systemClock } from "../../src/time/index.ts";
import { type Difference, match } from "./match.ts";
import {
  capture,
  type RecordedResponse,
  recordedCrd,
  resolved,
  type Scenario,
  type Step,
  type Variables,
} from "./scenario.ts";
import { Watched } from "./watched.ts";
import { type Answer, answerOf, parsed, type Wire } from "./wire.ts";

export interface StepResult {
  readonly step: string;
  readonly detail: boolean;
  readonly differences: readonly Difference[];
}

interface Replay {
  readonly wire: Wire;
  readonly variables: Variables;
  readonly watches: Map<string, Watched>;
  /** Makes the server forget its history. */
  readonly compact: () => void;
}

const patienceMs = 15_000;

/** Sends the server what was sent to the real one. Returns the steps whose answers differ. */
export async function replay(
  scenario: Scenario,
  { wire, run, compact }: { wire: Wire; run: string; compact: () => void },
) {
  const session: Replay = { wire, variables: { run }, watches: new Map(), compact };
  for (const name of scenario.crds ?? [])
    await wire.ask(creation("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", recordedCrd(name)));
  for (const name of scenario.namespaces ?? []) {
    const metadata = { name: resolved(name, session.variables) };
    await wire.ask(creation("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata }));
  }
  const results: StepResult[] = [];
  for (const [i, step] of scenario.steps.entries()) {
    const differences = await runStep(step, session).catch((error: Error) => [
      { path: "(error)", expected: "an answer", actual: error.message },
    ]);
    if (differences.length > 0)
      results.push({ step: `#${i + 1} ${step.name}`, detail: step.detail ?? false, differences });
  }
  for (const watched of session.watches.values()) watched.close();
  return results;
}

function creation(path: string, body: unknown) {
  return { method: "POST", path, body };
}

async function runStep(step: Step, session: Replay): Promise<Difference[]> {
  if (step.sleepMs) await sleep(systemClock(), step.sleepMs);
  if (step.hook === "compact") session.compact();
  if (!step.request) return step.watch ? await followWatch(step, session) : [];
  if (step.parallel) return await askInParallel(step, session);
  if (step.watch?.open) return await openWatch(step, step.watch.open, session);
  return await askUntilRight(step, session);
}

async function askUntilRight(step: Step, { wire, variables }: Replay): Promise<Difference[]> {
  const clock = systemClock();
  const deadline = clock.now() + (step.eventually ? patienceMs : 0);
  for (;;) {
    const answer = await wire.ask(resolved(step.request, variables) as NonNullable<Step["request"]>);
    const differences = compare(step.response ?? {}, answer, variables);
    if (differences.length === 0 || clock.now() >= deadline) {
      capture(step, answer.body, variables);
      return differences;
    }
    await sleep(clock, 20);
  }
}

async function askInParallel({ request, parallel }: Step, { wire, variables }: Replay): Promise<Difference[]> {
  const { count = 0, statuses, bodies = {} } = parallel ?? {};
  const asked = Array.from({ length: count }, (_, i) =>
    wire.ask(resolved(request, { ...variables, i: String(i) }) as NonNullable<Step["request"]>),
  );
  const answers = await Promise.all(asked);
  const counted: Record<string, number> = {};
  for (const { status } of answers) counted[String(status)] = (counted[String(status)] ?? 0) + 1;
  const wrongBodies = answers.flatMap(({ status, body }) => {
    const expected = bodies[String(status)];
    return expected === undefined
      ? []
      : match(resolved(expected, variables), withoutManagedFields(body), `(body of ${status})`);
  });
  return [...match(statuses, counted, "(statuses)"), ...wrongBodies];
}

async function openWatch(step: Step, id: string, { wire, variables, watches }: Replay): Promise<Difference[]> {
  const response = await wire.open(resolved(step.request, variables) as NonNullable<Step["request"]>);
  if (response.statusCode !== 200) return compare(step.response ?? {}, await answerOf(response), variables);
  watches.set(id, new Watched(response));
  return compare(step.response ?? {}, parsed(response, ""), variables);
}

async function followWatch(step: Step, { watches, variables }: Replay): Promise<Difference[]> {
  const watch = step.watch ?? {};
  const watched = watches.get(watch.read ?? watch.quiet ?? watch.end ?? watch.close ?? "");
  if (!watched) return [{ path: "(watch)", expected: "an open watch", actual: "(absent)" }];
  if (watch.close) {
    watched.close();
    return [];
  }
  if (watch.quiet) return match([], await watched.read(1, { withinMs: watch.forMs ?? 500 }), "(quiet)");
  if (watch.end) return await expectEnd(step, watched, variables);
  if (watch.expectCount) return expectEach(watch, await watched.read(watch.expectCount, { withinMs: patienceMs }));

  const { timeoutMs: withinMs = patienceMs, bookmarks = false, sortByName = false } = watch;
  const events = await watched.read(step.events?.length ?? 0, { withinMs, bookmarks });
  if (sortByName) events.sort((a, b) => (a.object.metadata.name < b.object.metadata.name ? -1 : 1));
  const differences = match(resolved(step.events, variables), withoutManagedFields(events), "(events)");
  capture(step, events, variables);
  return differences;
}

async function expectEnd(step: Step, watched: Watched, variables: Variables): Promise<Difference[]> {
  const { withinMs = patienceMs, notBeforeMs = 0 } = step.watch ?? {};
  const ended = await watched.end(withinMs);
  const lastedMs = (watched.endedAt ?? 0) - watched.openedAt;
  const rest = watched.events.splice(0).filter(({ type }) => type !== "BOOKMARK");
  return [
    ...match(
      { ended: true, cleanly: true, tooSoon: false },
      { ended, cleanly: watched.cleanly, tooSoon: lastedMs < notBeforeMs },
      "(end)",
    ),
    ...(step.events ? match(resolved(step.events, variables), withoutManagedFields(rest), "(events)") : []),
  ];
}

/** N events of one type, each of another object, in the order of their versions. */
function expectEach(
  { expectCount, type }: NonNullable<Step["watch"]>,
  events: Awaited<ReturnType<Watched["read"]>>,
): Difference[] {
  const versions = events.map(({ object }) => BigInt(object.metadata.resourceVersion));
  const seen = {
    count: events.length,
    types: [...new Set(events.map((event) => event.type))],
    ascending: versions.every((version, i) => i === 0 || version > (versions[i - 1] ?? 0n)),
    objects: new Set(events.map(({ object }) => object.metadata.uid)).size,
  };
  return match({ count: expectCount, types: [type], ascending: true, objects: expectCount }, seen, "(watch)");
}

function compare(expected: RecordedResponse, answer: Answer, variables: Variables): Difference[] {
  const differences: Difference[] = [];
  if (expected.status !== undefined) differences.push(...match(expected.status, answer.status, "(status)"));
  if (expected.contentType !== undefined)
    differences.push(...match(expected.contentType, answer.contentType, "(content type)"));
  else if ("body" in expected)
    differences.push(...match({ $regex: "^application/json(;|$)" }, answer.contentType, "(content type)"));
  if (expected.warnings !== undefined)
    differences.push(...match(resolved(expected.warnings, variables), answer.warnings, "(warnings)"));
  for (const text of expected.textContains ?? [])
    differences.push(...match(true, answer.text.includes(text), `(text ${text})`));
  if ("body" in expected)
    differences.push(...match(resolved(expected.body, variables), withoutManagedFields(answer.body)));
  return differences;
}

/** Who wrote which field is not recorded, and not compared. */
function withoutManagedFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutManagedFields);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => name !== "managedFields");
  return Object.fromEntries(fields.map(([name, part]) => [name, withoutManagedFields(part)]));
}
