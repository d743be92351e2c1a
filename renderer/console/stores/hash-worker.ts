/** Hashes a file as it is read, outside of the page's thread: a signed upload needs the hash first. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

export type HashMessage = { read: number } | { sha256: string } | { fault: string };

const CHUNK = 4 * 1024 ** 2;

const hash = async (file: File): Promise<string> => {
  const state = sha256.create();
  for (let at = 0; at < file.size; at += CHUNK) {
    state.update(new Uint8Array(await file.slice(at, at + CHUNK).arrayBuffer()));
    postMessage({ read: Math.min(file.size, at + CHUNK) } satisfies HashMessage);
  }
  return bytesToHex(state.digest());
};

addEventListener('message', ({ data }: MessageEvent<File>) => {
  hash(data).then(
    (digest) => postMessage({ sha256: digest } satisfies HashMessage),
    (error: Error) => postMessage({ fault: error.message } satisfies HashMessage),
  );
});
