/** Returns the current token. `refused`: the server rejects the last one, so the source is read again. */
export type AccessToken = (state: { readonly refused: boolean }) => Promise<string>;
