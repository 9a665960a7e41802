import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GitLabDouble, startGitLab } from "../gitlab/start-gitlab.ts";
import { type Ask, asking } from "./ask.ts";
import { Faults } from "./faults.ts";

let gitlab: GitLabDouble;
let api: Ask;
let notes: string;

beforeAll(async () => {
  gitlab = await startGitLab();
  api = asking(`${gitlab.url}/api/v4`, { "PRIVATE-TOKEN": gitlab.root.token });
  const project = await gitlab.addProject({ path: "shop/cart" });
  const mr = await gitlab.openMergeRequest(project, { sourceBranch: "topic" });
  notes = `/projects/${project.id}/merge_requests/${mr.iid}/notes`;
});
beforeEach(() => {
  gitlab.faults.clear();
  gitlab.requests.clear();
});
afterAll(() => gitlab.close());

describe("faults", () => {
  it("fail the next requests that fit, and apply nothing", async () => {
    const path = "/merge_requests/:iid/notes";
    gitlab.faults.failNext({ method: "POST", path, times: 2, status: 429, retryAfterSeconds: 7 });
    const before = written();

    expect((await api("GET", notes)).status).toBe(200);
    const refused = await api("POST", notes, { body: "x" });
    expect([refused.status, refused.headers.get("retry-after"), refused.body]).toEqual([429, "7", "Retry later\n"]);
    expect((await api("POST", notes, { body: "x" })).status).toBe(429);
    expect(written()).toBe(before);
    expect((await api("POST", notes, { body: "x" })).status).toBe(201);
  });

  it("begin after some have passed", async () => {
    gitlab.faults.failNext({ path: /user$/, after: 1, status: 401 });
    const statuses: number[] = [];
    for (let n = 0; n < 3; n++) statuses.push((await api("GET", "/user")).status);
    expect(statuses).toEqual([200, 401, 200]);
  });

  it("lose a reply after the request was applied, once", async () => {
    gitlab.faults.loseReply({ method: "POST" });
    const before = written();
    await expect(api("POST", notes, { body: "said" })).rejects.toThrow();
    expect(written()).toBe(before + 1);
    expect(gitlab.requests.latest.at(-1)).toMatchObject({ method: "POST" });
    expect(gitlab.requests.latest.at(-1)).not.toHaveProperty("status");
  });

  it("cut a reply short", async () => {
    gitlab.faults.cutReply({ afterBytes: 5 });
    await expect(api("GET", "/user")).rejects.toThrow();
  });

  it("let things happen right before a request", async () => {
    let seen = "";
    gitlab.faults.before({ path: "/user" }, () => {
      seen = "before";
    });
    await api("GET", "/version");
    expect(seen).toBe("");
    await api("GET", "/user");
    expect(seen).toBe("before");
  });

  it("keep all requests waiting that fit, and add up", () => {
    const faults = new Faults();
    faults.delay({ method: "GET", ms: 30 });
    faults.delay({ path: "/user", ms: 20, times: 1 });
    const delays = ["GET", "GET", "PUT"].map(
      (method) => faults.fateOf({ method, template: "/api/v4/user", path: "/api/v4/user" }).delayMs,
    );
    expect(delays).toEqual([50, 30, 0]);
  });
});

describe("the log of requests", () => {
  it("counts by method and template", async () => {
    await api("GET", notes);
    await api("GET", `${notes}?page=2`);
    await api("GET", "/nowhere");
    expect(gitlab.requests.counts).toEqual({
      "GET /api/v4/projects/:id/merge_requests/:iid/notes": 2,
      "GET unknown": 1,
    });
    expect(gitlab.requests.count("GET", "/notes")).toBe(2);
    expect(gitlab.requests.latest.map(({ status }) => status)).toEqual([200, 200, 404]);
  });

  it("sends no body to a client that has the current version", async () => {
    const { headers } = await api("GET", notes);
    const again = await fetch(`${gitlab.url}/api/v4${notes}`, {
      headers: { "PRIVATE-TOKEN": gitlab.root.token, "If-None-Match": headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });
});

function written(): number {
  return gitlab.whatHappened().notes.length;
}
