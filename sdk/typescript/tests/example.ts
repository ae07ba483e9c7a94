// Runs the examples of a page without keys: node build/tests/example.js mastra

import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { blocks, run } from "./harness.js";
import { startModel } from "./modelapi.js";
import { compilePages, fileOf, pages } from "./pages.js";

const page = `docs/${process.argv[2]}.md`;
if (!(page in pages)) {
  const names = Object.keys(pages).flatMap((name) => name.match(/^docs\/(.*)\.md$/)?.[1] ?? []);
  console.error(`no page "${process.argv[2] ?? ""}" with examples: want one of ${names.join(", ")}`);
  process.exit(2);
}
const model = await startModel([[{ tool: "search", args: { query: "the lost letter" } }]]);
const compiled = await compilePages([page]);
for (const n of blocks(page).keys()) {
  const environment = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none" };
  console.log(await run(join(compiled, `${fileOf(page, n)}.js`), environment));
}
rmSync(dirname(compiled), { recursive: true, force: true });
process.exit(0);
