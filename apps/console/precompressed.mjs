import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const COMPRESSED = /\.(js|css)$/;

/** Lays compressed twins beside the files of the build, so that the service need not compress what never changes. */
export function precompressed() {
  return {
    name: 'parley-precompressed',
    apply: 'build',
    // What is on disk is what is served: a bundle may still change before that.
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
