/** What somebody did, in a sentence. Pure. */
import type { AuditRecord } from '../../../service/contract/console/site.ts';

type Values = Record<string, string | number>;
type Sentence = string | ((values: never) => string);

export interface Names {
  screen(slug: string): string;
  device(deviceId: string): string;
  box(nodeId: string): string;
  /** Where a takeover is shown: `all`, a slug, or `tag:NAME`. */
  target(target: string): string;
  /** A slide, as it is called in the content; null: the content no longer has it. */
  slide(id: string): string | null;
  /** Screens, in a sentence. */
  list(names: readonly string[]): string;
}

const fieldsOf = (state: unknown): Record<string, unknown> =>
  typeof state === 'object' && state !== null ? (state as Record<string, unknown>) : {};
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The key of the sentence of a command. */
const keyOfCommand = ({ command, blackout }: Record<string, unknown>): string =>
  command === 'blackout' && blackout === false ? 'light' : textOf(command);

export interface DidTexts {
  did: Readonly<Record<string, Sentence>>;
  command: Readonly<Record<string, Sentence>>;
  /** By action on the machine of a box. */
  action: Readonly<Record<string, Sentence>>;
  allDisplays: string;
  oneDisplay(values: { device: string }): string;
  fired(values: { name: string; what: string }): string;
  firedOn(values: { name: string; targets: string }): string;
  unknown(values: { action: string; target: string }): string;
}

const spell = (sentence: Sentence, values: Values): string =>
  typeof sentence === 'string' ? sentence : sentence(values as never);

/** Keys may come from a request: they name no more than texts. */
const textAt = <Text>(texts: Readonly<Record<string, Text>>, key: string): Text | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;

const targetsOf = (targets: unknown, { list, target }: Names): string =>
  list((Array.isArray(targets) ? (targets as unknown[]) : []).map((each) => target(textOf(each))));

/** What a trigger did; null: it names no screens. */
const firedOf = (did: Record<string, unknown>, names: Names, texts: DidTexts): string | null => {
  const name = textOf(did['name']);
  if (name === '') return null;
  const command = fieldsOf(did['command']);
  const { targets } = { ...fieldsOf(did['takeover'] ?? did['playlist']), ...command };
  if (targets === undefined) return null;
  const where = targetsOf(targets, names);
  const sentence = textAt(texts.command, keyOfCommand(command));
  return sentence === undefined
    ? texts.firedOn({ name, targets: where })
    : texts.fired({ name, what: spell(sentence, { screen: where, device: '' }) });
};

export const didOf = ({ action, target, before, after }: AuditRecord, names: Names, texts: DidTexts): string => {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const name = target ?? '';
  const words = (field: string): string => textOf(now[field]) || textOf(old[field]);
  const { display } = now;
  const values: Values = {
    target: name,
    screen: names.screen(action.startsWith('screen.') ? name : words('screenSlug')),
    box: names.box(name),
    device: words('clientName') || names.device(name),
    name: words('name') || name,
    title: words('title') || words('body') || name,
    targets: targetsOf(now['targets'] ?? old['targets'], names),
    slide: names.slide(textOf(now['slide_id'])) ?? '',
    displays:
      typeof display === 'string' || typeof display === 'number'
        ? texts.oneDisplay({ device: names.device(String(display)) })
        : texts.allDisplays,
    value: typeof now['value'] === 'number' ? now['value'] : '',
    to: words('to') || words('filename'),
    count: typeof now['count'] === 'number' ? now['count'] : 1,
  };
  const fired = action === 'trigger.fire' ? firedOf(now, names, texts) : null;
  if (fired !== null) return fired;
  const key = action.replace('.', '_');
  const called: Readonly<Record<string, unknown>> = {
    draft: words('title'),
    screen: values['slide'],
    takeover: words('title') || words('body'),
    trigger: words('name'),
  };
  // What has no name is not called by its id.
  const isNameless = called[action.replace(/\..*/, '')] === '';
  const isUnknown = isNameless && values['targets'] === '';
  const sentence =
    action === 'screen.command'
      ? textAt(texts.command, keyOfCommand(now))
      : ((action === 'box.action' ? textAt(texts.action, textOf(now['action'])) : undefined) ??
        (isUnknown ? textAt(texts.did, `${key}_unknown`) : undefined) ??
        (isNameless ? textAt(texts.did, `${key}_nameless`) : undefined) ??
        textAt(texts.did, key));
  return sentence === undefined ? texts.unknown({ action, target: name }) : spell(sentence, values);
};
