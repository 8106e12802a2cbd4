import tailwindcss from '@tailwindcss/vite';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { precompressed } from './precompressed.mjs';
import { sizeBudget } from './size-budget.mjs';

/** URL of a running service for `npm run dev` in this folder. */
const SERVICE = process.env.PARLEY_URL ?? 'http://127.0.0.1:3000';
/**
 * Modules that several views share, in one chunk that is loaded at once: a view that loads thirty small files waits for
 * them longer than for the kilobytes that it does not need. Markdown is a chunk of its own.
 */
const SHARED = {
  name: 'shared',
  minShareCount: 2,
  test: /node_modules\/(lucide-react|@radix-ui)\/|apps\/console\/src\/(api|components|nodes|schema)\/(?!live-text|markdown|parts-view)/,
};
const proxied = ['/a2a', '/api', '/health', '/docs', '/metrics', '/.well-known'];

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), sizeBudget(), precompressed()],
  // The alias is not the condition `source`, since npm packages have that condition as well.
  resolve: { alias: [{ find: /^#libs\/(.+)$/, replacement: join(import.meta.dirname, '../../libs/$1/src/index.ts') }] },
  build: {
    outDir: '../../dist/apps/console',
    emptyOutDir: true,
    reportCompressedSize: false,
    license: { fileName: 'THIRD-PARTY-LICENSES' },
    rolldownOptions: { output: { codeSplitting: { groups: [SHARED] } } },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      // Keep the page's host: the service accepts calls from pages of its own host.
      ...Object.fromEntries(proxied.map((path) => [path, { target: SERVICE, changeOrigin: false }])),
      '/events': { target: SERVICE, ws: true },
    },
  },
});
