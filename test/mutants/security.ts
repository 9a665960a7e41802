import { type Mutant, mutantsOf } from "./mutant.ts";

const commandLine = "src/engines/local/pipeline/command-line";
const commandLineSuite = `${commandLine}/command-line-problems.test.ts`;

/** Mistakes that would open a way for an attacker. */
export const securityMutants: readonly Mutant[] = [
  ...mutantsOf({ file: `${commandLine}/command-line-problems.ts`, suite: commandLineSuite }, [
    ["trusts any program by its name", "if (!isInstalled(program.text)) {", "if (false) {"],
    [
      "accepts parameters of unknown programs",
      'rule: "nowhere", ended: false });\n}\n\n/** Whether the program is a name',
      'rule: "anywhere", ended: false });\n}\n\n/** Whether the program is a name',
    ],
  ]),
  ...mutantsOf({ file: `${commandLine}/shells.ts`, suite: commandLineSuite }, [
    ["accepts parameters in the code of a shell", "return code && !code.isLiteral ?", "return code && false ?"],
  ]),
  ...mutantsOf({ file: `${commandLine}/find-program.ts`, suite: commandLineSuite }, [
    ["ends a command of find at any plus", '(text === "+" && args[index - 1]?.text === "{}")', 'text === "+"'],
  ]),
  ...mutantsOf({ file: "src/resources/catalog/catalog.ts", suite: "test/executor/catalog.test.ts" }, [
    ["lets an older version run without approval", "[entry, currentEntry(entries, kinds)]", "[entry]"],
  ]),
  ...mutantsOf({ file: "src/executor/admission/approval.ts", suite: "test/executor/catalog.test.ts" }, [
    ["accepts an approval of other parameters", "isSame ?", "isSame || true ?"],
    ["accepts an approval of another target", "if (spec.targetResource !== plan.target.text)", "if (false)"],
  ]),
  ...mutantsOf({ file: "src/gateway/http/attribute-source.ts", suite: "src/gateway/http/attribute-source.test.ts" }, [
    ["accepts sources of other routes", "if (builtIn.has(normalizeSource(source))) {", "if (false) {"],
    [
      "accepts sources that its token does not list",
      "if (sender.sources && !sender.sources.includes(source)) {",
      "if (false) {",
    ],
  ]),
  ...mutantsOf({ file: "src/gateway/incidents/incident-opener.ts", suite: "test/gateway/limits.test.ts" }, [
    [
      "takes a lock for every fingerprint of a sender at its limit",
      "!addition.from && !open.hasRoom(signal.sender)",
      "false",
    ],
  ]),
  ...mutantsOf({ file: "src/apiserver/http/authenticate.ts", suite: "test/api/permissions.test.ts" }, [
    ["impersonates only by user", 'some((name) => name.startsWith("impersonate-"))', 'includes("impersonate-user")'],
  ]),
  ...mutantsOf({ file: "src/disk/own-directory.ts", suite: "src/disk/own-directory.test.ts" }, [
    ["trusts the directories above", "for (const above of ancestors(real)) {", "for (const above of [] as string[]) {"],
  ]),
  ...mutantsOf({ file: "src/telemetry/without-secrets.ts", suite: "src/telemetry/without-secrets.test.ts" }, [
    ["misses secrets in parts", "contains(text, forms, separators, minSeparated)", "false"],
  ]),
  ...mutantsOf({ file: "src/manifests/release.ts", suite: "src/manifests/image.test.ts" }, [
    ["accepts latest", "&& !new RegExp(latestPattern).test(image)", ""],
  ]),
];
