import { z } from "zod";
import type { KubeObject } from "../kube/index.ts";
import { ageColumn, defineKind, stalledColumn } from "./define-kind.ts";
import { conditions, count, listByKey, name, stringMap, targetText, text, timestamp, type Wire } from "./fields.ts";
import { finalPhases, immutable } from "./schema/rules.ts";

/** Something the coding agent has to do: review a merge request, carry out a command, or solve an issue. */
export interface CodingTask extends KubeObject {
  readonly spec: CodingTaskSpec;
  readonly status?: CodingTaskStatus;
}

export type CodingTaskSpec = Wire<typeof spec>;
export type CodingTaskStatus = Wire<typeof status>;
export type CodingTaskPhase = CodingTaskStatus["phase"];
export type CodingTaskStep = Wire<typeof step>;

const positive = z.int().min(1).meta({ format: "int64" });
const sha = z.string().regex(/^[0-9a-f]{40,64}$/, { error: "must be a full commit hash" });
const branch = z.string().min(1).max(255);

const project = z.strictObject({
  host: z.string().min(1).max(253).describe("Host of the GitLab server."),
  id: positive.describe("Numeric id of the project there."),
  path: text.describe("Its path, for people."),
});

/** What a comment can ask for; all but `do` are built in and need no coding agent, or only a review of it. */
const verbs = ["do", "review", "retry", "cancel", "status", "help"] as const;
export type CodingVerb = (typeof verbs)[number];

const mergeRequest = z.strictObject({
  iid: positive.describe("Number of the merge request within its project."),
  headSha: sha.describe("Its head when the task was made."),
  sourceBranch: branch.describe("The branch it comes from."),
  targetBranch: branch.describe("The branch it goes to."),
  sourceProjectId: positive.describe("The project it comes from, for merge requests from forks.").optional(),
});

const note = z.strictObject({
  id: positive.describe("Id of the comment."),
  discussionId: z.string().describe("Id of its discussion, in which the reply goes.").optional(),
  authorId: positive.describe("Id of the user who wrote it. Whether they may ask for it is looked up."),
  body: z.string().max(65_536).describe("The comment as it was written."),
  verb: z.enum(verbs).describe("What it asks for. `do` is anything that is not built in."),
  instruction: z.string().max(65_536).describe("What follows the name of the bot."),
});

const issue = z.strictObject({
  site: z.string().min(1).max(253).describe("Host of the Jira site."),
  key: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]+-[0-9]+$/, { error: "must be an issue's key such as PROJ-123" })
    .describe("Key of the issue."),
  since: timestamp.describe(
    "Since when it stands in the status that asks for work; moved back there, it is a new task.",
  ),
  summary: z.string().describe("Its title."),
  description: z.string().describe("Its description, in Markdown.").optional(),
});

const common = {
  project: project.describe("The project to work in."),
  targetResource: targetText.describe(
    "The branch that is written to, as git:host/path@branch. It is locked while it is written to.",
  ),
  claimKey: z.string().min(1).max(512).describe("What makes the task the same task, however often it is reported."),
  source: z.enum(["webhook", "poll", "api"]).describe("How we heard of it first."),
  requestedBy: z.string().max(253).describe("User name of who asked for it.").optional(),
  receivedTime: timestamp.describe("When we heard of it."),
};
const merge = mergeRequest.describe("The merge request it is about.");

const spec = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("Review").describe("What is to be done."),
      ...common,
      mergeRequest: merge,
      again: z.boolean().describe("A person asked for it: this commit is reviewed even if it was before.").optional(),
      requesterId: positive
        .describe(
          "Id of the user who asked for it, whose access level counts; without it, that of the author of the merge request.",
        )
        .optional(),
    }),
    z.strictObject({
      type: z.literal("Command"),
      ...common,
      mergeRequest: merge,
      note: note.describe("The comment with the command."),
    }),
    z.strictObject({
      type: z.literal("Issue"),
      ...common,
      issue: issue.describe("The issue to solve."),
      branch: branch.describe("The branch to work on."),
      targetBranch: branch.describe("The branch the merge request goes to."),
    }),
  ])
  .meta({
    description: "What is to be done. It never changes.",
    "x-kubernetes-validations": [immutable("a task does not change: a new request is a new task")],
  });

const step = z.strictObject({
  name: z.string().min(1).max(63).describe("Which step."),
  completedAt: timestamp.describe("When it was done."),
  result: stringMap
    .describe("What it brought about, such as the id of a comment; looked up before it is done again.")
    .optional(),
});

const lockHolder = z.strictObject({
  identity: text.describe("Who holds the lock."),
  task: name.describe("The task it is held for, if it is one.").optional(),
  since: timestamp.describe("Since when.").optional(),
});

const pause = z.strictObject({
  name: name.describe("The pause; of several, the one that ends last."),
  requestedBy: text.describe("Who asked for it."),
  reason: text.describe("Why."),
  until: timestamp.describe("When it ends by itself; without it, when it is ended.").optional(),
});

const result = z.strictObject({
  summary: z.string().describe("What was done, for people.").optional(),
  branch: branch.describe("The branch that was pushed.").optional(),
  commitSha: sha.describe("The commit that was pushed.").optional(),
  mergeRequestIid: positive.describe("Number of the merge request that was made or found.").optional(),
  mergeRequestUrl: z.string().describe("Its address.").optional(),
  comments: count.describe("How many comments were made.").optional(),
});

const reason = z
  .string()
  .regex(/^[A-Z][A-Za-z]+$/, { error: "must be one word in CamelCase" })
  .max(63);

const failure = z.strictObject({
  reason: reason.describe("Why, in one word."),
  message: text.describe("Why, for people, without secrets."),
});

const statusOfAll = {
  message: z.string().describe("Where it stands, in one sentence.").optional(),
  attempts: count.describe("How often it was tried.").optional(),
  steps: listByKey("name", step)
    .describe("The steps that are done; after a crash the work goes on after them.")
    .optional(),
  conditions: conditions.describe("Steps on the way, for tools that wait for them.").optional(),
};
const startTime = timestamp.describe("When the work began.");
const completionTime = timestamp.describe("When it ended.");

const status = z
  .discriminatedUnion("phase", [
    z.strictObject({ phase: z.literal("Pending").describe("How far the task has come."), ...statusOfAll }),
    z.strictObject({
      phase: z.literal("Waiting"),
      position: count.describe("How many are before it in the queue for the lock.").optional(),
      holder: lockHolder.describe("Who has the lock.").optional(),
      pause: pause.describe("Automation is paused here: it is begun afterwards.").optional(),
      nextAttemptTime: timestamp
        .describe("When it is tried again after a failure, unless something else is in the way.")
        .optional(),
      ...statusOfAll,
    }),
    z.strictObject({ phase: z.literal("Running"), startTime, ...statusOfAll }),
    z.strictObject({
      phase: z.literal("Completed"),
      startTime,
      completionTime,
      result: result.describe("What came of it.").optional(),
      ...statusOfAll,
    }),
    z.strictObject({
      phase: z.literal("Failed"),
      startTime: startTime.optional(),
      completionTime,
      failure: failure.describe("Why it failed."),
      ...statusOfAll,
    }),
    z.strictObject({
      phase: z.literal("Superseded"),
      completionTime,
      supersededBy: text.describe("What took its place, such as the newer commit."),
      ...statusOfAll,
    }),
    z.strictObject({
      phase: z.literal("Cancelled"),
      completionTime,
      reason: reason.describe("Why it is not served, in one word, such as NotAMember.").optional(),
      ...statusOfAll,
    }),
  ])
  .meta({
    description: "How far it has come.",
    "x-kubernetes-validations": [finalPhases(["Completed", "Failed", "Superseded", "Cancelled"])],
  });

export const codingTasks = defineKind<CodingTask>({
  kind: "CodingTask",
  shortName: "ct",
  description: "CodingTask is something the coding agent has to do, and has to do once.",
  spec,
  status,
  selectable: ["spec.targetResource"],
  columns: [
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Type", type: "string", jsonPath: ".spec.type" },
    { name: "Project", type: "string", jsonPath: ".spec.project.path" },
    { name: "MR", type: "integer", jsonPath: ".spec.mergeRequest.iid" },
    { name: "Issue", type: "string", jsonPath: ".spec.issue.key" },
    { name: "Position", type: "integer", jsonPath: ".status.position", description: "How many wait before it" },
    { name: "Paused", type: "string", jsonPath: ".status.pause.name", description: "The pause it waits for" },
    { name: "Holder", type: "string", jsonPath: ".status.holder.identity", priority: 1 },
    { name: "Target", type: "string", jsonPath: ".spec.targetResource", priority: 1 },
    { name: "Message", type: "string", jsonPath: ".status.message", priority: 1 },
    stalledColumn,
    ageColumn,
  ],
});

/** The step that is done as soon as work on a task begins. */
export const begunStep = "started";

/** When work on the task first began. */
export function begunAt({ status }: CodingTask): string | undefined {
  return status?.steps?.find(({ name }) => name === begunStep)?.completedAt;
}

/** Whether it is a comment that is answered without a coding agent, such as `/copilot status`. */
export function isBuiltIn({ spec }: CodingTask): boolean {
  return spec.type === "Command" && spec.note.verb !== "do";
}
