export { z } from "zod";
export { nearest } from "./nearest.ts";
export { mustBe, type Problem, parse, syntaxProblem, type Wire } from "./parse.ts";
