import { join } from "node:path";
import { openLocalCoder } from "../../../src/agent/index.ts";
import { findIsolation } from "../../../src/process/index.ts";
import { coderOptions } from "./coder-options.ts";

// A process with a slow coder, which the test kills.
const [root = ""] = process.argv.slice(2);
const isolation = await findIsolation({ user: undefined, network: true }, join(root, "scratch"));
const { options, order } = await coderOptions(root, { isolation, command: ["sleep", "1005"] });
const coder = await openLocalCoder(options);
await coder.run(order(), new AbortController().signal);
