// The page's modules for tests in node. Debian 12's node takes a .js file for CommonJS unless a package.json says otherwise, and the page
// has none to serve: so the modules are copied beside one of their own.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const copy = mkdtempSync(join(tmpdir(), "rackrate-modules-"));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
cpSync(fileURLToPath(new URL("../../static/js", import.meta.url)), join(copy, "js"), { recursive: true });
writeFileSync(join(copy, "package.json"), '{"type":"module"}');

export const load = (name) => import(pathToFileURL(join(copy, "js", name)).href);
