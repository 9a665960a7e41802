import type { Beat, Changes } from "../../../src/console/wire.ts";
import { parseJson } from "../api.ts";
import { readEvents } from "./events.ts";
import { type ReconnectOptions, reconnect } from "./reconnect.ts";

export interface StreamOptions extends ReconnectOptions {
  /** Opens the stream behind `lastId`. */
  readonly open: (lastId: string | undefined) => Promise<ReadableStream<Uint8Array>>;
  readonly onChanges: (changes: Changes) => void;
  /** Changes were missed. Data that is read from now on is complete. */
  readonly onReset: () => void;
  readonly onBeat: (beat: Beat) => void;
  readonly onError: (error: unknown) => void;
}

/** Follows the stream until `signal` aborts. After each interruption it continues behind the last event it has read. */
export async function followStream(options: StreamOptions): Promise<void> {
  let lastId: string | undefined;
  await reconnect(async (received) => {
    try {
      const body = await options.open(lastId);
      // Without an id of an earlier event the server starts at the present, and older rows are read again.
      if (lastId === undefined) options.onReset();
      for await (const { type, data, id } of readEvents(body)) {
        received();
        if (id !== undefined) lastId = id;
        if (type === "changes") options.onChanges(parseJson(data));
        else if (type === "beat") options.onBeat(parseJson(data));
        else if (type === "reset") options.onReset();
      }
    } catch (error) {
      if (!options.signal.aborted) options.onError(error);
    }
    return "interrupted";
  }, options);
}
