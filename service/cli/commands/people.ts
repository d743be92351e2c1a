/** `join`, `me`, `people`, `keys`: people with keys of their own. */
import { createHmac, hkdfSync } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { provenTime, sha256Hex } from '../../auth/sign.ts';
import type { Me, People, Person, SignInBegun, SignInState } from '../../contract/console/people.ts';
import type { Trigger } from '../../contract/console/triggers.ts';
import { roles } from '../../contract/roles.ts';
import { parseUrl } from '../../contract/url.ts';
import { joinInfo, joinText, readInvitation } from '../../domain/joining.ts';
import { parseJson } from '../answers.ts';
import { keyId, text } from '../arguments.ts';
import { cannot, writeWhole } from '../destination.ts';
import { writeDocument } from '../document.ts';
import { CliError, refusalOf } from '../exit.ts';
import { newKey } from '../key.ts';
import type { Session } from '../session.ts';
import { keyFile, readKey, rootFile } from '../settings.ts';
import { moment, visible } from '../text.ts';

const PATH = '/console/api/people';
const SIGN_IN_PATH = '/console/api/oidc';
const JOIN_MS = 10_000;
const MAX_BYTES = 64 * 1024;

interface Invitation {
  base: URL;
  person: string;
  code: string;
}

const invitationUrl = (given: string): Invitation => {
  const url = parseUrl(given);
  const found = url === null ? null : readInvitation(url.hash);
  if (url === null || found === null || !/^https?:$/.test(url.protocol)) {
    throw new InvalidArgumentError('It must be the address of an invitation: https://.../console#join=ID.CODE');
  }
  return { base: new URL(url.origin), ...found };
};

const personId = (given: string): string => {
  if (/^[a-z0-9-]{1,64}$/.test(given)) return given;
  throw new InvalidArgumentError('It must be 1 to 64 of a-z, 0-9 and -.');
};

const collect = (given: string, before?: readonly string[] | false): string[] => [...(before || []), given];

/** Posts to a box that nothing is known of; what it answers is proven by the code. */
const post = (base: URL, body: string): Promise<{ status: number; bytes: Buffer; headers: Record<string, unknown> }> =>
  new Promise((resolve, reject) => {
    const url = new URL('/console/api/join', base);
    const unreachable = (error: Error): void =>
      reject(new CliError('unreachable', `The box at ${base.origin} was not reached: ${error.message}.`));
    const sent = (url.protocol === 'https:' ? requestHttps : requestHttp)(
      url,
      {
        method: 'POST',
        agent: false,
        // The root of the site comes with the answer, and only who knows the code can prove that.
        rejectUnauthorized: false,
        signal: AbortSignal.timeout(JOIN_MS),
        headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
      },
      (response) => {
        if (Number(response.headers['content-length'] ?? 0) > MAX_BYTES)
          return void response.destroy(new Error('it says too much'));
        buffer(response).then(
          (bytes) => resolve({ status: response.statusCode ?? 0, bytes, headers: response.headers }),
          unreachable,
        );
      },
    );
    sent.on('error', unreachable);
    sent.end(body);
  });

/**
 * Keeps a key if it is granted; what grants it counts once, so the key is written before.
 * @throws CliError `usage` if it cannot be kept; what `grant` throws
 */
const keep = async <Result>(path: string, key: string, grant: () => Promise<Result>): Promise<Result> => {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw cannot(path, error as NodeJS.ErrnoException, 'written');
  }
  return writeWhole(path, async ({ write }) => {
    await write(key);
    return grant();
  });
};

const deviceName = (): string => hostname().slice(0, 64) || 'computer';

const keysOf = ({ keys }: Person): string => (keys.length === 0 ? 'none' : String(keys.length));

export const registerPeople = (program: Command, session: Session): void => {
  const { out, client, nearClient, guest, checkCanAsk, confirm, surroundings } = session;

  /** The key that is there may be the only one of its person. @throws CliError `usage`, `refused` */
  const checkReplacement = async (yes: true | undefined): Promise<void> => {
    if (readKey(surroundings) === null) return;
    checkCanAsk(yes);
    await confirm('This computer has a key already. Replace it?', yes);
  };

  program
    .command('join')
    .description('join a site with an invitation: this computer gets a key of its own')
    .addArgument(new Argument('<url>', 'the address of the invitation').argParser(invitationUrl))
    .option('--yes', 'replace the key that is there without asking')
    .action(async ({ base, person, code }: Invitation, { yes }: { yes?: true }) => {
      await checkReplacement(yes);
      const { key, text: kept } = newKey();
      const device = deviceName();
      const proofKey = new Uint8Array(hkdfSync('sha256', code, new Uint8Array(), joinInfo, 32));
      const proof = createHmac('sha256', proofKey)
        .update(joinText(person, key.publicKey, device))
        .digest('hex');
      const joined = await keep(keyFile(surroundings), kept, async () => {
        const answer = await post(base, JSON.stringify({ person, public_key: key.publicKey, device, proof }));
        const { status, bytes, headers } = answer;
        if (status !== 201) throw refusalOf({ base, path: '/console/api/join', status, bytes, hasSecret: false });
        const asked = { request: proof, status, sha256: sha256Hex(bytes) };
        if (provenTime(proofKey, { ...asked, headerOf: (name) => headers[name] }) === null) {
          throw new CliError('notAuthorised', `What answers at ${base.origin} does not know the invitation.`);
        }
        const answered = parseJson(bytes) as { person: { name: string }; role: string; root: string | null };
        // That of another site would count here, too.
        if (answered.root === null) rmSync(rootFile(surroundings), { force: true });
        else await writeDocument(rootFile(surroundings), answered.root);
        return answered;
      });
      out.answer(joined, () => out.line(`You are ${visible(joined.person.name)}, ${visible(joined.role)}.`));
    });

  program
    .command('login')
    .description('sign in with the provider of the house: this computer gets a key for 12 hours')
    .option('--yes', 'replace the key that is there without asking')
    .action(async ({ yes }: { yes?: true }) => {
      await checkReplacement(yes);
      const box = await guest();
      const { key, text: kept } = newKey();
      const body = JSON.stringify({ public_key: key.publicKey, device: deviceName() });
      const found = await keep(keyFile(surroundings), kept, async () => {
        const { body: begun } = await box.ask<SignInBegun>({ method: 'POST', path: SIGN_IN_PATH, body });
        out.say(`Sign in at ${visible(begun.verification_uri_complete ?? begun.verification_uri)}`);
        out.say(`The code: ${visible(begun.user_code)}`);
        for (;;) {
          await delay(begun.interval * 1_000);
          const { body: now } = await box.ask<SignInState>({ path: `${SIGN_IN_PATH}/${begun.id}` });
          if (now.state === 'denied') {
            const why = 'the account has no role here, or is disabled';
            throw new CliError('notAuthorised', `The sign-in was refused: ${why}.`);
          }
          if (now.state === 'expired') throw new CliError('notAuthorised', 'Nobody signed in in time.');
          if (now.state !== 'pending') return now;
        }
      });
      out.answer(found, ({ person, role }) => {
        out.line(`You are ${visible(person?.name ?? '')}, ${visible(role ?? '')}, for 12 hours.`);
      });
    });

  program
    .command('me')
    .description('show who signs, and what they may do')
    .action(async () => {
      const { body } = await (await client()).ask<Me>({ path: '/console/api/me' });
      out.answer(body, ({ person, role, tags }) =>
        out.fields([
          ['person', person === null ? 'nobody in particular' : visible(person.name)],
          ['role', role],
          ['tags', tags.length === 0 ? 'the whole site' : visible(tags.join(', '))],
        ]),
      );
    });

  const group = program.command('people').description('people with keys of their own');
  const list = async (): Promise<People> => {
    const { body } = await (await client()).ask<People>({ path: PATH });
    session.degrade(body.degraded);
    return body;
  };
  const personArgument = (): Argument => new Argument('<id>', 'id of the person').argParser(personId);

  group
    .command('list')
    .description('list people')
    .action(async () => {
      const body = await list();
      out.answer(body, ({ people, behind }) => {
        out.table(
          ['id', 'name', 'role', 'tags', 'keys', 'disabled'],
          people.map((each) => [
            each.id,
            visible(each.name),
            each.role,
            visible(each.tags.join(', ')),
            keysOf(each),
            each.disabled_at === null ? '' : moment(each.disabled_at),
          ]),
        );
        if (behind.length > 0) out.say(`Not yet told of all removals: ${behind.map(visible).join(', ')}`);
      });
    });

  group
    .command('add')
    .description('make a person, or change one')
    .addArgument(personArgument())
    .option('--name <name>', 'as others see it (default: as it is, else the id)', text)
    .addOption(new Option('--role <role>', 'what the person may do').choices(roles).makeOptionMandatory())
    .option('--tag <tag>', 'only screens with this tag; several times for several (default: as it is)', collect)
    .option('--no-tag', 'all screens')
    .action(async (id: string, { name, role, tag }: { name?: string; role: string; tag?: string[] | false }) => {
      const box = await nearClient();
      const { people } = (await box.ask<People>({ path: PATH })).body;
      const before = people.find((person) => person.id === id);
      // An admin acts on the whole site.
      const kept = role === 'admin' ? undefined : before?.tags;
      const body = JSON.stringify({ name: name ?? before?.name ?? id, role, tags: (tag ?? kept) || [] });
      const answer = await box.ask<Person>({ method: 'PUT', path: `${PATH}/${id}`, body });
      out.answer(answer.body, (person) => out.line(`${visible(person.name)} is ${person.role}.`));
      if (answer.status === 201) out.say(`They have no key yet. Invite them: signage people invite ${id}`);
    });

  group
    .command('invite')
    .description('print the address with which a person joins; it counts once, for 24 hours')
    .addArgument(personArgument())
    .action(async (id: string) => {
      const path = `${PATH}/${id}/invitations`;
      const { body } = await (await nearClient()).ask<{ url: string }>({ method: 'POST', path });
      out.answer(body, ({ url }) => out.line(visible(url)));
    });

  group
    .command('disable')
    .description('disable a person: their keys do not count any more, on all boxes')
    .addArgument(personArgument())
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      const box = await client();
      await confirm(`Disable ${id}?`, yes);
      // Afterwards the key that signs may be one that does not count any more.
      const { body } = await box.ask<{ triggers: Trigger[] }>({ path: '/console/api/triggers' });
      await box.ask({ method: 'DELETE', path: `${PATH}/${id}` });
      out.say(`${id} is disabled.`);
      const made = body.triggers.filter(({ created_by }) => created_by?.id === id);
      if (made.length === 0) return;
      const names = made.map((trigger) => `${visible(trigger.name)} (${trigger.id})`).join(', ');
      out.say(`The triggers that they made still work: ${names}. To revoke one: signage trigger delete ID`);
    });

  const keys = program.command('keys').description('the keys of people');
  keys
    .command('list')
    .description('list the keys of all people')
    .action(async () => {
      const body = await list();
      out.answer(body, ({ people }) =>
        out.table(
          ['key', 'person', 'device', 'added', 'last used'],
          people.flatMap((person) =>
            person.keys.map((key) => [
              key.id,
              person.id,
              visible(key.device),
              moment(key.added_at),
              key.last_used_at === null ? '' : moment(key.last_used_at),
            ]),
          ),
        ),
      );
    });
  keys
    .command('remove')
    .description('remove a key, for ever')
    .addArgument(new Argument('<id>', 'id of the key').argParser(keyId))
    .option('--yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: true }) => {
      const { people } = await list();
      const owner = people.find((person) => person.keys.some((key) => key.id === id));
      if (owner === undefined)
        throw new CliError('notFound', `Nobody has the key ${visible(id)}. See: signage keys list`);
      await confirm(`Remove the key ${id} of ${visible(owner.name)}?`, yes);
      await (await client()).ask({ method: 'DELETE', path: `${PATH}/${owner.id}/keys/${id}` });
      out.say('The key is removed.');
    });
};
