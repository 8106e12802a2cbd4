import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { precompressed } from './precompressed.mjs';
import { sizeBudget } from './size-budget.mjs';

/** Where `npm run dev` in this folder finds a running service. */
const SERVICE = process.env.PARLEY_URL ?? 'http://127.0.0.1:3000';
const proxied = ['/a2a', '/api', '/health', '/docs', '/metrics', '/.well-known'];

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), sizeBudget(), precompressed()],
  build: {
    outDir: '../../dist/apps/console',
    emptyOutDir: true,
    reportCompressedSize: false,
    license: { fileName: 'THIRD-PARTY-LICENSES' },
  },
  server: {
    host: '127.0.0.1',
    proxy: {
      // With the host that the page has: the service takes calls of pages of its own host.
      ...Object.fromEntries(proxied.map((path) => [path, { target: SERVICE, changeOrigin: false }])),
      '/events': { target: SERVICE, ws: true },
    },
  },
});
