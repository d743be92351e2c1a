/** Documents as people have them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encryption, makePdf } from '../../support/pdf.ts';
import { findProgram } from '../../support/program.ts';
import type { Sample } from './sample.ts';

export const hasOffice = findProgram('soffice') !== undefined;

const blue = [40, 80, 230] as const;
/** Of the size of a screen, so that it fills it. */
const page = { colour: blue, size: [960, 540] as const };
const a0 = { colour: blue, size: [3370, 1896] as const };

const namespaces = [
  ...['office', 'style', 'text', 'drawing', 'presentation'].map(
    (name) => `xmlns:${name === 'drawing' ? 'draw' : name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  ),
  ...['svg', 'xsl-fo'].map(
    (name) => `xmlns:${name === 'svg' ? 'svg' : 'fo'}="urn:oasis:names:tc:opendocument:xmlns:${name}-compatible:1.0"`,
  ),
  'xmlns:xlink="http://www.w3.org/1999/xlink"',
].join(' ');

const page16to9 = 'fo:page-width="32cm" fo:page-height="18cm" fo:margin="0cm"';
const whole = 'svg:width="32cm" svg:height="18cm" svg:x="0cm" svg:y="0cm"';

/** A presentation or a letter of one blue page, as one file of XML. @param links what pictures and sections of it name */
export const flatDocument = (kind: 'fodp' | 'fodt', links: readonly string[] = []): string => {
  const isText = kind === 'fodt';
  const frames = links.map((link, at) => {
    const place = `svg:width="2cm" svg:height="2cm" svg:x="${2 + at * 3}cm" svg:y="2cm"`;
    const anchor = isText ? ' text:anchor-type="page" text:anchor-page-number="1"' : '';
    const frame = `<draw:frame${anchor} ${place}><draw:image xlink:href="${link}" xlink:type="simple" xlink:actuate="onLoad"/></draw:frame>`;
    const section = `<text:section text:name="S${at}"><text:section-source xlink:href="${link}"/><text:p/></text:section>`;
    return isText ? frame + section : frame;
  });
  const rectangle = `<draw:rect draw:style-name="B" ${whole}/>`;
  const body = isText
    ? `<office:text>${frames.join('')}<text:p>Menu</text:p></office:text>`
    : `<office:presentation><draw:page draw:name="1" draw:master-page-name="M">${rectangle}${frames.join('')}</draw:page></office:presentation>`;
  return `<?xml version="1.0" encoding="UTF-8"?><office:document ${namespaces} office:version="1.3"
 office:mimetype="application/vnd.oasis.opendocument.${isText ? 'text' : 'presentation'}"><office:automatic-styles>
<style:page-layout style:name="L"><style:page-layout-properties ${page16to9}${isText ? ' fo:background-color="#2850e6"' : ''}/></style:page-layout>
<style:style style:name="B" style:family="graphic"><style:graphic-properties draw:fill="solid" draw:fill-color="#2850e6"
 draw:stroke="none"/></style:style></office:automatic-styles><office:master-styles>
<style:master-page style:name="${isText ? 'Standard' : 'M'}" style:page-layout-name="L"/></office:master-styles>
<office:body>${body}</office:body></office:document>`;
};

/** A document as an office makes it. */
export const byOffice = (extension: string, links?: readonly string[]): Buffer => {
  const folder = mkdtempSync(join(tmpdir(), 'signage-office-'));
  try {
    const kind = extension === 'pptx' || extension === 'odp' ? 'fodp' : 'fodt';
    writeFileSync(join(folder, `made.${kind}`), flatDocument(kind, links));
    const profile = `-env:UserInstallation=file://${folder}/profile`;
    const how = [profile, '--headless', '--convert-to', extension, '--outdir', folder, join(folder, `made.${kind}`)];
    execFileSync('soffice', how, { stdio: 'ignore' });
    return readFileSync(join(folder, `made.${extension}`));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

type Row = [name: string, rendition: Sample['rendition'], make: () => Buffer, more?: Partial<Sample>];

const rows: Row[] = [
  ['menu.pdf', null, () => makePdf([page, page])],
  ['poster.pdf', null, () => makePdf([a0])],
  ['book.pdf', null, () => makePdf(Array.from({ length: 300 }, () => page))],
  ['glass.pdf', null, () => makePdf([{ ...page, isTransparent: true }])],
  ['turned.pdf', null, () => makePdf([{ colour: blue, size: [540, 960], rotate: 90 }])],
  ['cut.pdf', null, () => makePdf([page]).subarray(0, -60), { isSkipped: true }],
  ['secret.pdf', null, () => makePdf([page], encryption), { isSkipped: true }],
  ...(hasOffice
    ? ([
        ['show.pptx', 'pdf', () => byOffice('pptx')],
        ['show.odp', 'pdf', () => byOffice('odp')],
        ['letter.docx', 'pdf', () => byOffice('docx')],
        ['letter.odt', 'pdf', () => byOffice('odt')],
      ] satisfies Row[])
    : []),
];

export const documents: Sample[] = rows.map(([name, rendition, make, more]) => ({
  name,
  kind: 'pdf',
  rendition,
  seconds: 2,
  isUnmarked: true,
  make,
  ...more,
}));
