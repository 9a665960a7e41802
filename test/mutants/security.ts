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
  ...mutantsOf({ file: "src/sources/kubernetes/check-node.ts", suite: "test/gateway/follow.test.ts" }, [
    ["trusts the host in an Event", "(await findNode(signal, client)) === node", "true"],
  ]),
  ...mutantsOf({ file: "src/app/signal-routes.ts", suite: "test/console/rule-preview.test.ts" }, [
    ["lets the name of a source change a request", "(/^[a-z][a-z0-9-]{0,62}$/.test(source) ?", "(true ?"],
  ]),
  ...mutantsOf({ file: "src/gateway/http/signal-routes.ts", suite: "test/gateway/dry-run.test.ts" }, [
    ["takes the budget of alerts for dry runs", "const bucket = dryRun ?", "const bucket = false ?"],
  ]),
  ...mutantsOf(
    { file: "src/ledger/database/sqlite/sqlite-store.ts", suite: "src/ledger/database/sqlite/sqlite-store.test.ts" },
    [["reads all pages without a pause", "await pacer?.turn();", ""]],
  ),
  ...mutantsOf({ file: "src/console/identity/oidc-login.ts", suite: "test/console/http/cluster.test.ts" }, [
    ["logs a user in as a service account", '.some((one) => one.startsWith("system:"))', ".some(() => false)"],
  ]),
  ...mutantsOf({ file: "src/console/identity/cluster-identity.ts", suite: "test/console/http/cluster.test.ts" }, [
    ["impersonates groups of the API server's own", "return isUser && groups.every(isGroup);", "return isUser;"],
  ]),
  ...mutantsOf({ file: "src/console/http/server.ts", suite: "test/console/http/cluster.test.ts" }, [
    [
      "continues a stream without the right to list",
      "viewer.readableKinds.every((kind) => now.readableKinds.includes(kind))",
      "true",
    ],
  ]),
  ...mutantsOf({ file: "src/console/http/read-routes.ts", suite: "test/console/http/cluster.test.ts" }, [
    ["shows the ledger to users without rights", "for (const kind of needs) checkReadable(call.viewer, kind);", ""],
    ["shows rows to users without rights", "limitReads(contextFor(client), readableKinds)", "contextFor(client)"],
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
