import { z } from "zod";
import { finalPhases, immutable } from "../../schema/rules.ts";
import { closedTaskPhases } from "../phases-and-limits.ts";
import { defineSchema } from "./define-schema.ts";
import { conditions, count, listByKey, name, stringMap, targetText, text, timestamp } from "./fields.ts";

const positive = z.int().min(1).meta({ format: "int64" });

const sha = z.string().regex(/^[0-9a-f]{40,64}$/, { error: "must be a full commit hash" });

const branch = z.string().min(1).max(255);

const project = z.strictObject({
  host: z.string().min(1).max(253).describe("Host of the GitLab server."),
  id: positive.describe("Numeric id of the project there."),
  path: text.describe("Path of the project, for display."),
});

/** The requests that a comment can make; all but `do` are built in and need no coder, or only a review of it. */
export const verbs = ["do", "review", "retry", "cancel", "status", "help"] as const;

const mergeRequest = z.strictObject({
  iid: positive.describe("Number of the merge request within its project."),
  headSha: sha.describe("Head commit when the task was created."),
  sourceBranch: branch.describe("Source branch."),
  targetBranch: branch.describe("Target branch."),
  sourceProjectId: positive.describe("Source project, for merge requests from forks.").optional(),
});

const note = z.strictObject({
  id: positive.describe("Id of the comment."),
  discussionId: z.string().describe("Id of the discussion that receives the reply.").optional(),
  authorId: positive.describe("Id of the author. The author's access level is checked before the command runs."),
  body: z.string().max(65_536).describe("The comment as it was written."),
  verb: z.enum(verbs).describe("The command. `do` is any command that is not built in."),
  instruction: z.string().max(65_536).describe("The text after the name of the bot."),
});

const issue = z.strictObject({
  site: z.string().min(1).max(253).describe("Host of the Jira site."),
  key: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]+-[0-9]+$/, { error: "must be an issue's key such as PROJ-123" })
    .describe("Key of the issue."),
  since: timestamp.describe(
    "When the issue entered the status that requests work; entering it again makes a new task.",
  ),
  summary: z.string().describe("Title of the issue."),
  description: z.string().describe("Description of the issue, in Markdown.").optional(),
});

const common = {
  project: project.describe("The project to work in."),
  targetResource: targetText.describe(
    "The branch that the agent writes to, as git:host/path@branch. It is locked during writes.",
  ),
  claimKey: z.string().min(1).max(512).describe("Identity of the task: reports with the same key are the same task."),
  source: z.enum(["webhook", "poll", "api"]).describe("How the first report arrived."),
  requestedBy: z.string().max(253).describe("User name of the requester.").optional(),
  receivedTime: timestamp.describe("When the first report arrived."),
};

const merge = mergeRequest.describe("The merge request to work on.");

export const spec = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("Review").describe("The type of work."),
      ...common,
      mergeRequest: merge,
      again: z
        .boolean()
        .describe("True if a person requested the review: the commit is reviewed again even if it was reviewed before.")
        .optional(),
      requesterId: positive
        .describe("Id of the requester, whose access level counts; the author of the merge request if absent.")
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
      targetBranch: branch.describe("Target branch of the merge request."),
    }),
  ])
  .meta({
    description: "The work to do. Immutable.",
    "x-kubernetes-validations": [immutable("a task does not change: a new request is a new task")],
  });

export const step = z.strictObject({
  name: z.string().min(1).max(63).describe("Name of the step."),
  completedAt: timestamp.describe("When the step was completed."),
  result: stringMap
    .describe("Result of the step, such as the id of a comment; checked before the step is repeated.")
    .optional(),
});

const lockHolder = z.strictObject({
  identity: text.describe("The holder of the lock."),
  task: name.describe("The task that the lock is held for, if it is held for a task.").optional(),
  since: timestamp.describe("When the lock was granted.").optional(),
});

const pause = z.strictObject({
  name: name.describe("The pause; of several, the one that ends last."),
  requestedBy: text.describe("The operator who requested the pause."),
  reason: text.describe("Why."),
  until: timestamp.describe("When the pause ends by itself; if absent, it lasts until it is ended.").optional(),
});

const result = z.strictObject({
  summary: z.string().describe("Summary of the work, for display.").optional(),
  branch: branch.describe("The pushed branch.").optional(),
  commitSha: sha.describe("The pushed commit.").optional(),
  mergeRequestIid: positive.describe("Number of the merge request that was created or found.").optional(),
  mergeRequestUrl: z.string().describe("URL of the merge request.").optional(),
  comments: count.describe("Number of comments posted.").optional(),
});

const reason = z
  .string()
  .regex(/^[A-Z][A-Za-z]+$/, { error: "must be one word in CamelCase" })
  .max(63);

const failure = z.strictObject({
  reason: reason.describe("Reason in one word."),
  message: text.describe("Reason for display, without secrets."),
});

const statusOfAll = {
  message: z.string().describe("Current state, in one sentence.").optional(),
  attempts: count.describe("Number of attempts.").optional(),
  steps: listByKey("name", step)
    .describe("The completed steps; after a crash the work continues after them.")
    .optional(),
  conditions: conditions.describe("Conditions, for tools that wait for them.").optional(),
};

const startTime = timestamp.describe("When the first attempt started.");

const completionTime = timestamp.describe("When the task ended.");

export const status = z
  .discriminatedUnion("phase", [
    z.strictObject({ phase: z.literal("Pending").describe("Phase of the task."), ...statusOfAll }),
    z.strictObject({
      phase: z.literal("Waiting"),
      position: count.describe("Number of tasks ahead in the queue for the lock.").optional(),
      holder: lockHolder.describe("The current holder of the lock.").optional(),
      pause: pause.describe("The pause that delays the task.").optional(),
      nextAttemptTime: timestamp.describe("Earliest time of the next attempt after a failure.").optional(),
      ...statusOfAll,
    }),
    z.strictObject({ phase: z.literal("Running"), startTime, ...statusOfAll }),
    z.strictObject({
      phase: z.literal("Completed"),
      startTime,
      completionTime,
      result: result.describe("Result of the task.").optional(),
      ...statusOfAll,
    }),
    z.strictObject({
      phase: z.literal("Failed"),
      startTime: startTime.optional(),
      completionTime,
      failure: failure.describe("Why the task failed."),
      ...statusOfAll,
    }),
    z.strictObject({
      phase: z.literal("Superseded"),
      completionTime,
      supersededBy: text.describe("The replacement, such as the newer commit."),
      ...statusOfAll,
    }),
    z.strictObject({
      phase: z.literal("Cancelled"),
      completionTime,
      reason: reason.describe("Why the request was rejected, in one word, such as NotAMember.").optional(),
      ...statusOfAll,
    }),
  ])
  .meta({
    description: "State of the task.",
    "x-kubernetes-validations": [finalPhases(closedTaskPhases)],
  });

export const codingTaskSchema = defineSchema({
  kind: "CodingTask",
  description: "CodingTask is one review, command or issue for the agent.",
  spec,
  status,
});
