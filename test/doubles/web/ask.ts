/** A JSON API, called as a given user. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read single fields of responses
  readonly body: any;
}

export function asking(base: string, headers: Readonly<Record<string, string>>): Ask {
  return async (method, path, body) => {
    const response = await fetch(base + path, {
      method,
      headers: { ...headers, ...(body !== undefined && { "Content-Type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
}
