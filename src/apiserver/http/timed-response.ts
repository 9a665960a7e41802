import { type IncomingMessage, ServerResponse } from "node:http";
import { exactTimeHeader } from "../../kube/index.ts";
import type { Clock } from "../../time/index.ts";

/**
 * Answers that say to the millisecond when they were given, after whatever they tell of was done. `Date` has whole
 * seconds: clients that know no better disagree by up to one about what came first.
 */
export function timedResponse(clock: Clock): typeof ServerResponse {
  return class<Asked extends IncomingMessage = IncomingMessage> extends ServerResponse<Asked> {
    override writeHead(status: number, ...rest: unknown[]): this {
      this.setHeader(exactTimeHeader, clock.wallMs());
      return Reflect.apply(super.writeHead, this, [status, ...rest]) as this;
    }
  };
}
