/** `GET /healthz`: 200 while the service can answer; the body reports problems. */
import { type Health, health, type KioskHealth } from '../contract/health.ts';
import type { Routes } from '../http/routes.ts';
import type { HealthReport, Modules, ServiceContext } from '../module.ts';
import { createMachineReader } from '../platform/machine.ts';
import type { Screens } from '../screens/index.ts';

/** The order of the sentences; further subjects follow. */
const subjects: readonly string[] = ['content', 'devices', 'boxes', 'feeds', 'streams'];

/** Joins the reports of the modules. Pure. @param faults of what is stored, one sentence each */
export const joinReports = (reports: readonly HealthReport[], faults: readonly string[]) => {
  const issues = reports.flatMap((report) => Object.entries(report.issues ?? {}));
  const known = new Set([...subjects, ...issues.map(([subject]) => subject)]);
  const sentences = [...known].flatMap((subject) => issues.flatMap(([of, each]) => (of === subject ? each : [])));
  sentences.push(...faults);
  const fields: Partial<Health> = Object.assign({}, ...reports.map((report) => report.fields));
  const isFailing = reports.some((report) => report.isFailing);
  return {
    ...fields,
    status: isFailing ? 'failing' : sentences.length > 0 ? 'degraded' : 'ok',
    warnings: [...sentences, ...reports.flatMap(({ notes = [] }) => notes)],
    ...(fields.content && {
      content: {
        ...fields.content,
        warnings: [...fields.content.warnings, ...reports.flatMap(({ contentWarnings = [] }) => contentWarnings)],
      },
    }),
    store: { faults: [...faults] },
  } satisfies Partial<Health>;
};

/** What people should know about the compositor. Pure. */
export const compositorReport = (compositor: KioskHealth['compositor']): Pick<HealthReport, 'issues' | 'notes'> => {
  const reason = compositor?.reason ?? 'the compositor does not start';
  if (compositor?.renderer === 'none') return { issues: { displays: [`No display can be opened: ${reason}.`] } };
  if (compositor?.renderer !== 'pixman') return {};
  return { notes: [`The displays are drawn without the GPU until the next boot: ${reason}.`] };
};

const whyLeft = {
  trial: 'did not play in three starts',
  starts: 'did not reach the player in ten starts',
  unreadable: 'could not be read',
};

/** What people should know about updates, and the systems of an image. Pure. */
export const updateNotes = ({ updates, system }: Pick<KioskHealth, 'updates' | 'system'>): string[] => [
  ...(updates.fault === null ? [] : [`An update is not installed: ${updates.fault}`]),
  ...(system?.left
    ? [
        `The system in slot ${system.left.slot} ${whyLeft[system.left.why]}; slot ${system.slot} runs, with ${system.version}.`,
      ]
    : []),
  ...(system?.fault ? [`An update of the system was not installed: ${system.fault}`] : []),
];

/** What people should know about the network of an image. Pure. */
export const networkNotes = (network: KioskHealth['network']): string[] => {
  if (network === null) return [];
  const { reason, subject } = network;
  const sentence = {
    password: `the password of the Wi-Fi "${subject}" is wrong`,
    missing: `there is no Wi-Fi "${subject}" here`,
    link: `${subject} had no link within two minutes`,
    device: `this box has no ${subject}`,
    value: `the value of ${subject} is not valid`,
  }[reason];
  return [`The network is not as kiosk.network says: ${sentence}. What worked before is used.`];
};

export const createHealth = (
  { options, version, startedAt, ids, kiosk, monotonicNow }: ServiceContext,
  modules: Pick<Modules, 'faults' | 'reports'>,
  { framesOf }: Pick<Screens, 'framesOf'>,
) => {
  const readMachine = createMachineReader({ dataDir: options.dataDir, monotonicNow });
  return {
    /** The status of this box, and its sentences. */
    summary: async (): Promise<Pick<Health, 'status' | 'warnings'>> => {
      const { status, warnings } = joinReports(await modules.reports(), modules.faults());
      return { status, warnings };
    },
    /** Problems of this box, and notes that need attention, in sentences. */
    warnings: async (): Promise<string[]> => joinReports(await modules.reports(), modules.faults()).warnings,
    health: async () => {
      const shown = kiosk?.();
      const { issues, notes = [] } = compositorReport(shown?.compositor ?? null);
      return {
        fields: {
          version,
          variant: options.variant,
          startedAt: startedAt.toISOString(),
          uptime: Math.round(process.uptime() * 10) / 10,
          nodeId: ids.nodeId,
          site: options.site,
          ...(options.variant === 'extended' && { machine: await readMachine() }),
          ...(shown && {
            kiosk: { ...shown, screens: shown.screens.map((each) => ({ ...each, video: framesOf(each.deviceId) })) },
          }),
        },
        ...(issues && { issues }),
        notes: [
          ...options.warnings,
          ...notes,
          ...(shown ? updateNotes(shown) : []),
          ...networkNotes(shown?.network ?? null),
        ],
      };
    },
    routes: {
      'GET /healthz': async (ctx) => {
        const joined = joinReports(await modules.reports(), modules.faults());
        ctx.set('Cache-Control', 'no-store');
        // As the schema orders the fields.
        ctx.body = Object.fromEntries(
          Object.keys(health.shape).flatMap((name) => (name in joined ? [[name, joined[name as keyof Health]]] : [])),
        );
      },
    } satisfies Routes,
  };
};
