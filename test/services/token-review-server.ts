import { createServer, type IncomingHttpHeaders, request as send } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReviewedUser {
  readonly username: string;
  readonly groups?: readonly string[];
}

export interface ForwardedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** An embedded API server with users: this server knows whose token it is, and passes every other request on. */
export interface TokenReviewServer {
  readonly url: string;
  readonly forwarded: ForwardedRequest[];
  close(): Promise<void>;
}

const reviewPath = "/apis/authentication.k8s.io/v1/tokenreviews";

export async function tokenReviewServer(
  behind: string,
  users: Readonly<Record<string, ReviewedUser>>,
): Promise<TokenReviewServer> {
  const forwarded: ForwardedRequest[] = [];
  const server = createServer((request, response) => {
    const { method = "GET", url: path = "/", headers } = request;
    if (method === "POST" && path.startsWith(reviewPath)) {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        const review = JSON.parse(body) as { readonly spec: { readonly token: string } };
        const user = users[review.spec.token];
        const status = user ? { authenticated: true, user } : { authenticated: false, error: "unknown token" };
        response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ ...review, status }));
      });
      return;
    }
    forwarded.push({ method, path, headers });
    const passed = send(new URL(path, behind), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwarded,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
