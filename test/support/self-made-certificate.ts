import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** Certificate and key in PEM, as servers take them. */
export interface SelfMadeCertificate {
  cert: Buffer;
  key: Buffer;
}

const [SEQUENCE, SET, INTEGER, BITS, OCTETS, OID, UTF8, TIME, TRUE] = [
  0x30, 0x31, 0x02, 0x03, 0x04, 0x06, 0x0c, 0x17, 0x01,
] as const;
const ECDSA_SHA256 = '2a8648ce3d040302';
const COMMON_NAME = '550403';
const ALTERNATIVE_NAMES = '551d11';
const DAY_MS = 86_400_000;

/** Creates a certificate for `localhost` and 127.0.0.1 that signs itself, valid for a day. */
export function selfMadeCertificate(): SelfMadeCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, oid(ECDSA_SHA256));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, oid(COMMON_NAME), der(UTF8, Buffer.from('localhost')))));
  const validity = der(SEQUENCE, time(-DAY_MS), time(DAY_MS));
  const names = der(SEQUENCE, der(0x82, Buffer.from('localhost')), der(0x87, Buffer.from([127, 0, 0, 1])));
  const extensions = der(SEQUENCE, der(SEQUENCE, oid(ALTERNATIVE_NAMES), der(OCTETS, names)));
  const body = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.concat([Buffer.from([TRUE]), randomBytes(8)])),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = der(BITS, Buffer.from([0]), sign('sha256', body, privateKey));
  const certificate = der(SEQUENCE, body, algorithm, signature).toString('base64');
  const cert = `-----BEGIN CERTIFICATE-----\n${certificate.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  return { cert: Buffer.from(cert), key: Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
}

/** Encodes a value of ASN.1 (DER): its tag, its length and its content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const { length } = bytes;
  const head = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), bytes]);
}

function oid(hex: string): Buffer {
  return der(OID, Buffer.from(hex, 'hex'));
}

function time(fromNow: number): Buffer {
  const digits = new Date(Date.now() + fromNow).toISOString().replaceAll(/\D/g, '').slice(2, 14);
  return der(TIME, Buffer.from(`${digits}Z`));
}
