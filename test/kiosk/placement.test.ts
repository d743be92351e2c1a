import { expect, it } from 'vitest';
import { type PlacedWindow, placementCommands } from '../../main/windows/placement.ts';

interface Box {
  x: number;
  y: number;
}
const node = (id: number, type: string, name: string | null, rest: object = {}) => ({
  id,
  type,
  name,
  rect: { x: 0, y: 0 },
  nodes: [] as object[],
  floating_nodes: [] as object[],
  ...rest,
});
const open = (id: number, title: string, rest: object = {}) => node(id, 'con', title, { fullscreen_mode: 1, ...rest });
const output = (name: string, rect: Box, ...windows: object[]) =>
  node(1, 'output', name, { rect, nodes: [node(2, 'workspace', '1', { nodes: windows })] });
const treeOf = (...outputs: object[]) =>
  node(0, 'root', 'root', { nodes: [output('__i3', { x: 0, y: 0 }), ...outputs] });
const wanted = (title: string, x: number, y = 0): PlacedWindow => ({
  title,
  bounds: { x, y, width: 1280, height: 720 },
});

const left = { x: 0, y: 0 };
const right = { x: 1280, y: 0 };

it.each<[string, object, PlacedWindow[], string[]]>([
  [
    'a window on its output stays',
    treeOf(output('DP-1', left, open(5, 'a')), output('DP-2', right, open(6, 'b'))),
    [wanted('a', 0), wanted('b', 1280)],
    [],
  ],
  [
    'two windows on one output are two on two',
    treeOf(output('DP-1', left, open(5, 'a'), open(6, 'b')), output('DP-2', right)),
    [wanted('a', 0), wanted('b', 1280)],
    ['[con_id=6] move container to output "DP-2", fullscreen enable'],
  ],
  [
    'windows change places',
    treeOf(output('DP-1', left, open(5, 'a')), output('DP-2', right, open(6, 'b'))),
    [wanted('a', 1280), wanted('b', 0)],
    [
      '[con_id=5] move container to output "DP-2", fullscreen enable',
      '[con_id=6] move container to output "DP-1", fullscreen enable',
    ],
  ],
  [
    'a window that lost its full screen gets it back, a floating one too',
    treeOf(
      output('DP-1', left, open(5, 'a', { fullscreen_mode: 0 })),
      node(1, 'output', 'DP-2', {
        rect: right,
        nodes: [
          node(2, 'workspace', '2', { floating_nodes: [open(6, 'b', { type: 'floating_con', fullscreen_mode: 0 })] }),
        ],
      }),
    ),
    [wanted('a', 0), wanted('b', 1280)],
    [
      '[con_id=5] move container to output "DP-1", fullscreen enable',
      '[con_id=6] move container to output "DP-2", fullscreen enable',
    ],
  ],
  [
    'positions that the two count differently are matched from left to right',
    treeOf(output('DP-1', left, open(5, 'a'), open(6, 'b')), output('DP-2', { x: 1920, y: 0 })),
    [wanted('b', 960), wanted('a', 0)],
    ['[con_id=6] move container to output "DP-2", fullscreen enable'],
  ],
  [
    'a display whose output is gone keeps its window where it is',
    treeOf(output('DP-1', left, open(5, 'a'), open(6, 'b'))),
    [wanted('a', 0), wanted('b', 1280)],
    [],
  ],
  ['a window that is not open yet is left out', treeOf(output('DP-1', left)), [wanted('a', 0)], []],
  [
    'windows of others are left alone',
    treeOf(output('DP-1', left, open(9, 'other', { fullscreen_mode: 0 }), open(5, 'a'))),
    [wanted('a', 0)],
    [],
  ],
  ['without outputs nothing is moved', treeOf(), [wanted('a', 0)], []],
])('%s', (_, tree, windows, commands) => {
  expect(placementCommands(tree, windows)).toEqual(commands);
});

it('an answer that is no tree is refused', () => {
  expect(() => placementCommands({ error: 'no' }, [])).toThrow(/nodes/);
});
