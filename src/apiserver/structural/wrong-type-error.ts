/** A value of a built-in kind has a type that its field cannot hold. Becomes a 400, not a list of problems. */
export class WrongTypeError extends Error {
  override readonly name = "WrongTypeError";
}
