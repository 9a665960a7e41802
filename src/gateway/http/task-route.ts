import { BlockList, isIP } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { TaskReader, WebhookIntake } from "../../tasks/index.ts";
import { isOneOf } from "./authenticate.ts";
import { isOutage, type Rejection, type ReportRejection, sendProblem } from "./problems.ts";

/** The route of GitLab's webhooks and its access rules. */
export interface TaskRoute {
  readonly paths: readonly string[];
  readonly reader: TaskReader;
  /** The accepted values of `X-Gitlab-Token`, read for each request because they change. If empty, all requests are rejected. */
  readonly secrets: () => Promise<readonly string[]>;
  /** Where requests may come from, such as `10.1.0.0/16`; from anywhere if empty. */
  readonly networks: readonly string[];
  readonly intake: WebhookIntake;
}

/** GitLab posts no more than this. */
const maxBytes = 25 * 1_024 * 1_024;

/** Serves the paths that GitLab posts to. */
export function serveTasks(app: FastifyInstance, route: TaskRoute, reportRejection: ReportRejection) {
  const { reader, intake } = route;
  const allowed = allowList(route.networks);
  for (const url of route.paths) {
    app.route({
      method: "POST",
      url,
      bodyLimit: maxBytes,
      // Before the body is read, so that an unauthenticated request costs little.
      onRequest: async (request, reply) => {
        if (!allowed(request.socket.remoteAddress)) {
          const detail = "This address is in none of gitlab.webhookNetworks.";
          reportRejection(request, { source, reason: "not-allowed", detail });
          return sendProblem(reply, 403, detail);
        }
        const rejection = checkToken(request, await route.secrets());
        if (!rejection) return undefined;
        reportRejection(request, rejection);
        return sendProblem(reply, rejection.status, rejection.detail);
      },
      handler: async (request, reply) => {
        try {
          const admission = await intake.admit(reader.read(request.body, intake.now()), deliveryId(request));
          if (admission.kind === "ignored") {
            const { reason, because } = admission;
            return { status: "ignored", reason, message: `Ignored: ${because}.` };
          }
          const { task } = admission;
          return reply
            .code(admission.kind === "queued" ? 201 : 200)
            .send({ status: admission.kind, task, namespace: intake.namespace });
        } catch (error) {
          if (!isOutage(error)) throw error;
          const detail = "Not stored yet. Send it again; repeats are harmless.";
          return sendProblem(reply.header("retry-after", "2"), 503, detail);
        }
      },
    });
  }
}

const source = "gitlab";

function checkToken(
  { headers }: FastifyRequest,
  secrets: readonly string[],
): (Rejection & { readonly status: 401 | 403 }) | undefined {
  if (secrets.length === 0) {
    const fix =
      "Set GITLAB_URL, and GITLAB_WEBHOOK_SECRET to the secret token of the webhook, or put that into gitlab.webhookSecretFile.";
    const detail = `This gateway accepts no GitLab webhooks. ${fix}`;
    return { source, status: 403, reason: "not-allowed", detail };
  }
  const token = headers["x-gitlab-token"];
  if (typeof token === "string" && isOneOf(token, secrets)) return undefined;
  const reason = token === undefined ? "no-token" : "unknown-token";
  const detail =
    "X-Gitlab-Token is wrong: enter the value of GITLAB_WEBHOOK_SECRET as the secret token of the webhook in GitLab.";
  return { source, status: 401, reason, detail };
}

/** GitLab's identifier of this delivery, the same when it is repeated. An unusual value counts as absent. */
function deliveryId({ headers }: FastifyRequest): string | undefined {
  const names = ["idempotency-key", "x-gitlab-event-uuid"];
  return names.map((name) => headers[name]).find((id): id is string => /^[\w.:=+-]{1,128}$/.test(String(id ?? "")));
}

/** Whether an address is in one of the networks. IPv4 that comes over IPv6 counts as IPv4. */
function allowList(networks: readonly string[]): (address: string | undefined) => boolean {
  if (networks.length === 0) return () => true;
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits = ""] = network.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return (written) => {
    const address = written?.replace(/^::ffff:(?=\d+\.)/i, "") ?? "";
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 6 ? "ipv6" : "ipv4");
  };
}
