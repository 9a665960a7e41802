import type { KubeObject, ResourceType } from "../../../kube/index.ts";
import type { ServerContext } from "../../command.ts";

interface TokenSecret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

const secrets: ResourceType<TokenSecret> = { apiVersion: "v1", kind: "Secret", plural: "secrets", namespaced: true };

const name = "interlock-gateway-tokens";

/** Creates a token for Alertmanager if no sender has one: the gateway does not start without. An existing Secret is not changed. */
export async function provideGatewayToken(
  { client, random, terminal }: ServerContext,
  namespace: string,
  isDryRun: boolean,
): Promise<void> {
  if (await client.get(secrets, { namespace, name })) return;
  if (!isDryRun) {
    const tokens = Buffer.from(`alertmanager ${random.id()}${random.id()}\n`).toString("base64");
    const metadata = { namespace, name };
    await client.create(secrets, { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: { tokens } });
  }
  terminal.print(
    `Secret ${namespace}/${name} ${isDryRun ? "would be created" : "created, with a token for Alertmanager"}`,
  );
}
