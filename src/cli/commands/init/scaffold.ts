import { yamlLines } from "../../output/yaml.ts";
import { type Choices, targetKinds } from "./choices.ts";

/** A file that `interlock init` writes, relative to its folder. */
export interface ScaffoldFile {
  readonly path: string;
  readonly text: string;
}

/** The sample alert, for `interlock receive`. */
export const sampleAlertFile = "sample-alert.json";
export const settingsFile = "interlock.yaml";

/** A configuration, a first rule with a test, a first workflow, and an alert to try them with. */
export function scaffold(choices: Choices): readonly ScaffoldFile[] {
  return [
    { path: settingsFile, text: settings(choices) },
    { path: "rules/first-rule.yaml", text: rule(choices) },
    { path: "rules/tests/first-rule.yaml", text: ruleTest(choices) },
    { path: "workflows/first-workflow/workflow.yaml", text: workflow(choices) },
    { path: "workflows/first-workflow/pipeline.yaml", text: pipeline },
    { path: sampleAlertFile, text: `${JSON.stringify(sampleAlert(choices), null, 2)}\n` },
  ];
}

function settings({ notify }: Choices): string {
  return `# Settings of Interlock. Everything that is not set has its default; docs/configuration.md lists all settings.
# Paths are relative to this file.

rules:
  # Which workflow answers which alert. Changes are read while Interlock runs.
  dir: rules

execution:
  # One folder for each workflow. Changes are read while Interlock runs.
  workflowsDir: workflows
  # true: decide and record everything, and run nothing. A safe way to begin with real alerts.
  observe: false

resource_locking:
  # After a success the same workflow does not act on the same target again for this time.
  cooldown_period: 5m

gateway:
  # Where alerts are posted, with a token of the file gateway-tokens in the data directory.
  listen: 127.0.0.1:8080

notify:
${notifyLines[notify]}`;
}

const notifyLines: Readonly<Record<Choices["notify"], string>> = {
  console: `  # Notices are printed by the process that delivers them.
  console: true
`,
  file: `  # Notices are appended to this file, one line of JSON each.
  file: notices.jsonl
`,
  slack: `  # Put the address of an incoming webhook of Slack into the file slack-url, and remove the # of the next line.
  # slackUrlFile: slack-url
  # Until then, notices are printed by the process that delivers them.
  console: true
`,
};

function rule({ kind }: Choices): string {
  const { alert, kind: name } = targetKinds[kind];
  return `# What to do about which problem. The first rule that applies decides; see docs/rules.md.
rules:
  - name: first-rule
    match:
      # One of these alerts …
      signalName: [${alert}]
      # … about an object of this kind.
      kind: ${name}
    # The workflow acts on the object that the alert is about, unless there is a line such as
    # target: "node/{{ labels.node }}"
    workflow: first-workflow
`;
}

function ruleTest({ source, kind }: Choices): string {
  const { alert, labels, target } = targetKinds[kind];
  const firing =
    source === "generic"
      ? { signal: { name: alert, target } }
      : { alert: { labels: { alertname: alert, severity: "warning", ...labels } } };
  const tests = [
    {
      name: `${alert} starts the first workflow`,
      ...firing,
      expect: { rule: "first-rule", target, workflow: "first-workflow", decision: "allow" },
    },
    {
      name: "an alert that no rule names starts nothing",
      signal: { name: "SomethingElse", target },
      expect: "no match",
    },
    {
      name: "nothing starts while automation is paused",
      ...firing,
      given: {
        now: "2026-01-01T12:00:00Z",
        pauses: [{ scope: "All", reason: "release", requestedBy: "kim", until: "2026-01-01T14:00:00Z" }],
      },
      expect: { decision: "Paused", until: "2026-01-01T14:00:00Z" },
    },
  ];
  return `# What the rules have to decide: interlock policy test --config ${settingsFile}\n${yamlLines({ tests }).join("\n")}\n`;
}

function workflow({ kind }: Choices): string {
  return `# What may be run, with which parameters, and on which targets; see docs/workflows.md.
workflowId: first-workflow
# A version never changes once it was run: raise it with each change.
version: 1.0.0
description: Prints what it would do. Replace the step "act" of pipeline.yaml by the real remediation.
# local runs the steps as processes of this machine; tekton and job run them in a cluster.
engine: local
targetKinds: [${kind}]
timeout: 10m
parameters:
  properties:
    message:
      type: string
      description: Printed by the first step.
      default: "nothing is changed yet"
# With these two lines nothing runs before an operator answers: interlock approve NAME --reason "…"
# approval:
#   required: true
`;
}

const pipeline = `# A Tekton Pipeline: the local engine and Tekton run the same document.
apiVersion: tekton.dev/v1
kind: Pipeline
metadata:
  name: workflow
spec:
  params:
    - name: message
      type: string
      default: ""
    # The target, in the form that the rule's test expects.
    - name: TARGET_RESOURCE
      type: string
  tasks:
    - name: remediate
      params:
        - name: message
          value: $(params.message)
        - name: target
          value: $(params.TARGET_RESOURCE)
      taskSpec:
        params:
          - name: message
          - name: target
        steps:
          - name: look
            env:
              # A parameter reaches a script as a variable: as text in the script it could be run as a command.
              - name: MESSAGE
                value: $(params.message)
              - name: TARGET
                value: $(params.target)
            script: |
              echo "looking at $TARGET: $MESSAGE"
          - name: act
            env:
              - name: TARGET
                value: $(params.target)
            script: |
              echo "remediated $TARGET"
`;

/** The alert as its sender posts it. */
function sampleAlert({ source, kind }: Choices): object {
  const { alert, labels, target, about } = targetKinds[kind];
  const summary = `A sample: something is wrong with ${about}.`;
  if (source === "generic") return { name: alert, target, severity: "warning", annotations: { summary } };
  const named = { alertname: alert, severity: "warning", ...labels };
  const firing = { status: "firing", labels: named, annotations: { summary } };
  if (source === "alertmanager") return { version: "4", status: "firing", receiver: "interlock", alerts: [firing] };
  const grafana = {
    ...firing,
    startsAt: "2026-01-01T12:00:00Z",
    endsAt: "0001-01-01T00:00:00Z",
    fingerprint: "1f2e3d4c",
  };
  return { receiver: "interlock", status: "firing", version: "1", alerts: [grafana] };
}
