/** Actions on the machine of a box. Any box forwards them to the right one. */
import { requireRole } from '../auth/person-keys.ts';
import { type BoxAction, endingActions } from '../contract/console/action-names.ts';
import {
  type ActionAnswer,
  type BoxOrder,
  boxOrder,
  type PeerReset,
  peerOrder,
  peerReset,
} from '../contract/console/actions.ts';
import { CodedError } from '../contract/errors.ts';
import { readFields } from '../contract/fields.ts';
import { readJson } from '../http/body.ts';
import { operatorOf, personOf } from '../http/operator.ts';
import type { Context, Routes } from '../http/routes.ts';
import type { ServiceContext } from '../module.ts';
import type { Peers } from '../peers/index.ts';
import type { Screens } from '../screens/index.ts';
import { answerOf, findPeer } from './peer-box.ts';

interface Dependencies {
  peers: Pick<Peers, 'find' | 'ask' | 'broadcast'>;
  screens: Pick<Screens, 'identify'>;
  /** The base URL of this box, for other machines where they reach it. */
  address(): string;
  recordReset(reset: PeerReset): Promise<void>;
}

type ActionContext = Pick<ServiceContext, 'ids' | 'machineName' | 'operate' | 'options' | 'monotonicNow'>;

/** Who orders it, as the audit of a reset names them. */
type By = Pick<PeerReset, 'operator' | 'person'>;

const nobody: By = { operator: null };
const byOf = (ctx: Context): By => ({ operator: operatorOf(ctx), person: personOf(ctx) });

/** For how long a repeated order gets the first answer, ms. */
const REPEAT_MS = 10_000;

const isEnding = (action: BoxAction): boolean => (endingActions as readonly BoxAction[]).includes(action);

/** Whether two orders are the same: all actions that end the player count as one. */
const isSameOrder = (one: BoxOrder, other: BoxOrder): boolean =>
  (isEnding(one.action) && isEnding(other.action)) ||
  (one.action === other.action &&
    (one.display ?? null) === (other.display ?? null) &&
    (one.value ?? null) === (other.value ?? null));

export const createActions = (
  { ids: { nodeId }, machineName, operate, options, monotonicNow }: ActionContext,
  { peers, screens, address, recordReset }: Dependencies,
) => {
  let volume: number | undefined;
  interface Begun {
    order: BoxOrder;
    at: number;
    answer: Promise<ActionAnswer>;
  }
  /** Kept apart, so that an `identify` between two reboots does not let the second one through. */
  const last: { ending: Begun | null; other: Begun | null } = { ending: null, other: null };

  const identifyPages = async (display: string | number | null): Promise<ActionAnswer> => {
    const { asked, shown } = await screens.identify({ name: machineName, address: address() }, display);
    const pages = asked === 1 ? '1 page' : `${asked} pages`;
    return {
      result: asked > 0 && shown === asked ? 'done' : 'unknown',
      state: shown,
      message: asked === 0 ? 'No page of this box is open.' : `${shown} of ${pages} show the name of the box.`,
    };
  };

  /** @throws CodedError `update_in_trial`, `invalid_field` */
  const carryOut = async (order: BoxOrder): Promise<ActionAnswer> => {
    if (operate !== undefined) {
      const answer = await operate(order, { name: machineName, address: address() });
      if (!('refusal' in answer)) return answer;
      const { refusal, message, field } = answer;
      throw new CodedError(refusal, message, field === undefined ? {} : { field });
    }
    if (order.action === 'identify') return identifyPages(order.display ?? null);
    return {
      result: 'not_supported',
      state: null,
      message: 'This box runs without displays of its own, so nothing was tried.',
    };
  };

  /** @throws CodedError `invalid_field` */
  const checkName = ({ action, value }: BoxOrder): void => {
    if (action !== 'reset' || value === machineName) return;
    throw new CodedError('invalid_field', 'value is not valid: to reset a box, it must repeat the name of the box.', {
      field: 'value',
    });
  };

  /** @throws CodedError `local_required` */
  const checkLocal = ({ action }: BoxOrder, isLocal: boolean): void => {
    if (options.sharedSecret === null && isEnding(action) && !isLocal) throw new CodedError('local_required');
  };

  /** @throws CodedError as {@link carryOut} does */
  const act = async (order: BoxOrder, by: By): Promise<ActionAnswer> => {
    const slot = isEnding(order.action) ? 'ending' : 'other';
    const before = last[slot];
    if (before !== null && isSameOrder(before.order, order) && monotonicNow() - before.at < REPEAT_MS)
      return before.answer;
    const answer = carryOut(order);
    const begun = { order, at: monotonicNow(), answer };
    last[slot] = begun;
    // What was refused was no order.
    answer.catch(() => {
      if (last[slot] === begun) last[slot] = null;
    });
    const { result, state } = await answer;
    if (order.action === 'volume' && typeof state === 'number') volume = state;
    if (order.action === 'reset' && result === 'done') {
      await peers.broadcast('boxes.reset', { name: machineName, ...by });
    }
    return answer;
  };

  const actHere = async (ctx: Context, order: BoxOrder): Promise<ActionAnswer> => {
    checkName(order);
    checkLocal(order, ctx.state.isLocal);
    ctx.state.log.info({ action: order.action }, 'an action was ordered');
    return act(order, byOf(ctx));
  };

  const actThere = async (box: string, order: BoxOrder, by: By): Promise<ActionAnswer> => {
    const answer = await peers.ask(findPeer(peers, box), 'boxes.act', { ...order, ...by });
    if (!answer.ok && answer.code === 'invalid_field') {
      const field = order.action === 'reset' ? 'value' : 'display';
      const rule = field === 'value' ? 'it must repeat the name of the box' : 'the box has no such display';
      throw new CodedError('invalid_field', `${field} is not valid: ${rule}.`, { field });
    }
    return answerOf(answer, 'update_in_trial', 'local_required');
  };

  const routes: Routes = {
    'POST /console/api/boxes/:nodeId/actions': async (ctx) => {
      const order = readFields(boxOrder, await readJson(ctx));
      const { signer } = ctx.state;
      if (signer !== null && isEnding(order.action)) requireRole(signer.role, 'admin');
      const { nodeId: box } = ctx.params;
      ctx.body = box === nodeId ? await actHere(ctx, order) : await actThere(box, order, byOf(ctx));
    },
    'POST /api/peers/actions': async (ctx) => {
      const { operator = null, person, ...order } = readFields(peerOrder, await readJson(ctx));
      checkName(order);
      // Without a secret the sender is not authenticated.
      checkLocal(order, false);
      ctx.body = await act(order, { operator, person });
    },
    'POST /api/peers/resets': async (ctx) => {
      const { person, ...reset } = readFields(peerReset, await readJson(ctx));
      // Without a secret the sender is not authenticated, so its claim about the person is dropped.
      await recordReset(options.sharedSecret === null ? reset : { ...reset, person });
      ctx.body = {};
    },
  };
  return {
    routes,
    act: (box: string, order: BoxOrder): Promise<ActionAnswer> =>
      box === nodeId ? act(order, nobody) : actThere(box, order, nobody),
    /** The volume of this box, in percent, as its hardware told last; undefined: it has told none since the start. */
    volume: (): number | undefined => volume,
  };
};
