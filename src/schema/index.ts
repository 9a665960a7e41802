export { z } from "zod";
export { nearest } from "./nearest.ts";
export { mustBe, type Problem, parse, type Wire } from "./parse.ts";
export { syntaxProblem } from "./syntax-problem.ts";
