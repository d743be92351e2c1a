/** Certificates for tests, made with the library that the service has, too. */
import 'reflect-metadata';
import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';

const DAY_MS = 86_400_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

interface Signer {
  keys: CryptoKeyPair;
  name: string;
}

export interface Certificate extends Signer {
  cert: string;
  key: string;
}

/** A certificate for 127.0.0.1, and for its name. @param by absent: self-signed, an authority */
export const makeCertificate = async (name: string, by?: Signer, days = 30): Promise<Certificate> => {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: `CN=${by?.name ?? name}`,
    notBefore: new Date(Date.now() - 60 * DAY_MS),
    notAfter: new Date(Date.now() + days * DAY_MS),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: (by?.keys ?? keys).privateKey,
    extensions: [
      new BasicConstraintsExtension(by === undefined),
      new SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: name },
      ]),
    ],
  });
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'pem', type: 'pkcs8' });
  return { keys, name, cert: `${certificate.toString('pem')}\n`, key: String(key) };
};

/** Writes the two files that the settings name. @returns their settings */
export const writePair = (folder: string, { cert, key }: { cert: string; key: string }) => {
  const [SIGNAGE_TLS_CERT, SIGNAGE_TLS_KEY] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(SIGNAGE_TLS_KEY, key);
  writeFileSync(SIGNAGE_TLS_CERT, cert);
  return { SIGNAGE_TLS_CERT, SIGNAGE_TLS_KEY };
};
