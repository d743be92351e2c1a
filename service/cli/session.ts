/** Shared by all commands: the selected box, the output, and prompts. */
import { createInterface, type Interface } from 'node:readline/promises';
import { type Readable, Writable } from 'node:stream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Health } from '../contract/health.ts';
import type { UserCredentials } from '../platform/nats.ts';
import { type Client, createClient, type Limits } from './client.ts';
import { CliError } from './exit.ts';
import type { HubKeys } from './fleet/accounts.ts';
import type { Hub } from './fleet/hub.ts';
import type { PersonKey } from './key.ts';
import type { Output } from './output.ts';
import {
  boxOf,
  fleetOf,
  isLoopback,
  operatorOf,
  readKey,
  readLocalBox,
  readLocalToken,
  readRoot,
  readSecret,
  type Surroundings,
} from './settings.ts';
import { visible } from './text.ts';

/** The options of every command. */
export interface GlobalOptions {
  box?: URL;
  as?: string;
  json?: boolean;
  withSecret?: boolean;
  fleet?: string;
  credentials?: string;
}

interface Dependencies {
  out: Output;
  stdin: Readable & { isTTY?: boolean };
  surroundings: Surroundings;
  /** The options as parsed; known once a command runs. */
  globals: () => GlobalOptions;
  limits: Limits;
  /** Ends every request. */
  signal?: AbortSignal;
}

/** Over http somebody in between could read what is sent, and answer for the box. @throws CliError `usage` */
const checkSecure = (base: URL): void => {
  if (base.protocol === 'https:' || isLoopback(base)) return;
  throw new CliError(
    'usage',
    `What this sends is not for everybody on the way to ${base.host}: name the secure address of the box, --box https://${base.hostname}:8443.`,
  );
};

/** What is typed after a question; nothing if it is interrupted, or the input ends. */
const typed = async (lines: Interface, question: string): Promise<string> => {
  const stop = new AbortController();
  lines.once('SIGINT', () => stop.abort());
  lines.once('close', () => stop.abort());
  const answer = await lines.question(question, { signal: stop.signal }).catch(() => '');
  lines.close();
  return answer;
};

/** A box that does not advertise itself within this time is not found. */
const DISCOVERY_MS = 3_000;

export const createSession = ({ out, stdin, surroundings, globals, limits, signal: ended }: Dependencies) => {
  const noticed = new Set<string>();
  /** The key of a person signs, where there is one; else the secret does. */
  const person = (): PersonKey | null => (globals().withSecret ? null : readKey(surroundings));

  /** @param isOfSite whether only the root of the site is trusted over https, and none of the system */
  const connect = (
    base: URL,
    secret: string | null,
    key: PersonKey | null = null,
    signal = ended,
    isOfSite = false,
  ): Client =>
    createClient({
      isOfSite,
      base,
      secret: key === null ? secret : null,
      person: key,
      root: readRoot(surroundings),
      localToken: readLocalToken(surroundings, base),
      operator: globals().as ?? operatorOf(surroundings),
      onNotice: (text) => {
        const notice = `The box at ${base.origin} ${text}.`;
        if (!noticed.has(notice)) out.say(notice);
        noticed.add(notice);
      },
      now: Date.now,
      limits,
      ...(signal !== undefined && { signal }),
    });

  /** The first box that DNS-SD finds and that, where there is a secret, proves that it knows it. */
  const discover = async (secret: string | null, key: PersonKey | null): Promise<Client> => {
    const { browse } = await import('./discovery.ts');
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), DISCOVERY_MS);
    ended?.addEventListener('abort', () => stop.abort());
    let found: URL | undefined;
    let refusal: unknown;
    /** Where a box answers over https, as anybody may tell: what answers there must be of the site. Null: nowhere. */
    const secureOf = async (url: URL): Promise<URL | null> => {
      const { body } = await connect(url, null, null, stop.signal).ask<Health>({ path: '/healthz' });
      const port = body.https?.port ?? null;
      return port === null ? null : new URL(`https://${url.hostname}:${port}`);
    };
    const attempt = async (url: string): Promise<void> => {
      // A box that answers over http proves nothing to a person.
      const base = key === null ? new URL(url) : await secureOf(new URL(url));
      if (base === null) return;
      await connect(base, secret, key, stop.signal, key !== null).ask<Health>({ path: '/healthz' });
      found ??= base;
      stop.abort();
    };
    if (key !== null && readRoot(surroundings) === null) {
      throw new CliError(
        'unreachable',
        'This computer has no root certificate of the site, so no box is looked for. Name one: --box https://192.168.1.20:8443, or join again.',
      );
    }
    await browse(({ urls }) => {
      for (const url of urls) {
        attempt(url).catch((error: unknown) => {
          if (error instanceof CliError && error.exit === 'notAuthorised') refusal ??= error;
        });
      }
    }, stop.signal);
    clearTimeout(timer);
    if (found !== undefined) return connect(found, secret, key, ended, key !== null);
    if (refusal !== undefined) throw refusal;
    throw new CliError(
      'unreachable',
      key === null
        ? 'No box was found in this network. Name one: --box http://192.168.1.20:8080, or set SIGNAGE_BOX.'
        : 'No box of the site was found over https. Name one: --box https://192.168.1.20:8443, or set SIGNAGE_BOX.',
    );
  };

  /** Tells the operator what is awaited. @param work receives what ends the waiting, at the latest its own end */
  const saying = async <Result>(text: string, work: (onStart: () => void) => Promise<Result>): Promise<Result> => {
    const timer = setTimeout(() => out.say(text), limits.patienceMs);
    const stop = (): void => clearTimeout(timer);
    return work(stop).finally(stop);
  };

  const atHub = async <Result>(
    credentials: string | UserCredentials | null,
    work: (nats: NatsConnection) => Promise<Result>,
  ): Promise<Result> => {
    const { url } = fleetOf(surroundings, globals());
    const { connectHub } = await import('./fleet/connect.ts');
    const { exposesPassword } = await import('../platform/nats.ts');
    if (exposesPassword(url))
      out.warn('Every host on the way to the hub can read the password in its URL: use tls://.');
    return saying(`The hub at ${new URL(url).host} is awaited.`, (onConnect) =>
      connectHub(url, credentials, (nats) => {
        onConnect();
        return work(nats);
      }),
    );
  };

  const canAsk = (): boolean => stdin.isTTY === true && out.stderr.isTTY === true;

  let client: Promise<Client> | undefined;
  const selectedClient = (): Promise<Client> => {
    client ??= (async () => {
      const base = globals().box ?? boxOf(surroundings);
      const key = person();
      const secret = readSecret(surroundings);
      if (base === null) return saying('Looking for a box in this network.', () => discover(secret, key));
      if (key !== null && base.protocol === 'http:') {
        out.warn('Over http nothing proves that the answers are of the box: name its https address.');
      }
      return connect(base, secret, key);
    })();
    return client;
  };
  /**
   * The box on this machine: `--box`, else the one that runs here.
   * @param isSigned false: no signature is sent, only the box's local token
   * @throws CliError `unreachable`
   */
  const localClient = (isSigned = true): Client => {
    const base = globals().box ?? readLocalBox(surroundings);
    if (base === null) {
      throw new CliError(
        'unreachable',
        'No player runs on this machine, or its data directory may not be read: run it on the box, as root or as the user of the player.',
      );
    }
    return isSigned ? connect(base, readSecret(surroundings), person()) : connect(base, null);
  };
  let isDegraded = false;
  return {
    out,
    stdin,
    surroundings,
    /**
     * Notes whether an answer may be incomplete; the run then ends as `degraded`.
     * @param warning says what is missing, and where to look
     */
    degrade: (degraded: boolean, warning = 'Some box of the site did not answer in time. See: signage boxes'): void => {
      if (degraded && !isDegraded) out.warn(warning);
      isDegraded ||= degraded;
    },
    isDegraded: (): boolean => isDegraded,
    /**
     * The selected box: `--box`, else `SIGNAGE_BOX`, else the first that is found.
     * @throws CliError `configuration`, `unreachable`
     */
    client: selectedClient,
    localClient,
    /**
     * The selected box, else the one that runs here, else the first that is found: for what a box does by its own hand.
     * @throws CliError as `client`
     */
    nearClient: async (): Promise<Client> => {
      const isNamed = (globals().box ?? boxOf(surroundings)) !== null;
      if (isNamed || readLocalBox(surroundings) === null) return selectedClient();
      const near = localClient();
      try {
        await near.ask<Health>({ path: '/healthz' });
        return near;
      } catch (error) {
        // A player that lost its power leaves its address behind.
        if (error instanceof CliError && error.exit === 'unreachable') return selectedClient();
        throw error;
      }
    },
    /**
     * The selected box, or the one that runs here, asked without a signature: by who has nothing to sign with yet.
     * @throws CliError `usage`: nothing proves who it is
     */
    guest: async (): Promise<Client> => {
      const base = globals().box ?? boxOf(surroundings) ?? readLocalBox(surroundings);
      if (base === null) {
        throw new CliError('usage', 'Name the box by its secure address: --box https://192.168.1.20:8443.');
      }
      checkSecure(base);
      return connect(base, null);
    },
    checkSecure,
    /**
     * Connects to the hub of the fleet, and calls `work` with it: `--fleet`, else `SIGNAGE_FLEET_URL`.
     * @param given default: the credentials of `--credentials`, else `SIGNAGE_FLEET_CREDENTIALS`
     * @throws CliError `configuration`, `unreachable`, `refused`, `notAuthorised`
     */
    withHub: async <Result>(work: (hub: Hub) => Promise<Result>, given?: UserCredentials): Promise<Result> => {
      const { credentials } = fleetOf(surroundings, globals());
      return atHub(given ?? credentials, async (nats) => {
        const { openHub } = await import('./fleet/hub.ts');
        return work(openHub(nats));
      });
    },
    /**
     * Connects to the system account of the hub, with the keys of a folder.
     * @throws CliError as `withHub`
     */
    withSystem: async <Result>(
      folder: string,
      work: (nats: NatsConnection, keys: HubKeys) => Promise<Result>,
    ): Promise<Result> => {
      const { provideCrypto } = await import('./fleet/connect.ts');
      provideCrypto();
      const { readKeys } = await import('./fleet/key-folder.ts');
      const { systemCredentials } = await import('./fleet/site-credentials.ts');
      const keys = readKeys(folder);
      return atHub(systemCredentials(keys), (nats) => work(nats, keys));
    },
    /** What others name as a box is asked without a signature, from which a weak secret could be guessed. */
    clientOf: (url: string): Client => connect(new URL(url), null),
    /**
     * Refuses to continue if the operator can't be asked.
     * @param yes the operator has answered already
     * @throws CliError `usage`
     */
    checkCanAsk: (yes: boolean | undefined): void => {
      if (yes === true || canAsk()) return;
      throw new CliError('usage', 'There is no terminal to ask on. To go ahead without being asked, add --yes.');
    },
    /** Asks for a text that is not shown while it is typed. */
    askHidden: async (question: string): Promise<string> => {
      out.stderr.write(question);
      // It echoes nothing.
      const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
      const answer = await typed(createInterface({ input: stdin, output: nowhere, terminal: true }), '');
      out.stderr.write('\n');
      return answer;
    },
    /**
     * Asks where there is a terminal. Without one it goes ahead: what must not do so calls `checkCanAsk` before.
     * @throws CliError `refused` if the operator declines
     */
    confirm: async (question: string, yes: boolean | undefined): Promise<void> => {
      if (yes === true || !canAsk()) return;
      const answer = await typed(createInterface({ input: stdin, output: out.stderr }), `${visible(question)} [y/N] `);
      if (!/^(y|yes|j|ja)$/i.test(answer.trim())) throw new CliError('refused', 'Nothing was changed.');
    },
  };
};
export type Session = ReturnType<typeof createSession>;
