/** From the colours of a picture to sRGB: profiles of three primaries and their curves (ICC.1:2022, F.3). Pure. */

type Curve = (value: number) => number;
type Triple = readonly [number, number, number];

/** Of three primaries, as XYZ of D50, and of their light. */
interface Space {
  primaries: readonly [Triple, Triple, Triple];
  curves: readonly [Curve, Curve, Curve];
}

/** From XYZ of D50 to the light of red, green and blue (IEC 61966-2-1, adapted as in ICC.1:2022, annex E). */
const TO_SRGB: readonly Triple[] = [
  [3.1338561, -1.6168667, -0.4906146],
  [-0.9787684, 1.9161415, 0.033454],
  [0.0719453, -0.2289914, 1.4052427],
];
/** What ffmpeg interpolates between, in each direction. */
const SIDE = 25;
const steps = Array.from({ length: SIDE }, (_, at) => at / (SIDE - 1));
/** Nobody sees a smaller difference. */
const LEAST_DIFFERENCE = 1 / 255;

const clamp = (value: number): number => Math.min(1, Math.max(0, value));

/** To the value of sRGB. */
const encode: Curve = (light) => (light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055);

/** A tag of type `curv` (10.6). */
const sampled = (tag: Buffer): Curve => {
  const count = tag.readUInt32BE(8);
  if (count === 0) return (value) => value;
  if (count === 1) return (value) => value ** (tag.readUInt16BE(12) / 256);
  const samples = Array.from({ length: count }, (_, at) => tag.readUInt16BE(12 + 2 * at) / 65_535);
  return (value) => {
    const at = value * (count - 1);
    const [low = 0, high = low] = samples.slice(Math.floor(at), Math.floor(at) + 2);
    return low + (high - low) * (at % 1);
  };
};

/** A tag of type `para` (10.18). */
const parametric = (tag: Buffer): Curve => {
  const kind = tag.readUInt16BE(8);
  const [least = 0] = [1, 3, 4, 5, 7].slice(kind);
  const [g = 1, a = 1, b = 0, c = 0, d = kind === 0 ? 0 : -b / a, e = 0, f = 0] = Array.from(
    { length: least },
    (_, at) => tag.readInt32BE(12 + 4 * at) / 65_536,
  );
  // Without a straight part below, it is level.
  const [slope, above, below] = kind >= 3 ? [c, e, f] : [0, kind === 2 ? c : 0, kind === 2 ? c : 0];
  return (value) => (value >= d ? Math.max(0, a * value + b) ** g + above : slope * value + below);
};

const readCurve = (tag: Buffer): Curve => (tag.toString('latin1', 0, 4) === 'para' ? parametric(tag) : sampled(tag));

/** @throws RangeError: it is cut off */
const readSpace = (icc: Buffer): Space | null => {
  if (icc.toString('latin1', 16, 24) !== 'RGB XYZ ') return null;
  const tags = new Map<string, Buffer>();
  for (let at = 132; at < 132 + 12 * Math.min(100, icc.readUInt32BE(128)); at += 12) {
    const offset = icc.readUInt32BE(at + 4);
    tags.set(icc.toString('latin1', at, at + 4), icc.subarray(offset, offset + icc.readUInt32BE(at + 8)));
  }
  const tagOf = (name: string): Buffer => tags.get(name) ?? Buffer.alloc(0);
  const primary = (name: string): Triple => {
    const [x = 0, y = 0, z = 0] = [8, 12, 16].map((at) => tagOf(name).readInt32BE(at) / 65_536);
    return [x, y, z];
  };
  return {
    primaries: [primary('rXYZ'), primary('gXYZ'), primary('bXYZ')],
    curves: [readCurve(tagOf('rTRC')), readCurve(tagOf('gTRC')), readCurve(tagOf('bTRC'))],
  };
};

/** Number of steps to which light is rounded, so that each power is computed once. */
const FINENESS = 4_096;

/** The colours of the table, the red of which changes fastest, as light of sRGB in steps. */
const convert = ({ primaries, curves }: Space): Triple[] => {
  const rows = TO_SRGB.map((row) =>
    primaries.map((primary) => row.reduce((sum, part, at) => sum + part * (primary[at] ?? 0), 0)),
  );
  const [reds = [], greens = [], blues = []] = curves.map((curve) => steps.map((step) => clamp(curve(step))));
  const mix = ([ofRed = 0, ofGreen = 0, ofBlue = 0]: number[], red: number, green: number, blue: number): number =>
    Math.round(FINENESS * clamp(ofRed * red + ofGreen * green + ofBlue * blue));
  const [toRed = [], toGreen = [], toBlue = []] = rows;
  return blues.flatMap((blue) =>
    greens.flatMap((green) =>
      reds.map(
        (red): Triple => [mix(toRed, red, green, blue), mix(toGreen, red, green, blue), mix(toBlue, red, green, blue)],
      ),
    ),
  );
};

/** A file for ffmpeg's filter `lut3d` (Adobe's Cube LUT Specification 1.0); null: no profile that can be read, or that of sRGB. */
export const cubeOf = (icc: Buffer | null): string | null => {
  try {
    const space = icc && readSpace(icc);
    if (space === null) return null;
    const converted = convert(space);
    const values = Array.from({ length: FINENESS + 1 }, (_, light) => encode(light / FINENESS));
    const places = [1, SIDE, SIDE ** 2];
    const isSame = converted.every((colour, index) =>
      colour.every((light, at) => {
        const step = Math.floor(index / (places[at] ?? 1)) % SIDE;
        return Math.abs((values[light] ?? 0) - (steps[step] ?? 0)) < LEAST_DIFFERENCE;
      }),
    );
    if (isSame) return null;
    const words = values.map((value) => value.toFixed(4));
    const lines = converted.map(([red, green, blue]) => `${words[red]} ${words[green]} ${words[blue]}`);
    return [`LUT_3D_SIZE ${SIDE}`, ...lines, ''].join('\n');
  } catch {
    return null;
  }
};
