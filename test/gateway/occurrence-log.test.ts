import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { crc32 } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { GatewayError } from "../../src/gateway/gateway-error.ts";
import { openFileOccurrenceLog } from "../../src/gateway/index.ts";
import { KubeError } from "../../src/kube/index.ts";
import { remediationRequests } from "../../src/resources/index.ts";
import { Dice } from "../chaos/dice.ts";
import { LossyDisk } from "../durability/lossy-disk.ts";
import { GatewayWorld, namespace, resolved, signal } from "./gateway-world.ts";

const writer = "gw-kept";

describe("a gateway with an occurrence log", () => {
  let world: GatewayWorld;

  beforeEach(async () => {
    world = await GatewayWorld.open();
  });

  it("responds before counts are in the status, and writes all of them at once later", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });

    await Promise.all(Array.from({ length: 500 }, () => gateway.admit(signal())));
    expect((await world.only()).status?.deduplication?.occurrenceCount ?? 0).toBeLessThan(500);

    await world.flush();
    expect((await world.only()).status?.deduplication).toMatchObject({
      occurrenceCount: 500,
      occurrencesByWriter: { [writer]: 500 },
    });
  });

  it("removes the signals of an idle incident from memory, and continues its count", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    let payload: object | undefined = { text: "as it arrived" };
    const kept = new WeakRef(payload);
    await gateway.admit(signal({ payload }));
    await world.flush();
    payload = undefined;

    await world.flush();
    collectGarbage();

    expect(kept.deref()).toBeUndefined();
    await gateway.admit(signal());
    await world.flush();
    expect((await world.only()).status?.deduplication).toMatchObject({ occurrencesByWriter: { [writer]: 2 } });
  });

  it("stores all repeated signals of a request with one write, and responds for each", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    const others = [1, 2, 3].map((i) => signal({ subject: { kind: "Node", name: `worker-${i}` } }));
    await gateway.admitAll(others);
    await world.flush();

    const admissions = await gateway.admitAll([
      ...others,
      signal({ subject: { kind: "Widget", name: "a" } }),
      ...others,
    ]);

    expect(admissions.map(({ kind }) => kind)).toEqual([...counted(3), "invalid", ...counted(3)]);
    await world.flush();
    const counts = (await world.incidents()).map(({ status }) => status?.deduplication?.occurrenceCount);
    expect(counts).toEqual([3, 3, 3]);
  });

  it("records in the ledger the counts that are written together with the end of a series", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await gateway.admit(signal());
    await gateway.admit(signal());

    await gateway.admit(resolved());
    await world.flush();

    const counted = world.ledger.events().filter(({ type }) => type === "signals.counted");
    expect(counted.map(({ facts }) => facts)).toMatchObject([{ occurrences: 2, occurrence_count: 2 }]);
  });

  it("admits signals of one series in the order of the request", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await gateway.admit(signal());

    const admissions = await gateway.admitAll([resolved(), signal()]);

    expect(admissions.map(({ kind }) => kind)).toEqual(["resolved", "ignored"]);
  });

  it("reports all repeated signals of a request as not stored when the disk fails", async () => {
    const occurrenceLog = await world.occurrenceLog();
    const gateway = await world.gateway({
      occurrenceLog: { ...occurrenceLog, left: [], keep: refuse, settle() {}, close: async () => {} },
      writer,
    });
    await world.gateway().then((other) => other.admit(signal()));

    const admissions = await gateway.admitAll([signal(), signal()]);

    expect(admissions).toMatchObject([{ kind: "failed", error: { code: "unavailable" } }, { kind: "failed" }]);
    expect(await world.only()).toMatchObject({ status: { deduplication: { occurrenceCount: 1 } } });
  });

  it("loses no count by a crash between the occurrence log and the status", async () => {
    const first = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer, client: deaf(world) });
    for (let i = 0; i < 20; i++) await first.admit(signal());
    expect((await world.only()).status).toBeUndefined();
    world.disk.cutPower();

    await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(20);
  });

  it("logs one line a minute for all incidents whose status cannot be written", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer, client: deaf(world) });
    for (let i = 1; i <= 5; i++) await gateway.admit(signal({ subject: { kind: "Node", name: `worker-${i}` } }));
    for (let i = 0; i < 3; i++) await world.flush();

    const lines = world.log.events.filter(({ event }) => event === "occurrences not written");
    expect(lines).toHaveLength(1);
    await world.clock.advance(60_000);
    await world.settle();
    expect(world.log.events.at(-1)).toMatchObject({ fields: { unreported: expect.any(Number) } });
  });

  it("ends although no status can be written, without trying each of them", async () => {
    let writes = 0;
    const patch = () => {
      writes++;
      throw new KubeError("unavailable", "no answer");
    };
    const client = { ...world.client, patch: patch as typeof world.client.patch };
    const gateway = await world.gateway({ client, occurrenceLog: await world.occurrenceLog(), writer });
    const signals = Array.from({ length: 40 }, (_, i) => signal({ subject: { kind: "Node", name: `worker-${i}` } }));
    await Promise.all(signals.map((one) => gateway.admit(one)));

    await gateway.stop();

    expect(writes).toBe(8);
    const next = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await next.ready;
    const counts = (await world.incidents()).map(({ status }) => status?.deduplication?.occurrenceCount);
    expect(counts).toEqual(signals.map(() => 1));
  });

  it("continues its counts after each of several restarts", async () => {
    for (let life = 1; life <= 4; life++) {
      const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
      for (let i = 0; i < 5; i++) await gateway.admit(signal());
      if (life % 2) await world.flush();
    }
    await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });

    expect((await world.only()).status?.deduplication?.occurrencesByWriter).toEqual({ [writer]: 20 });
  });

  it("readmits counts of an incident that was closed meanwhile", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await gateway.admit(signal());
    await world.flush();
    await Promise.all([1, 2, 3].map(() => gateway.admit(signal())));
    await world.close(await world.only());

    await world.flush();
    await world.flush();

    const counts = (await world.incidents()).map(({ status }) => status?.deduplication?.occurrenceCount);
    expect(counts).toEqual([1, 3]);
  });

  it("opens no second incident for a signal whose incident was closed before the count was written", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await gateway.admit(signal());
    await world.close(await world.only());

    await world.flush();
    await world.flush();

    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(1);
  });

  it("opens no second incident for such a signal after a crash", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer, client: deaf(world) });
    await gateway.admit(signal());
    await world.close(await world.only());
    world.disk.cutPower();

    await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await world.flush();

    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(1);
  });

  it("readmits counts of a closed incident after a crash", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer, client: deaf(world) });
    await Promise.all([1, 2, 3].map(() => gateway.admit(signal())));
    await world.close(await world.only());
    world.disk.cutPower();

    await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await world.flush();

    const counts = (await world.incidents()).map(({ status }) => status?.deduplication?.occurrenceCount);
    expect(counts).toEqual([1, 2]);
  });

  it.each(["in the same process", "after a crash"])("readmits the series that still fire, %s", async (how) => {
    const occurrenceLog = await world.occurrenceLog();
    const first = await world.gateway({ occurrenceLog, writer });
    await first.admit(signal({ series: "goes-on" }));
    await first.admit(signal({ series: "ends" }));
    const incident = await world.only();
    await world.close(incident);
    await world.gateway().then((other) => other.admit(resolved({ series: "ends" })));

    if (how === "after a crash") await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await world.flush();
    await world.flush();

    const [opened] = (await world.incidents()).filter(({ metadata }) => metadata.uid !== incident.metadata.uid);
    expect(Object.values(opened?.status?.deduplication?.series ?? {})).toEqual([{ firingAt: signal().firingAt }]);
    const ignored = world.ledger.events().filter(({ type }) => type === "signal.ignored");
    expect(ignored.flatMap(({ facts }) => facts["occurrences"] ?? [])).toEqual([1]);
  });

  it("opens nothing for series that ended before their incident was closed", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await gateway.admit(signal());
    await gateway.admit(signal());
    await gateway.admit(resolved());
    await gateway.admit(signal({ series: "late", firingAt: "2026-11-15T06:00:00.000Z" }));
    await gateway.admit(resolved({ series: "late" }));
    await world.close(await world.only());

    await world.flush();

    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(3);
  });

  it("counts signals from before an end that another gateway received, on the closed incident", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    const other = await world.gateway();
    for (let i = 0; i < 3; i++) await gateway.admit(signal());
    await other.admit(resolved());
    await world.close(await world.only());

    await world.flush();

    const { status } = await world.only();
    expect(status?.deduplication?.occurrenceCount).toBe(3);
    expect(status?.resolvedAt).toBeDefined();
  });

  it("opens no incident for one that was deleted after all counts were written", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await gateway.admit(signal());
    await world.flush();
    await world.client.delete(remediationRequests, { namespace, name: (await world.only()).metadata.name ?? "" });
    world.disk.cutPower();

    await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await world.flush();

    expect(await world.incidents()).toEqual([]);
  });

  it("keeps its files small for any number of counts", async () => {
    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog({ segmentBytes: 2_000 }), writer });
    for (let i = 0; i < 300; i++) await gateway.admit(signal());
    await world.flush();
    for (let i = 0; i < 50; i++) await gateway.admit(signal());

    const files = world.disk.names.filter((name) => name.startsWith("occurrences-"));
    expect(files).toHaveLength(1);
    expect(world.disk.bytesOf(files[0] ?? "").length).toBeLessThan(8_000);
    world.disk.cutPower();
    await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(350);
  });

  it("rejects signals while the disk fails, and admits them when it works again", async () => {
    let isFull = false;
    const { disk } = world.disk.open({ fails: () => isFull });
    const { clock, log } = world;
    const occurrenceLog = await openFileOccurrenceLog({ directory: "/lossy", clock, log, openDisk: async () => disk });
    const gateway = await world.gateway({ occurrenceLog, writer });
    await gateway.admit(signal());

    isFull = true;
    await expect(gateway.admit(signal())).rejects.toMatchObject({ code: "unavailable" });
    isFull = false;
    await gateway.admit(signal());

    expect(logFiles(world)).toEqual(["occurrences-00000002.log"]);
    world.disk.cutPower();
    await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    expect((await world.only()).status?.deduplication?.occurrenceCount).toBeGreaterThanOrEqual(2);
  });
});

describe("the files of an occurrence log", () => {
  it.each([
    ["as they are", (text: string) => [text]],
    ["cut short by a crash", (text: string) => [`${text}0123abcd {"uid":`]],
    ["cut short, and followed by another file", (text: string) => [`${text}0123abcd {`, text]],
    ["with an empty file behind", (text: string) => [text, ""]],
  ])("may be those of version 0.1.0, with a line for each incident, %s", async (_, toFiles) => {
    const world = await crashedWorld(20);
    const [name = ""] = logFiles(world);
    const records = world.disk.bytesOf(name).toString().trimEnd().split("\n");
    const entries = records.flatMap((line) => JSON.parse(line.slice(9)) as object[]);
    const files = toFiles(entries.map((entry) => toLine(JSON.stringify(entry))).join(""));
    for (const [i, text] of files.entries()) {
      await overwrite(world, `occurrences-0000000${i + 1}.log`, Buffer.from(text));
    }

    const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer });
    await gateway.admit(signal());
    await world.flush();

    expect((await world.only()).status?.deduplication?.occurrenceCount).toBe(21);
  });

  it("are rejected with the position if a record before the last was changed", async () => {
    const world = await crashedWorld(3);
    const [name = ""] = logFiles(world);
    const damaged = Buffer.from(world.disk.bytesOf(name));
    damaged.writeUInt8(damaged.readUInt8(40) ^ 1, 40);
    await overwrite(world, name, damaged);

    await expect(world.occurrenceLog()).rejects.toMatchObject({
      name: "DiskError",
      code: "damaged",
      message: expect.stringMatching(
        `/lossy/${name} is damaged at byte 12: .*; restore the file from a backup, or remove it`,
      ),
    });
    expect(world.disk.bytesOf(name)).toEqual(damaged);
  });
});

describe("the occurrence log after a power cut at any step", () => {
  it.each(Array.from({ length: 40 }, (_, i) => i + 1))("has all acknowledged counts (step %i)", async (diesAt) => {
    const world = await GatewayWorld.open();
    const disk = new LossyDisk(new Dice(diesAt));
    const { clock, log } = world;
    const open = (life: ReturnType<LossyDisk["open"]>) =>
      openFileOccurrenceLog({ directory: "/lossy", clock, log, segmentBytes: 1_500, openDisk: async () => life.disk });
    let acknowledged = 0;
    const life = disk.open({ diesAt });
    const work = async () => {
      const gateway = await world.gateway({ occurrenceLog: await open(life), writer, client: deaf(world) });
      for (let i = 0; i < 15; i++) {
        await gateway.admit(signal());
        acknowledged++;
      }
    };
    await Promise.race([work().catch(() => {}), life.died]);
    disk.cutPower();

    await world.gateway({ occurrenceLog: await open(disk.open()), writer });

    const counted = (await world.incidents())[0]?.status?.deduplication?.occurrenceCount ?? 0;
    expect(counted).toBeGreaterThanOrEqual(acknowledged);
    expect(counted).toBeLessThanOrEqual(acknowledged + 1);
  });
});

/** A world whose gateway has counted so many signals, and died before it wrote a status. */
async function crashedWorld(signals: number): Promise<GatewayWorld> {
  const world = await GatewayWorld.open();
  const gateway = await world.gateway({ occurrenceLog: await world.occurrenceLog(), writer, client: deaf(world) });
  for (let i = 0; i < signals; i++) await gateway.admit(signal());
  world.disk.cutPower();
  return world;
}

function logFiles({ disk }: GatewayWorld): string[] {
  return disk.names.filter((name) => name.startsWith("occurrences-"));
}

async function overwrite({ disk }: GatewayWorld, name: string, bytes: Buffer) {
  const opened = disk.open().disk;
  const file = await opened.open(name, "create-durable");
  await file.write(bytes, 0);
  await opened.sync();
  disk.kill();
}

function toLine(json: string): string {
  return `${crc32(json).toString(16).padStart(8, "0")} ${json}\n`;
}

/** Creates, and never gets to write a status. */
function deaf({ client }: GatewayWorld): typeof client {
  const patch = async () => {
    throw new KubeError("unavailable", "no answer");
  };
  return { ...client, patch: patch as typeof client.patch };
}

function counted(times: number): readonly string[] {
  return Array.from({ length: times }, () => "counted");
}

function refuse(): Promise<void> {
  return Promise.reject(new GatewayError("unavailable", "the disk is full"));
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}
