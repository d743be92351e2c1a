/** The frame of the console: navigation, banners, and the page of the address. */
import { useComputed, useSignal } from '@preact/signals';
import { Component, type ComponentChildren, type RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { OperationName } from '../../service/contract/operations/index.ts';
import { isCode, Refusal, Unreachable } from './api/errors.ts';
import type { PersonKey } from './api/person-key.ts';
import { beginHandover } from './api/session.ts';
import { starterOf } from './model/doers.ts';
import { isRunning } from './model/shown.ts';
import type { Takeover } from './model/wire.ts';
import type { Access } from './stores/access.ts';
import { hrefOf } from './stores/router.ts';
import { isActive } from './stores/uploads.ts';
import type { ConsoleTexts } from './texts/box.ts';
import { useConsole } from './ui/context.tsx';
import { Button, Confirm, Empty, Failure, Notices } from './ui/controls.tsx';
import { Icon, type IconName } from './ui/icon.tsx';
import { Lazy } from './ui/lazy.tsx';
import { useDropped, useReceive } from './ui/receive.ts';
import { useDoerName } from './ui/words.ts';
import { Wall } from './wall/wall.tsx';

const signIn = async () => (await import('./sign-in.tsx')).SignIn;
const joinPage = async () => (await import('./join.tsx')).Join;
const handoverPage = async () => (await import('./handover.tsx')).HandoverPage;

const Banner = ({ tone, children }: { tone: 'warning' | 'bad' | 'info'; children: ComponentChildren }) => (
  <div class={`banner ${tone}`}>
    <Icon name={tone === 'info' ? 'info' : 'warning'} />
    <div>{children}</div>
  </div>
);

/** A takeover that is on, over every page. */
const Running = ({ takeover }: { takeover: Takeover }) => {
  const { access, audit, client, site, announcer, texts, format, clock } = useConsole();
  const isEnding = useSignal(false);
  const { id, level, title, body, from, until, targets } = takeover;
  const nameOf = useDoerName();
  const starter = starterOf(audit.records.value, id);
  const end = async (): Promise<void> => {
    isEnding.value = true;
    await client
      .json(`/console/api/takeovers/${id}`, { method: 'DELETE' })
      .then(() => announcer.say(texts.takeover.ended))
      .catch(announcer.report);
    await site.refresh();
    isEnding.value = false;
  };
  return (
    <Banner tone={level === 'emergency' ? 'bad' : level === 'warning' ? 'warning' : 'info'}>
      <div class="row running">
        <p>
          <a href={hrefOf('takeovers')}>{title ?? body ?? texts.takeover.pictureAlone}</a>
          {' · '}
          {texts.takeover.since({ name: nameOf(starter), time: format.when(from, clock.now()) })}
          {', '}
          {until === null
            ? texts.takeover.untilEnded
            : texts.takeover.untilTime({ time: format.when(until, clock.now()) })}
        </p>
        {access.may('DELETE /console/api/takeovers/:id') && access.covers(targets, site.screens()) && (
          <Button
            class="small"
            aria-label={texts.takeover.endOf({ name: title ?? body ?? texts.takeover.pictureAlone })}
            aria-disabled={isEnding.value}
            onClick={() => void end()}
          >
            {texts.takeover.end}
          </Button>
        )}
      </div>
    </Banner>
  );
};

/** That others in the network can read what this page does, and what helps. */
const Insecure = () => {
  const { texts, secureUrl, session } = useConsole();
  const words = texts.insecure;
  // Who came by the secret types it there again; a key makes way for one of the secure page.
  const step = session.person.value === null ? '' : '#device';
  return (
    <Banner tone="warning">
      <details>
        <summary>{words.title}</summary>
        <p>{secureUrl === null ? words.off : words.task}</p>
        {secureUrl !== null && (
          <p>
            <a class="button small" href={secureUrl + step} onClick={step === '' ? undefined : beginHandover}>
              {words.open}
            </a>{' '}
            <a href="/trust">{words.install}</a>
          </p>
        )}
      </details>
    </Banner>
  );
};

/** That the box refuses what a key signs over http, since the clock of this device is wrong. */
const WrongClock = () => {
  const { clock, secureUrl, texts, format } = useConsole();
  return (
    <Banner tone="bad">
      {texts.clockRefused({ difference: format.duration(clock.difference.value) })}{' '}
      {secureUrl !== null && <a href={secureUrl}>{texts.insecure.open}</a>}
    </Banner>
  );
};

/** What concerns the whole console. */
export const Banners = () => {
  const { session, clock, site, texts, format } = useConsole();
  const overview = site.overview.value;
  const difference = clock.difference.value;
  const isAway = useComputed(() => site.error.value !== null && !session.isAsking.value).value;
  const isRefused = site.error.value instanceof Refusal && site.error.value.clockOff !== 0;
  return (
    <div class="banners">
      {!session.isSecured.value && (
        <Banner tone="warning">
          <details>
            <summary>{texts.noSecretTitle}</summary>
            <p>{texts.noSecretTask}</p>
          </details>
        </Banner>
      )}
      {!isSecureContext && <Insecure />}
      <div role="status">
        {(overview?.takeovers ?? [])
          .filter((takeover) => isRunning(takeover, site.now()))
          .map((takeover) => (
            <Running key={takeover.id} takeover={takeover} />
          ))}
        {isAway && isRefused && <WrongClock />}
        {isAway && !isRefused && (
          <Banner tone="bad">
            {site.lastSeen.value === null ? texts.away : texts.awaySince({ time: format.time(site.lastSeen.value) })}
          </Banner>
        )}
        {!isAway && overview?.degraded && <Banner tone="warning">{texts.degraded}</Banner>}
        {overview?.content.status === 'invalid' && <Banner tone="bad">{texts.contentInvalid}</Banner>}
        {difference !== 0 && !isRefused && (
          <Banner tone="warning">
            {(difference > 0 ? texts.clockBehind : texts.clockAhead)({ difference: format.duration(difference) })}
          </Banner>
        )}
      </div>
    </div>
  );
};

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

/** Files may be dropped on any page; other pages than the media page show the number of uploads in progress. */
export const Drop = () => {
  const { uploads, router, texts, announcer } = useConsole();
  const isOver = useSignal(false);
  const receive = useReceive();
  const dropped = useDropped();
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      // The page of a playlist shows where they would be.
      isOver.value = !event.defaultPrevented;
      event.preventDefault();
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) isOver.value = false;
    };
    const drop = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      isOver.value = false;
      // The page of a playlist makes slides of them.
      if (event.defaultPrevented) return;
      event.preventDefault();
      if (event.dataTransfer !== null) void dropped(event.dataTransfer).then(receive).catch(announcer.report);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, []);
  const count = uploads.list.value.filter(isActive).length;
  const failed = uploads.list.value.filter(({ state }) => state === 'failed').length;
  return (
    <>
      {isOver.value && <p class="drop-note">{texts.media.drop}</p>}
      {count + failed > 0 && router.path.value[0] !== 'media' && (
        <div class="upload-note" role="status">
          <a href={hrefOf('media')}>
            {count > 0 ? texts.media.underWay({ count }) : texts.media.notUploaded({ count: failed })}
          </a>
        </div>
      )}
    </>
  );
};

/** Of the message of an error that is shown. */
const MOST_CHARACTERS = 200;

type PageName = keyof ConsoleTexts['nav'];

interface ConsolePage {
  icon: IconName;
  /** What the page is for; absent: everybody has it. */
  purpose?: OperationName;
  /** @param rest the parts of the address after the name of the page */
  show(rest: readonly string[]): ComponentChildren;
}

const screenPage = async () => (await import('./screen/page.tsx')).ScreenPage;
const contentPage = async () => (await import('./content/page.tsx')).ContentPage;
const mediaPage = async () => (await import('./media/page.tsx')).MediaPage;
const boxesPage = async () => (await import('./boxes/page.tsx')).BoxesPage;
const historyPage = async () => (await import('./history/page.tsx')).HistoryPage;
const peoplePage = async () => (await import('./people/page.tsx')).PeoplePage;
const takeoverPage = async () => (await import('./takeovers/page.tsx')).TakeoverPage;

/** In the order of the navigation. */
const pages: Record<PageName, ConsolePage> = {
  screens: {
    icon: 'screens',
    show: ([slug]) => (slug === undefined ? <Wall /> : <Lazy load={screenPage} with={{ slug }} />),
  },
  content: { icon: 'content', show: (rest) => <Lazy load={contentPage} with={{ rest }} /> },
  media: { icon: 'media', show: () => <Lazy load={mediaPage} with={{}} /> },
  takeovers: {
    icon: 'takeover',
    purpose: 'PUT /console/api/takeovers/:id',
    show: () => <Lazy load={takeoverPage} with={{}} />,
  },
  history: { icon: 'clock', show: (rest) => <Lazy load={historyPage} with={{ rest }} /> },
  people: {
    icon: 'people',
    purpose: 'GET /console/api/people',
    show: () => <Lazy load={peoplePage} with={{}} />,
  },
  boxes: { icon: 'boxes', show: () => <Lazy load={boxesPage} with={{}} /> },
};
const pageNames = Object.keys(pages) as PageName[];

const isOffered = (name: PageName, { may }: Pick<Access, 'may'>): boolean => {
  const { purpose } = pages[name];
  return purpose === undefined || may(purpose);
};

const Navigation = ({ current }: { current: PageName }) => {
  const { texts, site, access } = useConsole();
  const { person } = access.me.value;
  return (
    <header class="rail">
      <a class="brand" href={hrefOf('screens')}>
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <clipPath id="brand">
            <rect width="32" height="32" rx="8" />
          </clipPath>
          <g clip-path="url(#brand)">
            <path class="brand-sky" d="M0 0h32v32H0z" />
            <circle class="brand-sun" cx="20" cy="14" r="7" />
            <ellipse class="brand-far" cx="24" cy="36" rx="26" ry="15" />
            <ellipse class="brand-near" cx="6" cy="37" rx="22" ry="13" />
          </g>
        </svg>
        <span>{site.overview.value?.site === 'default' ? 'Signage' : (site.overview.value?.site ?? 'Signage')}</span>
      </a>
      <nav aria-label={texts.navigation}>
        {pageNames
          .filter((name) => isOffered(name, access))
          .map((name) => (
            <a key={name} href={hrefOf(name)} aria-current={name === current ? 'page' : undefined}>
              <Icon name={pages[name].icon} />
              <span>{texts.nav[name]}</span>
            </a>
          ))}
      </nav>
      {person !== null && (
        <p class="who" title={texts.people.roles[access.me.value.role]}>
          {person.name}
        </p>
      )}
      <SignOut />
    </header>
  );
};

/** Forgets the secret at once; asks before it removes the key of a person from box and browser. */
const SignOut = () => {
  const { texts, session, client, access, announcer, hasSignOn } = useConsole();
  const words = texts.signIn;
  const isAsked = useSignal(false);
  const key = session.credential.value;
  if (!session.isSecured.value || key === null) return null;

  const removeKey = async (own: PersonKey): Promise<void> => {
    isAsked.value = false;
    const id = own.person ?? access.me.peek().person?.id;
    const remove = (): Promise<void> =>
      client.json(`/console/api/people/${id}/keys/${own.keyId}`, { method: 'DELETE' });
    session.leave(own);
    try {
      // The box closes the connections of a removed key, and may cut off this answer.
      await remove().catch((error) => (error instanceof Unreachable ? remove() : Promise.reject(error)));
    } catch (error) {
      if (!isCode(error, 'key_unknown')) {
        session.leave(null);
        return announcer.report(error);
      }
    }
    await (await import('./api/person-key.ts')).forgetPersonKey(own.keyId);
    session.signOut();
  };
  const begin = (): void => {
    if (typeof key === 'string') session.signOut();
    else isAsked.value = true;
  };
  return (
    <>
      <button type="button" class="sign-out" onClick={begin}>
        <Icon name="signout" />
        <span>{words.out}</span>
      </button>
      {isAsked.value && typeof key !== 'string' && (
        <Confirm
          title={words.out}
          submit={words.out}
          onClose={() => (isAsked.value = false)}
          onSubmit={() => void removeKey(key)}
        >
          <p>{hasSignOn ? words.outToSignOn : words.outToInvitation}</p>
        </Confirm>
      )}
    </>
  );
};

/** Shows what came instead of a part that could not be rendered; the other parts and the polling go on. */
class Boundary extends Component<{ children: ComponentChildren }, { error: Error | null }> {
  override state = { error: null };

  static override getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    return this.state.error === null ? (
      this.props.children
    ) : (
      <Broken error={this.state.error} onRetry={() => this.setState({ error: null })} />
    );
  }
}

const Broken = ({ error, onRetry }: { error: Error; onRetry(): void }) => {
  const { texts } = useConsole();
  return <Failure reason={texts.errors.page({ reason: error.message.slice(0, MOST_CHARACTERS) })} onRetry={onRetry} />;
};

/** A page that was opened by its address. */
const NotOffered = () => {
  const { texts, access } = useConsole();
  return (
    <Empty>
      <p>
        {access.isKnown.value
          ? texts.people.notOffered({ role: texts.people.roles[access.me.value.role] })
          : texts.loading}
      </p>
    </Empty>
  );
};

/** What had the focus may vanish or be disabled: the page then has it, not the document, where keys and readers begin again. */
const useKeptFocus = (page: RefObject<HTMLElement | null>): void => {
  useEffect(() => {
    let last: Element | null = null;
    const note = (event: FocusEvent): void => {
      last = event.target instanceof Element ? event.target : null;
    };
    const observer = new MutationObserver(() => {
      if (last === null || (last.isConnected && !last.matches(':disabled'))) return;
      const { activeElement } = document;
      // A disabled control has the focus until the next frame.
      if (activeElement === document.body || activeElement === last) page.current?.focus({ preventScroll: true });
    });
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
    addEventListener('focusin', note);
    return () => {
      observer.disconnect();
      removeEventListener('focusin', note);
    };
  }, []);
};

/** Where a page begins: choosing in the week whose it is goes on in the same page. */
const beginOf = ([first, tab, ...rest]: readonly string[]): string =>
  [first, tab, ...(first === 'content' && tab === 'week' ? [] : rest)].join('/');

export const App = () => {
  const { router, texts, session, announcer, access } = useConsole();
  const [first = 'screens', ...rest] = router.path.value;
  const name = pageNames.find((each) => each === first) ?? 'screens';
  const invitation = session.invitation.value;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  const where = beginOf(router.path.value);
  // A draft is begun for somebody, and stays while it is asked who goes on.
  const isKnown = useRef(false);
  isKnown.current ||= session.signer.value !== null;
  useKeptFocus(main);
  // A new page begins at its head, for readers of screens too.
  useEffect(() => {
    if (isFirst.current) isFirst.current = false;
    else {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
  }, [where]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {texts.skip}
      </button>
      <Navigation current={name} />
      <div class="page">
        <Boundary>
          <Banners />
        </Boundary>
        <main id="main" tabIndex={-1} ref={main}>
          <Boundary key={where}>
            {!isOffered(name, access) ? (
              <NotOffered />
            ) : name !== 'content' || isKnown.current ? (
              pages[name].show(rest)
            ) : (
              <p class="soft">{texts.loading}</p>
            )}
          </Boundary>
        </main>
      </div>
      <Drop />
      <Notices isShown={announcer.dialogs.value.length === 0} />
      {invitation === null ? (
        session.isAsking.value && <Lazy key="sign-in" load={signIn} with={{}} />
      ) : 'code' in invitation ? (
        <Lazy key="join" load={joinPage} with={{ invitation }} />
      ) : (
        <Lazy key="handover" load={handoverPage} with={{ handover: invitation }} />
      )}
    </>
  );
};
