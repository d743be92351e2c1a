/**
 * Writes the documents of the interface from the records of its operations; with `--check` it only compares them with the
 * files.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { createAsyncApi } from './contract/asyncapi.ts';
import { createOpenApi } from './contract/openapi.ts';
import { documentOf } from './contract/variant.ts';

const openApi = createOpenApi();
const documents = {
  'openapi.yaml': openApi,
  'openapi.baseline.yaml': documentOf(openApi, 'baseline'),
  'asyncapi.yaml': createAsyncApi(),
};

for (const [name, document] of Object.entries(documents)) {
  const file = join(import.meta.dirname, '..', 'resources', name);
  const yaml = stringify(document, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false });
  if (!process.argv.includes('--check')) writeFileSync(file, yaml);
  else if (readFileSync(file, 'utf8') !== yaml) {
    console.error(`resources/${name} differs from what the records make; run: npm run openapi`);
    process.exit(1);
  }
}
