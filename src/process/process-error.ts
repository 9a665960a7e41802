/** A child process could not be started, did not finish, or could not be ended. */
export class ProcessError extends Error {
  override readonly name = "ProcessError";
}
