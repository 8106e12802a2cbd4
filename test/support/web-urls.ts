import fc from 'fast-check';

/**
 * Generates URLs with a path, and some with a query and a fragment. `fc.webUrl()` generates such URLs too, but its
 * first use takes three seconds, for a table of all characters that may be percent-encoded.
 */
export function webUrls(): fc.Arbitrary<string> {
  const text = fc.string({ unit: 'grapheme' });
  return fc
    .tuple(fc.constantFrom('http', 'https'), fc.domain(), text)
    .map(([scheme, domain, path]) => `${scheme}://${domain}/${encodeURI(path)}`);
}
