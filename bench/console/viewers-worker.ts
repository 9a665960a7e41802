import { Agent, request } from "node:http";

export interface ViewerOptions {
  readonly url: string;
  readonly token: string;
  readonly viewers: number;
}

/** Reads many streams, and sends a message when each has had its first event. */
const { url, token, viewers } = JSON.parse(process.argv[2] ?? "") as ViewerOptions;
const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
await Promise.all(Array.from({ length: viewers }, watch));
process.send?.("watching");

function watch(): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
    const sent = request(url, { headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the stream responded with ${response.statusCode}`));
      response.once("data", () => resolve());
      response.resume();
      response.once("end", () => process.exit(1));
    });
    sent.once("error", reject);
    sent.end();
  });
}
