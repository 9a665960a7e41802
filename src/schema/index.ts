export { z } from "zod";
export { nearest } from "./nearest.ts";
export { mustBe, type Parsed, type Problem, parse, type Wire } from "./parse.ts";
