import { type KubeObject, nameHash, type ResourceType } from "../../kube/index.ts";
import { executionNamespace } from "../../resources/index.ts";
import { type ActionInputs, type Decision, defineAction, done, type Reader, refuse, write } from "../action.ts";
import type { IssueProject } from "./issue-tracker.ts";

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

interface Snapshot {
  /** The issue describes the target and does not change it. */
  readonly target: undefined;
  /** Undefined without a usable Secret. */
  readonly project: IssueProject | undefined;
  /** The address of the issue that is already open. */
  readonly issue: string | undefined;
}

const secrets: ResourceType<Secret> = { apiVersion: "v1", kind: "Secret", plural: "secrets", namespaced: true };

/** The Secret with `url` and `token` of GitLab. */
const secretName = "interlock-action-gitlab";

export const openIssue = defineAction<Snapshot>({
  name: "open-issue",
  version: "1.0.0",
  description: `Opens a GitLab issue about the target, unless one with the same title is open. Address and token of GitLab are \`url\` and \`token\` of the Secret \`${secretName}\` in the namespace \`${executionNamespace}\`.`,
  verification: "the issue is open",
  parameters: {
    project: {
      type: "string",
      pattern: "^[A-Za-z0-9_][A-Za-z0-9_./-]{0,254}$",
      description: "Path or id of the GitLab project.",
    },
    title: { type: "string", minLength: 1, maxLength: 255, description: "Title of the issue." },
    description: {
      type: "string",
      default: "",
      maxLength: 4_000,
      description: "Text of the issue. It is shown as it is: neither Markdown nor quick actions in it have an effect.",
    },
  },
  required: ["project", "title"],
  rights: [{ group: "", resource: "secrets", verbs: ["get"], where: "runs", name: secretName }],
  alerts: ["KubeQuotaAlmostFull", "KubeQuotaFullyUsed", "KubeQuotaExceeded"],
  cooldown: "24h",
  observe,
  decide,
});

async function observe(inputs: ActionInputs, reader: Reader): Promise<Snapshot> {
  const secret = await reader.get(secrets, { namespace: executionNamespace, name: secretName });
  const project = secret && toProject(secret, String(inputs.parameters["project"]));
  const issue = project && (await reader.findIssue(project, issueMarker(inputs)));
  return { target: undefined, project, issue };
}

function toProject({ data = {} }: Secret, project: string): IssueProject | undefined {
  const text = (key: string) =>
    Buffer.from(data[key] ?? "", "base64")
      .toString()
      .trim();
  const [url, token] = [text("url"), text("token")];
  return URL.canParse(url) && token !== "" ? { url, token, project } : undefined;
}

function decide({ project, issue }: Snapshot, inputs: ActionInputs): Decision {
  if (issue) return done(`the issue is open: ${issue}`);
  if (!project) {
    return refuse(`the Secret ${executionNamespace}/${secretName} needs url and token of GitLab`);
  }
  const { target, executionUid, parameters } = inputs;
  const title = String(parameters["title"]);
  const text = String(parameters["description"]);
  const description = [
    `Target: ${verbatim(target.text)}`,
    text && verbatim(text),
    `Execution: ${verbatim(executionUid)}`,
  ]
    .filter(Boolean)
    .join("\n\n");
  const draft = { title, description, marker: issueMarker(inputs) };
  return write({ do: "open-issue", project, draft, text: `open the issue "${title}" in ${project.project}` });
}

/** The same for the same target and title: a repeated run finds the issue that it has already opened. */
function issueMarker({ target, parameters }: ActionInputs): string {
  return `interlock-${nameHash(`${target.text}\n${parameters["title"]}`).slice(0, 20)}`;
}

/**
 * Returns a code block in which a text from an alert can neither end the block nor be a GitLab command. Older servers end every
 * block at three backticks: the zero-width character then keeps a line from being a command.
 */
function verbatim(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text.replace(/^([^\S\n]*)\/(?=[A-Za-z_])/gm, "$1\u200b/")}\n${fence}`;
}
