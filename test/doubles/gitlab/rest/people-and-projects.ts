import type { Route } from "../../web/router.ts";
import { projectView, userView } from "../views.ts";
import type { World } from "../world.ts";
import { inProject, missing, page, signedIn } from "./desk.ts";

export function peopleAndProjects(world: World): Route[] {
  return [
    signedIn("GET", "/user", world, ({ user }) => ({
      status: 200,
      body: { ...userView(user, world.url), email: user.email, bot: false },
    })),
    signedIn("GET", "/version", world, () => ({
      status: 200,
      body: { version: world.settings.version, revision: "0123456789a", enterprise: true },
    })),
    inProject("GET", "", world, ({ project }) => ({ status: 200, body: projectView(project) })),
    inProject("GET", "/members/all", world, (visit) =>
      page(visit, [...visit.project.members], ([id, level]) => memberView(world, id, level)),
    ),
    inProject("GET", "/members/all/:user", world, ({ project, call }) => {
      const id = Number(call.params["user"]);
      const level = project.members.get(id);
      if (level === undefined) throw missing();
      return { status: 200, body: memberView(world, id, level) };
    }),
  ];
}

function memberView(world: World, id: number, level: number) {
  const user = world.users.find((one) => one.id === id);
  const state = world.blocked.has(id) ? "blocked" : "active";
  return {
    ...(user && userView(user, world.url)),
    state,
    access_level: level,
    expires_at: world.expiries.get(id) ?? null,
    membership_state: "active",
  };
}
