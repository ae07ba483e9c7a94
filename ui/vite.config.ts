import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// A server to develop against: unloop serve. The bundle itself asks whoever served it.
const server = process.env.UNLOOP_ENDPOINT ?? "http://127.0.0.1:8765";
const proxy = { "/api": server, "/openapi.json": server };

// What unloop serve sends with every page, so that a preview breaks where the server would.
const policy =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

export default defineConfig({
  plugins: [svelte()],
  base: "/",
  build: {
    outDir: "../internal/web/dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { proxy },
  preview: { proxy, headers: { "Content-Security-Policy": policy } },
  test: { include: ["src/**/*.test.ts"], environment: "node" },
});
