/** PDF documents made for a test: pages of one colour each, and of any size. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rgb } from './media.ts';

interface Page {
  colour: Rgb;
  /** A4, upright. */
  size?: readonly [width: number, height: number];
  /** What is written on it, in a font that the document does not bring. */
  text?: string;
  /** Degrees by which viewers turn it, clockwise. */
  rotate?: 90;
  /** Whether it is painted in two layers, half of it showing through. */
  isTransparent?: boolean;
}

const pageContent = ({
  colour,
  size: [width, height] = [595, 842],
  text = '',
  isTransparent = false,
}: Page): string => {
  const fill = colour.map((part) => (part / 255).toFixed(3)).join(' ');
  const layer = isTransparent ? `${fill} rg 0 0 ${width} ${height} re f /G1 gs ` : '';
  return `${layer}${fill} rg 0 0 ${width} ${height} re f 1 g BT /F1 48 Tf 48 ${height - 96} Td (${text}) Tj ET`;
};

/** @param trailer further entries of the trailer, such as those of an encryption */
export const makePdf = (pages: readonly Page[], trailer = ''): Buffer => {
  const kids = pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...pages.flatMap((page, index) => {
      const [width, height] = page.size ?? [595, 842];
      const content = pageContent(page);
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${5 + index * 2} 0 R ` +
          `/Rotate ${page.rotate ?? 0} /Group << /S /Transparency >> ` +
          '/Resources << /Font << /F1 3 0 R >> /ExtGState << /G1 << /ca 0.5 >> >> >> >>',
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  let body = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const xref = `xref\n0 ${size}\n0000000000 65535 f \n${table}`;
  return Buffer.from(
    `${body}${xref}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${body.length}\n%%EOF\n`,
    'latin1',
  );
};

/** An encryption that asks for a password to open the document. */
export const encryption = `/ID [<${'00'.repeat(16)}> <${'00'.repeat(16)}>] /Encrypt << /Filter /Standard /V 2 /R 3 \
/Length 128 /P -4 /O <${'11'.repeat(32)}> /U <${'22'.repeat(32)}> >>`;

/** Puts a document into the uploads; answers its address. */
export const putPdf = (dataDir: string, name: string, pages: readonly Page[], trailer?: string): string => {
  mkdirSync(join(dataDir, 'uploads'), { recursive: true });
  writeFileSync(join(dataDir, 'uploads', name), makePdf(pages, trailer));
  return `/media/${name}`;
};
