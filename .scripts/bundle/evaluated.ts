/** Modules of which only the values matter: the build evaluates them, so that neither a start nor a page makes their schemas. */
import { join } from 'node:path';
import * as contentSchema from '../../service/contract/content-schema.ts';
import * as designs from '../../service/contract/designs.ts';
import * as rules from '../../service/contract/operations/rules.ts';
import * as slideValues from '../../service/contract/slide-values.ts';

const contract = join(import.meta.dirname, '..', '..', 'service', 'contract');
/** By path; each export is JSON. */
const evaluated: Readonly<Record<string, object>> = {
  [join(contract, 'content-schema.ts')]: contentSchema,
  [join(contract, 'designs.ts')]: designs,
  [join(contract, 'operations', 'rules.ts')]: rules,
  [join(contract, 'slide-values.ts')]: slideValues,
};

/** The module at a path with its values written out; null: it is bundled as it is. */
export const evaluatedModule = (path: string): string | null => {
  const values = evaluated[join(path)];
  if (values === undefined) return null;
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join('\n');
};
