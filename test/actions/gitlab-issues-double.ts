import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Issue {
  readonly title: string;
  readonly description: string;
  readonly labels: readonly string[];
  readonly web_url: string;
}

/** The issues API of a GitLab with one project, as strict as the real one about the fields that it is sent. */
export async function startGitLabIssues({ token, project }: { readonly token: string; readonly project: string }) {
  // GitLab can be installed below a path.
  const root = "/gitlab";
  const issues: Issue[] = [];
  const path = `${root}/api/v4/projects/${encodeURIComponent(project)}/issues`;
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://gitlab");
    const respond = (status: number, body: unknown) => {
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    };
    if (url.pathname.startsWith("/moved/")) return response.writeHead(302, { location: `${root}/` }).end();
    // A proxy in front of GitLab.
    if (!url.pathname.startsWith(`${root}/`)) return response.end("<p>Welcome</p>");
    if (request.headers["private-token"] !== token) return respond(401, { message: "401 Unauthorized" });
    if (url.pathname !== path) return respond(404, { message: "404 Project Not Found" });
    if (request.method === "GET") {
      const wanted = (url.searchParams.get("labels") ?? "").split(",").filter(Boolean);
      return respond(
        200,
        issues.filter(({ labels }) => wanted.every((label) => labels.includes(label))),
      );
    }
    let text = "";
    for await (const chunk of request) text += chunk;
    const { title, description, labels, ...unknown } = JSON.parse(text);
    if (typeof title !== "string" || typeof labels !== "string" || Object.keys(unknown).length > 0) {
      return respond(400, { error: "invalid fields" });
    }
    const issue = {
      title,
      description,
      labels: labels.split(","),
      web_url: `http://gitlab/issues/${issues.length + 1}`,
    };
    issues.push(issue);
    return respond(201, issue);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    issues,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${root}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
