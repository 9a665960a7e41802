import { queryPolicy, readObjectTarget } from "../../operate/index.ts";
import { diagnoseWithFacts, type PolicyDecision } from "../../policy/index.ts";
import { blockText, type Diagnosis, type FieldTrace, type RemediationRequestSpec } from "../../resources/index.ts";
import { shortNames } from "../../resources/short-names/index.ts";
import type { Desk } from "../command.ts";

/** What the gateway says of one signal. The last four are those of a dry run. */
export interface SignalResult {
  readonly status: string;
  readonly message: string;
  readonly incident?: string;
  readonly fingerprint?: string;
  readonly fix?: string;
  readonly problems?: readonly string[];
  readonly subject?: string;
  readonly target?: string;
  readonly spec?: RemediationRequestSpec;
  readonly mapping?: readonly FieldTrace[];
}

/** What would become of each signal: at the gateway, by the rules, by the policy. */
export async function previewLines(results: readonly SignalResult[], desk: Desk): Promise<readonly string[]> {
  const rules = await desk.rules();
  const kinds = await desk.kinds();
  const lines: string[] = [];
  for (const result of results) {
    const { status, subject, target, fingerprint, message, incident, fix, problems = [], spec, mapping = [] } = result;
    lines.push(spec ? `${spec.signalName} (${spec.severity})` : status);
    const say = (what: string, text: string | undefined) => text && lines.push(`  ${what.padEnd(12)} ${text}`);
    for (const trace of mapping) say("field", mappingText(trace));
    say("subject", subject);
    if (target !== subject) say("owner", target);
    say("fingerprint", fingerprint);
    say("gateway", incident ? `${message} ${shortNames(incident)}` : message);
    say("to change it", fix);
    for (const problem of problems) say("problem", problem);
    if (!spec || status === "resolved") continue;

    const analysis = await diagnoseWithFacts(spec, rules, kinds, () => desk.readFacts(spec, subject));
    if (analysis.kind === "no-match") {
      say("rule", "none applies, so that nothing would be done");
      for (const one of analysis.tried) say("", one);
      continue;
    }
    say("rule", `${analysis.rule}: ${whatItDoes(analysis.diagnosis)}`);
    const { target: text, workflowId: workflow, parameters = {} } = analysis.diagnosis;
    const question = { target: readObjectTarget(text, kinds), workflow, parameters };
    for (const { decision } of await queryPolicy(question, kinds, desk))
      for (const line of verdict(decision)) say(...line);
  }
  return lines;
}

/** `name = DiskFull, from labels.alertname`. */
function mappingText({ field, from, value, problem }: FieldTrace): string {
  const result = problem === undefined ? (value ?? "no value") : `failed (${problem})`;
  return `${field} = ${result}, from ${from}`;
}

function whatItDoes({ target, workflowId, parameters }: Diagnosis): string {
  const given = parameters && Object.keys(parameters).length > 0 ? ` with ${JSON.stringify(parameters)}` : "";
  return `${workflowId} on ${target}${given}`;
}

function verdict(decision: PolicyDecision): readonly (readonly [string, string])[] {
  if (decision.verdict === "allow") return [["policy", decision.message]];
  return [
    ["policy", shortNames(`not now, ${blockText(decision.reason, decision.cause)}: ${decision.message}`)],
    ["next", shortNames(decision.nextStep)],
  ];
}
