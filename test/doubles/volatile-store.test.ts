import { objectStoreContract } from "../../src/apiserver/object-store.contract.ts";
import { volatileStore } from "./volatile-store.ts";

objectStoreContract("volatile", () => volatileStore());
