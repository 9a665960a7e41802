import { RemoteError } from "../remote-error.ts";

const maxBytes = 64 * 1024 * 1024;

/** Reads the text of a response, up to a limit that no regular response exceeds. */
export async function readBody(response: Response, name: string): Promise<string> {
  if (!response.body) return "";
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length > maxBytes) throw new RemoteError("refused", `${name} responded with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
