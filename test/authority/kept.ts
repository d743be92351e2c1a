/** What a box keeps of the authority of its site, as whoever has its disk can read it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuthorityRecord } from '../../service/authority/records.ts';
import { openText } from '../../service/platform/store/sealing.ts';

/** @param name of the file; that of the previous generation ends with `.prev` */
export const keptAuthority = (dataDir: string, name = 'authority.json'): AuthorityRecord[] => {
  const key = Buffer.from(readFileSync(join(dataDir, 'seal-key'), 'utf8').trim(), 'base64url');
  const stored = readFileSync(join(dataDir, 'shared', name), 'utf8');
  const [sealed = ''] = /[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+/.exec(stored) ?? [];
  return JSON.parse(openText(key, sealed)) as AuthorityRecord[];
};
