import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** Certificate and key in PEM, as servers take them. */
export interface SelfMadeCertificate {
  cert: Buffer;
  key: Buffer;
}

/** Certificate of a server, and that of the authority that signed it. */
export interface IssuedCertificate extends SelfMadeCertificate {
  authority: Buffer;
}

interface KeyPair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

const [SEQUENCE, SET, BOOLEAN, INTEGER, BITS, OCTETS, OID, UTF8, TIME, TRUE] = [
  0x30, 0x31, 0x01, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x17, 0xff,
] as const;
const ECDSA_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const ALTERNATIVE_NAMES = '551d11';
const KEY_USAGE = '551d0f';
const BASIC_CONSTRAINTS = '551d13';
const SUBJECT_KEY = '551d0e';
const AUTHORITY_KEY = '551d23';
/** Key usage `keyCertSign`: bit 5, after the number of unused bits. */
const SIGNS_CERTIFICATES = Buffer.from([0x02, 0x04]);
const DAY_MS = 86_400_000;

/** Creates a certificate for `localhost` and 127.0.0.1 that signs itself, valid for a day. */
export function selfMadeCertificate(): SelfMadeCertificate {
  const keys = newKeys();
  const cert = certificateOf('localhost', keys, { name: 'localhost', keys }, [localNames()]);
  return { cert, key: pemKey(keys) };
}

/** Creates a certificate for `localhost` and 127.0.0.1, signed by a new authority, valid for a day. */
export function issuedCertificate(): IssuedCertificate {
  const [authority, keys] = [newKeys(), newKeys()];
  const issuer = { name: 'Authority of a test', keys: authority };
  const own = certificateOf(issuer.name, authority, issuer, [
    extension(BASIC_CONSTRAINTS, true, der(SEQUENCE, der(BOOLEAN, Buffer.from([TRUE])))),
    extension(KEY_USAGE, true, der(BITS, SIGNS_CERTIFICATES)),
    extension(SUBJECT_KEY, false, der(OCTETS, keyId(authority))),
  ]);
  const cert = certificateOf('localhost', keys, issuer, [
    localNames(),
    extension(SUBJECT_KEY, false, der(OCTETS, keyId(keys))),
    extension(AUTHORITY_KEY, false, der(SEQUENCE, der(0x80, keyId(authority)))),
  ]);
  return { cert, key: pemKey(keys), authority: own };
}

/** Creates a certificate in PEM that an issuer signs. */
function certificateOf(
  subject: string,
  { publicKey }: KeyPair,
  issuer: { name: string; keys: KeyPair },
  extensions: readonly Buffer[],
): Buffer {
  const algorithm = der(SEQUENCE, oid(ECDSA_SHA256));
  const body = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    nameOf(issuer.name),
    der(SEQUENCE, time(-DAY_MS), time(DAY_MS)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, ...extensions)),
  );
  const signature = der(BITS, Buffer.from([0]), sign('sha256', body, issuer.keys.privateKey));
  const text = der(SEQUENCE, body, algorithm, signature).toString('base64');
  return Buffer.from(`-----BEGIN CERTIFICATE-----\n${text.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`);
}

function newKeys(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pemKey({ privateKey }: KeyPair): Buffer {
  return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

function keyId({ publicKey }: KeyPair): Buffer {
  const key = publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest().subarray(0, 20);
}

function nameOf(text: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, oid(COMMON_NAME), der(UTF8, Buffer.from(text)))));
}

function localNames(): Buffer {
  const names = der(SEQUENCE, der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  return extension(ALTERNATIVE_NAMES, false, names);
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [der(BOOLEAN, Buffer.from([TRUE]))] : [];
  return der(SEQUENCE, oid(id), ...critical, der(OCTETS, value));
}

/** Encodes a value of ASN.1 (DER): its tag, its length and its content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const { length } = bytes;
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), bytes]);
}

function oid(hex: string): Buffer {
  return der(OID, Buffer.from(hex, 'hex'));
}

function time(fromNow: number): Buffer {
  const digits = new Date(Date.now() + fromNow).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return der(TIME, Buffer.from(`${digits}Z`));
}
