/** Computes the settings that the maintenance page changes. Pure. */

import type { KioskSettings } from '../service/public.ts';
import type { DisplayAssignment, Rotation } from './displays.ts';

/**
 * The settings that change if one display is rotated. With a single display the rotation of all displays changes, so that
 * a replaced panel is rotated too; several displays are listed from then on.
 */
export const withRotation = (
  settings: Pick<KioskSettings, 'displays'>,
  assignments: readonly DisplayAssignment[],
  displayId: number,
  rotation: Rotation,
): Partial<KioskSettings> => {
  const { displays } = settings;
  if (typeof displays === 'string' && assignments.length === 1) return { rotation };
  const labels = assignments.map(({ display }) => display.label);
  const hasUniqueLabels = labels.every((label, index) => label !== '' && labels.indexOf(label) === index);
  const listed =
    typeof displays === 'string'
      ? assignments.map(({ display, number, rotation }) => ({
          display: hasUniqueLabels ? display.label : number,
          rotation,
        }))
      : displays;
  const rotated = assignments.find(({ display }) => display.id === displayId);
  return {
    displays: listed.map((choice) =>
      choice.display === rotated?.display.label || choice.display === rotated?.number
        ? { ...choice, rotation }
        : choice,
    ),
  };
};
