/**
 * The authority of a site: a root that people install, and one intermediate, which signs the certificates of all boxes.
 * The key of the root is never stored; that of the intermediate is shared by the boxes, encrypted. Only with a secret.
 */
import { CodedError } from '../contract/errors.ts';
import { remember } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import { singleFlight } from '../domain/single-flight.ts';
import type { ServiceContext, StateReaders } from '../module.ts';
import { readBuiltAt } from '../platform/built-at.ts';
import type { Pair, Permitted } from '../platform/x509.ts';
import type { Shared } from '../shared/index.ts';
import { isPermitted, permittedAtSite } from './names.ts';
import {
  type Authorities,
  type Authority,
  type AuthorityRecord,
  authoritiesOf,
  authorityRecord,
  earlyMs,
  isOver,
  leafLifeMs,
  mergeAuthorities,
  mostReplaced,
  renewalNeed,
  rootLifeMs,
} from './records.ts';
import { authorityRoutes } from './routes.ts';

export type { Authority } from './records.ts';

export type SiteAuthority = Awaited<ReturnType<typeof createAuthority>>;

/** Roots that were replaced, which are never forgotten, and others of boxes that were apart. */
const MOST_ROOTS = 200;
const MAX_NAME = 64;

export const createAuthority = async (
  { options, dirs, log, now, machineName }: ServiceContext,
  { shared }: { shared: Pick<Shared, 'open'> },
) => {
  const set =
    options.sharedSecret === null || options.variant === 'baseline'
      ? null
      : await shared.open<AuthorityRecord>({
          name: 'authority',
          schema: authorityRecord,
          merge: mergeAuthorities,
          most: MOST_ROOTS,
          protection: 'sealed',
          isOver,
          isEmptied: ({ signer }) => signer === null,
        });
  const changes = createEmitter();
  let authorities: Authorities = authoritiesOf(set?.list() ?? []);
  /** A box without HTTPS of its own, or with the certificate of the operator, shows the root that the others answer with. */
  const isShownAtOnce = !options.https || (options.tlsCert !== null && options.tlsKey !== null);
  let shownId: string | null = null;

  const current = (): Authority | null => authorities.current;
  const lasts = ({ root }: Authority): boolean => Date.parse(root.validTo) > now();
  const shown = (): Authority | null => {
    const found = current();
    const isReady = isShownAtOnce || shownId === found?.id;
    return found !== null && isReady && lasts(found) ? found : null;
  };
  const read = new Map<string, Promise<Permitted | null>>();
  /** Of an intermediate. @param cert PEM */
  const permittedOf = async (cert: string): Promise<Permitted | null> => {
    const { permittedBy } = await import('../platform/x509.ts');
    const found = read.get(cert) ?? permittedBy(cert);
    remember(read, cert, found, MOST_ROOTS);
    return found;
  };

  /** Deletes the intermediates of replaced roots, and notes which roots lost. */
  const settle = async (): Promise<void> => {
    const { current: winner, others, replaced } = authorities;
    const records = set?.list() ?? [];
    const retired = records.filter(({ id, signer }) => signer !== null && replaced.has(id));
    const lost = records.filter(
      ({ id, lost_at }) => lost_at === null && winner !== null && others.some((each) => each.id === id),
    );
    if (retired.length + lost.length === 0) return;
    await set?.put(
      ...retired.map((record) => ({ ...record, signer: null })),
      ...lost.map((record) => ({ ...record, lost_at: new Date(now()).toISOString() })),
    );
    for (const { id } of retired) log.warn({ root: id }, 'the root certificate of the site was replaced');
    for (const { id } of lost) log.warn({ root: id }, 'the site had two root certificates, and the older one stays');
  };
  const follow = (): void => {
    authorities = authoritiesOf(set?.list() ?? []);
    changes.emit();
    settle().catch((error: unknown) => log.error({ err: error }, 'the root certificates of the site were not stored'));
  };
  set?.onChange(follow);

  const clockFault = (): string | null =>
    now() > readBuiltAt(dirs.renderer)
      ? null
      : 'the clock of this box shows a time before this version of the player was built';

  /** A new root and its intermediate. The key of the root ends with this function. */
  const create = async (replaces: readonly string[]): Promise<AuthorityRecord> => {
    const { makeCertificate, chainOf } = await import('../platform/x509.ts');
    const permitted = permittedAtSite(options);
    const notBefore = now() - earlyMs;
    const life = { notBefore, notAfter: notBefore + rootLifeMs };
    const day = new Date(now()).toISOString().slice(0, 10);
    const site = options.site.slice(0, MAX_NAME - 32);
    const root = await makeCertificate({
      ...life,
      commonName: `Signage ${site} root ${day}`,
      authority: { permitted },
    });
    const signer = await makeCertificate({
      ...life,
      commonName: `Signage ${site} boxes ${day}`,
      issuer: root,
      authority: { permitted, pathLength: 0 },
    });
    const id = chainOf(root.cert)?.[0]?.fingerprint256.replaceAll(':', '').toLowerCase() ?? '';
    return { id, root: root.cert, signer, replaces: [...replaces], lost_at: null };
  };

  const put = async (...records: readonly AuthorityRecord[]): Promise<void> => {
    await set?.put(...records);
    log.info({ root: current()?.id }, 'the site has a new root certificate');
  };

  /** Two at once would each replace what the other makes. */
  const renewOnce = singleFlight(async (): Promise<Authority> => {
    const found = current();
    if (set === null || found === null) throw new CodedError('trust_unavailable');
    const fault = clockFault();
    if (fault !== null) throw new CodedError('clock_unset', `No certificate is made, because ${fault}.`);
    // Those that were replaced before stand in the records that replaced them.
    const replaces = set.list().flatMap(({ id }) => (authorities.replaced.has(id) ? [] : id));
    if (replaces.length > mostReplaced || set.list().length >= MOST_ROOTS) throw new CodedError('too_many_roots');
    const next = await create(replaces);
    const retired = set.list().map((record) => ({ ...record, signer: null }));
    await put(next, ...retired);
    return current() ?? found;
  });

  return {
    /** What signs; null: there is none. */
    current,
    /** The root that people are to install; null: there is none, or this box does not answer with it yet. */
    shown,
    /** Authorities whose certificates may still be in use, the current one first; expired ones are left out. */
    known: (): readonly Authority[] =>
      (authorities.current === null ? [] : [authorities.current, ...authorities.others]).filter(lasts),
    /** Has people install a root from now on: this box answers with what it signs. */
    show: (id: string): void => {
      shownId = id;
    },
    /** Makes the first root of the site. @throws the system's error */
    make: async (): Promise<void> => {
      if (current() === null) await put(await create([]));
    },
    /** Why the clock of this box cannot date a root; null: it can. */
    clockFault,
    permits: async (
      { signer: { cert } }: Authority,
      names: readonly string[],
    ): Promise<{ kept: string[]; leftOut: string[] }> => {
      const permitted = await permittedOf(cert);
      const kept = names.filter((name) => permitted === null || isPermitted(name, permitted));
      return { kept, leftOut: names.filter((name) => !kept.includes(name)) };
    },
    /** Signs a certificate of this box for names that are permitted; the chain includes the intermediate. */
    sign: async ({ signer, root }: Authority, names: readonly string[]): Promise<Pair> => {
      const { makeCertificate } = await import('../platform/x509.ts');
      const notBefore = Math.max(now() - earlyMs, Date.parse(root.validFrom));
      const leaf = await makeCertificate({
        commonName: machineName.slice(0, MAX_NAME),
        notBefore,
        notAfter: Math.min(notBefore + leafLifeMs, Date.parse(root.validTo)),
        issuer: signer,
        names,
      });
      return { cert: leaf.cert + signer.cert, key: leaf.key };
    },
    /** Calls `listener` after the authorities changed, here or by another box. */
    onChange: changes.on,
    routes: authorityRoutes({
      shown,
      renew: () => renewOnce('site'),
      replaced: () => authorities.replaced.size,
      site: options.site,
    }),
    states: { authority: () => current() && { root: current()?.root.fingerprint256 } } satisfies StateReaders,
    health: () => {
      const found = current();
      const need = found === null ? null : renewalNeed(found, now());
      return need === null ? {} : { issues: { authority: [need] } };
    },
    start: () => settle().catch((error: unknown) => log.error({ err: error }, 'root certificates were not stored')),
  };
};
