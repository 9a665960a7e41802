import { inspect } from "node:util";

const shown = "[redacted]";

/** A value that prints as `[redacted]` however it is printed. `reveal()` is for the one caller that needs it. */
export class Secret {
  // A private field, because JSON, spreading and console.log include an ordinary one.
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return shown;
  }

  toJSON(): string {
    return shown;
  }

  [inspect.custom](): string {
    return shown;
  }
}
