import fc from "fast-check";

/**
 * Every run of the tests draws the same values, so that a failure belongs to the change that caused it and can be
 * repeated. PROPERTY_SEED=random, or a number, explores others.
 */
const { PROPERTY_SEED: chosen = "20261118" } = process.env;

if (chosen !== "random") fc.configureGlobal({ seed: Number(chosen) });
