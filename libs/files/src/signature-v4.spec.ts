import { EMPTY_SHA256, type S3SigningKey, signRequest } from './s3-storage.js';

// The examples of the documentation of Amazon S3, "Signature Calculations for the Authorization Header".
const KEY: S3SigningKey = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const NOW = new Date('2013-05-24T00:00:00Z');
const BUCKET = 'https://examplebucket.s3.amazonaws.com';

describe('signRequest', () => {
  it('signs a GET of a range as Amazon documents it', () => {
    const headers = signRequest(
      { method: 'GET', url: new URL(`${BUCKET}/test.txt`), headers: { range: 'bytes=0-9' }, bodySha256: EMPTY_SHA256 },
      KEY,
      NOW,
    );
    expect(headers['authorization']).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
        'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, ' +
        'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    );
    expect(headers).toMatchObject({ range: 'bytes=0-9', 'x-amz-date': '20130524T000000Z' });
    expect(headers).not.toHaveProperty('host');
  });

  it('signs a PUT with a body and an escaped path as Amazon documents it', () => {
    const headers = signRequest(
      {
        method: 'PUT',
        url: new URL(`${BUCKET}/test%24file.text`),
        headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        bodySha256: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
      },
      KEY,
      NOW,
    );
    expect(headers['authorization']).toMatch(
      /Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd$/,
    );
  });

  it('signs a query whose parameter has no value as Amazon documents it', () => {
    const headers = signRequest(
      { method: 'GET', url: new URL(`${BUCKET}/?lifecycle`), headers: {}, bodySha256: EMPTY_SHA256 },
      KEY,
      NOW,
    );
    expect(headers['authorization']).toMatch(
      /Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543$/,
    );
  });
});
