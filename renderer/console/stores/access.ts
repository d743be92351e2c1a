/** Who uses the console, and what they may do: by the roles that the operations name. */
import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Me } from '../../../service/contract/console/people.ts';
import type { OperationName } from '../../../service/contract/operations/index.ts';
import { needs } from '../../../service/contract/operations/rules.ts';
import { includesRole } from '../../../service/contract/roles.ts';
import { isAllInScope } from '../../../service/domain/targets.ts';
import type { Client } from '../api/client.ts';
import type { Session } from '../api/session.ts';
import type { SiteScreen } from '../model/wire.ts';

export type Access = ReturnType<typeof createAccess>;

/** Without a secret, and with it, everybody may do everything. */
const everything: Me = { person: null, role: 'admin', tags: [] };
/** Of a person, until the box has told more. */
const nothing: Me = { person: null, role: 'viewer', tags: [] };

/** Another admin may change the role meanwhile. */
const AGAIN_MS = 15_000;
/** Until the box has told who it is. */
const SOON_MS = 2_000;

export const createAccess = (
  client: Pick<Client, 'json'>,
  { credential }: Pick<Session, 'credential'>,
  page: Document,
) => {
  const me = signal<Me>(everything);
  const isKnown = signal(true);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const load = async (): Promise<void> => {
    const asked = credential.peek();
    const told = await client.json<Me>('/console/api/me');
    if (credential.peek() !== asked) return;
    if (JSON.stringify(told) !== JSON.stringify(me.peek())) me.value = told;
    isKnown.value = true;
  };
  effect(() => {
    clearTimeout(timer);
    const { value } = credential;
    const isPerson = value !== null && typeof value !== 'string';
    me.value = isPerson ? nothing : everything;
    isKnown.value = !isPerson;
    if (!isPerson) return;
    const again = async (): Promise<void> => {
      // What the box does not answer now is asked again.
      if (!page.hidden) await load().catch(() => undefined);
      if (credential.peek() === value) timer = setTimeout(again, isKnown.peek() ? AGAIN_MS : SOON_MS);
    };
    void again();
  });
  return {
    me: me as ReadonlySignal<Me>,
    /** False until the box has told the role of a person. */
    isKnown: isKnown as ReadonlySignal<boolean>,
    /**
     * Whether an operation is offered; what is offered may still be refused, such as the medium of somebody else.
     * @param tags of each screen that is concerned; absent: no screen is, or it is not known yet which
     */
    may: (operation: OperationName, concerned: readonly (readonly string[])[] = []): boolean => {
      const { role, tags } = me.value;
      const { role: needed, scope } = needs[operation];
      if (needed !== null && needed !== 'secret' && !includesRole(role, needed)) return false;
      if (tags.length === 0 || scope === null) return true;
      return scope === 'judged' && concerned.every((each) => each.some((tag) => tags.includes(tag)));
    },
    /** Whether all that the targets are for is within the tags of the person. */
    covers: (targets: readonly string[], screens: readonly SiteScreen[]): boolean => {
      const { tags } = me.value;
      const targetable = screens.map((each) => ({ slug: each.screen.slug, tags: each.tags }));
      return tags.length === 0 || isAllInScope(tags, targets, targetable);
    },
  };
};
