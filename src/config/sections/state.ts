import { backend } from "../kinds.ts";
import { setting } from "../setting.ts";

export const state = {
  backend: setting({
    kind: backend(),
    default: "kubernetes",
    env: "STATE_BACKEND",
    about: "Where claims and watermarks live, and locks unless `locks.backend` is set.",
  }),
};
