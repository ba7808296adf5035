import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const SERVER = process.env.AURORA_URL ?? "http://127.0.0.1:8642";

// The page goes into the Python package, from where the server serves it. Nothing is put into the text of other files,
// so that the server can tell browsers to use what comes from it and nothing else.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: "../src/aurora/server/page",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": { target: SERVER, ws: true } } },
});
