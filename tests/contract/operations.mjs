// Prints every operation of the contract, one a line: `METHOD path operationId`.
import { operations } from "./contract.mjs";

for (const { method, path, id } of operations()) console.log(`${method} ${path} ${id}`);
