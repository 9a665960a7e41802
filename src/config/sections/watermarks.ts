import { duration, namespace } from "../kinds.ts";
import { setting } from "../setting.ts";

export const watermarks = {
  overlapMs: setting({
    kind: duration(),
    default: "1m",
    about: "How far behind the server's clock a watermark stays, so that items which show up late are still seen.",
  }),
  namespace: setting({
    kind: namespace(),
    default: "interlock-watermarks",
    env: "WATERMARKS_NAMESPACE",
    about:
      "The namespace of the ConfigMaps that hold watermarks when they live in Kubernetes. Not that of the stages: who may write there could rewrite settings and rules.",
  }),
};
