/** What a page counts as a play. */
import { describe, expect, it } from 'vitest';
import { createPlayRecorder, type PlayRecorder } from '../../../renderer/player/plays/recorder.ts';
import { type PagePlay, pagePlay } from '../../../service/contract/plays.ts';
import type { ClockState } from '../../../service/contract/socket.ts';
import { slide } from '../scene.ts';

const NOON = Date.parse('2026-07-01T12:00:00Z');

const HOUR = 3_600_000;

interface Scene {
  recorder: PlayRecorder;
  plays: PagePlay[];
  /** Lets time pass, in ms. */
  wait(ms: number): void;
  /** Sets the time of day by ms. */
  setClock(by: number): void;
  setState(state: ClockState): void;
}

const open = (): Scene => {
  const plays: PagePlay[] = [];
  let elapsed = 5_000;
  let offset = NOON - elapsed;
  let state: ClockState = 'ok';
  const recorder = createPlayRecorder({
    clock: { elapsed: () => elapsed, now: () => elapsed + offset, state: () => state },
    screen: 'lobby',
    revision: () => 'r1',
    onPlay: (play) => plays.push(pagePlay.parse(play)),
  });
  return {
    recorder,
    plays,
    wait: (ms) => {
      elapsed += ms;
    },
    setClock: (by) => {
      offset += by;
    },
    setState: (next) => {
      state = next;
    },
  };
};

const film = slide('film', { kind: 'video', media_url: '/media/film.mp4', title: 'A film' });
const command = { isFailed: false, reason: 'command' };

describe('a play', () => {
  it('says what was shown, when, and for how long', () => {
    const { recorder, plays, wait } = open();
    recorder.begin(film, 8_000);
    wait(8_016);
    recorder.end(null);
    expect(plays).toEqual([
      {
        play_id: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        screen: 'lobby',
        slide_id: 'film',
        slide_title: 'A film',
        kind: 'video',
        media_url: '/media/film.mp4',
        revision: 'r1',
        started_at: '2026-07-01T12:00:00.000Z',
        ended_at: '2026-07-01T12:00:08.016Z',
        duration_ms: 8_016,
        expected_ms: 8_000,
        result: 'played',
        reason: null,
        clock: 'synced',
        playlist_id: null,
        programme_id: null,
        zone: null,
      },
    ]);
  });

  it.each<[string, (scene: Scene) => void, Partial<PagePlay>[]]>([
    [
      'is cut by a command',
      ({ recorder, wait }) => {
        recorder.begin(film, 8_000);
        wait(3_000);
        recorder.end(command);
      },
      [{ result: 'cut', reason: 'command', duration_ms: 3_000, expected_ms: 8_000 }],
    ],
    [
      'that is longer than 24 h is recorded in pieces, one after the other',
      ({ recorder, wait }) => {
        recorder.begin(film, 60 * HOUR);
        wait(24 * HOUR);
        recorder.underWay();
        wait(10_000);
        expect(recorder.underWay()).toMatchObject({ duration_ms: 10_000, result: 'cut' });
        wait(30 * HOUR);
        recorder.end(command);
      },
      [
        { result: 'played', started_at: '2026-07-01T12:00:00.000Z', duration_ms: 24 * HOUR, expected_ms: 24 * HOUR },
        { result: 'played', started_at: '2026-07-02T12:00:00.000Z', duration_ms: 24 * HOUR, expected_ms: 24 * HOUR },
        {
          result: 'cut',
          started_at: '2026-07-03T12:00:00.000Z',
          duration_ms: 6 * HOUR + 10_000,
          expected_ms: 12 * HOUR,
        },
      ],
    ],
    [
      'that was on for its time is played, whatever ends it',
      ({ recorder, wait }) => {
        recorder.begin(film, 8_000);
        wait(60_000);
        recorder.end(command);
      },
      [{ result: 'played', reason: null, duration_ms: 60_000 }],
    ],
    [
      'is played though a swap takes a little of its time',
      ({ recorder, wait }) => {
        recorder.begin(film, 8_000);
        wait(7_200);
        recorder.end(null);
      },
      [{ result: 'played' }],
    ],
    [
      'fails with the reason',
      ({ recorder, wait }) => {
        recorder.begin(film, 8_000);
        wait(2_000);
        recorder.end({ isFailed: true, reason: 'the video stopped' });
      },
      [{ result: 'failed', reason: 'the video stopped', duration_ms: 2_000 }],
    ],
    [
      'is skipped if it never came on',
      ({ recorder }) => recorder.skip(film, { expectedMs: 8_000, reason: 'no such file', isFailed: false }),
      [{ result: 'skipped', reason: 'no such file', duration_ms: 0, expected_ms: 8_000 }],
    ],
    [
      'does not last while something covers it, and another one begins for the rest',
      ({ recorder, wait }) => {
        recorder.begin(film, 8_000);
        wait(3_000);
        recorder.cover('blackout');
        wait(100_000);
        recorder.cover('takeover');
        wait(100_000);
        recorder.cover(null);
        wait(5_000);
        recorder.end(null);
      },
      [
        { result: 'cut', reason: 'blackout', duration_ms: 3_000, expected_ms: 8_000 },
        {
          result: 'played',
          reason: null,
          duration_ms: 5_000,
          expected_ms: 5_000,
          started_at: '2026-07-01T12:03:23.000Z',
        },
      ],
    ],
    [
      'does not begin, nor is skipped, while something covers it',
      ({ recorder, wait }) => {
        recorder.cover('closed');
        recorder.begin(film, 8_000);
        recorder.skip(film, { expectedMs: 8_000, reason: 'no such file', isFailed: false });
        wait(8_000);
        recorder.end(null);
        recorder.cover(null);
      },
      [],
    ],
    [
      'has the length of a monotonic clock, whatever the time of day does',
      ({ recorder, wait, setClock }) => {
        recorder.begin(film, 8_000);
        wait(4_000);
        setClock(-86_400_000);
        wait(4_000);
        recorder.end(null);
      },
      [{ duration_ms: 8_000, started_at: '2026-07-01T12:00:00.000Z', ended_at: '2026-07-01T12:00:08.000Z' }],
    ],
    [
      'is untrusted if the time of the service was not known at its start or at its end',
      ({ recorder, wait, setState }) => {
        recorder.begin(film, 8_000);
        wait(8_000);
        setState('unset');
        recorder.end(null);
        recorder.begin(film, 8_000);
        wait(8_000);
        setState('ok');
        recorder.end(null);
        recorder.begin(film, 8_000);
        setState('page');
        recorder.end(command);
      },
      [{ clock: 'untrusted' }, { clock: 'untrusted' }, { clock: 'synced' }],
    ],
  ])('%s', (_, act, expected) => {
    const scene = open();
    act(scene);
    expect(scene.plays).toMatchObject(expected);
    expect(scene.plays).toHaveLength(expected.length);
  });

  it('under way can be noted as if the page ended now', () => {
    const { recorder, plays, wait } = open();
    expect(recorder.underWay()).toBeNull();
    recorder.begin(film, 8_000);
    wait(5_000);
    const note = recorder.underWay();
    expect(note).toMatchObject({ result: 'cut', reason: 'page_ended', duration_ms: 5_000 });
    wait(3_000);
    recorder.end(null);
    expect(plays).toMatchObject([{ play_id: note?.play_id, result: 'played' }]);
    expect(recorder.underWay()).toBeNull();
  });
});
