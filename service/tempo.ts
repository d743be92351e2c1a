/**
 * How long the service waits, in one table: a section for each module, in milliseconds. Modules receive it with the
 * context; tests pass a table that is many times as short, so no waiting time that a test meets stands anywhere else.
 * Limits that are part of the interface (how long a signature is fresh, how long a record is kept) are not waiting times.
 */
export const defaultTempo = {
  clock: {
    /** Between exchanges before the time is established, after it, and once nothing unexpected happened for `calmAfter`. */
    fast: 250,
    slow: 4_000,
    calm: 20_000,
    calmAfter: 60_000,
    /** Between looks whether the clock of this box was set. */
    look: 500,
    /** A box that has started waits this long for the time of others. */
    grace: 6_000,
    /** The answer of a peer without an established time is valid this long. */
    noTime: 1_000,
    /** Between surveys of boxes besides the reference; how long their opinion counts. */
    survey: 20_000,
    calmSurvey: 60_000,
    opinion: 120_000,
  },
  console: {
    /** Between overviews of the site: each console asks every 2 s, at its own time. */
    round: 500,
    /** For so long the start waits for a restore that was interrupted, so that pages come with what it restores. */
    resume: 5_000,
  },
  content: {
    /** Between looks at content.json, for changes that cause no event; debounce of events: it is briefly empty while written. */
    poll: 500,
    quiet: 10,
    /** Before an invalid file, which an editor may still be writing, is read again. */
    settle: [20, 130] as readonly number[],
    /** After the start, until the JSON Schema is written. */
    schema: 200,
    /** Between attempts to store what plays. */
    store: 30_000,
    /** Most for the check of one template, and of all; its thread ends after `idle` without one. */
    template: 3_000,
    templates: 15_000,
    idle: 5_000,
    /** A request waits up to this long for a running check. */
    warnings: 2_000,
    /** Between looks at the clock, which may have passed a boundary of programmes, or have been set. */
    boundary: 500,
  },
  devices: {
    /** Between looks at which devices are connected, and at what landing pages show without an event. */
    poll: 2_000,
    /** Grace periods of a device that is not connected: its page reloads or reconnects; it may have moved to another box,
     * whose record takes some gossip rounds; or it was not seen yet, and power may have returned or its screen just opened. */
    reconnect: 5_000,
    move: 45_000,
    start: 90_000,
    /** Between writes of when devices were last connected: of connects and disconnects, and of those that stay. */
    storeChange: 60_000,
    storePresence: 600_000,
    /** Between rounds of questions to the other boxes. */
    round: 250,
    /** From a binding that told the box its time zone, until the service starts again with it. */
    settle: 10_000,
  },
  feeds: {
    /** Before the first request, so that the start of the service has priority, plus up to `spread` at random. */
    start: 300,
    spread: 500,
    /** Least interval of fetches; retries double from `retry` to `maxRetry`. */
    interval: 1_000,
    retry: 15_000,
    maxRetry: 300_000,
    /** Least time between two requests to one host. */
    gap: 1_000,
    /** Most until the head of the answer (of each redirect), until its end, and until the rate of the body counts. */
    answer: 15_000,
    total: 60_000,
    grace: 10_000,
    /** Most to parse an answer; the thread ends after `idle` without one. */
    parse: 10_000,
    /** Most to read or expand a calendar. */
    calendar: 20_000,
    /** Most that a start waits for the events of calendars that were kept. */
    settle: 1_000,
    idle: 30_000,
    /** Changes within this time are reported together. */
    gather: 150,
    /** Until data of a new source is written; between writes of data that has changed. */
    write: 500,
    rewrite: 60_000,
  },
  fleet: {
    /** Pauses between attempts to connect, with jitter: the shortest, and what doubles on top of it. */
    reconnect: 250,
    firstReconnect: 2_000,
    maxReconnect: 20_000,
    /** Between comparisons of a status with the one that the hub has, and attempts where the hub refuses it. */
    look: 5_000,
    /** Between writes of the status of the box, and of what the site plays, where nothing has changed. */
    status: 60_000,
    playing: 3_600_000,
    /** Between readings of the hub's clock: two clocks drift apart by some milliseconds. */
    clock: 600_000,
    /** After records or content that could not be sent or read; of content it doubles with each failure, up to the second. */
    retry: 5_000,
    maxRetry: 300_000,
    /** The content may take this long to arrive: 1,000 KiB at 140 kbit/s. A line whose pings wait longer is closed. */
    content: 60_000,
    /** One box after the other applies the content that the fleet wants. */
    rank: 1_000,
    /** Announcements of content within this time are one. */
    announced: 50,
  },
  https: {
    /** Between looks whether the files of the certificate have changed, and attempts where the port is taken. */
    look: 5_000,
    /** Least time between two certificates. */
    leaf: 10_000,
    /** After the start, until a site without a root makes one; and how much later a box does so that is not the first one. */
    root: 60_000,
    rank: 10_000,
  },
  http: {
    /** A body of which nothing arrives, and an answer of which nothing is read, for so long is given up. */
    still: 10_000,
  },
  media: {
    /** A child may take this long to tell what a film or a sound is. */
    probe: 10_000,
    /** Uploads within this time share one write of the catalog. */
    save: 1_000,
    /** After the files of deleted media that could not be removed: Windows may have them open. */
    removal: 30_000,
    /** Between deletions of old records, lost uploads and abandoned partial files. */
    prune: 3_600_000,
    /** Between looks whether the hours for fetching have begun or ended. */
    hours: 1_000,
    /** A page waits this long for a copy that is being fetched. */
    arrival: 4_000,
    /** Pauses after a remote file could not be fetched, with jitter: doubling. */
    retry: 15_000,
    maxRetry: 900_000,
    /** Between questions to a box that downloads a file, a large one for hours; how long it may not know the file. */
    askAgain: 2_000,
    maxAskAgain: 60_000,
    unknown: 10_000,
    /** Between looks at what is to be converted: after a change, while something waits, and at the room of a conversion. */
    look: 50,
    convert: 10_000,
    room: 2_000,
    /** A conversion without progress is killed after this time, and at most twice as long. */
    still: 120_000,
    /** The box that took an upload converts it; if it is away for so long, another one does. */
    owner: 600_000,
    /** A rendition is kept this long without its original, of which the disk may be away. */
    absent: 3_600_000,
  },
  people: {
    /** Between looks at keys that end by the clock; how long what is under way may go on with a key that was removed. */
    poll: 10_000,
    end: 300,
    /** Between writes of when keys were used. */
    store: 600_000,
  },
  peers: {
    /** Between looks for addresses to probe; the start waits up to `settle` for static peers. */
    tick: 250,
    settle: 1_000,
    /** Pauses after failed probes of an address: random, from a range that doubles. */
    retry: 500,
    maxRetry: 30_000,
    /** Between probes of an address on reports of other boxes. A box that others reach is away after `patience`. */
    follow: 5_000,
    patience: 5_000,
    /** Time in which few questions about boxes that do not answer are asked, and few changes of them told. */
    asked: 10_000,
    changes: 10_000,
    /** Between two checks of a box, at a small site. */
    gossip: 5_000,
    /** News, and reasons to scan the media, within this time are one; the record of this box is reused for `fresh`. */
    gather: 100,
    fresh: 10_000,
    /** Between scans that peers cause; until a scan if the time is not established. */
    scan: 5_000,
    establish: 1_000,
    /** Pauses after failed transfers of media: doubling. */
    transfer: 2_000,
    maxTransfer: 300_000,
    /** Media of a new content may be uploaded this long before missing ones are logged. */
    missing: 5_000,
    /** Pauses between queries by DNS-SD, which double (RFC 6762, 5.2); between looks at the network interfaces. */
    query: 1_000,
    maxQuery: 300_000,
    interfaces: 2_000,
    /** Most until a goodbye is sent. */
    goodbye: 500,
  },
  records: {
    /** Between observations of what alerts are about; between readings of the free space. */
    alerts: 1_000,
    disk: 10_000,
    /** The answer of a receiver must begin within this time. */
    answer: 5_000,
    /** Pauses after failed deliveries to receivers: doubling. */
    retry: 1_000,
    maxRetry: 60_000,
    /** A box that reached no receiver, and has left the alerts to another one for so long, may deliver again. */
    forgive: 300_000,
    /** Between losses of a receiver after which plays are delivered again. */
    rewind: 600_000,
    /** Plays that end at about the same time are delivered together. */
    gather: 500,
    /** Between deletions of old plays. */
    expiry: 3_600_000,
    /** How long the text of the metrics is kept; between looks at refused credentials, which are counted a minute. */
    metrics: 1_000,
    refused: 1_000,
    /** Before a box is asked again for its plays; how long a reading for another box waits for its next page. */
    again: 1_000,
    reading: 30_000,
  },
  screens: {
    /** At a boundary of programmes: the pages of a screen get its revision within this time, each at another moment: in all within 10 s. */
    boundary: 9_000,
  },
  streams: {
    /** ffmpeg may take this long to produce media (a source may have long keyframe intervals), and to end. */
    start: 20_000,
    kill: 2_000,
    /** A live stream without media is quiet after this time, and stalled after as long again. */
    quiet: 3_000,
    /** Media that are older are not served as a live stream. */
    fresh: 10_000,
    /** Pauses between starts, with jitter: doubling, and back to the first after `steady`. */
    retry: 500,
    maxRetry: 30_000,
    steady: 60_000,
    /** While clients have requested the stream within `requested`, it is started this often. */
    requested: 5_000,
    startEvery: 2_000,
    /** A page that waits for a stream repeats its request, so a session never fetched from is unwanted after this time. */
    unwanted: 5_000,
  },
  mqtt: {
    /** Between looks at the site. */
    poll: 2_000,
    /** How long other boxes are awaited at the start: one of them may be the one that publishes. */
    settle: 3_000,
    /** Between attempts to reach the broker, and how long it may take to answer. */
    reconnect: 5_000,
    connect: 10_000,
    /** How long configurations of earlier are awaited, before those that are no longer needed are removed. */
    collect: 2_000,
    /** How long what a box told last stays published after it gave no answer. */
    hold: 10_000,
    /** Between two pictures of a display. */
    picture: 60_000,
  },
  drafts: {
    /** Delay between the last change of a draft and its exchange with other boxes; minimum interval of exchanges. */
    rest: 3_000,
    interval: 10_000,
  },
  takeovers: {
    /** Between looks at the clock, for takeovers whose time is over. */
    poll: 250,
  },
};

type Sections<T> = {
  readonly [S in keyof T]: { readonly [N in keyof T[S]]: T[S][N] extends number ? number : T[S][N] };
};

/** The waiting times of a service. */
export type Tempo = Sections<typeof defaultTempo>;
