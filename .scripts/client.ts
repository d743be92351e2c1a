/** Makes the npm package of the client from the API documents: types, a client on `fetch`, signing and the socket. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const name = 'signage-player-client';

/** The generator writes with the API of TypeScript 6, which TypeScript 7 does not have. */
const hook = `export const resolve = (name, context, next) =>
  next(name === 'typescript' ? '@ts-morph/common/dist/typescript.js' : name, context);`;

/** Writes the operations and their types into a folder. */
export const generateApi = async (output: string): Promise<void> => {
  register(`data:text/javascript,${encodeURIComponent(hook)}`, import.meta.url);
  const { createClient } = await import('@hey-api/openapi-ts');
  await createClient({
    input: join(root, 'resources', 'openapi.yaml'),
    output,
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk'],
    logs: { level: 'silent' },
  });
};

const index = `import { type Client, createClient } from './api/client/index.ts';
import { type BoxOptions, signedFetch } from './signed.ts';

export * from './api/sdk.gen.ts';
export type * from './api/types.gen.ts';
export { type BoxOptions, UnprovenError } from './signed.ts';
export * from './socket.ts';

/** A client of a box, for the \`client\` of each operation. */
export const connectBox = (options: BoxOptions): Client =>
  createClient({ baseUrl: options.url.replace(/\\/+$/, ''), fetch: signedFetch(options) as typeof fetch });
`;

const declarations = {
  compilerOptions: {
    ...{ target: 'ES2023', module: 'ESNext', moduleResolution: 'bundler', lib: ['ES2023', 'DOM', 'DOM.Iterable'] },
    ...{ types: [], strict: true, verbatimModuleSyntax: true, allowImportingTsExtensions: true, skipLibCheck: false },
    ...{ declaration: true, emitDeclarationOnly: true, rootDir: 'source', outDir: 'types' },
  },
  include: ['source'],
};

const readme = `# ${name}

A client of a signage player, made from its API documents: an operation each as a function, typed, without dependencies, for
browsers and Node.js 20; \`openSocket\` needs a global \`WebSocket\`, which Node.js has from 22.

\`\`\`js
import { connectBox, getConsoleApiSite, openSocket } from '${name}';

const client = connectBox({ url: 'http://192.168.1.20:8080', secret: '...', operator: 'Ada' });
const { data, error } = await getConsoleApiSite({ client });
\`\`\`

With a secret each request is signed for that one box, and an answer that does not prove that the box knows the secret is an
\`UnprovenError\`; what is streamed (plays, media, logs, backups) carries no proof. Errors of the box are in \`error\`.
\`openSocket\` is the side of a page: commands arrive there.
`;

/** Builds the package in a folder, which is emptied before. */
export const buildClient = async (folder: string): Promise<void> => {
  rmSync(folder, { recursive: true, force: true });
  const source = join(folder, 'source');
  mkdirSync(source, { recursive: true });
  await generateApi(join(source, 'api'));
  for (const path of [
    '.scripts/client/signed.ts',
    '.scripts/client/socket.ts',
    'renderer/shared/page-signing.ts',
    'service/domain/request-signature.ts',
    'service/domain/time.ts',
  ]) {
    const text = readFileSync(join(root, path), 'utf8').replaceAll(
      /'(?:\.\.\/)+(?:service\/domain|renderer\/shared)\//g,
      "'./",
    );
    writeFileSync(join(source, basename(path)), text);
  }
  writeFileSync(join(source, 'index.ts'), index);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(declarations));
  await build({
    entryPoints: [join(source, 'index.ts')],
    outfile: join(folder, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    nodePaths: [join(root, 'node_modules')],
    logLevel: 'error',
  });
  cpSync(join(root, 'node_modules', '@noble'), join(folder, 'node_modules', '@noble'), { recursive: true });
  execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder], {
    stdio: 'inherit',
  });
  for (const left of ['source', 'node_modules', 'tsconfig.json']) rmSync(join(folder, left), { recursive: true });
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>;
  const description = {
    name,
    version,
    description: 'A client of a signage player, made from its API documents',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: { '.': { types: './types/index.d.ts', default: './index.js' } },
    types: './types/index.d.ts',
    files: ['index.js', 'types'],
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
  writeFileSync(join(folder, 'README.md'), readme);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildClient(join(root, 'release', 'client'));
