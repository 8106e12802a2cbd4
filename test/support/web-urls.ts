import fc from 'fast-check';

/**
 * Makes addresses with a path, and where there is one a query and a fragment. `fc.webUrl()` makes such, too, but takes three
 * seconds of a processor, once in a process, for a table of all characters that may be percent-encoded.
 */
export function webUrls(): fc.Arbitrary<string> {
  const text = fc.string({ unit: 'grapheme' });
  return fc
    .tuple(fc.constantFrom('http', 'https'), fc.domain(), text)
    .map(([scheme, domain, path]) => `${scheme}://${domain}/${encodeURI(path)}`);
}
