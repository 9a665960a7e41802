import { names } from "../agent-kinds.ts";
import { address, duration, file, httpUrl, yesOrNo } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const webConsole = {
  enabled: setting({
    kind: yesOrNo(),
    default: "true",
    about: "Whether `interlock up` serves the console.",
  }),
  listen: setting({
    kind: address(),
    default: "127.0.0.1:8090",
    env: "CONSOLE_LISTEN",
    about: "Where the console and its API listen.",
  }),
  url: optional<string>({
    kind: httpUrl(),
    about: "Where browsers reach the console, if that is not `console.listen`: behind an ingress, and for OIDC.",
  }),
  hosts: optional<readonly string[]>({
    kind: names("host names"),
    about:
      "Host names under which the console is reached, beyond `localhost`, loopback addresses and those of `console.listen` and `console.url`. Requests for other names are refused (DNS rebinding).",
  }),
  tlsCertFile: optional<string>({
    kind: file(),
    about:
      "The certificate, with its chain, in PEM: with it and `console.tlsKeyFile` the console serves TLS instead of plain HTTP. Read again when it changes.",
  }),
  tlsKeyFile: optional<string>({
    kind: file(),
    about: "The private key of `console.tlsCertFile`, in PEM.",
  }),
  sessionMs: setting({
    kind: duration({ atLeast: "1m" }),
    default: "12h",
    about: "How long a log-in lasts.",
  }),
};
