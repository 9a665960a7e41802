import {
  automationPauses,
  blockReasons,
  fingerprintOf,
  type Kinds,
  type ObjectFacts,
  type ObjectTarget,
  parseTarget,
  type RemediationRequest,
  type RemediationRequestSpec,
  type RemediationTargetStatus,
  read,
  readYamlFile,
  remediationRequests,
  remediationTargets,
  type Signal,
  type SignalReader,
  type SignalReading,
  signalTime,
  type TextFile,
  targetOfObject,
  type YamlPlace,
} from "../../resources/index.ts";
import type { Problem } from "../../schema/index.ts";
import type { Pause } from "../pauses.ts";
import type { Facts, FactsReading } from "../rules/facts.ts";
import type { Expectation, Expected, Given } from "./expectation.ts";

export type ExpectationsReading =
  | { readonly kind: "valid"; readonly expectations: readonly Expectation[] }
  /** `file:line: path problem`, everything at once. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

export interface ReadingOptions {
  readonly kinds: Kinds;
  /** Reads `signal:`, which is written as anybody posts one. */
  readonly signals: SignalReader;
  /** Reads `alert:`, which is one of Alertmanager's. */
  readonly alerts: SignalReader;
}

/** Reads `tests:` of a YAML file. A field that is spelled wrong is refused: what it expects would never be checked. */
export function readExpectations(file: TextFile, options: ReadingOptions): ExpectationsReading {
  const yaml = readYamlFile(file);
  if (yaml.kind === "invalid") return yaml;
  const problems: string[] = [];
  const reader = new Reader(options, (place, problem) => problems.push(`${yaml.at(place)}: ${problem}`));
  const list = isObject(yaml.value) ? yaml.value["tests"] : undefined;
  if (!Array.isArray(list) || list.length === 0) {
    return { kind: "invalid", problems: [`${file.path}:1: must have a list "tests:"`] };
  }
  const expectations = list.map((value: unknown, i) => reader.expectation(value, ["tests", i], yaml.at(["tests", i])));
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "valid", expectations };
}

type YamlFields = Readonly<Record<string, unknown>>;
type Say = (place: YamlPlace, problem: string) => void;

class Reader {
  readonly #options: ReadingOptions;
  readonly #say: Say;

  constructor(options: ReadingOptions, say: Say) {
    this.#options = options;
    this.#say = say;
  }

  expectation(value: unknown, place: YamlPlace, at: string): Expectation {
    const test = this.#object(value, place, ["name", "signal", "alert", "owner", "facts", "given", "expect"]);
    if (typeof test["name"] !== "string") this.#say(place, "a test has a name");
    return {
      name: String(test["name"]),
      at,
      incident: this.#incident(test, place),
      facts: this.#facts(test["facts"], [...place, "facts"]),
      given: this.#given(test["given"], [...place, "given"]),
      expected: this.#expected(test["expect"], [...place, "expect"]),
    };
  }

  #incident(test: YamlFields, place: YamlPlace): RemediationRequestSpec {
    const signal = this.#signal(test, place);
    const { kinds } = this.#options;
    const owner = test["owner"] === undefined ? undefined : this.#owner(test["owner"], [...place, "owner"]);
    const subject = signal && subjectOf(signal, kinds);
    const reading = owner || !subject ? undefined : targetOfObject(subject, kinds);
    if (reading?.kind === "problem") this.#say(place, `the subject ${reading.problem}`);
    const target = owner ?? (reading?.kind === "target" ? reading.target : undefined);
    // Without a subject, only a rule that gives a target applies.
    if (!signal || (subject && !target)) return nothing;
    return incidentOf(signal, target, owner ? undefined : subject);
  }

  #signal(test: YamlFields, place: YamlPlace): Signal | undefined {
    const { signals, alerts } = this.#options;
    const { signal, alert } = test;
    if ((signal === undefined) === (alert === undefined)) {
      this.#say(place, "a test has a signal or an alert, one of the two");
      return undefined;
    }
    const body = alert === undefined ? signal : { version: "4", status: "firing", alerts: [alert] };
    const payload = (alert === undefined ? signals : alerts).read(body, usualTime);
    const [first] = payload.kind === "signals" ? payload.readings : [payload];
    if (first?.kind === "signal") return first.signal;
    const field = alert === undefined ? "signal" : "alert";
    for (const problem of problemsOf(first)) this.#say([...place, field], `${field}: ${problem}`);
    return undefined;
  }

  #owner(value: unknown, place: YamlPlace): ObjectTarget | undefined {
    const reading = parseTarget(String(value), this.#options.kinds);
    if (reading.kind === "target" && reading.target.type === "object") return reading.target;
    this.#say(place, `owner ${reading.kind === "problem" ? reading.problem : "is a repository"}`);
    return undefined;
  }

  #given(value: unknown, place: YamlPlace): Given {
    const given = value === undefined ? {} : this.#object(value, place, ["now", "record", "pauses", "incidents"]);
    const now = given["now"] === undefined ? undefined : this.#time(given["now"], [...place, "now"], "now");
    if (now === undefined && (given["record"] !== undefined || given["pauses"] !== undefined)) {
      this.#say(place, "what has happened needs a moment at which it is decided: now: 2026-11-15T12:00:00Z");
    }
    const pauses = Array.isArray(given["pauses"]) ? given["pauses"] : [];
    if (given["pauses"] !== undefined && pauses.length === 0) this.#say([...place, "pauses"], "pauses is not a list");
    return {
      nowMs: now === undefined ? undefined : Date.parse(now),
      record: given["record"] === undefined ? undefined : this.#record(given["record"], [...place, "record"]),
      pauses: pauses.map((spec: unknown, i) => this.#pause(spec, [...place, "pauses", i])),
      incidents: this.#openIncidents(given["incidents"], [...place, "incidents"]),
    };
  }

  /** Facts that are not given could not be read: a rule that asks for them does not apply, and none after it. */
  #facts(value: unknown, place: YamlPlace): Facts {
    const given = value === undefined ? {} : this.#object(value, place, ["object", "owner"]);
    const reading = (of: "object" | "owner"): FactsReading => {
      if (given[of] !== undefined) return { kind: "read", facts: this.#objectFacts(given[of], [...place, of]) };
      return { kind: "unreadable", problem: "is not among the facts of the test" };
    };
    return { object: reading("object"), owner: reading("owner") };
  }

  #objectFacts(value: unknown, place: YamlPlace): ObjectFacts {
    const facts = this.#object(value, place, [...factMaps, ...factLists, "phase", "node"]);
    const texts = (one: unknown) => (Array.isArray(one) ? one : one === undefined ? [] : [one]).map(String);
    const [labels = {}, annotations = {}, conditions = {}] = factMaps.map((name) => {
      if (facts[name] !== undefined && !isObject(facts[name]))
        this.#say([...place, name], `${name} is not names with values`);
      const entries = Object.entries(isObject(facts[name]) ? facts[name] : {});
      return Object.fromEntries(entries.map(([key, one]) => [key, String(one)]));
    });
    const [lastTermination = [], waiting = [], managedBy = []] = factLists.map((name) => texts(facts[name]));
    return {
      labels,
      annotations,
      conditions,
      lastTermination,
      waiting,
      managedBy,
      ...(facts["phase"] === undefined ? {} : { phase: String(facts["phase"]) }),
      ...(facts["node"] === undefined ? {} : { node: String(facts["node"]) }),
    };
  }

  #openIncidents(value: unknown, place: YamlPlace): readonly RemediationRequest[] {
    if (value === undefined) return [];
    if (!Array.isArray(value)) this.#say(place, "incidents is not a list");
    return (Array.isArray(value) ? value : []).map((one: unknown, i) => {
      const { rule, target } = this.#object(one, [...place, i], ["rule", "target"]);
      const reading = parseTarget(String(target), this.#options.kinds);
      if (typeof rule !== "string") this.#say([...place, i], "an open incident has the rule that it was diagnosed by");
      if (reading.kind === "problem") this.#say([...place, i], `target ${reading.problem}`);
      return openIncident(`incident-${i + 1}`, String(rule), reading.kind === "target" ? reading.target.text : "");
    });
  }

  #record(status: unknown, place: YamlPlace): RemediationTargetStatus | undefined {
    const { apiVersion, kind } = remediationTargets;
    const object = { apiVersion, kind, metadata: {}, spec: { targetResource: "node/any" }, status };
    const reading = read(remediationTargets, object);
    if (reading.kind === "valid" && reading.strayFields.length === 0) return reading.object.status;
    this.#tell(reading.kind === "valid" ? reading.strayFields : reading.problems, place);
    return undefined;
  }

  #pause(spec: unknown, place: YamlPlace): Pause {
    const { apiVersion, kind } = automationPauses;
    const reading = read(automationPauses, { apiVersion, kind, metadata: {}, spec });
    if (reading.kind === "valid" && reading.strayFields.length === 0) {
      return { name: `pause-${Number(place.at(-1)) + 1}`, spec: reading.object.spec };
    }
    this.#tell(reading.kind === "valid" ? reading.strayFields : reading.problems, place);
    return { name: "", spec: { scope: "All", reason: "", requestedBy: "" } };
  }

  #expected(value: unknown, place: YamlPlace): Expected {
    if (value === "no match") return { match: false };
    if (!isObject(value) || Object.keys(value).length === 0) {
      this.#say(place, `expect is "no match", or one or more of ${expectedFields.join(", ")}`);
      return { match: false };
    }
    const { rule, target, workflow, parameters, decision, until } = this.#object(value, place, expectedFields);
    for (const [name, text] of Object.entries({ rule, target, workflow, decision })) {
      if (text !== undefined && typeof text !== "string") this.#say([...place, name], `${name} is not text`);
    }
    if (parameters !== undefined && !isObject(parameters))
      this.#say([...place, "parameters"], "parameters is not names with values");
    if (decision !== undefined && !decisions.includes(String(decision))) {
      this.#say([...place, "decision"], `decision is not one of ${decisions.join(", ")}`);
    }
    const time = until === undefined ? undefined : this.#time(until, [...place, "until"], "until");
    const said = {
      rule,
      target,
      workflow,
      parameters,
      decision,
      untilMs: time === undefined ? undefined : Date.parse(time),
    };
    return {
      match: true,
      ...(Object.fromEntries(Object.entries(said).filter(([, one]) => one !== undefined)) as object),
    };
  }

  #time(value: unknown, place: YamlPlace, field: string): string | undefined {
    const time = signalTime(value);
    if (time === undefined) this.#say(place, `${field} is not a time such as 2026-11-15T12:00:00Z`);
    return time;
  }

  #object(value: unknown, place: YamlPlace, known: readonly string[]): YamlFields {
    if (!isObject(value)) {
      this.#say(place, `this is not an object with ${known.join(", ")}`);
      return {};
    }
    for (const key of Object.keys(value)) {
      if (!known.includes(key)) this.#say([...place, key], `${key} is not a known field; there is ${known.join(", ")}`);
    }
    return value;
  }

  #tell(problems: readonly Problem[], place: YamlPlace) {
    for (const { sentence } of problems) this.#say(place, sentence.replace(/^(status|spec)\.?/, ""));
  }
}

const factMaps = ["labels", "annotations", "conditions"];
const factLists = ["lastTermination", "waiting", "managedBy"];
const expectedFields = ["rule", "target", "workflow", "parameters", "decision", "until"];
const decisions = ["allow", ...Object.keys(blockReasons)];

/** Signals that leave their time out came then; nothing depends on it. */
const usualTime = "2026-01-01T00:00:00.000Z";
const nothing: RemediationRequestSpec = {
  signalFingerprint: "",
  signalName: "",
  severity: "",
  targetResource: { kind: "", name: "" },
  firingTime: usualTime,
  receivedTime: usualTime,
};

function openIncident(name: string, rule: string, target: string): RemediationRequest {
  const { apiVersion, kind } = remediationRequests;
  const diagnosis = { target, workflowId: "any", rule };
  return { apiVersion, kind, metadata: { name, uid: name }, spec: nothing, status: { phase: "Analyzing", diagnosis } };
}

/** What the gateway would find, as far as that can be said without an API server: a Node is called as its exporter says. */
function subjectOf({ subject, coarserSubject, node }: Signal, kinds: Kinds): Signal["subject"] {
  if (node) return node.names[0] === undefined ? undefined : { kind: "Node", name: node.names[0] };
  const isKnown = subject && targetOfObject(subject, kinds).kind === "target";
  return isKnown ? subject : (coarserSubject ?? subject);
}

function incidentOf(
  signal: Signal,
  target: ObjectTarget | undefined,
  reference: Signal["subject"],
): RemediationRequestSpec {
  const { kind, name, namespace } = target ?? { kind: "", name: "" };
  return {
    signalFingerprint: fingerprintOf(signal, target),
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

function problemsOf(reading: Exclude<SignalReading, { kind: "signal" }> | undefined): readonly string[] {
  if (!reading) return ["it is empty"];
  return reading.kind === "ignored" ? [reading.because] : reading.problems;
}

function isObject(value: unknown): value is YamlFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
