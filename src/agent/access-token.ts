/** The token that is good now. `refused`: the one given last is taken no more, so look whether there is another. */
export type AccessToken = (state: { readonly refused: boolean }) => Promise<string>;
