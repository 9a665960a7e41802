import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type KindsCache, watchKinds } from "../../src/resources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { applyCertificates, deleteCertificates } from "../doubles/certificate-definition.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { GatewayWorld, pods, resolved, signal } from "./gateway-world.ts";

const subject = { apiVersion: "cert-manager.io/v1", kind: "Certificate", namespace: "payment", name: "shop" };
const target = "payment/certificate.cert-manager.io/shop";

let world: GatewayWorld;
let stop: AbortController;
beforeEach(async () => {
  world = await GatewayWorld.open();
  stop = new AbortController();
});
afterEach(() => stop.abort());

describe("a signal about a custom kind", () => {
  it("is refused with the kind and the fix while the kind is unknown, and opens an incident when it is sent again later", async () => {
    const gateway = await world.gateway({ kinds: watched() });
    const refused = await gateway.admit(signal({ subject }));
    expect(refused).toMatchObject({
      kind: "invalid",
      problems: [expect.stringMatching(/Certificate\.cert-manager\.io.*apply its CustomResourceDefinition/)],
    });

    await applyCertificates(world.client);
    await world.settle();

    expect(await gateway.admit(signal({ subject }))).toMatchObject({ kind: "created" });
    expect(await gateway.preview(signal({ subject }))).toMatchObject({ target });
    expect((await world.only()).spec.targetResource).toEqual(subject);
  });

  it("is refused again after its definition was deleted", async () => {
    await applyCertificates(world.client);
    const gateway = await world.gateway({ kinds: watched() });
    expect(await gateway.admit(signal({ subject }))).toMatchObject({ kind: "created" });

    await deleteCertificates(world.client);
    await world.settle();

    expect(await gateway.admit(signal({ subject, name: "Another" }))).toMatchObject({ kind: "invalid" });
  });

  it("ends its incident after its definition was deleted", async () => {
    await applyCertificates(world.client);
    const gateway = await world.gateway({ kinds: watched() });
    await gateway.admit(signal({ subject }));
    await deleteCertificates(world.client);
    await world.settle();

    expect(await gateway.admit(signal({ subject }))).toMatchObject({ kind: "counted" });
    expect(await gateway.preview(signal({ subject }))).toMatchObject({ kind: "counted" });
    expect(await gateway.admit(resolved({ subject }))).toMatchObject({ kind: "resolved" });
    await world.flush();

    expect((await world.only()).status?.resolvedAt).toBeDefined();
  });

  it("ends its incident after its definition was deleted, also if its reader gives a reason for an unknown kind", async () => {
    await applyCertificates(world.client);
    const gateway = await world.gateway({ kinds: watched() });
    const alert = { subject, noSubject: "the kind Certificate is not known here" };
    await gateway.admit(signal(alert));
    await deleteCertificates(world.client);
    await world.settle();

    expect(await gateway.admit(signal(alert))).toMatchObject({ kind: "counted" });
    expect(await gateway.admit(resolved(alert))).toMatchObject({ kind: "resolved" });
  });

  it("is counted on the incident of its namespace that was opened while its kind was unknown", async () => {
    const coarserSubject = { kind: "Namespace", name: "payment" };
    const gateway = await world.gateway({ kinds: watched() });
    await gateway.admit(signal({ subject, coarserSubject }));
    const [before] = await world.incidents();
    expect(before?.spec.targetResource).toMatchObject({ kind: "Namespace" });

    await applyCertificates(world.client);
    await world.settle();

    expect(await gateway.admit(signal({ subject, coarserSubject }))).toMatchObject({ kind: "counted" });
    expect(await gateway.admit(resolved({ subject, coarserSubject }))).toMatchObject({ kind: "resolved" });
    await world.flush();
    expect((await world.only()).status?.resolvedAt).toBeDefined();
  });

  it("finds an owner whose kind has just become known", async () => {
    const owner = { apiVersion: "cert-manager.io/v1", kind: "Certificate", name: "shop", uid: "u", controller: true };
    await world.object(pods, { metadata: { name: "solver", namespace: "payment", ownerReferences: [owner] } });
    const gateway = await world.gateway({ kinds: watched() });
    const pod = signal({ subject: { kind: "Pod", namespace: "payment", name: "solver" } });
    expect(await gateway.preview(pod)).toMatchObject({ target: "payment/pod/solver" });

    await applyCertificates(world.client);
    await world.settle();

    expect(await gateway.preview(pod)).toMatchObject({ target });
  });
});

function watched(): KindsCache {
  const client = permittedClient(world.client, "gateway");
  const { clock } = world;
  return watchKinds({ client, declared: [], clock, random: systemRandom(), signal: stop.signal, problem: () => {} });
}
