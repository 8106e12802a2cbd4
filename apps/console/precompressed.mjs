import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const COMPRESSED = /\.(js|css|md)$/;

/**
 * Returns a Vite plugin that writes a gzip and a Brotli copy of each script, stylesheet and help page, so that the
 * service need not compress static files.
 */
export function precompressed() {
  return {
    name: 'parley-precompressed',
    apply: 'build',
    // Compress the files on disk: a bundle may still change before this hook.
    writeBundle({ dir }, bundle) {
      for (const { fileName } of Object.values(bundle)) {
        if (!COMPRESSED.test(fileName)) continue;
        const file = join(dir, fileName);
        const content = readFileSync(file);
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
        writeFileSync(`${file}.br`, brotliCompressSync(content));
      }
    },
  };
}
