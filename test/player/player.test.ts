/** The player's decisions, on a stage that only notes what it is told, and a clock that never reads the same twice. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Slide } from '../../service/contract/playlist.ts';
import type { ClockState } from '../../service/contract/socket.ts';
import { openScene, payloadOf, type Scene, slide, wait } from './scene.ts';

const until = (seconds: number): Partial<Slide> => ({
  schedule_mode: 'between',
  schedule_end_datetime: new Date(Date.now() + seconds * 1000).toISOString(),
});

let clockState: ClockState = 'ok';
const open = (...slides: Slide[]): Scene => openScene(slides, { state: () => clockState });

afterEach(() => {
  clockState = 'ok';
});
beforeEach(() => vi.useFakeTimers({ now: Date.parse('2026-07-01T12:00:00Z') }));
afterEach(() => vi.useRealTimers());

describe('the player', () => {
  it('plays its slides in a loop, each for its duration, at any rate of clock readings', async () => {
    const { shown } = open(slide('a'), slide('b'), slide('c'));
    await wait(300.5);
    expect(shown.length).toBeGreaterThanOrEqual(298);
    expect(shown.length).toBeLessThanOrEqual(302);
    expect(shown.slice(0, 6)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('makes the next slide ready as soon as one has come on', async () => {
    const { placed } = open(slide('a', { duration_seconds: 6 }), slide('b', { duration_seconds: 6 }));
    await wait(1);
    expect([...placed]).toEqual(['a', 'b']);
  });

  it('fetches ahead what comes next before what was on', async () => {
    const pictures = ['a', 'b', 'c', 'd'].map((id) => slide(id, { kind: 'image', media_url: `/media/${id}.jpg` }));
    const { player, asked, shown } = open(...pictures);
    await wait(2.5);
    expect(shown.at(-1)).toBe('c');
    asked.length = 0;
    player.load(payloadOf(...pictures, slide('e')));
    await wait(0.1);
    expect(asked).toEqual(['c', 'd', 'a', 'b'].map((id) => `/media/${id}.jpg`));
  });

  it('is on time even where slides take a while to load', async () => {
    const { shown } = open(slide('a', { duration_seconds: 10 }), slide('slow', { duration_seconds: 10 }));
    await wait(10.5);
    expect(shown).toEqual(['a', 'slow']);
  });

  it('skips a broken slide, reports it, and retries it later', async () => {
    const { shown, faults } = open(slide('a'), slide('broken'), slide('c'));
    await wait(60);
    expect(new Set(shown)).toEqual(new Set(['a', 'c']));
    expect(faults.length).toBeGreaterThan(1);
    expect(faults.length).toBeLessThan(5);
  });

  it('does not start a single slide again', async () => {
    const { shown } = open(slide('a'));
    await wait(30);
    expect(shown).toEqual(['a']);
  });

  it('plays a single slide again after the time of all pages that it has meanwhile', async () => {
    const { halts, lengths } = open(slide('a', { duration_seconds: null }));
    lengths.set('a', 10_000);
    await wait(5);
    lengths.set('a', 30_000);
    await wait(34);
    expect(halts).toEqual(['restart a']);
    await wait(2);
    expect(halts).toEqual(['restart a', 'restart a']);
  });

  it('shows the medium of a single slide as it is at the end of its time, and what is on until then', async () => {
    const { shown, tags } = open(slide('a', { duration_seconds: 10, media_url: '/media/a.jpg' }));
    tags.set('/media/a.jpg', '"original"');
    await wait(5);
    tags.set('/media/a.jpg', '"rendition"');
    await wait(4);
    expect(shown).toEqual(['a']);
    await wait(30);
    expect(shown).toEqual(['a', 'a']);
  });

  it('shows the idle screen where nothing can be shown, and the slide once it can', async () => {
    const later = { schedule_mode: 'between', schedule_start_datetime: '2026-07-01T12:00:40Z' } as const;
    const { shown } = open(slide('later', later), slide('broken'));
    await wait(39);
    expect(shown).toEqual(['idle']);
    await wait(2);
    expect(shown).toEqual(['idle', 'later']);
  });

  it('does not alternate between hanging slides at the start, and shows the idle screen meanwhile', async () => {
    const { shown } = open(slide('hanging 1'), slide('hanging 2'), slide('c'));
    await wait(6);
    expect(shown).toEqual(['idle']);
    await wait(36);
    expect(shown).toEqual(['idle', 'c']);
  });

  it('counts a slide that goes on failing until it is replaced once', async () => {
    const { fails, faults, shown } = open(slide('a', { duration_seconds: 100 }), slide('slow'));
    await wait(1);
    for (let second = 0; second < 4; second++) {
      fails.get('a')?.('there is nothing left');
      await wait(1);
    }
    expect(faults).toEqual(['a']);
    await wait(20);
    expect(shown.at(-1)).toBe('a');
  });

  it('removes a slide when its schedule ends, even in the middle of its slot or while halted', async () => {
    const { shown, player } = open(
      slide('a', { duration_seconds: 100, ...until(20) }),
      slide('b', { duration_seconds: 100 }),
    );
    await wait(1);
    void player.halt(true, false);
    await wait(18);
    expect(shown).toEqual(['a']);
    await wait(1.2);
    expect(shown).toEqual(['a', 'b']);
  });

  it('does not wait for a slow successor then', async () => {
    const { shown, player } = open(slide('a', { duration_seconds: 100 }), slide('slow'));
    await wait(1);
    player.load(
      payloadOf(slide('a', { duration_seconds: 100, ...until(2) }), slide('slow', { duration_seconds: 100 })),
    );
    await wait(2.5);
    expect(shown.at(-1)).not.toBe('a');
  });
});

describe('a step', () => {
  it('onto a broken slide goes on to the one beyond it', async () => {
    const { shown, player } = open(
      slide('a', { duration_seconds: 100 }),
      slide('broken'),
      slide('c', { duration_seconds: 100 }),
    );
    await wait(1);
    player.step(1);
    await wait(1);
    expect(shown).toEqual(['a', 'c']);
  });

  it('reaches a slide whose schedule ends soon', async () => {
    const { shown, player } = open(slide('a', { duration_seconds: 100 }), slide('b', until(10)));
    await wait(1);
    player.step(1);
    await wait(0.5);
    expect(shown).toEqual(['a', 'b']);
  });

  it('there and back while a slide loads shows what was asked for last', async () => {
    const { shown, player } = open(
      slide('a', { duration_seconds: 100 }),
      slide('slow'),
      slide('c', { duration_seconds: 100 }),
    );
    await wait(1);
    player.step(1);
    player.step(1);
    await wait(6);
    expect(shown).toEqual(['a', 'c']);
  });

  it('restarts the time of a single slide', async () => {
    const { shown, player } = open(slide('a'));
    await wait(0.5);
    player.step(1);
    await wait(5);
    expect(shown).toEqual(['a']);
  });
});

describe('a slide that is asked for', () => {
  const long = { duration_seconds: 100 };

  it('is gone to, over others, also while time is halted, and starts again if it is shown', async () => {
    const { shown, halts, player } = open(slide('a', long), slide('b', long), slide('c', long));
    await wait(1);
    player.goTo('c');
    await wait(0.5);
    void player.halt(true, false);
    player.goTo('a');
    await wait(0.5);
    expect(shown).toEqual(['a', 'c', 'a']);
    halts.length = 0;
    player.goTo('a');
    expect(halts).toEqual(['restart a', 'pause a']);
  });

  it('stays away if it is unknown, or off its schedule', async () => {
    const past = { schedule_mode: 'between', schedule_end_datetime: '2020-01-01T00:00:00Z' } as const;
    const { shown, player } = open(slide('a', long), slide('past', past));
    await wait(1);
    player.goTo('nowhere');
    player.goTo('past');
    await wait(5);
    expect(shown).toEqual(['a']);
  });
});

describe('a halt', () => {
  it('continues when a single slide restarts', async () => {
    const { halts, player } = open(slide('a'));
    await wait(0.5);
    void player.halt(true, false);
    player.step(1);
    expect(halts).toEqual(['pause a', 'restart a', 'pause a']);
  });

  it('stops the time of the slide, and gives back what was left of it', async () => {
    const { shown, halts, player } = open(slide('a', { duration_seconds: 10 }), slide('b', { duration_seconds: 10 }));
    await wait(4);
    void player.halt(true, false);
    await wait(60);
    expect(shown).toEqual(['a']);
    void player.halt(false, false);
    await wait(5.5);
    expect(shown).toEqual(['a']);
    await wait(1);
    expect(shown).toEqual(['a', 'b']);
    expect(halts).toEqual(['pause a', 'resume a']);
  });
});

describe('while the time is unknown', () => {
  const onMondays: Partial<Slide> = { schedule_mode: 'weekly', schedule_days_json: '[1,2,3,4,5,6,7]' };

  it('only slides without a schedule are played, and the others once the clock is set', async () => {
    clockState = 'unset';
    const { shown, player } = open(slide('a'), slide('b', onMondays), slide('c'), slide('d', until(3600)));
    await wait(4.5);
    expect(new Set(shown)).toEqual(new Set(['a', 'c']));
    clockState = 'ok';
    player.onClockSet();
    await wait(4.5);
    expect(new Set(shown)).toEqual(new Set(['a', 'b', 'c', 'd']));
  });

  it('a scheduled slide is replaced when the clock becomes unset', async () => {
    const { shown, player } = open(slide('b', { ...onMondays, duration_seconds: 100 }));
    await wait(1);
    clockState = 'unset';
    player.onClockSet();
    await wait(1);
    expect(shown).toEqual(['b', 'idle']);
  });
});

describe('a new playlist', () => {
  it('does not touch slides that it does not change', async () => {
    const { shown, player } = open(slide('a', { duration_seconds: 100 }));
    await wait(1);
    player.load(payloadOf(slide('new', { duration_seconds: 100 }), slide('a', { duration_seconds: 100 })));
    await wait(5);
    expect(shown).toEqual(['a']);
  });

  it('keeps what was made ready, where that still follows', async () => {
    const [first, next] = [slide('a', { duration_seconds: 6 }), slide('slow', { duration_seconds: 100 })];
    const same = open(first, next);
    const other = open(first, next);
    await wait(4);
    same.player.load(payloadOf(first, next));
    other.player.load(payloadOf(first, slide('new', { duration_seconds: 100 }), next));
    await wait(2.5);
    expect([same.shown, other.shown]).toEqual([
      ['a', 'slow'],
      ['a', 'new'],
    ]);
  });

  it('replaces a slide that it changes, and what it removes by what follows', async () => {
    const long = { duration_seconds: 100 };
    const { shown, player } = open(slide('a', long), slide('b', long), slide('c', long));
    await wait(1);
    player.load(payloadOf(slide('a', { ...long, title: 'new' }), slide('b', long), slide('c', long)));
    await wait(1);
    expect(shown).toEqual(['a', 'a']);
    player.load(payloadOf(slide('b', long), slide('c', long)));
    await wait(1);
    expect(shown).toEqual(['a', 'a', 'b']);
  });

  it('that changes the slide that is on leaves it what was left of its time, halted or not', async () => {
    const [first, next] = [slide('a', { duration_seconds: 10 }), slide('b', { duration_seconds: 10 })];
    const { shown, player } = open(first, next);
    await wait(4);
    player.load(payloadOf({ ...first, title: 'new' }, next));
    await wait(2);
    void player.halt(true, false);
    await wait(60);
    player.load(payloadOf({ ...first, title: 'newer' }, next));
    await wait(60);
    void player.halt(false, false);
    await wait(3.5);
    expect(shown).toEqual(['a', 'a', 'a']);
    await wait(1);
    expect(shown).toEqual(['a', 'a', 'a', 'b']);
  });

  it('that makes the slide that is on shorter than it has been on brings the next one', async () => {
    const { shown, player } = open(slide('a', { duration_seconds: 100 }), slide('b', { duration_seconds: 100 }));
    await wait(50);
    player.load(payloadOf(slide('a', { duration_seconds: 20 }), slide('b', { duration_seconds: 100 })));
    await wait(1);
    expect(shown.at(-1)).toBe('b');
  });

  it('that is null leads to the idle screen', async () => {
    const { shown, player } = open(slide('a'));
    await wait(1);
    player.load(null);
    await wait(1);
    expect(shown).toEqual(['a', 'idle']);
  });
});
