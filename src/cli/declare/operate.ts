import type { Command } from "commander";
import { type ProgramBuilder, quietOption, value, values, withDryRun, withNamespace, withReason } from "./declare.ts";

const scopes = "all | namespace NS | target TARGET | workflow WORKFLOW";

/** Declares the commands that change something. */
export function declareOperations(builder: ProgramBuilder): void {
  const group = "Operate";
  declareStarts(builder, group);
  declareAnswers(builder, group);
  declarePauses(builder, group);
  declareCancel(builder, group);
}

/** The commands that start something: incidents and executions. */
function declareStarts({ serverCommand }: ProgramBuilder, group: string): void {
  serverCommand("receive <source>", {
    group,
    summary: "Post a saved payload to the gateway",
    details:
      "Posts the payload as its sender would, and prints the outcome of each signal. SOURCE is alertmanager, alertmanager-groups, generic, kubernetes-events, grafana, pagerduty, datadog or cloudevents, or a NAME for which the gateway has sources.NAME.map. Exit status 0 if everything was accepted, 1 if not.",
    example: "interlock receive alertmanager -p examples/node-disk-pressure.json --dry-run",
    load: async () => (await import("../commands/receive.ts")).receive,
  })
    .requiredOption("-p, --payload <FILE>", "the payload; - for standard input", value)
    .option(
      "--dry-run",
      "change nothing: print which part of the payload each field is read from, the outcome of each signal, the rule that applies, and the decision of the policy now",
    )
    .option("--gateway <URL>", "default: the gateway that runs on the data directory", value)
    .option("--token-file <FILE>", "file of senders and tokens; default: gateway-tokens in the data directory", value);

  withFollowing(
    serverCommand("run <workflow>", {
      group,
      summary: "Run a workflow on a target",
      details: runDetails,
      example: "interlock run node-disk-cleanup --target node/worker-1 --param keepDays=7",
      load: async () => (await import("../commands/run.ts")).run,
    }),
  )
    .requiredOption("--target <TARGET>", "the target of the workflow", value)
    .option("--param <NAME=VALUE>", "a parameter of the workflow; may be repeated", values)
    .option("-n, --namespace <NS>", "namespace of the execution; default: that of incidents", value)
    .option("--reason <TEXT>", "why; recorded with the execution", (text) => value(text.trim()));

  withFollowing(
    withNamespace(
      withReason(
        serverCommand("retry <execution-or-incident>", {
          group,
          summary: "Repeat an execution",
          details: `Creates an execution with the same workflow, target and parameters as one that has ended, or as the last one of an incident. The version of the workflow is the current one of the catalog. Everything is decided again, as for interlock run: a failure that waits for interlock ack still blocks.`,
          example: 'interlock retry rr-s3rd7pvp-1 --reason "the registry is back"',
          load: async () => (await import("../commands/run.ts")).retry,
        }),
      ),
    ),
  );
}

/** The commands that answer a request for an acknowledgement or approval. */
function declareAnswers({ serverCommand }: ProgramBuilder, group: string): void {
  withObjects(
    serverCommand("ack <execution-or-incident...>", {
      group,
      summary: "Acknowledge a failure, so that it may be retried",
      details:
        "Acknowledge that you checked the effects of a failed execution and that a retry is safe. For an incident, this acknowledges the failed execution, or the fix that did not last, for which the incident waits.",
      example: 'interlock ack rr-s3rd7pvp-1 --reason "replaced the disk"',
      load: async () => (await import("../commands/operate-on.ts")).operateOn("ack"),
    }),
  );

  for (const name of ["approve", "reject"] as const) {
    withObjects(
      serverCommand(`${name} <approval-or-incident...>`, {
        group,
        summary: `${name === "approve" ? "Approve" : "Reject"} a workflow that waits for an operator`,
        details:
          "Answers an approval, or the open approval of an incident. It is answered once; after an approval everything is decided again, so that it may still be refused. See: interlock get approvals",
        example: `interlock ${name} rr-s3rd7pvp-1 --reason "looked at it"`,
        load: async () => (await import("../commands/operate-on.ts")).operateOn(name),
      }),
    );
  }
}

/** For commands that start an execution, and follow it to its end. */
function withFollowing(command: Command): Command {
  return withDryRun(command)
    .option("--approval <NAME>", "an approval that was answered already", value)
    .option("--no-wait", "do not wait for the end, or for the approval")
    .addOption(quietOption());
}

/** For commands on objects that are found by their names. */
function withObjects(command: Command): Command {
  return withNamespace(withChange(command));
}

/** For commands that change something. */
function withChange(command: Command): Command {
  return withDryRun(withReason(command));
}

const runDetails = `The policy decides as for every execution. Waits until the execution has ended: exit status 0 if it completed, 1 if it failed, 3 if it was skipped. Ctrl-C asks whether to cancel the execution or to detach from it, and it continues then (exit status 130); without a terminal, or at a second Ctrl-C, it detaches.

If the workflow requires an approval, one is requested first and waited for. With --no-wait it is only requested: run the same command with --approval NAME once it is answered.`;

function declarePauses({ serverCommand }: ProgramBuilder, group: string): void {
  withChange(
    serverCommand("pause <scope...>", {
      group,
      summary: "Pause automation everywhere, in a namespace, on a target, or for one workflow",
      details: `SCOPE is ${scopes}.

Start nothing new in this scope until the pause ends: after --for, or with interlock resume. Running executions continue. Several pauses may cover the same scope; it stays paused until the last of them has ended.

Coding tasks are paused by all, by their namespace, and by a target git:host/42 (every branch of project 42) or git:host/42@branch. They are accepted, and start after the pause.`,
      example: 'interlock pause all --reason "release 4" --for 2h',
      load: async () => (await import("../commands/pause.ts")).pause,
    }).option("--for <DURATION>", "such as 30m or 2h; default: until it is resumed", value),
  );

  withChange(
    serverCommand("resume <pause-or-scope...>", {
      group,
      summary: "End a pause",
      details: `End the pauses with these names, or every pause of exactly this scope: ${scopes}. Incidents that waited for it are decided again.`,
      example: 'interlock resume all --reason "release 4 is out"',
      load: async () => (await import("../commands/pause.ts")).resume,
    }),
  );
}

function declareCancel({ serverCommand }: ProgramBuilder, group: string): void {
  withObjects(
    serverCommand("cancel <execution-incident-or-task...>", {
      group,
      summary: "Stop an execution, an incident or a coding task",
      details:
        "Stops the run of an execution and records who cancelled it and why. No notice is sent, and the workflow may act on the target again at once. Of an incident, its executions are stopped and it is closed; the next report of the problem opens a new one. A coding task is asked to stop; what was pushed or written already stays. Nothing that has ended changes.",
      example: 'interlock cancel rr-s3rd7pvp-1 --reason "wrong node"',
      load: async () => (await import("../commands/operate-on.ts")).operateOn("cancel"),
    }).option("--block", "block the workflow on the target until: interlock ack EXECUTION"),
  );
}
