import { names } from "../agent-kinds.ts";
import { address, duration, file, secret, text, yesOrNo } from "../kinds.ts";
import { optional, setting } from "../setting.ts";
import { httpUrl } from "../url-kinds.ts";

export const webConsole = {
  enabled: setting(yesOrNo(), { default: "true", about: "Whether `interlock up` serves the console." }),
  listen: setting(address(), {
    default: "127.0.0.1:8090",
    env: "CONSOLE_LISTEN",
    about: "Where the console and its API listen.",
  }),
  url: optional(httpUrl(), {
    about: "Where browsers reach the console, if that is not `console.listen`: behind an ingress, and for OIDC.",
  }),
  hosts: optional(names("host names"), {
    about:
      "Host names under which the console is reached, beyond `localhost`, loopback addresses and those of `console.listen` and `console.url`. Requests for other names are refused (DNS rebinding).",
  }),
  tlsCertFile: optional(file(), {
    about:
      "The certificate, with its chain, in PEM: with it and `console.tlsKeyFile` the console serves TLS instead of plain HTTP. Read again when it changes.",
  }),
  tlsKeyFile: optional(file(), { about: "The private key of `console.tlsCertFile`, in PEM." }),
  sessionMs: setting(duration({ min: "1m" }), { default: "12h", about: "How long a log-in lasts." }),
  sessionKeyFile: optional(file(), {
    about:
      "A file with the key that signs sessions, of 32 characters or more. Replicas need the same one. Without it a key is made once, in the data directory.",
  }),
  oidcIssuer: optional(httpUrl(), {
    path: "console.oidc.issuer",
    about: "The identity provider (OpenID Connect) that users log in with, in a cluster.",
  }),
  oidcClientId: optional(text("the client id that the identity provider gave to the console"), {
    path: "console.oidc.clientId",
    about: "The client id of the console at the identity provider.",
  }),
  oidcClientSecret: optional(secret("the client secret that the identity provider gave to the console"), {
    path: "console.oidc.clientSecret",
    about: "The client secret, unless the console is a public client.",
  }),
  oidcClientSecretFile: optional(file(), {
    path: "console.oidc.clientSecretFile",
    about: "A file with the client secret, read at each start.",
  }),
  oidcScopes: setting(names("scopes"), {
    path: "console.oidc.scopes",
    default: "openid, email, profile",
    about: "The requested scopes. Many providers return groups only with a scope such as `groups`.",
  }),
  oidcUsernameClaim: setting(text("the name of a claim"), {
    path: "console.oidc.usernameClaim",
    default: "email",
    about: "The claim with the name of the user, as the API server's `--oidc-username-claim`.",
  }),
  oidcUsernamePrefix: optional(text("a prefix such as oidc:"), {
    path: "console.oidc.usernamePrefix",
    about: "Put before the name of the user, as the API server's `--oidc-username-prefix`.",
  }),
  oidcGroupsClaim: setting(text("the name of a claim"), {
    path: "console.oidc.groupsClaim",
    default: "groups",
    about: "The claim with the groups of the user, as the API server's `--oidc-groups-claim`.",
  }),
  oidcGroupsPrefix: optional(text("a prefix such as oidc:"), {
    path: "console.oidc.groupsPrefix",
    about: "Put before the name of each group, as the API server's `--oidc-groups-prefix`.",
  }),
};
