import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { sendProblem } from "../../http/index.ts";
import type { Identity, NewSession } from "../identity/identity.ts";
import { ProblemError } from "./api-route.ts";
import type { CookieJar } from "./cookies.ts";
import type { FailureLimit } from "./failure-limit.ts";

export interface LogInOptions {
  readonly identity: Identity;
  readonly cookies: CookieJar;
  readonly failures: FailureLimit;
}

/** The path of one-time links; the token follows. */
export const linkPath = "/login/link?token=";

/** Where an identity provider sends browsers back to. */
export const oidcCallbackPath = "/login/oidc/callback";

/** A way to log in, and the response to a failed attempt. */
interface LogIn {
  /** In the query of the start page, after a failed attempt. */
  readonly name: "link" | "provider";
  readonly failure: string;
  readonly hint: string;
  begin(): Promise<NewSession | undefined>;
}

/** Serves the pages that a browser passes through to log in. Each ends at the start page. */
export function serveLogIn(app: FastifyInstance, options: LogInOptions) {
  const { identity, cookies } = options;
  const { oidc, redeemLink } = identity;
  if (redeemLink) {
    app.get("/login/link", (request, reply) =>
      logIn(request, reply, options, {
        name: "link",
        failure: "The link is not valid: a link works once, for 10 minutes.",
        hint: "interlock users link prints another link.",
        async begin() {
          refusePrefetch(request);
          const { token } = request.query as { readonly token?: unknown };
          return typeof token === "string" ? redeemLink(token) : undefined;
        },
      }),
    );
  }
  if (oidc) {
    app.get("/login/oidc", async (_request, reply) => {
      const { url, pending } = await oidc.start();
      cookies.setPending(reply, pending);
      return redirect(reply, url);
    });
    app.get(oidcCallbackPath, (request, reply) =>
      logIn(request, reply, options, {
        name: "provider",
        failure: "The identity provider refused the log-in, or it took longer than 10 minutes.",
        hint: "Log in again on the start page.",
        async begin() {
          const pending = cookies.readPending(request);
          cookies.clearPending(reply);
          return pending === undefined ? undefined : oidc.finish(new URL(request.url, "http://callback"), pending);
        },
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
  { cookies, failures }: LogInOptions,
  { name, failure, hint, begin }: LogIn,
) {
  const wait = failures.waitSeconds(request.ip);
  if (wait !== undefined) return sendProblem(reply.header("retry-after", wait), 429, `Try again in ${wait} s.`);
  const session = await begin();
  if (!session) {
    failures.failed(request.ip);
    if (!request.headers.accept?.includes("text/html")) return sendProblem(reply, 401, failure, { hint });
    // The start page explains how to log in. With an earlier session of the browser, it is the console.
    return redirect(reply, `/?log-in-failed=${name}`);
  }
  cookies.setSession(reply, session.value, session.expiresAtMs);
  return redirect(reply, "/");
}

function redirect(reply: FastifyReply, url: string) {
  return reply.header("cache-control", "no-store").redirect(url, 303);
}
