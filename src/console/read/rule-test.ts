import { OperationError, queryPolicy, readObjectTarget } from "../../operate/index.ts";
import { diagnoseWithFacts, type PolicyDecision, type Rule } from "../../policy/index.ts";
import { blockText, type Diagnosis, type FieldTrace } from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import { timeLimit } from "../../time/index.ts";
import { RequestError } from "../projection/projection.ts";
import type { RuleTest, RuleTestResult } from "../wire.ts";
import type { ReadContext, RuleTestContext, SignalPreview } from "./read-context.ts";

type TestedSignal = RuleTestResult["signals"][number];

/** Many signals, each with objects to read on a slow server, must not keep a test busy after its viewer has given up. */
const maxTestMs = 15_000;

/** What the rules in force would do about a payload of a source. Throws RequestError while the rules cannot be read. */
export async function readRuleTest({ source, payload }: RuleTest, context: ReadContext): Promise<RuleTestResult> {
  const { rules, problems } = await context.rules();
  if (problems.length > 0) throw new RequestError(`the rules have to be corrected first: ${problems.join("; ")}`);
  using limit = timeLimit(context.clock, maxTestMs);
  const { signal } = limit;
  const previews = await context.preview({ source, payload, signal });
  return { signals: await testSignals(previews, context, { rules, signal }) };
}

interface TestOptions {
  readonly rules: readonly Rule[];
  /** Throws OperationError when it aborts. */
  readonly signal?: AbortSignal;
}

/** The result of each signal at the gateway, by the rules and by the policy. Changes nothing. */
export async function testSignals(
  previews: readonly SignalPreview[],
  context: RuleTestContext,
  { rules, signal = new AbortController().signal }: TestOptions,
): Promise<readonly TestedSignal[]> {
  const tested: TestedSignal[] = [];
  for (const preview of previews) {
    if (signal.aborted) throw tooSlow(tested.length, previews.length);
    tested.push(await testSignal(preview, context, { rules, signal }));
  }
  return tested;
}

function tooSlow(tested: number, all: number): OperationError {
  const message = `only ${tested} of ${all} signals were tested within ${maxTestMs / 1_000} s`;
  return new OperationError("unavailable", message, { hint: "Test fewer signals at once." });
}

async function testSignal(
  preview: SignalPreview,
  context: RuleTestContext,
  { rules, signal }: Required<TestOptions>,
): Promise<TestedSignal> {
  const { status, subject, spec } = preview;
  const lines = gatewayLines(preview);
  const common = {
    signal: spec?.signalName ?? status,
    ...(subject === undefined ? {} : { subject }),
    outcome: status,
  };
  if (!spec || status === "resolved") return { ...common, lines };

  const kinds = await context.kinds();
  const analysis = await diagnoseWithFacts(spec, rules, kinds, () => context.readFacts(spec, subject, signal));
  if (analysis.kind === "no-match") {
    const tried = analysis.tried.map((one) => line("", one));
    return { ...common, lines: [...lines, line("rule", "none applies, so no workflow would run"), ...tried] };
  }
  const { target, workflowId: workflow, parameters = {} } = analysis.diagnosis;
  const question = { target: readObjectTarget(target, kinds), workflow, parameters };
  const verdicts = (await queryPolicy(question, kinds, context)).flatMap(({ decision }) => verdictLines(decision));
  return {
    ...common,
    rule: analysis.rule,
    workflow,
    target,
    lines: [...lines, line("rule", `${analysis.rule}: ${describeDiagnosis(analysis.diagnosis)}`), ...verdicts],
  };
}

function gatewayLines(preview: SignalPreview): readonly string[] {
  const { status, subject, target, fingerprint, message, incident, fix, problems = [], spec, mapping = [] } = preview;
  return [
    spec ? `${spec.signalName} (${spec.severity})` : status,
    ...mapping.map((trace) => line("field", describeField(trace))),
    ...(subject ? [line("subject", subject)] : []),
    ...(target && target !== subject ? [line("owner", target)] : []),
    ...(fingerprint ? [line("fingerprint", fingerprint)] : []),
    line("gateway", incident ? `${message} ${shortNames(incident)}` : message),
    ...(fix ? [line("to change it", fix)] : []),
    ...problems.map((problem) => line("problem", problem)),
  ];
}

function line(label: string, text: string): string {
  return `  ${label.padEnd(12)} ${text}`;
}

/** `name = DiskFull, from labels.alertname`. */
function describeField({ field, from, value, problem }: FieldTrace): string {
  const result = problem === undefined ? (value ?? "no value") : `failed (${problem})`;
  return `${field} = ${result}, from ${from}`;
}

function describeDiagnosis({ target, workflowId, parameters }: Diagnosis): string {
  const given = parameters && Object.keys(parameters).length > 0 ? ` with ${JSON.stringify(parameters)}` : "";
  return `${workflowId} on ${target}${given}`;
}

function verdictLines(decision: PolicyDecision): readonly string[] {
  if (decision.verdict === "allow") return [line("policy", decision.message)];
  return [
    line("policy", shortNames(`not now, ${blockText(decision.reason, decision.cause)}: ${decision.message}`)),
    line("next", shortNames(decision.nextStep)),
  ];
}
