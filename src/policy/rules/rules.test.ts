import { describe, expect, it } from "vitest";
import { builtInKinds, kindsWith, type RemediationRequestSpec } from "../../resources/index.ts";
import { diagnose } from "./diagnose.ts";
import type { Rule } from "./rule.ts";
import { readRules } from "./rule.ts";

const file = `rules:
  - name: node-disk-pressure
    match:
      signalName: [PodEvicted, NodeDiskPressure]
      labels: { reason: /Disk.*/ }
    target: node/{{ labels.node }}
    workflow: node-disk-cleanup
    parameters: { keepDays: 3, why: "{{ severity }} {{ signalName }}" }
  - name: crash-loop
    match: { signalName: KubePodCrashLooping, namespace: /prod-.*/ }
    workflow: restart-deployment
`;

describe("the analysis by rules", () => {
  it("uses the target of the rule in place of the subject", () => {
    expect(diagnose(incident(), rules(), builtInKinds)).toEqual({
      kind: "diagnosed",
      target: { type: "object", text: "node/worker-1", kind: "node", group: "", name: "worker-1" },
      rule: "node-disk-pressure",
      diagnosis: {
        target: "node/worker-1",
        workflowId: "node-disk-cleanup",
        parameters: { keepDays: 3, why: "critical PodEvicted" },
        rule: "node-disk-pressure",
      },
    });
  });

  it("uses the subject in canonical form if the rule has no target", () => {
    const crash = incident({ signalName: "KubePodCrashLooping", targetResource: deployment("prod-eu") });

    expect(diagnose(crash, rules(), builtInKinds)).toMatchObject({
      diagnosis: { target: "prod-eu/deployment/api", workflowId: "restart-deployment" },
    });
  });

  it.each(["Certificate", "certificate.cert-manager.io", "Certificate.cert-manager.io", "certs.cert-manager.io"])(
    "finds a rule for the custom kind %s, however sender and rule spell it",
    (kind) => {
      const certificate = { kind: "Certificate", plural: "certificates", group: "cert-manager.io", namespaced: true };
      const kinds = kindsWith([{ ...certificate, shortNames: ["certs"] }]);
      const targetResource = { apiVersion: "cert-manager.io/v1", kind: "Certificate", namespace: "web", name: "shop" };
      const rule: Rule = { name: "renew", match: { kind }, workflow: "renew" };

      const analysis = diagnose(incident({ targetResource }), [rule], kinds);

      expect(analysis).toMatchObject({ diagnosis: { target: "web/certificate.cert-manager.io/shop" } });
    },
  );

  it("distinguishes a custom kind from a built-in one of the same name", () => {
    const targetResource = { apiVersion: "serving.knative.dev/v1", kind: "Service", namespace: "web", name: "shop" };
    const kinds = kindsWith([{ kind: "Service", plural: "services", group: "serving.knative.dev", namespaced: true }]);
    const rule: Rule = { name: "restart", match: { kind: "services" }, workflow: "restart" };

    for (const known of [kinds, builtInKinds]) {
      expect(diagnose(incident({ targetResource }), [rule], known)).toMatchObject({ kind: "no-match" });
    }
  });

  it("takes the first rule that applies", () => {
    const twice = [{ name: "first", match: { severity: "critical" }, workflow: "page" }, ...rules()];

    expect(diagnose(incident(), twice, builtInKinds)).toMatchObject({ rule: "first" });
  });

  it("reports for every rule why it did not apply", () => {
    const other = incident({ signalName: "HighLatency", targetResource: deployment("staging") });

    expect(diagnose(other, rules(), builtInKinds)).toEqual({
      kind: "no-match",
      tried: ["node-disk-pressure (signalName is HighLatency)", "crash-loop (signalName is HighLatency)"],
    });
  });

  it.each<[string, Partial<RemediationRequestSpec>, string]>([
    ["a label is missing", { signalLabels: { reason: "DiskPressure" } }, "its target needs labels.node"],
    ["a label has a value that is no name", { signalLabels: { reason: "DiskPressure", node: "../etc" } }, "its target"],
    ["a pattern matches only a part", { signalLabels: { reason: "NoDiskPressure", node: "n" } }, "label reason is"],
  ])("does not guess when %s", (_when, given, because) => {
    const analysis = diagnose(incident(given), rules(), builtInKinds);

    expect(analysis.kind === "no-match" && analysis.tried[0]).toContain(because);
  });

  it.each(["Deployment", "deploy", ["node", "deployments"], "/deploy.*/"])(
    "knows the kind %j in every spelling",
    (kind) => {
      const rule = { name: "r", match: { kind }, workflow: "w" };
      for (const written of ["Deployment", "deployment", "deploy"]) {
        const one = incident({ targetResource: { ...deployment("payment"), kind: written } });

        expect(diagnose(one, [rule], builtInKinds).kind).toBe("diagnosed");
      }
      const node = incident({ targetResource: { kind: "StatefulSet", name: "a", namespace: "b" } });
      expect(diagnose(node, [rule], builtInKinds).kind).toBe("no-match");
    },
  );

  it("reads no label from an object's prototype", () => {
    const rule = { name: "r", match: { labels: { constructor: /.*/.source } }, workflow: "w" };

    expect(diagnose(incident(), [rule], builtInKinds).kind).toBe("no-match");
  });
});

describe("a file of rules", () => {
  it.each([
    ["no YAML", "a: b: c", "rules.yaml:1: there is a second colon in the line"],
    ["no rules", "{}", "rules.yaml:1: rules must be a list of rules"],
    ["a list", "[]", "rules.yaml:1: the file must be an object, not a list"],
    ["another section", `${file}rule: []\n`, "rules.yaml:12: rule is not a known field; did you mean rules?"],
    ["a text as a rule", "rules: [a]", "rules.yaml:1: rules[0] must be a rule: name, match, workflow"],
    [
      "a misspelt field",
      file.replace("    target:", "    taget:"),
      "rules.yaml:6: rules[0].taget is not a known field; did you mean target?",
    ],
    [
      "a number in a list of patterns",
      file.replace("NodeDiskPressure]", "7]"),
      "rules.yaml:4: rules[0].match.signalName[1] must be text, a /regular expression/ or a list of them",
    ],
    [
      "an empty list of patterns",
      file.replace("[PodEvicted, NodeDiskPressure]", "[]"),
      "rules.yaml:4: rules[0].match.signalName must be text, a /regular expression/ or a list of them",
    ],
    [
      "no match",
      file.replace(/ {4}match: \{ signalName.*\n/, ""),
      "rules.yaml:9: rules[1].match must say what the rule is for",
    ],
    [
      "an unknown field",
      `${file}    when: now\n`,
      "rules.yaml:12: rules[1].when is not a known field; there is name, match, unless, target, workflow, parameters, deferWhile",
    ],
    ["no workflow", file.replace(/ {4}workflow: restart.*\n/, ""), "rules.yaml:9: rules[1].workflow is missing"],
    [
      "a rule for everything",
      file.replace(/match: \{ signalName.*/, "match: {}"),
      "rules.yaml:10: rules[1].match must say what the rule is for",
    ],
    [
      "the same name twice",
      file.replace("crash-loop", "node-disk-pressure"),
      'rules.yaml:9: rules[1].name is "node-disk-pressure", as another rule',
    ],
    [
      "a broken expression",
      file.replace("/Disk.*/", '"/Disk(/"'),
      "rules.yaml:5: rules[0].match.labels.reason is not a valid regular expression (RE2 syntax: no look-around, no back-references)",
    ],
    [
      "a name that no signal has",
      file.replace("labels.node", "label.node"),
      "rules.yaml:6: rules[0].target asks for {{ label.node }}",
    ],
    [
      "a parameter of another type",
      file.replace("keepDays: 3", "keepDays: { a: 1 }"),
      "rules.yaml:8: rules[0].parameters.keepDays must be text, a number",
    ],
  ])("with %s is refused with file, line and path", (_what, text, problem) => {
    const reading = readRules({ path: "rules.yaml", text });

    expect(reading.kind === "invalid" && reading.problems[0]).toContain(problem);
  });
});

function rules(): readonly Rule[] {
  const reading = readRules({ path: "rules.yaml", text: file });
  if (reading.kind === "invalid") throw new Error(reading.problems.join("\n"));
  return reading.rules;
}

function incident(given: Partial<RemediationRequestSpec> = {}): RemediationRequestSpec {
  return {
    signalFingerprint: "v1:abc",
    signalName: "PodEvicted",
    signalSource: "alertmanager",
    severity: "critical",
    targetResource: deployment("payment"),
    firingTime: "2026-03-01T12:00:00Z",
    receivedTime: "2026-03-01T12:00:01Z",
    signalLabels: { reason: "DiskPressure", node: "worker-1" },
    ...given,
  };
}

function deployment(namespace: string) {
  return { kind: "Deployment", name: "api", namespace };
}
