import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendProblem } from "../../http/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import type { Identity, NewSession } from "../identity/identity.ts";
import { ProblemError } from "./api-route.ts";
import type { CookieJar } from "./cookies.ts";
import type { FailureLimit } from "./failure-limit.ts";

export interface LogInOptions {
  readonly identity: Identity;
  readonly cookies: CookieJar;
  readonly failures: FailureLimit;
  readonly log: Logger;
}

/** The path of one-time links; the token follows. */
export const linkPath = "/login/link?token=";

/** Where an identity provider sends browsers back to. */
export const oidcCallbackPath = "/login/oidc/callback";

/** Serves the pages that a browser passes through to log in. Each ends at the start page. */
export function serveLogIn(app: FastifyInstance, options: LogInOptions) {
  const { identity, cookies } = options;
  const { oidc, redeemLink } = identity;
  if (redeemLink) {
    app.get("/login/link", (request, reply) =>
      logIn(request, reply, options, async () => {
        refusePrefetch(request);
        const { token } = request.query as { readonly token?: unknown };
        return typeof token === "string" ? redeemLink(token) : undefined;
      }),
    );
  }
  if (oidc) {
    app.get("/login/oidc", async (_request, reply) => {
      const { url, pending } = await oidc.start();
      cookies.setPending(reply, pending);
      return reply.header("cache-control", "no-store").redirect(url, 303);
    });
    app.get(oidcCallbackPath, (request, reply) =>
      logIn(request, reply, options, async () => {
        const pending = cookies.readPending(request);
        cookies.clearPending(reply);
        return pending === undefined ? undefined : oidc.finish(new URL(request.url, "http://callback"), pending);
      }),
    );
  }
}

/** A browser that loads a page in advance must not use up its link. */
function refusePrefetch({ headers }: FastifyRequest) {
  if (headers["sec-purpose"] !== undefined || headers["purpose"] === "prefetch") {
    throw new ProblemError(403, "A link logs in only when it is opened.");
  }
}

async function logIn(
  request: FastifyRequest,
  reply: FastifyReply,
  { cookies, failures, log }: LogInOptions,
  begin: () => Promise<NewSession | undefined>,
) {
  const wait = failures.waitSeconds(request.ip);
  if (wait !== undefined) return sendProblem(reply.header("retry-after", wait), 429, `Try again in ${wait} s.`);
  const session = await begin();
  if (!session) {
    failures.failed(request.ip);
    log.warn("log-in failed", { address: request.ip });
    return sendProblem(reply, 401, "The log-in is not valid: a link works once, for 10 minutes.", {
      hint: "interlock users link prints another link.",
    });
  }
  cookies.setSession(reply, session.value, session.expiresAtMs);
  return reply.header("cache-control", "no-store").redirect("/", 303);
}
