import {
  commandOutcome,
  ignoredOutcome,
  isListedLabel,
  type ReportOrigin,
  type ReportOutcome,
  type ReportRules,
  reviewOutcome,
  type TaskReader,
} from "../../tasks/index.ts";
import { shorten } from "../json.ts";
import {
  mergeRequestIn,
  noteIn,
  type Payload,
  payload,
  projectIn,
  type ReportedAttributes,
  subjectIn,
} from "./payload.ts";

export interface GitLabWebhookOptions extends ReportRules {
  /** The host name of the server, for keys: that of the polled server, whatever name the webhook has. */
  readonly host: string;
  /** The projects to work for, by path or id; all unless given. */
  readonly projects?: readonly string[] | undefined;
}

/**
 * Reads the webhooks of GitLab: merge requests that are opened or get new commits are reviewed, comments that address
 * the agent are commands, and everything else is ignored, with a reason. GitLab disables a webhook that gets errors, so
 * no payload is an error.
 */
export function gitlabWebhooks(options: GitLabWebhookOptions): TaskReader {
  return {
    read(body, receivedAt) {
      const event = payload.parse(body);
      const { object_kind } = event;
      switch (object_kind) {
        case "merge_request":
        case "note": {
          const read = object_kind === "note" ? readNote : readMergeRequest;
          const outcome = inProject(event, receivedAt, options, read);
          return { object: object_kind, outcome, subject: subjectIn(event, object_kind, options.host) };
        }
        default: {
          const kind = object_kind === undefined ? "this" : `events of the kind ${shorten(object_kind)}`;
          return { object: "other", outcome: ignoredOutcome("NotHandled", `not handled: ${kind}`) };
        }
      }
    },
  };
}

type Read = (body: Payload, origin: ReportOrigin, options: GitLabWebhookOptions) => ReportOutcome;

function inProject(body: Payload, receivedTime: string, options: GitLabWebhookOptions, read: Read): ReportOutcome {
  const project = projectIn(body, options.host);
  if (!project) return ignoredOutcome("Unreadable", "project.id or project.path_with_namespace is missing");
  if (!isAllowed(project, options.projects)) {
    return ignoredOutcome("ProjectNotAllowed", `the project ${shorten(project.path)} is not one of gitlab.projects`);
  }
  const requestedBy = body.user.username?.slice(0, 253);
  return read(body, { project, source: "webhook", receivedTime, requestedBy }, options);
}

function isAllowed({ id, path }: ReportOrigin["project"], projects: readonly string[] | undefined): boolean {
  return !projects || projects.some((one) => one === String(id) || one.toLowerCase() === path.toLowerCase());
}

function readMergeRequest(body: Payload, origin: ReportOrigin, options: GitLabWebhookOptions): ReportOutcome {
  const { object_attributes: attributes, changes } = body;
  // Older servers have the labels only beside the merge request.
  const { action, labels = body.labels } = attributes;
  if (action !== "open" && action !== "reopen" && action !== "update") {
    return ignoredOutcome("NotHandled", `merge requests are not handled on ${shorten(action ?? "this")}`);
  }
  const mergeRequest = mergeRequestIn({ ...attributes, labels }, origin.project.id);
  if (!mergeRequest) return ignoredOutcome("Unreadable", "iid, source_branch or target_branch is missing");
  if (action === "update" && !isWorthAReview(attributes, changes, options)) {
    return ignoredOutcome("NoNewCommits", "neither its commits nor a condition that prevents a review changed");
  }
  return reviewOutcome(mergeRequest, origin, options);
}

/** New commits, or the end of a condition that prevented the last review. */
function isWorthAReview(
  { oldrev }: ReportedAttributes,
  { draft, labels }: Payload["changes"],
  { skipLabels, requiredLabels = [] }: GitLabWebhookOptions,
): boolean {
  if (oldrev !== undefined || draft.current === false) return true;
  const { previous = [], current = [] } = labels;
  const had = (list: readonly string[], labels: readonly string[]) =>
    list.some((label) => isListedLabel(label, labels));
  return had(previous, skipLabels) || (had(current, requiredLabels) && !had(previous, requiredLabels));
}

function readNote(body: Payload, origin: ReportOrigin, options: GitLabWebhookOptions): ReportOutcome {
  const attributes = body.object_attributes;
  if (attributes.noteable_type !== "MergeRequest") {
    return ignoredOutcome("NotHandled", "only comments on merge requests are handled");
  }
  const note = noteIn(body);
  const mergeRequest = mergeRequestIn(body.merge_request, origin.project.id);
  if (!note || !mergeRequest) return ignoredOutcome("Unreadable", "the comment or its merge request is not complete");
  if (isEdit(attributes)) return ignoredOutcome("EditedNote", "it was edited; write a new comment");
  return commandOutcome(note, mergeRequest, origin, options);
}

/** Servers before 16.11 do not mark new comments, but report when a comment was changed. */
function isEdit({ action, created_at: created, updated_at: updated }: ReportedAttributes): boolean {
  if (action !== undefined) return action !== "create";
  return created !== undefined && updated !== undefined && updated > created;
}
