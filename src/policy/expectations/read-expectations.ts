import {
  type AutomationPause,
  automationPauses,
  blockReasons,
  computeFingerprint,
  type Kinds,
  kindSchema,
  type ObjectTarget,
  parameterValue,
  parseTarget,
  parseYamlFile,
  type RemediationRequest,
  type RemediationRequestSpec,
  type RemediationTargetStatus,
  remediationRequests,
  remediationTargets,
  type Signal,
  type SignalReader,
  signalTime,
  type TextFile,
  toObjectTarget,
} from "../../resources/index.ts";
import { mustBe, type Wire, z } from "../../schema/index.ts";
import type { FactsReading } from "../rules/facts.ts";
import type { Expectation, Expected, Given } from "./expectation.ts";

export type ExpectationsReading =
  | { readonly kind: "valid"; readonly expectations: readonly Expectation[] }
  /** `file:line: path problem`, everything at once. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export interface ReadingOptions {
  readonly kinds: Kinds;
  /** Reads `signal:`, in the format of the generic source. */
  readonly signals: SignalReader;
  /** Reads `alert:`, in the format of Alertmanager. */
  readonly alerts: SignalReader;
}

/** Reads `tests:` of a YAML file. An unknown field is rejected, because its expectation would not be checked. */
export function readExpectations(file: TextFile, options: ReadingOptions): ExpectationsReading {
  const yaml = parseYamlFile(file, expectationsFile(options));
  if (yaml.kind === "invalid") return yaml;
  const expectations = yaml.value.tests.map((test, i) => toExpectation(test, yaml.at(["tests", i]), options.kinds));
  return { kind: "valid", expectations };
}

const time = z.custom<string>(
  (value) => signalTime(value) !== undefined,
  "must be a time such as 2026-11-15T12:00:00Z",
);
const scalar = z.union([z.string(), z.number(), z.boolean()], mustBe("text")).transform(String);
const scalars = z.union([scalar.transform((one) => [one]), z.array(scalar)], mustBe("text or a list of texts"));
const scalarMap = z.record(z.string(), scalar, mustBe("names with values"));

const objectFacts = z.strictObject({
  labels: scalarMap.default({}),
  annotations: scalarMap.default({}),
  conditions: scalarMap.default({}),
  lastTermination: scalars.default([]),
  waiting: scalars.default([]),
  managedBy: scalars.default([]),
  phase: scalar.optional(),
  node: scalar.optional(),
});

const expectedFields = {
  rule: z.string().optional(),
  target: z.string().optional(),
  workflow: z.string().optional(),
  parameters: z.record(z.string(), parameterValue, mustBe("names with values")).optional(),
  /** `allow`, or the reason of the first check that blocks. */
  decision: z.enum(["allow", ...(Object.keys(blockReasons) as (keyof typeof blockReasons)[])]).optional(),
  /** When the decision changes by itself. */
  until: time.optional(),
};
const expectedRule = `must be "no match", or one or more of ${Object.keys(expectedFields).join(", ")}`;
const expected = z.union(
  [
    z.literal("no match"),
    z.strictObject(expectedFields).refine((value) => Object.keys(value).length > 0, { error: expectedRule }),
  ],
  { error: expectedRule },
);

function expectationsFile({ kinds, signals, alerts }: ReadingOptions) {
  const target = z.string().transform((text, context) => {
    const reading = parseTarget(text, kinds);
    if (reading.kind === "target") return reading.target;
    context.addIssue(reading.problem);
    return z.NEVER;
  });
  const owner = target.transform((object, context) => {
    if (object.type === "object") return object;
    context.addIssue("is a repository");
    return z.NEVER;
  });
  const given = z
    .strictObject({
      now: time.optional(),
      record: (kindSchema(remediationTargets).status as z.ZodType<RemediationTargetStatus>).optional(),
      pauses: z
        .array(kindSchema(automationPauses).spec as z.ZodType<AutomationPause["spec"]>)
        .min(1)
        .optional(),
      /** Open incidents, of which one may be the cause. */
      incidents: z.array(z.strictObject({ rule: z.string(), target })).optional(),
    })
    .refine(({ now, record, pauses }) => now !== undefined || (record === undefined && pauses === undefined), {
      error: "needs the time of the decision for a record or pauses: now: 2026-11-15T12:00:00Z",
    });
  const test = z
    .strictObject({
      name: z.string(),
      signal: signalSchema(signals, (signal) => signal).optional(),
      alert: signalSchema(alerts, (alert) => ({ version: "4", status: "firing", alerts: [alert] })).optional(),
      owner: owner.optional(),
      facts: z.strictObject({ object: objectFacts.optional(), owner: objectFacts.optional() }).optional(),
      given: given.optional(),
      expect: expected,
    })
    .superRefine(({ signal, alert, owner }, context) => {
      if ((signal === undefined) === (alert === undefined))
        context.addIssue("must have a signal or an alert, not both");
      const subject = owner ? undefined : findSubject(signal ?? alert, kinds);
      const reading = subject && toObjectTarget(subject, kinds);
      if (reading?.kind === "problem") context.addIssue(`has a subject that ${reading.problem}`);
    });
  return z.object({ tests: z.array(test, { error: "must be a list of tests" }).min(1) });
}

type WrittenTest = Wire<ReturnType<typeof expectationsFile>>["tests"][number];

function signalSchema(reader: SignalReader, toBody: (written: unknown) => unknown) {
  return z.unknown().transform((written, context): Signal => {
    const payload = reader.read(toBody(written), defaultTime);
    const [first] = payload.kind === "signals" ? payload.readings : [payload];
    if (first?.kind === "signal") return first.signal;
    const problems = first?.kind === "problems" ? first.problems : [first?.because ?? "it is empty"];
    for (const problem of problems) context.addIssue(`cannot be read: ${problem}`);
    return z.NEVER;
  });
}

function toExpectation(test: WrittenTest, at: string, kinds: Kinds): Expectation {
  const { name, facts, given, owner } = test;
  const signal = (test.signal ?? test.alert) as Signal;
  const subject = owner ? undefined : findSubject(signal, kinds);
  const reading = subject && toObjectTarget(subject, kinds);
  // Without a subject, only a rule that gives a target applies.
  const target = owner ?? (reading?.kind === "target" ? reading.target : undefined);
  return {
    name,
    at,
    incident: toIncident(signal, target, subject),
    facts: { object: toFacts(facts?.object), owner: toFacts(facts?.owner) },
    given: toGiven(given),
    expected: toExpected(test.expect),
  };
}

/** Facts that are not given are unreadable: a rule that needs them does not apply, and no rule after it. */
function toFacts(facts: Wire<typeof objectFacts> | undefined): FactsReading {
  return facts ? { kind: "read", facts } : { kind: "unreadable", problem: "is not among the facts of the test" };
}

function toGiven({ now, record, pauses = [], incidents = [] }: NonNullable<WrittenTest["given"]> = {}): Given {
  return {
    nowMs: now === undefined ? undefined : Date.parse(now),
    record,
    pauses: pauses.map((spec, i) => ({ name: `pause-${i + 1}`, spec })),
    incidents: incidents.map(({ rule, target }, i) => openIncident(`incident-${i + 1}`, rule, target.text)),
  };
}

function toExpected(written: Wire<typeof expected>): Expected {
  if (written === "no match") return { match: false };
  const { until, ...fields } = written;
  return { match: true, ...fields, ...(until === undefined ? {} : { untilMs: Date.parse(until) }) };
}

/** The time of signals without one. No rule depends on it. */
const defaultTime = "2026-01-01T00:00:00.000Z";

function openIncident(name: string, rule: string, target: string): RemediationRequest {
  const { apiVersion, kind } = remediationRequests;
  const spec = {
    signalFingerprint: "",
    signalName: "",
    severity: "",
    targetResource: { kind: "", name: "" },
    firingTime: defaultTime,
    receivedTime: defaultTime,
  };
  const diagnosis = { target, workflowId: "any", rule };
  return { apiVersion, kind, metadata: { name, uid: name }, spec, status: { phase: "Analyzing", diagnosis } };
}

/** Returns the subject of the gateway without an API server: the name of a Node is that of its exporter. */
function findSubject(signal: Signal | undefined, kinds: Kinds): Signal["subject"] {
  const { subject, coarserSubject, node } = signal ?? {};
  if (node) return node.names[0] === undefined ? undefined : { kind: "Node", name: node.names[0] };
  const isKnown = subject && toObjectTarget(subject, kinds).kind === "target";
  return isKnown ? subject : (coarserSubject ?? subject);
}

function toIncident(
  signal: Signal,
  target: ObjectTarget | undefined,
  reference: Signal["subject"],
): RemediationRequestSpec {
  const { kind, name, namespace } = target ?? { kind: "", name: "" };
  return {
    signalFingerprint: computeFingerprint(signal, target),
    signalName: signal.name,
    signalSource: signal.source,
    severity: signal.severity,
    targetResource: reference ?? { kind, name, ...(namespace ? { namespace } : {}) },
    firingTime: signal.firingAt,
    receivedTime: signal.firingAt,
    signalLabels: signal.labels,
    signalAnnotations: signal.annotations,
  };
}
