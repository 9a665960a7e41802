import { duration } from "../kinds.ts";
import { setting } from "../setting.ts";

export const watermarks = {
  overlapMs: setting({
    kind: duration(),
    default: "1m",
    about: "How far behind the server's clock a watermark stays, so that items which show up late are still seen.",
  }),
};
