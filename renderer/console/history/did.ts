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
  /** By action. */
  did: Readonly<Record<string, Sentence>>;
  /** By command. */
  command: Readonly<Record<string, Sentence>>;
  unknown(values: { action: string; target: string }): string;
}

const spell = (sentence: Sentence, values: Values): string =>
  typeof sentence === 'string' ? sentence : sentence(values as never);

export const didOf = ({ action, target, before, after }: AuditRecord, names: Names, texts: DidTexts): string => {
  const [old, now] = [fieldsOf(before), fieldsOf(after)];
  const name = target ?? '';
  const targets = Array.isArray(now['targets'] ?? old['targets'])
    ? ((now['targets'] ?? old['targets']) as unknown[])
    : [];
  const words = (field: string): string => textOf(now[field]) || textOf(old[field]);
  const values: Values = {
    target: name,
    screen: names.screen(action.startsWith('screen.') ? name : words('screenSlug')),
    box: names.box(name),
    device: words('clientName') || names.device(name),
    name: words('name') || name,
    title: words('title') || words('body') || name,
    targets: names.list(targets.map((each) => names.target(textOf(each)))),
    slide: textOf(now['slide_id']),
    act: textOf(now['action']),
    to: words('to') || words('filename'),
    count: typeof now['count'] === 'number' ? now['count'] : 1,
  };
  const sentence = action === 'screen.command' ? texts.command[keyOfCommand(now)] : texts.did[action.replace('.', '_')];
  return sentence === undefined ? texts.unknown({ action, target: name }) : spell(sentence, values);
};
