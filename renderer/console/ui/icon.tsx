/** Line icons on a grid of 20. */
const paths = {
  screens: 'M3 4.5h14v9H3zM7.5 17h5M10 13.5V17',
  content: 'M3 5h10v8H3zM15.5 6.5v8.5h-10',
  media: 'M3 4h14v12H3zM3 13l4-4 3.5 3.5L13 10l4 4M13.2 7.3h.1',
  takeover: 'M3 8v4h3l6 4V4L6 8zM15 7.5c1.3 1.4 1.3 3.6 0 5',
  boxes: 'M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.1M6 13.5h.1',
  people:
    'M7.5 4a3 3 0 1 1 0 6 3 3 0 0 1 0-6M2 16.5c.4-3 2.5-4.5 5.5-4.5s5.1 1.5 5.5 4.5M13 4.3a3 3 0 0 1 0 5.4M15 12.4c1.7.6 2.7 2 3 4.1',
  close: 'M5 5l10 10M15 5L5 15',
  more: 'M4.5 10h.1M10 10h.1M15.5 10h.1',
  search: 'M9 3.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M13 13l4 4',
  back: 'M12 4l-6 6 6 6',
  forward: 'M8 4l6 6-6 6',
  previous: 'M14 5l-7 5 7 5zM6 5v10',
  next: 'M6 5l7 5-7 5zM14 5v10',
  pause: 'M7 4.5v11M13 4.5v11',
  play: 'M6 4l9 6-9 6z',
  blackout: 'M3 4.5h14v9H3zM4 15.5L16 3',
  undo: 'M7 4L3.5 7.5 7 11M4 7.5h8a4 4 0 0 1 0 8H8',
  redo: 'M13 4l3.5 3.5L13 11M16 7.5H8a4 4 0 0 0 0 8h4',
  refresh: 'M16 10a6 6 0 1 1-1.8-4.3M16.5 3v3.5H13',
  reload: 'M10 4.5V2L6.5 5 10 8V5.5a5 5 0 1 1-5 5',
  redirect: 'M4 15c0-5 3-7 9-7M10 4.5L14 8l-4 3.5',
  rename: 'M4 16l.7-3.2L13 4.5l2.5 2.5-8.3 8.3zM11.5 6L14 8.5',
  left: 'M16 10H4M8.5 5L4 10l4.5 5',
  right: 'M4 10h12M11.5 5l4.5 5-4.5 5',
  move: 'M3 10h14M13 6l4 4-4 4M7 14l-4-4 4-4',
  forget: 'M4 6h12M8 6V4h4v2M6 6l.7 10.5h6.6L14 6',
  plus: 'M10 4v12M4 10h12',
  copy: 'M7 7h9v9H7zM13 7V4H4v9h3',
  duplicate: 'M7 7h9v9H7zM13 7V4H4v9h3M11.5 9.5v4M9.5 11.5h4',
  cut: 'M5.5 12.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4M14.5 12.5a2 2 0 1 1 0 4 2 2 0 0 1 0-4M6.8 13l6.7-9.5M13.2 13L6.5 3.5',
  paste: 'M7 4.5H5v12h10v-12h-2M7.5 3h5v3h-5zM7.5 10h5M7.5 13h5',
  grid: 'M3 4h6v5H3zM11 4h6v5h-6zM3 11h6v5H3zM11 11h6v5h-6z',
  strip: 'M2.5 6.5h4v7h-4zM8 6.5h4v7H8zM13.5 6.5h4v7h-4z',
  up: 'M10 16V4M5 8.5L10 4l5 4.5',
  down: 'M10 4v12M5 11.5L10 16l5-4.5',
  upload: 'M10 13V3.5M6 7l4-3.5L14 7M3.5 13v3.5h13V13',
  download: 'M10 3.5V13M6 9.5l4 3.5 4-3.5M3.5 13v3.5h13V13',
  warning: 'M10 3.5L17.5 16h-15zM10 8v3.5M10 13.6v.1',
  info: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15M10 9v4.5M10 6.5v.1',
  check: 'M4 10.5l4 4 8-9',
  clock: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15M10 6v4.2l3 1.8',
  grip: 'M7.5 5h.1M7.5 10h.1M7.5 15h.1M12.5 5h.1M12.5 10h.1M12.5 15h.1',
  web: 'M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15M2.5 10h15M10 2.5c2.4 2.2 3.4 4.7 3.4 7.5s-1 5.3-3.4 7.5c-2.4-2.2-3.4-4.7-3.4-7.5s1-5.3 3.4-7.5',
  text: 'M4 5h12M10 5v11M7.5 16h5',
  image: 'M3 4h14v12H3zM3 13l4-4 3.5 3.5L13 10l4 4M13.2 7.3h.1',
  video: 'M3 5h10v10H3zM13 9l4-2.5v7L13 11z',
  stream:
    'M10 9.9v.2M7 7a4.2 4.2 0 0 0 0 6M13 7a4.2 4.2 0 0 1 0 6M4.6 4.6a7.6 7.6 0 0 0 0 10.8M15.4 4.6a7.6 7.6 0 0 1 0 10.8',
  pdf: 'M5 2.5h7L15.5 6v11.5H5zM12 2.5V6h3.5M7.5 10h5M7.5 13h5',
  template: 'M3 4h14v12H3zM3 8h14M8 8v8',
  rss: 'M4 15.5v.1M4 10a6 6 0 0 1 6 6M4 4.5A11.5 11.5 0 0 1 15.5 16',
  timetable: 'M3 4.5h14v12H3zM3 8.5h14M7 2.5v3.5M13 2.5v3.5M7 12h6',
  signout: 'M12 5V3H4v14h8v-2M8 10h9M14 7l3 3-3 3',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);
