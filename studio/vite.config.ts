import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The server fills in the nonce of each page; nothing inline but styles that carry it may be used.
export default defineConfig({
  plugins: [react()],
  base: "/",
  build: {
    outDir: "../src/tellegen/server/client",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
  },
});
