/** The maintenance page: a PIN pad, then the state and the settings of the box. */
import './maintenance.css';
import { languages, type Texts } from 'virtual:texts/kiosk';
import type {
  MaintenanceAnswer,
  MaintenanceCall,
  MaintenanceOrder,
  MaintenanceRefusal,
  MaintenanceShown,
  MaintenanceView,
} from '../../service/contract/kiosk.ts';
import { qrPicture } from '../player/slides/qr-code.ts';
import { element } from '../shared/elements.ts';
import { textsFor } from '../texts/messages.ts';
import { hoursIn } from './hours.ts';
import { createKeypad } from './keypad.ts';

const { maintenance } = globalThis as unknown as {
  maintenance: { call(call: MaintenanceCall): Promise<MaintenanceAnswer | null> };
};

/** The page closes itself after this time without input; while somebody signs in, in a page beside it, after a longer one. */
const IDLE_MS = 3 * 60_000;
const SIGN_IN_MS = 15 * 60_000;
const REFRESH_MS = 5_000;
/** A second press within this time confirms. */
const CONFIRM_MS = 4_000;
/** Nobody reads the question in less: that is a key that is held, or a finger that bounces. */
const READ_MS = 700;

const { tag, maintenance: texts } = textsFor<Texts>(languages, navigator.languages);
document.documentElement.lang = tag;

const leave = (): void => void maintenance.call({ close: true });

const make = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text = '',
  className = '',
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
};

const facts = (terms: [term: string, ...descriptions: string[]][]): HTMLElement[] =>
  terms.flatMap(([term, ...descriptions]) => [
    make('dt', term),
    ...descriptions.map((description) => make('dd', description)),
  ]);

/** A choice as a row of buttons, which are radio buttons to the keyboard. */
const choice = <Value extends string | number>(
  name: string,
  legend: string,
  options: readonly (readonly [Value, string])[],
  chosen: Value | null,
  onChoose: (value: Value) => void,
): HTMLFieldSetElement => {
  const field = make('fieldset', '', 'choice');
  field.append(make('legend', legend));
  for (const [value, text] of options) {
    const label = make('label');
    const input = make('input');
    input.type = 'radio';
    input.name = name;
    // Restores the focus after the page is rendered again.
    input.id = `${name}-${value}`;
    input.checked = value === chosen;
    input.addEventListener('change', () => onChoose(value));
    label.append(input, make('span', text));
    field.append(label);
  }
  return field;
};

const displayCard = (display: MaintenanceView['assignments'][number], { screens }: MaintenanceView): HTMLElement => {
  const card = make('article', '', 'display');
  const shown = screens.find(({ slug }) => slug === display.screen)?.name ?? display.screen ?? texts.nothing;
  const isOpen = !display.isFixed && screens.length > 0;
  const list = make('dl');
  list.append(
    ...facts([
      [texts.shows, shown, ...(display.isFixed ? [texts.fixed] : [])],
      [texts.hours, hoursIn(display.hours, tag, texts)],
      [texts.device, display.deviceId],
    ]),
  );
  const degrees = ([0, 90, 180, 270] as const).map((value) => [value, `${value}°`] as const);
  card.append(
    make('h3', display.name),
    list,
    // A drop-down list would be drawn by the system, which does not rotate it with the page.
    ...(isOpen
      ? [
          choice(
            `screen-${display.id}`,
            texts.choose,
            screens.map(({ slug, name }) => [slug, name] as const),
            display.screen,
            (screen) => void order({ do: 'bind', display: display.id, screen }),
          ),
        ]
      : []),
    choice(`rotation-${display.id}`, texts.rotation, degrees, display.rotation, (rotation) => {
      void order({ do: 'rotate', display: display.id, rotation });
    }),
  );
  return card;
};

const sessionCard = (one: MaintenanceView['sessions'][number]): HTMLElement => {
  const { session, address, signedInAt, isOut, picture } = one;
  const card = make('article', '', 'display');
  const state = isOut ? texts.signedOut : signedInAt === null ? texts.neverSignedIn : since(signedInAt);
  const list = make('dl');
  list.append(
    ...facts([
      [texts.page, new URL(address).host],
      [texts.state, state],
    ]),
  );
  const enter = make('button', texts.signIn);
  enter.addEventListener('click', () => void order({ do: 'sign in', session, address }));
  const leaving = make('button', texts.signOut, 'quiet');
  leaving.addEventListener('click', () => void order({ do: 'sign out', session, address }));
  const orders = make('div', '', 'orders');
  orders.append(enter, ...(signedInAt === null ? [] : [leaving]));
  for (const [at, button] of [enter, leaving].entries()) {
    button.type = 'button';
    button.id = `session-${session}-${new URL(address).host}-${at}`;
  }
  card.append(make('h3', session), list);
  if (picture !== null) card.append(Object.assign(make('img', '', 'picture'), { src: picture, alt: texts.signedOut }));
  card.append(orders);
  return card;
};

/** The state of updates in sentences. */
const updatesIn = ({ updates: { ready, onTrial, failed, hours } }: MaintenanceView): string[] => {
  const [from = '', until = ''] = hours?.split('-') ?? [];
  const sentences = [
    ...(ready === null ? [] : [texts.updateReady({ version: ready, from, until })]),
    ...(onTrial ? [texts.updateOnTrial] : []),
    ...failed.slice(-1).map((failure) => texts.updateFailed({ version: failure })),
  ];
  return sentences.length > 0 ? sentences : [texts.noUpdate];
};

/** That of the site; that of the machine, which may be UTC, until the service runs. */
let zone: Pick<Intl.DateTimeFormatOptions, 'timeZone'> = {};
/** 24 hours, as the times of day in the settings. */
const spell = (at: number, styles: Pick<Intl.DateTimeFormatOptions, 'dateStyle' | 'timeStyle'>): string =>
  new Intl.DateTimeFormat(tag, { ...styles, hourCycle: 'h23', ...zone }).format(at);
const timeOf = (at: number): string => spell(at, { timeStyle: 'medium' });
const since = (at: number): string =>
  texts.signedInAt({ time: spell(at, { dateStyle: 'medium', timeStyle: 'short' }) });

/** An error is shown as its message, without its stack, which would fill the page. */
const detail = ([key, value]: [string, unknown]): string =>
  typeof value === 'object' && value !== null && 'message' in value
    ? String(value.message)
    : `${key} ${JSON.stringify(value)}`;

const logLine = (line: string): HTMLLIElement => {
  const item = make('li');
  try {
    const { time, level, msg, ...rest } = JSON.parse(line) as { time: string; level: number; msg: string };
    const details = Object.entries(rest).map(detail);
    item.dataset['level'] = level >= 50 ? 'error' : level >= 40 ? 'warning' : 'info';
    item.append(make('time', timeOf(Date.parse(time))), make('b', msg), make('span', details.join(', ').slice(0, 300)));
  } catch {
    item.textContent = line;
  }
  return item;
};

let shown = '';
const show = (view: MaintenanceView, error: string | null): void => {
  const wasSigningIn = !element('bar').hidden;
  element('lock').hidden = true;
  element('home').hidden = view.signingIn !== null;
  element('bar').hidden = view.signingIn === null;
  if (wasSigningIn !== (view.signingIn !== null)) awaitIdle();
  element('bar-note').textContent =
    view.signingIn === null ? '' : texts.signingIn({ host: new URL(view.signingIn.address).host });
  if (view.signingIn === null) element<HTMLButtonElement>('signed-in').disabled = false;
  element('error').textContent = error === null ? view.error : (texts.refused[error as MaintenanceRefusal] ?? error);
  element('error').hidden = error === null && view.error === null;
  const { log, ...rest } = view;
  const list = element('log');
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 8;
  list.replaceChildren(...log.map(logLine));
  if (isAtEnd) list.scrollTop = list.scrollHeight;
  // Controls in use are only replaced if something changed.
  if (JSON.stringify(rest) === shown) return;
  shown = JSON.stringify(rest);
  const focused = document.activeElement?.id;
  element('facts').replaceChildren(
    ...facts([
      [texts.address, view.address ?? texts.noNetwork],
      ...(view.root === null ? [] : [[texts.root, view.root] as [string, string]]),
      [texts.version, view.version],
      [texts.updates, ...updatesIn(view)],
    ]),
  );
  showHotspot(view);
  element('machine').hidden = !view.machine;
  element('quit').hidden = !view.canQuit;
  element('sessions').hidden = view.sessions.length === 0;
  element('session-cards').replaceChildren(...view.sessions.map(sessionCard));
  element('display-cards').replaceChildren(...view.assignments.map((display) => displayCard(display, view)));
  const which: (readonly ['all' | 'primary' | 'chosen', string])[] = [
    ['all', texts.all],
    ['primary', texts.primary],
  ];
  if (view.displays === 'chosen') which.push(['chosen', texts.chosen]);
  element('which').replaceWith(
    Object.assign(
      choice('which', texts.which, which, view.displays, (displays) => {
        if (displays !== 'chosen') void order({ do: 'displays', displays });
      }),
      { id: 'which' },
    ),
  );
  if (focused) document.getElementById(focused)?.focus();
};

/** The Wi-Fi of the box itself. */
const showHotspot = ({ hotspot: { phase, shown: open } }: MaintenanceView): void => {
  element('hotspot').hidden = phase === null;
  const notes = { opening: texts.hotspotOpening, joining: texts.hotspotJoining, open: '', closed: texts.hotspotNote };
  element('hotspot-note').textContent = open === null ? notes[phase ?? 'closed'] : texts.hotspotHow(open);
  element('hotspot-code').hidden = open === null;
  if (open !== null) element<HTMLImageElement>('hotspot-code').src = qrPicture(open.code);
  element('hotspot-order').hidden = phase === 'joining';
  element('hotspot-order').textContent = phase === 'closed' ? texts.hotspotOpen : texts.hotspotClose;
  element('hotspot-order').dataset['opens'] = String(phase === 'closed');
};

const showOnce = (once: MaintenanceShown): void => {
  const done = make('button', once.what === 'invitation' ? texts.read : texts.restart);
  done.type = 'button';
  done.addEventListener('click', () => {
    element('shown').hidden = true;
    if (once.what !== 'invitation') void order({ do: 'restart' });
  });
  const parts = make('div', '', 'once');
  if (once.what === 'secret') {
    const boxes = make('ul');
    boxes.append(...once.boxes.map((url) => make('li', url)));
    parts.append(
      make('h2', texts.secretTitle),
      make('code', once.secret, 'large'),
      make('p', texts.secretOnce),
      make('p', texts.stick),
      make('code', once.config),
      ...(once.boxes.length === 0 ? [] : [make('p', texts.otherBoxes), boxes]),
    );
  } else if (once.what === 'entered') parts.append(make('h2', texts.entered), make('p', texts.enteredNote));
  else {
    const code = make('img');
    code.src = qrPicture(once.url);
    code.alt = '';
    const until = timeOf(Date.parse(once.expiresAt));
    parts.append(
      make('h2', texts.invitation),
      code,
      make('p', texts.invitationNote({ until })),
      make('code', once.url),
    );
  }
  parts.append(done);
  element('shown').replaceChildren(parts);
  element('shown').hidden = false;
  element('shown').scrollIntoView({ block: 'start' });
  done.focus();
};

/** The secret of the site, and its first admin. */
const showSite = ({ site }: MaintenanceView, wrong: { waitMs: number } | null): void => {
  element('site').hidden = site === null;
  if (site === null) return;
  const needsSecret = !site.isProtected || !site.pin;
  element('site-form').hidden = !needsSecret;
  element('site-enter').hidden = site.isProtected;
  element('protect').hidden = site.isProtected;
  element('admin').hidden = !site.isProtected;
  const seconds = Math.ceil((wrong?.waitMs ?? 0) / 1_000);
  const note = site.isProtected ? (site.pin ? texts.adminNote : texts.adminSecretNote) : texts.protectNote;
  const wait = seconds > 0 ? texts.wait({ seconds }) : '';
  element('site-note').textContent = wrong === null ? note : `${texts.wrongSecret} ${wait}`.trim();
  element('site-note').classList.toggle('wrong', wrong !== null);
};

const keypad = createKeypad(texts, {
  onEnter: (pin) => void ask({ pin }),
  onSecret: (secret) => void ask({ secret }),
  onLeave: leave,
});

let lastError: Parameters<typeof show>[1] = null;

const ask = async (call: MaintenanceCall): Promise<void> => {
  const answer = await maintenance.call(call);
  if (answer === null) leave();
  else if (answer.state === 'locked') keypad.ask(answer);
  else {
    // A periodic refresh keeps the last error.
    if (Object.keys(call).length > 0) lastError = answer.error;
    zone = answer.view.timeZone === null ? {} : { timeZone: answer.view.timeZone };
    show(answer.view, lastError);
    if (call.order !== undefined || element('site').hidden) showSite(answer.view, answer.wrongSecret);
    if (answer.shown !== null) showOnce(answer.shown);
  }
};
const order = (wanted: MaintenanceOrder): Promise<void> => ask({ order: wanted });

/** A button that must be pressed twice. */
const confirmTwice = (id: string, text: string, act: () => void): void => {
  const button = element<HTMLButtonElement>(id);
  button.textContent = text;
  button.addEventListener('click', () => {
    if (button.dataset['asked'] !== undefined) return act();
    button.dataset['asked'] = '';
    button.textContent = texts.sure;
    button.disabled = true;
    setTimeout(() => {
      button.disabled = false;
      button.focus();
    }, READ_MS);
    setTimeout(() => {
      delete button.dataset['asked'];
      button.textContent = text;
    }, CONFIRM_MS);
  });
};

const siteSecret = element<HTMLInputElement>('site-secret');
siteSecret.setAttribute('aria-label', texts.secret);
siteSecret.placeholder = texts.secret;
const takeSecret = (): { secret?: string } => {
  const { value } = siteSecret;
  siteSecret.value = '';
  return value === '' ? {} : { secret: value };
};
element('site-form').addEventListener('submit', (event) => {
  event.preventDefault();
  if (!element('admin').hidden) void order({ do: 'admin', ...takeSecret() });
  else if (siteSecret.value !== '') void order({ do: 'protect', ...takeSecret() });
});
element('admin').addEventListener('click', () => void order({ do: 'admin', ...takeSecret() }));
for (const [id, text] of [
  ['title', texts.title],
  ['site-title', texts.site],
  ['site-enter', texts.enterSecret],
  ['admin', texts.admin],
  ['displays-title', texts.displays],
  ['sessions-title', texts.sessions],
  ['hotspot-title', texts.hotspot],
  ['machine-title', texts.machine],
  ['machine-note', texts.machineNote],
  ['signed-in', texts.signedIn],
  ['log-title', texts.log],
  ['close', texts.close],
] as const) {
  element(id).textContent = text;
}
element('close').addEventListener('click', leave);
element('signed-in').addEventListener('click', () => {
  element<HTMLButtonElement>('signed-in').disabled = true;
  void order({ do: 'signed in' });
});
element('hotspot-order').addEventListener('click', ({ currentTarget }) => {
  const { opens } = (currentTarget as HTMLElement).dataset;
  void order({ do: 'hotspot', open: opens === 'true' });
});
confirmTwice('protect', texts.protect, () => void order({ do: 'protect' }));
for (const action of ['reboot', 'power-off', 'reset'] as const) {
  confirmTwice(action, texts.machineOrders[action], () => void order({ do: 'machine', action }));
}
confirmTwice('restart', texts.restart, () => void order({ do: 'restart' }));
confirmTwice('quit', texts.quit, () => void order({ do: 'quit' }));
addEventListener('keydown', ({ key }) => {
  if (key === 'Escape') leave();
});

const idleMs = (): number => (element('bar').hidden ? IDLE_MS : SIGN_IN_MS);
let idle = setTimeout(leave, IDLE_MS);
const awaitIdle = (): void => {
  clearTimeout(idle);
  idle = setTimeout(leave, idleMs());
};
for (const event of ['pointerdown', 'pointermove', 'keydown', 'wheel']) addEventListener(event, awaitIdle);
setInterval(() => {
  if (!element('home').hidden || !element('bar').hidden) void ask({});
}, REFRESH_MS);
void ask({});
