/**
 * The key that releases are signed with: an Ed25519 private key as PEM, in the environment as UPDATE_SIGNING_KEY.
 *
 * - `release-key.ts public`: before a build, writes the public key that the build is to trust, resources/update-key.pem.
 * - `release-key.ts sign FOLDER`: after it, signs the metadata of a release folder, each as `NAME.yml.sig`.
 * - `release-key.ts new`: prints a new private key.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [action, folder = 'release'] = process.argv.slice(2);

const privateKey = (): KeyObject => {
  const key = createPrivateKey(process.env['UPDATE_SIGNING_KEY'] ?? '');
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('UPDATE_SIGNING_KEY is not an Ed25519 private key');
  return key;
};

if (action === 'new') {
  console.log(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
} else if (action === 'public') {
  const pem = createPublicKey(privateKey()).export({ type: 'spki', format: 'pem' });
  writeFileSync(join(import.meta.dirname, '..', 'resources', 'update-key.pem'), pem);
} else if (action === 'sign') {
  const key = privateKey();
  // electron-builder's debug files are not part of the release.
  const names = readdirSync(folder).filter((name) => /^[a-z]+(-linux(-arm64)?|-image)?\.yml$/.test(name));
  if (names.length === 0) throw new Error(`there are no metadata in ${folder}`);
  for (const name of names) {
    const path = join(folder, name);
    writeFileSync(`${path}.sig`, `${sign(null, readFileSync(path), key).toString('base64')}\n`);
    console.log(`signed ${name}`);
  }
} else {
  throw new Error('say what to do: new, public or sign FOLDER');
}
