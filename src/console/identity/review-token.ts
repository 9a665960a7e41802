import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";

/** A user of the API server. */
export interface ClusterUser {
  readonly name: string;
  readonly groups: readonly string[];
}

interface TokenReview extends KubeObject {
  readonly spec: { readonly token: string };
  readonly status?: {
    readonly authenticated?: boolean;
    readonly user?: { readonly username?: string; readonly groups?: readonly string[] };
  };
}

const tokenReviews: ResourceType<TokenReview> = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "TokenReview",
  plural: "tokenreviews",
  namespaced: false,
};

/** The user of a token; undefined for a token that the API server does not accept. */
export async function reviewToken(client: KubeClient, token: string): Promise<ClusterUser | undefined> {
  const { apiVersion, kind } = tokenReviews;
  const outcome = await client.create(tokenReviews, { apiVersion, kind, metadata: {}, spec: { token } });
  const { authenticated, user } = (outcome.kind === "created" && outcome.object.status) || {};
  if (!authenticated || !user?.username) return undefined;
  return { name: user.username, groups: user.groups ?? [] };
}

/** When a JSON Web Token expires; undefined for any other token. It is not verified here. */
export function tokenExpiryMs(token: string): number | undefined {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { exp?: unknown };
    return typeof exp === "number" ? exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
