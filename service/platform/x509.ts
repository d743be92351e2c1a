/**
 * Makes X.509 certificates (RFC 5280) with ECDSA P-256. The libraries need tens of milliseconds to load, so they are
 * imported when the first certificate is made or read.
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/** A certificate and its private key, PEM. The certificate may be followed by those that sign it. */
export interface Pair {
  cert: string;
  key: string;
}

/** What a certificate of an authority may sign: addresses and domain names. */
export interface Permitted {
  /** Blocks in CIDR notation. */
  networks: readonly string[];
  /** Each with all names below it, without a leading dot. */
  domains: readonly string[];
}

interface Request {
  /** At most 64 characters. */
  commonName: string;
  /** ms since the epoch */
  notBefore: number;
  notAfter: number;
  /** Absent: the certificate signs itself. */
  issuer?: Pair;
  /** Absent: the certificate is one of a server, for these names and addresses. */
  authority?: { permitted: Permitted; pathLength?: number };
  names?: readonly string[];
  /** What the key is for (RFC 5280, 4.2.1.12); default: TLS of servers. */
  usage?: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const serverAuth = '1.3.6.1.5.5.7.3.1';
const nameConstraints = '2.5.29.30';

/** A library of CommonJS: a bundle of ES modules has no more of it than its default export. */
const whole = <Library extends object>(library: Library): Library =>
  (library as { default?: Library }).default ?? library;

const load = async () => {
  await import('reflect-metadata');
  const [x509, asn1, schema] = await Promise.all([
    import('@peculiar/x509'),
    import('@peculiar/asn1-x509'),
    import('@peculiar/asn1-schema'),
  ]);
  const { NameConstraints } = whole(asn1);
  return { ...whole(x509), NameConstraints, asn1: whole(asn1), AsnConvert: whole(schema).AsnConvert };
};

let loading: ReturnType<typeof load> | undefined;
/** Loaded once, also where several certificates are made at the same moment. */
const libraries = (): ReturnType<typeof load> => (loading ??= load());

/** @param bytes DER */
export const pemOf = (label: 'CERTIFICATE' | 'PRIVATE KEY', bytes: ArrayBuffer | Uint8Array): string => {
  const lines = Buffer.from(bytes as Uint8Array)
    .toString('base64')
    .replaceAll(/.{64}/g, '$&\n')
    .trimEnd();
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
};

const derOf = (pem: string): Buffer<ArrayBuffer> => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');

export const makeCertificate = async ({
  commonName,
  notBefore,
  notAfter,
  issuer,
  authority,
  names = [],
  usage = serverAuth,
}: Request): Promise<Pair> => {
  const x509 = await libraries();
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const signer = issuer && new x509.X509Certificate(derOf(issuer.cert));
  const signingKey = issuer
    ? await crypto.subtle.importKey('pkcs8', derOf(issuer.key), algorithm, false, ['sign'])
    : keys.privateKey;
  const subtrees = (kind: 'iPAddress' | 'dNSName', values: readonly string[]) =>
    values.map((value) => new x509.asn1.GeneralSubtree({ base: new x509.asn1.GeneralName({ [kind]: value }) }));
  const constraints = ({ networks, domains }: Permitted) =>
    x509.AsnConvert.serialize(
      new x509.NameConstraints({
        permittedSubtrees: new x509.asn1.GeneralSubtrees([
          ...subtrees('iPAddress', networks),
          ...subtrees('dNSName', domains),
        ]),
      }),
    );
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: signer?.subject ?? new x509.Name([{ CN: [commonName] }]).toString(),
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(authority !== undefined, authority?.pathLength, true),
      new x509.KeyUsagesExtension(
        authority ? x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign : x509.KeyUsageFlags.digitalSignature,
        true,
      ),
      new x509.ExtendedKeyUsageExtension([usage]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(signer ? [await x509.AuthorityKeyIdentifierExtension.create(signer.publicKey)] : []),
      ...(authority ? [new x509.Extension(nameConstraints, true, constraints(authority.permitted))] : []),
      ...(names.length > 0
        ? [
            new x509.SubjectAlternativeNameExtension(
              names.map((value) => ({ type: isIP(value) > 0 ? ('ip' as const) : ('dns' as const), value })),
            ),
          ]
        : []),
    ],
  });
  return {
    cert: pemOf('CERTIFICATE', certificate.rawData),
    key: pemOf('PRIVATE KEY', await crypto.subtle.exportKey('pkcs8', keys.privateKey)),
  };
};

/** What the certificate of an authority may sign; null: anything. @throws Error if the certificate is malformed */
export const permittedBy = async (cert: string): Promise<Permitted | null> => {
  const { X509Certificate: Certificate, AsnConvert, NameConstraints } = await libraries();
  const extension = new Certificate(derOf(cert)).getExtension(nameConstraints);
  if (extension === null) return null;
  const bases = [...(AsnConvert.parse(extension.value, NameConstraints).permittedSubtrees ?? [])].map(
    ({ base }) => base,
  );
  return {
    networks: bases.flatMap(({ iPAddress }) => iPAddress ?? []),
    domains: bases.flatMap(({ dNSName }) => dNSName ?? []),
  };
};

const blocks = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a PEM text, the first one first; null if one is malformed. */
export const chainOf = (pem: string): X509Certificate[] | null => {
  try {
    return (pem.match(blocks) ?? []).map((each) => new X509Certificate(each));
  } catch {
    return null;
  }
};
