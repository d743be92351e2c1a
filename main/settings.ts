/** Changes that the maintenance page makes to the settings: pure. */
import type { Place, Rotation } from './displays.ts';
import type { KioskSettings } from './service-host.ts';

/**
 * What changes in the settings where one display is turned. A single display turns the rotation of all, so that whatever
 * panel comes after it is turned too; several are listed from then on, as they are now.
 */
export const withRotation = (
  settings: Pick<KioskSettings, 'displays'>,
  places: readonly Place[],
  displayId: number,
  rotation: Rotation,
): Partial<KioskSettings> => {
  const { displays } = settings;
  if (typeof displays === 'string' && places.length === 1) return { rotation };
  const labels = places.map(({ display }) => display.label);
  const isNamed = labels.every((label, index) => label !== '' && labels.indexOf(label) === index);
  const listed =
    typeof displays === 'string'
      ? places.map((place) => ({ display: isNamed ? place.display.label : place.number, rotation: place.rotation }))
      : displays;
  const turned = places.find(({ display }) => display.id === displayId);
  return {
    displays: listed.map((choice) =>
      choice.display === turned?.display.label || choice.display === turned?.number ? { ...choice, rotation } : choice,
    ),
  };
};
